// What every operator refuses, whatever its own shape rule says.
#include <gmock/gmock.h>

#include "support/operators.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;
using testing::operator_named;

std::string refusal(std::string_view call_text, const std::vector<Shape>& in) {
  const testing::Call call = testing::call(call_text);
  const auto shapes = call.op->infer(call.params, in);
  return shapes ? "no error" : shapes.error().message;
}

TEST(Infer, TakesAsManyParametersAndOperandsAsTheOperatorHas) {
  const std::vector<Shape> one = {{2, 3}}, two = {{2, 3}, {2, 3}};
  EXPECT_EQ(operator_named("relu").infer(Params({std::int64_t{1}}), one).error().message,
            "relu: takes 0 parameters, but was given 1");
  EXPECT_EQ(refusal("relu", two), "relu: takes 1 operands, but was given 2");
  EXPECT_EQ(refusal("relu", one), "no error");
}

TEST(Infer, RefusesRanksBeyondTheHighest) {
  const std::vector<std::int64_t> eight(8, 1), nine(9, 1);
  EXPECT_EQ(refusal("relu", {Shape(eight)}), "no error");
  EXPECT_EQ(refusal("relu", {Shape(nine)}), "relu: an operand of rank 9 was given; the highest rank is 8");
  EXPECT_THAT(refusal("reshape[sizes=[1, 1, 1, 1, 1, 1, 1, 1, 1]]", {Shape{1}}), HasSubstr("rank"));
  EXPECT_THAT(refusal("constant_one[sizes=[1, 1, 1, 1, 1, 1, 1, 1, 1]]", {}), HasSubstr("9 sizes, expected 8 at most"));
}

TEST(Infer, RefusesSizesThatNoTensorHas) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  EXPECT_EQ(refusal("relu", {Shape{kMost}}), "no error");
  EXPECT_THAT(refusal("relu", {Shape{kMost + 1}}), HasSubstr("no tensor has more than 2^40 elements"));
  const Shape column{1 << 21, 1}, row{1, 1 << 20};
  EXPECT_EQ(refusal("matmul", {column, row}), "matmul: the result would have more than 2^40 elements");
  EXPECT_EQ(refusal("matmul", {Shape{1 << 20, 1}, row}), "no error");
}

}  // namespace
}  // namespace rewright
