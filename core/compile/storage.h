// Programs over tensors that are stored otherwise (compile/storage_form.h): who reads beyond the ends of one, where a
// padded sum has nothing, need not ask whether it does.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <vector>

#include "compile/storage_form.h"

namespace rewright::compile {

/// Zeros around an access of a buffer, by dimension, both ways.
struct Halo {
  std::vector<std::int64_t> before, after;
};

/// What sums over this buffer read beyond it: loads by which what is added is multiplied, under conditions that keep
/// them inside. `is_positive`: no element is below 0, so that the greatest of some is that of them and 0.
[[nodiscard]] Halo halo_of(const loop::Program& program, BufferId buffer, bool is_positive);

/// The program with the buffer so stored. Conditions that the zeros make needless are gone; who writes it writes the
/// zeros, too.
[[nodiscard]] REWRIGHT_API loop::Program with_storage(const loop::Program& program, BufferId buffer,
                                                      const Storage& storage, bool is_positive);

}  // namespace rewright::compile
