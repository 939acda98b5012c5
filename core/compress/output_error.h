// How far the outputs of a compressed model are from the original's, on random inputs, in double precision.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/imported_model.h"
#include "optimize/input_source.h"

namespace rewright::compress {

struct OutputError {
  std::string name;
  double greatest = 0;  ///< Of |original - compressed|, over all elements and inputs.
  double relative = 0;  ///< The same over the greatest |original| of that run.
  /// Where it is (N, classes), as scores are: rows of all inputs whose greatest element is at the same place.
  std::optional<std::int64_t> same_greatest;
  std::int64_t rows = 0;
};

struct ErrorOptions {
  int inputs = 16;
  std::uint64_t seed = 1;
  GivenInputs given = {};
  const Runtime* runtime = nullptr;  ///< For nodes without a definition; may be null.
  std::string directory = {};        ///< Where external data lies.
};

/// One for each output of numbers. Errors: kUnsupported where the models cannot be run in double precision or an input
/// cannot be drawn.
[[nodiscard]] REWRIGHT_API Result<std::vector<OutputError>> output_errors(const ImportedModel& original,
                                                                          const ImportedModel& compressed,
                                                                          const Registry& registry,
                                                                          const ErrorOptions& options);

}  // namespace rewright::compress
