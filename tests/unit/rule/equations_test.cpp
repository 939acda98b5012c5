// Rules as equations: which conditions each output's equation has, and the order of operands as an axiom.
#include <rewright/verify/derivation.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "axiom/writer.h"
#include "support/own_operators.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The conditions of the equation of one output, as text.
std::vector<std::string> conditions(std::string_view text, std::size_t output) {
  const auto equations = equations_of(rewright::testing::read_rule(text));
  if (!equations) return {equations.error().message};
  std::vector<std::string> texts;
  for (const Constraint& condition : equations->at(output).condition) texts.push_back(to_string(condition));
  return texts;
}

// Inputs are x0, x1 and so on in an equation. y is an input of output 1 alone: for output 0 it may be anything, so long
// as there is such a thing.
TEST(Equations, LeaveOutWhatLargeInputsOfOtherOutputsMeet) {
  const std::string grows = "(x:1, y:1) relu(relu(x)), relu(relu(y)) => relu(x), relu(y) where y.0 >= x.0";
  EXPECT_THAT(conditions(grows, 0), IsEmpty()) << "whatever x is, a larger y is there";
  EXPECT_THAT(conditions(grows, 1), ElementsAre("x1.0 >= x0.0")) << "only larger inputs are looked for";
}

TEST(Equations, KeepWhatLargeInputsOfOtherOutputsNeedNotMeet) {
  const std::string valid =
      "(x:1, y:4, w:4) relu(relu(x)), relu(conv2d[padding=valid](y, w)) => relu(x), conv2d[padding=valid, "
      "activation=relu](y, w)";
  EXPECT_THAT(conditions(valid, 0), ::testing::Not(IsEmpty())) << "a larger kernel does not help";
  const std::string product =
      "(x:2, y:2) relu(relu(x)), relu(relu(y)) => relu(x), relu(y) where x.0*y.0 >= 8, floor((x.1) / 2) >= 1";
  EXPECT_THAT(conditions(product, 0), ::testing::SizeIs(2));
}

TEST(OperandOrder, IsAnAxiomWithAVariableForEachParameter) {
  const Registry own = test::load_own_operators(REWRIGHT_BUILD_DIR "/tests/plugins/rule/own_operators.so");
  const std::vector<Axiom> axioms = operand_order_axioms(own);
  const auto blend = std::ranges::find(axioms, "commutes.blend", &Axiom::name);
  ASSERT_NE(blend, axioms.end());
  EXPECT_THAT(*to_smt(*blend), HasSubstr("(forall ((x Tensor) (y Tensor) (p2 Real) (p3 Int) (p4 Sizes))\n"
                                         "    (= (blend p2 p3 p4 x y) (blend p2 p3 p4 y x)))"));
}

}  // namespace
}  // namespace rewright
