#include "support.h"

#include <rewright/onnx/onnx.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace rewright::onnx_test {

const Registry& registry() {
  static const Registry kRegistry = [] {
    Registry registry;
    if (auto status = registry.load_default(); !status) fail(status.error().message);
    return registry;
  }();
  return kRegistry;
}

const Runtime& runtime() {
  const Runtime* found = registry().find<Runtime>("onnxruntime");
  if (found == nullptr) fail("the plugin runtimes/onnxruntime is not among those of the build");
  return *found;
}

Model make_model(int opset) {
  Model model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("test");
  return model;
}

namespace {
void set_type(::onnx::ValueInfoProto& value, const std::string& name, const std::vector<std::int64_t>& dims,
              int element) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(element);
  tensor.mutable_shape();
  for (const std::int64_t dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}
}  // namespace

void add_input(Model& model, const std::string& name, const std::vector<std::int64_t>& dims, int element) {
  set_type(*model.mutable_graph()->add_input(), name, dims, element);
}

void add_output(Model& model, const std::string& name, const std::vector<std::int64_t>& dims, int element) {
  set_type(*model.mutable_graph()->add_output(), name, dims, element);
}

::onnx::TensorProto& add_weight(Model& model, const std::string& name, const std::vector<std::int64_t>& dims,
                                int seed) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (std::int64_t i = 0; i < count; ++i) tensor.add_float_data(static_cast<float>((i + seed) % 17 - 8) / 8);
  return tensor;
}

void add_integers(Model& model, const std::string& name, const std::vector<std::int64_t>& values) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
}

::onnx::NodeProto& add_node(Model& model, const std::string& type, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) {
  auto& node = *model.mutable_graph()->add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

void set(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set(::onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

Result<ImportedModel> import(const Model& model, const ImportOptions& options) {
  return import_model(bytes_of(model.SerializeAsString()), registry(), options);
}

Model parse(const std::string& bytes) {
  Model model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  return model;
}

Model round_trip(const Model& model, const ExportOptions& options) {
  const auto imported = import(model);
  if (!imported) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  const auto exported = export_model(imported->graph, *imported, options);
  if (!exported) {
    ADD_FAILURE() << exported.error().message;
    return {};
  }
  return parse(*exported);
}

RuntimeTensor random_tensor(const std::string& name, const TensorType& type, unsigned seed) {
  std::mt19937 random(seed);
  RuntimeTensor tensor{name, type, {}};
  const auto count = static_cast<std::size_t>(type.shape.elements());
  if (type.element == ElementType::kFloat32) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random() % 4001) / 1000 - 2;
    const auto bytes = std::as_bytes(std::span<const float>(values));
    tensor.bytes.assign(bytes.begin(), bytes.end());
  } else if (type.element == ElementType::kFloat64) {
    std::vector<double> values(count);
    for (double& value : values) value = static_cast<double>(random() % 4001) / 1000 - 2;
    const auto bytes = std::as_bytes(std::span<const double>(values));
    tensor.bytes.assign(bytes.begin(), bytes.end());
  } else if (type.element == ElementType::kInt64) {
    std::vector<std::int64_t> values(count);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % 2);
    const auto bytes = std::as_bytes(std::span<const std::int64_t>(values));
    tensor.bytes.assign(bytes.begin(), bytes.end());
  } else if (type.element == ElementType::kBool) {
    for (std::size_t i = 0; i < count; ++i) tensor.bytes.push_back(static_cast<std::byte>(random() % 2));
  } else {  // float16: the upper bits of small positive numbers.
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = static_cast<std::uint16_t>(0x3000 + random() % 0x0c00);
      tensor.bytes.push_back(static_cast<std::byte>(bits & 255));
      tensor.bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
  }
  return tensor;
}

Result<std::vector<RuntimeTensor>> run(const std::string& model, const std::vector<RuntimeTensor>& inputs) {
  REWRIGHT_TRY(const auto session, runtime().load(bytes_of(model), {}));
  return session->run(inputs);
}

namespace {

Result<std::vector<double>> numbers_of(const RuntimeTensor& tensor) { return to_reals({tensor.type, tensor.bytes}); }

bool close(double a, double b, double tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

}  // namespace

std::string difference(const std::vector<RuntimeTensor>& expected, const std::vector<RuntimeTensor>& actual,
                       double tolerance) {
  if (expected.size() != actual.size()) {
    return fmt::format("{} outputs instead of {}", actual.size(), expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const RuntimeTensor& a = expected[i];
    const RuntimeTensor& b = actual[i];
    if (a.name != b.name) return fmt::format("output {} is named '{}' instead of '{}'", i, b.name, a.name);
    if (a.type != b.type)
      return fmt::format("output '{}' has shape {} instead of {}", a.name, b.type.shape, a.type.shape);
    const auto x = numbers_of(a), y = numbers_of(b);
    if (!x || !y) return fmt::format("output '{}' has no numbers", a.name);
    for (std::size_t k = 0; k < x->size(); ++k) {
      if (!close((*x)[k], (*y)[k], tolerance)) {
        return fmt::format("output '{}' differs at {}: {} instead of {}", a.name, k, (*y)[k], (*x)[k]);
      }
    }
  }
  return {};
}

std::string difference(const Model& expected, const Model& actual, double tolerance) {
  const auto imported = import(expected);
  if (!imported) return imported.error().message;
  std::vector<RuntimeTensor> inputs;
  for (const NodeId id : imported->graph.inputs()) {
    const Node& node = imported->graph.node(id);
    if (node.is_data()) inputs.push_back(random_tensor(node.name, node.outputs.front(), id.value));
  }
  const auto before = run(expected.SerializeAsString(), inputs);
  if (!before) return "the original: " + before.error().message;
  const auto after = run(actual.SerializeAsString(), inputs);
  if (!after) return "the result: " + after.error().message;
  return difference(*before, *after, tolerance);
}

}  // namespace rewright::onnx_test
