// How a tensor lies in memory between kernels: its dimensions in an order of their own, and rows of 0 around it, so
// that who reads beyond its ends, where a padded sum has nothing, need not ask whether it does.
//
//   t[p(i) + before] = b[i],   0 elsewhere
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <vector>

namespace rewright::compile {

struct Storage {
  std::vector<std::size_t> order;           ///< The tensor's dimensions, outermost first.
  std::vector<std::int64_t> before, after;  ///< Zeros, by the tensor's dimension.
  friend bool operator==(const Storage&, const Storage&) = default;
};
/// Zeros around an access of a buffer, by dimension, both ways.
struct Halo {
  std::vector<std::int64_t> before, after;
};
[[nodiscard]] std::string to_string(const Storage& storage);

/// What sums over this buffer read beyond it: loads by which what is added is multiplied, under conditions that keep
/// them inside. `is_positive`: no element is below 0, so that the greatest of some is that of them and 0.
[[nodiscard]] Halo halo_of(const loop::Program& program, BufferId buffer, bool is_positive);

/// The program with the buffer so stored. Conditions that the zeros make needless are gone; who writes it writes the
/// zeros, too.
[[nodiscard]] REWRIGHT_API loop::Program with_storage(const loop::Program& program, BufferId buffer,
                                                      const Storage& storage, bool is_positive);

}  // namespace rewright::compile
