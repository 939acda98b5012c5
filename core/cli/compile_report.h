// What rewright compile says at its end, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "compile/compile_regions.h"

namespace rewright::cli {

struct Compiled {
  compile::CompileReport report;
  std::vector<compile::WayToCompile> ways = {};  ///< Of several, which were timed in turn.
};

/// The worst version, and each where sizes are open.
[[nodiscard]] Json compile_json(const Compiled& compiled, double seconds);
void print_compile_report(const Compiled& compiled, const std::string& folder, double seconds);

[[nodiscard]] Json compile_json(const compile::RegionsReport& report, double seconds);
/// `name`: of the model's files.
void print_compile_report(const compile::RegionsReport& report, const std::string& name, const std::string& folder,
                          double seconds);

}  // namespace rewright::cli
