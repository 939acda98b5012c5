#include "learn/network_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "onnx/messages.h"

namespace rewright::learn {
namespace {

using model::AttributeProto;
using model::ModelProto;
using model::TensorProto;
using model::ValueInfoProto;
using tune::Network;
using tune::NetworkAttribute;
using tune::NetworkNode;
using tune::NetworkTensor;

constexpr int kOpset = 18, kMlOpset = 3, kIrVersion = 8;
constexpr const char* kInputs[] = {"stages", "kinds", "reads"};
constexpr const char* kOutput = "us";

bool is_input(const std::string& name) { return std::ranges::find(kInputs, name) != std::end(kInputs); }

void describe(ValueInfoProto& value, const char* name, int element, std::initializer_list<const char*> sizes) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(element);
  type.mutable_shape();
  for (const char* size : sizes) type.mutable_shape()->add_dim()->set_dim_param(size);
}

void write(const NetworkTensor& tensor, TensorProto& proto) {
  for (const std::int64_t size : tensor.sizes) proto.add_dims(size);
  const auto raw = [&](const auto& values, int type) {
    proto.set_data_type(type);
    proto.set_raw_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]));
  };
  if (const auto* floats = std::get_if<std::vector<float>>(&tensor.values)) raw(*floats, TensorProto::FLOAT);
  if (const auto* doubles = std::get_if<std::vector<double>>(&tensor.values)) raw(*doubles, TensorProto::DOUBLE);
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&tensor.values)) raw(*whole, TensorProto::INT64);
}

Result<NetworkTensor> read(const TensorProto& proto) {
  const auto wrong = [&](const char* what) {
    return make_error(ErrorCode::kParse, "the constant '{}' {}", proto.name(), what);
  };
  NetworkTensor tensor;
  std::int64_t count = 1;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  for (const std::int64_t size : proto.dims()) {
    if (size < 0 || size > kMost || (size > 0 && count > kMost / size)) return wrong("has a size that cannot be");
    count *= size;
    tensor.sizes.push_back(size);
  }
  const auto raw = [&]<class Value>(std::vector<Value> values) -> Result<NetworkTensor> {
    if (proto.raw_data().size() != static_cast<std::size_t>(count) * sizeof(Value))
      return wrong("has too few bytes, or too many");
    values.resize(static_cast<std::size_t>(count));
    std::memcpy(values.data(), proto.raw_data().data(), proto.raw_data().size());
    tensor.values = std::move(values);
    return tensor;
  };
  if (proto.data_type() == TensorProto::FLOAT) return raw(std::vector<float>());
  if (proto.data_type() == TensorProto::DOUBLE) return raw(std::vector<double>());
  if (proto.data_type() == TensorProto::INT64) return raw(std::vector<std::int64_t>());
  return wrong("is of a type that no network has");
}

void write(const std::string& name, const NetworkAttribute& attribute, AttributeProto& proto) {
  proto.set_name(name);
  if (const auto* whole = std::get_if<std::int64_t>(&attribute)) {
    proto.set_type(AttributeProto::INT);
    proto.set_i(*whole);
  } else if (const auto* real = std::get_if<float>(&attribute)) {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(*real);
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(*text);
  } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    proto.set_type(AttributeProto::INTS);
    proto.mutable_ints()->Add(numbers->begin(), numbers->end());
  } else if (const auto* reals = std::get_if<std::vector<float>>(&attribute)) {
    proto.set_type(AttributeProto::FLOATS);
    proto.mutable_floats()->Add(reals->begin(), reals->end());
  } else {
    proto.set_type(AttributeProto::STRINGS);
    for (const std::string& word : std::get<std::vector<std::string>>(attribute)) proto.add_strings(word);
  }
}

Result<NetworkAttribute> read(const AttributeProto& proto) {
  switch (proto.type()) {
    case AttributeProto::INT: return NetworkAttribute(static_cast<std::int64_t>(proto.i()));
    case AttributeProto::FLOAT: return NetworkAttribute(proto.f());
    case AttributeProto::STRING: return NetworkAttribute(proto.s());
    case AttributeProto::INTS:
      return NetworkAttribute(std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end()));
    case AttributeProto::FLOATS:
      return NetworkAttribute(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case AttributeProto::STRINGS:
      return NetworkAttribute(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    default: return make_error(ErrorCode::kParse, "the attribute '{}' is of a kind that no network has", proto.name());
  }
}

/// Every name but the inputs' by `rename`; nodes and constants of which it says nothing are left out.
template <class Rename>
Network renamed(const Network& network, const Rename& rename) {
  const auto name = [&](const std::string& old) -> std::optional<std::string> {
    return is_input(old) ? old : rename(old);
  };
  Network result;
  for (const auto& [old, tensor] : network.constants) {
    if (const auto other = name(old)) result.constants[*other] = tensor;
  }
  for (const NetworkNode& node : network.nodes) {
    NetworkNode other{node.type, {}, {}, node.attributes};
    for (const std::string& input : node.inputs) other.inputs.push_back(name(input).value_or(""));
    for (const std::string& output : node.outputs) {
      if (const auto its = name(output)) other.outputs.push_back(*its);
    }
    if (other.outputs.size() == node.outputs.size()) result.nodes.push_back(std::move(other));
  }
  result.output = name(network.output).value_or("");
  return result;
}

}  // namespace

Network with_prefix(const Network& network, const std::string& prefix) {
  return renamed(network, [&](const std::string& name) -> std::optional<std::string> { return prefix + name; });
}

Network without_prefix(const Network& network, const std::string& prefix) {
  return renamed(network, [&](const std::string& name) -> std::optional<std::string> {
    if (!name.starts_with(prefix)) return std::nullopt;
    return name.substr(prefix.size());
  });
}

Result<std::string> to_model(const NetworkFile& file) {
  ModelProto proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name("rewright");
  const auto import = [&](const char* domain, int version) {
    auto& opset = *proto.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  };
  import("", kOpset);
  import("ai.onnx.ml", kMlOpset);
  for (const auto& [name, value] : file.facts) {
    auto& fact = *proto.add_metadata_props();
    fact.set_key(name);
    fact.set_value(value);
  }
  auto& graph = *proto.mutable_graph();
  graph.set_name("cost");
  describe(*graph.add_input(), kInputs[0], TensorProto::DOUBLE, {"stages", "columns"});
  describe(*graph.add_input(), kInputs[1], TensorProto::INT64, {"stages"});
  describe(*graph.add_input(), kInputs[2], TensorProto::FLOAT, {"stages", "stages"});
  describe(*graph.add_output(), kOutput, TensorProto::DOUBLE, {"members"});
  for (const auto& [name, tensor] : file.network.constants) {
    auto& constant = *graph.add_initializer();
    constant.set_name(name);
    write(tensor, constant);
  }
  for (const NetworkNode& node : file.network.nodes) {
    auto& added = *graph.add_node();
    const std::size_t colon = node.type.find(':');
    if (colon != std::string::npos) added.set_domain(node.type.substr(0, colon));
    added.set_op_type(colon == std::string::npos ? node.type : node.type.substr(colon + 1));
    for (const std::string& input : node.inputs) added.add_input(input);
    for (const std::string& output : node.outputs) added.add_output(output);
    for (const auto& [name, attribute] : node.attributes) write(name, attribute, *added.add_attribute());
  }
  auto& last = *graph.add_node();
  last.set_op_type("Identity");
  last.add_input(file.network.output);
  last.add_output(kOutput);
  std::string bytes;
  if (!proto.SerializeToString(&bytes)) return make_error(ErrorCode::kInternal, "the model cannot be written");
  return bytes;
}

Result<NetworkFile> network_of(std::string_view model, const std::string& name, const std::string& needed) {
  ModelProto proto;
  const auto wrong = [&](const std::string& what) { return make_error(ErrorCode::kParse, "'{}': {}", name, what); };
  if (model.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(model.data(), static_cast<int>(model.size())))
    return wrong("not an ONNX model");
  NetworkFile file;
  for (const auto& fact : proto.metadata_props()) file.facts[fact.key()] = fact.value();
  if (!file.facts.contains(needed)) return wrong("an ONNX model, but no learned cost: rewright learn fit writes them");
  const auto& graph = proto.graph();
  std::set<std::string> known(std::begin(kInputs), std::end(kInputs));
  for (const TensorProto& constant : graph.initializer()) {
    auto tensor = read(constant);
    if (!tensor) return wrong(tensor.error().message);
    if (!known.insert(constant.name()).second) return wrong("'" + constant.name() + "' is there twice");
    file.network.constants[constant.name()] = *std::move(tensor);
  }
  for (const auto& node : graph.node()) {
    NetworkNode added{node.domain().empty() ? node.op_type() : node.domain() + ":" + node.op_type(),
                      {node.input().begin(), node.input().end()},
                      {node.output().begin(), node.output().end()}};
    for (const std::string& input : added.inputs) {
      if (!known.contains(input)) return wrong("a node takes '" + input + "', which is nowhere before it");
    }
    for (const AttributeProto& attribute : node.attribute()) {
      auto read_one = read(attribute);
      if (!read_one) return wrong(read_one.error().message);
      added.attributes[attribute.name()] = *std::move(read_one);
    }
    for (const std::string& output : added.outputs) {
      if (!known.insert(output).second) return wrong("'" + output + "' is there twice");
    }
    file.network.nodes.push_back(std::move(added));
  }
  if (file.network.nodes.empty() || file.network.nodes.back().outputs != std::vector<std::string>{kOutput})
    return wrong("its last node does not give 'us'");
  file.network.output = file.network.nodes.back().inputs.empty() ? "" : file.network.nodes.back().inputs.front();
  file.network.nodes.pop_back();
  return file;
}

}  // namespace rewright::learn
