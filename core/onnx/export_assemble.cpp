// All that was written as one model: nodes under one opset, initializers, inputs, what is declared of tensors.
#include <algorithm>
#include <limits>

#include "onnx/annotations.h"
#include "onnx/exporter.h"
#include "onnx/opset.h"
#include "onnx/scope.h"

namespace rewright {

using namespace model;

namespace {

/// Where initializers need not be listed among the inputs.
constexpr std::int64_t kLeastIr = 4;
/// Values of initializers that a conversion may look at: axes, sizes, bounds.
constexpr std::int64_t kSmall = 1024;

}  // namespace

/// What a conversion may ask: values of initializers and constants, types of tensors.
ConversionContext Exporter::conversion_context() {
  for (const TensorProto& tensor : initializers_) values_[tensor.name()] = tensor;
  for (const auto& [name, tensor] : originals_)
    if (checked_elements(std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end())).value_or(kSmall + 1) <=
        kSmall)
      values_[name] = tensor;
  for (const auto& tensor : proto_.graph().initializer()) values_[tensor.name()] = tensor;
  for (const Written& written : nodes_) {
    if (written.node.op_type() != "Constant" || written.node.attribute_size() != 1) continue;
    if (written.node.attribute(0).has_t()) values_[written.node.output(0)] = written.node.attribute(0).t();
  }
  for (const auto& [port, name] : names_) {
    const TensorType& type = graph_.type(port);
    if (type.element == ElementType::kUnknown) continue;
    const bool is_open = origin_.origin.has_open_sizes && !values_.contains(name);
    std::vector<std::int64_t> dims(type.shape.begin(), type.shape.end());
    if (is_open) std::ranges::fill(dims, -1);
    known_[name] = {static_cast<int>(type.element), std::move(dims)};
  }
  ConversionContext context;
  context.constant = [this](const std::string& name) -> const TensorProto* {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  };
  context.known = [this](const std::string& name) {
    const auto found = known_.find(name);
    return found == known_.end() ? KnownTensor{} : found->second;
  };
  context.add = [this](TensorProto tensor) { initializers_.push_back(std::move(tensor)); };
  context.fresh = [this](std::string_view hint) { return fresh(hint); };
  return context;
}

/// All nodes under one opset: the model's own where that can be.
Status Exporter::choose_opset() {
  if (opset_ == 0) {  // No node of ONNX's own yet.
    auto& import = *proto_.add_opset_import();
    import.set_version(kNewestKnownOpset);
    opset_ = kNewestKnownOpset;
  }
  std::vector<WrittenNode> nodes;
  for (Written& written : nodes_)
    nodes.push_back({std::move(written.node), written.by_operator ? kNewestKnownOpset : opset_});
  const ConversionContext context = conversion_context();
  REWRIGHT_TRY(Converted converted, to_one_opset(nodes, opset_, context));
  nodes_.clear();
  for (NodeProto& node : converted.nodes) nodes_.push_back({std::move(node), false});
  for (auto& import : *proto_.mutable_opset_import())
    if (normal_domain(import.domain()).empty()) import.set_version(converted.opset);
  drop_unused_initializers();
  return {};
}

/// Sizes and axes that became attributes.
void Exporter::drop_unused_initializers() {
  std::unordered_set<std::string> used;
  for (const Written& written : nodes_) {
    used.insert(written.node.input().begin(), written.node.input().end());
    for (std::string& name : captures(written.node)) used.insert(std::move(name));
  }
  for (const auto& output : proto_.graph().output()) used.insert(output.name());
  std::erase_if(initializers_, [&](const TensorProto& tensor) { return !used.contains(tensor.name()); });
}

Status check_model_size(std::size_t bytes) {
  if (bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max())) return {};
  return make_error(ErrorCode::kUnsupported, "the model's weights take {} bytes; one ONNX file holds at most 2 GiB",
                    bytes);
}

/// The original's in their order, then the new ones.
void Exporter::add_initializers() {
  GraphProto& graph = *proto_.mutable_graph();
  for (const std::string& name : origin_.origin.initializer_order) {
    const auto found = originals_.find(name);
    if (found != originals_.end()) *graph.add_initializer() = std::move(found->second);
  }
  for (TensorProto& tensor : initializers_) *graph.add_initializer() = std::move(tensor);
}

/// Those of the graph that the model does not list; before IR 4 every initializer, and none that is gone.
void Exporter::add_inputs() {
  GraphProto& graph = *proto_.mutable_graph();
  const bool lists_initializers = !origin_.origin.nodes.empty() && proto_.ir_version() < kLeastIr;
  std::unordered_map<std::string, const TensorProto*> initializers;
  for (const auto& tensor : graph.initializer()) initializers[tensor.name()] = &tensor;
  for (const auto& tensor : graph.sparse_initializer()) initializers[tensor.values().name()] = nullptr;
  auto& inputs = *graph.mutable_input();
  const auto is_gone = [&](const ValueInfoProto& input) {
    return !inputs_.contains(input.name()) && !initializers.contains(input.name());
  };
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), is_gone), inputs.end());
  std::unordered_set<std::string> there;
  for (const auto& input : inputs) there.insert(input.name());
  for (const NodeId id : graph_.inputs()) {
    const Node& node = graph_.node(id);
    if (!inputs_.contains(node.name) || there.contains(node.name) || initializers.contains(node.name)) continue;
    auto& input = *inputs.Add();
    input.set_name(node.name);
    *input.mutable_type() = to_proto(node.outputs.front());
  }
  for (const TensorProto& tensor : graph.initializer()) {
    if (!lists_initializers || there.contains(tensor.name())) continue;
    auto& input = *inputs.Add();
    input.set_name(tensor.name());
    input.mutable_type()->mutable_tensor_type()->set_elem_type(tensor.data_type());
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const std::int64_t size : tensor.dims()) shape.add_dim()->set_dim_value(size);
  }
}

/// Of tensors that the model has no longer.
void Exporter::drop_stale_declarations() {
  GraphProto& graph = *proto_.mutable_graph();
  std::unordered_set<std::string> there(original_tensors_.begin(), original_tensors_.end());
  for (const auto& input : graph.input()) there.insert(input.name());
  for (const auto& [name, tensor] : originals_) there.insert(name);
  const auto is_gone = [&](const ValueInfoProto& value) { return !there.contains(value.name()); };
  auto& values = *graph.mutable_value_info();
  values.erase(std::remove_if(values.begin(), values.end(), is_gone), values.end());
  drop_stale_annotations(graph);
}

Result<std::string> Exporter::assemble() {
  GraphProto& graph = *proto_.mutable_graph();
  std::size_t bytes = graph.ByteSizeLong();
  for (const TensorProto& tensor : initializers_) bytes += tensor.ByteSizeLong();
  for (const auto& [name, tensor] : originals_) bytes += tensor.ByteSizeLong();
  REWRIGHT_CHECK(check_model_size(bytes));
  add_initializers();
  for (Written& written : nodes_) *graph.add_node() = std::move(written.node);
  add_inputs();
  drop_stale_declarations();
  const std::int64_t opset = opset_of(proto_);
  if (origin_.origin.nodes.empty() || opset != opset_ || proto_.ir_version() < 1)
    proto_.set_ir_version(std::max({static_cast<std::int64_t>(proto_.ir_version()), kLeastIr, ir_version_for(opset)}));
  return proto_.SerializeAsString();
}

}  // namespace rewright
