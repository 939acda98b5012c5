// What need not be stored between definitions, and what must.
#include "loop/composition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/lower.h"

namespace {

using namespace rewright;
using namespace rewright::loop;

Buffer buffer(std::string name, std::vector<IndexExpr> sizes, BufferRole role = BufferRole::kInput) {
  return {std::move(name), std::move(sizes), ElementType::kFloat32, role};
}

const Axis i{0, "i"}, j{1, "j"}, k{2, "k"};

/// y[i, j] = sum(k < 8, x[i, k] * w[k, j])
Definition product() {
  Definition d{{buffer("x", {4, 8}), buffer("w", {8, 6}), buffer("y", {4, 6}, BufferRole::kOutput)}, {}};
  const auto term = ValueExpr::load({0}, {i, k}) * ValueExpr::load({1}, {k, j});
  d.stages.push_back(
      {"y", {2}, {{i, 4}, {j, 6}}, {i, j}, {}, ValueExpr::reduce(ValueExpr::Reduction::kSum, {{k, 8}}, {}, term)});
  return d;
}

/// y[i] = f(x[i]) over 24 elements in a row.
Definition each(const std::function<ValueExpr(const ValueExpr&)>& f) {
  Definition d{{buffer("x", {24}), buffer("y", {24}, BufferRole::kOutput)}, {}};
  d.stages.push_back({"y", {1}, {{i, 24}}, {i}, {}, f(ValueExpr::load({0}, {i}))});
  return d;
}

/// The same over (4, 6).
Definition each_of_two(const std::function<ValueExpr(const ValueExpr&)>& f) {
  Definition d{{buffer("x", {4, 6}), buffer("y", {4, 6}, BufferRole::kOutput)}, {}};
  d.stages.push_back({"y", {1}, {{i, 4}, {j, 6}}, {i, j}, {}, f(ValueExpr::load({0}, {i, j}))});
  return d;
}

/// first, then second on its result, as one definition.
Definition chain(Definition first, const Definition& second) {
  const BufferId middle{static_cast<std::uint32_t>(first.buffers.size() - 1)};
  first.buffers[middle.value].role = BufferRole::kTemporary;
  const auto outputs = append(first, second, std::vector{middle}, "z_");
  first.buffers[outputs[0].value].role = BufferRole::kOutput;
  return inlined(first);
}

TEST(Compose, WhatFollowsAnAnchorIsComputedWithIt) {
  const auto whole = chain(product(), each_of_two([](const ValueExpr& x) { return max(x, ValueExpr()); }));
  EXPECT_EQ(to_string(whole), "z_y[i, j] = max(sum(k < 8, x[i, k] * w[k, j]), 0)\n");
}

TEST(Compose, CheapProducersAreComputedWhereTheyAreRead) {
  auto relu = each([](const ValueExpr& x) { return max(x, ValueExpr()); });
  const auto twice = chain(relu, each([](const ValueExpr& x) { return x * x; }));
  EXPECT_EQ(to_string(twice), "z_y[i] = max(x[i], 0) * max(x[i], 0)\n");
}

TEST(Compose, WhatCostsIsStoredWhereItIsReadMoreThanOnce) {
  Definition soft = each_of_two([](const ValueExpr& x) { return apply(Function::kExp, x); });
  Definition sum{{buffer("x", {4, 6}), buffer("y", {4, 6}, BufferRole::kOutput)}, {}};
  sum.stages.push_back({"y",
                        {1},
                        {{i, 4}, {j, 6}},
                        {i, j},
                        {},
                        ValueExpr::load({0}, {i, j}) /
                            ValueExpr::reduce(ValueExpr::Reduction::kSum, {{k, 6}}, {}, ValueExpr::load({0}, {i, k}))});
  EXPECT_EQ(chain(soft, sum).stages.size(), 2u);
  EXPECT_EQ(chain(product(), sum).stages.size(), 2u);
}

TEST(Compose, OtherSizesOfTheSameElementsAreReadThrough) {
  const auto whole = chain(product(), each([](const ValueExpr& x) { return x; }));
  ASSERT_EQ(whole.stages.size(), 2u);
  const auto copied =
      chain(each_of_two([](const ValueExpr& x) { return x; }), each([](const ValueExpr& x) { return x; }));
  EXPECT_EQ(to_string(copied), "z_y[i] = x[floor(i / 6), i mod 6]\n");
}

}  // namespace
