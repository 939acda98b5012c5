// Proofs and derivations over operators that a plugin brings.
#include "support/own_operators.h"

#include <rewright/egraph/prover.h>
#include <rewright/verify/certificate.h>
#include <rewright/verify/derivation.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rewright {
namespace {

using ::testing::HasSubstr;

const Registry& own() {
  static const Registry kRegistry =
      test::load_own_operators(REWRIGHT_BUILD_DIR "/tests/plugins/egraph/own_operators.so");
  return kRegistry;
}
Rule rule(std::string_view text) {
  auto parsed = parse_rule(text, own());
  if (!parsed) fail(fmt::format("{}: {}", text, parsed.error().message));
  return *std::move(parsed);
}

TEST(EqualityProver, WritesANumberWithAFractionBesideSizes) {
  AxiomSet axioms;
  const Status read = axioms.add(R"((declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun relu (Tensor) Tensor)
(declare-fun ewadd (Tensor Tensor) Tensor)(declare-fun resized (Sizes Real Tensor) Tensor)
(assert (! (forall ((x Tensor)) (= (relu (relu x)) (relu x))) :named twice :ranks "x 1..2" :source "s"))
(assert (! (forall ((s Sizes) (u Real) (x Tensor) (y Tensor))
    (= (resized s u (ewadd x y)) (ewadd (resized s u x) (resized s u y)))) :named sums :ranks "x y 2" :source "s")))",
                                 "own.smt2", own());
  ASSERT_TRUE(read) << read.error().message;
  EqualityProver prover(axioms.axioms());
  CertificateChecker checker(axioms.axioms(), own());
  const auto expect_proved = [&](const Rule& goal, const std::string& cited) {
    const auto proof = prover.prove(goal);
    ASSERT_TRUE(proof) << to_text(goal) << "\n" << proof.error().message;
    EXPECT_THAT(proof->certificate, HasSubstr(cited));
    const Status accepted = checker.check(goal, proof->certificate);
    EXPECT_TRUE(accepted) << proof->certificate << accepted.error().message;
  };
  expect_proved(
      rule("(x:2) relu(relu(resized[sizes=[x.0*x.1], by=0.5](x))) => relu(resized[sizes=[x.0*x.1], by=0.5](x))"),
      " x=resized[sizes=[x.0*x.1], by=0.5](x)\n");
  expect_proved(rule("(x:2, y:2) resized[sizes=[x.1, x.0], by=-2.5](ewadd(x, y)) => "
                     "ewadd(resized[sizes=[x.1, x.0], by=-2.5](x), resized[sizes=[x.1, x.0], by=-2.5](y))"),
                " s=[x.1, x.0]; u=-2.5; x=x; y=y\n");
  EXPECT_FALSE(
      prover.prove(rule("(x:2, y:2) resized[sizes=[x.1, x.0], by=2](ewadd(x, y)) => "
                        "ewadd(resized[sizes=[x.1, x.0], by=2](x), resized[sizes=[x.1, x.0], by=3](y))")));
}

TEST(RuleDeriver, KnowsTheOrderOfOperandsUnderEveryKindOfParameter) {
  RuleDeriver deriver(own());
  const std::vector<Rule> library = {rule("(x:2) relu(relu(x)) => relu(x)")};
  ASSERT_TRUE(*deriver.add(library[0]));
  const Rule exchanged = rule(
      "(x:2, y:2) ewadd(relu(relu(blend[by=0.5, mode=product, marks=[1, 2]](x, y))), x) => "
      "ewadd(relu(blend[by=0.5, mode=product, marks=[1, 2]](y, x)), x)");
  const Rule other =
      rule("(x:2, y:2) ewadd(relu(relu(blend[by=0.5](x, y))), x) => ewadd(relu(blend[by=1.5](y, x)), x)");
  const auto found = deriver.derive(exchanged);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->certificate, HasSubstr("commutes.blend"));
  auto checker = DerivationChecker::over(library, own());
  ASSERT_TRUE(checker) << checker.error().message;
  const Status accepted = checker->check(exchanged, found->certificate);
  EXPECT_TRUE(accepted) << found->certificate << accepted.error().message;
  EXPECT_FALSE(deriver.derive(other)) << "the parameters differ";
}

}  // namespace
}  // namespace rewright
