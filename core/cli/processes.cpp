#include "cli/processes.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace rewright::cli {

Processes processes_from_environment() {
  struct Launcher {
    const char* rank;
    const char* count;
    std::array<const char*, 3> token;
  };
  constexpr Launcher kLaunchers[] = {
      {"OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_RESTART_COUNT"}},
      {"PMI_RANK", "PMI_SIZE", {"PMI_JOBID", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"}},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}},
  };
  const auto variable = [](const char* name) {
    return std::string(std::getenv(name) != nullptr ? std::getenv(name) : "");
  };
  for (const Launcher& launcher : kLaunchers) {
    const std::string rank = variable(launcher.rank), count = variable(launcher.count);
    if (rank.empty() || count.empty()) continue;
    Processes processes;
    processes.rank = std::strtoull(rank.c_str(), nullptr, 10);
    processes.count = std::max<std::size_t>(std::strtoull(count.c_str(), nullptr, 10), 1);
    for (const char* name : launcher.token) processes.token += variable(name) + "-";
    std::replace(processes.token.begin(), processes.token.end(), '/', '-');
    if (processes.rank < processes.count) return processes;
  }
  return {};
}

}  // namespace rewright::cli
