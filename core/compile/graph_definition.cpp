#include "compile/graph_definition.h"

#include <rewright/loop/element_types.h>
#include <rewright/onnx/onnx.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compile/node_definition.h"
#include "compile/scan.h"
#include "loop/composition.h"
#include "operator/reindexed.h"

namespace rewright::compile {
namespace {

/// Weights with more values are none of a definition's numbers.
constexpr std::size_t kMostNumbers = 64;

class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const Registry* registry) : graph_(graph), registry_(registry) {}

  Result<Definition> write() {
    for (const NodeId id : graph_.inputs()) {
      if (graph_.node(id).is_data()) buffers_[{id, 0}] = add(fmt::format("x{}", id.value), {id, 0}, BufferRole::kInput);
    }
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) REWRIGHT_CHECK(add_node({i}));
    for (std::size_t k = 0; k < graph_.outputs().size(); ++k) {
      const BufferId from = buffers_.at(graph_.outputs()[k]);
      const BufferId to = add(fmt::format("y{}", k), graph_.outputs()[k], BufferRole::kOutput);
      fill(to, [from](const std::vector<IndexExpr>& at) { return ValueExpr::load(from, at); });
    }
    return loop::inlined(std::move(whole_));
  }

 private:
  static std::string kind_of(const Node& node) {
    return node.opaque() != nullptr ? node.opaque()->type : node.application()->op->name();
  }
  BufferId add(std::string name, Port port, BufferRole role) {
    Buffer buffer{std::move(name), {}, graph_.type(port).element, role};
    for (const std::int64_t size : graph_.shape(port)) buffer.sizes.emplace_back(size);
    whole_.buffers.push_back(std::move(buffer));
    return {static_cast<std::uint32_t>(whole_.buffers.size() - 1)};
  }
  Status add_node(NodeId id) {
    const Node& node = graph_.node(id);
    for (const TensorType& type : node.outputs) {
      if (!loop::is_computable(type.element))
        return make_error(ErrorCode::kUnsupported, "loop programs do not compute with {}", name_of(type.element));
    }
    if (node.is_weight()) return add_weight(id);
    if (node.is_input()) return {};
    const auto part = definition_of_node(graph_, id, registry_);
    if (!part) return make_error(part.error().code, "{}: {}", kind_of(node), part.error().message);
    std::vector<BufferId> operands;
    for (const Port& port : node.inputs) operands.push_back(buffers_.at(port));
    const auto outputs = loop::append(whole_, *part, operands, fmt::format("n{}_", id.value));
    for (std::uint32_t k = 0; k < outputs.size(); ++k) buffers_[{id, k}] = outputs[k];
    return {};
  }
  Status add_weight(NodeId id) {
    const Node& node = graph_.node(id);
    const auto values =
        node.constant() == nullptr ? Result<std::vector<double>>(std::vector<double>()) : to_reals(*node.constant());
    REWRIGHT_CHECK(values);
    const bool is_uniform =
        !values->empty() && std::ranges::count(*values, values->front()) == static_cast<std::ptrdiff_t>(values->size());
    if (!is_uniform && (values->empty() || values->size() > kMostNumbers))
      return make_error(ErrorCode::kUnsupported,
                        "the weight '{}' has {} values, expected at most {}: take it out of the body", node.name,
                        values->size(), kMostNumbers);
    const BufferId buffer = add(fmt::format("w{}", id.value), {id, 0}, BufferRole::kTemporary);
    buffers_[{id, 0}] = buffer;
    fill(buffer, [&](const std::vector<IndexExpr>& at) {
      if (is_uniform) return number(values->front(), buffer);
      return one_of(*values, buffer, at);
    });
    return {};
  }
  [[nodiscard]] ValueExpr number(double value, BufferId buffer) const {
    const ValueExpr number = ValueExpr::from_double(value);
    return whole_[buffer].element == ElementType::kBool ? negation(equal(number, ValueExpr())) : number;
  }
  /// The value at this place.
  [[nodiscard]] ValueExpr one_of(const std::vector<double>& values, BufferId buffer,
                                 const std::vector<IndexExpr>& at) const {
    const IndexExpr count(static_cast<std::int64_t>(values.size()));
    const ValueExpr place = ValueExpr::index(reindexed(at, whole_[buffer].sizes, std::vector<IndexExpr>{count})[0]);
    ValueExpr chosen = number(values.back(), buffer);
    for (std::size_t k = values.size() - 1; k-- > 0;) {
      const ValueExpr own = ValueExpr::from_integer(static_cast<std::int64_t>(k));
      chosen = select(equal(place, own), number(values[k], buffer), chosen);
    }
    return chosen;
  }
  /// buffer[at] = value(at), everywhere.
  template <class Value>
  void fill(BufferId buffer, const Value& value) {
    Stage stage{whole_[buffer].name, buffer};
    const std::vector<Stage>& stages = whole_.stages;
    std::uint32_t next = 0;
    for (const Stage& other : stages)
      for (const AxisRange& range : other.axes) next = std::max(next, range.axis.id + 1);
    for (const IndexExpr& size : whole_[buffer].sizes) {
      stage.axes.push_back({{next++, fmt::format("i{}", stage.axes.size())}, size});
      stage.at.emplace_back(stage.axes.back().axis);
    }
    stage.value = value(stage.at);
    whole_.stages.push_back(std::move(stage));
  }

  const Graph& graph_;
  const Registry* registry_;
  Definition whole_;
  std::map<Port, BufferId> buffers_;
};

}  // namespace

ElementTypes element_types_of(const Graph& graph, const Node& node) {
  ElementTypes types{node.outputs.front().element, {}};
  const auto is_of_numbers = [&](const Port& port) { return graph.type(port).element != ElementType::kBool; };
  const auto first = std::ranges::find_if(node.inputs, is_of_numbers);
  if (first != node.inputs.end()) types.numbers = graph.type(*first).element;
  for (const TensorType& output : node.outputs) types.outputs.push_back(output.element);
  return types;
}

Result<Definition> definition_of_node(const Graph& graph, NodeId id, const Registry* registry) {
  const Node& node = graph.node(id);
  if (node.application() != nullptr) {
    const NodeId nodes[] = {id};
    return definition_of(kernel_of(graph, nodes).kernel().applications[0], element_types_of(graph, node));
  }
  if (node.opaque()->type != "Scan" || registry == nullptr) return node_definition(graph, node);
  REWRIGHT_TRY(const Scan scan, read_scan(graph, node, *registry));
  const auto body = definition_of_graph(scan.body, registry);
  if (!body) return make_error(body.error().code, "its body: {}", body.error().message);
  return scan_definition(graph, node, scan, *body);
}

Result<Definition> definition_of_graph(const Graph& graph, const Registry* registry) {
  return GraphWriter(graph, registry).write();
}

}  // namespace rewright::compile
