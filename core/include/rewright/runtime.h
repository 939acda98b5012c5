// Runtimes: plugins that run ONNX models, to judge equality and to measure.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/result.h>
#include <rewright/verifier.h>

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

/// A model, loaded and ready to run.
class REWRIGHT_API RuntimeSession {
 public:
  virtual ~RuntimeSession();
  [[nodiscard]] virtual Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) = 0;
  /// Microseconds of one run: the median over `repetitions` batches of at least `batch_us` thread CPU time each, after
  /// a warm-up.
  [[nodiscard]] virtual Result<double> measure_us(std::span<const RuntimeTensor> inputs, int repetitions,
                                                  double batch_us) = 0;
};

class REWRIGHT_API Runtime {
 public:
  virtual ~Runtime();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// "ONNX Runtime 1.30.0"; an error says why it cannot be used here and what to install.
  [[nodiscard]] virtual Result<std::string> version() const = 0;
  /// `model`: a serialized ModelProto. One thread, all graph optimisations. `directory` is where external data lies.
  [[nodiscard]] virtual Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                                                     const std::string& directory) const = 0;
};

/// The graph as a serialized ModelProto for Runtime::load, its inputs and outputs under their names. Errors:
/// kUnsupported where an operator has no counterpart in ONNX.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::byte>> to_model(const Graph& graph);

}  // namespace rewright
