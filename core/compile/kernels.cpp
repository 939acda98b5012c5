#include "compile/kernels.h"

#include <rewright/loop/element_types.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compile/node_definition.h"
#include "loop/composition.h"
#include "loop/lower.h"
#include "loop/reserved_words.h"
#include "loop/validator.h"

namespace rewright::compile {
namespace {

/// Kernels of more nodes than this do not grow.
constexpr std::size_t kMostNodes = 16;
/// Larger programs are not walked iteration by iteration.
constexpr std::int64_t kWalkedSteps = 200'000;

/// One or more nodes, as one definition. Buffers of ports are called by them.
struct Group {
  Definition definition;
  std::vector<NodeId> nodes;
  std::vector<Port> outputs;
  bool is_absorbed = false;
};

std::string name_of_port(Port port) { return fmt::format("p{}_{}", port.node.value, port.output); }

std::optional<BufferId> buffer_named(const Definition& definition, const std::string& name) {
  for (std::uint32_t b = 0; b < definition.buffers.size(); ++b) {
    if (definition.buffers[b].name == name) return BufferId{b};
  }
  return std::nullopt;
}

class Grouping {
 public:
  Grouping(const Graph& graph, std::span<const CarriedNode> carried,
           const std::map<std::string, ExternalWeight>& external)
      : graph_(graph), carried_(carried), external_(external), groups_(graph.nodes().size()) {
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
        if (group) {
          groups_[i] = std::make_unique<Group>(with_producers(*std::move(group)));
        } else {
          result.not_compiled.push_back({node_name(i), reason_of(node, group.error())});
        }
      }
    }
    if (!result.not_compiled.empty()) return result;
    for (const auto& group : groups_) {
      if (!group || group->is_absorbed) continue;
      REWRIGHT_TRY(Kernel kernel, kernel_of(*group, result.kernels.size()));
      result.kernels.push_back(std::move(kernel));
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
  /// Of a carried node as the import said it of that node, else of one of its type.
  [[nodiscard]] std::string reason_of(const Node& node, const Error& error) const {
    if (node.opaque() == nullptr) return error.message;
    const std::string& type = node.opaque()->type;
    const auto is_named = [&](const CarriedNode& other) { return other.type == type && other.name == node.name; };
    auto found = std::ranges::find_if(carried_, is_named);
    if (found == carried_.end()) found = std::ranges::find(carried_, type, &CarriedNode::type);
    return found == carried_.end() ? error.message : found->reason;
  }
  [[nodiscard]] Buffer buffer_of(Port port, BufferRole role) const {
    Buffer buffer{name_of_port(port), {}, graph_.type(port).element, role};
    for (const std::int64_t size : graph_.shape(port)) buffer.sizes.emplace_back(size);
    return buffer;
  }
  [[nodiscard]] BufferRole role_of(Port port) const {
    return graph_.node(port.node).is_weight() ? BufferRole::kWeight : BufferRole::kInput;
  }
  /// The buffer of a port that a group reads, made if need be.
  [[nodiscard]] BufferId operand(Definition& definition, Port port) const {
    if (const auto known = buffer_named(definition, name_of_port(port))) return *known;
    definition.buffers.push_back(buffer_of(port, role_of(port)));
    return {static_cast<std::uint32_t>(definition.buffers.size() - 1)};
  }

  /// What a node computes with: the type of its first operand that is none of truth values, or of its result.
  [[nodiscard]] ElementType number_type(const Node& node) const {
    for (const Port& port : node.inputs) {
      if (graph_.type(port).element != ElementType::kBool) return graph_.type(port).element;
    }
    return node.outputs.front().element;
  }
  /// In the element types of the graph.
  Result<Definition> definition_of(const Node& node) const {
    const ApplicationNode* const application = node.application();
    if (application == nullptr) return node_definition(graph_, node);
    std::vector<Shape> shapes;
    for (const Port& port : node.inputs) shapes.push_back(graph_.shape(port));
    REWRIGHT_TRY(Definition part, application->op->definition(application->params, shapes));
    std::uint32_t output = 0;
    for (Buffer& buffer : part.buffers) {
      if (buffer.role == BufferRole::kOutput) {
        buffer.element = node.outputs[output++].element;
      } else if (is_floating(buffer.element)) {
        buffer.element = number_type(node);
      }
    }
    return part;
  }
  Result<Group> group_of(NodeId id) const {
    const Node& node = graph_.node(id);
    REWRIGHT_TRY(const Definition part, definition_of(node));
    Group group{{}, {id}, {}};
    std::vector<BufferId> operands;
    for (const Port& port : node.inputs) operands.push_back(operand(group.definition, port));
    const auto outputs = loop::append(group.definition, part, operands, fmt::format("n{}_", id.value));
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      Buffer& buffer = group.definition.buffers[outputs[i].value];
      std::vector<IndexExpr> sizes = buffer_of({id, i}, BufferRole::kOutput).sizes;
      if (!(buffer.sizes == sizes))
        return make_error(ErrorCode::kInternal, "its definition has an output of other sizes");
      buffer.name = name_of_port({id, i});
      buffer.role = BufferRole::kOutput;
      group.outputs.push_back({id, i});
    }
    group.definition = loop::inlined(std::move(group.definition));
    return group;
  }

  /// The group with those of its producers that store nothing for it.
  Group with_producers(Group group) {
    for (const Port& port : graph_.node(group.nodes.back()).inputs) {
      Group* producer = groups_[port.node.value].get();
      if (producer == nullptr || producer->is_absorbed || producer->outputs.size() != 1 || uses_[port] != 1 ||
          producer->nodes.size() + group.nodes.size() > kMostNodes) {
        continue;
      }
      if (auto joined = joined_at(*producer, group, port)) {
        group = *std::move(joined);
        producer->is_absorbed = true;
      }
    }
    return group;
  }
  [[nodiscard]] std::optional<Group> joined_at(const Group& producer, const Group& consumer, Port port) const {
    Group joined{producer.definition, producer.nodes, consumer.outputs};
    joined.nodes.insert(joined.nodes.end(), consumer.nodes.begin(), consumer.nodes.end());
    Definition& whole = joined.definition;
    whole.buffers[buffer_named(whole, name_of_port(port))->value].role = BufferRole::kTemporary;
    std::vector<BufferId> operands;
    std::vector<std::string> names;
    for (const Buffer& buffer : consumer.definition.buffers) {
      if (buffer.role == BufferRole::kOutput) names.push_back(buffer.name);
      if (buffer.role != BufferRole::kInput && buffer.role != BufferRole::kWeight) continue;
      auto known = buffer_named(whole, buffer.name);
      if (!known) {
        known = BufferId{static_cast<std::uint32_t>(whole.buffers.size())};
        whole.buffers.push_back(buffer);
      }
      operands.push_back(*known);
    }
    const auto outputs = loop::append(whole, consumer.definition, operands, "");
    for (std::size_t i = 0; i < outputs.size(); ++i) whole.buffers[outputs[i].value].role = BufferRole::kOutput;
    whole = loop::inlined(std::move(whole));
    if (buffer_named(whole, name_of_port(port))) return std::nullopt;
    return joined;
  }

  Result<Kernel> kernel_of(const Group& group, std::size_t number) const {
    Kernel kernel{fmt::format("k{}", number), {}, {}};
    for (const NodeId id : group.nodes) {
      if (kernel.name.size() < 40) kernel.name += "_" + kind_of(graph_.node(id));
    }
    Definition definition = group.definition;
    const std::map<std::string, Port> ports = ports_of(group);
    for (Buffer& buffer : definition.buffers) {
      const auto port = ports.find(buffer.name);
      kernel.tensors.push_back(port == ports.end() ? std::nullopt : std::optional(port->second));
      if (kernel.tensors.back()) buffer.name = readable_name(*kernel.tensors.back());
    }
    for (Stage& stage : definition.stages) stage.name = definition[stage.target].name;
    auto program = loop::lower(definition);
    if (!program) return fault(group, program.error().message);
    kernel.program = *std::move(program);
    kernel.tensors.resize(kernel.program.buffers.size());
    const auto valid = loop::validate(kernel.program, kWalkedSteps);
    if (!valid && valid.error().code != ErrorCode::kBudget) return fault(group, valid.error().message);
    return kernel;
  }
  [[nodiscard]] std::map<std::string, Port> ports_of(const Group& group) const {
    std::map<std::string, Port> ports;
    for (const NodeId id : group.nodes) {
      for (const Port& port : graph_.node(id).inputs) ports.emplace(name_of_port(port), port);
    }
    for (const Port& port : group.outputs) ports.emplace(name_of_port(port), port);
    return ports;
  }
  [[nodiscard]] std::string readable_name(Port port) const {
    const std::string word = loop::as_word(graph_.node(port.node).name);
    return graph_.node(port.node).name.empty() || word.size() > 40 ? name_of_port(port) : word;
  }
  [[nodiscard]] Error fault(const Group& group, const std::string& what) const {
    return make_error(ErrorCode::kInternal, "{}: its definition gives no valid loops: {}",
                      node_name(group.nodes.back().value), what);
  }

  const Graph& graph_;
  std::span<const CarriedNode> carried_;
  const std::map<std::string, ExternalWeight>& external_;
  std::map<Port, int> uses_;
  std::vector<std::unique_ptr<Group>> groups_;  ///< By their last node.
};

}  // namespace

Result<Kernels> kernels_of(const Graph& graph, std::span<const CarriedNode> carried,
                           const std::map<std::string, ExternalWeight>& external) {
  return Grouping(graph, carried, external).run();
}

}  // namespace rewright::compile
