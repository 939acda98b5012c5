#include "onnx/opset_convert.h"

#include <onnx/defs/schema.h>

#include <algorithm>

#include "onnx/opset.h"
#include "onnx/opset_changes.h"
#include "onnx/opset_step.h"

namespace rewright::model {
namespace {

class Conversion {
 public:
  Conversion(StagedContext& staged, std::int64_t from, std::int64_t to) : staged_(staged), from_(from), to_(to) {}

  Result<std::vector<NodeProto>> run(const NodeProto& node);

 private:
  Status convert_graphs(NodeProto& node);
  Status convert_graph(GraphProto& graph);
  Result<std::vector<NodeProto>> one_step(NodeProto node, std::int64_t version, bool up);
  Status check(const NodeProto& node) const;

  StagedContext& staged_;
  std::int64_t from_, to_;
};

Error named(const NodeProto& node, const Error& error) {
  return make_error(error.code, "{}: {}", describe(node), error.message);
}

std::vector<NodeProto> only(NodeProto node) {
  std::vector<NodeProto> nodes;
  nodes.push_back(std::move(node));
  return nodes;
}

Result<std::vector<NodeProto>> Conversion::one_step(NodeProto node, std::int64_t version, bool up) {
  if (!normal_domain(node.domain()).empty()) return only(std::move(node));
  OpsetStep step(staged_, version);
  REWRIGHT_CHECK(up ? step_up(node, step) : step_down(node, step));
  std::vector<NodeProto> nodes = std::move(step.before());
  nodes.push_back(std::move(node));
  return nodes;
}

Result<std::vector<NodeProto>> Conversion::run(const NodeProto& node) {
  NodeProto outer = node;
  REWRIGHT_CHECK(convert_graphs(outer));
  if (!normal_domain(node.domain()).empty()) return only(std::move(outer));
  if (const auto first = first_opset_of(node.op_type()); !first)
    return named(node, make_error(ErrorCode::kUnsupported, "what opset {} makes of it is not known", to_));
  std::vector<NodeProto> nodes = only(std::move(outer));
  const bool up = from_ < to_;
  for (std::int64_t at = from_; at != to_;) {
    at += up ? 1 : -1;
    std::vector<NodeProto> next;
    for (NodeProto& current : nodes) {
      auto stepped = one_step(std::move(current), at, up);
      if (!stepped) return named(node, stepped.error());
      std::ranges::move(*stepped, std::back_inserter(next));
    }
    nodes = std::move(next);
  }
  for (const NodeProto& made : nodes) {
    if (const Status valid = check(made); !valid) return named(node, valid.error());
  }
  return nodes;
}

/// Against the schema of the opset, where the library has one.
Status Conversion::check(const NodeProto& node) const {
  REWRIGHT_CHECK(check_elements(node, to_, staged_.context()));
  if (to_ > kNewestKnownOpset) return {};
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(to_), "");
  if (schema == nullptr || schema->deprecated())
    return make_error(ErrorCode::kUnsupported, "opset {} has no operator {}", to_, node.op_type());
  try {
    schema->Verify(node);
  } catch (const std::exception& problem) {
    const std::string text = problem.what();
    return make_error(ErrorCode::kUnsupported, "opset {} does not take it: {}", to_, text.substr(0, text.find('\n')));
  }
  return {};
}

Status Conversion::convert_graphs(NodeProto& node) {
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) REWRIGHT_CHECK(convert_graph(*attribute.mutable_g()));
    for (GraphProto& graph : *attribute.mutable_graphs()) REWRIGHT_CHECK(convert_graph(graph));
  }
  return {};
}

KnownTensor known_of(const TypeProto& type) {
  KnownTensor known;
  if (!type.has_tensor_type()) return known;
  known.element = type.tensor_type().elem_type();
  if (!type.tensor_type().has_shape()) return known;
  known.dims.emplace();
  for (const auto& dim : type.tensor_type().shape().dim())
    known.dims->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  return known;
}

/// What a graph says of its own tensors.
void learn(const GraphProto& graph, StagedContext& staged) {
  for (const NodeProto& node : graph.node())
    for (const std::string& output : node.output()) staged.set_known(output, {});
  for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()})
    for (const auto& value : *values) staged.set_known(value.name(), known_of(value.type()));
  for (const TensorProto& tensor : graph.initializer()) {
    staged.set_constant(tensor.name(), &tensor);
    staged.set_known(tensor.name(),
                     {tensor.data_type(), std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end())});
  }
  for (const NodeProto& node : graph.node()) {
    const AttributeProto* value = find_attribute(node, "value");
    if (node.op_type() != "Constant" || value == nullptr || node.output_size() != 1) continue;
    const TensorProto& tensor = value->t();
    staged.set_constant(node.output(0), &tensor);
    staged.set_known(node.output(0),
                     {tensor.data_type(), std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end())});
  }
}

Status Conversion::convert_graph(GraphProto& graph) {
  const GraphProto original = graph;
  const ConversionContext outside = staged_.context();
  StagedContext inside(outside);
  learn(original, inside);
  Conversion conversion(inside, from_, to_);
  graph.clear_node();
  for (const NodeProto& node : original.node()) {
    REWRIGHT_TRY(std::vector<NodeProto> nodes, conversion.run(node));
    for (NodeProto& converted : nodes) *graph.add_node() = std::move(converted);
  }
  inside.commit();
  return {};
}

/// Between opsets of which one is older than what is converted: where the node means the same.
Result<std::vector<NodeProto>> convert_old(const NodeProto& node, std::int64_t from, std::int64_t to,
                                           const ConversionContext& context) {
  const std::int64_t first = std::max(from, kOldestConverted), second = std::max(to, kOldestConverted);
  const auto differs = [&](const NodeProto& changed) {
    return make_error(ErrorCode::kUnsupported, "{}: opset {} means something else by it than opset {}",
                      describe(changed), to, from);
  };
  if (from < kOldestConverted && !same_meaning(node, from, first)) return differs(node);
  REWRIGHT_TRY(std::vector<NodeProto> nodes, convert(node, first, second, context));
  for (const NodeProto& made : nodes) {
    if (to < kOldestConverted && !same_meaning(made, second, to)) return differs(made);
  }
  return nodes;
}

}  // namespace

Result<std::vector<NodeProto>> convert(const NodeProto& node, std::int64_t from, std::int64_t to,
                                       const ConversionContext& context) {
  if (from == to) return only(node);
  if (std::min(from, to) < kOldestConverted) return convert_old(node, from, to, context);
  if (std::max(from, to) > kNewestConverted)
    return make_error(ErrorCode::kUnsupported, "{}: opset {} is newer than those known here (up to {})", describe(node),
                      std::max(from, to), kNewestConverted);
  StagedContext staged(context);
  REWRIGHT_TRY(std::vector<NodeProto> nodes, Conversion(staged, from, to).run(node));
  staged.commit();
  return nodes;
}

namespace {

Result<std::vector<NodeProto>> convert_all(const std::vector<WrittenNode>& written, std::int64_t opset,
                                           const ConversionContext& context) {
  StagedContext staged(context);
  const ConversionContext inner = staged.context();
  std::vector<NodeProto> nodes;
  for (const WrittenNode& one : written) {
    const bool is_older = one.opset < opset;
    const std::int64_t to = is_older ? std::max(one.opset, std::min(opset, kNewestConverted)) : opset;
    REWRIGHT_TRY(std::vector<NodeProto> converted, convert(one.node, one.opset, to, inner));
    std::ranges::move(converted, std::back_inserter(nodes));
  }
  staged.commit();
  return nodes;
}

}  // namespace

Result<Converted> to_one_opset(const std::vector<WrittenNode>& nodes, std::int64_t own,
                               const ConversionContext& context) {
  auto kept = convert_all(nodes, own, context);
  if (kept) return Converted{own, *std::move(kept)};
  std::string last = kept.error().message;
  for (std::int64_t opset = own + 1; opset <= kNewestConverted; ++opset) {
    auto raised = convert_all(nodes, opset, context);
    if (raised) return Converted{opset, *std::move(raised)};
    last = raised.error().message;
  }
  return make_error(ErrorCode::kUnsupported,
                    "no opset from {} to {} can say every node: under opset {}: {}; under opset {}: {}", own,
                    std::max(own, kNewestConverted), own, kept.error().message, std::max(own, kNewestConverted), last);
}

}  // namespace rewright::model
