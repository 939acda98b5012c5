// Graphs inside nodes, as models of their own.
#include <algorithm>

#include "onnx/external_data.h"
#include "onnx/importer.h"
#include "onnx/scope.h"

namespace rewright {

using namespace model;

namespace {

/// A value that others use too is a weight of the body up to so many elements: a copy of it costs nothing.
constexpr std::int64_t kSharedElements = 1024;

std::vector<CarriedNode> all_carried(const GraphProto& graph, const std::string& reason) {
  std::vector<CarriedNode> carried;
  for (const NodeProto& node : graph.node()) carried.push_back({node.name(), qualified_type(node), reason});
  return carried;
}

/// A name of the graph, or of one inside it, that `is_outside` too; empty where there is none.
std::string shadowing_name(const GraphProto& graph, const std::function<bool(const std::string&)>& is_outside) {
  const std::vector<std::string> names = inner_names(graph);
  const auto found =
      std::ranges::find_if(names, [&](const std::string& name) { return !name.empty() && is_outside(name); });
  return found == names.end() ? std::string() : *found;
}

const TypeProto* type_at(const TypeInference::Types& types, std::size_t i) {
  return i < types.size() && types[i] ? &*types[i] : nullptr;
}

/// Of one element.
std::optional<double> number_of(const std::shared_ptr<const ConstantData>& value) {
  const auto numbers = value == nullptr ? Result<std::vector<double>>(std::vector<double>()) : to_reals(*value);
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}

}  // namespace

ModelProto model_around(const ModelProto& outer) {
  ModelProto model;
  model.set_ir_version(std::max<std::int64_t>(outer.ir_version(), kIrOfDefaults));
  *model.mutable_opset_import() = outer.opset_import();
  *model.mutable_functions() = outer.functions();
  return model;
}

void Importer::count_users() {
  for (const NodeProto& node : graph_.node()) {
    for (const std::string& name : node.input()) ++users_[name];
    for_each_subgraph(node, [&](const GraphProto& body) {
      for (const std::string& name : captures(body)) ++users_[name];
    });
  }
  for (const auto& output : graph_.output()) ++users_[output.name()];
}

/// Of a node of which it is known what its graphs are given.
void Importer::read_bodies(const NodeProto& node) {
  if (options_.body_depth <= 0 || !inference_->runs_graphs(node)) return;
  const TypeInference::Types here = inference_->inputs_of_graphs(node);
  const TypeInference::Types everywhere = general_ ? general_->inputs_of_graphs(node) : here;
  const auto condition =
      node.op_type() == "If" && node.input_size() == 1 ? number_of(inference_->value(node.input(0))) : std::nullopt;
  for (const AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    bodies_.push_back(read_body(node, attribute, here, everywhere));
    bodies_.back().is_taken = !condition || (*condition != 0) == (attribute.name() == "then_branch");
  }
}

ImportedBody Importer::read_body(const NodeProto& node, const AttributeProto& attribute,
                                 const TypeInference::Types& here, const TypeInference::Types& everywhere) {
  const GraphProto& graph = attribute.g();
  ImportedBody body;
  body.node = node.SerializeAsString();
  body.attribute = attribute.name();
  body.stores_in_nodes = proto_.ir_version() < kIrOfDefaults;
  const auto refuse = [&](const std::string& reason) {
    body.carried = all_carried(graph, reason);
    return std::move(body);
  };
  const std::string shadowing = shadowing_name(graph, [&](const std::string& name) { return ports_.contains(name); });
  if (!shadowing.empty())
    return refuse(fmt::format("its graph has a tensor '{}', and so has the graph around it", shadowing));
  ImportOptions options;
  options.file = fmt::format("{}: {} of {}", options_.file, attribute.name(), describe(node));
  options.directory = options_.directory;
  options.leave_external = options_.leave_external;
  options.body_depth = options_.body_depth - 1;
  ModelProto model = model_around(proto_);
  *model.mutable_graph() = graph;
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    ValueInfoProto& input = *model.mutable_graph()->mutable_input(i);
    const bool is_other_rank =
        input.type().tensor_type().has_shape() && type_at(here, k) != nullptr &&
        input.type().tensor_type().shape().dim_size() != type_at(here, k)->tensor_type().shape().dim_size();
    input = input_of_body(input.name(), is_other_rank ? nullptr : type_at(here, k), type_at(everywhere, k), options);
  }
  for (auto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
  for (const std::string& name : captures(graph)) {
    if (!ports_.contains(name)) return refuse(fmt::format("its graph uses '{}', which is not known here", name));
    body.outer.insert(name);
    add_captured(name, *model.mutable_graph(), options);
  }
  auto imported = Importer(std::move(model), *builder_.registry(), options).run();
  if (!imported) return refuse(imported.error().message);
  if (node.op_type() == "Loop" && never_ends(node, graph, imported->graph)) return refuse("its loop has no end");
  body.model = *std::move(imported);
  return body;
}

/// A Loop without a number of rounds whose condition is and stays true: a run of the body would be one of many.
bool Importer::never_ends(const NodeProto& loop, const GraphProto& body, const Graph& imported) const {
  const auto known = [&](int input) { return number_of(inference_->value(loop.input(input))); };
  if (loop.input_size() < 2 || body.input_size() < 2 || imported.outputs().empty()) return false;
  constexpr double kAnyNumber = 0x1p62;
  const bool is_counted = !loop.input(0).empty() && known(0).value_or(0) < kAnyNumber;
  const bool may_not_begin = !loop.input(1).empty() && known(1).value_or(0) == 0;
  const Node& condition = imported.node(imported.outputs()[0].node);
  const bool is_kept = condition.is_input() && !condition.constant() && condition.name == body.input(1).name();
  return !is_counted && !may_not_begin && (is_kept || number_of(condition.constant()).value_or(0) != 0);
}

/// What a body may see of a tensor outside: what it holds at every size. Null where that is not known or is to stay
/// one.
std::shared_ptr<const ConstantData> Importer::value_for_body(const std::string& name) const {
  const auto constant = constants_.find(name);
  auto value = constant != constants_.end() ? constant->second : at_all_sizes().value(name);
  if (value == nullptr || value->type.shape.elements() <= kSharedElements) return value;
  const bool is_shared = users_.contains(name) && users_.at(name) > 1;
  return is_shared || std::holds_alternative<double>(value->value) ? nullptr : value;
}

void Importer::add_captured(const std::string& name, GraphProto& body, ImportOptions& options) const {
  const auto external = external_.find(name);
  const bool is_shared = users_.contains(name) && users_.at(name) > 1;
  if (external != external_.end() && !is_shared) {
    *body.add_initializer() = to_proto(external->second, name);
  } else if (const auto value = value_for_body(name)) {
    *body.add_initializer() = to_proto(*value, name);
  } else {
    const TensorType& type = builder_.type(ports_.at(name));
    const TypeProto known = type.element == ElementType::kUnknown ? TypeProto() : to_proto(type);
    const TypeProto* here = type.element == ElementType::kUnknown ? inference_->type(name) : &known;
    const bool is_weight = builder_.node(ports_.at(name).node).is_weight();
    *body.add_input() = input_of_body(name, here, is_weight ? here : at_all_sizes().type(name), options);
  }
}

/// With the sizes that are open, and what they are here; without a shape where a size is not known here.
ValueInfoProto Importer::input_of_body(const std::string& name, const TypeProto* here, const TypeProto* everywhere,
                                       ImportOptions& options) const {
  ValueInfoProto input;
  input.set_name(name);
  if (here == nullptr) return input;
  *input.mutable_type() = *here;
  if (!here->tensor_type().has_shape()) return input;
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  const auto is_known = [](const auto& dim) { return dim.has_dim_value() && dim.dim_value() >= 0; };
  if (!std::ranges::all_of(tensor.shape().dim(), is_known)) return tensor.clear_shape(), input;
  if (!origin_.has_open_sizes) return input;
  const bool has_shape = everywhere != nullptr && everywhere->tensor_type().has_shape() &&
                         everywhere->tensor_type().shape().dim_size() == tensor.shape().dim_size();
  for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
    auto& dim = *tensor.mutable_shape()->mutable_dim(axis);
    if (has_shape && is_known(everywhere->tensor_type().shape().dim(axis))) continue;
    const std::int64_t size = dim.dim_value();
    dim.clear_dim_value();
    const std::string open = has_shape ? everywhere->tensor_type().shape().dim(axis).dim_param() : "";
    const auto named = open_sizes_.find(open);
    if (named != open_sizes_.end() && named->second == size) {
      dim.set_dim_param(open);
      options.dimensions[open] = size;
    } else {
      options.dimensions[fmt::format("{}.{}", name, axis)] = size;
    }
  }
  return input;
}

}  // namespace rewright
