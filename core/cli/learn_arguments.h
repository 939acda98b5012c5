// What several commands of rewright learn ask for.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/program.h"
#include "learn/accuracy.h"

namespace rewright::cli {

/// Files of measured kernels.
struct DataArguments {
  std::vector<std::string> files;
  std::string device;
  void add_to(const Command& command);
  [[nodiscard]] Result<learn::DataSet> read(const Registry& registry) const;
};

/// How to learn from them.
struct RecipeArguments {
  std::string predictor = "trees", base = "roofline";
  std::vector<std::string> options;
  std::uint64_t seed = 1;
  void add_to(const Command& command);
  [[nodiscard]] Result<learn::Recipe> read() const;
};

/// "13.9 %".
[[nodiscard]] std::string percent(double share);
[[nodiscard]] Json accuracy_json(const learn::Accuracy& accuracy);

}  // namespace rewright::cli
