// Axioms over operators that a plugin brings: what they are read against, and how the audit evaluates them.
#include "support/own_operators.h"

#include <rewright/axiom/axiom.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "axiom/audit.h"
#include "axiom/writer.h"

namespace rewright {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Registry& with_own_operators() {
  static const Registry kRegistry =
      test::load_own_operators(REWRIGHT_BUILD_DIR "/tests/plugins/axiom/own_operators.so");
  return kRegistry;
}

/// The audit of one axiom over these operators.
AuditResult audited(const std::string& assertion) {
  AxiomSet set;
  const Status read = set.add(
      "(declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun dim (Int Tensor) Int)"
      "(declare-fun sizes2 (Int Int) Sizes)(declare-fun resized (Sizes Real Tensor) Tensor)"
      "(declare-fun ewadd (Tensor Tensor) Tensor)(declare-fun matmul (Tensor Tensor) Tensor)" +
          assertion,
      "own.smt2", with_own_operators());
  if (!read) fail(read.error().message);
  auto result = audit(set.axioms()[0]);
  if (!result) fail(result.error().message);
  return *std::move(result);
}

TEST(Audit, EvaluatesANumberWithAFractionBesideSizes) {
  const auto resized = [](const std::string& by) {
    return audited("(assert (! (forall ((x Tensor)) (= (resized (sizes2 (dim 0 x) (dim 1 x)) " + by +
                   " (ewadd x x)) x)) :named half :ranks \"x 2\" :source \"s\"))");
  };
  const AuditResult half = resized("0.5"), third = resized("0.25");
  EXPECT_TRUE(half.holds) << half.counterexample;
  EXPECT_EQ(half.combinations, 9u);
  EXPECT_FALSE(third.holds);
  EXPECT_THAT(third.counterexample, HasSubstr("left (1, 1) ="));
}

// 1 by 1 matrices commute. No size of 2 or 3 is asked for, and 5 is past the greatest size of the search for a small
// counterexample.
TEST(Audit, ShowsAFailureThatIsOnlyPastTheGreatestSize) {
  const AuditResult result = audited(
      "(assert (! (forall ((x Tensor) (y Tensor)) (= (matmul x y) (matmul y x))) :named n :ranks \"x y 2\" :domain "
      "\"x.0 1 5; x.1 1 5; y.0 1 5; y.1 1 5\" :source \"s\"))");
  EXPECT_FALSE(result.holds);
  EXPECT_THAT(result.counterexample, StartsWith("ranks: x 2, y 2\nx (5, 5) =\n"));
  EXPECT_THAT(result.counterexample, HasSubstr("left (5, 5) ="));
}

TEST(AxiomReader, RefusesAConventionThatALoadedOperatorDoesNotKeep) {
  // A maximum that pads with 0, though every element may be negative.
  Registry zeros;
  ASSERT_TRUE(zeros.load(REWRIGHT_BUILD_DIR "/tests/plugins/axiom/pooling_zeros.so"));
  const std::string text = "(set-info :pool-max-padding \"never the greatest\")";
  AxiomSet set;
  EXPECT_TRUE(set.add(text, "f.smt2", with_own_operators()));
  const Status kept = set.add(text, "f.smt2", zeros), other = set.add(text, "f.smt2", Registry());
  ASSERT_FALSE(kept);
  EXPECT_EQ(
      kept.error().message,
      "f.smt2:1:1: the file says pool-max-padding \"never the greatest\", but the loaded operator pool2d_max does "
      "otherwise");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("pool2d_max"));
}

TEST(AxiomWriter, RefusesANumberThatIsNotFinite) {
  AxiomSet set;
  const Status read = set.add(
      "(declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun sizes0 () Sizes)"
      "(declare-fun resized (Sizes Real Tensor) Tensor)"
      "(assert (! (forall ((x Tensor)) (= (resized sizes0 2.0 x) x)) :named n :ranks \"x 0\" :source \"s\"))",
      "f.smt2", with_own_operators());
  ASSERT_TRUE(read) << read.error().message;
  Axiom axiom = set.axioms()[0];
  axiom.terms[axiom.left].params[1] = -std::numeric_limits<double>::infinity();
  const auto text = to_smt(axiom);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "axiom n: the parameter by is -inf, which axioms cannot state");
}

}  // namespace
}  // namespace rewright
