#include "onnx/export.h"

#include <algorithm>

#include "onnx/exporter.h"
#include "onnx/opset.h"
#include "onnx/scope.h"

namespace rewright {

using namespace model;

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// May take a bias.
bool is_product(const NodeProto& node) {
  return normal_domain(node.domain()).empty() && (node.op_type() == "Conv" || node.op_type() == "MatMul");
}

}  // namespace

Result<std::string> Exporter::run() {
  reserve_names();
  REWRIGHT_TRY(const std::vector<Unit> units, plan_kept_units());
  count_uses(units);
  REWRIGHT_CHECK(write_units(units));
  grant_wishes();
  REWRIGHT_CHECK(write_outputs());
  REWRIGHT_CHECK(choose_opset());
  return assemble();
}

/// The names that the model has: of inputs, outputs, weights, nodes and what they make, and all inside their graphs.
void Exporter::reserve_names() {
  const GraphProto& graph = proto_.graph();
  if (options_.taken != nullptr) taken_.insert(options_.taken->begin(), options_.taken->end());
  for (const auto& input : graph.input()) taken_.insert(input.name());
  for (const auto& tensor : graph.initializer()) taken_.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) taken_.insert(tensor.values().name());
  taken_.insert(graph_.output_names().begin(), graph_.output_names().end());
  for (const auto& output : graph.output()) taken_.insert(output.name());
  for (const NodeId id : graph_.inputs()) {
    const Node& node = graph_.node(id);
    if (!node.constant() && !origin_.external.contains(node.name)) inputs_.insert(node.name);
  }
  taken_.insert(inputs_.begin(), inputs_.end());
  taken_.insert(origin_.origin.initializer_order.begin(), origin_.origin.initializer_order.end());
  const auto reserve = [&](const std::string& serialized) {
    NodeProto proto;
    proto.ParseFromString(serialized);
    taken_.insert(proto.name());
    taken_.insert(proto.output().begin(), proto.output().end());
    for (std::string& name : inner_names(proto)) taken_.insert(std::move(name));
  };
  if (options_.keep_original)
    for (const OriginNode& node : origin_.origin.nodes) reserve(node.serialized);
  for (const Node& node : graph_.nodes())
    if (const OpaqueNode* opaque = node.opaque()) reserve(opaque->serialized);
  if (options_.as_written) reserve_wishes();
}

void Exporter::count_uses(const std::vector<Unit>& units) {
  uses_.assign(graph_.nodes().size(), 0);
  for (const Unit& unit : units) {
    if (unit.is_original) {
      for (const InputSource& source : kept_->sources(unit.index))
        if (source.kind == InputSource::Kind::kTensor) ++uses_[source.port.node.value];
    } else {
      for (const Port& port : graph_.nodes()[unit.index].inputs) ++uses_[port.node.value];
    }
  }
  for (const Port& port : graph_.outputs()) ++uses_[port.node.value];
}

std::string Exporter::fresh(std::string_view hint) {
  std::string name(hint);
  while (name.empty() || !taken_.insert(name).second) name = fmt::format("{}_{}", hint, ++counters_[std::string(hint)]);
  return name;
}

// --- what operators write ------------------------------------------------------------------------------------

std::vector<std::string> Exporter::emit(std::string_view type, std::vector<std::string> inputs,
                                        std::map<std::string, OnnxAttribute> attributes, std::size_t outputs) {
  NodeProto node;
  node.set_op_type(std::string(type));
  node.set_name(fresh(lower_case(type)));
  for (std::string& input : inputs) node.add_input(std::move(input));
  for (const auto& [name, value] : attributes) {
    if (const auto* number = std::get_if<double>(&value)) note_attribute_loss(*number, name);
    *node.add_attribute() = to_proto(name, value);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outputs; ++i) {
    names.push_back(fresh(node.name() + "_out"));
    own_tensors_.insert(names.back());
    node.add_output(names.back());
  }
  if (is_product(node)) products_[names[0]] = nodes_.size();
  nodes_.push_back({std::move(node), true});
  return names;
}

// --- nodes ---------------------------------------------------------------------------------------------------

Status Exporter::write_units(const std::vector<Unit>& units) {
  for (const Unit& unit : units) {
    if (!unit.is_original) continue;
    const auto& outputs = origin_.origin.nodes[unit.index].output_names;
    original_tensors_.insert(outputs.begin(), outputs.end());
  }
  for (const Unit& unit : units) {
    const NodeId id{unit.index};
    if (unit.is_original) {
      REWRIGHT_CHECK(write_original(unit.index));
    } else {
      REWRIGHT_CHECK(graph_.node(id).application() ? write_application(id) : write_opaque(id));
    }
  }
  std::erase_if(nodes_, [](const Written& written) { return written.node.op_type().empty(); });
  return {};
}

/// The node as it was, its inputs rewired.
Status Exporter::write_original(std::size_t index) {
  const OriginNode& origin = origin_.origin.nodes[index];
  NodeProto node;
  if (!node.ParseFromString(origin.serialized))
    return make_error(ErrorCode::kInternal, "a node of the origin is not a serialized NodeProto");
  std::vector<std::string> inputs;
  for (std::size_t k = 0; k < origin.input_names.size(); ++k) {
    const InputSource& source = kept_->sources(index)[k];
    std::string name = origin.input_names[k];
    if (source.kind == InputSource::Kind::kGiven) name = given(name);
    if (source.kind == InputSource::Kind::kIntegers) name = named_constant(*origin.integers[k], "integers");
    if (source.kind == InputSource::Kind::kTensor) {
      REWRIGHT_TRY(name, operand(source.port));
    }
    inputs.push_back(std::move(name));
  }
  std::map<std::string, std::string> renamed;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (k < static_cast<std::size_t>(node.input_size())) {
      node.set_input(static_cast<int>(k), inputs[k]);
    } else if (inputs[k] != origin.input_names[k]) {
      renamed[origin.input_names[k]] = inputs[k];
    }
  }
  rename_captures(node, renamed);
  for (std::size_t k = 0; k < origin.outputs.size(); ++k) {
    if (origin.output_names[k].empty()) continue;
    own_tensors_.insert(origin.output_names[k]);
    const auto now = origin.outputs[k] ? kept_->now_of(*origin.outputs[k]) : std::nullopt;
    if (now && kept_->maker_of(*now) == std::pair(index, k)) names_[*now] = origin.output_names[k];
  }
  if (is_product(node)) products_[node.output(0)] = nodes_.size();
  nodes_.push_back({std::move(node), false});
  return {};
}

Status Exporter::write_application(NodeId id) {
  const Node& node = graph_.node(id);
  std::vector<std::string> in;
  std::vector<Shape> shapes;
  for (const Port& port : node.inputs) {
    REWRIGHT_TRY(std::string name, operand(port));
    in.push_back(std::move(name));
    shapes.push_back(graph_.shape(port));
  }
  if (write_as_bias(id, in)) return wish_names(id), Status();
  element_ = node.outputs.front().element;
  const auto& [op, params] = *node.application();
  auto names = op->to_onnx(params, in, shapes, *this);
  if (!names)
    return make_error(names.error().code, "operator '{}' cannot be written: {}", op->name(), names.error().message);
  if (names->size() != node.outputs.size()) {
    return make_error(ErrorCode::kInternal, "operator '{}' wrote {} tensors for {} outputs", op->name(), names->size(),
                      node.outputs.size());
  }
  for (std::uint32_t i = 0; i < names->size(); ++i) names_[Port{id, i}] = (*names)[i];
  wish_names(id);
  return {};
}

/// A bias that is added to a convolution or a product of matrices which nothing else uses: their third input, as Conv
/// and Gemm have one. The node moves to where the bias is known.
bool Exporter::write_as_bias(NodeId id, const std::vector<std::string>& in) {
  const Node& node = graph_.node(id);
  if (options_.exact || !node.applies("bias_add") || node.application()->params.integer(0) != 1) return false;
  const Port product = node.inputs[0];
  const auto made = products_.find(in[0]);
  if (made == products_.end() || uses_[product.node.value] != 1) return false;
  NodeProto& written = nodes_[made->second].node;
  const bool is_matmul = written.op_type() == "MatMul";
  if (is_matmul ? graph_.shape(product).rank() != 2 : written.input_size() != 2) return false;
  NodeProto with_bias = std::exchange(written, NodeProto());
  if (is_matmul) with_bias.set_op_type("Gemm");
  with_bias.add_input(in[1]);
  names_[Port{id, 0}] = with_bias.output(0);
  nodes_.push_back({std::move(with_bias), nodes_[made->second].by_operator});
  return true;
}

Status Exporter::write_opaque(NodeId id) {
  const Node& node = graph_.node(id);
  const OpaqueNode& opaque = *node.opaque();
  NodeProto proto;
  if (!proto.ParseFromString(opaque.serialized)) {
    return make_error(ErrorCode::kInternal, "opaque node '{}' is not a serialized NodeProto", opaque.type);
  }
  std::size_t next = 0;
  const auto next_operand = [&]() -> Result<std::string> {
    if (next < node.inputs.size()) return operand(node.inputs[next++]);
    return make_error(ErrorCode::kInternal, "opaque node '{}' has too few operands", opaque.type);
  };
  const std::vector<std::string> captured = captures(proto);
  for (std::string& input : *proto.mutable_input()) {
    if (input.empty()) continue;
    REWRIGHT_TRY(input, next_operand());
  }
  std::map<std::string, std::string> renamed;
  for (const std::string& name : captured) {
    REWRIGHT_TRY(renamed[name], next_operand());
  }
  rename_captures(proto, renamed);
  for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
    std::string& output = *proto.mutable_output(static_cast<int>(i));
    if (output.empty()) continue;
    if (original_tensors_.contains(output) || !own_tensors_.insert(output).second)
      own_tensors_.insert(output = fresh(output));
    names_[Port{id, i}] = output;
  }
  nodes_.push_back({std::move(proto), false});
  return {};
}

// --- outputs -------------------------------------------------------------------------------------------------

/// Each output gets its name: by renaming the tensor that a node makes, or else by an Identity node. A tensor that has
/// an output's name and is not that output gets another.
Status Exporter::write_outputs() {
  std::unordered_map<std::string, std::string> renamed;
  std::vector<std::string> made;
  auto& values = *proto_.mutable_graph()->mutable_output();
  while (values.size() < static_cast<int>(graph_.outputs().size())) values.Add();
  for (int i = 0; i < values.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Port port = graph_.outputs()[k];
    const bool is_declared = is_as_declared(k);
    std::string name = values[i].name();
    if (!is_declared) {
      REWRIGHT_TRY(name, operand(port));
    }
    made.push_back(std::move(name));
    if (values[i].name().empty()) values[i].set_name(output_name(k));
    if (own_tensors_.contains(made[k])) renamed.emplace(made[k], values[i].name());
    const TensorType& type = graph_.type(port);
    if (!values[i].has_type() && type.element != ElementType::kUnknown) *values[i].mutable_type() = to_proto(type);
  }
  for (const auto& value : values) {
    if (own_tensors_.contains(value.name()) && !renamed.contains(value.name())) {
      renamed.emplace(value.name(), fresh(value.name()));
    }
  }
  rename(renamed);
  for (int i = 0; i < values.size(); ++i) {
    const auto found = renamed.find(made[static_cast<std::size_t>(i)]);
    const std::string& source = found == renamed.end() ? made[static_cast<std::size_t>(i)] : found->second;
    if (source == values[i].name()) continue;
    NodeProto node;
    node.set_op_type("Identity");
    node.set_name(fresh("identity"));
    node.add_input(source);
    node.add_output(values[i].name());
    nodes_.push_back({std::move(node), true});
  }
  return {};
}

std::string Exporter::output_name(std::size_t i) {
  const auto names = graph_.output_names();
  const bool repeated = i < names.size() && std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i),
                                                      names[i]) != names.begin() + static_cast<std::ptrdiff_t>(i);
  if (i < names.size() && !names[i].empty() && !repeated && !inputs_.contains(names[i])) return names[i];
  return fresh("output");
}

void Exporter::rename(const std::unordered_map<std::string, std::string>& renamed) {
  const std::map<std::string, std::string> inner(renamed.begin(), renamed.end());
  const auto apply = [&](std::string& name) {
    if (const auto found = renamed.find(name); found != renamed.end()) name = found->second;
  };
  for (Written& written : nodes_) {
    for (std::string& name : *written.node.mutable_input()) apply(name);
    for (std::string& name : *written.node.mutable_output()) apply(name);
    rename_captures(written.node, inner);
  }
  for (auto& [port, name] : names_) apply(name);
}

Result<std::string> export_model(const Graph& graph, const ImportedModel& origin, const ExportOptions& options) {
  ModelProto skeleton;
  if (!skeleton.ParseFromString(origin.skeleton)) {
    return make_error(ErrorCode::kInternal, "the origin's skeleton is not a ModelProto");
  }
  return Exporter(graph, std::move(skeleton), origin, options).run();
}

Result<std::string> export_model(const Graph& graph, const ExportOptions& options) {
  ModelProto skeleton;
  skeleton.set_producer_name("rewright");
  skeleton.mutable_graph()->set_name("graph");
  const ImportedModel none;
  return Exporter(graph, std::move(skeleton), none, options).run();
}

Result<std::vector<std::string>> lossy_folds(const Graph& graph, const ImportedModel& origin, ExportOptions options) {
  std::vector<std::string> lost;
  options.fast_math = false;
  options.lost = [&](const std::string& sentence) { lost.push_back(sentence); };
  const Result<std::string> written = export_model(graph, origin, options);
  if (!written) return written.error();
  return lost;
}

}  // namespace rewright
