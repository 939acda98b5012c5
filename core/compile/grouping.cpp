#include "compile/grouping.h"

#include <algorithm>

#include "compile/graph_definition.h"

namespace rewright::compile {
namespace {

/// Kernels of more nodes than this do not grow.
constexpr std::size_t kMostNodes = 16;

std::int64_t temporaries(const Definition& definition) {
  return std::ranges::count(definition.buffers, BufferRole::kTemporary, &Buffer::role);
}

std::int64_t sums(const ValueExpr& value) {
  std::int64_t count = value.kind() == ValueExpr::Kind::kReduce ? 1 : 0;
  for (const ValueExpr& part : value.operands()) count += sums(part);
  return count;
}
/// At most, in one stage: two in one nest would leave registers for neither.
std::int64_t sums(const Definition& definition) {
  std::int64_t most = 0;
  for (const Stage& stage : definition.stages) most = std::max(most, sums(stage.value));
  return most;
}

}  // namespace

Kernel::Source source_of(const std::vector<NodeId>& nodes, Port port) {
  const auto maker = std::ranges::find(nodes, port.node);
  if (maker == nodes.end()) return {};
  return {static_cast<std::uint32_t>(maker - nodes.begin()), port.output};
}

Grouping::Grouping(const Graph& graph, const Registry* registry) : graph_(graph), registry_(registry) {
  for (const Node& node : graph.nodes()) {
    std::set<Port> read(node.inputs.begin(), node.inputs.end());
    for (const Port& port : read) ++uses_[port];
  }
  for (const Port& port : graph.outputs()) uses_[port] += 2;  // It must be there in the end.
}

std::optional<std::vector<ElementTypes>> Grouping::element_types(std::span<const NodeId> nodes) const {
  std::vector<ElementTypes> types;
  for (const NodeId id : nodes) {
    if (graph_.node(id).application() == nullptr) return std::nullopt;
    types.push_back(element_types_of(graph_, graph_.node(id)));
  }
  return types;
}

/// Of nodes that operators read the kernel's; a carried one has a definition of its own.
Result<Definition> Grouping::definition(const std::vector<NodeId>& nodes) {
  const auto make = [&]() -> Result<Definition> {
    if (const auto types = element_types(nodes)) return definition_of(kernel_of(graph_, nodes).kernel(), *types);
    std::vector<DefinitionPart> parts;
    for (const NodeId id : nodes) {
      REWRIGHT_TRY(Definition definition, definition_of_node(graph_, id, registry_));
      DefinitionPart& part = parts.emplace_back(std::move(definition));
      for (const Port& port : graph_.node(id).inputs) part.sources.push_back(source_of(nodes, port));
    }
    return composed(parts);
  };
  const auto known = definitions_.find(nodes);
  return known != definitions_.end() ? known->second : definitions_.emplace(nodes, make()).first->second;
}

Result<Group> Grouping::group_of(NodeId id) {
  Group group{{id}, {}};
  REWRIGHT_TRY(group.definition, definition(group.nodes));
  std::uint32_t output = 0;
  for (const Buffer& buffer : group.definition.buffers) {
    if (buffer.role != BufferRole::kOutput) continue;
    const Shape& shape = graph_.shape({id, output++});
    if (!std::ranges::equal(buffer.sizes, shape, [](const IndexExpr& a, std::int64_t b) { return a.number() == b; }))
      return make_error(ErrorCode::kInternal, "its definition has an output of other sizes");
  }
  return group;
}

bool Grouping::leads_to_one(Port port) const {
  const auto found = uses_.find(port);
  return found != uses_.end() && found->second == 1 && graph_.node(port.node).outputs.size() == 1;
}

Result<std::optional<Group>> Grouping::joined(const Group& producer, const Group& consumer) {
  if (producer.nodes.size() + consumer.nodes.size() > kMostNodes) return std::optional<Group>();
  std::set<NodeId> left(producer.nodes.begin(), producer.nodes.end());
  left.insert(consumer.nodes.begin(), consumer.nodes.end());
  Group both;
  place(consumer.nodes.back(), left, both.nodes);
  REWRIGHT_TRY(both.definition, definition(both.nodes));
  const Definition &first = producer.definition, &second = consumer.definition;
  if (temporaries(both.definition) > temporaries(first) + temporaries(second)) return std::optional<Group>();
  if (sums(both.definition) > std::max(sums(first), sums(second))) return std::optional<Group>();
  return std::optional(std::move(both));
}

/// A node behind its operands, these from left to right.
void Grouping::place(NodeId id, std::set<NodeId>& left, std::vector<NodeId>& placed) const {
  if (left.erase(id) == 0) return;
  for (const Port& port : graph_.node(id).inputs) place(port.node, left, placed);
  placed.push_back(id);
}

Result<Groups> Grouping::groups(const std::set<Port>& stored, const std::set<NodeId>& left_out) {
  Groups result;
  std::map<NodeId, Group> open;  // By last node; those that were joined are gone.
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const NodeId id{i};
    if (graph_.node(id).is_input() || left_out.contains(id)) continue;
    auto group = group_of(id);
    if (!group) {
      result.errors.emplace(id, group.error());
      continue;
    }
    for (const Port& port : graph_.node(id).inputs) {
      const auto producer = open.find(port.node);
      if (producer == open.end() || !leads_to_one(port) || stored.contains(port)) continue;
      REWRIGHT_TRY(auto both, joined(producer->second, *group));
      if (!both) continue;
      group = *std::move(both);
      open.erase(producer);
    }
    open.emplace(id, *std::move(group));
  }
  for (auto& [id, group] : open) result.all.push_back(std::move(group));
  return result;
}

Result<std::vector<Port>> Grouping::joints() {
  std::vector<Port> all;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const std::vector<Port>& inputs = graph_.node(NodeId{i}).inputs;
    if (graph_.node(NodeId{i}).is_input()) continue;
    const auto consumer = group_of(NodeId{i});
    if (!consumer) continue;
    for (const Port& port : std::set<Port>(inputs.begin(), inputs.end())) {
      if (graph_.node(port.node).is_input() || !leads_to_one(port)) continue;
      const auto producer = group_of(port.node);
      if (!producer) continue;
      REWRIGHT_TRY(const auto both, joined(*producer, *consumer));
      if (both) all.push_back(port);
    }
  }
  return all;
}

}  // namespace rewright::compile
