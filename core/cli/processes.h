// Under mpirun or srun, several processes of this program share the work of one command.
#pragma once

#include <cstddef>
#include <string>

namespace rewright::cli {

struct Processes {
  std::size_t rank = 0;
  std::size_t count = 1;
  std::string token;  ///< Of this run of them.
};

/// One, where neither of them started it.
[[nodiscard]] Processes processes_from_environment();

}  // namespace rewright::cli
