// What follows from definitions: traits that no operator may claim against, arithmetic, how operands are read.
#include "operator/properties.h"

#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/applications.h"
#include "support/operators.h"

namespace rewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum AxisUse;

Definition definition_of(std::string_view call, const std::vector<Shape>& in) {
  const testing::Call application = testing::call(call);
  return *application.op->definition(application.params, in);
}

TEST(Properties, EveryOperatorsTraitsAreThoseOfItsDefinition) {
  std::size_t multilinear = 0;
  for (const Operator* op : testing::loaded().all<Operator>()) {
    for (const contract::Application& application : contract::ApplicationSource(*op, 5).accepted(20, 300, 200'000)) {
      const auto definition = op->definition(application.params, application.in);
      if (!definition) continue;
      const Traits said = op->traits(application.params), found = traits_of(*definition);
      const std::string where = to_string(application) + "\n" + to_string(*definition);
      EXPECT_TRUE(!said.multilinear || found.multilinear) << where;
      EXPECT_TRUE(said.uses_order || !found.uses_order) << where;
      EXPECT_TRUE(said.uses_functions || !found.uses_functions) << where;
      multilinear += found.multilinear ? 1 : 0;
    }
  }
  EXPECT_GT(multilinear, 100U);
}

TEST(Properties, TraitsFollowFromTheFormula) {
  EXPECT_TRUE(traits_of(definition_of("matmul", {{2, 3}, {3, 4}})).multilinear);
  EXPECT_TRUE(traits_of(definition_of("pad[before=[1], after=[2]]", {{3}})).multilinear);
  EXPECT_FALSE(traits_of(definition_of("pad[before=[1], after=[2], value=1]", {{3}})).multilinear);
  EXPECT_FALSE(traits_of(definition_of("ewadd", {{3}, {3}})).multilinear);  // x + 0 is not 0 where x is not.
  EXPECT_FALSE(traits_of(definition_of("concat[axis=0]", {{3}, {2}})).multilinear);
  EXPECT_TRUE(traits_of(definition_of("cumsum[axis=0]", {{3}})).multilinear);
  const Traits lstm =
      traits_of(definition_of("lstm", {{3, 1, 2}, {1, 8, 2}, {1, 8, 2}, {1, 16}, {1, 1, 2}, {1, 1, 2}}));
  EXPECT_TRUE(lstm.uses_functions && !lstm.multilinear && !lstm.uses_order);
  const Traits softmax = traits_of(definition_of("softmax[axis=0]", {{3}}));
  EXPECT_TRUE(softmax.uses_order && softmax.uses_functions && !softmax.multilinear);
}

TEST(Properties, OperationsAreCountedByElement) {
  EXPECT_EQ(operations_of(definition_of("matmul", {{2, 3}, {3, 4}})), 2.0 * 2 * 3 * 4);
  EXPECT_EQ(operations_of(definition_of("ewadd", {{5}, {5}})), 5);
  EXPECT_EQ(operations_of(definition_of("transpose", {{5, 2}})), 0);
  EXPECT_EQ(operations_of(definition_of("pad[before=[1], after=[2]]", {{3}})), 0);
  EXPECT_EQ(operations_of(definition_of("reduce_sum[axes=[1]]", {{4, 6}})), 4 * 6);
  EXPECT_EQ(operations_of(definition_of("cumsum[axis=1]", {{4, 6}})), 4 * 6);
}

TEST(Properties, ATensorInOtherSizesIsNotMoved) {
  EXPECT_TRUE(keeps_order(definition_of("reshape[sizes=[2, 6]]", {{3, 4}})));
  EXPECT_TRUE(keeps_order(definition_of("reshape[sizes=[3, 4]]", {{3, 4}})));
  EXPECT_FALSE(keeps_order(definition_of("transpose", {{3, 4}})));
  EXPECT_FALSE(keeps_order(definition_of("neg", {{3}})));
  EXPECT_FALSE(keeps_order(definition_of("slice[axes=[0], starts=[1], sizes=[2], steps=[1]]", {{3}})));
  EXPECT_FALSE(keeps_order(definition_of("concat[axis=0]", {{3}, {2}})));
}

std::vector<AxisUse> axes_of(std::string_view call, const std::vector<Shape>& in, std::size_t operand) {
  const auto uses = operand_uses(definition_of(call, in));
  return uses && operand < uses->size() ? (*uses)[operand].axes : std::vector<AxisUse>{};
}

TEST(Properties, OperandsAreReadAxisByAxis) {
  EXPECT_THAT(axes_of("matmul", {{2, 3}, {3, 4}}, 0), ElementsAre(kSame, kAll));
  EXPECT_THAT(axes_of("matmul", {{2, 3}, {3, 4}}, 1), ElementsAre(kAll, kSame));
  EXPECT_THAT(axes_of("softmax[axis=1]", {{2, 5}}, 0), ElementsAre(kSame, kAll));
  EXPECT_THAT(axes_of("concat[axis=1]", {{2, 5}, {2, 3}}, 1), ElementsAre(kSame, kSame));
  EXPECT_THAT(axes_of("cumsum[axis=1]", {{2, 5, 3}}, 0), ElementsAre(kSame, kAll, kSame));
  EXPECT_THAT(axes_of("transpose", {{2, 5}}, 0), ElementsAre(kOther, kOther));
  EXPECT_THAT(axes_of("conv2d[padding=valid]", {{1, 3, 4, 4}, {2, 3, 2, 2}}, 0),
              ElementsAre(kSame, kWindow, kWindow, kWindow));
  EXPECT_THAT(axes_of("pool2d_max[kernel=[2, 2], padding=valid]", {{2, 3, 4, 4}}, 0),
              ElementsAre(kSame, kSame, kWindow, kWindow));
}

TEST(Properties, AxesThatMoveAreAPermutation) {
  EXPECT_THAT(*permutation_of(definition_of("transpose[perm=[2, 0, 1]]", {{2, 3, 4}})), ElementsAre(2, 0, 1));
  EXPECT_FALSE(permutation_of(definition_of("relu", {{2, 3}})));
  EXPECT_FALSE(permutation_of(definition_of("slice[axes=[0], starts=[0], sizes=[1], steps=[1]]", {{2, 3}})));
}

TEST(Properties, CutsAreWhereTensorsAreJoined) {
  EXPECT_THAT(cuts_along(definition_of("concat[axis=1]", {{1, 3, 2}, {1, 5, 2}}), 1), ElementsAre(3, 5));
  EXPECT_THAT(cuts_along(definition_of("concat[axis=2]", {{1, 3, 2}, {1, 3, 2}}), 1), IsEmpty());
  EXPECT_THAT(cuts_along(definition_of("relu", {{1, 3, 2}}), 1), IsEmpty());
}

TEST(Properties, SameByColumnsMayMeanAnotherAxis) {
  const Definition rows = definition_of("bias_add[axis=1]", {{2, 3}, {3}});
  EXPECT_TRUE(says_same_by_columns(rows, definition_of("bias_add[axis=0]", {{3, 2}, {3}})));
  EXPECT_FALSE(says_same_by_columns(rows, definition_of("bias_add[axis=1]", {{3, 2}, {2}})));
  EXPECT_TRUE(says_same_by_columns(definition_of("relu", {{2, 3}}), definition_of("relu", {{3, 2}})));
  EXPECT_FALSE(says_same_by_columns(definition_of("relu", {{2, 3}}), definition_of("exp", {{3, 2}})));
}

}  // namespace
}  // namespace rewright
