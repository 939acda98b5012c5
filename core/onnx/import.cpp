#include "onnx/import.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "onnx/check.h"
#include "onnx/element.h"
#include "onnx/importer.h"
#include "onnx/open_dimensions.h"
#include "onnx/scope.h"
#include "onnx/unused.h"

namespace rewright {

using namespace model;

namespace {

/// By the schema of the opset, or the newest known here; an operator that is newer still needs its first input.
bool has_required_inputs(const NodeProto& node, std::int64_t opset) {
  const auto known = static_cast<int>(std::min<std::int64_t>(opset, kNewestKnownOpset));
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(node.op_type(), known, normal_domain(node.domain()));
  const auto is_given = [&](int i) { return i < node.input_size() && !node.input(i).empty(); };
  if (schema == nullptr) return is_given(0);
  for (int i = 0; i < static_cast<int>(schema->inputs().size()); ++i) {
    const auto& input = schema->inputs()[static_cast<std::size_t>(i)];
    if (input.GetOption() == ::onnx::OpSchema::Single && !is_given(i)) return false;
  }
  return node.input_size() >= schema->min_input();
}

}  // namespace

Result<ImportedModel> Importer::run() {
  REWRIGHT_TRY(const std::vector<int> order, check_model(proto_, options_.file));
  keep_declarations();
  ImportedModel imported;
  OpenDimensions open(options_);
  REWRIGHT_CHECK(fix_dimensions(open));
  open_sizes_ = imported.open_sizes = open.sizes();
  origin_.has_open_sizes = !imported.open_sizes.empty() && !options_.freeze;
  inference_.emplace(proto_);
  if (origin_.has_open_sizes) general_.emplace(proto_);
  for (const auto& value : graph_.value_info()) declared_[value.name()] = &value;
  for (const auto& value : graph_.output()) declared_[value.name()] = &value;
  if (options_.body_depth > 0) {
    imported.names = all_names(graph_);
    count_users();
  }
  REWRIGHT_CHECK(add_inputs());
  REWRIGHT_CHECK(add_initializers());
  for (const int i : order) REWRIGHT_CHECK(add_node(graph_.node(i)));
  REWRIGHT_CHECK(add_outputs());
  std::vector<std::uint32_t> survivors = surviving_nodes();
  REWRIGHT_TRY(imported.graph, without_unused_weights(builder_.finish()));
  REWRIGHT_CHECK(settle_origin(survivors, imported.graph.nodes().size()));
  imported.origin = std::move(origin_);
  imported.opset = opset_;
  imported.carried = std::move(carried_);
  imported.untyped = untyped_;
  imported.bodies = std::move(bodies_);
  imported.skeleton = skeleton();
  imported.external = std::move(external_);
  return imported;
}

void Importer::keep_declarations() {
  *declarations_.mutable_input() = graph_.input();
  *declarations_.mutable_output() = graph_.output();
  *declarations_.mutable_value_info() = graph_.value_info();
}

Status Importer::fix_dimensions(OpenDimensions& open) {
  std::unordered_set<std::string> initializers;
  for (const auto& tensor : graph_.initializer()) initializers.insert(tensor.name());
  for (auto& input : *graph_.mutable_input()) {
    if (!initializers.contains(input.name())) REWRIGHT_CHECK(open.resolve(input));
  }
  REWRIGHT_CHECK(open.finish());
  for (auto& value : *graph_.mutable_output()) {
    if (value.type().tensor_type().has_shape()) open.substitute(value);
  }
  for (auto& value : *graph_.mutable_value_info()) {
    if (value.type().tensor_type().has_shape()) open.substitute(value);
  }
  return {};
}

/// Makes a tensor known under its name, to us and to inference.
void Importer::define(const std::string& name, Port port) {
  ports_[name] = port;
  const TensorType& type = builder_.type(port);
  if (type.element != ElementType::kUnknown) inference_->set_type(name, to_proto(type));
}

/// Makes a value known under its tensor's name.
void Importer::know(const std::string& name, const std::shared_ptr<const ConstantData>& value) {
  constants_[name] = value;
  inference_->set_value(name, value);
  if (!general_) return;
  general_->set_type(name, to_proto(value->type));
  general_->set_value(name, value);
}

void Importer::infer(const NodeProto& node) {
  inference_->infer(node);
  if (general_) general_->infer(node);
}

Status Importer::add_node(const NodeProto& node) {
  OriginNode origin = describe_origin(node);
  REWRIGHT_CHECK(read_node(node));
  for (const std::string& name : node.output()) {
    const auto port = ports_.find(name);
    origin.outputs.push_back(name.empty() || port == ports_.end() ? std::nullopt : std::optional(port->second));
  }
  origin.is_light = is_light(node);
  const auto is_untyped = [this](const std::string& name) { return !name.empty() && !is_typed(name); };
  if (std::ranges::any_of(node.output(), is_untyped)) ++untyped_;
  origin_.nodes.push_back(std::move(origin));
  return {};
}

OriginNode Importer::describe_origin(const NodeProto& node) const {
  OriginNode origin;
  origin.serialized = node.SerializeAsString();
  origin.output_names.assign(node.output().begin(), node.output().end());
  origin.input_names.assign(node.input().begin(), node.input().end());
  for (std::string& name : captures(node)) origin.input_names.push_back(std::move(name));
  for (const std::string& name : origin.input_names) {
    origin.inputs.push_back(name.empty() ? std::nullopt : std::optional(ports_.at(name)));
    origin.integers.push_back(name.empty() || constants_.contains(name) ? nullptr : at_all_sizes().value(name));
  }
  return origin;
}

/// Its element type is known, and if it is a tensor, all its sizes.
bool Importer::is_typed(const std::string& name) const {
  if (builder_.type(ports_.at(name)).element != ElementType::kUnknown) return true;
  const TypeProto* type = inference_->type(name);
  if (type == nullptr || !type->has_tensor_type()) return type != nullptr;
  const auto is_known = [](const auto& dim) { return dim.has_dim_value() && dim.dim_value() >= 0; };
  return type->tensor_type().elem_type() != 0 && type->tensor_type().has_shape() &&
         std::ranges::all_of(type->tensor_type().shape().dim(), is_known);
}

/// Constants, and what makes integers and the like alone.
bool Importer::is_light(const NodeProto& node) const {
  const std::string& type = node.op_type();
  if (normal_domain(node.domain()).empty() && (type == "Constant" || type == "ConstantOfShape" || type == "Identity"))
    return true;
  return std::ranges::all_of(node.output(), [&](const std::string& name) {
    if (name.empty()) return true;
    const ElementType element = builder_.type(ports_.at(name)).element;
    if (element != ElementType::kUnknown) return !is_floating(element);
    const TypeProto* inferred = inference_->type(name);
    const auto known = inferred == nullptr ? std::nullopt : element_type(inferred->tensor_type().elem_type());
    return known && !is_floating(*known);
  });
}

/// Nodes of the builder that the graph will have, ascending: all that outputs need, and the inputs that are given.
std::vector<std::uint32_t> Importer::surviving_nodes() const {
  std::set<std::uint32_t> survivors;
  std::vector<NodeId> waiting;
  const auto visit = [&](NodeId id) {
    if (survivors.insert(id.value).second) waiting.push_back(id);
  };
  for (const auto& output : graph_.output()) visit(ports_.at(output.name()).node);
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    for (const Port& port : builder_.node(id).inputs) visit(port.node);
  }
  for (const auto& [name, port] : ports_) {
    const Node& node = builder_.node(port.node);
    if (node.is_data()) survivors.insert(port.node.value);
  }
  return {survivors.begin(), survivors.end()};
}

/// Ports of the builder become those of the graph.
Status Importer::settle_origin(const std::vector<std::uint32_t>& survivors, std::size_t nodes) {
  if (survivors.size() != nodes)
    return make_error(ErrorCode::kInternal, "{}: {} nodes were to stay and {} did", options_.file, survivors.size(),
                      nodes);
  const auto settle = [&](std::optional<Port>& port) {
    if (!port) return;
    const auto found = std::ranges::lower_bound(survivors, port->node.value);
    if (found == survivors.end() || *found != port->node.value) {
      port.reset();
    } else {
      port->node.value = static_cast<std::uint32_t>(found - survivors.begin());
    }
  };
  for (OriginNode& node : origin_.nodes) {
    for (auto& port : node.inputs) settle(port);
    for (auto& port : node.outputs) settle(port);
  }
  return {};
}

Status Importer::read_node(const NodeProto& node) {
  refusal_.clear();
  REWRIGHT_TRY(const bool is_constant, add_constant(node));
  if (is_constant) return {};
  infer(node);
  if (node.op_type() == "Identity" && normal_domain(node.domain()).empty() && node.input_size() == 1 &&
      node.output_size() == 1 && !node.input(0).empty()) {
    define(node.output(0), ports_.at(node.input(0)));
    if (const auto value = constants_.find(node.input(0)); value != constants_.end()) {
      constants_[node.output(0)] = value->second;
    }
    return {};
  }
  REWRIGHT_TRY(const bool is_filled, add_filled(node));
  if (is_filled) return {};
  REWRIGHT_TRY(const bool is_known, add_applications(node));
  if (!is_known) add_opaque(node);
  return {};
}

/// Why the graph has no type for a tensor.
std::string Importer::why_unknown(const std::string& name) const {
  const auto& sparse = graph_.sparse_initializer();
  if (std::ranges::any_of(sparse, [&](const auto& tensor) { return tensor.values().name() == name; }))
    return fmt::format("'{}' is a sparse tensor", name);
  const TypeProto* type = inference_->type(name);
  const int axes = type == nullptr ? 0 : type->tensor_type().shape().dim_size();
  if (axes > static_cast<int>(kMaxRank))
    return fmt::format("'{}' has {} axes, and operators take {} at most", name, axes, kMaxRank);
  const bool is_of_any_sizes =
      type != nullptr && type->tensor_type().elem_type() != 0 && !type->tensor_type().has_shape();
  if (axes > 0 || is_of_any_sizes) return fmt::format("the sizes of '{}' are not known before the model runs", name);
  return fmt::format("the type of '{}' is not known before the model runs", name);
}

/// The node as operators see it. Errors: kUnsupported where it has what they cannot see.
Result<OnnxNode> Importer::describe_to_operators(const NodeProto& node) const {
  OnnxNode seen;
  seen.name = node.name();
  seen.type = node.op_type();
  seen.domain = normal_domain(node.domain());
  seen.opset = opset_;
  for (const auto& import : proto_.opset_import()) {
    if (normal_domain(import.domain()) == seen.domain) seen.opset = import.version();
  }
  for (const AttributeProto& attribute : node.attribute()) {
    auto value = read_attribute(attribute);
    if (!value) {
      return make_error(ErrorCode::kUnsupported, "attribute '{}' is of a kind that operators do not read",
                        attribute.name());
    }
    seen.attributes.emplace(attribute.name(), *std::move(value));
  }
  for (const std::string& name : node.input()) {
    seen.inputs.emplace_back();
    seen.constants.emplace_back();
    if (name.empty()) continue;
    const Port port = ports_.at(name);
    if (builder_.type(port).element == ElementType::kUnknown) {
      return make_error(ErrorCode::kUnsupported, "{}", why_unknown(name));
    }
    seen.inputs.back() = port;
    if (seen.inputs.size() == 1) seen.element = builder_.type(port).element;
    const auto constant = constants_.find(name);
    seen.constants.back() = constant == constants_.end() ? inference_->value(name) : constant->second;
  }
  // The checker saw to it for the opsets that it knows; operators rely on it.
  if (!has_required_inputs(node, seen.opset))
    return make_error(ErrorCode::kUnsupported, "an input that it needs is left out");
  seen.output_count = 0;
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty()) seen.output_count = static_cast<std::size_t>(i) + 1;
  }
  return seen;
}

Result<bool> Importer::add_applications(const NodeProto& node) {
  const auto readers = readers_.find(qualified_type(node));
  if (readers == readers_.end() || local_.contains(node.domain() + ":" + node.op_type())) {
    refusal_ = "no operator reads it";
    return false;
  }
  const auto seen = describe_to_operators(node);
  if (!seen) {
    refusal_ = seen.error().message;
    return false;
  }
  for (const Operator* op : readers->second) {
    auto ports = op->from_onnx(*seen, builder_);
    if (!ports && ports.error().code != ErrorCode::kUnsupported && ports.error().code != ErrorCode::kNotFound) {
      return named(node, ports.error());
    }
    refusal_ = ports ? mismatch(node, *seen, *op, *ports) : ports.error().message;
    if (!refusal_.empty()) continue;
    for (int i = 0; i < node.output_size(); ++i) {
      if (!node.output(i).empty()) define(node.output(i), (*ports)[static_cast<std::size_t>(i)]);
    }
    if (!ports->empty()) builder_.name(ports->front(), node.name());
    return true;
  }
  return false;
}

/// Where an operator's reading of a node contradicts ONNX's shape inference; empty if it does not.
std::string Importer::mismatch(const NodeProto& node, const OnnxNode& seen, const Operator& op,
                               const std::vector<Port>& ports) const {
  if (ports.size() < seen.output_count) {
    return fmt::format("operator '{}' gives {} outputs, the node has {}", op.name(), ports.size(), seen.output_count);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const TensorType& ours = builder_.type(ports[static_cast<std::size_t>(i)]);
    const auto theirs = inference_->static_type(node.output(i));
    if (theirs && *theirs != ours) {
      return fmt::format("operator '{}' gives {} of type {}, ONNX's shape inference {} of type {}", op.name(),
                         ours.shape, static_cast<int>(ours.element), theirs->shape, static_cast<int>(theirs->element));
    }
  }
  return {};
}

void Importer::add_opaque(const NodeProto& node) {
  std::vector<Port> operands;
  for (const std::string& name : node.input()) {
    if (!name.empty()) operands.push_back(ports_.at(name));
  }
  for (const std::string& name : captures(node)) operands.push_back(ports_.at(name));
  std::vector<TensorType> types;
  for (const std::string& name : node.output()) {
    auto type = inference_->static_type(name);
    const auto declared = declared_.find(name);
    if (!type && declared != declared_.end()) {
      type = static_type(declared->second->type());
      if (inference_->type(name) == nullptr) inference_->set_type(name, declared->second->type());
    }
    types.push_back(type.value_or(kNoType));
  }
  const std::vector<Port> ports =
      builder_.opaque({qualified_type(node), node.SerializeAsString(), frame()}, std::move(operands), std::move(types));
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty()) define(node.output(i), ports[static_cast<std::size_t>(i)]);
  }
  if (!inference_->trouble().empty()) refusal_ = inference_->trouble();
  const std::string name = !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
  carried_.push_back({name, qualified_type(node), refusal_.empty() ? "no operator reads it" : refusal_});
  read_bodies(node);
}

/// The model's versions and functions.
const std::shared_ptr<const std::string>& Importer::frame() {
  if (frame_ == nullptr) frame_ = std::make_shared<const std::string>(model_around(proto_).SerializeAsString());
  return frame_;
}

Status Importer::add_outputs() {
  for (const auto& output : graph_.output()) {
    const Port port = ports_.at(output.name());
    const TensorType& type = builder_.type(port);
    const auto declared = static_type(output.type());
    if (declared && type.element != ElementType::kUnknown && *declared != type) {
      return make_error(ErrorCode::kShape,
                        "{}: output '{}' is declared to be {} of element type {}, and its node makes "
                        "{} of element type {}",
                        options_.file, output.name(), declared->shape, static_cast<int>(declared->element), type.shape,
                        static_cast<int>(type.element));
    }
    builder_.output(port, output.name());
  }
  return {};
}

std::string Importer::skeleton() {
  if (!options_.freeze) {
    graph_.mutable_input()->Swap(declarations_.mutable_input());
    graph_.mutable_output()->Swap(declarations_.mutable_output());
    graph_.mutable_value_info()->Swap(declarations_.mutable_value_info());
  }
  auto& tensors = *graph_.mutable_initializer();
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const TensorProto& tensor) { return !kept_.contains(tensor.name()); }),
                tensors.end());
  graph_.clear_node();
  return proto_.SerializeAsString();
}

Result<ImportedModel> import_model(std::span<const std::byte> bytes, const Registry& registry,
                                   const ImportOptions& options) {
  REWRIGHT_TRY(ModelProto proto, parse_model(bytes, options.file));
  return Importer(std::move(proto), registry, options).run();
}

Result<ImportedModel> import_model_file(const std::string& path, const Registry& registry, ImportOptions options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return make_error(ErrorCode::kIo, "{}: {}", path,
                      std::filesystem::exists(path, error) ? "not a file" : "no such file");
  }
  std::vector<std::byte> bytes(std::filesystem::file_size(path));
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) return make_error(ErrorCode::kIo, "{}: the file cannot be read", path);
  options.file = path;
  if (options.directory.empty()) {
    const auto folder = std::filesystem::path(path).parent_path();
    options.directory = folder.empty() ? "." : folder.string();
  }
  return import_model(bytes, registry, options);
}

}  // namespace rewright
