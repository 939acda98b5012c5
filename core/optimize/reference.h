// What a graph computes, node by node, in double precision or in the model's own arithmetic.
//
//   exact   every tensor with a fraction is held in double precision from the inputs on;
//   own     the same, and each node's results are rounded to their tensor's element type: what the model computes on a
//           device that keeps every tensor in its type, whatever a runtime keeps in wider types on the way.
//
// Operators compute by their meaning, nodes with graphs inside by these (BodyRunner), other nodes run in the runtime
// (NodeRunner); integers are exact. A tensor is
// dropped after its last use. What a node that cannot be run, or is fed by one, would make is missing.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>
#include <rewright/tensor/scalar.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/import.h"
#include "optimize/body_runner.h"
#include "optimize/node_runner.h"
#include "optimize/reference_tensor.h"

namespace rewright {

enum class Arithmetic : std::uint8_t { kExact, kOwn };

struct ReferenceRun {
  std::vector<ReferenceTensor> outputs;
  std::string trouble;  ///< Why the first of the missing ones is missing; empty where none is.
};

/// The same graph on the same inputs, in both arithmetics.
struct ReferenceRuns {
  ReferenceRun exact, own;
};

/// Weights as numbers, so that runs on other inputs and in the other arithmetic need not read them again. Thread-safe.
class ReadWeights {
 public:
  [[nodiscard]] std::shared_ptr<const ReferenceTensor> find(const std::shared_ptr<const ConstantData>& constant) const;
  /// What was kept before goes where both together take much.
  void keep(std::shared_ptr<const ConstantData> constant, std::shared_ptr<const ReferenceTensor> tensor);
  /// Do all of a graph's weights take so little that they can be kept?
  [[nodiscard]] static bool has_room_for(const Graph& graph);

 private:
  mutable std::mutex mutex_;
  std::map<std::shared_ptr<const ConstantData>, std::shared_ptr<const ReferenceTensor>> tensors_;
  std::size_t bytes_ = 0;
};

/// Threads may evaluate at the same time; nodes that run in the runtime take turns.
class REWRIGHT_API Reference {
 public:
  /// Borrows everything. `runtime` may be null: then nodes that no operator knows are missing. `external`: weights
  /// whose values lie in files. `registry` serves graphs inside nodes; null: these run in the runtime.
  Reference(const Runtime* runtime, std::string directory, const std::map<std::string, ExternalWeight>* external,
            const Registry* registry = nullptr)
      : external_(external) {
    if (registry != nullptr) bodies_ = std::make_unique<BodyRunner>(*registry, directory);
    if (runtime != nullptr) runner_.emplace(*runtime, std::move(directory));
  }

  /// The model that the nodes of the graphs to come are from: its versions and functions count. Errors: kParse.
  [[nodiscard]] Status set_model(std::string_view model);

  /// Weights without a value are drawn at random, by their names. Errors: kUsage, an input that is not given; what a
  /// weight cannot be read for.
  [[nodiscard]] Result<ReferenceRun> evaluate(const Graph& graph, const ReferenceInputs& inputs, Arithmetic arithmetic);
  /// Both at the same time where memory allows it. Errors: as `evaluate`.
  [[nodiscard]] Result<ReferenceRuns> evaluate_both(const Graph& graph, const ReferenceInputs& inputs);

 private:
  friend class Evaluation;
  const std::map<std::string, ExternalWeight>* external_;
  std::optional<NodeRunner> runner_;
  std::unique_ptr<BodyRunner> bodies_;
  std::mutex runner_mutex_;
  ReadWeights weights_;
};

/// Bytes that evaluation holds at most at a time, about.
[[nodiscard]] REWRIGHT_API double evaluation_bytes(const Graph& graph);
/// Are they so many that no memory should be kept for another run?
[[nodiscard]] REWRIGHT_API bool holds_much(const Graph& graph);

}  // namespace rewright
