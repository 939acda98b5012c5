#include "onnx/import.h"

#include <onnx/defs/schema.h>
#include <rewright/onnx.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "onnx/check.h"
#include "onnx/element.h"
#include "onnx/infer.h"
#include "onnx/opset.h"
#include "onnx/proto.h"
#include "onnx/scope.h"
#include "onnx/unused.h"

namespace rewright {
namespace {

using namespace model;

/// Lists before IR 4 name every initializer among the inputs; since then that makes it a default.
constexpr std::int64_t kIrOfDefaults = 4;
/// Inference looks at values such as the shape given to Reshape, never at large ones.
constexpr std::int64_t kInspectedElements = 4096;
constexpr TensorType kNoType{{}, ElementType::kUnknown};

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

/// Gives sizes to dimensions that the model leaves open.
class OpenDimensions {
 public:
  OpenDimensions(const ImportOptions& options) : options_(options), sizes_(options.dimensions) {}

  /// Fixes the dimensions of one input; what stays open is remembered.
  Status resolve(ValueInfoProto& input);
  /// Puts in the sizes of named dimensions.
  void substitute(ValueInfoProto& value) const;
  /// Every dimension must have a size, every size must have been asked for.
  [[nodiscard]] Status finish() const;

 private:
  const ImportOptions& options_;
  std::map<std::string, std::int64_t> sizes_;
  std::set<std::string> used_, open_;
  std::vector<std::string> places_;
};

Status OpenDimensions::resolve(ValueInfoProto& input) {
  if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) return {};
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    auto& dim = *shape.mutable_dim(axis);
    if (dim.has_dim_value()) {
      if (dim.dim_value() >= 0) continue;
      return make_error(ErrorCode::kParse, "{}: input '{}' has size {} on axis {}: a size is at least 0", options_.file,
                        input.name(), dim.dim_value(), axis);
    }
    const std::string place = fmt::format("{}.{}", input.name(), axis);
    const std::string name = dim.dim_param().empty() ? place : dim.dim_param();
    auto size = sizes_.find(place);
    if (size == sizes_.end()) size = sizes_.find(name);
    if (size == sizes_.end()) {
      open_.insert(name);
      if (places_.empty()) places_.push_back(fmt::format("input '{}' leaves axis {} open", input.name(), axis));
      continue;
    }
    if (size->second < 0) {
      return make_error(ErrorCode::kUsage, "{}: dimension '{}' was given the size {}: a size is at least 0",
                        options_.file, size->first, size->second);
    }
    used_.insert(size->first);
    dim.set_dim_value(size->second);
    const auto [known, is_new] = sizes_.emplace(name, size->second);
    used_.insert(name);
    if (!is_new && known->second != size->second) {
      return make_error(ErrorCode::kUsage, "{}: dimension '{}' was given two sizes, {} and {}", options_.file, name,
                        known->second, size->second);
    }
  }
  return {};
}

void OpenDimensions::substitute(ValueInfoProto& value) const {
  if (!value.type().has_tensor_type()) return;
  for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    const auto size = dim.has_dim_param() ? sizes_.find(dim.dim_param()) : sizes_.end();
    if (size != sizes_.end()) dim.set_dim_value(size->second);
  }
}

Status OpenDimensions::finish() const {
  if (!open_.empty()) {
    std::vector<std::string> flags;
    for (const std::string& name : open_) flags.push_back(fmt::format("--dim {}=SIZE", name));
    return make_error(ErrorCode::kUsage, "{}: {} ({}); give the size of every open dimension: {}", options_.file,
                      places_.front(), fmt::join(open_, ", "), fmt::join(flags, " "));
  }
  for (const auto& [name, size] : options_.dimensions) {
    if (!used_.contains(name)) {
      return make_error(ErrorCode::kUsage, "{}: no input has an open dimension '{}' (given the size {})", options_.file,
                        name, size);
    }
  }
  return {};
}

class Importer {
 public:
  Importer(ModelProto proto, const Registry& registry, const ImportOptions& options)
      : proto_(std::move(proto)),
        graph_(*proto_.mutable_graph()),
        options_(options),
        opset_(opset_of(proto_)),
        builder_(&registry) {
    for (const Operator* op : registry.all<Operator>()) {
      for (const std::string& type : op->info().onnx) readers_[type].push_back(op);
    }
    for (const auto& function : proto_.functions()) local_.insert(function.domain() + ":" + function.name());
  }

  Result<ImportedModel> run();

 private:
  Status fix_dimensions();
  Status add_inputs();
  Status add_initializers();
  Status add_initializer(TensorProto& tensor);
  Status add_node(const NodeProto& node);
  Result<bool> add_constant(const NodeProto& node);
  Result<bool> add_filled(const NodeProto& node);
  Result<bool> add_applications(const NodeProto& node);
  Result<OnnxNode> describe_to_operators(const NodeProto& node) const;
  [[nodiscard]] std::string mismatch(const NodeProto& node, const OnnxNode& seen, const Operator& op,
                                     const std::vector<Port>& ports) const;
  void add_opaque(const NodeProto& node);
  Status add_outputs();
  std::string skeleton();

  void define(const std::string& name, Port port);
  void add_weight(const std::string& name, ConstantData value);
  [[nodiscard]] Error named(const NodeProto& node, const Error& error) const {
    return make_error(error.code, "{}: {}: {}", options_.file, describe(node), error.message);
  }

  ModelProto proto_;
  GraphProto& graph_;
  const ImportOptions& options_;
  std::int64_t opset_;
  GraphBuilder builder_;
  std::optional<TypeInference> inference_;
  std::unordered_map<std::string, std::vector<const Operator*>> readers_;  ///< By qualified ONNX type.
  std::set<std::string> local_;                                            ///< Functions of the model: "domain:name".
  std::unordered_map<std::string, Port> ports_;
  std::unordered_map<std::string, std::shared_ptr<const ConstantData>> constants_;
  std::unordered_set<std::string> kept_;  ///< Initializers that stay in the skeleton.
  std::unordered_map<std::string, const ValueInfoProto*> declared_;
  std::string refusal_;  ///< Why no operator took the node at hand.
  std::vector<CarriedNode> carried_;
};

Result<ImportedModel> Importer::run() {
  REWRIGHT_TRY(const std::vector<int> order, check_model(proto_, options_.file));
  REWRIGHT_CHECK(fix_dimensions());
  inference_.emplace(proto_);
  for (const auto& value : graph_.value_info()) declared_[value.name()] = &value;
  for (const auto& value : graph_.output()) declared_[value.name()] = &value;
  REWRIGHT_CHECK(add_inputs());
  REWRIGHT_CHECK(add_initializers());
  for (const int i : order) REWRIGHT_CHECK(add_node(graph_.node(i)));
  REWRIGHT_CHECK(add_outputs());
  ImportedModel imported;
  REWRIGHT_TRY(imported.graph, without_unused_weights(builder_.finish()));
  imported.opset = opset_;
  imported.carried = std::move(carried_);
  imported.skeleton = skeleton();
  return imported;
}

Status Importer::fix_dimensions() {
  OpenDimensions open(options_);
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

Status Importer::add_inputs() {
  std::unordered_set<std::string> initializers;
  for (const auto& tensor : graph_.initializer()) initializers.insert(tensor.name());
  for (const auto& input : graph_.input()) {
    if (initializers.contains(input.name()) && proto_.ir_version() < kIrOfDefaults) continue;
    if (input.type().has_tensor_type() && input.type().tensor_type().has_shape()) {
      std::vector<std::int64_t> dims;
      for (const auto& dim : input.type().tensor_type().shape().dim()) dims.push_back(dim.dim_value());
      if (!checked_elements(dims)) {
        return make_error(ErrorCode::kParse, "{}: input '{}' has sizes ({}), more than 2^40 elements", options_.file,
                          input.name(), fmt::join(dims, ", "));
      }
    }
    const auto type = static_type(input.type());
    REWRIGHT_TRY(const Port port, builder_.input(input.name(), type.value_or(kNoType)));
    define(input.name(), port);
    if (!type) inference_->set_type(input.name(), input.type());
    if (initializers.contains(input.name())) kept_.insert(input.name());
  }
  return {};
}

Status Importer::add_initializers() {
  std::unordered_set<std::string> used;
  for (const NodeProto& node : graph_.node()) {
    used.insert(node.input().begin(), node.input().end());
    for (std::string& name : captures(node)) used.insert(std::move(name));
  }
  for (const auto& output : graph_.output()) used.insert(output.name());
  for (TensorProto& tensor : *graph_.mutable_initializer()) {
    if (!used.contains(tensor.name()) && !kept_.contains(tensor.name())) continue;
    if (auto status = add_initializer(tensor); !status) {
      return make_error(status.error().code, "{}: {}", options_.file, status.error().message);
    }
  }
  for (const auto& tensor : graph_.sparse_initializer()) {
    REWRIGHT_TRY(const Port port, builder_.input(tensor.values().name(), kNoType, InputKind::kWeight));
    define(tensor.values().name(), port);
  }
  return {};
}

Status Importer::add_initializer(TensorProto& tensor) {
  auto value = read_tensor(tensor, options_.directory);
  if (!value && value.error().code != ErrorCode::kUnsupported) return value.error();
  const std::string& name = tensor.name();
  const bool external = tensor.data_location() == TensorProto::EXTERNAL;
  if (ports_.contains(name)) {  // The default of an input.
    if (external && value) tensor = to_proto(*value, name);
    return {};
  }
  if (!value) {
    if (external) {
      return make_error(ErrorCode::kUnsupported, "{}, and its values lie in another file", value.error().message);
    }
    kept_.insert(name);
    REWRIGHT_TRY(const Port port, builder_.input(name, kNoType, InputKind::kWeight));
    define(name, port);
    ::onnx::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(tensor.data_type());
    for (const auto dim : tensor.dims()) type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
    inference_->set_type(name, std::move(type));
    return {};
  }
  const TensorType type = value->type;
  if (type.shape.elements() <= kInspectedElements) inference_->set_value(name, to_proto(*value, name));
  const auto constant = std::make_shared<const ConstantData>(*std::move(value));
  REWRIGHT_TRY(const Port port, builder_.input(name, type, InputKind::kWeight, constant));
  define(name, port);
  constants_[name] = constant;
  tensor.clear_raw_data();
  return {};
}

void Importer::add_weight(const std::string& name, ConstantData value) {
  if (value.type.shape.elements() <= kInspectedElements) inference_->set_value(name, to_proto(value, name));
  const Port port = builder_.constant(std::move(value), name);
  define(name, port);
  constants_[name] = builder_.node(port.node).constant;
}

Status Importer::add_node(const NodeProto& node) {
  refusal_.clear();
  REWRIGHT_TRY(const bool is_constant, add_constant(node));
  if (is_constant) return {};
  inference_->infer(node);
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

/// Constant: a tensor, or numbers, in an attribute.
Result<bool> Importer::add_constant(const NodeProto& node) {
  if (node.op_type() != "Constant" || !normal_domain(node.domain()).empty() || node.attribute_size() != 1 ||
      node.output_size() != 1) {
    return false;
  }
  const AttributeProto& attribute = node.attribute(0);
  ConstantData value;
  if (attribute.name() == "value") {
    auto tensor = read_tensor(attribute.t(), options_.directory);
    if (!tensor && tensor.error().code == ErrorCode::kUnsupported) return false;
    if (!tensor) return named(node, tensor.error());
    value = *std::move(tensor);
  } else if (attribute.name() == "value_float") {
    value.value = encode(ElementType::kFloat32, std::vector<double>{attribute.f()});
  } else if (attribute.name() == "value_floats") {
    value.type.shape.append(attribute.floats_size());
    value.value =
        encode(ElementType::kFloat32, std::vector<double>(attribute.floats().begin(), attribute.floats().end()));
  } else if (attribute.name() == "value_int") {
    value = integers_of_shape({}, std::vector<std::int64_t>{attribute.i()});
  } else if (attribute.name() == "value_ints") {
    value = integers_of_shape(Shape{attribute.ints_size()},
                              std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end()));
  } else {
    return false;
  }
  add_weight(node.output(0), std::move(value));
  return true;
}

/// ConstantOfShape of a known shape: one number and a shape, however many elements.
Result<bool> Importer::add_filled(const NodeProto& node) {
  if (node.op_type() != "ConstantOfShape" || !normal_domain(node.domain()).empty() || node.input_size() != 1) {
    return false;
  }
  OnnxNode seen;
  seen.type = node.op_type();
  const auto known = constants_.find(node.input(0));
  seen.constants.push_back(known == constants_.end() ? inference_->integers(node.input(0)) : known->second);
  auto dims = seen.constant_integers(0);
  if (!dims || dims->size() > kMaxRank) return false;
  if (!checked_elements(*dims)) {
    return make_error(ErrorCode::kShape,
                      "{}: {} fills a tensor of sizes ({}): each must be at least 0, the product at "
                      "most 2^40",
                      options_.file, describe(node), fmt::join(*dims, ", "));
  }
  ConstantData value;
  value.type.shape = Shape(*std::move(dims));
  if (node.attribute_size() == 1) {
    const auto number = read_tensor(node.attribute(0).t(), "");
    if (!number || number->type.shape.elements() != 1) return false;
    value.type.element = number->type.element;
    REWRIGHT_TRY(const std::vector<double> reals, to_reals(*number));
    constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: up to here a double holds every integer.
    if (!is_floating(value.type.element) && std::abs(reals.front()) >= kExactIntegers) return false;
    value.value = reals.front();
  }
  add_weight(node.output(0), std::move(value));
  return true;
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
      return make_error(ErrorCode::kUnsupported, "the type of '{}' is not known before the model runs", name);
    }
    seen.inputs.back() = port;
    const auto constant = constants_.find(name);
    seen.constants.back() = constant == constants_.end() ? inference_->integers(name) : constant->second;
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
      builder_.opaque({qualified_type(node), node.SerializeAsString()}, std::move(operands), std::move(types));
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty()) define(node.output(i), ports[static_cast<std::size_t>(i)]);
  }
  const std::string name = !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
  carried_.push_back({name, qualified_type(node), refusal_.empty() ? "no operator reads it" : refusal_});
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
  const auto is_weight = [&](const std::string& name) { return constants_.contains(name) || !ports_.contains(name); };
  auto& inputs = *graph_.mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const ValueInfoProto& input) {
                                return is_weight(input.name()) ||
                                       (proto_.ir_version() < kIrOfDefaults && kept_.contains(input.name()));
                              }),
               inputs.end());
  auto& tensors = *graph_.mutable_initializer();
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const TensorProto& tensor) { return !kept_.contains(tensor.name()); }),
                tensors.end());
  graph_.clear_node();
  graph_.clear_value_info();
  return proto_.SerializeAsString();
}

}  // namespace

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
