// A compiled model as one page: its kernels, where the time of a run goes, and what the machine allows for.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tune/machine.h>

#include <string>
#include <utility>
#include <vector>

#include "report/roofline_plot.h"

namespace rewright {

/// One call.
struct CompiledKernel {
  RooflineKernel kernel;  ///< As it ran among the others.
  std::string result;     ///< The first tensor that it writes; may be empty.
  double limit_us = 0;    ///< What the machine allows for it alone.
};

struct CompilingReport {
  std::string model;
  std::string lede = {};                                        ///< A sentence on how fast it is.
  std::vector<std::pair<std::string, std::string>> facts = {};  ///< What, how much.
  std::vector<CompiledKernel> kernels = {};                     ///< In the order of their calls; empty: not timed.
  tune::Machine machine = {};
  int threads = 1;
};
/// A page that needs no other file.
[[nodiscard]] REWRIGHT_API std::string compiling_html(const CompilingReport& report);

/// "12.3", "0.034": for tables.
[[nodiscard]] REWRIGHT_API std::string kernel_us_text(double us);
/// A list of facts.
[[nodiscard]] REWRIGHT_API std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace rewright
