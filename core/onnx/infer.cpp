#include "onnx/infer.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "onnx/check.h"
#include "onnx/element.h"
#include "onnx/known_values.h"
#include "onnx/opset.h"
#include "onnx/opset_convert.h"

namespace rewright::model {
namespace {

/// ONNX's inference looks at values such as the shape given to Reshape, never at large ones.
constexpr std::int64_t kInspectedElements = 4096;

namespace inference = ::onnx::shape_inference;
using ShapesByName = std::unordered_map<std::string, ::onnx::TensorShapeProto>;

// A question is a model of one node: the types of what it uses are the graph's inputs, known values its initializers,
// known integers (as the sizes of a shape, which is how ONNX's library keeps them) its value_info. In the answer, the
// types of what the node makes are the graph's outputs, integers again its value_info. Tensors are called by their
// number in the node (TensorNumbers), so that nodes alike ask alike, and an answer serves all of them.

/// A node's tensors in the order of their first use. Where graphs inside may use names of tensors, names stay.
class TensorNumbers {
 public:
  explicit TensorNumbers(const NodeProto& node) {
    for (const auto* list : {&node.input(), &node.output()})
      for (const std::string& name : *list)
        if (!name.empty() && std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
    keeps_names_ = std::ranges::any_of(
        node.attribute(), [](const auto& attribute) { return attribute.has_g() || attribute.graphs_size() > 0; });
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::string number(const std::string& name) const {
    if (keeps_names_ || name.empty()) return name;
    return std::to_string(std::ranges::find(names_, name) - names_.begin());
  }
  /// The name of what an answer calls so; null for what is none of the node's tensors.
  [[nodiscard]] const std::string* name(const std::string& number) const {
    const auto found = std::ranges::find(names_, number, [&](const std::string& name) { return this->number(name); });
    return found == names_.end() ? nullptr : &*found;
  }

 private:
  std::vector<std::string> names_;
  bool keeps_names_ = false;
};

/// What questions were answered, for all models.
class Answers {
 public:
  [[nodiscard]] std::optional<std::string> find(const std::string& question) {
    const std::scoped_lock lock(mutex_);
    const auto found = answers_.find(question);
    return found == answers_.end() ? std::nullopt : std::optional(found->second);
  }
  void add(const std::string& question, const std::string& answer) {
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    const std::scoped_lock lock(mutex_);
    if (bytes_ > kMostBytes) answers_.clear(), bytes_ = 0;
    if (answers_.emplace(question, answer).second) bytes_ += question.size() + answer.size();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> answers_;
  std::size_t bytes_ = 0;
};

void add_integers(GraphProto& graph, const std::string& name, const ::onnx::TensorShapeProto& values) {
  auto& info = *graph.add_value_info();
  info.set_name(name);
  *info.mutable_type()->mutable_tensor_type()->mutable_shape() = values;
}

/// What the question's node and values are, in the containers that ONNX's library wants.
struct Context {
  explicit Context(ModelProto& model) : node(*model.mutable_graph()->mutable_node(0)) {
    GraphProto& graph = *model.mutable_graph();
    symbols.addFromGraph(graph);
    for (auto& input : *graph.mutable_input()) types[input.name()] = input.mutable_type();
    for (const auto& tensor : graph.initializer()) values[tensor.name()] = &tensor;
    for (const auto& info : graph.value_info()) integers[info.name()] = info.type().tensor_type().shape();
    for (const auto& import : model.opset_import()) {
      opsets[normal_domain(import.domain())] = static_cast<int>(import.version());
    }
    ir_version = static_cast<int>(model.ir_version());
  }

  NodeProto& node;
  std::unordered_map<std::string, TypeProto*> types;
  std::unordered_map<std::string, const TensorProto*> values;
  std::unordered_map<std::string, const ::onnx::SparseTensorProto*> sparse;
  ShapesByName integers;
  std::unordered_map<std::string, int> opsets;
  inference::SymbolTableImpl symbols;
  inference::ModelLocalFunctionsMap functions;
  int ir_version = 0;
};

void answer_types(Context& context, const ::onnx::OpSchema& schema, GraphProto& answer) {
  inference::GraphInferenceContext graphs(context.types, context.opsets, &context.symbols, context.functions,
                                          ::onnx::OpSchemaRegistry::Instance(), &context.integers, context.ir_version);
  inference::InferenceContextImpl node(context.node, context.types, context.values, context.sparse, &context.integers,
                                       &graphs);
  schema.GetTypeAndShapeInferenceFunction()(node);
  for (int i = 0; i < context.node.output_size(); ++i) {
    const TypeProto& type = node.allOutputTypes_[static_cast<std::size_t>(i)];
    if (context.node.output(i).empty() || type.value_case() == TypeProto::VALUE_NOT_SET) continue;
    auto& output = *answer.add_output();
    output.set_name(context.node.output(i));
    *output.mutable_type() = type;
  }
}

void answer_integers(Context& context, const ::onnx::OpSchema& schema, GraphProto& answer) {
  if (!schema.has_data_propagation_function()) return;
  inference::DataPropagationContextImpl node(context.node, context.types, context.values, context.integers);
  schema.GetDataPropagationFunction()(node);
  for (const std::string& name : context.node.output()) {
    const auto found = context.integers.find(name);
    if (found != context.integers.end()) add_integers(answer, name, found->second);
  }
}

/// Runs in the sandbox. Inference throws where it cannot follow a node as well as where one is wrong: neither says a
/// type, and types that were said before integers could not be followed stand.
std::string answer(const std::string& request) {
  ModelProto model;
  GraphProto result;
  if (!model.ParseFromString(request)) return {};
  Context context(model);
  const std::string domain = normal_domain(context.node.domain());
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(context.node.op_type(), context.opsets[domain], domain);
  try {
    schema->Verify(context.node);  // Inference takes it for granted.
    answer_types(context, *schema, result);
    answer_integers(context, *schema, result);
  } catch (const std::exception&) {
  }
  return result.SerializeAsString();
}

/// An attribute that says how numbers are computed and nothing about types, or what it says by default.
void drop_attributes_of_numbers(NodeProto& node) {
  static const std::map<std::string_view, std::set<std::string_view>> kOfNumbers = {
      {"Resize", {"antialias"}},
      {"Cast", {"saturate", "round_mode"}},
      {"CastLike", {"saturate", "round_mode"}},
      {"QuantizeLinear", {"saturate"}}};
  const auto found = kOfNumbers.find(node.op_type());
  if (found == kOfNumbers.end()) return;
  auto& attributes = *node.mutable_attribute();
  for (int i = attributes.size(); i-- > 0;)
    if (found->second.contains(attributes.Get(i).name())) attributes.DeleteSubrange(i, 1);
}

/// Operators whose first output has the type of their first input, whatever the opset.
bool keeps_type(const NodeProto& node) {
  static const std::set<std::string_view> kKeeping = {
      "BitwiseNot", "Gelu", "GroupNormalization", "Mish", "RMSNormalization", "RotaryEmbedding", "Swish"};
  return normal_domain(node.domain()).empty() && kKeeping.contains(node.op_type());
}

/// These are functions of other operators in ONNX's library, which says nothing about their types.
NodeProto with_inferred_type(NodeProto node) {
  if (!normal_domain(node.domain()).empty()) return node;
  if (node.op_type() == "GreaterOrEqual") node.set_op_type("Greater");
  if (node.op_type() == "LessOrEqual") node.set_op_type("Less");
  return node;
}

KnownTensor known_of(const TypeProto* type) {
  KnownTensor known;
  if (type == nullptr || !type->has_tensor_type()) return known;
  known.element = type->tensor_type().elem_type();
  if (!type->tensor_type().has_shape()) return known;
  known.dims.emplace();
  for (const auto& dim : type->tensor_type().shape().dim())
    known.dims->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  return known;
}

}  // namespace

TypeInference::TypeInference(const ModelProto& model) : opset_(opset_of(model)), sandbox_(answer) {
  versions_.set_ir_version(model.ir_version());
  *versions_.mutable_opset_import() = model.opset_import();
  for (const auto& function : model.functions()) functions_[function.domain() + ":" + function.name()] = &function;
}

void TypeInference::set_value(const std::string& name, std::shared_ptr<const ConstantData> value) {
  if (value->type.shape.elements() <= kMostKnownElements) values_[name] = std::move(value);
}

void TypeInference::set_initializer(const TensorProto& tensor) {
  const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(tensor.data_type());
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t dim : dims) shape.add_dim()->set_dim_value(dim);
  set_type(tensor.name(), std::move(type));
  const auto count = checked_elements(dims);
  if (!count || *count > kMostKnownElements || tensor.data_location() == TensorProto::EXTERNAL) return;
  if (auto value = read_tensor(tensor, ""))
    set_value(tensor.name(), std::make_shared<const ConstantData>(*std::move(value)));
}

ModelProto TypeInference::question(const NodeProto& node, std::int64_t opset) const {
  ModelProto asked = versions_;
  for (auto& import : *asked.mutable_opset_import())
    if (normal_domain(import.domain()).empty()) import.set_version(opset);
  GraphProto& graph = *asked.mutable_graph();
  NodeProto& same = *graph.add_node() = node;
  same.clear_name(), same.clear_doc_string();
  const TensorNumbers tensors(node);
  for (auto* list : {same.mutable_input(), same.mutable_output()})
    for (std::string& name : *list) name = tensors.number(name);
  for (const std::string& name : tensors.names()) {
    if (std::ranges::find(node.input(), name) == node.input().end()) continue;
    const std::string number = tensors.number(name);
    if (const auto known = types_.find(name); known != types_.end()) {
      auto& input = *graph.add_input();
      input.set_name(number);
      *input.mutable_type() = known->second;
    }
    const auto known = values_.find(name);
    if (known != values_.end() && known->second->type.shape.elements() <= kInspectedElements)
      *graph.add_initializer() = to_proto(*known->second, number);
    if (const auto followed = followed_.find(name); followed != followed_.end())
      add_integers(graph, number, followed->second);
  }
  return asked;
}

void TypeInference::infer(const NodeProto& node) {
  trouble_.clear();
  if (evaluate(node) || infer_graphs(node)) return;
  infer_types(node);
  if (trouble_.empty()) return;
  for (const std::string& name : node.output()) followed_.erase(name);  // ONNX's inference lets integers wrap.
}

/// Computes the node, where all that it needs is known.
bool TypeInference::evaluate(const NodeProto& node) {
  std::vector<KnownOperand> operands;
  for (const std::string& name : node.input()) operands.push_back({static_type(name), value(name)});
  auto values = evaluate_known(node, opset_, operands);
  if (!values) {
    if (values.error().code == ErrorCode::kShape) trouble_ = values.error().message;
    return false;
  }
  if (values->size() < static_cast<std::size_t>(node.output_size())) return false;
  for (int i = 0; i < node.output_size(); ++i) {
    ConstantData& value = (*values)[static_cast<std::size_t>(i)];
    set_type(node.output(i), to_proto(value.type));
    set_value(node.output(i), std::make_shared<const ConstantData>(std::move(value)));
  }
  return true;
}

void TypeInference::infer_types(const NodeProto& node) {
  const bool is_newer = opset_ > kNewestKnownOpset && normal_domain(node.domain()).empty();
  const bool is_known = ::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset_), "") != nullptr;
  if (is_newer && (inference_outdated(node, opset_) || !is_known)) {
    infer_as_17(node);
  } else {
    ask(with_inferred_type(with_region(node, opset_)), opset_);
  }
  if (node.output_size() == 0 || type(node.output(0)) != nullptr || !keeps_type(node)) return;
  if (const TypeProto* first = type(node.input(0))) set_type(node.output(0), *first);
}

/// Asks for what the node is in the form of the newest opset that ONNX's library knows.
void TypeInference::infer_as_17(const NodeProto& node) {
  std::unordered_map<std::string, TensorProto> constants;
  std::vector<std::string> made;
  ConversionContext context;
  context.constant = [&](const std::string& name) -> const TensorProto* {
    const auto known = value(name);
    if (known == nullptr || known->type.shape.elements() > kInspectedElements) return nullptr;
    return &constants.emplace(name, to_proto(*known, name)).first->second;
  };
  context.known = [&](const std::string& name) { return known_of(type(name)); };
  context.add = [&](TensorProto tensor) {
    const std::string name = tensor.name();
    made.push_back(name);
    auto read = read_tensor(tensor, "");
    if (!read) return;
    set_type(name, to_proto(read->type));
    set_value(name, std::make_shared<const ConstantData>(*std::move(read)));
  };
  context.fresh = [&](std::string_view hint) {
    made.push_back(fmt::format("\x01{}.{}", hint, made.size()));  // No name of a model's is likely to begin so.
    return made.back();
  };
  NodeProto plain = node;
  drop_attributes_of_numbers(plain);
  const auto converted = convert(plain, std::min(opset_, kNewestConverted), kNewestKnownOpset, context);
  if (converted) {
    for (const NodeProto& step : *converted) ask(step, kNewestKnownOpset);
  }
  for (const std::string& name : made) types_.erase(name), values_.erase(name), followed_.erase(name);
}

void TypeInference::ask(const NodeProto& node, std::int64_t opset) {
  const std::string domain = normal_domain(node.domain());
  std::int64_t version = domain.empty() ? opset : 0;
  for (const auto& import : versions_.opset_import()) {
    if (!domain.empty() && normal_domain(import.domain()) == domain) version = import.version();
  }
  if (::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(version), domain) == nullptr) return;
  static Answers answers;
  const std::string asked = question(node, opset).SerializeAsString();
  auto answered = answers.find(asked);
  if (!answered) {
    answered = sandbox_.ask(asked);
    if (answered) answers.add(asked, *answered);
  }
  GraphProto known;
  if (!answered || !known.ParseFromString(*answered)) return;
  const TensorNumbers tensors(node);
  for (auto& output : *known.mutable_output())
    if (const std::string* name = tensors.name(output.name())) set_type(*name, std::move(*output.mutable_type()));
  for (auto& info : *known.mutable_value_info())
    if (const std::string* name = tensors.name(info.name()))
      followed_[*name] = std::move(*info.mutable_type()->mutable_tensor_type()->mutable_shape());
}

const TypeProto* TypeInference::type(const std::string& name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : &found->second;
}

std::optional<TypeProto> TypeInference::type_copy(const std::string& name) const {
  const TypeProto* found = type(name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<TensorType> TypeInference::static_type(const std::string& name) const {
  const TypeProto* found = type(name);
  return found == nullptr ? std::nullopt : model::static_type(*found);
}

std::shared_ptr<const ConstantData> TypeInference::value(const std::string& name) const {
  const auto found = values_.find(name);
  return found != values_.end() ? found->second : followed_integers(name);
}

std::shared_ptr<const ConstantData> TypeInference::followed_integers(const std::string& name) const {
  const auto found = followed_.find(name);
  const auto type = static_type(name);
  if (found == followed_.end() || !type || type->element != ElementType::kInt64 || type->shape.rank() > 1 ||
      type->shape.elements() != found->second.dim_size()) {
    return nullptr;
  }
  std::vector<std::int64_t> values;
  for (const auto& dim : found->second.dim()) {
    if (!dim.has_dim_value()) return nullptr;
    values.push_back(dim.dim_value());
  }
  return std::make_shared<const ConstantData>(integers_of_shape(type->shape, values));
}

}  // namespace rewright::model
