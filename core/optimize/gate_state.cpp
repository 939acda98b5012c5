#include "optimize/gate_state.h"

#include <tbb/parallel_for.h>

#include <utility>
#include <vector>

#include "onnx/export.h"
#include "optimize/random_inputs.h"
#include "optimize/rebuild.h"
#include "optimize/rounding.h"

namespace rewright {
namespace {

/// Of all random weights together: 256 MB as float32.
constexpr std::int64_t kMostKeptElements = 1 << 26;

}  // namespace

Result<std::string> GateState::model_of(const Graph& graph) const {
  return options.to_model ? options.to_model(graph) : export_model(graph);
}

Result<std::unique_ptr<RuntimeSession>> GateState::load(const std::string& model, bool optimise) const {
  return options.runtime->load(std::as_bytes(std::span(model)), {options.directory, optimise, holds_much});
}

void GateState::keep_random_weights() {
  std::int64_t elements = 0;
  std::vector<const Node*> weights;
  for (const NodeId id : original().inputs()) {
    if (!uniform.contains(original().node(id).name)) continue;
    weights.push_back(&original().node(id));
    elements += weights.back()->outputs[0].shape.elements();
  }
  if (elements > kMostKeptElements) return;
  std::vector<std::shared_ptr<const ConstantData>> drawn(weights.size());
  tbb::parallel_for(std::size_t{0}, weights.size(), [&](std::size_t i) {
    const Node& weight = *weights[i];
    drawn[i] = std::make_shared<const ConstantData>(random_weight(weight.name, weight.outputs[0], options.seed));
  });
  for (std::size_t i = 0; i < weights.size(); ++i) random_weights.emplace(weights[i]->name, std::move(drawn[i]));
}

Result<Graph> GateState::with_random_weights(const Graph& graph) const {
  return rebuild(graph, {}, [&](const Node& node) -> Result<std::shared_ptr<const ConstantData>> {
    if (!uniform.contains(node.name)) return node.constant();
    const auto kept = random_weights.find(node.name);
    if (kept != random_weights.end() && kept->second->type == node.outputs[0]) return kept->second;
    return std::make_shared<const ConstantData>(random_weight(node.name, node.outputs[0], options.seed));
  });
}

Result<ReferenceInputs> GateState::reference_inputs(const Expected& run) const {
  ReferenceInputs inputs;
  for (const auto& [name, value] : defaults) {
    REWRIGHT_TRY(const std::vector<Real> numbers, to_numbers(value));
    inputs.emplace(name, tensor_of(value.type, numbers));
  }
  for (const RuntimeTensor& input : run.inputs) {
    REWRIGHT_TRY(inputs[input.name], reference_tensor(input.type, input.bytes));
  }
  return inputs;
}

std::string output_name(const Graph& graph, std::size_t i) {
  if (!graph.output_names().empty() && !graph.output_names()[i].empty()) return graph.output_names()[i];
  return fmt::format("number {}", i + 1);
}

Result<std::vector<ReferenceTensor>> run_session(RuntimeSession& session, std::span<const RuntimeTensor> inputs) {
  REWRIGHT_TRY(const std::vector<RuntimeTensor> outputs, session.run(inputs));
  std::vector<ReferenceTensor> tensors;
  for (const RuntimeTensor& output : outputs) {
    REWRIGHT_TRY(ReferenceTensor tensor, reference_tensor(output.type, output.bytes));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace rewright
