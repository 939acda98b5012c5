// Where an axiom is claimed: what :domain says, that a use outside is refused, and that the audit draws from all of it.
#include "axiom/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "axiom/audit.h"
#include "axiom/domain.h"
#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

using testing::HasSubstr;

Axiom read_axiom(const std::string& assertion) {
  AxiomSet set;
  const std::string head =
      R"((declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun sizes2 (Int Int) Sizes)
    (declare-fun ewadd (Tensor Tensor) Tensor)(declare-fun neg (Tensor) Tensor)(declare-fun tanh (Tensor) Tensor)
    (declare-fun softmax (Int Tensor) Tensor)(declare-fun exp (Tensor) Tensor)(declare-fun ewmul (Tensor Tensor) Tensor)
    (declare-fun sigmoid (Tensor) Tensor)(declare-fun relu (Tensor) Tensor)
    (define-fun padding.same () Int 0)(declare-fun clip (Real Real Tensor) Tensor)(declare-fun power (Int Tensor) Tensor)
    (declare-fun pool2d_max (Sizes Sizes Int Sizes Tensor) Tensor)(declare-fun reshape (Sizes Tensor) Tensor))";
  if (auto status = set.add(head + assertion, "f.smt2", test::operators()); !status) fail(status.error().message);
  return set.axioms()[0];
}
std::string assertion(const std::string& variables, const std::string& equation, const std::string& more) {
  return "(assert (! (forall (" + variables + ") " + equation + ") :named n :source \"s\" " + more + "))";
}
Axiom clip_twice(const std::string& domain) {
  return read_axiom(assertion("(u Real) (v Real) (x Tensor)", "(= (clip u v (clip u v x)) (clip u v x))",
                              ":ranks \"x 1\" :domain \"" + domain + "\""));
}
/// "claimed", or the sentence.
std::string use_of(const Axiom& axiom, const ParamBinding& binding) {
  const auto typed = specialise(axiom, axiom.ranks[0], binding);
  return typed ? "claimed" : typed.error().message;
}
std::string clip_at(const std::string& domain, double low, double high) {
  return use_of(clip_twice(domain), {{"u", low}, {"v", high}});
}

TEST(Claim, IsWhatDomainSays) {
  EXPECT_EQ(clip_at("u -1.0 0.0; v 1.0", 0, 1), "claimed");
  EXPECT_EQ(
      clip_at("u -1.0 0.0; v 1.0", -0.5, 1),
      "f.smt2:6: axiom n is not claimed for u = -0.5: its :domain is \"u -1.0 0.0; v 1.0\", and the audit looks no "
      "further");
  EXPECT_EQ(clip_at("u -1.0..0", -0.5, 7), "claimed") << "what is not named may have any value";
  EXPECT_THAT(clip_at("u -1.0..0", 0.25, 7), HasSubstr("not claimed for u = 0.25"));
  EXPECT_EQ(clip_at("u ..-2 5", -9, 7), "claimed");
  EXPECT_EQ(clip_at("u ..-2 5", 5, 7), "claimed");
  EXPECT_THAT(clip_at("u ..-2 5", 0, 7), HasSubstr("u = 0"));
  EXPECT_EQ(clip_at("u any -1.0; v 2..", -77, 2), "claimed") << "any: the values are those that are tried first";
  EXPECT_EQ(clip_at("u 1/6 -1/3..0", 1.0 / 6, 7), "claimed");
  EXPECT_EQ(clip_at("u 1/6 -1/3..0", -1.0 / 3, 7), "claimed");
  EXPECT_THAT(clip_at("u -1.0", 1.0 / 6, 7), HasSubstr("not claimed for u = 1/6"));
  EXPECT_THAT(clip_at("v 2..", 0, std::numeric_limits<double>::quiet_NaN()), HasSubstr("not claimed for v = nan"));
}
TEST(Claim, RelatesParameters) {
  EXPECT_EQ(clip_at("u <= v", 1, 1), "claimed");
  EXPECT_THAT(clip_at("u <= v", 2, 1), HasSubstr("not claimed for u = 2, v = 1"));
  EXPECT_THAT(clip_at("u < v", 1, 1), HasSubstr("u = 1, v = 1"));
  EXPECT_THAT(clip_at("u != v", 1, 1), HasSubstr("not claimed"));
  EXPECT_EQ(clip_at("v > 0; u >= -1", -1, 0.5), "claimed");
  EXPECT_THAT(clip_at("v > 0; u >= -1", -1, 0), HasSubstr("not claimed for v = 0"));
  EXPECT_THAT(clip_at("u = 3", 2, 7), HasSubstr("u = 2"));
}
TEST(Claim, OfListsCountsElementsAndLengths) {
  const Axiom pool = read_axiom(assertion("(k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor)",
                                          "(= (pool2d_max k s p q x) (pool2d_max k s p q x))",
                                          ":ranks \"x 4\" :domain \"k 1..3; s [1,1]; p same; q [0,0,0,0]\""));
  using Ints = std::vector<std::int64_t>;
  const auto at = [&](const Ints& kernel, std::int64_t padding) {
    return use_of(pool, {{"k", kernel}, {"s", Ints{1, 1}}, {"p", padding}, {"q", Ints{0, 0, 0, 0}}});
  };
  EXPECT_EQ(at({3, 1}, 0), "claimed");
  EXPECT_THAT(at({3, 4}, 0), HasSubstr("k = [3,4]"));
  EXPECT_THAT(at({3, 3}, 1), HasSubstr("p = 1"));
  const Axiom shaped = read_axiom(assertion("(s Sizes) (x Tensor)", "(= (reshape s (relu x)) (relu (reshape s x)))",
                                            ":ranks \"x 1\" :domain \"s _1.._2\""));
  const auto length = [&](std::size_t n) { return use_of(shaped, {{"s", SizeList<std::int64_t>{Ints(n)}}}); };
  EXPECT_EQ(length(2), "claimed");
  EXPECT_THAT(length(3), HasSubstr("s = a list of 3 sizes"));
}
// Sizes of a rule are not known when it is made: the claim becomes a condition.
TEST(Claim, OnSizesIsACondition) {
  const auto conditions = [](const std::string& domain) {
    const Axiom axiom = read_axiom(
        assertion("(x Tensor)", "(= (relu (relu x)) (relu x))", ":ranks \"x 2\" :domain \"" + domain + "\""));
    const auto typed = specialise(axiom, axiom.ranks[0], {});
    if (!typed) fail(typed.error().message);
    std::vector<std::string> texts;
    for (const Constraint& condition : *typed->left_to_right) texts.push_back(to_string(condition));
    return texts;
  };
  EXPECT_THAT(conditions("x.0 any 1 2"), testing::IsEmpty());
  EXPECT_THAT(conditions("x.0 3..7"), testing::ElementsAre("x.0 >= 3", "7 >= x.0"));
  const auto one_of = conditions("x.0 1 4");
  ASSERT_EQ(one_of.size(), 1u);
  const auto met = [&](std::int64_t size) {
    return Constraint::parse(one_of[0])->holds([&](SizeVar) { return std::optional(size); });
  };
  EXPECT_TRUE(*met(1) && *met(4)) << one_of[0];
  EXPECT_FALSE(*met(2)) << one_of[0];
}
TEST(Claim, NamesWhatItCannotRead) {
  const auto error = [](const std::string& domain) {
    const auto claim = read_claim(clip_twice(domain));
    return claim ? "none" : claim.error().message;
  };
  EXPECT_THAT(error("u 2..1"), HasSubstr("f.smt2:6: axiom n: domain: '2..1' is no range; expected LOW..HIGH"));
  EXPECT_THAT(error("u .."), HasSubstr("'..' is no range"));
  EXPECT_THAT(error("u one..2"), HasSubstr("'one..2' is no range"));
  EXPECT_THAT(error("u < w"), HasSubstr("'w' is no parameter variable that is a number"));
  EXPECT_THAT(error("x.0 1 2..3"), HasSubstr("x.0 is a size; expected one range or a list of sizes"));
  EXPECT_THAT(error("u _1.._2"), HasSubstr("'_1.._2' is no range of lengths"));
  EXPECT_EQ(error("u any; v -1e6..1e6; x.0 2.."), "none");
}

// --- what the audit makes of it --------------------------------------------------------------------------------------

bool holds(const std::string& variables, const std::string& equation, const std::string& more) {
  const auto result = audit(read_axiom(assertion(variables, equation, more)));
  if (!result) fail(result.error().message);
  EXPECT_GT(result->combinations + result->drawn, 0u);
  return result->holds;
}
const std::string kClip = "(u Real) (v Real) (x Tensor)";

TEST(WideAudit, DrawsParametersFromAllThatIsClaimed) {
  const std::string twice = "(= (clip 0.0 8.0 (clip 0.0 v x)) (clip 0.0 v x))";
  EXPECT_TRUE(holds("(v Real) (x Tensor)", twice, ":ranks \"x 1\" :domain \"v 0..8\""));
  EXPECT_FALSE(holds("(v Real) (x Tensor)", twice, ":ranks \"x 1\" :domain \"v any 1.0 2.0\""))
      << "false beyond 8, where no value listed lies";
  EXPECT_FALSE(holds("(v Real) (x Tensor)", twice, ":ranks \"x 1\" :domain \"v 0.. 1.0\""));
}
TEST(WideAudit, DrawsSizesBeyondThoseThatAreAllTried) {
  const std::string pools =
      "(= (pool2d_max (sizes2 7 7) (sizes2 1 1) padding.same q (pool2d_max (sizes2 7 7) (sizes2 1 1) padding.same q "
      "x)) "
      "(pool2d_max (sizes2 7 7) (sizes2 1 1) padding.same q x))";
  EXPECT_FALSE(holds("(q Sizes) (x Tensor)", pools, ":ranks \"x 4\"")) << "true up to size 4";
  EXPECT_TRUE(holds("(q Sizes) (x Tensor)", pools, ":ranks \"x 4\" :domain \"x.2 1..4; x.3 1..4\""))
      << "there it holds";
}
TEST(WideAudit, FindsWhatIsFalseForLargeNumbersAlone) {
  EXPECT_FALSE(
      holds("(x Tensor)", "(= (exp (clip (- 50.0) 50.0 x)) (exp x))", ":ranks \"x 1\" :needs \"real-functions\""));
  EXPECT_FALSE(holds(kClip, "(= (clip u v x) x)", ":ranks \"x 1\" :domain \"u -1e20; v 1e20\""));
}
// What rounding does is many times what is left of each result.
TEST(WideAudit, RefutesNoTrueLawByRounding) {
  const std::string real = ":ranks \"x y 2\" :needs \"real-functions\"";
  EXPECT_TRUE(holds("(x Tensor) (y Tensor)", "(= (ewadd (ewadd (tanh x) y) (neg y)) (tanh x))", real));
  EXPECT_TRUE(holds("(x Tensor) (y Tensor)", "(= (exp (ewadd x y)) (ewmul (exp x) (exp y)))", real));
  EXPECT_TRUE(holds("(x Tensor)", "(= (ewadd (sigmoid x) (sigmoid (neg x))) (ewadd (sigmoid (neg x)) (sigmoid x)))",
                    ":ranks \"x 2\" :needs \"real-functions\""));
  EXPECT_FALSE(holds("(x Tensor) (y Tensor)", "(= (ewadd (ewadd (tanh x) y) (neg y)) (tanh (ewadd x x)))", real));
  EXPECT_FALSE(holds("(x Tensor) (y Tensor)", "(= (exp (ewadd x y)) (ewmul (exp x) (exp (ewadd y y))))", real));
}
TEST(WideAudit, IsTheSameForTheSameSeed) {
  const Axiom axiom = read_axiom(assertion(kClip, "(= (clip u v x) x)", ":ranks \"x 0..3\" :domain \"u -1e6; v 1e6\""));
  AuditOptions options;
  const auto first = audit(axiom, options), again = audit(axiom, options);
  EXPECT_EQ(first->counterexample, again->counterexample);
  EXPECT_EQ(first->drawn, again->drawn);
  options.wide_typings = 0;
  options.max_sizes = 1;
  EXPECT_EQ(audit(axiom, options)->drawn, 0u);
}

}  // namespace
}  // namespace rewright
