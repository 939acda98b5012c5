// What an operator's definition says, walked element by element, is what the operator computes: at numbers, and at
// symbols that get their numbers afterwards.
#include <rewright/operator/map_sizes.h>
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "contract/applications.h"
#include "support/definition_walk.h"
#include "support/operators.h"

namespace rewright {
namespace {

using contract::Application;
using contract::ApplicationSource;

std::vector<Application> applications_of(const Operator& op) {
  return ApplicationSource(op, 11).accepted(40, 300, 200'000);
}

template <class Scalar>
std::vector<std::vector<Scalar>> random_operands(const Application& application, Random& random) {
  std::vector<std::vector<Scalar>> operands;
  for (const Shape& shape : application.in) {
    auto& values = operands.emplace_back(static_cast<std::size_t>(shape.elements()));
    for (Scalar& value : values)
      value = Scalar::from_integer(random.between(-9, 9)) / Scalar::from_integer(random.between(1, 3));
  }
  return operands;
}

template <class Scalar>
std::vector<std::vector<Scalar>> evaluated(const Application& application, const std::vector<std::vector<Scalar>>& in) {
  const std::vector<Shape> shapes = *application.op->infer(application.params, application.in);
  std::vector<std::vector<Scalar>> out;
  std::vector<TensorView<const Scalar>> in_views;
  std::vector<TensorView<Scalar>> out_views;
  for (const Shape& shape : shapes) out.emplace_back(static_cast<std::size_t>(shape.elements()));
  for (std::size_t k = 0; k < in.size(); ++k) in_views.emplace_back(in[k].data(), application.in[k]);
  for (std::size_t k = 0; k < out.size(); ++k) out_views.emplace_back(out[k].data(), shapes[k]);
  application.op->evaluate(application.params, Inputs<Scalar>(in_views), Outputs<Scalar>(out_views));
  return out;
}

/// Inputs are a definition's first buffers, outputs the next ones.
template <class Scalar>
std::vector<std::vector<Scalar>> walked(const Definition& definition, const std::vector<std::vector<Scalar>>& in) {
  loop::Contents<Scalar> contents(definition.buffers.size());
  std::ranges::copy(in, contents.begin());
  test_support::DefinitionWalk<Scalar>(definition, contents).run();
  std::vector<std::vector<Scalar>> out;
  for (std::size_t b = 0; b < contents.size(); ++b)
    if (definition.buffers[b].role == BufferRole::kOutput) out.push_back(contents[b]);
  return out;
}

template <class Scalar>
void expect_same(const Application& application, const Definition& definition, Random& random) {
  const auto in = random_operands<Scalar>(application, random);
  EXPECT_EQ(walked<Scalar>(definition, in), evaluated<Scalar>(application, in)) << to_string(application) << "\n"
                                                                                << to_string(definition);
}

TEST(Definitions, SayWhatEveryOperatorComputes) {
  Random random(1);
  for (const Operator* op : testing::loaded().all<Operator>()) {
    for (const Application& application : applications_of(*op)) {
      const auto definition = op->definition(application.params, application.in);
      ASSERT_TRUE(definition) << definition.error().message;
      expect_same<Field>(application, *definition, random);
      expect_same<Exact>(application, *definition, random);
      if (HasFailure()) return;
    }
  }
}

SymbolicDim symbol(std::size_t operand, int axis) {
  return SymbolicDim::variable(SizeVar::axis(fmt::format("x{}", operand), axis));
}

Definition with_numbers(Definition definition, const std::vector<Shape>& in) {
  const DimBinding binding = [&](SizeVar size) -> std::optional<std::int64_t> {
    for (std::size_t k = 0; k < in.size(); ++k)
      for (int axis = 0; axis < in[k].rank(); ++axis)
        if (symbol(k, axis).variable() == size) return in[k][axis];
    return std::nullopt;
  };
  Substitution numbers;
  numbers.size = [&](const SymbolicDim& size) { return std::optional(SymbolicDim(*size.evaluate(binding))); };
  for (Buffer& buffer : definition.buffers)
    for (IndexExpr& size : buffer.sizes) size = substitute(size, numbers);
  for (Stage& stage : definition.stages) {
    for (AxisRange& range : stage.axes) range.extent = substitute(range.extent, numbers);
    for (IndexExpr& index : stage.at) index = substitute(index, numbers);
    stage.where = substitute(stage.where, numbers);
    stage.value = substitute(stage.value, numbers);
  }
  return definition;
}

TEST(Definitions, HoldAtSymbolicSizes) {
  Random random(2);
  std::size_t looked_at = 0;
  for (const Operator* op : testing::loaded().all<Operator>()) {
    for (const Application& application : applications_of(*op)) {
      std::vector<SymbolicShape> symbols;
      for (std::size_t k = 0; k < application.in.size(); ++k) {
        SymbolicShape& shape = symbols.emplace_back();
        for (int axis = 0; axis < application.in[k].rank(); ++axis) shape.append(symbol(k, axis));
      }
      const auto definition = op->definition(to_symbolic(application.params), symbols);
      if (!definition) continue;  // What must hold of the sizes cannot hold of unlike symbols.
      ++looked_at;
      expect_same<Field>(application, with_numbers(*definition, application.in), random);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(looked_at, 1000U);
}

std::string text(std::string_view call, std::vector<Shape> in) {
  const testing::Call application = testing::call(call);
  return to_string(*application.op->definition(application.params, in));
}

TEST(Definitions, ReadAsFormulas) {
  EXPECT_EQ(text("matmul", {{2, 3}, {3, 4}}), "y[i, j] = sum(k < 3, x0[i, k] * x1[k, j])\n");
  EXPECT_EQ(text("concat[axis=1]", {{2, 3}, {2, 1}}), "y[i0, i1] = x0[i0, i1]\ny[i0, 3 + i1] = x1[i0, i1]\n");
  EXPECT_EQ(text("softmax[axis=1]", {{2, 5}}),
            "greatest[i] = greatest(k < 5, x[i, k])\n"
            "total[i] = sum(k < 5, exp(x[i, k] - greatest[i]))\n"
            "y[i, k] = exp(x[i, k] - greatest[i]) / total[i]\n");
  EXPECT_EQ(text("pool2d_max[kernel=[2, 2], padding=valid, strides=[2, 2]]", {{1, 3, 4, 4}}),
            "y[n0, n1, i, j] = greatest(s < 2, t < 2, x[n0, n1, i*2 + s, j*2 + t])\n");
  EXPECT_EQ(text("pad[before=[0, 1], after=[0, 1]]", {{2, 3}}),
            "y[i0, i1] = select(1 <= index(i1) and index(i1) < 4, x[i0, i1 - 1], 0)\n");
  EXPECT_EQ(text("reshape[sizes=[6, 4]]", {{2, 3, 4}}), "y[i0, i1] = x[floor(i0 / 3), i0 mod 3, i1]\n");
  EXPECT_EQ(text("gather[axis=0, indices=[4, 2, 0]]", {{5}}), "y[k] = x[4 + (-2)*k]\n");
}

}  // namespace
}  // namespace rewright
