// Memory of this process, in bytes, of Linux's /proc; 0 where there is none.
#pragma once

#include <cstdint>

namespace rewright {

[[nodiscard]] std::uint64_t resident_bytes();
/// The most that was resident at a time.
[[nodiscard]] std::uint64_t peak_memory_bytes();
/// Gives free memory back to the system; the peak is from now on. False where the system does not allow that.
[[nodiscard]] bool restart_peak_memory();

}  // namespace rewright
