// What rounding destroys: it is not folded, and a rewrite that brings it is told.
#include "onnx/lossy.h"

#include <rewright/onnx/onnx.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "numbers.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

using model::loss_in;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_lost(ElementType type, const Shape& shape, const std::vector<double>& numbers) {
  std::vector<Real> values;
  for (const double number : numbers) values.push_back({number});
  return loss_in(type, shape, values).has_value();
}

TEST(Losses, AreNumbersThatBecomeZeroSubnormalOrInfinite) {
  for (const double lost : {1e-8, 1e-7, 7e4, -1e5}) EXPECT_TRUE(is_lost(ElementType::kFloat16, {}, {lost})) << lost;
  for (const double lost : {1e-50, 1e-40, 1e39}) {
    EXPECT_TRUE(is_lost(ElementType::kFloat32, {}, {lost})) << lost;
    EXPECT_TRUE(is_lost(ElementType::kBFloat16, {}, {lost})) << lost;
    EXPECT_FALSE(is_lost(ElementType::kFloat64, {}, {lost})) << lost;
  }
}

TEST(Losses, AreNotZerosInfinitiesOrWhatTheTypeHolds) {
  for (const double kept : {0.0, 0.1, 65504.0, kInfinity, -kInfinity, 0x1p-24, 0x3p-24, std::nan("")})
    EXPECT_FALSE(is_lost(ElementType::kFloat16, {}, {kept})) << kept;
  EXPECT_FALSE(is_lost(ElementType::kInt32, {}, {1e-9})) << "no floating-point type";
}

TEST(Losses, OfSmallNumbersBesideNormalOnesAreNone) {
  EXPECT_FALSE(is_lost(ElementType::kFloat16, Shape{2, 2}, {1e-7, 0.5, 0.5, 1e-7}));
  EXPECT_TRUE(is_lost(ElementType::kFloat16, Shape{2, 2}, {1e-7, 1e-7, 0.5, 0.5})) << "a row";
  EXPECT_TRUE(is_lost(ElementType::kFloat16, Shape{2, 2}, {1e-7, 0.5, 1e-7, 0.5})) << "a column";
  EXPECT_TRUE(is_lost(ElementType::kFloat16, Shape{3}, {1e-7, 0.5, 0.5})) << "each element is a row";
  EXPECT_TRUE(is_lost(ElementType::kFloat16, Shape{1, 3, 1}, {0.5, 1e-7, 0.5})) << "as a factor for each channel";
}

TEST(Losses, OfInfinitiesAreAlwaysSome) { EXPECT_TRUE(is_lost(ElementType::kFloat16, Shape{2, 2}, {1, 1, 1, 1e5})); }

// --- folding -----------------------------------------------------------------------------------------------------

void add_numbers(Model& model, const std::string& name, ElementType type, const Shape& shape,
                 const std::vector<double>& numbers) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int>(type));
  for (const std::int64_t dim : shape) tensor.add_dims(dim);
  const auto bytes = encode(type, numbers);
  tensor.set_raw_data(bytes.data(), bytes.size());
}

std::vector<std::string> types_of(const Model& model) {
  std::vector<std::string> types;
  for (const auto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

Model written(const Graph& graph, const ImportedModel& origin, const ExportOptions& options = {}) {
  const auto bytes = export_model(graph, origin, options);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes ? parse(*bytes) : Model();
}

/// y = op(op(x, a), b).
ImportedModel two_factors(const std::string& op, ElementType type, const Shape& weight, double a, double b) {
  Model model = make_model();
  const int element = static_cast<int>(type);
  add_input(model, "x", {2, 2}, element);
  const auto count = static_cast<std::size_t>(weight.elements());
  add_numbers(model, "a", type, weight, std::vector(count, a));
  add_numbers(model, "b", type, weight, std::vector(count, b));
  add_node(model, op, {"x", "a"}, {"h"});
  add_node(model, op, {"h", "b"}, {"y"});
  add_output(model, "y", {2, 2}, element);
  auto imported = import(model);
  if (!imported) fail(imported.error().message);
  return *std::move(imported);
}

/// The same as y = op(x, op(a, b)).
Graph merged(const ImportedModel& origin, std::string_view op) {
  GraphBuilder builder(&registry());
  std::vector<Port> ports;
  for (const NodeId id : origin.graph.inputs()) {
    ports.push_back(builder.copy(origin.graph.node(id), {})->front());
  }
  std::ranges::sort(ports, {}, [&](Port port) { return builder.node(port.node).name != "x"; });
  builder.output(*builder.apply1(op, {}, {ports[0], *builder.apply1(op, {}, {ports[1], ports[2]})}), "y");
  return builder.finish();
}

TEST(LossyFolds, AreNotMadeAndToldWhereARewriteBringsThem) {
  struct Case {
    ElementType type;
    double a, b;
  };
  for (const auto& [type, a, b] : {Case{ElementType::kFloat16, 1e-4, 1e-4}, Case{ElementType::kFloat16, 1e-3, 1e-4},
                                   Case{ElementType::kFloat16, 1e3, 1e3}, Case{ElementType::kFloat32, 1e-25, 1e-25},
                                   Case{ElementType::kFloat64, 1e-200, 1e-200}}) {
    for (const auto& [onnx, op, shape] :
         {std::tuple("MatMul", "matmul", Shape{2, 2}), std::tuple("Mul", "smul", Shape{})}) {
      const ImportedModel origin = two_factors(onnx, type, shape, a, b);
      const Graph graph = merged(origin, op);
      const auto lost = lossy_folds(graph, origin);
      ASSERT_TRUE(lost) << lost.error().message;
      EXPECT_THAT(*lost, ElementsAre(HasSubstr(op))) << a << " " << b;
      EXPECT_THAT(types_of(written(graph, origin)), ElementsAre(onnx, onnx)) << "the weights are not merged";
      ExportOptions fast;
      fast.fast_math = true;
      EXPECT_THAT(types_of(written(graph, origin, fast)), ElementsAre(onnx));
      EXPECT_THAT(*lossy_folds(origin.graph, origin), IsEmpty()) << "nothing new";
    }
  }
}

TEST(LossyFolds, AreNoneWhereTheTypeHoldsTheProduct) {
  const ImportedModel origin = two_factors("MatMul", ElementType::kFloat16, Shape{2, 2}, 0.25, 0.5);
  EXPECT_THAT(*lossy_folds(merged(origin, "matmul"), origin), IsEmpty());
  EXPECT_THAT(types_of(written(merged(origin, "matmul"), origin)), ElementsAre("MatMul"));
}

TEST(LossyFolds, AreNoneInWeightsThatTrainingLeftSubnormal) {
  const ImportedModel origin = two_factors("MatMul", ElementType::kFloat32, Shape{2, 2}, 1e-41, 0.3);
  EXPECT_THAT(*lossy_folds(merged(origin, "matmul"), origin), IsEmpty());
}

TEST(LossyFolds, OfTheModelsOwnConstantsStayInTheModel) {
  REQUIRE_RUNTIME();
  Model model = make_model();
  add_input(model, "x", {2});
  add_numbers(model, "a", ElementType::kFloat32, Shape{2}, {1e30, 2});
  add_numbers(model, "b", ElementType::kFloat32, Shape{2}, {1e30, 3});
  add_numbers(model, "c", ElementType::kFloat32, Shape{2}, {1e-30, 4});
  add_node(model, "Mul", {"a", "b"}, {"ab"});  // Infinite where the model runs.
  add_node(model, "Mul", {"ab", "c"}, {"abc"});
  add_node(model, "Add", {"x", "abc"}, {"y"});
  add_output(model, "y", {2});
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(*lossy_folds(imported->graph, *imported), IsEmpty());
  const Model result = written(imported->graph, *imported);
  EXPECT_THAT(types_of(result), ElementsAre("Mul", "Mul", "Add"));
  const std::vector<RuntimeTensor> inputs = {random_tensor("x", {Shape{2}}, 1)};
  const auto output = run(result.SerializeAsString(), inputs);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(to_reals({output->front().type, output->front().bytes})->front(), kInfinity);
}

// --- what operators write --------------------------------------------------------------------------------------------

std::vector<std::string> lost_in(ElementType type, std::string_view op, std::initializer_list<NamedParam> params) {
  GraphBuilder builder(&registry());
  const Port x = *builder.input("x", {Shape{2, 2}, type});
  builder.output(*builder.apply1(op, params, {x}), "y");
  std::vector<std::string> lost;
  ExportOptions options;
  options.lost = [&](const std::string& sentence) { lost.push_back(sentence); };
  EXPECT_TRUE(export_model(builder.finish(), options));
  return lost;
}

TEST(LossyFolds, ANumberThatAnOperatorWritesIsLookedAt) {
  EXPECT_THAT(lost_in(ElementType::kFloat16, "clip", {{"low", 0.0}, {"high", 1e-8}}),
              ElementsAre(HasSubstr("1e-08 of an operator becomes 0 in float16")));
  EXPECT_THAT(lost_in(ElementType::kFloat32, "clip", {{"low", 0.0}, {"high", 1e-8}}), IsEmpty());
}

TEST(LossyFolds, AnAttributeIsAFloat32) {
  EXPECT_THAT(lost_in(ElementType::kFloat32, "leaky_relu", {{"alpha", 1e-50}}),
              ElementsAre(HasSubstr("alpha 1e-50 of an operator becomes 0")));
  EXPECT_THAT(lost_in(ElementType::kFloat32, "leaky_relu", {{"alpha", 0.1}}), IsEmpty());
  EXPECT_THAT(lost_in(ElementType::kFloat64, "leaky_relu", {{"alpha", 0.1}}),
              ElementsAre(HasSubstr("attributes are float32")));
  EXPECT_THAT(lost_in(ElementType::kFloat64, "leaky_relu", {{"alpha", 0.25}}), IsEmpty());
}

}  // namespace
}  // namespace rewright::onnx_test
