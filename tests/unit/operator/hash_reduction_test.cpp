// What operators offer as short cuts to a hash, against the hash of what they mean.
#include <rewright/operator/hash_reduction.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/sum_of_products.h>

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "support/operators.h"

namespace rewright {
namespace {

using testing::loaded;

struct Case {
  std::string op;
  std::string params;
  Shape left, right;
};

std::vector<Field> random_elements(const Shape& shape, std::mt19937_64& random) {
  std::vector<Field> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i) elements.push_back(Field::from_residue(random() % Field::kPrime));
  return elements;
}

TEST(HashReduction, IsTheHashOfTheResult) {
  const std::vector<Case> cases = {
      {"ewadd", "", {2, 3}, {2, 3}},
      {"ewadd", "", {}, {}},
      {"ewmul", "", {2, 3, 4}, {2, 3, 4}},
      {"smul", "", {3, 2}, {}},
      {"matmul", "", {2, 3}, {3, 4}},
      {"matmul", "", {5, 2, 3}, {5, 3, 1}},
      {"matmul", "", {2, 3, 1, 4}, {2, 3, 4, 2}},
      {"concat", "[axis=0]", {2, 3}, {4, 3}},
      {"concat", "[axis=1]", {2, 3}, {2, 1}},
      {"concat", "[axis=3]", {1, 2, 3, 4}, {1, 2, 3, 2}},
      {"conv2d", "", {2, 4, 5, 6}, {3, 4, 3, 3}},
      {"conv2d", "[padding=valid]", {2, 2, 5, 6}, {3, 2, 2, 3}},
      {"conv2d", "[strides=[2, 3], groups=2]", {1, 4, 5, 7}, {6, 2, 3, 1}},
      {"conv2d", "[padding=explicit, pads=[2, 0, 1, 3], dilations=[2, 1]]", {1, 2, 5, 6}, {2, 2, 3, 2}},
  };
  const HashPoint point(7, 64);
  std::mt19937_64 random(5);
  for (const Case& each : cases) {
    const Operator* op = loaded().find<Operator>(each.op);
    ASSERT_NE(op, nullptr) << each.op;
    const auto* reduction = dynamic_cast<const HashReduction*>(op);
    ASSERT_NE(reduction, nullptr) << each.op;
    const auto parsed = parse_params(each.op, op->info().params, each.params);
    ASSERT_TRUE(parsed) << parsed.error().message;
    const Params params = *evaluate(*parsed, {});
    const std::vector<Shape> shapes = {each.left, each.right};
    const auto out_shape = op->infer(params, shapes);
    ASSERT_TRUE(out_shape) << out_shape.error().message;
    const std::vector<Field> left = random_elements(each.left, random), right = random_elements(each.right, random);
    std::vector<Field> out(static_cast<std::size_t>((*out_shape)[0].elements()));
    const std::vector<TensorView<const Field>> in = {{left.data(), each.left}, {right.data(), each.right}};
    const std::vector<TensorView<Field>> to = {{out.data(), (*out_shape)[0]}};
    op->evaluate(params, Inputs<Field>(in), Outputs<Field>(to));
    const std::size_t length = reduction->reduction_length(params, shapes);
    ASSERT_GT(length, 0U) << each.op << each.params;
    std::vector<Field> of_left(length), of_right(length);
    reduction->reduce(params, 0, shapes, in[0], point, of_left);
    reduction->reduce(params, 1, shapes, in[1], point, of_right);
    SumOfProducts<Field> sum;
    for (std::size_t k = 0; k < length; ++k) sum.add(of_left[k], of_right[k]);
    EXPECT_EQ(sum.value(), point.hash({out.data(), (*out_shape)[0]})) << each.op << each.params;
    // The hash is the sum of elements times weights.
    const std::vector<Field> weights = point.weights((*out_shape)[0]);
    SumOfProducts<Field> weighted;
    for (std::size_t i = 0; i < out.size(); ++i) weighted.add(out[i], weights[i]);
    EXPECT_EQ(weighted.value(), point.hash({out.data(), (*out_shape)[0]}));
  }
}

TEST(HashReduction, IsNotOfferedUnderAnActivation) {
  const Operator* op = loaded().find<Operator>("conv2d");
  const auto params = *evaluate(*parse_params("conv2d", op->info().params, "[activation=relu]"), {});
  const std::vector<Shape> shapes = {{1, 2, 3, 3}, {2, 2, 3, 3}};
  EXPECT_EQ(dynamic_cast<const HashReduction*>(op)->reduction_length(params, shapes), 0U);
}

TEST(HashReduction, EveryOperatorThatOffersItIsTestedHere) {
  const std::set<std::string> tested = {"ewadd", "ewmul", "smul", "matmul", "concat", "conv2d"};
  for (const Operator* op : loaded().all<Operator>()) {
    if (dynamic_cast<const HashReduction*>(op) == nullptr) continue;
    EXPECT_TRUE(tested.contains(op->name())) << op->name();
  }
}

}  // namespace
}  // namespace rewright
