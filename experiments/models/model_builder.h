// Writes ONNX models node by node: opset 17, float32, every size known.
//
// Tensors are known by name. Weights are drawn from a generator seeded by the model's name, uniform with variance
// gain / fan_in (He et al., ICCV'15), so that activations keep their scale through many layers; or, for models whose
// files should stay small, they are one such number repeated (ConstantOfShape).
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace models {

using Sizes = std::vector<std::int64_t>;

enum class Weights {
  kRandom,  ///< Every value of its own: equality of two models means something.
  kFilled,  ///< One value per tensor: a model of 100 MB is a file of 50 kB.
};

class ModelBuilder {
 public:
  ModelBuilder(std::string name, Weights weights, std::string documentation);

  std::string input(const std::string& name, const Sizes& sizes);
  /// `fan_in`: how many products are added up in an element of what it is used for.
  std::string weight(const Sizes& sizes, std::int64_t fan_in, double gain = 2);
  std::string vector(const Sizes& sizes, double low, double high);
  std::string scalar(float value);
  std::string integers(const Sizes& values);
  /// Written out, whatever the weights are.
  std::string values(const Sizes& sizes, const std::vector<float>& values);

  std::string node(const std::string& type, const std::vector<std::string>& inputs);
  std::vector<std::string> nodes(const std::string& type, const std::vector<std::string>& inputs, int outputs);
  // Attributes of the node made last.
  void set(const std::string& name, std::int64_t value);
  void set(const std::string& name, float value);
  void set(const std::string& name, const Sizes& values);

  // Layers.
  std::string relu(const std::string& x) { return node("Relu", {x}); }
  std::string add(const std::string& x, const std::string& y) { return node("Add", {x, y}); }
  std::string mul(const std::string& x, const std::string& y) { return node("Mul", {x, y}); }
  std::string matmul(const std::string& x, const std::string& y) { return node("MatMul", {x, y}); }
  std::string sigmoid(const std::string& x) { return node("Sigmoid", {x}); }
  std::string tanh(const std::string& x) { return node("Tanh", {x}); }
  /// x [N, in, H, W]; a square kernel, zeros on all sides.
  std::string conv(const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t stride = 1, std::int64_t pad = 0);
  /// The general form: x [N, in, H, W] by a weight [out, in / groups, kernel]; zeros at top and bottom, left and right.
  struct Convolution {
    Sizes kernel = {1, 1};
    Sizes strides = {1, 1};
    Sizes pads = {0, 0};
    std::int64_t groups = 1;
  };
  std::string conv(const std::string& x, std::int64_t in, std::int64_t out, const Convolution& how);
  /// A convolution whose bias stands in the node itself, as exporters write what they folded.
  std::string conv_with_bias(const std::string& x, std::int64_t in, std::int64_t out, const Convolution& how);
  std::string bias(const std::string& x, std::int64_t channels);
  std::string batch_norm(const std::string& x, std::int64_t channels, float epsilon = 1e-5f);
  /// Convolution and batch normalisation; a square kernel with zeros on all sides that keep the size at stride 1.
  std::string conv_bn(const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                      std::int64_t stride = 1, std::int64_t groups = 1);
  std::string max_pool(const std::string& x, std::int64_t kernel, std::int64_t stride, std::int64_t pad = 0);
  /// The mean over a window; zeros around x count where `count_zeros`.
  std::string average_pool(const std::string& x, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                           bool count_zeros);
  std::string concat(const std::vector<std::string>& parts, std::int64_t axis);
  std::string softmax(const std::string& x);  ///< Along the last axis.
  /// x [S, in] -> [S, out].
  std::string linear(const std::string& x, std::int64_t in, std::int64_t out, double gain = 1);
  std::string reshape(const std::string& x, const Sizes& sizes) { return node("Reshape", {x, integers(sizes)}); }
  std::string transpose(const std::string& x, const Sizes& axes);
  /// The mean over H and W: [N, C, H, W] -> [N, C].
  std::string pooled(const std::string& x);

  /// Checks the model with ONNX's checker and strict shape inference; an output's shape is what inference says.
  /// Throws std::runtime_error.
  [[nodiscard]] std::string finish(const std::vector<std::string>& outputs);

 private:
  std::string fresh(const std::string& hint) { return hint + "_" + std::to_string(++count_); }
  double uniform(double low, double high);
  std::string convolution(std::vector<std::string> operands, std::int64_t in, std::int64_t out, const Convolution& how);
  std::string tensor(const Sizes& sizes, double low, double high);

  ::onnx::ModelProto model_;
  ::onnx::GraphProto& graph_;
  Weights weights_;
  std::mt19937_64 random_;
  int count_ = 0;
};

}  // namespace models
