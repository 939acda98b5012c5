// Evaluation of a whole graph in any scalar algebra.
#include <rewright/graph/graph.h>

namespace rewright {

template <class Scalar>
Result<std::vector<Tensor<Scalar>>> evaluate(const Graph& graph, std::span<const Tensor<Scalar>> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return make_error(ErrorCode::kUsage, "the graph has {} inputs, but {} values were given", graph.inputs().size(),
                      inputs.size());
  }
  // A tensor is dropped after its last use, so that a deep graph does not hold all of them.
  std::vector<std::size_t> last_use(graph.nodes().size(), 0);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    for (const Port& port : graph.nodes()[i].inputs) last_use[port.node.value] = i;
  }
  for (const Port& port : graph.outputs()) last_use[port.node.value] = graph.nodes().size();

  std::vector<std::vector<Tensor<Scalar>>> owned(graph.nodes().size());
  std::vector<const Tensor<Scalar>*> given(graph.nodes().size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = graph.node(graph.inputs()[i]);
    if (inputs[i].shape() != node.outputs[0].shape) {
      return make_error(ErrorCode::kShape, "input '{}' has shape {}, but the value given has {}", node.name,
                        node.outputs[0].shape, inputs[i].shape());
    }
    given[graph.inputs()[i].value] = &inputs[i];
  }
  const auto tensor = [&](Port port) -> const Tensor<Scalar>& {
    return given[port.node.value] ? *given[port.node.value] : owned[port.node.value][port.output];
  };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.is_input()) continue;
    if (const OpaqueNode* opaque = node.opaque()) {
      return make_error(ErrorCode::kUnsupported, "the graph cannot be evaluated: no operator knows '{}'", opaque->type);
    }
    for (const TensorType& type : node.outputs) owned[i].emplace_back(type.shape);
    std::vector<TensorView<const Scalar>> operands;
    std::vector<TensorView<Scalar>> results;
    for (const Port& port : node.inputs) operands.push_back(tensor(port).view());
    for (Tensor<Scalar>& result : owned[i]) results.push_back(result.view());
    const auto& [op, params] = *node.application();
    op->evaluate(params, Inputs<Scalar>(operands), Outputs<Scalar>(results));
    for (const Port& port : node.inputs) {
      if (last_use[port.node.value] == i) owned[port.node.value].clear();
    }
  }
  std::vector<Tensor<Scalar>> outputs;
  for (const Port& port : graph.outputs()) outputs.push_back(tensor(port));
  return outputs;
}

template REWRIGHT_API Result<std::vector<Tensor<Field>>> evaluate(const Graph&, std::span<const Tensor<Field>>);
template REWRIGHT_API Result<std::vector<Tensor<Exact>>> evaluate(const Graph&, std::span<const Tensor<Exact>>);
template REWRIGHT_API Result<std::vector<Tensor<Real>>> evaluate(const Graph&, std::span<const Tensor<Real>>);
template REWRIGHT_API Result<std::vector<Tensor<Term>>> evaluate(const Graph&, std::span<const Tensor<Term>>);

}  // namespace rewright
