// Values worked out by hand, and the sentences with which operators refuse.
#include <gmock/gmock.h>

#include <initializer_list>

#include "support/operators.h"

namespace rewright::testing {
namespace {

std::string result(std::string_view call, std::initializer_list<std::string_view> operands) {
  std::vector<Tensor<Exact>> in;
  for (const std::string_view operand : operands) in.push_back(tensor(operand));
  return text_of(run(call, in));
}

std::string refusal(std::string_view text, std::vector<Shape> in) {
  const Call application = call(text);
  const auto out = application.op->infer(application.params, in);
  if (out) return "accepted";
  EXPECT_EQ(out.error().code, ErrorCode::kShape);
  return out.error().message;
}

TEST(Elementwise, AddsAndMultiplies) {
  EXPECT_EQ(result("ewadd", {"(2, 2) 1 2 3 4", "(2, 2) 10 20 30 40"}), "(2, 2) 11 22 33 44");
  EXPECT_EQ(result("ewmul", {"(2, 2) 1 2 3 4", "(2, 2) 10 20 30 -40"}), "(2, 2) 10 40 90 -160");
  EXPECT_EQ(result("ewadd", {"() 1", "() 2"}), "() 3");
  EXPECT_EQ(result("smul", {"(2) 1 -2", "() 3"}), "(2) 3 -6");
  EXPECT_EQ(result("relu", {"(3) -1 0 2"}), "(3) 0 0 2");
}

TEST(Elementwise, KeepsACutOnWhichBothOperandsAgree) {
  const CutDim one_two = join(CutDim(1), CutDim(2)), two_one = join(CutDim(2), CutDim(1));
  const auto sum = [](const CutDim& x, const CutDim& y) {
    const std::vector<CutShape> in = {CutShape{x}, CutShape{y}};
    return (*operator_named("ewadd").infer(Params(), std::span<const CutShape>(in)))[0][0];
  };
  EXPECT_EQ(sum(one_two, one_two), one_two);
  EXPECT_EQ(sum(one_two, two_one), CutDim(3));
  EXPECT_EQ(sum(one_two, CutDim(3)), CutDim(3));
}

TEST(Concat, JoinsAlongItsAxisAndKeepsTheCutsOfTheOthers) {
  const CutDim one_two = join(CutDim(1), CutDim(2));
  const std::vector<CutShape> in = {CutShape{4, one_two}, CutShape{5, one_two}, CutShape{6, CutDim(3)}};
  const Call concat = call("concat");
  const auto two = *concat.op->infer(concat.params, std::span<const CutShape>(in).first(2));
  EXPECT_EQ(two[0], (CutShape{join(CutDim(4), CutDim(5)), one_two}));
  const auto three = *concat.op->infer(concat.params, std::span<const CutShape>(in));
  EXPECT_EQ(three[0], (CutShape{join(join(CutDim(4), CutDim(5)), CutDim(6)), CutDim(3)}));
}

TEST(MatMul, IsRowsTimesColumns) {
  EXPECT_EQ(result("matmul", {"(2, 3) 1 2 3 4 5 6", "(3, 2) 1 0 0 1 2 -1"}), "(2, 2) 7 -1 16 -1");
}

TEST(MatMul, MultipliesEachBatchByItself) {
  EXPECT_EQ(result("matmul", {"(2, 1, 2) 1 2 5 6", "(2, 2, 1) 3 4 7 8"}), "(2, 1, 1) 11 83");
  EXPECT_EQ(result("matmul", {"(1, 2, 1, 2) 1 2 5 6", "(1, 2, 2, 1) 3 4 7 8"}), "(1, 2, 1, 1) 11 83");
}

TEST(MatMul, OfNothingIsZero) {
  EXPECT_EQ(result("matmul", {"(1, 0)", "(0, 2)"}), "(1, 2) 0 0");
  EXPECT_EQ(result("matmul", {"(1, 0)", "(0, 9)"}), "(1, 9) 0 0 0 0 0 0 0 0 0");
}

TEST(Transpose, TakesOutputAxisIFromPermI) {
  EXPECT_EQ(result("transpose", {"(2, 3) 1 2 3 4 5 6"}), "(3, 2) 1 4 2 5 3 6");
  EXPECT_EQ(result("transpose[perm=[2, 0, 1]]", {"(1, 2, 3) 1 2 3 4 5 6"}), "(3, 1, 2) 1 4 2 5 3 6");
}

TEST(Concat, PutsOperandsBehindEachOther) {
  EXPECT_EQ(result("concat", {"(1, 2) 1 2", "(2, 2) 3 4 5 6"}), "(3, 2) 1 2 3 4 5 6");
  EXPECT_EQ(result("concat[axis=1]", {"(2, 1) 1 2", "(2, 2) 3 4 5 6", "(2, 1) 7 8"}), "(2, 4) 1 3 4 7 2 5 6 8");
}

TEST(Split, CutsAtTheSizes) {
  EXPECT_EQ(result("split[axis=1, sizes=[1, 2]]", {"(2, 3) 1 2 3 4 5 6"}), "(2, 1) 1 4; (2, 2) 2 3 5 6");
  EXPECT_EQ(result("split[sizes=[1, 0, 1]]", {"(2) 1 2"}), "(1) 1; (0); (1) 2");
}

TEST(Split, OfAConcatenationRemembersTheCutsOfItsParts) {
  const Call split = call("split[sizes=[3, 4]]");
  const CutDim left = join(CutDim(1), CutDim(2));
  const std::vector<CutShape> in = {CutShape{join(left, CutDim(4))}};
  const auto parts = *split.op->infer(split.params, std::span<const CutShape>(in));
  EXPECT_EQ(parts[0][0], left);
  EXPECT_EQ(parts[1][0], CutDim(4));
  const auto others =
      *call("split[sizes=[2, 5]]").op->infer(call("split[sizes=[2, 5]]").params, std::span<const CutShape>(in));
  EXPECT_EQ(others[0][0], CutDim(2));
}

TEST(Split, TakesSymbolicSizes) {
  const auto n = SymbolicDim::variable(SizeVar::read("x.0")), m = SymbolicDim::variable(SizeVar::read("y.0"));
  const SymbolicParams params({std::int64_t{0}, SizeList<SymbolicDim>{{n, m}}});
  const std::vector<SymbolicShape> in = {SymbolicShape{SymbolicDim::variable(SizeVar::read("z.0"))}};
  Constraints<SymbolicDim> where;
  const auto out = operator_named("split").infer(params, in, where);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ((*out)[1], SymbolicShape{m});
  EXPECT_THAT(where.conditions(), ::testing::Contains(*Constraint::parse("x.0 + y.0 = z.0")));
}

TEST(Conv2d, IsACrossCorrelation) {
  EXPECT_EQ(result("conv2d[padding=valid]", {"(1, 1, 3, 3) 1 2 3 4 5 6 7 8 9", "(1, 1, 2, 2) 1 0 0 -1"}),
            "(1, 1, 2, 2) -4 -4 -4 -4");
}

TEST(Conv2d, SumsOverInputChannels) {
  EXPECT_EQ(result("conv2d", {"(1, 2, 1, 2) 1 2 10 20", "(2, 2, 1, 1) 1 1 2 -1"}), "(1, 2, 1, 2) 11 22 -8 -16");
}

TEST(Conv2d, PadsAnEvenKernelAfter) {
  EXPECT_EQ(result("conv2d", {"(1, 1, 1, 3) 1 2 3", "(1, 1, 1, 2) 10 1"}), "(1, 1, 1, 3) 12 23 30");
}

TEST(Conv2d, PadsTheSameAtEveryStride) {
  EXPECT_EQ(result("conv2d[strides=[1, 2]]", {"(1, 1, 1, 4) 1 2 3 4", "(1, 1, 1, 3) 1 10 100"}),
            "(1, 1, 1, 2) 210 432");
}

TEST(Conv2d, Dilates) {
  EXPECT_EQ(result("conv2d[padding=valid, dilations=[1, 2]]", {"(1, 1, 1, 5) 1 2 3 4 5", "(1, 1, 1, 2) 1 10"}),
            "(1, 1, 1, 3) 31 42 53");
  EXPECT_EQ(result("conv2d[dilations=[1, 2]]", {"(1, 1, 1, 3) 1 2 3", "(1, 1, 1, 2) 1 10"}),
            "(1, 1, 1, 3) 20 31 2");  // Extent 3: one zero before, one after.
}

TEST(Conv2d, TakesPadsAsTopLeftBottomRight) {
  EXPECT_EQ(result("conv2d[padding=explicit, pads=[0, 1, 0, 2]]", {"(1, 1, 1, 2) 1 2", "(1, 1, 1, 2) 1 10"}),
            "(1, 1, 1, 4) 10 21 2 0");
  EXPECT_EQ(result("conv2d[padding=explicit, pads=[1, 0, 2, 0]]", {"(1, 1, 2, 1) 1 2", "(1, 1, 2, 1) 1 10"}),
            "(1, 1, 4, 1) 10 21 2 0");
}

TEST(Conv2d, GivesEachGroupItsChannels) {
  EXPECT_EQ(result("conv2d[groups=2]", {"(1, 2, 1, 1) 3 5", "(4, 1, 1, 1) 1 2 10 20"}), "(1, 4, 1, 1) 3 6 50 100");
}

TEST(Conv2d, AppliesItsActivation) {
  EXPECT_EQ(result("conv2d[activation=relu]", {"(1, 1, 1, 2) -1 2", "(1, 1, 1, 1) 3"}), "(1, 1, 1, 2) 0 6");
  const std::vector<Tensor<Real>> in = {{Shape{1, 1, 1, 1}, {{0.5}}}, {Shape{1, 1, 1, 1}, {{2}}}};
  EXPECT_NEAR(run("conv2d[activation=tanh]", in)[0].values()[0].value, 0.7615941559557649, 1e-15);
  EXPECT_NEAR(run("conv2d[activation=sigmoid]", in)[0].values()[0].value, 0.7310585786300049, 1e-15);
}

TEST(Conv2d, IsLinearAndUnorderedWithoutActivation) {
  const auto traits = [](std::string_view text) { return call(text).op->traits(call(text).params); };
  EXPECT_TRUE(traits("conv2d").multilinear);
  EXPECT_FALSE(traits("conv2d").uses_order || traits("conv2d").uses_functions);
  EXPECT_TRUE(traits("conv2d[activation=relu]").uses_order);
  EXPECT_FALSE(traits("conv2d[activation=relu]").multilinear);
  EXPECT_TRUE(traits("conv2d[activation=tanh]").uses_functions);
}

TEST(Conv2d, CostsTwoOperationsATap) {
  const Call conv = call("conv2d[groups=2, strides=[2, 2]]");
  const std::vector<Shape> in = {{1, 4, 6, 6}, {8, 2, 3, 3}};
  EXPECT_EQ(conv.op->work(conv.params, in).flops, 2 * (8 * 3 * 3) * (2 * 3 * 3));
  EXPECT_EQ(conv.op->work(conv.params, in).bytes, 4 * (4 * 6 * 6 + 8 * 2 * 3 * 3 + 8 * 3 * 3));
}

TEST(Conv2d, KeepsSizesAndCutsAtStrideOne) {
  const Call conv = call("conv2d");
  const CutDim height = join(CutDim(2), CutDim(3)), outputs = join(CutDim(1), CutDim(1));
  const std::vector<CutShape> in = {CutShape{1, 1, height, 4}, CutShape{outputs, 1, 3, 3}};
  const auto out = *conv.op->infer(conv.params, std::span<const CutShape>(in));
  EXPECT_EQ(out[0], (CutShape{1, outputs, height, 4}));
}

TEST(Pool2dMax, NeverTakesPadding) {
  EXPECT_EQ(result("pool2d_max[kernel=[3, 3], strides=[2, 2]]", {"(1, 1, 3, 3) -9 -8 -7 -6 -5 -4 -3 -2 -1"}),
            "(1, 1, 2, 2) -5 -4 -2 -1");
  EXPECT_EQ(result("pool2d_max[kernel=[1, 2], padding=valid]", {"(1, 1, 1, 3) 1 3 2"}), "(1, 1, 1, 2) 3 3");
}

TEST(Pool2dAvg, CountsPaddingOrNot) {
  EXPECT_EQ(result("pool2d_avg[kernel=[1, 3]]", {"(1, 1, 1, 3) 1 2 4"}), "(1, 1, 1, 3) 1 7/3 2");
  EXPECT_EQ(result("pool2d_avg[kernel=[1, 3], count_include_pad=no]", {"(1, 1, 1, 3) 1 2 4"}),
            "(1, 1, 1, 3) 3/2 7/3 3");
  EXPECT_EQ(result("pool2d_avg[kernel=[2, 1], padding=valid]", {"(1, 1, 3, 1) 1 2 4"}), "(1, 1, 2, 1) 3/2 3");
}

TEST(Enlarge, PutsCentreOnCentre) {
  EXPECT_EQ(result("enlarge[kernel=[3, 3]]", {"(1, 1, 1, 2) 1 2"}), "(1, 1, 3, 3) 0 0 0 0 1 2 0 0 0");
  EXPECT_EQ(result("enlarge[kernel=[1, 4]]", {"(1, 1, 1, 1) 5"}), "(1, 1, 1, 4) 0 5 0 0");
  EXPECT_EQ(result("enlarge[kernel=[1, 2]]", {"(1, 1, 1, 2) 1 2"}), "(1, 1, 1, 2) 1 2");
}

TEST(Winograd, TransformsTilesOfTwoByTwo) {
  EXPECT_EQ(result("winograd_input[outputs=2]", {"(1, 1, 4, 4) 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0"}),
            "(4, 4, 1, 1, 1, 1) 0 0 0 0 0 1 -1 1 0 -1 1 -1 0 1 -1 1");
  EXPECT_EQ(result("winograd_weight[outputs=2]", {"(1, 1, 3, 3) 1 1 1 1 1 1 1 1 1"}),
            "(4, 4, 1, 1, 1, 1) 1 3/2 1/2 1 3/2 9/4 3/4 3/2 1/2 3/4 1/4 1/2 1 3/2 1/2 1");
  EXPECT_EQ(result("winograd_output[outputs=2]", {"(4, 4, 1, 1, 1, 1) 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"}),
            "(1, 1, 2, 2) 9 -3 -3 1");
}

TEST(Im2col, PutsTapsBesideEachOther) {
  EXPECT_EQ(result("im2col[kernel=[2, 2]]", {"(1, 1, 3, 3) 1 2 3 4 5 6 7 8 9"}),
            "(1, 1, 2, 2, 2, 2) 1 2 4 5 2 3 5 6 4 5 7 8 5 6 8 9");
  EXPECT_EQ(result("im2col[kernel=[1, 2], strides=[2, 1], dilations=[1, 2]]", {"(1, 1, 3, 3) 1 2 3 4 5 6 7 8 9"}),
            "(1, 1, 1, 2, 2, 1) 1 7 3 9");
  EXPECT_EQ(result("im2col_matmul", {"(1, 1, 1, 2, 2, 1) 1 7 3 9", "(2, 1, 1, 2) 1 0 2 10"}),
            "(1, 2, 2, 1) 1 7 32 104");
}

TEST(MergeGconv, KeepsEachGroupToItsChannels) {
  EXPECT_EQ(result("merge_gconv[count=2]", {"(4, 1, 1, 1) 1 2 3 4"}), "(4, 2, 1, 1) 1 0 2 0 0 3 0 4");
  EXPECT_EQ(result("merge_gconv[count=2, groups=2]", {"(4, 1, 1, 1) 1 2 3 4"}), "(4, 2, 1, 1) 1 0 0 2 3 0 0 4");
  EXPECT_EQ(result("merge_gconv[count=2]", {"(2, 2, 1, 2) 1 2 3 4 5 6 7 8"}),
            "(2, 4, 1, 2) 1 2 3 4 0 0 0 0 0 0 0 0 5 6 7 8");
  EXPECT_EQ(result("merge_gconv[count=1, groups=2]", {"(2, 1, 1, 1) 1 2"}), "(2, 1, 1, 1) 1 2");
}

TEST(Constants, AreWhatTheyAreCalled) {
  EXPECT_EQ(result("constant_pool[sizes=[2, 1, 1, 2]]", {}), "(2, 1, 1, 2) 1/2 1/2 1/2 1/2");
  EXPECT_EQ(result("constant_pool[sizes=[2, 2, 1, 2]]", {}), "(2, 2, 1, 2) 1/2 1/2 0 0 0 0 1/2 1/2");
  EXPECT_EQ(result("constant_conv[sizes=[1, 1, 3, 3]]", {}), "(1, 1, 3, 3) 0 0 0 0 1 0 0 0 0");
  EXPECT_EQ(result("constant_conv[sizes=[2, 2, 1, 2]]", {}), "(2, 2, 1, 2) 1 0 0 0 0 0 1 0");
  EXPECT_EQ(result("constant_identity[sizes=[2, 2]]", {}), "(2, 2) 1 0 0 1");
  EXPECT_EQ(result("constant_identity[sizes=[2, 1, 1]]", {}), "(2, 1, 1) 1 1");
  EXPECT_EQ(result("constant_one[sizes=[3]]", {}), "(3) 1 1 1");
  EXPECT_EQ(result("constant_one[sizes=[]]", {}), "() 1");
}

TEST(Refusals, NameTheOperatorAndWhatIsWrong) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal("ewadd", {{2, 3}, {2, 1}}), HasSubstr("ewadd: "));
  EXPECT_EQ(refusal("ewmul", {{2, 3}, {3}}), "ewmul: ranks 2 and 1 differ");
  EXPECT_THAT(refusal("smul", {{2}, {1}}), HasSubstr("rank 1, expected a scalar"));
  EXPECT_THAT(refusal("matmul", {{2, 3}, {2, 3}}), HasSubstr("inner sizes"));
  EXPECT_THAT(refusal("matmul", {{1, 2, 3}, {4, 3, 2}}), HasSubstr("batch sizes"));
  EXPECT_THAT(refusal("matmul", {{3}, {3, 2}}), HasSubstr("ranks 1 and 2"));
  EXPECT_THAT(refusal("transpose[perm=[0, 0]]", {{2, 2}}), HasSubstr("perm [0, 0] is not a permutation"));
  EXPECT_THAT(refusal("transpose", {{2, 2, 2}}), HasSubstr("perm [1, 0] is not a permutation of the 3 axes"));
  EXPECT_THAT(refusal("concat[axis=-1]", {{2}, {2}}), HasSubstr("axis -1 of operands of rank 1"));
  EXPECT_THAT(refusal("concat", {{2, 3}, {2, 4}}), HasSubstr("sizes along an axis that is not concatenated"));
  EXPECT_THAT(refusal("split[sizes=[1, 2]]", {{4}}), HasSubstr("sum of the part sizes"));
  EXPECT_THAT(refusal("split[sizes=[4]]", {{4}}), HasSubstr("1 part sizes, expected two or more"));
  EXPECT_THAT(refusal("split[sizes=[-1, 5]]", {{4}}), HasSubstr("part size"));
  EXPECT_THAT(refusal("conv2d", {{1, 3, 5, 5}, {4, 2, 3, 3}}), HasSubstr("input channels"));
  EXPECT_THAT(refusal("conv2d[groups=2]", {{1, 4, 5, 5}, {3, 2, 3, 3}}), HasSubstr("groups, against the output"));
  EXPECT_THAT(refusal("conv2d[groups=0]", {{1, 4, 5, 5}, {3, 4, 3, 3}}), HasSubstr("groups is 0"));
  EXPECT_THAT(refusal("conv2d[padding=valid]", {{1, 1, 2, 5}, {1, 1, 3, 3}}), HasSubstr("kernel's extent"));
  EXPECT_THAT(refusal("conv2d[strides=[0, 1]]", {{1, 1, 5, 5}, {1, 1, 3, 3}}), HasSubstr("strides is [0, 1]"));
  EXPECT_THAT(refusal("conv2d[pads=[1, 1, 1, 1]]", {{1, 1, 5, 5}, {1, 1, 3, 3}}), HasSubstr("padding=explicit"));
  EXPECT_THAT(refusal("conv2d[dilations=[9223372036854775807, 1]]", {{1, 1, 5, 5}, {1, 1, 3, 3}}), HasSubstr("2^31"));
  EXPECT_THAT(refusal("conv2d", {{1, 1, 5}, {1, 1, 3, 3}}), HasSubstr("ranks 3 and 4, expected 4"));
  EXPECT_THAT(refusal("pool2d_max[kernel=[2, 2], padding=explicit, pads=[2, 0, 0, 0]]", {{1, 1, 5, 5}}),
              HasSubstr("not all smaller than the kernel"));
  EXPECT_THAT(refusal("pool2d_avg[kernel=[3, 3], padding=valid]", {{1, 1, 2, 2}}), HasSubstr("kernel's extent"));
  EXPECT_THAT(refusal("enlarge[kernel=[2, 3]]", {{1, 1, 3, 3}}), HasSubstr("enlarged kernel size"));
  EXPECT_THAT(refusal("winograd_input[outputs=3]", {{1, 1, 5, 5}}), HasSubstr("3 outputs of a tile"));
  EXPECT_THAT(refusal("winograd_input", {{1, 1, 7, 6}}), HasSubstr("outputs of a tile"));
  EXPECT_THAT(refusal("winograd_weight", {{1, 1, 3, 4}}), HasSubstr("taps of a filter"));
  EXPECT_THAT(refusal("winograd_output", {{6, 5, 1, 1, 1, 1}}), HasSubstr("rows and columns of a tile"));
  EXPECT_THAT(refusal("im2col[kernel=[3, 3]]", {{1, 1, 2, 3}}), HasSubstr("the image, against its kernel"));
  EXPECT_THAT(refusal("im2col[kernel=[3]]", {{1, 1, 4, 4}}), HasSubstr("1 sizes, expected 2"));
  EXPECT_THAT(refusal("im2col_matmul", {{1, 2, 3, 3, 4, 4}, {5, 2, 3, 2}}), HasSubstr("channels and taps"));
  EXPECT_THAT(refusal("merge_gconv[count=2, groups=2]", {{6, 1, 3, 3}}), HasSubstr("count times groups"));
  EXPECT_THAT(refusal("merge_gconv[count=0]", {{6, 1, 3, 3}}), HasSubstr("count is 0"));
  EXPECT_THAT(refusal("merge_gconv[count=2]", {{6, 1, 3}}), HasSubstr("rank 3, expected 4"));
  EXPECT_THAT(refusal("merge_gconv[count=2147483647, groups=2147483647]", {{6, 1, 3, 3}}),
              HasSubstr("more channels than any tensor has"));
  EXPECT_THAT(refusal("constant_identity[sizes=[2, 3]]", {}), HasSubstr("sizes of the matrix"));
  EXPECT_THAT(refusal("constant_pool[sizes=[2, 3]]", {}), HasSubstr("2 sizes, expected 4"));
}

}  // namespace
}  // namespace rewright::testing
