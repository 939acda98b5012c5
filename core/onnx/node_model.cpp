#include "onnx/node_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <limits>

#include "onnx/opset.h"
#include "onnx/proto.h"
#include "onnx/scope.h"

namespace rewright::model {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

/// The fields of a serialized ModelProto but its graph.
Result<std::string> without_graph(std::string_view model) {
  if (model.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return make_error(ErrorCode::kUnsupported, "a model of {} bytes; one ONNX file holds at most 2 GiB", model.size());
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(model.data()), static_cast<int>(model.size()));
  in.SetTotalBytesLimit(std::numeric_limits<int>::max());
  std::string frame;
  StringOutputStream stream(&frame);
  CodedOutputStream out(&stream);
  while (const std::uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagFieldNumber(tag) == ModelProto::kGraphFieldNumber) {
      std::uint32_t length = 0;
      if (!in.ReadVarint32(&length) || !in.Skip(static_cast<int>(length))) break;
    } else if (!WireFormatLite::SkipField(&in, tag, &out)) {
      break;
    }
  }
  out.Trim();
  if (!in.ConsumedEntireMessage()) return make_error(ErrorCode::kParse, "not a serialized ONNX model");
  return frame;
}

bool is_narrow(std::int64_t data_type) {
  return data_type == TensorProto::FLOAT || data_type == TensorProto::FLOAT16 || data_type == TensorProto::BFLOAT16;
}

/// Types that an attribute names (Cast's "to", "dtype" of what makes tensors) become float64.
void widen_attributes(NodeProto& node) {
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    const bool names_type = attribute.name() == "to" || attribute.name().ends_with("dtype");
    if (names_type && attribute.type() == AttributeProto::INT && is_narrow(attribute.i()))
      attribute.set_i(TensorProto::DOUBLE);
  }
}

/// Does the node's schema take float64 as its input `i`? Where there is none that we know, it is worth a try.
bool may_be_double(const ::onnx::OpSchema* schema, std::size_t i) {
  if (schema == nullptr) return true;
  const auto& inputs = schema->inputs();
  if (inputs.empty()) return true;
  const auto& input = inputs[std::min(i, inputs.size() - 1)];
  return std::ranges::any_of(input.GetTypes(), [](const auto* type) { return *type == "tensor(double)"; });
}

}  // namespace

Result<NodeModels> NodeModels::create(std::string_view model) {
  NodeModels made;
  REWRIGHT_TRY(made.frame_, without_graph(model));
  return made;
}

Result<NodeModel> NodeModels::write(const std::string& serialized, std::span<const ElementType> operands,
                                    bool wide) const {
  ModelProto proto;
  NodeProto node;
  if (!proto.ParseFromString(frame_) || !node.ParseFromString(serialized))
    return make_error(ErrorCode::kInternal, "a node or its model cannot be read again");
  const std::vector<std::string> captured = captures(node);
  bool has_graphs = false;
  for_each_subgraph(node, [&](const GraphProto&) { has_graphs = true; });
  const std::int64_t opset = std::min<std::int64_t>(opset_of(proto), kNewestKnownOpset);
  const auto* schema =
      ::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset), normal_domain(node.domain()));
  NodeModel made;
  wide = wide && !has_graphs;
  auto& graph = *proto.mutable_graph();
  graph.set_name("node");
  node.clear_name();
  node.clear_doc_string();
  const auto add_input = [&](const std::string& name, bool widened) -> Status {
    if (made.inputs.size() >= operands.size()) return make_error(ErrorCode::kInternal, "a node has too few operands");
    ElementType element = operands[made.inputs.size()];
    if (element == ElementType::kUnknown) return make_error(ErrorCode::kUnsupported, "an operand is no tensor");
    if (widened && is_floating(element)) element = ElementType::kFloat64;
    made.fed.push_back(element);
    made.inputs.push_back(name);
    if (std::ranges::any_of(graph.input(), [&](const auto& input) { return input.name() == name; })) return {};
    auto& input = *graph.add_input();
    input.set_name(name);
    input.mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int>(element));
    return {};
  };
  for (int i = 0; i < node.input_size(); ++i) {
    std::string& input = *node.mutable_input(i);
    if (input.empty()) continue;
    if (!has_graphs) input = fmt::format("in{}", made.inputs.size());
    REWRIGHT_CHECK(add_input(input, wide && may_be_double(schema, static_cast<std::size_t>(i))));
  }
  for (const std::string& name : captured) REWRIGHT_CHECK(add_input(name, false));
  for (int i = 0; i < node.output_size(); ++i) {
    std::string& output = *node.mutable_output(i);
    if (output.empty()) continue;
    if (!has_graphs) output = fmt::format("out{}", i);
    graph.add_output()->set_name(output);
    made.outputs.push_back(static_cast<std::size_t>(i));
  }
  if (wide) widen_attributes(node);
  *graph.add_node() = std::move(node);
  made.model = proto.SerializeAsString();
  return made;
}

}  // namespace rewright::model
