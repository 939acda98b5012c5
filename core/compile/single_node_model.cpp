#include "compile/single_node_model.h"

#include <algorithm>
#include <set>

#include "onnx/element.h"
#include "onnx/messages.h"

namespace rewright::compile {
namespace {

constexpr int kMostTypes = 32, kIrVersion = 8, kOpset = 17;

int number_of(ElementType type) {
  for (int number = 1; number < kMostTypes; ++number) {
    if (model::element_type(number) == type) return number;
  }
  return 0;
}

using Tensors = std::vector<NamedTensor> ArtefactVersion::*;

/// The name of the open size that dimension `axis` is in all versions; none: of none.
std::string open_name(std::span<const ArtefactVersion> versions, Tensors tensors, std::size_t i, int axis) {
  for (const auto& [name, size] : versions.front().sizes) {
    const bool is_it = std::ranges::all_of(versions, [&](const ArtefactVersion& version) {
      return (version.*tensors)[i].type.shape[axis] == version.sizes.at(name);
    });
    if (is_it) return name;
  }
  return "";
}

void declare(model::ValueInfoProto& value, const std::string& name, std::span<const ArtefactVersion> versions,
             Tensors tensors, std::size_t i) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  const TensorType& first = (versions.front().*tensors)[i].type;
  type.set_elem_type(number_of(first.element));
  auto& shape = *type.mutable_shape();
  for (int axis = 0; axis < first.shape.rank(); ++axis) {
    auto& dim = *shape.add_dim();
    const bool is_fixed = std::ranges::all_of(versions, [&](const ArtefactVersion& version) {
      return (version.*tensors)[i].type.shape[axis] == first.shape[axis];
    });
    if (is_fixed) {
      dim.set_dim_value(first.shape[axis]);
    } else if (const std::string open = open_name(versions, tensors, i, axis); !open.empty()) {
      dim.set_dim_param(open);
    }
  }
}

}  // namespace

std::string single_node_model(const std::string& name, std::span<const ArtefactVersion> versions) {
  model::ModelProto made;
  made.set_ir_version(kIrVersion);
  made.set_producer_name("rewright");
  made.add_opset_import()->set_version(kOpset);
  auto& domain = *made.add_opset_import();
  domain.set_domain(kOperatorDomain);
  domain.set_version(1);
  auto& graph = *made.mutable_graph();
  graph.set_name(name);
  auto& node = *graph.add_node();
  node.set_op_type(name);
  node.set_domain(kOperatorDomain);
  std::set<std::string> taken;
  const auto own_name = [&](std::string wish) {  // An output may be called as an input, where it is that.
    while (!taken.insert(wish).second) wish += '_';
    return wish;
  };
  const ArtefactVersion& first = versions.front();
  for (std::size_t i = 0; i < first.inputs.size(); ++i) {
    node.add_input(own_name(first.inputs[i].name));
    declare(*graph.add_input(), node.input().rbegin()[0], versions, &ArtefactVersion::inputs, i);
  }
  for (std::size_t i = 0; i < first.outputs.size(); ++i) {
    node.add_output(own_name(first.outputs[i].name));
    declare(*graph.add_output(), node.output().rbegin()[0], versions, &ArtefactVersion::outputs, i);
  }
  return made.SerializeAsString();
}

}  // namespace rewright::compile
