#include "compile/scan.h"

#include <rewright/onnx/onnx.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "onnx/import.h"
#include "onnx/proto.h"
#include "onnx/scope.h"

namespace rewright::compile {
namespace {

using Places = std::vector<IndexExpr>;

template <class... Args>
Error no_scan(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kUnsupported, format, std::forward<Args>(args)...);
}

std::vector<std::int64_t> integers_of(const model::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return {attribute.ints().begin(), attribute.ints().end()};
  }
  return {};
}

const model::AttributeProto* attribute_named(const model::NodeProto& node, const std::string& name) {
  const auto found = std::ranges::find_if(node.attribute(), [&](const auto& given) { return given.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

Shape without(const Shape& shape, int axis) {
  Shape rest;
  for (int k = 0; k < shape.rank(); ++k) {
    if (k != axis) rest.append(shape[k]);
  }
  return rest;
}

class ScanReader {
 public:
  ScanReader(const Graph& graph, const Node& node, const Registry& registry)
      : graph_(graph), node_(node), registry_(registry) {}

  Result<Scan> read() {
    if (!proto_.ParseFromString(node_.opaque()->serialized))
      return make_error(ErrorCode::kInternal, "a carried node cannot be read again");
    if (node_.opaque()->frame != nullptr && !model_.ParseFromString(*node_.opaque()->frame))
      return make_error(ErrorCode::kInternal, "a carried node's model cannot be read again");
    if (model::opset_of(model_) < 9) return no_scan("Scan of opset 8, which has a batch axis");
    const auto *body = attribute_named(proto_, "body"), *count = attribute_named(proto_, "num_scan_inputs");
    const int given = proto_.input_size();
    if (body == nullptr || !body->has_g() || count == nullptr || count->i() < 1 || count->i() > given ||
        body->g().input_size() != given || body->g().output_size() < proto_.output_size())
      return no_scan("its inputs are not those of its body");
    scan_.states = static_cast<std::size_t>(given - count->i());
    if (static_cast<std::size_t>(proto_.output_size()) != node_.outputs.size() ||
        proto_.output_size() != body->g().output_size())
      return no_scan("an output that is no tensor");
    REWRIGHT_CHECK(read_ways());
    REWRIGHT_CHECK(read_body(body->g()));
    return std::move(scan_);
  }

 private:
  Status read_ways() {
    const auto in_axes = integers_of(proto_, "scan_input_axes"), out_axes = integers_of(proto_, "scan_output_axes");
    const auto in_ways = integers_of(proto_, "scan_input_directions");
    const auto out_ways = integers_of(proto_, "scan_output_directions");
    for (std::size_t k = scan_.states; k < static_cast<std::size_t>(proto_.input_size()); ++k) {
      REWRIGHT_TRY(const Scan::Way way, way_at(in_axes, in_ways, k - scan_.states, type(k).shape));
      const std::int64_t length = type(k).shape[way.axis];
      if (!scan_.inputs.empty() && length != scan_.length) return no_scan("scanned inputs of different lengths");
      scan_.length = length;
      scan_.inputs.push_back(way);
    }
    for (std::size_t k = scan_.states; k < node_.outputs.size(); ++k) {
      REWRIGHT_TRY(const Scan::Way way, way_at(out_axes, out_ways, k - scan_.states, node_.outputs[k].shape));
      scan_.outputs.push_back(way);
    }
    return {};
  }
  static Result<Scan::Way> way_at(const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& directions,
                                  std::size_t k, const Shape& shape) {
    std::int64_t axis = k < axes.size() ? axes[k] : 0;
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) return no_scan("scan axis {} of a tensor of rank {}", axis, shape.rank());
    return Scan::Way{static_cast<int>(axis), k < directions.size() && directions[k] != 0};
  }
  [[nodiscard]] const TensorType& type(std::size_t operand) const { return graph_.type(node_.inputs[operand]); }

  /// The body as a model at these sizes. Integers from outside that are known are values in it: sizes, axes.
  Status read_body(const model::GraphProto& graph) {
    *model_.mutable_graph() = graph;
    model::GraphProto& body = *model_.mutable_graph();
    body.clear_input();
    for (auto& output : *body.mutable_output()) output.clear_type();
    std::map<std::string, std::size_t> operand_of;
    for (std::size_t k = 0; k < static_cast<std::size_t>(graph.input_size()); ++k) {
      TensorType slice = type(k);
      if (k >= scan_.states) slice.shape = without(slice.shape, scan_.inputs[k - scan_.states].axis);
      add_input(body, graph.input(static_cast<int>(k)).name(), slice);
      operand_of.emplace(graph.input(static_cast<int>(k)).name(), k);
    }
    auto operand = static_cast<std::size_t>(proto_.input_size());
    for (const std::string& name : model::captures(proto_)) {
      if (operand >= node_.inputs.size()) return no_scan("its body uses '{}', which is not known here", name);
      const auto& value = graph_.node(node_.inputs[operand].node).constant();
      if (value != nullptr && value->type.element == ElementType::kInt64) {
        *body.add_initializer() = model::to_proto(*value, name);
      } else {
        add_input(body, name, type(operand));
      }
      operand_of.emplace(name, operand++);
    }
    const std::string bytes = model_.SerializeAsString();
    REWRIGHT_TRY(ImportedModel imported, import_model(std::as_bytes(std::span(bytes)), registry_, {}));
    scan_.body = std::move(imported.graph);
    for (const NodeId id : scan_.body.inputs()) {
      if (!scan_.body.node(id).is_data()) continue;
      const auto found = operand_of.find(scan_.body.node(id).name);
      if (found == operand_of.end()) return no_scan("its body has an input '{}' more", scan_.body.node(id).name);
      scan_.operands.push_back(found->second);
    }
    return check_types();
  }
  static void add_input(model::GraphProto& graph, const std::string& name, const TensorType& type) {
    auto& input = *graph.add_input();
    input.set_name(name);
    *input.mutable_type() = model::to_proto(type);
  }
  [[nodiscard]] Status check_types() const {
    for (std::size_t k = 0; k < node_.outputs.size(); ++k) {
      TensorType wanted = node_.outputs[k];
      if (k >= scan_.states) wanted.shape = without(wanted.shape, scan_.outputs[k - scan_.states].axis);
      const bool is_kept = k >= scan_.states || wanted == type(k);
      if (!is_kept || !(scan_.body.type(scan_.body.outputs()[k]) == wanted))
        return no_scan("output {} of its body has another type in a round than in the next", k);
    }
    return {};
  }

  const Graph& graph_;
  const Node& node_;
  const Registry& registry_;
  model::NodeProto proto_;
  model::ModelProto model_;
  Scan scan_;
};

class ScanWriter {
 public:
  ScanWriter(const Graph& graph, const Node& node, const Scan& scan, const Definition& body)
      : graph_(graph), node_(node), scan_(scan), body_(body) {
    const std::size_t copies = scan.states + node.outputs.size();
    body_axes_ = static_cast<std::uint32_t>(1 + copies * kMaxRank);
  }

  Definition write() {
    for (std::size_t k = 0; k < node_.inputs.size(); ++k)
      add(fmt::format("x{}", k), graph_.type(node_.inputs[k]), BufferRole::kInput);
    for (std::size_t k = 0; k < node_.outputs.size(); ++k)
      add(fmt::format("y{}", k), node_.outputs[k], BufferRole::kOutput);
    place_buffers();
    for (std::size_t k = 0; k < scan_.states; ++k) {
      copy(kept_[k], graph_.type(node_.inputs[k]).shape,
           [&](const Places& at) { return std::pair(joined(0, at), ValueExpr::load(id(k), at)); });
    }
    for (const Stage& stage : body_.stages) definition_.stages.push_back(in_round(stage));
    for (std::size_t k = 0; k < node_.outputs.size(); ++k) {
      copy(id(node_.inputs.size() + k), node_.outputs[k].shape,
           [&](const Places& at) { return std::pair(at, ValueExpr::load(kept_[k], place_in_rounds(k, at))); });
    }
    return std::move(definition_);
  }

 private:
  [[nodiscard]] static BufferId id(std::size_t number) { return {static_cast<std::uint32_t>(number)}; }
  static Places joined(IndexExpr first, Places at) {
    at.insert(at.begin(), std::move(first));
    return at;
  }
  BufferId add(std::string name, const TensorType& type, BufferRole role, std::optional<std::int64_t> rounds = {}) {
    Places sizes(type.shape.begin(), type.shape.end());
    if (rounds) sizes = joined(*rounds, std::move(sizes));
    definition_.buffers.push_back({std::move(name), std::move(sizes), type.element, role});
    return id(definition_.buffers.size() - 1);
  }

  /// Of the body's inputs the operands; what it computes has a place for each round, a state one more.
  void place_buffers() {
    std::size_t input = 0, output = 0;
    for (const Buffer& buffer : body_.buffers) {
      const bool is_output = buffer.role == BufferRole::kOutput;
      if (!is_output && buffer.role != BufferRole::kTemporary) {
        buffer_of_.push_back(id(scan_.operands[input++]));
        continue;
      }
      const bool is_state = is_output && output < scan_.states;
      definition_.buffers.push_back(buffer);
      Buffer& whole = definition_.buffers.back();
      whole.sizes = joined(scan_.length + (is_state ? 1 : 0), std::move(whole.sizes));
      whole.role = BufferRole::kTemporary;
      whole.name = is_output ? fmt::format("{}{}", is_state ? "state" : "part", output) : "body_" + buffer.name;
      buffer_of_.push_back(id(definition_.buffers.size() - 1));
      if (!is_output) continue;
      kept_.push_back(buffer_of_.back());
      ++output;
    }
  }

  /// target[first] = value, at all places of a tensor of these sizes: what `element` gives of one.
  template <class Element>
  void copy(BufferId target, const Shape& shape, const Element& element) {
    Stage stage{definition_[target].name + "_copy", target};
    Places at;
    for (int k = 0; k < shape.rank(); ++k) {
      stage.axes.push_back({{next_axis_++, fmt::format("i{}", k)}, IndexExpr(shape[k])});
      at.emplace_back(stage.axes.back().axis);
    }
    std::tie(stage.at, stage.value) = element(at);
    definition_.stages.push_back(std::move(stage));
  }
  /// Where an output's element lies among what the rounds computed.
  [[nodiscard]] Places place_in_rounds(std::size_t output, Places at) const {
    if (output < scan_.states) return joined(scan_.length, std::move(at));
    const Scan::Way& way = scan_.outputs[output - scan_.states];
    const IndexExpr round = at[static_cast<std::size_t>(way.axis)];
    at.erase(at.begin() + way.axis);
    return joined(way.is_backwards ? IndexExpr(scan_.length - 1) - round : round, std::move(at));
  }

  // --- the body, in a round ---

  [[nodiscard]] Stage in_round(const Stage& stage) const {
    const Substitution parts = substitution();
    Stage result{"body_" + stage.name, buffer_of_[stage.target.value]};
    result.axes.push_back({round_, IndexExpr(scan_.length), true});
    for (AxisRange range : stage.axes) {
      range.axis = moved(range.axis);
      range.extent = substitute(range.extent, parts);
      result.axes.push_back(std::move(range));
    }
    const bool is_state = std::ranges::count(std::span(kept_).first(scan_.states), result.target) > 0;
    result.at.push_back(IndexExpr(round_) + IndexExpr(is_state ? 1 : 0));
    for (const IndexExpr& index : stage.at) result.at.push_back(substitute(index, parts));
    result.where = substitute(stage.where, parts);
    result.value = substitute(stage.value, parts);
    return result;
  }
  [[nodiscard]] Axis moved(const Axis& axis) const { return {axis.id + body_axes_, axis.name}; }
  [[nodiscard]] Substitution substitution() const {
    Substitution parts;
    parts.axis = [this](const Axis& axis) { return std::optional(IndexExpr(moved(axis))); };
    parts.bound = [this](const Axis& axis) { return std::optional(moved(axis)); };
    parts.load = [this](const ValueExpr& load) {
      const auto [buffer, at] = read_in_round(load.buffer(), {load.indices().begin(), load.indices().end()});
      return std::optional(ValueExpr::load(buffer, at));
    };
    parts.data = [this](const IndexExpr& data) {
      const auto operands = data.operands();
      const auto [buffer, at] = read_in_round(data.buffer(), {operands.begin() + 2, operands.end()});
      return std::optional(IndexExpr::data(buffer, at, operands[0], operands[1]));
    };
    return parts;
  }
  [[nodiscard]] std::pair<BufferId, Places> read_in_round(BufferId own, Places at) const {
    const BufferId buffer = buffer_of_[own.value];
    if (buffer.value >= node_.inputs.size()) return {buffer, joined(round_, std::move(at))};
    if (buffer.value < scan_.states) return {kept_[buffer.value], joined(round_, std::move(at))};
    if (const auto way = scan_.way_of(buffer.value)) {
      const IndexExpr round(round_);
      at.insert(at.begin() + way->axis, way->is_backwards ? IndexExpr(scan_.length - 1) - round : round);
    }
    return {buffer, std::move(at)};
  }

  const Graph& graph_;
  const Node& node_;
  const Scan& scan_;
  const Definition& body_;
  Definition definition_;
  Axis round_{0, "t"};
  std::uint32_t next_axis_ = 1;      ///< Of copies.
  std::uint32_t body_axes_ = 0;      ///< Behind these.
  std::vector<BufferId> buffer_of_;  ///< By buffer of the body.
  std::vector<BufferId> kept_;       ///< By output: what the rounds computed; of a state, what the next one reads.
};

}  // namespace

std::optional<Scan::Way> Scan::way_of(std::size_t operand) const {
  if (operand < states || operand >= states + inputs.size()) return std::nullopt;
  return inputs[operand - states];
}

Result<Scan> read_scan(const Graph& graph, const Node& node, const Registry& registry) {
  return ScanReader(graph, node, registry).read();
}

Result<Definition> scan_definition(const Graph& graph, const Node& node, const Scan& scan, const Definition& body) {
  const auto is_serial = [](const Stage& stage) { return serial_axis(stage) != nullptr; };
  if (std::ranges::any_of(body.stages, is_serial)) return no_scan("its body has a serial axis of its own");
  return ScanWriter(graph, node, scan, body).write();
}

}  // namespace rewright::compile
