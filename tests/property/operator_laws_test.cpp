// The equations that operators/README.md promises, on random instances over the prime field, and where they end.
#include "support/operators.h"
#include "support/random.h"

namespace rewright::testing {
namespace {

using F = Tensor<Field>;

class Laws : public ::testing::Test {
 protected:
  F random_tensor(const Shape& shape) {
    F tensor(shape);
    for (Field& value : tensor.values()) value = Field::from_residue(random.bits() % Field::kPrime);
    return tensor;
  }
  std::int64_t size(std::int64_t low, std::int64_t high) { return random.between(low, high); }

  static F one(const std::string& call, const std::vector<F>& in) { return std::move(run(call, in)[0]); }
  static std::string list(std::initializer_list<std::int64_t> values) {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }

  Random random{7};
};

bool operator_equal(const F& a, const F& b) { return a.shape() == b.shape() && a.values() == b.values(); }
#define EXPECT_SAME(a, b) EXPECT_PRED2(operator_equal, a, b)

constexpr int kTimes = 200;

/// Convolution as its formula reads, on an input that was padded before.
F convolution(const F& x, const F& w, std::int64_t groups, std::int64_t stride, std::int64_t dilation,
              std::array<std::int64_t, 4> pads) {
  const Shape xs = x.shape(), ws = w.shape();
  F padded(Shape{xs[0], xs[1], xs[2] + pads[0] + pads[2], xs[3] + pads[1] + pads[3]});
  for_each_index(xs, [&](auto i) { padded.view()(i[0], i[1], i[2] + pads[0], i[3] + pads[1]) = x.view().at(i); });
  const auto outputs = [&](int axis) { return (padded.shape()[axis] - (ws[axis] - 1) * dilation - 1) / stride + 1; };
  F y(Shape{xs[0], ws[0], outputs(2), outputs(3)});
  for_each_index(y.shape(), [&](auto i) {
    for_each_index(Shape{ws[1], ws[2], ws[3]}, [&](auto k) {
      const std::int64_t channel = i[1] * groups / ws[0] * ws[1] + k[0];
      y.view().at(i) += padded.view()(i[0], channel, i[2] * stride + k[1] * dilation, i[3] * stride + k[2] * dilation) *
                        w.view()(i[1], k[0], k[1], k[2]);
    });
  });
  return y;
}

TEST_F(Laws, Conv2dIsItsFormulaOnAPaddedInput) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t groups = size(1, 3), kh = size(1, 4), kw = size(1, 4), stride = size(1, 3),
                       dilation = size(1, 2);
    const F x = random_tensor({size(1, 2), groups * size(1, 2), size(7, 9), size(7, 9)});
    const F w = random_tensor({groups * size(1, 2), x.shape()[1] / groups, kh, kw});
    const std::string rest =
        fmt::format("strides=[{0}, {0}], dilations=[{1}, {1}], groups={2}]", stride, dilation, groups);
    const auto extent = [&](std::int64_t k) { return (k - 1) * dilation; };
    EXPECT_SAME(one("conv2d[padding=valid, " + rest, {x, w}), convolution(x, w, groups, stride, dilation, {}));
    EXPECT_SAME(one("conv2d[" + rest, {x, w}),
                convolution(x, w, groups, stride, dilation,
                            {extent(kh) / 2, extent(kw) / 2, (extent(kh) + 1) / 2, (extent(kw) + 1) / 2}));
    const std::array<std::int64_t, 4> pads = {size(0, 4), size(0, 4), size(0, 4), size(0, 4)};
    EXPECT_SAME(one(fmt::format("conv2d[padding=explicit, pads=[{}], ", fmt::join(pads, ", ")) + rest, {x, w}),
                convolution(x, w, groups, stride, dilation, pads));
  }
}

TEST_F(Laws, EnlargingAKernelChangesNothingUnderSamePadding) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t kh = size(1, 4), kw = size(1, 4), groups = size(1, 2);
    const F x = random_tensor({1, groups * 2, size(1, 6), size(1, 6)}), w = random_tensor({groups, 2, kh, kw});
    const std::string conv = fmt::format("conv2d[strides=[{}, {}], groups={}]", size(1, 3), size(1, 3), groups);
    const std::string enlarge = "enlarge[kernel=" + list({size(kh, 5), size(kw, 5)}) + "]";
    EXPECT_SAME(one(conv, {x, one(enlarge, {w})}), one(conv, {x, w}));
  }
}

TEST_F(Laws, EnlargingUnderDilationNeedsOddKernels) {
  const F x = random_tensor({1, 1, 5, 5});
  const std::string conv = "conv2d[dilations=[2, 2]]";
  const F odd = random_tensor({1, 1, 1, 3}), even = random_tensor({1, 1, 2, 2});
  EXPECT_SAME(one(conv, {x, one("enlarge[kernel=[3, 5]]", {odd})}), one(conv, {x, odd}));
  EXPECT_FALSE(operator_equal(one(conv, {x, one("enlarge[kernel=[3, 3]]", {even})}), one(conv, {x, even})));
}

TEST_F(Laws, MergingGroupsChangesNothing) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t count = size(1, 4), groups = size(1, 3), inside = size(1, 2), before = count * groups;
    const F x = random_tensor({size(1, 2), before * inside, size(3, 6), size(3, 6)});
    const F w = random_tensor({before * size(1, 2), inside, size(1, 3), size(1, 3)});
    const std::string conv = fmt::format(
        "conv2d[strides=[{0}, {0}], dilations=[{1}, {1}], activation=relu, groups=", size(1, 2), size(1, 2));
    const F merged = one(fmt::format("merge_gconv[count={}, groups={}]", count, groups), {w});
    EXPECT_SAME(one(fmt::format("{}{}]", conv, groups), {x, merged}), one(fmt::format("{}{}]", conv, before), {x, w}));
  }
}

TEST_F(Laws, AveragePoolingIsAConvolution) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t groups = size(1, 3), channels = groups * size(1, 2), kh = size(1, 3), kw = size(1, 3);
    const F x = random_tensor({size(1, 2), channels, size(3, 6), size(3, 6)});
    const std::string pads =
        fmt::format("pads=[{}, {}, {}, {}]", size(0, kh - 1), size(0, kw - 1), size(0, kh - 1), size(0, kw - 1));
    const std::string paddings[] = {"padding=same", "padding=valid", "padding=explicit, " + pads};
    const std::string window = fmt::format("strides=[{}, {}], {}", size(1, 2), size(1, 3), random.pick(paddings));
    const F kernel = one("constant_pool[sizes=" + list({channels, channels / groups, kh, kw}) + "]", {});
    EXPECT_SAME(one(fmt::format("conv2d[{}, groups={}]", window, groups), {x, kernel}),
                one(fmt::format("pool2d_avg[kernel=[{}, {}], {}]", kh, kw, window), {x}));
  }
}

TEST_F(Laws, AveragePoolingWithoutPaddingIsAConvolutionUnderValidOnly) {
  const F x = random_tensor({1, 1, 4, 4});
  const F kernel = one("constant_pool[sizes=[1, 1, 3, 3]]", {});
  EXPECT_SAME(one("conv2d[padding=valid]", {x, kernel}),
              one("pool2d_avg[kernel=[3, 3], padding=valid, count_include_pad=no]", {x}));
  EXPECT_FALSE(operator_equal(one("conv2d", {x, kernel}), one("pool2d_avg[kernel=[3, 3], count_include_pad=no]", {x})));
}

TEST_F(Laws, TheIdentityKernelChangesNothing) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t groups = size(1, 3), channels = groups * size(1, 2), dilation = size(1, 2);
    const std::int64_t kh = dilation == 1 ? size(1, 4) : 3, kw = dilation == 1 ? size(1, 4) : 1;
    const F x = random_tensor({size(1, 2), channels, size(1, 5), size(1, 5)});
    const F kernel = one("constant_conv[sizes=" + list({channels, channels / groups, kh, kw}) + "]", {});
    EXPECT_SAME(one(fmt::format("conv2d[groups={0}, dilations=[{1}, {1}]]", groups, dilation), {x, kernel}), x);
  }
}

TEST_F(Laws, TheIdentityMatrixAndOnesAreNeutral) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t b = size(1, 3), m = size(1, 4), n = size(1, 4);
    const F x = random_tensor({b, m, n});
    EXPECT_SAME(one("matmul", {x, one("constant_identity[sizes=" + list({b, n, n}) + "]", {})}), x);
    EXPECT_SAME(one("matmul", {one("constant_identity[sizes=" + list({b, m, m}) + "]", {}), x}), x);
    EXPECT_SAME(one("ewmul", {x, one("constant_one[sizes=" + list({b, m, n}) + "]", {})}), x);
  }
}

TEST_F(Laws, SplitUndoesConcat) {
  for (int i = 0; i < kTimes; ++i) {
    Shape shape{size(1, 3), size(1, 3), size(1, 3)};
    const int axis = static_cast<int>(size(0, 2));
    const F x = random_tensor(shape);
    shape[axis] = size(1, 4);
    const F y = random_tensor(shape);
    const F both = one(fmt::format("concat[axis={}]", axis), {x, y});
    const auto parts =
        run(fmt::format("split[axis={}, sizes=[{}, {}]]", axis, x.shape()[axis], y.shape()[axis]), std::vector{both});
    EXPECT_SAME(parts[0], x);
    EXPECT_SAME(parts[1], y);
  }
}

TEST_F(Laws, TransposeReversesAProductAndUndoesItself) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t k = size(1, 4);
    const F a = random_tensor({size(1, 4), k}), b = random_tensor({k, size(1, 4)});
    EXPECT_SAME(one("transpose", {one("matmul", {a, b})}),
                one("matmul", {one("transpose", {b}), one("transpose", {a})}));
    EXPECT_SAME(one("transpose", {one("transpose", {a})}), a);
  }
}

TEST_F(Laws, AConvolutionByOneTapIsAMatrixProduct) {
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t c = size(1, 4), o = size(1, 4), h = size(1, 4);
    const F x = random_tensor({1, c, h, 1}), w = random_tensor({o, c, 1, 1});
    const F product = one("matmul", {F(Shape{o, c}, w.values()), F(Shape{c, h}, x.values())});
    EXPECT_SAME(one("conv2d", {x, w}), F(Shape({1, o, h, 1}), product.values()));
  }
}

TEST_F(Laws, ALongSumOfProductsIsReducedRight) {
  const std::int64_t n = 1000;  // All terms as large as they get: (p - 1) * (p - 1) = 1 modulo p.
  F a(Shape{1, n}), b(Shape{n, 1});
  for (Field& value : a.values()) value = Field::from_integer(-1);
  for (Field& value : b.values()) value = Field::from_integer(-1);
  EXPECT_EQ(one("matmul", {a, b}).values()[0], Field::from_integer(n));
}

}  // namespace
}  // namespace rewright::testing
