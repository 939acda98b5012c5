// The box of a buffer that one iteration of a loop reads, and reads of it in a buffer of its own.
//
//   x[first0 + d0, first1 + d1, ...],   d < sizes     first: what does not change inside of the loop
#pragma once

#include <rewright/loop/linear_index.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schedule/loop_tree.h"

namespace rewright::schedule {

/// A conflict of form.
[[nodiscard]] inline Conflict form(std::string needed, std::string found) {
  return {Conflict::Kind::kForm, std::move(needed), std::move(found)};
}

/// Along one dimension: first .. first + size - 1.
struct ReadExtent {
  loop::LinearIndex first;
  std::int64_t size = 1;
};
using ReadBox = std::vector<ReadExtent>;

/// Of a buffer that is not written in the loop. Conflicts: kGone, there is no such buffer; kForm, it is written there,
/// not read there, read in several boxes, by indices that are no sums of axes, or where a condition keeps them inside;
/// `name`, of the buffer that is to hold it, is no word or taken.
[[nodiscard]] std::variant<ReadBox, Conflict> read_box(const Program& program, const std::string& buffer,
                                                       const Loop& loop, const std::string& name);
/// The buffer's place in the program.
[[nodiscard]] BufferId buffer_named(const Program& program, const std::string& name);
/// In `body`, loads of the box from `copy` in place of `buffer`.
[[nodiscard]] Body reading_copy(const Body& body, BufferId buffer, BufferId copy, const ReadBox& box);

}  // namespace rewright::schedule
