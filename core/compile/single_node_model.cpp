#include "compile/single_node_model.h"

#include <set>

#include "onnx/element.h"
#include "onnx/messages.h"

namespace rewright::compile {
namespace {

constexpr int kMostTypes = 32, kIrVersion = 8, kOpset = 17;
constexpr const char* kDomain = "rewright";

int number_of(ElementType type) {
  for (int number = 1; number < kMostTypes; ++number) {
    if (model::element_type(number) == type) return number;
  }
  return 0;
}

void declare(model::ValueInfoProto& value, const std::string& name, const NamedTensor& tensor) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(number_of(tensor.type.element));
  auto& shape = *type.mutable_shape();
  for (const std::int64_t size : tensor.type.shape) shape.add_dim()->set_dim_value(size);
}

}  // namespace

std::string single_node_model(const std::string& name, std::span<const NamedTensor> inputs,
                              std::span<const NamedTensor> outputs) {
  model::ModelProto made;
  made.set_ir_version(kIrVersion);
  made.set_producer_name("rewright");
  made.add_opset_import()->set_version(kOpset);
  auto& domain = *made.add_opset_import();
  domain.set_domain(kDomain);
  domain.set_version(1);
  auto& graph = *made.mutable_graph();
  graph.set_name(name);
  auto& node = *graph.add_node();
  node.set_op_type(name);
  node.set_domain(kDomain);
  std::set<std::string> taken;
  const auto own_name = [&](std::string wish) {  // An output may be called as an input, where it is that.
    while (!taken.insert(wish).second) wish += '_';
    return wish;
  };
  for (const NamedTensor& tensor : inputs) {
    node.add_input(own_name(tensor.name));
    declare(*graph.add_input(), node.input().rbegin()[0], tensor);
  }
  for (const NamedTensor& tensor : outputs) {
    node.add_output(own_name(tensor.name));
    declare(*graph.add_output(), node.output().rbegin()[0], tensor);
  }
  return made.SerializeAsString();
}

}  // namespace rewright::compile
