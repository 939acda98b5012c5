// Kernels measured for a data set: those of models, and the same with other sizes.
//
// Kernels come in blocks of kBlock. Before and after each a reference kernel is measured, a matrix product of one size:
// where it drifted by more than kDrift, the block is thrown away and done again. In the first half of the time kernels
// are measured that are new; in the second half the same once more, in another order, and a third time where both times
// are more than kApart apart. What was measured is in the file after each block.
#pragma once

#include <rewright/base/result.h>
#include <rewright/optimize/cost.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "learn/data_set.h"

namespace rewright::learn {

struct SamplingOptions {
  std::vector<std::string> models;  ///< ONNX files.
  std::string file;                 ///< What is there already is known, and stays.
  double seconds = 300;
  std::uint64_t seed = 1;
  /// False ends it; what was measured is kept. `kernels`: measured so far.
  std::function<bool(std::size_t kernels, double share)> goes_on = {};
};

struct SamplingReport {
  std::size_t new_kernels = 0, repeated = 0, failed = 0;
  std::size_t discarded = 0;  ///< Blocks.
  bool stopped = false;
};

/// `model` measures, and was configured. Errors: of a model that cannot be read, of the file; kUsage, a cost model that
/// does not measure; kUnsupported, models without kernels.
[[nodiscard]] REWRIGHT_API Result<SamplingReport> sample(CostModel& model, const SamplingOptions& options,
                                                         const Registry& registry);

/// Keys of what would be asked of a cost model that fuses as this one does.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::string>> kernels_of_model(const std::string& file,
                                                                             const CostModel& model,
                                                                             const Registry& registry);
/// The kernel with other sizes, equal ones still equal; nothing where its operators do not allow these.
[[nodiscard]] REWRIGHT_API std::optional<std::string> resized(const std::string& kernel, std::uint64_t seed,
                                                              const Registry& registry);

}  // namespace rewright::learn
