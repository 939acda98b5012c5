// What `rewright compress` did, for people and machines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "compress/compression.h"
#include "compress/output_error.h"

namespace rewright::cli {

struct CompressReport {
  bool zeros = false;                               ///< Weights became 0; else channels went.
  const compress::CompressedGraph* made = nullptr;  ///< Borrowed.
  std::optional<std::vector<compress::OutputError>> errors = {};
  std::optional<double> accuracy_before = {}, accuracy_after = {};
};

[[nodiscard]] std::string to_text(const CompressReport& report);
[[nodiscard]] Json to_json(const CompressReport& report);

}  // namespace rewright::cli
