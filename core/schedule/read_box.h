// The box of a buffer that one iteration of a loop touches, and the same box as a buffer of its own.
//
//   x[first0 + d0, first1 + d1, ...],   d < sizes     first: what does not change inside of the loop
#pragma once

#include <rewright/loop/linear_index.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "loop/accesses.h"
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

/// The buffer's place in the program.
[[nodiscard]] BufferId buffer_named(const Program& program, const std::string& name);
/// Is it a word, and neither a buffer's name nor that of a stage?
[[nodiscard]] bool is_free_name(const Program& program, const std::string& name);
/// The buffer of which `loop` is to have a copy. Conflicts: kGone, there is none; kForm, the loop is vectorised;
/// `name`, of the copy, is no word or taken.
[[nodiscard]] std::variant<BufferId, Conflict> copied_buffer(const Program& program, const std::string& buffer,
                                                             const Loop& loop, const std::string& name);

/// Accesses to a buffer in the body of a loop. Their loops are all that are around them; their conditions are those in
/// the body alone.
[[nodiscard]] std::vector<loop::Access> accesses_in(const Program& program, const LoopPath& path, BufferId buffer);
/// The loops from the program's body down to the loop at a path, this one too.
[[nodiscard]] std::vector<const Loop*> loops_to(const Program& program, const LoopPath& path);
/// The one box that each of some accesses touches while their first `around` loops stand still. Conflicts: kForm, there
/// are several, indices that are no sums of axes, or a condition keeps them inside of the buffer.
[[nodiscard]] std::variant<ReadBox, Conflict> box_of(const Program& program, const std::vector<loop::Access>& accesses,
                                                     std::size_t around);
/// Does an access touch every element of its box, whatever data are?
[[nodiscard]] bool covers_box(const loop::Access& access, std::size_t around);

/// The box of a buffer that is not written in the loop. Conflicts: those of copied_buffer and box_of; kForm, it is
/// written there, or not read.
[[nodiscard]] std::variant<ReadBox, Conflict> read_box(const Program& program, const std::string& buffer,
                                                       const LoopPath& path, const std::string& name);
/// The program with a temporary for the box, at the end of its buffers.
[[nodiscard]] Program with_copy(const Program& program, BufferId of, const ReadBox& box, const std::string& name);
/// index - first, of each dimension.
[[nodiscard]] std::vector<IndexExpr> places_in_box(std::span<const IndexExpr> at, const ReadBox& box);
/// In `body`, the box in `copy` in place of `buffer`.
[[nodiscard]] Body in_copy(const Body& body, BufferId buffer, BufferId copy, const ReadBox& box);
/// Loops over the box, outermost first, called name.stem0, name.stem1, ... Of dimensions of one element there are none
/// in nested(), and their place is 0.
[[nodiscard]] std::vector<Loop> loops_over(Copies& copies, const ReadBox& box, const std::string& name, char stem);
/// A statement inside of loops.
[[nodiscard]] Body nested(const std::vector<Loop>& loops, Statement::Content statement);
/// The places in the copy, and in the buffer, that the loops over the box stand for.
[[nodiscard]] std::vector<IndexExpr> places_in_copy(const std::vector<Loop>& loops);
[[nodiscard]] std::vector<IndexExpr> places_in_buffer(const std::vector<Loop>& loops, const ReadBox& box);

}  // namespace rewright::schedule
