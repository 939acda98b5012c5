// Which iteration a temporary belongs to.
//
// If all uses of a temporary lie inside one loop, each iteration of the innermost such loop has its own: it is made
// when the iteration starts and gone when it ends. So iterations of a parallel loop do not share it.
#pragma once

#include <rewright/loop/loop_program.h>

#include <optional>
#include <vector>

namespace rewright::loop {

/// For each buffer the axis of the loop whose iterations own it; nothing for those that last as long as the program.
[[nodiscard]] REWRIGHT_API std::vector<std::optional<std::uint32_t>> owners(const Program& program);

}  // namespace rewright::loop
