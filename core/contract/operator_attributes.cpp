// What operators read from ONNX: each attribute is heeded, or the node is refused.
//
// Of each ONNX type that the operator names there is a model: the one that the operator writes, and one node on the
// operands as they are. In each, one attribute after the other gets values that are not its default. Where the runtime
// takes the model, and operators read it, both compute the same.
#include <onnx/defs/schema.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "contract/operator_models.h"
#include "onnx/proto.h"

namespace rewright::contract {

namespace {

using model::AttributeProto;
using model::ModelProto;
using model::NodeProto;
using ::onnx::OpSchema;

constexpr int kOpset = 17;  // What operators write.

/// Whatever an attribute of texts may be in ONNX; the runtime refuses those that this one may not.
constexpr const char* kTexts[] = {"tanh", "SAME_UPPER", "SAME_LOWER", "VALID", "reflect", "edge", "wrap",
                                  "CRD",  "linear",     "nearest",    "cubic", "add",     "mul",  "max"};

const OpSchema* schema_of(const NodeProto& node) {
  return ::onnx::OpSchemaRegistry::Schema(node.op_type(), kOpset, node.domain());
}

/// One node of the type on the application's operands.
ModelProto model_of_node(const std::string& type, const OpSchema& schema, const Application& application) {
  ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(kOpset);
  auto& graph = *model.mutable_graph();
  graph.set_name("one");
  NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  for (const Shape& shape : application.in) {
    auto& input = *graph.add_input();
    input.set_name(fmt::format("x{}", node.input_size()));
    *input.mutable_type() = model::to_proto(TensorType{shape, ElementType::kFloat32});
    node.add_input(input.name());
  }
  for (int i = 0; i < schema.min_output(); ++i) {
    auto& output = *graph.add_output();
    output.set_name(fmt::format("y{}", i));
    output.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
    node.add_output(output.name());
  }
  return model;
}

/// Sizes follow from the attribute that changes.
void forget_sizes(ModelProto& model) {
  auto& graph = *model.mutable_graph();
  graph.clear_value_info();
  for (auto& output : *graph.mutable_output()) output.mutable_type()->mutable_tensor_type()->clear_shape();
}

/// Most whole numbers of ONNX's say yes (1) or no; runtimes disagree on what 2 says.
bool is_no_flag(std::string_view attribute) {
  return attribute == "axis" || attribute == "group" || attribute == "blocksize";
}

std::vector<std::vector<std::int64_t>> other_lists(const AttributeProto* present, const Application& application) {
  std::vector<std::size_t> lengths;
  if (present != nullptr) {
    lengths.push_back(static_cast<std::size_t>(present->ints_size()));
  } else if (!application.in.empty()) {
    const auto rank = static_cast<std::size_t>(application.in[0].rank());
    lengths = {1, rank, 2 * rank};
    if (rank > 2) lengths.insert(lengths.end(), {rank - 2, 2 * (rank - 2)});
  }
  std::vector<std::vector<std::int64_t>> lists;
  for (const std::size_t length : lengths) {
    for (const std::int64_t value : {0, 1, 2}) lists.emplace_back(length, value);
    std::vector<std::int64_t>& falling = lists.emplace_back(length);
    std::iota(falling.rbegin(), falling.rend(), 0);
  }
  return lists;
}

/// Values of the attribute that are not what it is now.
std::vector<AttributeProto> other_values(const std::string& name, const OpSchema::Attribute& attribute,
                                         const NodeProto& node, const Application& application) {
  const auto found = std::ranges::find(node.attribute(), name, &AttributeProto::name);
  const AttributeProto* present = found == node.attribute().end() ? nullptr : &*found;
  std::vector<OnnxAttribute> values;
  switch (attribute.type) {
    case AttributeProto::INT:
      for (const std::int64_t value : {0, 1}) values.emplace_back(value);
      if (is_no_flag(name)) values.insert(values.end(), {std::int64_t{2}, std::int64_t{-1}});
      break;
    case AttributeProto::FLOAT:
      for (const double value : {0.25, 2.0}) values.emplace_back(value);
      break;
    case AttributeProto::STRING:
      for (const char* text : kTexts) values.emplace_back(std::string(text));
      break;
    case AttributeProto::INTS:
      for (auto& list : other_lists(present, application)) values.emplace_back(std::move(list));
      break;
    default: break;  // Tensors and graphs: nothing is known of what they may be.
  }
  const AttributeProto& now = present != nullptr ? *present : attribute.default_value;
  std::vector<AttributeProto> others;
  for (const OnnxAttribute& value : values) {
    AttributeProto other = model::to_proto(name, value);
    if (other.SerializeAsString() != now.SerializeAsString()) others.push_back(std::move(other));
  }
  return others;
}

std::string text_of(const AttributeProto& attribute) {
  switch (attribute.type()) {
    case AttributeProto::INT: return fmt::format("{} = {}", attribute.name(), attribute.i());
    case AttributeProto::FLOAT: return fmt::format("{} = {}", attribute.name(), attribute.f());
    case AttributeProto::STRING: return fmt::format("{} = {}", attribute.name(), attribute.s());
    default: return fmt::format("{} = [{}]", attribute.name(), fmt::join(attribute.ints(), ", "));
  }
}

void set(NodeProto& node, const AttributeProto& value) {
  const auto found = std::ranges::find(*node.mutable_attribute(), value.name(), &AttributeProto::name);
  if (found == node.mutable_attribute()->end()) {
    *node.add_attribute() = value;
  } else {
    *found = value;
  }
}

/// Tries models of one application.
class Trial {
 public:
  Trial(const Application& application, const Registry& registry, const Runtime& runtime, Random& random)
      : application_(application), registry_(registry), runtime_(runtime), in_(random_reals(application, random)) {}

  [[nodiscard]] int compared() const { return compared_; }

  /// The model, and the same with each attribute of that node at other values.
  Breach try_node(ModelProto model, int position) {
    forget_sizes(model);
    const NodeProto node = model.graph().node(position);
    if (const Breach breach = compare(model)) return fmt::format("ONNX's {}: {}", node.op_type(), *breach);
    for (const auto& [name, attribute] : schema_of(node)->attributes()) {
      for (const AttributeProto& value : other_values(name, attribute, node, application_)) {
        NodeProto& changed = *model.mutable_graph()->mutable_node(position) = node;
        set(changed, value);
        if (const Breach breach = compare(model))
          return fmt::format("ONNX's {} with {}: {}", node.op_type(), text_of(value), *breach);
      }
    }
    return std::nullopt;
  }

 private:
  Breach compare(const ModelProto& model) {
    const std::string bytes = model.SerializeAsString();
    const auto read = run_read(bytes, registry_, in_);
    if (!read || !*read) return std::nullopt;  // Refused, or carried as it is.
    const auto expected = run_in(runtime_, bytes, in_);
    if (!expected) return std::nullopt;  // No value that the attribute may have.
    ++compared_;
    return differ(*expected, **read, "read from ONNX", "in the runtime");
  }

  const Application& application_;
  const Registry& registry_;
  const Runtime& runtime_;
  const std::vector<Tensor<Real>> in_;
  int compared_ = 0;
};

}  // namespace

Breach ignores_attributes(const Application& application, const Registry& registry, const Runtime& runtime,
                          Random& random, bool& counts) {
  const auto written = model_of(application, registry, counts);
  if (!written) return written.error().message;
  counts = false;
  if (std::ranges::any_of(application.in, [](const Shape& shape) { return shape.elements() == 0; })) return {};
  Trial trial(application, registry, runtime, random);
  const std::vector<std::string>& types = application.op->info().onnx;
  if (*written) {
    const auto model = model::parse_model(std::as_bytes(std::span(**written)), "what it writes to ONNX");
    if (!model) return model.error().message;
    for (int i = 0; i < model->graph().node_size(); ++i) {
      if (std::ranges::find(types, model->graph().node(i).op_type()) == types.end()) continue;
      if (const Breach breach = trial.try_node(*model, i)) return breach;
    }
  }
  for (const std::string& type : types) {
    const OpSchema* schema = ::onnx::OpSchemaRegistry::Schema(type, kOpset, "");
    if (schema == nullptr || schema->min_output() == 0) continue;
    if (const Breach breach = trial.try_node(model_of_node(type, *schema, application), 0)) return breach;
  }
  counts = trial.compared() > 0;
  return std::nullopt;
}

}  // namespace rewright::contract
