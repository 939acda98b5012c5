// What a graph computes, node by node, in double precision or in the model's own arithmetic.
//
//   exact   every tensor with a fraction is held in double precision from the inputs on;
//   own     the same, and each node's results are rounded to their tensor's element type: what the model computes on a
//           device that keeps every tensor in its type, whatever a runtime keeps in wider types on the way.
//
// Operators compute by their meaning, other nodes run in the runtime (NodeRunner); integers are exact. A tensor is
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
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/import.h"
#include "optimize/node_runner.h"

namespace rewright {

enum class Arithmetic : std::uint8_t { kExact, kOwn };

struct ReferenceTensor {
  TensorType type{{}, ElementType::kUnknown};  ///< As the model has it; unknown where the tensor is missing.
  std::vector<Real> numbers;                   ///< Of types with a fraction.
  std::vector<std::byte> bytes;                ///< Of all other types.

  [[nodiscard]] bool is_there() const { return type.element != ElementType::kUnknown; }
};
/// By the input's name.
using ReferenceInputs = std::map<std::string, ReferenceTensor>;

/// Errors: kUnsupported, a type without numbers.
[[nodiscard]] REWRIGHT_API Result<ReferenceTensor> reference_tensor(const TensorType& type,
                                                                    std::span<const std::byte> bytes);
/// Numbers as a tensor of any type of numbers.
[[nodiscard]] REWRIGHT_API ReferenceTensor tensor_of(const TensorType& type, std::vector<Real> numbers);
/// The tensor's elements as numbers, of whatever type they are.
[[nodiscard]] REWRIGHT_API std::vector<Real> numbers_of(const ReferenceTensor& tensor);

struct ReferenceRun {
  std::vector<ReferenceTensor> outputs;
  std::string trouble;  ///< Why the first of the missing ones is missing; empty where none is.
};

/// The same graph on the same inputs, in both arithmetics.
struct ReferenceRuns {
  ReferenceRun exact, own;
};

/// Threads may evaluate at the same time; nodes that run in the runtime take turns.
class REWRIGHT_API Reference {
 public:
  /// Borrows everything. `runtime` may be null: then nodes that no operator knows are missing. `external`: weights
  /// whose values lie in files.
  Reference(const Runtime* runtime, std::string directory, const std::map<std::string, ExternalWeight>* external)
      : external_(external) {
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
  std::mutex runner_mutex_;
};

/// Bytes that evaluation holds at most at a time, about.
[[nodiscard]] REWRIGHT_API double evaluation_bytes(const Graph& graph);
/// Are they so many that no memory should be kept for another run?
[[nodiscard]] REWRIGHT_API bool holds_much(const Graph& graph);
/// Floating-point operations of the graph's operators.
[[nodiscard]] REWRIGHT_API double evaluation_flops(const Graph& graph);

}  // namespace rewright
