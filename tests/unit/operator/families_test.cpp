// Families of operators: what a member gets without saying it.
#include <rewright/kit/families.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rewright {
namespace {

/// Members of which ONNX has no counterpart.
struct Doubled final : UnaryOf<Doubled> {
  static OperatorInfo describe() { return {.name = "doubled", .summary = "x + x"}; }
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    return x + x;
  }
};
struct Difference final : ElementwiseOf<Difference> {
  static OperatorInfo describe() { return elementwise_info({.name = "difference", .summary = "x - y"}); }
  template <class Scalar>
  static Scalar value(const Scalar& x, const Scalar& y) {
    return x - y;
  }
};
struct Product final : BroadcastOf<Product> {
  static OperatorInfo describe() { return broadcast_info({.name = "product", .summary = "x * y"}); }
  template <class Scalar>
  static Scalar value(const Scalar& x, const Scalar& y) {
    return x * y;
  }
};
struct Total final : ReduceOf<Total> {
  static constexpr bool kNeedsElements = false;
  static OperatorInfo describe() { return reduce_info({.name = "total", .summary = "the sum"}); }
  template <class A, class Elements>
  static auto value(A& a, const Elements& x) {
    return a.sum(x);
  }
};
/// y[i,j] = 10 i + j.
struct Numbered final : ConstantOf<Numbered> {
  static OperatorInfo describe() { return constant_info("numbered", "10 i + j"); }
  template <class Dim>
  static Status check(const std::vector<Dim>& sizes, Constraints<Dim>&) {
    if (sizes.size() != 2) return shape_error("numbered: {} sizes, expected 2", sizes.size());
    return {};
  }
  template <class A>
  static void define(A& a, const Params&) {
    a.out(0).grouped(1, 1).is("i j", [&](auto i, auto j) { return a.number(10 * i + j); });
  }
};

/// Counts what is written.
class Written final : public OnnxWriter {
 public:
  std::vector<std::string> emit(std::string_view, std::vector<std::string>, std::map<std::string, OnnxAttribute>,
                                std::size_t) override {
    ++nodes;
    return {"y"};
  }
  std::string integers(std::span<const std::int64_t>) override { return "i"; }
  std::string constant(const ConstantData& value) override {
    values = to_reals(value).value();
    return "c";
  }
  int nodes = 0;
  std::vector<double> values;
};

TEST(Families, AMemberWithoutACounterpartInOnnxIsNotWritten) {
  const Doubled doubled;
  const Difference difference;
  const Product product;
  const Total total;
  const std::vector<std::string> names = {"a", "b"};
  const std::vector<Shape> shapes = {{2, 3}, {2, 3}};
  Written writer;
  for (const Operator* op : std::initializer_list<const Operator*>{&doubled, &difference, &product, &total}) {
    const auto params = make_params(op->name(), op->info().params, {});
    const auto written = op->to_onnx(*params, names, shapes, writer);
    ASSERT_FALSE(written) << op->name();
    EXPECT_EQ(written.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(written.error().message, ::testing::HasSubstr(op->name() + ": has no ONNX counterpart"));
  }
  EXPECT_EQ(writer.nodes, 0);
}

TEST(Families, OperandsOfElementwiseOperatorsHaveOneShape) {
  const Difference difference;
  const std::vector<Shape> equal = {{2, 3}, {2, 3}}, ranks = {{2, 3}, {3}}, sizes = {{2, 3}, {2, 4}};
  EXPECT_EQ(difference.infer({}, equal).value().front(), (Shape{2, 3}));
  EXPECT_EQ(difference.infer({}, ranks).error().message, "difference: ranks 2 and 1 differ");
  EXPECT_FALSE(difference.infer({}, sizes));
}

TEST(Families, AConstantIsWrittenWithItsElements) {
  const Numbered numbered;
  const Params params({SizeList<std::int64_t>{{2, 3}}});
  const std::vector<Shape> none;
  EXPECT_EQ(numbered.infer(params, none).value().front(), (Shape{2, 3}));
  EXPECT_FALSE(numbered.infer(Params({SizeList<std::int64_t>{{2}}}), none));
  Written writer;
  ASSERT_TRUE(numbered.to_onnx(params, {}, {}, writer));
  EXPECT_THAT(writer.values, ::testing::ElementsAre(0, 1, 2, 10, 11, 12));
}

}  // namespace
}  // namespace rewright
