#include "compile/kernels.h"

#include <rewright/loop/element_types.h>
#include <rewright/optimize/cost_key.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/files.h"
#include "compile/graph_definition.h"
#include "compile/kernel_definition.h"
#include "loop/lower.h"
#include "loop/validator.h"

namespace rewright::compile {
namespace {

/// Kernels of more nodes than this do not grow.
constexpr std::size_t kMostNodes = 16;
/// Of a key's hash, in a function's name: two of a million functions meet with probability below 2^-8.
constexpr std::size_t kKeyDigits = 12;

/// One or more nodes, and what they compute as one.
struct Group {
  std::vector<NodeId> nodes;  ///< Each behind those whose outputs it takes, in the order of kernels' keys.
  Definition definition;
  bool is_absorbed = false;
};

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

/// More of `kernel`'s key: element types other than float32.
std::string to_text(std::span<const ElementTypes> types) {
  std::string text;
  for (const ElementTypes& type : types) {
    text += fmt::format("|{}", name_of(type.numbers));
    for (const ElementType output : type.outputs) text += fmt::format(",{}", name_of(output));
  }
  return text;
}

class Grouping {
 public:
  Grouping(const Graph& graph, std::span<const CarriedNode> carried,
           const std::map<std::string, ExternalWeight>& external, const Registry* registry)
      : graph_(graph), carried_(carried), external_(external), registry_(registry), groups_(graph.nodes().size()) {
    for (const Node& node : graph.nodes()) {
      std::set<Port> read(node.inputs.begin(), node.inputs.end());
      for (const Port& port : read) ++uses_[port];
    }
    for (const Port& port : graph.outputs()) uses_[port] += 2;  // It must be there in the end.
  }

  Result<Kernels> run() {
    Kernels result;
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (auto reason = reason_against(node)) {
        result.not_compiled.push_back({node_name(i), *std::move(reason)});
      } else if (!node.is_input()) {
        auto group = group_of(NodeId{i});
        if (!group) {
          result.not_compiled.push_back({node_name(i), reason_of(node, group.error())});
          continue;
        }
        REWRIGHT_TRY(group, with_producers(*std::move(group)));
        groups_[i] = std::make_unique<Group>(*std::move(group));
      }
    }
    if (!result.not_compiled.empty()) return result;
    for (const auto& group : groups_) {
      if (!group || group->is_absorbed) continue;
      REWRIGHT_CHECK(add_call(*group, result));
    }
    return result;
  }

 private:
  static std::string kind_of(const Node& node) {
    if (node.opaque() != nullptr) return node.opaque()->type;
    return node.application() != nullptr ? node.application()->op->name() : "input";
  }
  [[nodiscard]] std::string node_name(std::uint32_t i) const {
    const Node& node = graph_.nodes()[i];
    const std::string kind = kind_of(node);
    return node.name.empty() ? kind : fmt::format("{} ({})", node.name, kind);
  }
  /// Nothing for what can be compiled.
  [[nodiscard]] std::optional<std::string> reason_against(const Node& node) const {
    if (node.is_weight() && node.constant() == nullptr && !external_.contains(node.name)) {
      return "the weight's values are not known";
    }
    for (const TensorType& type : node.outputs) {
      if (loop::is_computable(type.element)) continue;
      return fmt::format("loop programs do not compute with {}", name_of(type.element));
    }
    return std::nullopt;
  }
  /// Of a carried node as the import said it of that node, else of one of its type; of a Scan what its body lacks.
  [[nodiscard]] std::string reason_of(const Node& node, const Error& error) const {
    if (node.opaque() == nullptr || node.opaque()->type == "Scan") return error.message;
    const std::string& type = node.opaque()->type;
    const auto is_named = [&](const CarriedNode& other) { return other.type == type && other.name == node.name; };
    auto found = std::ranges::find_if(carried_, is_named);
    if (found == carried_.end()) found = std::ranges::find(carried_, type, &CarriedNode::type);
    return found == carried_.end() ? error.message : found->reason;
  }
  [[nodiscard]] std::vector<ElementTypes> element_types(std::span<const NodeId> nodes) const {
    std::vector<ElementTypes> types;
    for (const NodeId id : nodes) types.push_back(element_types_of(graph_, graph_.node(id)));
    return types;
  }
  [[nodiscard]] bool are_applications(std::span<const NodeId> nodes) const {
    return std::ranges::all_of(nodes, [this](NodeId id) { return graph_.node(id).application() != nullptr; });
  }
  /// Of nodes that operators read the kernel's; a carried one has a definition of its own.
  Result<Definition> definition_of_nodes(const std::vector<NodeId>& nodes) const {
    if (are_applications(nodes)) {
      return definition_of(kernel_of(graph_, nodes).kernel(), element_types(nodes));
    }
    std::vector<DefinitionPart> parts;
    for (const NodeId id : nodes) {
      REWRIGHT_TRY(Definition definition, definition_of_node(graph_, id, registry_));
      DefinitionPart& part = parts.emplace_back(std::move(definition));
      for (const Port& port : graph_.node(id).inputs) part.sources.push_back(source_of(nodes, port));
    }
    return composed(parts);
  }
  static Kernel::Source source_of(const std::vector<NodeId>& nodes, Port port) {
    const auto maker = std::ranges::find(nodes, port.node);
    if (maker == nodes.end()) return {};
    return {static_cast<std::uint32_t>(maker - nodes.begin()), port.output};
  }

  Result<Group> group_of(NodeId id) const {
    Group group{{id}, {}};
    REWRIGHT_TRY(group.definition, definition_of_nodes(group.nodes));
    std::uint32_t output = 0;
    for (const Buffer& buffer : group.definition.buffers) {
      if (buffer.role != BufferRole::kOutput) continue;
      const Shape& shape = graph_.shape({id, output++});
      if (!std::ranges::equal(buffer.sizes, shape, [](const IndexExpr& a, std::int64_t b) { return a.number() == b; }))
        return make_error(ErrorCode::kInternal, "its definition has an output of other sizes");
    }
    return group;
  }

  /// The group with those of its producers that store nothing for it.
  Result<Group> with_producers(Group group) {
    for (const Port& port : graph_.node(group.nodes.back()).inputs) {
      Group* producer = groups_[port.node.value].get();
      if (producer == nullptr || producer->is_absorbed || uses_[port] != 1 ||
          graph_.node(port.node).outputs.size() != 1 || producer->nodes.size() + group.nodes.size() > kMostNodes) {
        continue;
      }
      REWRIGHT_TRY(Group joined, joined_with(*producer, group));
      if (temporaries(joined.definition) > temporaries(producer->definition) + temporaries(group.definition)) continue;
      if (sums(joined.definition) > std::max(sums(producer->definition), sums(group.definition))) continue;
      group = std::move(joined);
      producer->is_absorbed = true;
    }
    return group;
  }
  [[nodiscard]] Result<Group> joined_with(const Group& producer, const Group& consumer) const {
    std::set<NodeId> left(producer.nodes.begin(), producer.nodes.end());
    left.insert(consumer.nodes.begin(), consumer.nodes.end());
    Group joined;
    place(consumer.nodes.back(), left, joined.nodes);
    REWRIGHT_TRY(joined.definition, definition_of_nodes(joined.nodes));
    return joined;
  }
  /// A node behind its operands, these from left to right.
  void place(NodeId id, std::set<NodeId>& left, std::vector<NodeId>& placed) const {
    if (left.erase(id) == 0) return;
    for (const Port& port : graph_.node(id).inputs) place(port.node, left, placed);
    placed.push_back(id);
  }

  /// A call of the function of equal kernels, which is made if there is none.
  Status add_call(const Group& group, Kernels& result) {
    REWRIGHT_TRY(const std::string key, key_of_group(group));
    const auto [known, is_new] = function_of_.try_emplace(key, result.functions.size());
    if (is_new) {
      REWRIGHT_TRY(loop::Program program, program_of(group));
      const auto valid = loop::validate(program, kWalkedSteps);
      if (!valid && valid.error().code != ErrorCode::kBudget) return fault(group, valid.error().message);
      result.functions.push_back({function_name(group, key), std::move(program)});
    }
    KernelCall& call = result.calls.emplace_back(KernelCall{known->second, ports_of(group)});
    call.tensors.resize(result.program(call).buffers.size());
    return {};
  }
  /// With carried nodes there is no key but the program.
  [[nodiscard]] Result<std::string> key_of_group(const Group& group) const {
    if (are_applications(group.nodes)) {
      return to_key(kernel_of(graph_, group.nodes).kernel()) + to_text(element_types(group.nodes));
    }
    REWRIGHT_TRY(const loop::Program program, program_of(group));
    return to_string(program);
  }
  [[nodiscard]] Result<loop::Program> program_of(const Group& group) const {
    Definition definition = group.definition;
    for (Stage& stage : definition.stages) stage.name = definition[stage.target].name;
    auto program = loop::lower(definition);
    if (!program) return fault(group, program.error().message);
    return program;
  }
  [[nodiscard]] std::string function_name(const Group& group, const std::string& key) const {
    std::string name;
    for (const NodeId id : group.nodes) {
      if (name.size() < 40) name += kind_of(graph_.node(id)) + "_";
    }
    return name + content_hash(key).substr(0, kKeyDigits);
  }
  /// By buffer of the definition.
  [[nodiscard]] std::vector<std::optional<Port>> ports_of(const Group& group) const {
    std::vector<Port> operands;
    for (const NodeId id : group.nodes) {
      for (const Port& port : graph_.node(id).inputs) {
        if (source_of(group.nodes, port).is_outside()) operands.push_back(port);
      }
    }
    auto operand = operands.begin();
    Port output{group.nodes.back(), 0};
    std::vector<std::optional<Port>> ports;
    for (const Buffer& buffer : group.definition.buffers) {
      auto& port = ports.emplace_back();
      if (buffer.role == BufferRole::kOutput) {
        port = output;
        ++output.output;
      } else if (buffer.role != BufferRole::kTemporary) {
        port = *operand++;
      }
    }
    return ports;
  }
  [[nodiscard]] Error fault(const Group& group, const std::string& what) const {
    return make_error(ErrorCode::kInternal, "{}: its definition gives no valid loops: {}",
                      node_name(group.nodes.back().value), what);
  }

  const Graph& graph_;
  std::span<const CarriedNode> carried_;
  const std::map<std::string, ExternalWeight>& external_;
  const Registry* registry_;
  std::map<Port, int> uses_;
  std::vector<std::unique_ptr<Group>> groups_;      ///< By their last node.
  std::map<std::string, std::size_t> function_of_;  ///< By key.
};

}  // namespace

Result<Kernels> kernels_of(const Graph& graph, std::span<const CarriedNode> carried,
                           const std::map<std::string, ExternalWeight>& external, const Registry* registry) {
  return Grouping(graph, carried, external, registry).run();
}

}  // namespace rewright::compile
