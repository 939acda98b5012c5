#include "onnx/body.h"

#include <algorithm>

#include "onnx/importer.h"
#include "onnx/scope.h"
#include "onnx/unused.h"

namespace rewright {

using namespace model;

namespace {

template <class Values>
void drop_outer(Values& values, const std::set<std::string>& outer) {
  values.erase(
      std::remove_if(values.begin(), values.end(), [&](const auto& value) { return outer.contains(value.name()); }),
      values.end());
}

/// Before IR 4 a tensor that is stored is listed among the inputs, which a body cannot do.
void store_in_nodes(GraphProto& graph) {
  GraphProto with_constants;
  for (TensorProto& tensor : *graph.mutable_initializer()) {
    NodeProto& constant = *with_constants.add_node();
    constant.set_op_type("Constant");
    constant.add_output(tensor.name());
    AttributeProto& value = *constant.add_attribute();
    value.set_name("value");
    value.set_type(AttributeProto::TENSOR);
    *value.mutable_t() = std::move(tensor);
  }
  graph.clear_initializer();
  for (NodeProto& node : *graph.mutable_node()) *with_constants.add_node() = std::move(node);
  graph.mutable_node()->Swap(with_constants.mutable_node());
}

bool same_opsets(const ModelProto& a, const ModelProto& b) {
  const auto same = [](const auto& left, const auto& right) {
    return normal_domain(left.domain()) == normal_domain(right.domain()) && left.version() == right.version();
  };
  return std::ranges::equal(a.opset_import(), b.opset_import(), same);
}

Result<NodeProto> parse_node(const std::string& serialized) {
  NodeProto node;
  if (node.ParseFromString(serialized)) return node;
  return make_error(ErrorCode::kInternal, "an opaque node is not a serialized NodeProto");
}

/// What an opaque node takes, by name: its inputs, then what its graphs use.
std::vector<std::string> operand_names(const NodeProto& node) {
  std::vector<std::string> names;
  for (const std::string& name : node.input())
    if (!name.empty()) names.push_back(name);
  for (std::string& name : captures(node)) names.push_back(std::move(name));
  return names;
}

}  // namespace

Result<std::string> with_body(const std::string& serialized, const ImportedBody& body, const std::string& written) {
  REWRIGHT_TRY(NodeProto node, parse_node(serialized));
  ModelProto before, now;
  if (!before.ParseFromString(body.model.skeleton) || !now.ParseFromString(written))
    return make_error(ErrorCode::kInternal, "a body is not a ModelProto");
  if (!same_opsets(before, now))
    return make_error(ErrorCode::kUnsupported, "{} of {} would need opset {}, and the model has {}", body.attribute,
                      describe(node), opset_of(now), opset_of(before));
  GraphProto& made = *now.mutable_graph();
  drop_outer(*made.mutable_initializer(), body.outer);
  drop_outer(*made.mutable_value_info(), body.outer);
  if (body.stores_in_nodes) store_in_nodes(made);
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.name() != body.attribute) continue;
    GraphProto& graph = *attribute.mutable_g();
    graph.mutable_node()->Swap(made.mutable_node());
    graph.mutable_initializer()->Swap(made.mutable_initializer());
    graph.mutable_sparse_initializer()->Swap(made.mutable_sparse_initializer());
    graph.mutable_value_info()->Swap(made.mutable_value_info());
    graph.mutable_quantization_annotation()->Swap(made.mutable_quantization_annotation());
  }
  return node.SerializeAsString();
}

Result<Graph> with_node(const Graph& graph, const std::string& before, const std::string& now) {
  REWRIGHT_TRY(const NodeProto old_node, parse_node(before));
  REWRIGHT_TRY(const NodeProto new_node, parse_node(now));
  const std::vector<std::string> old_names = operand_names(old_node), new_names = operand_names(new_node);
  GraphBuilder builder;
  std::vector<std::vector<Port>> made(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<Port> operands;
    for (const Port port : node.inputs) operands.push_back(made[port.node.value][port.output]);
    if (!node.opaque() || node.opaque()->serialized != before) {
      REWRIGHT_TRY(made[i], builder.copy(node, std::move(operands)));
    } else {
      std::vector<Port> taken;
      for (const std::string& name : new_names) {
        const auto found = std::ranges::find(old_names, name);
        if (found == old_names.end() || operands.size() != old_names.size())
          return make_error(ErrorCode::kInternal, "{} uses '{}', which it did not use", describe(new_node), name);
        taken.push_back(operands[static_cast<std::size_t>(found - old_names.begin())]);
      }
      made[i] = builder.opaque({node.opaque()->type, now, node.opaque()->frame}, std::move(taken), node.outputs);
    }
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Port port = graph.outputs()[i];
    builder.output(made[port.node.value][port.output],
                   graph.output_names().empty() ? std::string() : graph.output_names()[i]);
  }
  return without_unused_weights(builder.finish());
}

Reading reading_of(const ImportedModel& model) {
  Reading reading{model.origin.nodes.size(), 0, model.untyped, model.carried};
  for (const ImportedBody& body : model.bodies) {
    const std::size_t nodes = body.carried.size();
    const Reading inside = body.is_read() ? reading_of(body.model) : Reading{nodes, 0, nodes, body.carried};
    reading.nodes += inside.nodes;
    if (body.is_taken) reading.untyped += inside.untyped;
    reading.bodies += inside.bodies + (body.is_read() ? 1 : 0);
    reading.carried.insert(reading.carried.end(), inside.carried.begin(), inside.carried.end());
  }
  return reading;
}

}  // namespace rewright
