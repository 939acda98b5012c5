#include "model_builder.h"

#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <cmath>
#include <stdexcept>

namespace models {
namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

std::int64_t product(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

/// FNV-1a: the same on every machine.
std::uint64_t seed_of(const std::string& name) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace

ModelBuilder::ModelBuilder(std::string name, Weights weights, std::string documentation)
    : graph_(*model_.mutable_graph()), weights_(weights), random_(seed_of(name)) {
  model_.set_ir_version(8);
  model_.set_producer_name("rewright_models");
  model_.set_doc_string(documentation);
  model_.add_opset_import()->set_version(17);
  graph_.set_name(name);
}

std::string ModelBuilder::input(const std::string& name, const Sizes& sizes) {
  auto& value = *graph_.add_input();
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  for (const std::int64_t size : sizes) type.mutable_shape()->add_dim()->set_dim_value(size);
  return name;
}

/// std::uniform_real_distribution differs between libraries; the generator itself does not.
double ModelBuilder::uniform(double low, double high) {
  return low + (high - low) * std::ldexp(static_cast<double>(random_() >> 11), -53);
}

std::string ModelBuilder::tensor(const Sizes& sizes, double low, double high) {
  if (weights_ == Weights::kFilled && product(sizes) > 4096) {
    const std::string shape = integers(sizes);
    const std::string name = node("ConstantOfShape", {shape});
    auto& attribute = *graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
    attribute.set_name("value");
    attribute.set_type(AttributeProto::TENSOR);
    attribute.mutable_t()->set_data_type(TensorProto::FLOAT);
    attribute.mutable_t()->add_dims(1);
    attribute.mutable_t()->add_float_data(static_cast<float>(uniform(low, high)));
    return name;
  }
  std::vector<float> numbers(static_cast<std::size_t>(product(sizes)));
  for (float& number : numbers) number = static_cast<float>(uniform(low, high));
  return values(sizes, numbers);
}

std::string ModelBuilder::values(const Sizes& sizes, const std::vector<float>& values) {
  auto& tensor = *graph_.add_initializer();
  tensor.set_name(fresh("weight"));
  tensor.set_data_type(TensorProto::FLOAT);
  for (const std::int64_t size : sizes) tensor.add_dims(size);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return tensor.name();
}

std::string ModelBuilder::weight(const Sizes& sizes, std::int64_t fan_in, double gain) {
  const double bound = std::sqrt(3 * gain / static_cast<double>(fan_in));
  // One repeated value adds up instead of averaging out: it is a mean, not a deviation.
  if (weights_ == Weights::kFilled)
    return tensor(sizes, 0.5 / static_cast<double>(fan_in), 1.0 / static_cast<double>(fan_in));
  return tensor(sizes, -bound, bound);
}

std::string ModelBuilder::vector(const Sizes& sizes, double low, double high) { return tensor(sizes, low, high); }

std::string ModelBuilder::scalar(float value) {
  auto& tensor = *graph_.add_initializer();
  tensor.set_name(fresh("scalar"));
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_float_data(value);
  return tensor.name();
}

std::string ModelBuilder::integers(const Sizes& values) {
  auto& tensor = *graph_.add_initializer();
  tensor.set_name(fresh("integers"));
  tensor.set_data_type(TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return tensor.name();
}

std::vector<std::string> ModelBuilder::nodes(const std::string& type, const std::vector<std::string>& inputs,
                                             int outputs) {
  auto& node = *graph_.add_node();
  node.set_op_type(type);
  node.set_name(fresh(type));
  for (const std::string& name : inputs) node.add_input(name);
  for (int i = 0; i < outputs; ++i) node.add_output(node.name() + "_out" + (i == 0 ? "" : std::to_string(i)));
  return {node.output().begin(), node.output().end()};
}

std::string ModelBuilder::node(const std::string& type, const std::vector<std::string>& inputs) {
  return nodes(type, inputs, 1).front();
}

void ModelBuilder::set(const std::string& name, std::int64_t value) {
  auto& attribute = *graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(value);
}

void ModelBuilder::set(const std::string& name, float value) {
  auto& attribute = *graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::FLOAT);
  attribute.set_f(value);
}

void ModelBuilder::set(const std::string& name, const Sizes& values) {
  auto& attribute = *graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

std::string ModelBuilder::conv(const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                               std::int64_t stride, std::int64_t pad) {
  return conv(x, in, out, {{kernel, kernel}, {stride, stride}, {pad, pad}, 1});
}

std::string ModelBuilder::convolution(std::vector<std::string> operands, std::int64_t in, std::int64_t out,
                                      const Convolution& how) {
  const std::int64_t per_group = in / how.groups;
  operands.insert(operands.begin() + 1,
                  weight({out, per_group, how.kernel[0], how.kernel[1]}, per_group * how.kernel[0] * how.kernel[1]));
  const std::string y = node("Conv", operands);
  set("kernel_shape", how.kernel);
  set("strides", how.strides);
  set("pads", Sizes{how.pads[0], how.pads[1], how.pads[0], how.pads[1]});
  if (how.groups != 1) set("group", how.groups);
  return y;
}

std::string ModelBuilder::conv(const std::string& x, std::int64_t in, std::int64_t out, const Convolution& how) {
  return convolution({x}, in, out, how);
}

std::string ModelBuilder::conv_with_bias(const std::string& x, std::int64_t in, std::int64_t out,
                                         const Convolution& how) {
  return convolution({x, vector({out}, -0.1, 0.1)}, in, out, how);
}

std::string ModelBuilder::bias(const std::string& x, std::int64_t channels) {
  return add(x, vector({1, channels, 1, 1}, -0.1, 0.1));
}

std::string ModelBuilder::batch_norm(const std::string& x, std::int64_t channels, float epsilon) {
  const std::string y = node("BatchNormalization", {x, vector({channels}, 0.5, 1.5), vector({channels}, -0.1, 0.1),
                                                    vector({channels}, -0.1, 0.1), vector({channels}, 0.5, 1.5)});
  set("epsilon", epsilon);
  return y;
}

std::string ModelBuilder::conv_bn(const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                                  std::int64_t stride, std::int64_t groups) {
  const std::int64_t pad = kernel / 2;
  return batch_norm(conv(x, in, out, {{kernel, kernel}, {stride, stride}, {pad, pad}, groups}), out);
}

std::string ModelBuilder::max_pool(const std::string& x, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  const std::string y = node("MaxPool", {x});
  set("kernel_shape", Sizes{kernel, kernel});
  set("strides", Sizes{stride, stride});
  set("pads", Sizes{pad, pad, pad, pad});
  return y;
}

std::string ModelBuilder::average_pool(const std::string& x, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                                       bool count_zeros) {
  const std::string y = node("AveragePool", {x});
  set("kernel_shape", Sizes{kernel, kernel});
  set("strides", Sizes{stride, stride});
  set("pads", Sizes{pad, pad, pad, pad});
  set("count_include_pad", std::int64_t{count_zeros ? 1 : 0});
  return y;
}

std::string ModelBuilder::concat(const std::vector<std::string>& parts, std::int64_t axis) {
  const std::string y = node("Concat", parts);
  set("axis", axis);
  return y;
}

std::string ModelBuilder::softmax(const std::string& x) {
  const std::string y = node("Softmax", {x});
  set("axis", std::int64_t{-1});
  return y;
}

std::string ModelBuilder::linear(const std::string& x, std::int64_t in, std::int64_t out, double gain) {
  return matmul(x, weight({in, out}, in, gain));
}

std::string ModelBuilder::transpose(const std::string& x, const Sizes& axes) {
  const std::string y = node("Transpose", {x});
  set("perm", axes);
  return y;
}

std::string ModelBuilder::pooled(const std::string& x) {
  const std::string y = node("GlobalAveragePool", {x});
  const std::string flat = node("Flatten", {y});
  set("axis", std::int64_t{1});
  return flat;
}

std::string ModelBuilder::finish(const std::vector<std::string>& outputs) {
  for (const std::string& name : outputs) {
    auto& value = *graph_.add_output();
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  }
  ::onnx::ModelProto inferred = model_;
  ::onnx::shape_inference::InferShapes(inferred, ::onnx::OpSchemaRegistry::Instance(), {true, 1, true});
  *graph_.mutable_output() = inferred.graph().output();
  for (const auto& output : graph_.output()) {
    for (const auto& dim : output.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value()) throw std::runtime_error(graph_.name() + ": " + output.name() + " has no known size");
    }
  }
  ::onnx::checker::check_model(model_);
  return model_.SerializeAsString();
}

}  // namespace models
