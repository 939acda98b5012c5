#include "onnx/simplify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "onnx/annotations.h"
#include "onnx/check.h"
#include "onnx/element.h"
#include "onnx/importer.h"
#include "onnx/infer.h"
#include "onnx/open_dimensions.h"
#include "onnx/opset_step.h"
#include "onnx/proto.h"
#include "onnx/scope.h"

namespace rewright {

using namespace model;

namespace {

using Integers = std::vector<std::int64_t>;

constexpr int kMostRounds = 10;
/// Larger values are left to the run.
constexpr std::int64_t kMostFoldedBytes = 64 << 10;
/// Functions of single elements between two Transposes at most.
constexpr int kDeepest = 8;
/// Since then operands broadcast, and Dropout without a word does not drop.
constexpr std::int64_t kOldest = 7;
/// Since then training_mode of Dropout is an input.
constexpr std::int64_t kOpsetOfTrainingInput = 12;

bool is_own(const NodeProto& node, std::string_view type) {
  return node.op_type() == type && normal_domain(node.domain()).empty();
}

bool has_graphs(const NodeProto& node) {
  bool found = false;
  for_each_subgraph(node, [&](const GraphProto&) { found = true; });
  return found;
}

/// One element gives one element, whatever the others are.
bool is_elementwise(const NodeProto& node) {
  static const std::set<std::string_view> kTypes = {"Abs",
                                                    "Acos",
                                                    "Acosh",
                                                    "Add",
                                                    "And",
                                                    "Asin",
                                                    "Asinh",
                                                    "Atan",
                                                    "Atanh",
                                                    "Cast",
                                                    "Ceil",
                                                    "Celu",
                                                    "Clip",
                                                    "Cos",
                                                    "Cosh",
                                                    "Div",
                                                    "Elu",
                                                    "Equal",
                                                    "Erf",
                                                    "Exp",
                                                    "Floor",
                                                    "Gelu",
                                                    "Greater",
                                                    "HardSwish",
                                                    "LeakyRelu",
                                                    "HardSigmoid",
                                                    "IsInf",
                                                    "IsNaN",
                                                    "Less",
                                                    "Log",
                                                    "Max",
                                                    "Min",
                                                    "Mish",
                                                    "Mod",
                                                    "Mul",
                                                    "Neg",
                                                    "Not",
                                                    "Or",
                                                    "Pow",
                                                    "Relu",
                                                    "Reciprocal",
                                                    "Round",
                                                    "Selu",
                                                    "Sigmoid",
                                                    "Sign",
                                                    "Sin",
                                                    "Sinh",
                                                    "Softplus",
                                                    "Softsign",
                                                    "Sqrt",
                                                    "Sub",
                                                    "Sum",
                                                    "Tan",
                                                    "Tanh",
                                                    "Where",
                                                    "Xor",
                                                    "Swish",
                                                    "ThresholdedRelu",
                                                    "GreaterOrEqual",
                                                    "LessOrEqual"};
  return normal_domain(node.domain()).empty() && node.output_size() == 1 && kTypes.contains(node.op_type());
}

/// Gives the same for the same operands each time.
bool is_function(const NodeProto& node) {
  static const std::set<std::string_view> kRandom = {"RandomNormal",      "RandomNormalLike",  "RandomUniform",
                                                     "RandomUniformLike", "Multinomial",       "Bernoulli",
                                                     "Dropout",           "BatchNormalization"};
  return normal_domain(node.domain()).empty() && !kRandom.contains(node.op_type()) && !has_graphs(node);
}

/// Every value of the one is a value of the other.
bool loses_nothing(ElementType from, ElementType to) {
  using enum ElementType;
  static const std::map<ElementType, std::set<ElementType>> kWider = {
      {kBool, {kUint8, kInt8, kUint16, kInt16, kInt32, kInt64, kUint32, kUint64, kFloat16, kFloat32, kFloat64}},
      {kUint8, {kUint16, kInt16, kInt32, kInt64, kUint32, kUint64, kFloat16, kFloat32, kFloat64}},
      {kInt8, {kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64}},
      {kUint16, {kInt32, kInt64, kUint32, kUint64, kFloat32, kFloat64}},
      {kInt16, {kInt32, kInt64, kFloat32, kFloat64}},
      {kUint32, {kInt64, kUint64, kFloat64}},
      {kInt32, {kInt64, kFloat64}},
      {kFloat16, {kFloat32, kFloat64}},
      {kBFloat16, {kFloat32, kFloat64}},
      {kFloat32, {kFloat64}}};
  const auto found = kWider.find(from);
  return found != kWider.end() && found->second.contains(to);
}

Integers composed(const Integers& first, const Integers& second) {
  Integers both;
  for (const std::int64_t axis : second) both.push_back(first[static_cast<std::size_t>(axis)]);
  return both;
}

bool is_in_order(const Integers& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

class Simplifier {
 public:
  Simplifier(ModelProto proto, const ImportOptions& options)
      : proto_(std::move(proto)), graph_(*proto_.mutable_graph()), options_(options), opset_(opset_of(proto_)) {}

  Result<Simplified> run();

 private:
  // The model around the node at hand.
  Status prepare();
  bool round();
  void define_inputs();
  void count_uses();
  void share_initializers();
  void remove_unused();
  [[nodiscard]] std::size_t node_count() const;
  void visit(NodeProto node);
  void emit(NodeProto node);
  void rename_inputs(NodeProto& node) const;
  std::string fresh(const std::string& hint);

  // What is known.
  [[nodiscard]] bool is_output(const std::string& tensor) const { return outputs_.contains(tensor); }
  [[nodiscard]] bool is_used(const std::string& tensor) const { return !tensor.empty() && uses_.contains(tensor); }
  [[nodiscard]] bool is_used_once(const std::string& tensor) const {
    const auto found = uses_.find(tensor);
    return found != uses_.end() && found->second == 1 && !is_output(tensor);
  }
  /// No graph inside a node has another tensor of the name.
  [[nodiscard]] bool stands_everywhere(const std::string& tensor) const { return !inner_.contains(tensor); }
  [[nodiscard]] const NodeProto* maker(const std::string& tensor, std::string_view type) const;
  [[nodiscard]] std::optional<Integers> integers(const std::string& tensor) const;
  [[nodiscard]] std::optional<double> repeated_number(const std::string& tensor) const;
  [[nodiscard]] std::optional<std::int64_t> rank(const std::string& tensor) const;
  [[nodiscard]] bool same_sizes(const std::string& a, const std::string& b) const;
  [[nodiscard]] std::optional<ElementType> element(const std::string& tensor) const;
  [[nodiscard]] std::optional<Integers> perm_of(const NodeProto& transpose) const;

  // The kinds of steps; true: nothing is left to do for the node.
  bool fold(const NodeProto& node);
  bool inline_if(const NodeProto& node);
  bool drop(const NodeProto& node);
  bool shorten(NodeProto& node);
  bool share(const NodeProto& node);
  [[nodiscard]] std::optional<std::string> same_as(const NodeProto& node) const;
  [[nodiscard]] std::optional<std::string> neutral(const NodeProto& node) const;
  [[nodiscard]] bool is_dropout_without_effect(const NodeProto& node) const;
  bool replace(const NodeProto& node, const std::string& by, const std::string& kind);
  bool cross_transpose(const NodeProto& node, const Integers& perm);
  std::optional<std::string> untransposed(const std::string& tensor, const Integers& perm, int depth,
                                          std::vector<NodeProto>& made);
  void rename_made(const std::string& from, const std::string& to);
  void count(const std::string& kind) { ++steps_[kind], ++steps_taken_; }

  ModelProto proto_;
  GraphProto& graph_;
  const ImportOptions& options_;
  std::int64_t opset_;
  std::optional<TypeInference> inference_;
  std::set<std::string> local_;                        ///< Functions of the model: "domain:name".
  std::unordered_set<std::string> given_, outputs_;    ///< Inputs of the graph, with overridable defaults; outputs.
  std::set<std::string> annotated_;                    ///< Tensors that a quantisation annotation names.
  std::unordered_set<std::string> taken_;              ///< Every name of a tensor.
  std::unordered_set<std::string> inner_;              ///< Those of tensors of graphs inside nodes.
  std::unordered_map<std::string, std::size_t> uses_;  ///< By tensor, when the round began.
  std::vector<NodeProto> nodes_;                       ///< Of this round, so far.
  std::unordered_map<std::string, std::size_t> makers_;
  std::map<std::string, std::string> replaced_;
  std::map<std::string, std::size_t> by_content_;  ///< Nodes that may be shared.
  std::map<std::string, std::size_t> steps_;
  std::size_t steps_taken_ = 0;
};

// --- the model -----------------------------------------------------------------------------------------------

Status Simplifier::prepare() {
  REWRIGHT_TRY(const std::vector<int> order, check_model(proto_, options_.file));
  if (!std::ranges::is_sorted(order)) {
    const GraphProto before = graph_;
    graph_.clear_node();
    for (const int i : order) *graph_.add_node() = before.node(i);
  }
  for (const auto& function : proto_.functions()) local_.insert(function.domain() + ":" + function.name());
  std::unordered_set<std::string> initializers;
  for (const auto& tensor : graph_.initializer()) initializers.insert(tensor.name());
  for (auto& input : *graph_.mutable_input()) {
    taken_.insert(input.name());
    if (!initializers.contains(input.name()) || proto_.ir_version() >= kIrOfDefaults) given_.insert(input.name());
  }
  if (options_.freeze) {
    OpenDimensions open(options_);
    for (auto& input : *graph_.mutable_input())
      if (!initializers.contains(input.name())) REWRIGHT_CHECK(open.resolve(input));
    REWRIGHT_CHECK(open.finish());
    for (auto* values : {graph_.mutable_output(), graph_.mutable_value_info()})
      for (auto& value : *values)
        if (value.type().tensor_type().has_shape()) open.substitute(value);
  }
  for (const auto& output : graph_.output()) outputs_.insert(output.name());
  taken_.insert(outputs_.begin(), outputs_.end());
  taken_.insert(initializers.begin(), initializers.end());
  for (const NodeProto& node : graph_.node()) {
    taken_.insert(node.output().begin(), node.output().end());
    for (std::string& name : inner_names(node)) taken_.insert(name), inner_.insert(std::move(name));
  }
  annotated_ = annotating_tensors(graph_);
  for (const auto& annotation : graph_.quantization_annotation()) annotated_.insert(annotation.tensor_name());
  return {};
}

std::string Simplifier::fresh(const std::string& hint) {
  std::string name = hint;
  for (int i = 1; name.empty() || !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", hint, i);
  return name;
}

std::size_t Simplifier::node_count() const {
  std::size_t count = 0;
  const auto add = [&](const auto& self, const GraphProto& graph) -> void {
    count += static_cast<std::size_t>(graph.node_size());
    for (const NodeProto& node : graph.node())
      for_each_subgraph(node, [&](const GraphProto& inner) { self(self, inner); });
  };
  add(add, graph_);
  return count;
}

Result<Simplified> Simplifier::run() {
  REWRIGHT_CHECK(prepare());
  const std::size_t before = node_count();
  if (opset_ < kOldest) return Simplified{};
  for (int i = 0; i < kMostRounds && round(); ++i) continue;
  if (node_count() >= before) return Simplified{};
  std::unordered_set<std::string> there = given_;
  for (const auto& tensor : graph_.initializer()) there.insert(tensor.name());
  for (const NodeProto& node : graph_.node()) there.insert(node.output().begin(), node.output().end());
  auto& infos = *graph_.mutable_value_info();
  for (int i = infos.size(); i-- > 0;)
    if (!there.contains(infos.Get(i).name())) infos.DeleteSubrange(i, 1);
  drop_stale_annotations(graph_);
  return Simplified{proto_.SerializeAsString(), std::move(steps_)};
}

/// One walk over all nodes. False: nothing changed.
bool Simplifier::round() {
  const std::size_t before = steps_taken_;
  inference_.emplace(proto_);
  replaced_.clear(), makers_.clear(), by_content_.clear(), nodes_.clear();
  count_uses();
  share_initializers();
  define_inputs();
  const auto walked = graph_.node();
  for (const NodeProto& node : walked) visit(node);
  graph_.clear_node();
  for (NodeProto& node : nodes_) *graph_.add_node() = std::move(node);
  remove_unused();
  return steps_taken_ != before;
}

void Simplifier::count_uses() {
  uses_.clear();
  for (const NodeProto& node : graph_.node()) {
    for (const std::string& name : node.input()) ++uses_[name];
    for (const std::string& name : captures(node)) ++uses_[name];
  }
  for (const auto& output : graph_.output()) ++uses_[output.name()];
}

void Simplifier::define_inputs() {
  for (const auto& input : graph_.input()) {
    TypeProto type = input.type();
    if (type.has_tensor_type() && type.tensor_type().has_shape()) {
      for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_dim_value();
    }
    inference_->set_type(input.name(), std::move(type));
  }
  for (const TensorProto& tensor : graph_.initializer())
    if (!given_.contains(tensor.name())) inference_->set_initializer(tensor);
}

/// Of equal initializers the first stays.
void Simplifier::share_initializers() {
  std::map<std::string, std::string> first;
  for (const TensorProto& tensor : graph_.initializer()) {
    const std::string& name = tensor.name();
    if (given_.contains(name) || is_output(name) || annotated_.contains(name)) continue;
    if (tensor.data_location() == TensorProto::EXTERNAL) continue;
    TensorProto content = tensor;
    content.clear_name(), content.clear_doc_string();
    const auto [found, is_new] = first.emplace(content.SerializeAsString(), name);
    if (is_new || !stands_everywhere(found->second)) continue;
    replaced_[name] = found->second;
    if (uses_.contains(name)) count("shared");
  }
}

/// Nodes that no output needs, and initializers that nothing uses any more.
void Simplifier::remove_unused() {
  std::unordered_set<std::string> needed = outputs_;
  std::vector<bool> stays(static_cast<std::size_t>(graph_.node_size()), false);
  for (int i = graph_.node_size(); i-- > 0;) {
    const NodeProto& node = graph_.node(i);
    if (std::ranges::none_of(node.output(), [&](const std::string& name) { return needed.contains(name); })) continue;
    stays[static_cast<std::size_t>(i)] = true;
    needed.insert(node.input().begin(), node.input().end());
    for (std::string& name : captures(node)) needed.insert(std::move(name));
  }
  for (int i = graph_.node_size(); i-- > 0;)
    if (!stays[static_cast<std::size_t>(i)]) graph_.mutable_node()->DeleteSubrange(i, 1), count("unused");
  auto& tensors = *graph_.mutable_initializer();
  for (int i = tensors.size(); i-- > 0;) {
    const std::string& name = tensors.Get(i).name();
    const bool was_used = uses_.contains(name) || replaced_.contains(name);
    if (was_used && !needed.contains(name) && !given_.contains(name) && !annotated_.contains(name)) {
      auto& inputs = *graph_.mutable_input();  // Which name every initializer before IR 4.
      for (int k = inputs.size(); k-- > 0;)
        if (inputs.Get(k).name() == name) inputs.DeleteSubrange(k, 1);
      tensors.DeleteSubrange(i, 1);
    }
  }
}

// --- nodes ---------------------------------------------------------------------------------------------------

void Simplifier::rename_inputs(NodeProto& node) const {
  for (std::string& name : *node.mutable_input())
    if (const auto found = replaced_.find(name); found != replaced_.end()) name = found->second;
  rename_captures(node, replaced_);
}

void Simplifier::visit(NodeProto node) {
  rename_inputs(node);
  inference_->infer(node);
  if (local_.contains(node.domain() + ":" + node.op_type())) return emit(std::move(node));
  if (fold(node) || inline_if(node) || drop(node) || shorten(node) || share(node)) return;
  emit(std::move(node));
}

void Simplifier::emit(NodeProto node) {
  for (const std::string& name : node.output())
    if (!name.empty()) makers_[name] = nodes_.size();
  nodes_.push_back(std::move(node));
}

const NodeProto* Simplifier::maker(const std::string& tensor, std::string_view type) const {
  const auto found = makers_.find(tensor);
  if (found == makers_.end() || !is_own(nodes_[found->second], type)) return nullptr;
  return nodes_[found->second].output(0) == tensor ? &nodes_[found->second] : nullptr;
}

std::optional<Integers> Simplifier::integers(const std::string& tensor) const {
  const auto value = inference_->value(tensor);
  if (tensor.empty() || value == nullptr) return std::nullopt;
  OnnxNode asked;
  asked.constants.push_back(value);
  auto values = asked.constant_integers(0);
  return values ? std::optional(*std::move(values)) : std::nullopt;
}

std::optional<double> Simplifier::repeated_number(const std::string& tensor) const {
  const auto value = inference_->value(tensor);
  if (tensor.empty() || value == nullptr) return std::nullopt;
  const auto numbers = to_reals(*value);
  if (!numbers || numbers->empty()) return std::nullopt;
  for (const double number : *numbers)
    if (number != numbers->front() || std::signbit(number) != std::signbit(numbers->front())) return std::nullopt;
  return numbers->front();
}

std::optional<std::int64_t> Simplifier::rank(const std::string& tensor) const {
  const TypeProto* type = inference_->type(tensor);
  if (type == nullptr || !type->tensor_type().has_shape()) return std::nullopt;
  return type->tensor_type().shape().dim_size();
}

/// All known, and equal.
bool Simplifier::same_sizes(const std::string& a, const std::string& b) const {
  const auto left = inference_->static_type(a), right = inference_->static_type(b);
  return left && right && *left == *right;
}

std::optional<ElementType> Simplifier::element(const std::string& tensor) const {
  const TypeProto* type = inference_->type(tensor);
  if (type == nullptr || !type->has_tensor_type()) return std::nullopt;
  return element_type(type->tensor_type().elem_type());
}

std::optional<Integers> Simplifier::perm_of(const NodeProto& transpose) const {
  if (const AttributeProto* perm = find_attribute(transpose, "perm"))
    return Integers(perm->ints().begin(), perm->ints().end());
  const auto axes = rank(transpose.input(0));
  if (!axes) return std::nullopt;
  Integers reversed(static_cast<std::size_t>(*axes));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

// --- steps ---------------------------------------------------------------------------------------------------

bool Simplifier::fold(const NodeProto& node) {
  if (is_own(node, "Constant") || proto_.ir_version() < kIrOfDefaults || !is_function(node)) return false;
  std::vector<TensorProto> made;
  for (const std::string& name : node.output()) {
    if (!is_used(name)) continue;
    const auto value = inference_->value(name);
    if (value == nullptr) return false;
    const auto bytes = static_cast<std::int64_t>(bytes_of(*value).size());
    if (bytes > kMostFoldedBytes) return false;
    made.push_back(to_proto(*value, name));
  }
  if (made.empty()) return false;
  for (TensorProto& tensor : made) *graph_.add_initializer() = std::move(tensor);
  count("known");
  return true;
}

/// The nodes of the branch that is always taken, under names that nothing else has; then one Identity for each output.
bool Simplifier::inline_if(const NodeProto& node) {
  if (!is_own(node, "If") || proto_.ir_version() < kIrOfDefaults) return false;
  const auto condition = repeated_number(node.input(0));
  const AttributeProto* taken =
      condition ? find_attribute(node, *condition != 0 ? "then_branch" : "else_branch") : nullptr;
  if (taken == nullptr || !taken->has_g() || taken->g().output_size() < node.output_size()) return false;
  if (taken->g().sparse_initializer_size() > 0 || taken->g().quantization_annotation_size() > 0) return false;
  const GraphProto& branch = taken->g();
  std::map<std::string, std::string> renamed;
  // A name in a branch may be that of a tensor in another graph inside.
  const auto define = [&](const std::string& name) {
    if (!name.empty()) renamed[name] = fresh(name);
  };
  for (const TensorProto& tensor : branch.initializer()) define(tensor.name());
  for (const NodeProto& inner : branch.node())
    for (const std::string& name : inner.output()) define(name);
  const auto now = [&](const std::string& name) {
    const auto found = renamed.find(name);
    return found == renamed.end() ? name : found->second;
  };
  for (TensorProto tensor : branch.initializer()) {
    tensor.set_name(now(tensor.name()));
    inference_->set_initializer(tensor);
    uses_[tensor.name()] = 2;
    *graph_.add_initializer() = std::move(tensor);
  }
  count("constant If");
  for (NodeProto inner : branch.node()) {
    for (std::string& name : *inner.mutable_input()) name = now(name);
    rename_captures(inner, renamed);
    for (std::string& name : *inner.mutable_output()) {
      name = now(name);
      if (!name.empty()) uses_[name] = 2;
    }
    visit(std::move(inner));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    NodeProto same;
    same.set_op_type("Identity");
    same.add_input(now(branch.output(i).name()));
    same.add_output(node.output(i));
    visit(std::move(same));
  }
  return true;
}

/// Takes `by` where the node's first output stood. The graph's outputs keep their names.
bool Simplifier::replace(const NodeProto& node, const std::string& by, const std::string& kind) {
  const std::string& output = node.output(0);
  if (annotated_.contains(output) || annotated_.contains(by)) return false;
  if (!stands_everywhere(by) || !stands_everywhere(output)) return false;
  if (is_output(output)) {
    if (!makers_.contains(by) || is_output(by) || given_.contains(by)) return false;
    rename_made(by, output);
  } else {
    replaced_[output] = by;
  }
  count(kind);
  return true;
}

/// Another name for a tensor that a node makes, with all that uses it.
void Simplifier::rename_made(const std::string& from, const std::string& to) {
  const std::map<std::string, std::string> renamed = {{from, to}};
  for (NodeProto& node : nodes_) {
    for (std::string& name : *node.mutable_output())
      if (name == from) name = to;
    for (std::string& name : *node.mutable_input())
      if (name == from) name = to;
    rename_captures(node, renamed);
  }
  for (auto& [name, by] : replaced_)
    if (by == from) by = to;
  replaced_[from] = to;
  makers_[to] = makers_.at(from);
  makers_.erase(from);
  by_content_.clear();  // It names operands.
}

bool Simplifier::drop(const NodeProto& node) {
  if (!normal_domain(node.domain()).empty() || node.output_size() == 0 || node.input_size() == 0) return false;
  for (int i = 1; i < node.output_size(); ++i)
    if (is_used(node.output(i))) return false;
  const auto same = same_as(node);
  return same && replace(node, *same, "nothing");
}

bool Simplifier::is_dropout_without_effect(const NodeProto& node) const {
  if (opset_ < kOpsetOfTrainingInput || input_of(node, 2).empty()) return true;
  return repeated_number(node.input(2)) == 0.0;
}

/// The operand that the node's first output always is.
std::optional<std::string> Simplifier::same_as(const NodeProto& node) const {
  const std::string &type = node.op_type(), &first = node.input(0), &output = node.output(0);
  if (first.empty()) return std::nullopt;
  const auto yes_if = [&](bool is_same) { return is_same ? std::optional(first) : std::nullopt; };
  if (type == "Identity") return first;
  if (type == "Dropout") return yes_if(is_dropout_without_effect(node));
  if (type == "Cast") {
    const auto from = element(first);
    return yes_if(from && static_cast<std::int64_t>(*from) == integer_or(node, "to", 0));
  }
  if (type == "Concat" || type == "Sum" || type == "Mean" || type == "Max" || type == "Min")
    return yes_if(node.input_size() == 1);
  if (type == "Transpose") {
    const auto perm = perm_of(node);
    return yes_if(perm && is_in_order(*perm));
  }
  if (type == "Pad") {
    const AttributeProto* given = find_attribute(node, "pads");
    const auto pads = given != nullptr ? std::optional(Integers(given->ints().begin(), given->ints().end()))
                                       : integers(input_of(node, 1));
    return yes_if(pads && std::ranges::all_of(*pads, [](std::int64_t pad) { return pad == 0; }));
  }
  if (type == "Reshape" || type == "Flatten" || type == "Expand") return yes_if(same_sizes(first, output));
  if (type == "Slice") {
    const bool is_forward = input_of(node, 4).empty() || repeated_number(node.input(4)) == 1.0;
    return yes_if(is_forward && same_sizes(first, output));
  }
  if (type == "Tile") return yes_if(opset_ >= kOldest && repeated_number(input_of(node, 1)) == 1.0);
  if (type == "Squeeze") {
    const NodeProto* inner = maker(first, "Unsqueeze");
    if (inner == nullptr) return std::nullopt;
    const auto axes_of = [&](const NodeProto& of) {
      const AttributeProto* given = find_attribute(of, "axes");
      return given != nullptr ? std::optional(Integers(given->ints().begin(), given->ints().end()))
                              : integers(input_of(of, 1));
    };
    const auto added = axes_of(*inner), taken = axes_of(node);
    return added && added == taken ? std::optional(inner->input(0)) : std::nullopt;
  }
  return neutral(node);
}

/// x*1, 1*x, x/1, x-0, and of integers x+0 and 0+x: of numbers with a fraction 0+x makes -0 into 0, and only -0+x is x.
/// The constant must not make x larger.
std::optional<std::string> Simplifier::neutral(const NodeProto& node) const {
  const std::string& type = node.op_type();
  const bool is_product = type == "Mul" || type == "Div", is_sum = type == "Add" || type == "Sub";
  if ((!is_product && !is_sum) || node.input_size() != 2) return std::nullopt;
  for (const int constant : {1, 0}) {
    if (constant == 0 && (type == "Div" || type == "Sub")) break;
    const std::string &x = node.input(1 - constant), &one = node.input(constant);
    const auto number = repeated_number(one);
    const auto kind = element(x);
    if (!number || !kind || *number != (is_product ? 1 : 0)) continue;
    if (type == "Add" && is_floating(*kind) && !std::signbit(*number)) continue;
    if (type == "Sub" && is_floating(*kind) && std::signbit(*number)) continue;
    const auto small = inference_->static_type(one);
    const auto own = rank(x);
    const bool is_single =
        small && own && small->shape.elements() == 1 && static_cast<std::int64_t>(small->shape.rank()) <= *own;
    if (is_single || same_sizes(x, node.output(0))) return x;
  }
  return std::nullopt;
}

/// Chains: the node takes from further up.
bool Simplifier::shorten(NodeProto& node) {
  if (is_own(node, "Cast")) {
    const NodeProto* inner = maker(node.input(0), "Cast");
    const auto from = inner == nullptr ? std::nullopt : element(inner->input(0));
    const auto through = element(node.input(0));
    if (!from || !through || !loses_nothing(*from, *through)) return false;
    node.set_input(0, inner->input(0));
    count("chains");
    const auto same = same_as(node);
    return same && replace(node, *same, "nothing");
  }
  if (is_own(node, "Reshape") && node.input_size() == 2) {
    const NodeProto* inner = maker(node.input(0), "Reshape");
    const auto sizes = integers(node.input(1));
    if (inner == nullptr || !sizes || std::ranges::find(*sizes, 0) != sizes->end()) return false;
    node.set_input(0, inner->input(0));
    count("chains");
    return false;
  }
  if (!is_own(node, "Transpose")) return false;
  const auto perm = perm_of(node);
  if (!perm) return false;
  if (const NodeProto* inner = maker(node.input(0), "Transpose")) {
    const auto before = perm_of(*inner);
    if (!before || before->size() != perm->size()) return false;
    const Integers both = composed(*before, *perm);
    const std::string source = inner->input(0);
    if (is_in_order(both) && replace(node, source, "chains")) return true;
    node.set_input(0, source);
    set_attribute(node, "perm", both);
    count("chains");
    return false;
  }
  return cross_transpose(node, *perm);
}

/// Transpose(f(Transpose(x))) = f(x), where the two undo each other.
bool Simplifier::cross_transpose(const NodeProto& node, const Integers& perm) {
  const auto found = makers_.find(node.input(0));
  if (found == makers_.end() || !is_elementwise(nodes_[found->second])) return false;
  std::vector<NodeProto> made;
  if (!untransposed(node.input(0), perm, 0, made) || made.empty()) return false;
  made.back().set_output(0, node.output(0));
  for (NodeProto& step : made) {
    inference_->infer(step);
    emit(std::move(step));
  }
  count("chains");
  return true;
}

/// The tensor that `tensor` is before a Transpose undoes `perm`; nothing where it takes more than it saves.
std::optional<std::string> Simplifier::untransposed(const std::string& tensor, const Integers& perm, int depth,
                                                    std::vector<NodeProto>& made) {
  if (const auto type = inference_->static_type(tensor);
      depth > 0 && type && type->shape.elements() == 1 && type->shape.rank() <= 1)
    return tensor;
  if (const NodeProto* transpose = maker(tensor, "Transpose")) {
    const auto before = perm_of(*transpose);
    if (!before || before->size() != perm.size() || !is_in_order(composed(*before, perm))) return std::nullopt;
    return transpose->input(0);
  }
  const auto found = makers_.find(tensor);
  if (found == makers_.end() || depth >= kDeepest || !is_used_once(tensor) || annotated_.contains(tensor))
    return std::nullopt;
  NodeProto step = nodes_[found->second];
  if (!is_elementwise(step)) return std::nullopt;
  bool is_any = false;
  for (std::string& input : *step.mutable_input()) {
    if (input.empty()) continue;
    auto before = untransposed(input, perm, depth + 1, made);
    if (!before) return std::nullopt;
    is_any = is_any || *before != input;
    input = *std::move(before);
  }
  if (!is_any) return std::nullopt;
  step.set_output(0, fresh(step.output(0)));
  made.push_back(step);
  return step.output(0);
}

bool Simplifier::share(const NodeProto& node) {
  if (!is_function(node) || is_own(node, "Constant") || node.output_size() == 0) return false;
  NodeProto content = node;
  content.clear_name(), content.clear_doc_string(), content.clear_output();
  std::ranges::sort(*content.mutable_attribute(), {}, [](const AttributeProto& given) { return given.name(); });
  const auto [found, is_new] =
      by_content_.emplace(fmt::format("{} {}", node.output_size(), content.SerializeAsString()), nodes_.size());
  if (is_new) return false;
  const NodeProto& first = nodes_[found->second];
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string &output = node.output(i), &same = first.output(i);
    if (is_used(output) &&
        (same.empty() || is_output(output) || annotated_.contains(output) || !stands_everywhere(same)))
      return false;
  }
  for (int i = 0; i < node.output_size(); ++i)
    if (is_used(node.output(i))) replaced_[node.output(i)] = first.output(i);
  count("shared");
  return true;
}

}  // namespace

Result<Simplified> simplify_model(std::span<const std::byte> bytes, const ImportOptions& options) {
  constexpr std::size_t kMostBytes = std::size_t{512} << 20;  // The model is in memory several times meanwhile.
  if (bytes.size() > kMostBytes) return Simplified{};
  REWRIGHT_TRY(ModelProto proto, parse_model(bytes, options.file));
  return Simplifier(std::move(proto), options).run();
}

}  // namespace rewright
