// How a tensor lies in memory between kernels: in order, or in blocks of its dimension 1, with a border of zeros around
// the dimensions behind it.
//
//   stored[n, floor(c / block), h + before_h, w + before_w, c mod block] = tensor[n, c, h, w]
//
// A kernel whose sums read beyond an edge under a condition reads zeros of the border instead, without the condition.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace rewright::schedule {

struct Storage {
  std::int64_t block = 1;  ///< Divides the size of dimension 1; 1: no blocks.
  /// Elements before and behind dimensions 2, 3, ...; empty: none.
  std::vector<std::pair<std::int64_t, std::int64_t>> border = {};

  [[nodiscard]] bool is_plain() const;
  friend bool operator==(const Storage&, const Storage&) = default;
};
/// The larger of both borders.
[[nodiscard]] REWRIGHT_API Storage with_border(Storage storage, const Storage& other);

/// Elements of a tensor of these sizes in that storage.
[[nodiscard]] REWRIGHT_API std::vector<std::int64_t> stored_sizes(const std::vector<std::int64_t>& sizes,
                                                                  const Storage& storage);

/// The program with a buffer in that storage, an input, a weight or an output; the border of an output is set to 0
/// first.
[[nodiscard]] REWRIGHT_API loop::Program stored(const loop::Program& program, BufferId buffer, const Storage& storage);

/// A program from x to y, the same tensor in two storages.
[[nodiscard]] REWRIGHT_API loop::Program restored(const std::vector<std::int64_t>& sizes, ElementType element,
                                                  const Storage& from, const Storage& to);

/// A program without those conditions that keep an input from being read beyond an edge, where a 0 of a border stands
/// for what is left out: all that happens under such a condition is += of products with it. `storage`: the border that
/// each buffer needs then.
///
/// A weight that is infinite or no number makes a difference: 0 * inf is none.
struct Unguarded {
  loop::Program program;
  std::vector<Storage> storage;  ///< By buffer.
};
[[nodiscard]] REWRIGHT_API Unguarded without_edges(const loop::Program& program);

}  // namespace rewright::schedule
