// What is tuned: a loop program, and the key under which its records are kept.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/optimize/kernel.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rewright::tune {

struct TuningTask {
  std::string name;  ///< For people.
  std::string structure;
  std::vector<std::int64_t> sizes;
  loop::Program program;  ///< Unscheduled.
  double count = 1;       ///< How often it runs in what is made faster.
  /// What is made of its scheduled program before it runs; empty: nothing.
  std::function<loop::Program(const loop::Program&)> finish = {};
};

/// Of a kernel as text (kernel_text.h). Errors: those of parse_kernel and task_of.
[[nodiscard]] REWRIGHT_API Result<TuningTask> kernel_task(const std::string& text, const Registry& registry);
[[nodiscard]] Result<TuningTask> kernel_task(const Kernel& kernel, const Registry& registry);
/// Of any program with numbers for sizes: its numbers are the sizes, its text without them is the structure.
[[nodiscard]] REWRIGHT_API TuningTask program_task(std::string name, const loop::Program& program);
/// Of a file with a loop program. `sizes`: numbers for those that it leaves open. Errors: kIo; what is no valid
/// program, or one with a size left.
[[nodiscard]] REWRIGHT_API Result<TuningTask> file_task(const std::string& file,
                                                        const std::map<std::string, std::int64_t>& sizes);

}  // namespace rewright::tune
