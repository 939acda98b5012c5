#include "compile/kernels.h"

#include <rewright/loop/element_types.h>
#include <rewright/optimize/cost_key.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/files.h"
#include "compile/grouping.h"
#include "loop/lower.h"
#include "loop/validator.h"

namespace rewright::compile {
namespace {

/// Of a key's hash, in a function's name: two of a million functions meet with probability below 2^-8.
constexpr std::size_t kKeyDigits = 12;

/// More of `kernel`'s key: element types other than float32.
std::string to_text(std::span<const ElementTypes> types) {
  std::string text;
  for (const ElementTypes& type : types) {
    text += fmt::format("|{}", name_of(type.numbers));
    for (const ElementType output : type.outputs) text += fmt::format(",{}", name_of(output));
  }
  return text;
}

/// The functions and calls that groups become.
class Calls {
 public:
  Calls(const Graph& graph, std::span<const CarriedNode> carried, const std::map<std::string, ExternalWeight>& external,
        const Registry* registry)
      : graph_(graph), carried_(carried), external_(external), grouping_(graph, registry) {}

  Result<Kernels> run(const std::set<Port>& stored) {
    Kernels result;
    std::map<NodeId, std::string> reasons;
    std::set<NodeId> left_out;
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      auto reason = reason_against(graph_.nodes()[i]);
      if (!reason) continue;
      left_out.insert(NodeId{i});
      reasons.emplace(NodeId{i}, *std::move(reason));
    }
    REWRIGHT_TRY(const Groups groups, grouping_.groups(stored, left_out));
    for (const auto& [id, error] : groups.errors) reasons.emplace(id, reason_of(graph_.node(id), error));
    for (const auto& [id, reason] : reasons) result.not_compiled.push_back({node_name(id.value), reason});
    if (!result.not_compiled.empty()) return result;
    for (const Group& group : groups.all) REWRIGHT_CHECK(add_call(group, result));
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
    if (grouping_.element_types(group.nodes)) call.key = to_key(kernel_of(graph_, group.nodes).kernel());
    return {};
  }
  /// With carried nodes there is no key but the program.
  [[nodiscard]] Result<std::string> key_of_group(const Group& group) const {
    if (const auto types = grouping_.element_types(group.nodes))
      return to_key(kernel_of(graph_, group.nodes).kernel()) + to_text(*types);
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
  Grouping grouping_;
  std::map<std::string, std::size_t> function_of_;  ///< By key.
};

}  // namespace

Result<Kernels> kernels_of(const Graph& graph, std::span<const CarriedNode> carried,
                           const std::map<std::string, ExternalWeight>& external, const Registry* registry,
                           const std::set<Port>& stored) {
  return Calls(graph, carried, external, registry).run(stored);
}

}  // namespace rewright::compile
