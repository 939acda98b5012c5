#include "compress/compressed_model.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/proto.h"

namespace rewright::compress {
namespace {

using model::AttributeProto;

/// How nodes are written that have a size as a parameter.
enum class SizeNodes : std::uint8_t {
  kKept,    ///< As they were, the sizes that they read being set where they are stored.
  kWritten  ///< By their operators, where the node reads a shape.
};

/// What the node was read as.
std::set<NodeId> applications_of(const Graph& graph, const OriginNode& node) {
  std::set<Port> outside;
  for (const auto& input : node.inputs)
    if (input) outside.insert(*input);
  std::vector<Port> waiting;
  for (const auto& output : node.outputs)
    if (output) waiting.push_back(*output);
  std::set<NodeId> made;
  while (!waiting.empty()) {
    const Port port = waiting.back();
    waiting.pop_back();
    const Node& maker = graph.node(port.node);
    if (outside.contains(port) || maker.is_input() || !made.insert(port.node).second) continue;
    waiting.insert(waiting.end(), maker.inputs.begin(), maker.inputs.end());
  }
  return made;
}

/// Stored sizes (0 and -1 among them) with the new numbers; null where they are not those.
std::shared_ptr<const ConstantData> with_sizes(const ConstantData& stored, std::span<const std::int64_t> was,
                                               std::span<const std::int64_t> is) {
  const auto* bytes = std::get_if<std::vector<std::byte>>(&stored.value);
  if (bytes == nullptr || stored.type.element != ElementType::kInt64 || bytes->size() != was.size_bytes())
    return nullptr;
  std::vector<std::int64_t> sizes(was.size());
  std::memcpy(sizes.data(), bytes->data(), bytes->size());
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] == was[k]) {
      sizes[k] = is[k];
    } else if (sizes[k] != 0 && sizes[k] != -1) {
      return nullptr;
    }
  }
  const auto written = std::as_bytes(std::span(sizes));
  return std::make_shared<const ConstantData>(
      ConstantData{stored.type, std::vector<std::byte>(written.begin(), written.end())});
}

/// The original as if it had been read with the new weights, so that export_model sees nothing to write anew.
class Reread {
 public:
  Reread(const ImportedModel& original, const CompressedGraph& compressed)
      : then_(original.graph), compressed_(compressed), model_(original) {}

  ImportedModel run(SizeNodes size_nodes) {
    model_.graph = compressed_.graph;
    take_weights();
    for (OriginNode& node : model_.origin.nodes) {
      const std::set<NodeId> made = applications_of(then_, node);
      for (auto& port : node.inputs) move(port);
      for (auto& port : node.outputs) move(port);
      const bool makes_changed_weight = std::ranges::any_of(
          node.outputs, [&](const std::optional<Port>& port) { return port && changed_.contains(port->node); });
      if (makes_changed_weight || !stays(node, made, size_nodes)) forget(node);
    }
    if (has_other_shapes_) forget_declared_shapes();
    return std::move(model_);
  }

 private:
  void move(std::optional<Port>& port) const {
    if (port) port->node = compressed_.now[port->node.value];
  }
  [[nodiscard]] const Node& now(NodeId then) const { return compressed_.graph.node(compressed_.now[then.value]); }
  void take_weights() {
    for (const NodeId then : then_.inputs()) {
      const auto &was = then_.node(then).constant(), &is = now(then).constant();
      if (was == is) continue;
      changed_.insert(compressed_.now[then.value]);
      has_other_shapes_ = has_other_shapes_ || was->type != is->type;
      const auto stored = model_.origin.initializers.find(then_.node(then).name);
      if (stored != model_.origin.initializers.end()) stored->second = is;
    }
  }
  /// False unless one attribute alone is the number.
  static bool set_attribute(OriginNode& node, std::int64_t was, std::int64_t is) {
    model::NodeProto proto;
    if (!proto.ParseFromString(node.serialized)) return false;
    AttributeProto* found = nullptr;
    for (AttributeProto& attribute : *proto.mutable_attribute()) {
      if (attribute.type() != AttributeProto::INT || attribute.i() != was) continue;
      if (found != nullptr) return false;
      found = &attribute;
    }
    if (found == nullptr) return false;
    found->set_i(is);
    node.serialized = proto.SerializeAsString();
    return true;
  }
  /// The shapes that a Reshape reads, where they are stored.
  void set_stored_sizes(const OriginNode& node, std::span<const std::int64_t> was, std::span<const std::int64_t> is) {
    for (std::size_t k = 1; k < node.input_names.size(); ++k) {
      const std::string& name = node.input_names[k];
      const auto stored = model_.origin.initializers.find(name);
      if (stored != model_.origin.initializers.end()) {
        if (auto sizes = with_sizes(*stored->second, was, is)) stored->second = std::move(sizes);
        continue;
      }
      for (OriginNode& maker : model_.origin.nodes)
        if (!maker.output_names.empty() && maker.output_names[0] == name) set_constant(maker, was, is);
    }
  }
  static void set_constant(OriginNode& node, std::span<const std::int64_t> was, std::span<const std::int64_t> is) {
    model::NodeProto proto;
    if (!proto.ParseFromString(node.serialized) || proto.op_type() != "Constant" || proto.attribute_size() != 1) return;
    AttributeProto& attribute = *proto.mutable_attribute(0);
    if (!attribute.has_t()) return;
    const auto held = model::read_tensor(attribute.t(), "");
    const auto sizes = held ? with_sizes(*held, was, is) : nullptr;
    if (sizes == nullptr) return;
    *attribute.mutable_t() = model::to_proto(*sizes, attribute.t().name());
    node.serialized = proto.SerializeAsString();
  }
  /// Whether the node can be written as it was, with the attributes that are sizes set to the new ones.
  bool stays(OriginNode& node, const std::set<NodeId>& made, SizeNodes size_nodes) {
    for (const NodeId then : made) {
      const ApplicationNode *was = then_.node(then).application(), *is = now(then).application();
      if (was == nullptr || was->params == is->params) continue;
      for (std::size_t p = 0; p < was->params.size(); ++p) {
        if (was->params[p] == is->params[p]) continue;
        if (const auto* number = std::get_if<std::int64_t>(&was->params[p])) {
          if (!set_attribute(node, *number, is->params.integer(p))) return false;
        } else if (node.input_names.size() > 1) {
          if (size_nodes == SizeNodes::kWritten) return false;
          set_stored_sizes(node, was->params.sizes(p), is->params.sizes(p));
        }
      }
    }
    return true;
  }
  static void forget(OriginNode& node) {
    std::ranges::fill(node.outputs, std::nullopt);
    node.is_light = false;
  }
  /// Of tensors between nodes.
  void forget_declared_shapes() {
    model::ModelProto proto;
    if (!proto.ParseFromString(model_.skeleton)) return;
    proto.mutable_graph()->clear_value_info();
    model_.skeleton = proto.SerializeAsString();
  }

  const Graph& then_;
  const CompressedGraph& compressed_;
  ImportedModel model_;
  std::set<NodeId> changed_;  ///< Weights, by node of the compressed graph.
  bool has_other_shapes_ = false;
};

/// What the written model differs in from the graph; empty where it does not.
std::string difference(const Graph& graph, const Graph& written) {
  const auto applications = [](const Graph& of) {
    std::multiset<std::string> texts;
    for (const Node& node : of.nodes()) {
      // A weight may be written in the shape that its reader asks for.
      const bool is_weight_reshaped = node.applies("reshape") && of.node(node.inputs[0].node).is_weight();
      if (node.is_input() || is_weight_reshaped) continue;
      std::string text = node.application() ? to_string(*node.application()) : node.opaque()->type;
      for (const Port& port : node.inputs) text += to_string(of.shape(port));
      for (const TensorType& type : node.outputs) text += "->" + to_string(type.shape);
      texts.insert(std::move(text));
    }
    return texts;
  };
  const auto wanted = applications(graph), found = applications(written);
  std::vector<std::string> missing, added;
  std::ranges::set_difference(wanted, found, std::back_inserter(missing));
  std::ranges::set_difference(found, wanted, std::back_inserter(added));
  if (!missing.empty()) return "it lacks " + missing.front();
  return added.empty() ? "" : "it has " + added.front() + ", too";
}

}  // namespace

NodeNames node_names(const ImportedModel& model) {
  NodeNames names;
  for (const OriginNode& node : model.origin.nodes) {
    model::NodeProto proto;
    if (!proto.ParseFromString(node.serialized) || proto.name().empty()) continue;
    for (const NodeId id : applications_of(model.graph, node)) names.emplace(id, proto.name());
  }
  return names;
}

Result<std::string> compressed_model(const ImportedModel& original, const CompressedGraph& compressed,
                                     const Registry& registry, const ImportOptions& options) {
  std::string trouble;
  for (const SizeNodes size_nodes : {SizeNodes::kKept, SizeNodes::kWritten}) {
    const ImportedModel origin = Reread(original, compressed).run(size_nodes);
    REWRIGHT_TRY(std::string bytes, export_model(compressed.graph, origin));
    const auto written = import_model(std::as_bytes(std::span(bytes)), registry, options);
    trouble = written ? difference(compressed.graph, written->graph) : written.error().message;
    if (trouble.empty()) return bytes;
  }
  return make_error(ErrorCode::kUnsupported,
                    "the compressed model cannot be written: what was written reads as "
                    "something else: {}",
                    trouble);
}

}  // namespace rewright::compress
