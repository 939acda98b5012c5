// The operators of real models: values worked out by hand, and the sentences with which they refuse.
#include <gmock/gmock.h>

#include <algorithm>
#include <initializer_list>

#include "support/operators.h"

namespace rewright::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string result(std::string_view call, std::initializer_list<std::string_view> operands) {
  std::vector<Tensor<Exact>> in;
  for (const std::string_view operand : operands) in.push_back(tensor(operand));
  return text_of(run(call, in));
}

/// Over the real numbers: for operators with functions that have no exact value.
std::vector<double> reals(std::string_view call, std::initializer_list<std::string_view> operands) {
  std::vector<Tensor<Real>> in;
  for (const std::string_view operand : operands) {
    const Tensor<Exact> exact = tensor(operand);
    Tensor<Real>& real = in.emplace_back(exact.shape());
    for (std::size_t i = 0; i < exact.values().size(); ++i)
      real.values()[i].value = static_cast<double>(exact.values()[i].numerator());
  }
  const std::vector<Tensor<Real>> out = run(call, in);
  std::vector<double> values;
  for (const Real& value : out[0].values()) values.push_back(value.value);
  return values;
}

auto near(double value) { return DoubleNear(value, 1e-12); }

std::string refusal(std::string_view text, std::vector<Shape> in) {
  const Call application = call(text);
  const auto out = application.op->infer(application.params, in);
  return out ? "accepted" : out.error().message;
}

TEST(Functions, AreThoseOfTheTextbook) {
  EXPECT_THAT(reals("exp", {"(3) 0 1 -1"}), ElementsAre(1, near(2.718281828459045), near(0.36787944117144233)));
  EXPECT_THAT(reals("log", {"(2) 1 2"}), ElementsAre(0, near(0.6931471805599453)));
  EXPECT_THAT(reals("sqrt", {"(3) 0 9 2"}), ElementsAre(0, 3, near(1.4142135623730951)));
  EXPECT_THAT(reals("tanh", {"(2) 0 1"}), ElementsAre(0, near(0.7615941559557649)));
  EXPECT_THAT(reals("sigmoid", {"(2) 0 2"}), ElementsAre(0.5, near(0.8807970779778823)));
  EXPECT_THAT(reals("erf", {"(3) 0 1 -1"}), ElementsAre(0, near(0.8427007929497149), near(-0.8427007929497149)));
  EXPECT_THAT(reals("softplus", {"(3) 0 1000 -1000"}), ElementsAre(near(0.6931471805599453), 1000, 0));
  EXPECT_THAT(reals("elu[alpha=2, gamma=3]", {"(3) 5 0 -1"}), ElementsAre(15, 0, near(-3.792723352971346)));
}

TEST(PiecewiseLinear, BendsWhereItSays) {
  EXPECT_EQ(result("neg", {"(3) 1 0 -2"}), "(3) -1 0 2");
  EXPECT_EQ(result("abs", {"(3) 1 0 -2"}), "(3) 1 0 2");
  EXPECT_EQ(result("leaky_relu[alpha=0.25]", {"(3) 8 0 -8"}), "(3) 8 0 -2");
  EXPECT_EQ(result("clip[low=0, high=6]", {"(4) -1 3 6 9"}), "(4) 0 3 6 6");
  EXPECT_EQ(result("clip[high=6]", {"(2) -100 100"}), "(2) -100 6");
  EXPECT_EQ(result("clip", {"(2) -100 100"}), "(2) -100 100");
  EXPECT_EQ(result("hard_sigmoid[alpha=0.25]", {"(4) -3 0 1 3"}), "(4) 0 1/2 3/4 1");
  EXPECT_EQ(result("prelu[stretch_right=[1]]", {"(2, 2) 4 -4 4 -4", "(2, 1) 2 3"}), "(2, 2) 4 -8 4 -12");
}

TEST(Power, MultipliesOrDivides) {
  EXPECT_EQ(result("power", {"(3) 2 -2 0"}), "(3) 8 -8 0");
  EXPECT_EQ(result("power[exponent=-2]", {"(2) 2 -3"}), "(2) 1/4 1/9");
  EXPECT_EQ(result("power[exponent=-1]", {"(2) 4 0"}), "(2) 1/4 undefined");
}

TEST(Broadcast, RepeatsAlongTheAxesNamedAndAlongLeadingOnes) {
  EXPECT_EQ(result("broadcast_add", {"(2, 2) 1 2 3 4", "(2) 10 20"}), "(2, 2) 11 22 13 24");
  EXPECT_EQ(result("broadcast_add[stretch_left=[1], stretch_right=[0]]", {"(2, 1) 1 2", "(1, 2) 10 20"}),
            "(2, 2) 11 21 12 22");
  EXPECT_EQ(result("broadcast_sub[stretch_right=[1]]", {"(2, 2) 1 2 3 4", "(2, 1) 1 3"}), "(2, 2) 0 1 0 1");
  EXPECT_EQ(result("broadcast_mul", {"(2) 3 4", "(2, 2) 1 2 3 4"}), "(2, 2) 3 8 9 16");
  EXPECT_EQ(result("broadcast_div", {"(2) 3 4", "() 6"}), "(2) 1/2 2/3");
  EXPECT_EQ(result("broadcast_max", {"(2) 3 -4", "() 0"}), "(2) 3 0");
  EXPECT_EQ(result("broadcast_min", {"(2) 3 -4", "() 0"}), "(2) 0 -4");
}

TEST(Broadcast, NeverRepeatsUnasked) {
  EXPECT_THAT(refusal("broadcast_add", {{2, 2}, {1, 2}}), HasSubstr("sizes along an axis that is not stretched"));
  EXPECT_THAT(refusal("broadcast_add[stretch_left=[0]]", {{2, 2}, {2, 2}}), HasSubstr("a stretched size"));
  EXPECT_THAT(refusal("broadcast_add[stretch_left=[0]]", {{2, 2}, {2}}), HasSubstr("axes that both operands have"));
  EXPECT_THAT(refusal("broadcast_add[stretch_left=[0], stretch_right=[0]]", {{1}, {1}}), HasSubstr("both sides"));
  EXPECT_THAT(refusal("broadcast_mul[stretch_left=[1, 0]]", {{1, 1}, {2, 2}}), HasSubstr("ascending"));
}

TEST(BiasAdd, AddsOneNumberPerIndexOfItsAxis) {
  EXPECT_EQ(result("bias_add", {"(1, 2, 2) 1 2 3 4", "(2) 10 20"}), "(1, 2, 2) 11 12 23 24");
  EXPECT_EQ(result("bias_add[axis=0]", {"(2, 2) 1 2 3 4", "(2) 10 20"}), "(2, 2) 11 12 23 24");
  EXPECT_THAT(refusal("bias_add", {{2, 3}, {2}}), HasSubstr("the axis and of the bias"));
  EXPECT_THAT(refusal("bias_add[axis=2]", {{2, 3}, {3}}), HasSubstr("no axis 2 in a tensor of rank 2"));
}

TEST(BroadcastMatmul, RepeatsBatches) {
  EXPECT_EQ(result("broadcast_matmul", {"(2, 1, 2) 1 2 3 4", "(2, 1) 10 1"}), "(2, 1, 1) 12 34");
  EXPECT_EQ(result("broadcast_matmul[stretch_left=[0]]", {"(1, 1, 2) 1 2", "(2, 2, 1) 1 0 0 1"}), "(2, 1, 1) 1 2");
  EXPECT_EQ(result("broadcast_matmul", {"(2, 1, 0)", "(0, 2)"}), "(2, 1, 2) 0 0 0 0");
  EXPECT_THAT(refusal("broadcast_matmul", {{2, 3}, {2, 3}}), HasSubstr("inner sizes"));
}

TEST(Normalisation, CentresAndScales) {  // Variance + epsilon is a square everywhere.
  EXPECT_THAT(reals("batch_norm[epsilon=1]", {"(1, 2, 2) 5 7 1 3", "(2) 4 1", "(2) 1 0", "(2) 3 2", "(2) 3 0"}),
              ElementsAre(5, 9, -1, 1));
  EXPECT_THAT(reals("layer_norm[epsilon=0]", {"(2, 2) 1 5 0 8", "(2) 1 2", "(2) 10 20"}), ElementsAre(9, 22, 9, 22));
  EXPECT_THAT(reals("layer_norm[axis=0, epsilon=0]", {"(2, 2) 0 4 4 0", "(2, 2) 1 1 1 1"}), ElementsAre(-1, 1, 1, -1));
  EXPECT_THAT(refusal("layer_norm", {{2, 3}, {2}}), HasSubstr("sizes of x, scale and bias"));
  EXPECT_THAT(refusal("batch_norm", {{2, 3}, {2}, {3}, {3}, {3}}), HasSubstr("axis 1 and of the vectors"));
}

TEST(Softmax, SumsToOneAlongItsAxisAndNeverOverflows) {
  EXPECT_THAT(reals("softmax[axis=1]", {"(2, 2) 0 0 5000 5000"}), ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(reals("softmax", {"(2, 1) 0 1"}), ElementsAre(near(0.2689414213699951), near(0.7310585786300049)));
  EXPECT_THAT(reals("log_softmax", {"(2) 0 5000"}), ElementsAre(-5000, 0));
}

TEST(Reduce, TakesAllElementsAlongItsAxes) {
  EXPECT_EQ(result("reduce_sum[axes=[1]]", {"(2, 3) 1 2 3 4 5 6"}), "(2, 1) 6 15");
  EXPECT_EQ(result("reduce_sum[axes=[0], keepdims=no]", {"(2, 3) 1 2 3 4 5 6"}), "(3) 5 7 9");
  EXPECT_EQ(result("reduce_sum[axes=[0, 2]]", {"(2, 2, 2) 1 2 3 4 5 6 7 8"}), "(1, 2, 1) 14 22");
  EXPECT_EQ(result("reduce_mean[axes=[0, 1], keepdims=no]", {"(2, 2) 1 2 3 4"}), "() 5/2");
  EXPECT_EQ(result("reduce_max[axes=[1]]", {"(2, 2) -3 -2 4 1"}), "(2, 1) -2 4");
  EXPECT_EQ(result("reduce_sum[axes=[0]]", {"(0, 2)"}), "(1, 2) 0 0");
  EXPECT_THAT(refusal("reduce_max[axes=[0]]", {{0, 2}}), HasSubstr("a reduced size"));
  EXPECT_THAT(refusal("reduce_sum[axes=[0, 0]]", {{2, 2}}), HasSubstr("ascending"));
}

TEST(Movement, KeepsElementsInOrder) {
  EXPECT_EQ(result("reshape[sizes=[3, 2]]", {"(2, 3) 1 2 3 4 5 6"}), "(3, 2) 1 2 3 4 5 6");
  EXPECT_EQ(result("expand[axes=[0, 2], sizes=[2, 2]]", {"(1, 2, 1) 1 2"}), "(2, 2, 2) 1 1 2 2 1 1 2 2");
  EXPECT_EQ(result("pad[before=[0, 1], after=[1, 0], value=7]", {"(1, 2) 1 2"}), "(2, 3) 7 1 2 7 7 7");
  EXPECT_EQ(result("slice[axes=[1], starts=[1], sizes=[2], steps=[2]]", {"(2, 4) 0 1 2 3 4 5 6 7"}), "(2, 2) 1 3 5 7");
  EXPECT_EQ(result("slice[axes=[0], starts=[2], sizes=[2], steps=[-2]]", {"(3) 1 2 3"}), "(2) 3 1");
  EXPECT_EQ(result("gather[axis=1, indices=[2, 0, 2]]", {"(2, 3) 1 2 3 4 5 6"}), "(2, 3) 3 1 3 6 4 6");
  EXPECT_THAT(refusal("reshape[sizes=[4]]", {{2, 3}}), HasSubstr("numbers of elements"));
  EXPECT_THAT(refusal("expand[axes=[0], sizes=[4]]", {{2, 3}}), HasSubstr("the size to repeat"));
  EXPECT_THAT(refusal("pad[before=[-1], after=[0]]", {{2}}), HasSubstr("one number >= 0"));
  EXPECT_THAT(refusal("slice[axes=[0], starts=[1], sizes=[2], steps=[2]]", {{3}}), HasSubstr("the last position"));
  EXPECT_THAT(refusal("slice[axes=[0], starts=[0], sizes=[2], steps=[-1]]", {{3}}), HasSubstr("the first position"));
  EXPECT_THAT(refusal("gather[indices=[2]]", {{2}}), HasSubstr("the greatest index"));
}

/// With 2^62 in the place of 4242: texts with such a size are not read.
std::string refusal_of_huge(std::string_view text, std::vector<Shape> in) {
  const Call application = call(text);
  std::vector<ParamValue> values;
  for (ParamValue value : application.params.values()) {
    const auto enlarge = [](std::vector<std::int64_t>& numbers) {
      std::ranges::replace(numbers, std::int64_t{4242}, std::int64_t{1} << 62);
    };
    if (auto* const numbers = std::get_if<std::vector<std::int64_t>>(&value)) enlarge(*numbers);
    if (auto* const sizes = std::get_if<SizeList<std::int64_t>>(&value)) enlarge(sizes->values);
    values.push_back(std::move(value));
  }
  const auto out = application.op->infer(Params(std::move(values)), in);
  return out ? "accepted" : out.error().message;
}

TEST(Movement, RefusesNumbersThatNoTensorHas) {
  EXPECT_THAT(refusal_of_huge("reshape[sizes=[4242, 4]]", {{2}}), HasSubstr("multiply to more than 2^62"));
  EXPECT_THAT(refusal_of_huge("slice[starts=[4242], sizes=[1]]", {{2}}), HasSubstr("lies beyond any tensor"));
  EXPECT_THAT(refusal("slice[sizes=[1099511627776], steps=[1099511627776]]", {{2}}), HasSubstr("lead beyond"));
  EXPECT_THAT(refusal_of_huge("pad[before=[4242], after=[0]]", {{2}}), HasSubstr("not above 2^41"));
  EXPECT_THAT(refusal_of_huge("gather[indices=[4242]]", {{2}}), HasSubstr("at most 2^41"));
  EXPECT_THAT(refusal_of_huge("split[sizes=[4242, 4242]]", {{4}}), HasSubstr("expected 0 to 2^40"));
}

}  // namespace
}  // namespace rewright::testing
