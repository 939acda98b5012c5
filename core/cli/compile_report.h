// What rewright compile says at its end, for people and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "compile/algorithm_choice.h"
#include "compile/compile_regions.h"
#include "compile/fusion_search.h"

namespace rewright::cli {

/// Of schedules that were chosen among the other kernels.
struct InContext {
  std::size_t programs = 0;
  std::size_t others = 0;  ///< That take another than the one that is best alone.
  double kernels_us = 0;   ///< What that brought, kernel by kernel.
};

struct Compiled {
  compile::CompileReport report;
  std::vector<compile::WayToCompile> ways = {};      ///< Of several, which were timed in turn.
  std::optional<compile::FusionReport> fusion = {};  ///< Where they differ in what is fused: by name the usual, 1, ...
  std::optional<InContext> in_context = {};          ///< Where they differ in schedules: alone, 2, ..., in-context.
  std::optional<compile::AlgorithmChoice> algorithms =
      {};  ///< Where they differ in these: usual, each for all, chosen.
};

/// The worst version, and each where sizes are open.
[[nodiscard]] Json compile_json(const Compiled& compiled, double seconds);
void print_compile_report(const Compiled& compiled, const std::string& folder, double seconds);

[[nodiscard]] Json compile_json(const compile::RegionsReport& report, double seconds);
/// `name`: of the model's files.
void print_compile_report(const compile::RegionsReport& report, const std::string& name, const std::string& folder,
                          double seconds);

}  // namespace rewright::cli
