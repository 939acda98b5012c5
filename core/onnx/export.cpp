#include "onnx/export.h"

#include <algorithm>
#include <limits>

#include "onnx/exporter.h"
#include "onnx/opset.h"
#include "onnx/scope.h"

namespace rewright {

using namespace model;

namespace {

/// Where initializers need not be listed among the inputs.
constexpr std::int64_t kLeastIr = 4;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

}  // namespace

Result<std::string> Exporter::run() {
  reserve_names();
  REWRIGHT_TRY(folding_, fold(graph_, external_, options_));
  count_uses();
  REWRIGHT_CHECK(write_nodes());
  REWRIGHT_CHECK(write_outputs());
  REWRIGHT_CHECK(choose_opset());
  return assemble();
}

/// The names that the model keeps: of inputs, outputs, what opaque nodes make, and all inside their graphs.
void Exporter::reserve_names() {
  for (const auto& input : proto_.graph().input()) given_.insert(input.name());
  for (const auto& tensor : proto_.graph().initializer()) given_.insert(tensor.name());
  for (const auto& tensor : proto_.graph().sparse_initializer()) given_.insert(tensor.values().name());
  taken_.insert(given_.begin(), given_.end());
  taken_.insert(graph_.output_names().begin(), graph_.output_names().end());
  for (const auto& output : proto_.graph().output()) taken_.insert(output.name());
  for (const NodeId id : graph_.inputs()) {
    const Node& node = graph_.node(id);
    if (!node.constant && !external_.contains(node.name)) inputs_.insert(node.name);
  }
  taken_.insert(inputs_.begin(), inputs_.end());
  for (const Node& node : graph_.nodes()) {
    if (!node.opaque) continue;
    NodeProto proto;
    proto.ParseFromString(node.opaque->serialized);
    taken_.insert(proto.name());
    taken_.insert(proto.output().begin(), proto.output().end());
    for (std::string& name : inner_names(proto)) taken_.insert(std::move(name));
  }
}

void Exporter::count_uses() {
  uses_.assign(graph_.nodes().size(), 0);
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i)
    if (folding_.at_run_time[i])
      for (const Port& port : graph_.nodes()[i].inputs) ++uses_[port.node.value];
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
  for (const auto& [name, value] : attributes) *node.add_attribute() = to_proto(name, value);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outputs; ++i) {
    names.push_back(fresh(node.name() + "_out"));
    own_tensors_.insert(names.back());
    node.add_output(names.back());
  }
  if (type == "Conv" || type == "MatMul") products_[names[0]] = nodes_.size();
  nodes_.push_back({std::move(node), true});
  return names;
}

// --- nodes ---------------------------------------------------------------------------------------------------

Status Exporter::write_nodes() {
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    if (!folding_.at_run_time[i]) continue;
    REWRIGHT_CHECK(graph_.nodes()[i].op != nullptr ? write_application(NodeId{i}) : write_opaque(NodeId{i}));
  }
  std::erase_if(nodes_, [](const Written& written) { return written.node.op_type().empty(); });
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
  if (write_as_bias(id, in)) return {};
  element_ = node.outputs.front().element;
  auto names = node.op->to_onnx(node.params, in, shapes, *this);
  if (!names)
    return make_error(names.error().code, "operator '{}' cannot be written: {}", node.op->name(),
                      names.error().message);
  if (names->size() != node.outputs.size()) {
    return make_error(ErrorCode::kInternal, "operator '{}' wrote {} tensors for {} outputs", node.op->name(),
                      names->size(), node.outputs.size());
  }
  for (std::uint32_t i = 0; i < names->size(); ++i) names_[Port{id, i}] = (*names)[i];
  return {};
}

/// A bias that is added to a convolution or a product of matrices which nothing else uses: their third input, as Conv
/// and Gemm have one. The node moves to where the bias is known.
bool Exporter::write_as_bias(NodeId id, const std::vector<std::string>& in) {
  const Node& node = graph_.node(id);
  if (node.op->name() != "bias_add" || node.params.integer(0) != 1) return false;
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
  nodes_.push_back({std::move(with_bias), true});
  return true;
}

Status Exporter::write_opaque(NodeId id) {
  const Node& node = graph_.node(id);
  NodeProto proto;
  if (!proto.ParseFromString(node.opaque->serialized)) {
    return make_error(ErrorCode::kInternal, "opaque node '{}' is not a serialized NodeProto", node.opaque->type);
  }
  std::size_t next = 0;
  const auto next_operand = [&]() -> Result<std::string> {
    if (next < node.inputs.size()) return operand(node.inputs[next++]);
    return make_error(ErrorCode::kInternal, "opaque node '{}' has too few operands", node.opaque->type);
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
    if (!own_tensors_.insert(output).second) own_tensors_.insert(output = fresh(output));
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
    REWRIGHT_TRY(std::string name, operand(port));
    made.push_back(std::move(name));
    if (values[i].name().empty()) values[i].set_name(output_name(k));
    if (own_tensors_.contains(made[k])) renamed.emplace(made[k], values[i].name());
    const TensorType& type = graph_.type(port);
    if (type.element != ElementType::kUnknown) *values[i].mutable_type() = to_proto(type);
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
}

// --- the model -----------------------------------------------------------------------------------------------

/// A node that is not valid under the opset, or means something else there; null if there is none.
const NodeProto* Exporter::misfit(std::int64_t opset) const {
  for (const Written& written : nodes_) {
    const std::int64_t from = written.by_operator ? kNewestKnownOpset : opset_;
    if (!same_meaning(written.node, from, opset)) return &written.node;
  }
  return nullptr;
}

Status Exporter::choose_opset() {
  if (opset_ == 0) {  // No node of ONNX's own yet.
    auto& import = *proto_.add_opset_import();
    import.set_version(kNewestKnownOpset);
    opset_ = kNewestKnownOpset;
  }
  if (opset_ > kNewestKnownOpset) {
    for (Written& written : nodes_) {
      if (written.by_operator) {
        adapt_to_newer(written.node, opset_, [this](std::span<const std::int64_t> values) { return integers(values); });
      }
    }
    return {};
  }
  for (std::int64_t opset = opset_; opset <= kNewestKnownOpset; ++opset) {
    if (misfit(opset) != nullptr) continue;
    for (auto& import : *proto_.mutable_opset_import()) {
      if (normal_domain(import.domain()).empty()) import.set_version(opset);
    }
    return {};
  }
  return make_error(ErrorCode::kUnsupported,
                    "no opset from {} to {} has the meaning of every node: under opset {} not {}, under opset {} not "
                    "{}; convert the model to opset {} first",
                    opset_, kNewestKnownOpset, opset_, describe(*misfit(opset_)), kNewestKnownOpset,
                    describe(*misfit(kNewestKnownOpset)), kNewestKnownOpset);
}

Status check_model_size(std::size_t bytes) {
  if (bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max())) return {};
  return make_error(ErrorCode::kUnsupported, "the model's weights take {} bytes; one ONNX file holds at most 2 GiB",
                    bytes);
}

Result<std::string> Exporter::assemble() {
  GraphProto& graph = *proto_.mutable_graph();
  std::unordered_set<std::string> there;
  for (const auto& input : graph.input()) there.insert(input.name());
  for (const auto& tensor : graph.initializer()) there.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) there.insert(tensor.values().name());
  for (const NodeId id : graph_.inputs()) {
    const Node& node = graph_.node(id);
    if (node.constant || there.contains(node.name) || external_.contains(node.name)) continue;
    auto& input = *graph.add_input();
    input.set_name(node.name);
    *input.mutable_type() = to_proto(node.outputs.front());
  }
  std::size_t bytes = graph.ByteSizeLong();
  for (const TensorProto& tensor : initializers_) bytes += tensor.ByteSizeLong();
  REWRIGHT_CHECK(check_model_size(bytes));
  for (TensorProto& tensor : initializers_) *graph.add_initializer() = std::move(tensor);
  for (Written& written : nodes_) *graph.add_node() = std::move(written.node);
  proto_.set_ir_version(
      std::max({static_cast<std::int64_t>(proto_.ir_version()), kLeastIr, ir_version_for(opset_of(proto_))}));
  return proto_.SerializeAsString();
}

Result<std::string> export_model(const Graph& graph, const ImportedModel& origin, const ExportOptions& options) {
  ModelProto skeleton;
  if (!skeleton.ParseFromString(origin.skeleton)) {
    return make_error(ErrorCode::kInternal, "the origin's skeleton is not a ModelProto");
  }
  return Exporter(graph, std::move(skeleton), origin.external, options).run();
}

Result<std::string> export_model(const Graph& graph, const ExportOptions& options) {
  ModelProto skeleton;
  skeleton.set_producer_name("rewright");
  skeleton.mutable_graph()->set_name("graph");
  return Exporter(graph, std::move(skeleton), {}, options).run();
}

}  // namespace rewright
