// Runtimes: plugins that run ONNX models, to judge equality and to measure.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/options.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// A named tensor given to or taken from a model: raw bytes, row-major, little-endian.
struct RuntimeTensor {
  std::string name;
  TensorType type;
  std::vector<std::byte> bytes;
};

/// Wall-clock microseconds of one run, over several batches of runs. On a shared machine the least is what the model
/// costs, and the quartiles say how far to trust it.
struct RunTimes {
  double least_us = 0;
  double low_us = 0;  ///< First quartile.
  double median_us = 0;
  double high_us = 0;  ///< Third quartile.
};

/// A model, loaded and ready to run.
class REWRIGHT_API RuntimeSession {
 public:
  virtual ~RuntimeSession();
  [[nodiscard]] virtual Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) = 0;
  /// Times `repetitions` batches of at least `batch_us` each, after a warm-up.
  [[nodiscard]] virtual Result<RunTimes> measure(std::span<const RuntimeTensor> inputs, int repetitions,
                                                 double batch_us) = 0;
};

struct LoadOptions {
  std::string directory = {};  ///< Where external data lies.
  bool optimise = true;        ///< All graph optimisations, or none.
  /// Tensors are given back to the system after their last use, not kept for the next: for models that hold much.
  bool is_lean = false;
  int threads = 1;  ///< That a run uses.
};

class Runtime;
template <>
inline constexpr std::uint32_t kAbiVersion<Runtime> = 8;

class REWRIGHT_API Runtime {
 public:
  virtual ~Runtime();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// "ONNX Runtime 1.30.0"; an error says why it cannot be used here and what to install.
  [[nodiscard]] virtual Result<std::string> version() const = 0;
  /// `model`: a serialized ModelProto. Several threads may load at a time.
  [[nodiscard]] virtual Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                                                     const LoadOptions& options) const = 0;
  /// The model as the runtime's own optimisations leave it, serialized. Errors: kUnsupported where it cannot tell.
  [[nodiscard]] virtual Result<std::string> optimised(std::span<const std::byte> model,
                                                      const LoadOptions& options) const;
};

/// The graph as a serialized ModelProto for Runtime::load, its inputs and outputs under their names. Errors:
/// kUnsupported where an operator has no counterpart in ONNX.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::byte>> to_model(const Graph& graph);

}  // namespace rewright
