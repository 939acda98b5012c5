// Building graphs: every operand exists before it is used, and no application is made twice.
#include <rewright/base/mixing.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace rewright {

std::string to_string(const ApplicationNode& application) {
  return application.op->name() + to_string(application.op->info().params, application.params);
}

namespace {

/// Equal applications have equal keys; parameters are compared in full.
std::uint64_t application_key(const Operator& op, std::span<const Port> operands) {
  std::uint64_t key = std::hash<std::string>()(op.name());
  for (const Port& port : operands) key = mix(key, (std::uint64_t{port.node.value} << 16) ^ port.output);
  return key;
}

}  // namespace

Result<Port> GraphBuilder::input(std::string name, TensorType type, InputKind kind,
                                 std::shared_ptr<const ConstantData> constant) {
  if (name.empty()) return make_error(ErrorCode::kUsage, "an input of a graph needs a name");
  const NodeId id{static_cast<std::uint32_t>(graph_.nodes_.size())};
  if (!names_.emplace(name, id).second) return make_error(ErrorCode::kUsage, "two inputs are named '{}'", name);
  Node node;
  node.name = std::move(name);
  node.content = InputNode{kind, std::move(constant)};
  node.outputs.push_back(std::move(type));
  graph_.nodes_.push_back(std::move(node));
  graph_.inputs_.push_back(id);
  return Port{id, 0};
}

Port GraphBuilder::constant(ConstantData value, std::string_view name_hint) {
  std::string name(name_hint);
  for (int suffix = 2; names_.contains(name); ++suffix) name = fmt::format("{}_{}", name_hint, suffix);
  TensorType type = value.type;
  return *input(std::move(name), std::move(type), InputKind::kWeight,
                std::make_shared<const ConstantData>(std::move(value)));
}

Result<std::vector<Port>> GraphBuilder::apply(const Operator& op, Params params, std::vector<Port> operands,
                                              std::string name_hint) {
  const std::uint64_t key = application_key(op, operands);
  const auto ports_of = [&](NodeId id) {
    std::vector<Port> ports;
    for (std::uint32_t i = 0; i < graph_.node(id).outputs.size(); ++i) ports.push_back({id, i});
    return ports;
  };
  for (auto [at, end] = applications_.equal_range(key); at != end; ++at) {
    const Node& node = graph_.node(at->second);
    const ApplicationNode& made = *node.application();
    if (made.op == &op && made.params == params && node.inputs == operands) return ports_of(at->second);
  }
  ElementType element = ElementType::kFloat32;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Port port = operands[i];
    if (port.node.value >= graph_.nodes_.size() || port.output >= graph_.node(port.node).outputs.size()) {
      return make_error(ErrorCode::kUsage, "{}: operand {} is not a tensor of this graph", op.name(), i);
    }
    const TensorType& type = graph_.type(port);
    if (!is_floating(type.element) || (i > 0 && type.element != element)) {
      return make_error(ErrorCode::kUnsupported, "{}: operands must all have one floating-point element type",
                        op.name());
    }
    element = type.element;
    shapes.push_back(type.shape);
  }
  REWRIGHT_TRY(auto outputs, op.infer(params, shapes));
  const NodeId id{static_cast<std::uint32_t>(graph_.nodes_.size())};
  Node node;
  node.name = std::move(name_hint);
  node.content = ApplicationNode{&op, std::move(params)};
  node.inputs = std::move(operands);
  for (Shape& shape : outputs) node.outputs.push_back({std::move(shape), element});
  graph_.nodes_.push_back(std::move(node));
  applications_.emplace(key, id);
  return ports_of(id);
}

Result<std::vector<Port>> GraphBuilder::apply(std::string_view op, std::span<const NamedParam> params,
                                              std::vector<Port> operands, std::string name_hint) {
  if (registry_ == nullptr) fail("GraphBuilder::apply by name needs a registry");
  REWRIGHT_TRY(const Operator* found, registry_->get<Operator>(op));
  REWRIGHT_TRY(Params values, make_params(op, found->info().params, params));
  return apply(*found, std::move(values), std::move(operands), std::move(name_hint));
}

Result<Port> GraphBuilder::apply1(std::string_view op, std::initializer_list<NamedParam> params,
                                  std::vector<Port> operands) {
  REWRIGHT_TRY(auto ports, apply(op, std::span(params.begin(), params.size()), std::move(operands)));
  if (ports.size() != 1) return make_error(ErrorCode::kUsage, "{}: has {} outputs, expected one", op, ports.size());
  return ports.front();
}

std::vector<Port> GraphBuilder::opaque(OpaqueNode opaque, std::vector<Port> operands, std::vector<TensorType> outputs) {
  const NodeId id{static_cast<std::uint32_t>(graph_.nodes_.size())};
  Node node;
  node.content = std::make_shared<const OpaqueNode>(std::move(opaque));
  node.inputs = std::move(operands);
  node.outputs = std::move(outputs);
  graph_.nodes_.push_back(std::move(node));
  std::vector<Port> ports;
  for (std::uint32_t i = 0; i < graph_.node(id).outputs.size(); ++i) ports.push_back({id, i});
  return ports;
}

Result<std::vector<Port>> GraphBuilder::copy(const Node& node, std::vector<Port> operands) {
  if (const ApplicationNode* made = node.application()) return apply(*made, std::move(operands), node.name);
  if (const OpaqueNode* made = node.opaque()) return opaque(*made, std::move(operands), node.outputs);
  REWRIGHT_TRY(const Port port, input(node.name, node.outputs.front(), node.input()->kind, node.input()->constant));
  return std::vector{port};
}

void GraphBuilder::name(Port port, const std::string& name) {
  Node& node = graph_.nodes_[port.node.value];
  const bool is_taken = std::ranges::find(graph_.nodes_, name, &Node::name) != graph_.nodes_.end();
  if (node.application() != nullptr && node.name.empty() && !is_taken) node.name = name;
}
void GraphBuilder::output(Port port, std::string name) {
  graph_.outputs_.push_back(port);
  graph_.output_names_.push_back(std::move(name));
}

Graph GraphBuilder::finish() {
  std::vector<bool> needed(graph_.nodes_.size(), false);
  for (const NodeId id : graph_.inputs_) needed[id.value] = true;
  for (const Port& port : graph_.outputs_) needed[port.node.value] = true;
  for (std::size_t i = graph_.nodes_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const Port& port : graph_.nodes_[i].inputs) needed[port.node.value] = true;
  }
  std::vector<NodeId> moved(graph_.nodes_.size());
  Graph graph;
  for (std::size_t i = 0; i < graph_.nodes_.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = NodeId{static_cast<std::uint32_t>(graph.nodes_.size())};
    Node node = std::move(graph_.nodes_[i]);
    for (Port& port : node.inputs) port.node = moved[port.node.value];
    graph.nodes_.push_back(std::move(node));
  }
  for (const NodeId id : graph_.inputs_) graph.inputs_.push_back(moved[id.value]);
  for (const Port& port : graph_.outputs_) graph.outputs_.push_back({moved[port.node.value], port.output});
  graph.output_names_ = std::move(graph_.output_names_);
  graph_ = Graph();
  names_.clear();
  applications_.clear();
  return graph;
}

}  // namespace rewright
