// Nodes in the form of another opset compute the same in ONNX Runtime, one operator at a time, there and back.
#include "onnx/opset_convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <onnx/defs/parser.h>

#include <map>

#include "support.h"
#include "support/converted_model.h"

namespace rewright::onnx_test {
namespace {

using ::testing::HasSubstr;

/// "(inputs) => (outputs) <constants> { nodes }" in ONNX's text form.
Model read_model(std::int64_t opset, const std::string& text) {
  Model model = make_model(static_cast<int>(opset));
  ::onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(*model.mutable_graph());
  if (!status.IsOK()) fail(fmt::format("{}: {}", status.ErrorMessage(), text));
  return model;
}

Result<std::vector<RuntimeTensor>> outputs_of(const Model& model) {
  std::vector<RuntimeTensor> inputs;
  unsigned seed = 7;
  for (const auto& input : model.graph().input()) {
    const auto type = model::static_type(input.type());
    if (!type) return make_error(ErrorCode::kUnsupported, "input {} has an open size", input.name());
    inputs.push_back(random_tensor(input.name(), *type, seed++));
  }
  return run(model.SerializeAsString(), inputs);
}

struct Case {
  std::int64_t from;
  std::vector<std::int64_t> to;
  std::string graph;
  double tolerance = 0;  ///< 0: bit by bit.
};

std::string compared(const std::vector<RuntimeTensor>& expected, const Model& model, double tolerance) {
  const auto outputs = outputs_of(model);
  if (!outputs) return outputs.error().message;
  if (tolerance > 0) return difference(expected, *outputs, tolerance);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i].type != (*outputs)[i].type || expected[i].bytes != (*outputs)[i].bytes)
      return fmt::format("output {} is not the same bytes: {}", i, difference(expected, *outputs, 1e-5));
  return {};
}

/// Each graph under its own opset, and in the forms of others; and from there back, where that can be said.
void check(const std::vector<Case>& cases) {
  REQUIRE_RUNTIME();
  int there = 0, back = 0;
  for (const Case& example : cases) {
    const Model original = read_model(example.from, example.graph);
    const auto expected = outputs_of(original);
    if (!expected) {
      ADD_FAILURE() << example.graph << "\nopset " << example.from << " itself: " << expected.error().message;
      continue;
    }
    for (const std::int64_t to : example.to) {
      const auto moved = converted(original, to);
      if (!moved) {
        ADD_FAILURE() << example.graph << "\n" << moved.error().message;
        continue;
      }
      ++there;
      EXPECT_EQ(compared(*expected, *moved, example.tolerance), "") << example.graph << "\nin opset " << to << ":\n"
                                                                    << moved->DebugString().substr(0, 2000);
      const auto returned = converted(*moved, example.from);
      if (!returned) continue;
      ++back;
      EXPECT_EQ(compared(*expected, *returned, example.tolerance), "")
          << example.graph << "\nback from opset " << to << ":\n"
          << returned->DebugString().substr(0, 2000);
    }
  }
  fmt::print("{} graphs: {} conversions there, {} back\n", cases.size(), there, back);
}

const std::vector<std::int64_t> kAll = {7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};

TEST(OpsetConvert, WhatOperatorsWrite) {
  check({
      {17, kAll, "g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add (x, b) }"},
      {17, kAll,
       "g (float[1,2,5,5] x) => (float[1,2,3,3] y) { y = AveragePool <kernel_shape = [3,3], strides = [2,2], pads = "
       "[1,1,1,1], count_include_pad = 1> (x) }",
       1e-6},
      {17, kAll,
       "g (float[1,2,3,3] x, float[2] s, float[2] b, float[2] m) => (float[1,2,3,3] y) <float[2] v = {1.5, 0.5}> { y = "
       "BatchNormalization <epsilon = 0.001> (x, s, b, m, v) }"},
      {17, kAll, "g (float[6] x) => (float[6] y) <float low = {-0.5}, float high = {1.0}> { y = Clip (x, low, high) }"},
      {17, kAll, "g (float[6] x) => (float[6] y) <float high = {1.0}> { y = Clip (x, , high) }"},
      {17, kAll, "g (float[2,3] x, float[2,4] z) => (float[2,7] y) { y = Concat <axis = 1> (x, z) }"},
      {17, kAll, "g (float[2,3] x, float[2,4] z) => (float[2,7] y) { y = Concat <axis = -1> (x, z) }"},
      {17, kAll,
       "g (float[1,2,5,5] x, float[4,2,3,3] w, float[4] b) => (float[1,4,5,5] y) { y = Conv <pads = [1,1,1,1]> (x, w, "
       "b) }"},
      {17, kAll, "g (float[1,3] x) => (float[2,4,3] y) <int64[3] to = {2,4,3}> { y = Expand (x, to) }"},
      {17, kAll, "g (float[4,3] x) => (float[2,3] y) <int64[2] at = {3,1}> { y = Gather <axis = 0> (x, at) }"},
      {17, kAll, "g (float[4,3] x) => (float[4,1] y) <int64[1] at = {-1}> { y = Gather <axis = -1> (x, at) }"},
      {17, kAll,
       "g (float[1,2,4,4] x) => (float[1,2,1,1] y, float[1,2,1,1] z) { y = GlobalAveragePool (x) z = GlobalMaxPool (x) "
       "}"},
      {17, kAll, "g (float[2,3] x) => (float[2,3] y) { y = Identity (x) }"},
      {17, kAll,
       "g (float[2,3,4] x, float[4] s, float[4] b) => (float[2,3,4] y) { y = LayerNormalization <axis = -1, epsilon = "
       "0.01> (x, s, b) }",
       1e-5},
      {17, kAll,
       "g (float[2,3,4] x, float[3,4] s) => (float[2,3,4] y, float[2,1,1] m, float[2,1,1] i) { y, m, i = "
       "LayerNormalization <axis = 1> (x, s) }",
       1e-4},
      {17, kAll, "g (float[2,3] x, float[3,4] w) => (float[2,4] y) { y = MatMul (x, w) }"},
      {17, kAll,
       "g (float[1,2,5,5] x) => (float[1,2,3,3] y) { y = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = "
       "[1,1,1,1]> (x) }"},
      {17,
       {10, 11, 12, 13, 18, 22, 24},
       "g (float[1,1,7,7] x) => (float[1,1,3,3] y) { y = MaxPool <kernel_shape = [3,3], dilations = [2,2]> (x) }"},
      {17, kAll, "g (float[2,3] x, float[2,3] z) => (float[2,3] y) { p = Mul (x, z) q = Sub (p, z) y = Div (q, x) }"},
      {17, kAll,
       "g (float[2,3] x) => (float[4,4] y) <int64[4] pads = {1,0,1,1}, float v = {2.5}> { y = Pad (x, pads, v) }"},
      {17, kAll, "g (float[2,3] x) => (float[4,4] y) <int64[4] pads = {1,0,1,1}> { y = Pad (x, pads) }"},
      {17, kAll,
       "g (float[2,5] x) => (float[2,8] y) <int64[4] pads = {0,2,0,1}> { y = Pad <mode = \"reflect\"> (x, pads) }"},
      {17, kAll,
       "g (float[2,3] x) => (float[2,3] y, float[2,3] z) <float e = {2.0}> { y = Pow (x, e) z = Reciprocal (x) }"},
      {17, kAll,
       "g (float[2,3,4] x) => (float[2,1,4] y, float[2,4] z) <int64[1] a = {1}, int64[1] b = {-2}> { y = ReduceSum (x, "
       "a) z = ReduceSum <keepdims = 0> (x, b) }"},
      {17, kAll, "g (float[2,3,4] x) => (float[1,1,1] y) { y = ReduceSum (x) }"},
      {17, kAll, "g (float[2,3,4] x) => (float[2,3,4] y) { y = ReduceSum <noop_with_empty_axes = 1> (x) }"},
      {17, kAll,
       "g (float[2,3,4] x) => (float[2,1,4] y, float[2,3,1] z) { y = ReduceMean <axes = [1]> (x) z = ReduceMax <axes = "
       "[-1]> (x) }"},
      {17, kAll,
       "g (float[2,3,4] x) => (float[1,1,1] y, float[2,4] z) { y = ReduceMin (x) z = ReduceL2 <axes = [1], keepdims = "
       "0> (x) }"},
      {17, kAll, "g (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Relu (x) z = Sigmoid (x) }"},
      {17, kAll, "g (float[2,6] x) => (float[3,4] y) <int64[2] to = {3,-1}> { y = Reshape (x, to) }"},
      {17, kAll, "g (float[2,6] x) => (float[3,4] y) <int64[2] to = {3,4}> { y = Reshape <allowzero = 1> (x, to) }"},
      {17, kAll,
       "g (float[4,6] x) => (float[2,3] y) <int64[2] s = {1,2}, int64[2] e = {3,5}, int64[2] a = {0,-1}, int64[2] by = "
       "{1,1}> { y = Slice (x, s, e, a, by) }"},
      {17,
       {10, 11, 13, 18, 24},
       "g (float[4,6] x) => (float[4,3] y) <int64[1] s = {-1}, int64[1] e = {-100}, int64[1] a = {1}, int64[1] by = "
       "{-2}> { y = Slice (x, s, e, a, by) }"},
      {17, kAll,
       "g (float[4,3] x) => (float[1,3] y, float[3,3] z) <int64[2] sizes = {1,3}> { y, z = Split <axis = 0> (x, sizes) "
       "}"},
      {17, kAll, "g (float[4,3] x) => (float[2,3] y, float[2,3] z) { y, z = Split <axis = -2> (x) }"},
      {17, kAll, "g (float[4,3] x) => (float[3,4] y) { y = Transpose <perm = [1,0]> (x) }"},
      {17, kAll,
       "g (float[2,3,4] x) => (float[2,3,4] y, float[2,3,4] z) { y = Softmax (x) z = LogSoftmax <axis = 2> (x) }"},
      {17, kAll,
       "g (float[2,3,4] x) => (float[2,3,4] y, float[2,3,4] z) { y = Softmax <axis = 1> (x) z = LogSoftmax <axis = 0> "
       "(x) }"},
      {17, {9, 10, 12, 13, 18, 24}, "g (float[2,3] x) => (float[2,3] y) { y = Erf (x) }"},
      {17, kAll,
       "g (float[2,3] x, float[3,4] w, float[4] b) => (float[2,4] y, float[2,4] z) { y = Gemm (x, w, b) z = Gemm (x, "
       "w) }"},
      {17, kAll,
       "g (float[2,3] x) => (float[2,3] y) <int64[2] to = {2,3}> { c = ConstantOfShape <value = float[1] {1.5}> (to) y "
       "= Add (x, c) }"},
      {17, kAll, "g (float[2,3] x, float[3] z) => (float[2,3] y, float[2,3] w) { y = Max (x, z) w = Min (x, z) }"},
      {17, kAll, "g (float[2,3] x, float[3] z, float[2,1] u) => (float[2,3] y) { y = Sum (x, z, u) }"},
      {17, kAll,
       "g (float[2,3] x) => (float[2,3] a, float[2,3] b, float[2,3] c, float[2,3] d) { a = Elu (x) b = Tanh (x) c = "
       "LeakyRelu (x) d = Softplus (x) }"},
  });
}

TEST(OpsetConvert, WhatExportersOfOlderOpsetsWrote) {
  check({
      {9, {10, 11, 13, 17, 18, 24}, "g (float[4] x) => (float[4] y) { y = Clip <min = -0.5, max = 0.5> (x) }"},
      {9, {10, 13, 17, 18, 24}, "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax (x) }"},
      {9, {10, 13, 17, 18, 24}, "g (float[2,3,4] x) => (float[2,3,4] y) { y = LogSoftmax <axis = 0> (x) }"},
      {12, {13, 17, 18, 24}, "g (float[2,3,4] x) => (float[2,3,4] y) { y = Hardmax <axis = 1> (x) }"},
      {9,
       {10, 13, 17, 24},
       "g (float[2,3,4] x) => (float[2,1,2] y) { y = Slice <starts = [1,-3], ends = [2,-1], axes = [1,2]> (x) }"},
      {9, {10, 11, 13, 17, 24}, "g (float[2,6] x) => (float[2,2] v, int64[2,2] i) { v, i = TopK <k = 2> (x) }"},
      {7,
       {9, 11, 13, 17, 18, 24},
       "g (float[2,3] x) => (float[2,6] y) { y = Pad <mode = \"constant\", pads = [0,1,0,2], value = 1.5> (x) }"},
      {7,
       {8, 9, 10, 11, 13, 18, 24},
       "g (float[1,1,2,2] x) => (float[1,1,4,6] y) { y = Upsample <mode = \"nearest\", scales = [1.0,1.0,2.0,3.0]> (x) "
       "}"},
      {7,
       {9, 10, 11, 13, 18, 24},
       "g (float[1,1,2,2] x) => (float[1,1,4,6] y) { y = Upsample <mode = \"linear\", scales = [1.0,1.0,2.0,3.0]> (x) "
       "}",
       1e-6},
      {10,
       {11, 13, 18, 24},
       "g (float[1,1,4,6] x) => (float[1,1,2,3] y) <float[4] s = {1.0,1.0,0.5,0.5}> { y = Resize <mode = \"nearest\"> "
       "(x, s) }"},
      {11,
       {13, 17, 18, 24},
       "g (float[1,1,4,6] x) => (float[1,1,8,9] y) <float[0] r = {}, float[0] s = {}, int64[4] n = {1,1,8,9}> { y = "
       "Resize <mode = \"linear\", coordinate_transformation_mode = \"align_corners\"> (x, r, s, n) }",
       1e-6},
      {13,
       {11, 17, 18, 24},
       "g (float[1,1,4,6] x) => (float[1,1,8,9] y) <float[4] s = {1.0,1.0,2.0,1.5}> { y = Resize <mode = \"cubic\"> "
       "(x, , s) }",
       1e-6},
      {9, {10, 12, 13, 17, 22, 24}, "g (float[2,3] x) => (float[2,3] y) { y = Dropout <ratio = 0.3> (x) }"},
      {8,
       {9, 14, 15, 17, 24},
       "g (float[1,2,3] x, float[2] s, float[2] b, float[2] m) => (float[1,2,3] y) <float[2] v = {1.5, 0.5}> { y = "
       "BatchNormalization <spatial = 1> (x, s, b, m, v) }"},
      {11,
       {13, 17, 24},
       "g (float[1,2,1] x) => (float[2] y, float[2,1,1] z) { y = Squeeze <axes = [0,2]> (x) z = Unsqueeze <axes = "
       "[1,-1]> (y) }"},
      {11,
       {13, 17, 18, 24},
       "g (float[4,3] x) => (float[1,3] a, float[3,3] b) { a, b = Split <split = [1,3], axis = 0> (x) }"},
      {11,
       {13, 17, 18, 24},
       "g (float[2,3,4] x) => (float[2,4] a, float[1,1,1] b, float[2,3,1] c) { a = ReduceSum <axes = [1], keepdims = "
       "0> (x) b = ReduceProd (x) c = ReduceLogSumExp <axes = [-1]> (x) }",
       1e-6},
      {9,
       {11, 13, 16, 17, 18, 24},
       "g (float[3,2] x, float[1,2] u) => (float[3,2] y) <int64[1,2] at = {2,0}> { y = Scatter <axis = 0> (x, at, u) "
       "}"},
      {10,
       {13, 17, 19, 21, 23, 24},
       "g (float[2,3] x) => (float[2,3] y) <float s = {0.1}, uint8 z = {128}> { q = QuantizeLinear (x, s, z) y = "
       "DequantizeLinear (q, s, z) }"},
      {12,
       {11, 10, 13, 14, 24},
       "g (float[2,3] x) => (float[2,3] y) { c = Constant <value_float = 2.0> () y = Mul (x, c) }"},
      {12, {11, 9, 13, 16, 24}, "g (float[2,3] x, float[2,3] z) => (bool[2,3] y) { y = Greater (x, z) }"},
      {12,
       {11, 13, 16, 24},
       "g (float[2,3] x, float[2,3] z) => (bool[2,3] y, bool[2,3] w) { y = GreaterOrEqual (x, z) w = LessOrEqual (x, "
       "z) }"},
      {12, {11, 7, 13, 24}, "g (float[2,3] x) => (float[2,3] y) { y = Celu <alpha = 0.5> (x) }", 1e-6},
      {14, {13, 9, 7, 17, 22}, "g (float[2,3] x) => (float[2,3] y) { y = HardSwish (x) }", 1e-6},
      {15, {14, 13, 11, 10, 17, 24}, "g (float[2,3,4] x) => (int64[2] y) { y = Shape <start = 1> (x) }"},
      {15, {14, 13, 17, 24}, "g (float[2,3,4] x) => (int64[1] y) { y = Shape <start = -3, end = -2> (x) }"},
      {16,
       {17, 20, 24},
       "g (float[1,1,4,4] x, float[1,2,2,2] at) => (float[1,1,2,2] y) { y = GridSample <mode = \"bilinear\", "
       "padding_mode = \"border\"> (x, at) }",
       1e-6},
      {17, {20, 24}, "g (float[1,4,1] x) => (float[1,4,2] y) { y = DFT <axis = 1> (x) }", 1e-5},
      {17, {20, 24}, "g (float[1,4,2,1] x) => (float[1,4,2,2] y) { y = DFT <axis = 2> (x) }", 1e-5},
      {12, {11, 13, 17, 24}, "g (float[2,3] x) => (int64[1,3] y) { y = ArgMax <axis = 0> (x) }"},
      {11, {10, 9, 13}, "g (float[2,3] x) => (int64[2,1] y) { y = ArgMax <axis = -1> (x) }"},
      {13, {7, 24}, "g (float[2,3] x) => (float[2,3] y, int64[2,3] z) { z = Cast <to = 7> (x) y = Cast <to = 1> (z) }"},
  });
}

TEST(OpsetConvert, WhatNewerExportersWrite) {
  check({
      {18, {17, 13, 11, 24}, "g (float[5,3] x) => (float[3,3] y, float[2,3] z) { y, z = Split <num_outputs = 2> (x) }"},
      {18,
       {17, 13, 11, 24},
       "g (float[2,3] x) => (float[2,6] y) <int64[2] p = {1,2}, int64[1] a = {-1}> { y = Pad (x, p, , a) }"},
      {18,
       {17, 13, 24},
       "g (float[1,1,2,3] x) => (float[1,1,4,6] y) <float[2] s = {2.0,2.0}> { y = Resize <axes = [2,3], mode = "
       "\"nearest\"> (x, , s) }"},
      {18,
       {17, 13, 24},
       "g (float[1,1,2,3] x) => (float[1,1,4,5] y) <int64[2] s = {4,5}> { y = Resize <axes = [-2,-1], mode = "
       "\"linear\"> (x, , , s) }",
       1e-6},
      {18,
       {17, 11, 24},
       "g (float[2,3,4] x) => (float[2,3] y, float[1,1,1] z) <int64[1] a = {-1}> { y = ReduceMean <keepdims = 0> (x, "
       "a) z = ReduceMax (x) }"},
      {18, {17, 7, 24}, "g (float[2,3] x) => (float[2,3] y) { y = Mish (x) }", 1e-5},
      {18,
       {17, 21, 7},
       "g (float[2,4,3] x, float[2] s, float[2] b) => (float[2,4,3] y) { y = GroupNormalization <num_groups = 2> (x, "
       "s, b) }",
       1e-5},
      {20, {19, 17, 13, 9, 24}, "g (float[2,3] x) => (float[2,3] y) { y = Gelu (x) }", 1e-6},
      {20, {19, 17, 13, 7, 24}, "g (float[2,3] x) => (float[2,3] y) { y = Gelu <approximate = \"tanh\"> (x) }", 1e-5},
      {20, {17}, "g (float[1,4,3,1] x) => (float[1,4,3,2] y) { y = DFT (x) }", 1e-5},
      {20,
       {16, 24},
       "g (float[1,1,4,4] x, float[1,2,2,2] at) => (float[1,1,2,2] y) { y = GridSample <mode = \"cubic\"> (x, at) }",
       1e-5},
      {21,
       {20, 17, 7, 24},
       "g (float[2,4,3] x, float[4] s, float[4] b) => (float[2,4,3] y) { y = GroupNormalization <num_groups = 2> (x, "
       "s, b) }",
       1e-5},
      {21,
       {19, 13, 10},
       "g (float[2,3] x) => (float[2,3] y) <float s = {0.1}> { q = QuantizeLinear <output_dtype = 2> (x, s) y = "
       "DequantizeLinear (q, s) }"},
      {23,
       {22, 17, 11, 7, 24},
       "g (float[2,3,4] x, float[4] s) => (float[2,3,4] y) { y = RMSNormalization <axis = -1> (x, s) }",
       1e-5},
      {24, {23, 17, 7}, "g (float[2,3] x) => (float[2,3] y) { y = Swish <alpha = 0.5> (x) }", 1e-5},
  });
}

TEST(OpsetConvert, GraphsInsideAreConvertedToo) {
  check({
      {11,
       {13, 17, 18, 24},
       "g (float[4,3] x, bool c) => (float[4,3] y) { y = If <then_branch = t () => (float[4,3] a) { a1, a2 = Split "
       "<split = [1,3]> (x) a = Concat <axis = 0> (a2, a1) }, else_branch = e () => (float[4,3] a) { a1 = Clip (x) a = "
       "Softmax <axis = 0> (a1) }> (c) }"},
      {17,
       {13, 11, 9, 18, 24},
       "g (float[4,3] x, bool c) => (float[4,3] y) <int64[2] n = {1,3}> { y = If <then_branch = t () => (float[4,3] a) "
       "{ a1, a2 = Split (x, n) a = Concat <axis = 0> (a2, a1) }, else_branch = e () => (float[4,3] a) { a = Neg (x) "
       "}> (c) }"},
  });
}

struct Refusal {
  std::int64_t from, to;
  std::string graph;
  std::string sentence;
};

TEST(OpsetConvert, WhatCannotBeSaidIsRefusedWithItsReason) {
  const std::vector<Refusal> refusals = {
      {17, 12, "g (float[4,3] x, int64[2] n) => (float[1,3] y, float[3,3] z) { y, z = Split (x, n) }",
       "node 'y' (Split): opset 12 wants its split as numbers in the model, and 'n' is computed when the model runs"},
      {17, 9,
       "g (float[1,1,4,4] x) => (float[1,1,2,2] y) { y = MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = "
       "1> (x) }",
       "opset 9 has no attribute 'ceil_mode' for it"},
      {17, 8, "g (float[2] x) => (float[2] y) { y = Erf (x) }", "ONNX has this operator since opset 9 only"},
      {17, 8, "g (int64[2] x, int64[2] z) => (bool[2] y) { y = LessOrEqual (x, z) }",
       "node 'y' (LessOrEqual): opset 8 does not take tensor(int64) for it"},
      {17, 8, "g (int64[2] x) => (int64[2] y) { y = Relu (x) }", "opset 8 does not take tensor(int64) for it"},
      {17, 13, "g (float[2,0] x, int64[2] s) => (float[0,2] y) { y = Reshape <allowzero = 1> (x, s) }",
       "opset 13 reads a size 0 as that of the input"},
      {8, 9,
       "g (float[1,2,3] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2,3] y) { y = "
       "BatchNormalization <spatial = 0> (x, s, b, m, v) }",
       "spatial = 0"},
      {19, 18, "g (float[2,3] x) => (float[2,5] y) <int64[4] p = {0,1,0,1}> { y = Pad <mode = \"wrap\"> (x, p) }",
       "opset 18 does not know mode = 'wrap'"},
      {22, 21, "g (bfloat16[2] x) => (bfloat16[2] y) { y = Sin (x) }", "opset 21 does not have element type 16 for it"},
      {17, 24, "g (float[2] x) => (float[2] y) { y = Reul (x) }", "what opset 24 makes of it is not known"},
      {24, 25, "g (float[2] x) => (float[2] y) { y = Relu (x) }", "opset 25 is newer than those known here (up to 24)"},
      {17, 11, "g (double[2] x) => (double[2] y) <double m = {1.0e50}> { y = Clip (x, , m) }", ""},
  };
  for (const Refusal& refusal : refusals) {
    const auto result = converted(read_model(refusal.from, refusal.graph), refusal.to);
    if (refusal.sentence.empty()) {
      EXPECT_TRUE(result) << result.error().message;
      continue;
    }
    ASSERT_FALSE(result) << refusal.graph;
    EXPECT_THAT(result.error().message, HasSubstr(refusal.sentence)) << refusal.graph;
  }
}

/// All nodes of the graph in the form of `opset`.
std::vector<model::WrittenNode> written(const Model& model, std::int64_t opset) {
  std::vector<model::WrittenNode> nodes;
  for (const auto& node : model.graph().node()) nodes.push_back({node, opset});
  return nodes;
}

TEST(OneOpset, IsTheModelsOwnWhereOurNodesCanBeSaidThere) {
  const Model model = read_model(11, "g (float[4,3] x) => (float[3,3] z) <int64[2] n = {1,3}> { y, z = Split (x, n) }");
  ModelFacts facts(model);
  std::vector<model::TensorProto> added;
  auto nodes = written(model, 17);
  nodes.push_back({read_model(11, "g (float[3,3] z) => (float[3,3] w) { w = Hardmax (z) }").graph().node(0), 11});
  const auto result = model::to_one_opset(nodes, 11, facts.context(added));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->opset, 11);
  ASSERT_EQ(result->nodes.size(), 2u);
  EXPECT_EQ(result->nodes[0].input_size(), 1) << "sizes are an attribute";
  EXPECT_EQ(result->nodes[1].SerializeAsString(), nodes[1].node.SerializeAsString()) << "not touched";
  EXPECT_TRUE(added.empty());
}

TEST(OneOpset, IsRaisedAsLittleAsPossibleAndAllNodesWithIt) {
  const Model model = read_model(17, "g (float[4] x) => (float[4] y) { y = Erf (x) }");
  ModelFacts facts(model);
  std::vector<model::TensorProto> added;
  auto nodes = written(model, 17);
  nodes.push_back(
      {read_model(7, "g (float[4] y) => (float[4] w) { w = Dropout <ratio = 0.2> (y) }").graph().node(0), 7});
  const auto result = model::to_one_opset(nodes, 7, facts.context(added));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->opset, 9);
}

TEST(OneOpset, OfALaterModelThanThoseKnownKeepsItsNodes) {
  const Model model = read_model(17, "g (float[4,3] x) => (float[2,3] y, float[2,3] z) { y, z = Split (x) }");
  ModelFacts facts(model);
  std::vector<model::TensorProto> added;
  auto nodes = written(model, 17);
  nodes.push_back({read_model(26, "g (float[2,3] y) => (float[2,3] w) { w = Whatever (y) }").graph().node(0), 26});
  const auto result = model::to_one_opset(nodes, 26, facts.context(added));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->opset, 26);
  EXPECT_EQ(result->nodes[0].attribute(0).name(), "num_outputs") << "the form of 24";
}

TEST(OneOpset, NamesTheNodesThatHaveNone) {
  const Model model = read_model(11, "g (float[4,3] x, int64[2] n) => (float[3,3] z) { y, z = Split (x, n) }");
  ModelFacts facts(model);
  std::vector<model::TensorProto> added;
  auto nodes = written(model, 17);
  nodes.push_back(
      {read_model(8, "g (float[3,3] z) => (float[3,3] w) { w = Scan <num_scan_inputs = 1> (z) }").graph().node(0), 8});
  const auto result = model::to_one_opset(nodes, 8, facts.context(added));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no opset from 8 to 24 can say every node"));
  EXPECT_THAT(result.error().message, HasSubstr("(Split)"));
  EXPECT_THAT(result.error().message, HasSubstr("(Scan)"));
  EXPECT_TRUE(added.empty()) << "nothing is added where it fails";
}

}  // namespace
}  // namespace rewright::onnx_test
