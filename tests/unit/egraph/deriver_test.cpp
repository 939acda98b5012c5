// Rules derived from rules: what follows, what is an instance, and that every derivation replays.
#include <rewright/egraph/prover.h>
#include <rewright/verify/certificate.h>
#include <rewright/verify/derivation.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Rule> rules(const std::vector<std::string>& texts) {
  std::vector<Rule> list;
  for (const std::string& text : texts) list.push_back(test::rule(text));
  return list;
}

RuleDeriver deriver(const std::vector<Rule>& library) {
  RuleDeriver made(test::plugins());
  for (const Rule& rule : library) EXPECT_TRUE(*made.add(rule)) << to_text(rule);
  return made;
}

Status replay(const std::vector<Rule>& library, const Rule& rule, std::string_view derivation) {
  REWRIGHT_TRY(DerivationChecker checker, DerivationChecker::over(library, test::plugins()));
  return checker.check(rule, derivation);
}

void expect_derived(const std::vector<std::string>& library_texts, const std::string& text) {
  const std::vector<Rule> library = rules(library_texts);
  const Rule rule = test::rule(text);
  const auto found = deriver(library).derive(rule);
  ASSERT_TRUE(found) << text << "\n" << found.error().message;
  const Status replayed = replay(library, rule, found->certificate);
  EXPECT_TRUE(replayed) << text << "\n" << found->certificate << replayed.error().message;
}

bool is_instance(const std::vector<std::string>& library_texts, const std::string& text) {
  const std::vector<Rule> library = rules(library_texts);
  const Rule rule = test::rule(text);
  const auto found = deriver(library).instance(rule);
  if (found) {
    const Status replayed = replay(library, rule, found->certificate);
    EXPECT_TRUE(replayed) << text << "\n" << found->certificate << replayed.error().message;
  }
  return found.has_value();
}

// Each output is a rewrite by itself: what it does not use is asked to exist, not to be there.
TEST(RuleDeriver, UsesOneOutputWithoutTheInputsOfAnother) {
  expect_derived({"(x:2, y:2, z:2) relu(relu(x)), transpose(matmul(y, z)) => relu(x), matmul(transpose(z), "
                  "transpose(y))"},
                 "(a:2) relu(relu(a)) => relu(a)");
  const std::string bounded = "(x:2, y:2) relu(relu(x)), relu(relu(y)) => relu(x), relu(y) where x.0 = y.0 + 1";
  expect_derived({bounded}, "(a:2) relu(relu(a)) => relu(a) where a.0 >= 2");
  const auto library = rules({bounded});
  EXPECT_TRUE(deriver(library).derive(test::rule("(a:2) relu(relu(a)) => relu(a)")));  // The second output's.
  // No size of y is known to exist where x.0 is its double.
  const auto doubled =
      rules({"(x:2, y:2) relu(relu(x)), sigmoid(sigmoid(y)) => relu(x), sigmoid(sigmoid(y)) where "
             "x.0 = 2*y.0"});
  EXPECT_FALSE(deriver(doubled).derive(test::rule("(a:2) relu(relu(a)) => relu(a)")));
  // The first output alone needs x.0 >= 2.
  const auto first = rules({"(x:2, y:2) relu(relu(x)), sigmoid(y) => relu(x), sigmoid(y) where x.0 = y.0 + 1"});
  EXPECT_FALSE(deriver(first).derive(test::rule("(a:2) relu(relu(a)) => relu(a)")));
  expect_derived({"(x:2, y:2) relu(relu(x)), sigmoid(y) => relu(x), sigmoid(y) where x.0 = y.0 + 1"},
                 "(a:2) relu(relu(a)) => relu(a) where a.0 >= 2");
}

const char* const kAssociates = "(a:2, b:2, c:2) matmul(matmul(a, b), c) => matmul(a, matmul(b, c))";

TEST(RuleDeriver, MayBeMovedAndSoMayItsChecker) {
  const std::vector<Rule> library = rules({"(x:2) relu(relu(x)) => relu(x)"});
  const Rule rule = test::rule("(x:2) relu(relu(relu(x))) => relu(x)");
  RuleDeriver first = deriver(library), moved(std::move(first));
  first = std::move(moved);
  const auto found = first.derive(rule);
  ASSERT_TRUE(found) << found.error().message;
  auto checker = DerivationChecker::over({}, test::plugins());
  ASSERT_TRUE(checker) << checker.error().message;
  EXPECT_FALSE(checker->check(rule, found->certificate));
  *checker = *DerivationChecker::over(library, test::plugins());
  EXPECT_TRUE(checker->check(rule, found->certificate));
}

TEST(RuleDeriver, AppliesARuleSeveralTimesAndBelowTheRoot) {
  expect_derived({kAssociates},
                 "(a:2, b:2, c:2, d:2) relu(matmul(matmul(matmul(a, b), c), d)) => "
                 "relu(matmul(a, matmul(b, matmul(c, d))))");
}
TEST(RuleDeriver, UsesARuleBackwards) {
  const std::vector<Rule> library = rules({kAssociates});
  const auto found =
      deriver(library).derive(test::rule("(a:2, b:2, c:2) matmul(a, matmul(b, c)) => "
                                         "matmul(matmul(a, b), c)"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->uses, ElementsAre(DerivationUse{library[0].id, true}));
  EXPECT_EQ(found->steps, 1u);
}
TEST(RuleDeriver, KnowsTheOrderOfOperands) {
  expect_derived({}, "(x:2, y:2) relu(ewadd(x, y)) => relu(ewadd(y, x))");
  EXPECT_FALSE(deriver({}).derive(test::rule("(x:2, y:2) concat(x, y) => concat(y, x)")));
}
TEST(RuleDeriver, UsesAnOutputOfARuleOfSeveral) {
  expect_derived({"(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y"},
                 "(x:2, y:2) let p, q = split[sizes=[x.0, y.0]](concat(x, y)) in relu(q), p => relu(y), x");
}
// What is proved of two parts follows for any number of them, link by link.
TEST(RuleDeriver, CarriesRulesOfTwoPartsToSeveral) {
  const std::vector<std::string> library = {
      "(x:2, y:2) relu(concat(x, y)) => concat(relu(x), relu(y))",
      "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y", "(x:2) concat(split[sizes=[s0, s1]](x)) => x",
      "(x:2, w:2, v:2) matmul(x, w), matmul(x, v) => split[axis=1, sizes=[w.1, v.1]](matmul(x, concat[axis=1](w, v)))"};
  for (const char* text :
       {"(x:2, y:2, z:2) relu(concat(x, y, z)) => concat(relu(x), relu(y), relu(z))",
        "(a:2, b:2, c:2, d:2, e:2) relu(concat(a, b, c, d, e)) => concat(relu(a), relu(b), relu(c), relu(d), relu(e))",
        "(x:2, y:2, z:2) split[sizes=[x.0, y.0, z.0]](concat(x, y, z)) => x, y, z",
        "(a:2, b:2, c:2, d:2, e:2) split[sizes=[a.0, b.0, c.0, d.0, e.0]](concat(a, b, c, d, e)) => a, b, c, d, e",
        "(x:2) concat(split[sizes=[s0, s1, s2, s3, s4]](x)) => x",
        "(x:2, w:2, v:2, u:2) matmul(x, w), matmul(x, v), matmul(x, u) => "
        "split[axis=1, sizes=[w.1, v.1, u.1]](matmul(x, concat[axis=1](w, v, u)))"})
    expect_derived(library, text);
  EXPECT_FALSE(deriver(rules({library[0]})).derive(test::rule("(x:2, y:2, z:2) concat(x, y, z) => concat(z, y, x)")));
}

TEST(RuleDeriver, UsesRulesOfSeveralParts) {
  expect_derived({"(x:2, y:2, z:2) relu(concat(x, y, z)) => concat(relu(x), relu(y), relu(z))"},
                 "(x:2, y:2, z:2) relu(relu(concat(x, y, z))) => concat(relu(relu(x)), relu(relu(y)), relu(relu(z)))");
}

TEST(ChainForm, LeavesARuleOfTwoPartsAsItIs) {
  const Rule two = test::rule("(x:2) concat(split[sizes=[s0, s1]](x)) => x");
  EXPECT_EQ(to_text(chain_form(two)), to_text(two));
  const Rule three = test::rule("(x:2) let p, q, r = split[sizes=[s0, s1, s2]](x) in concat(r, q, p) => x");
  EXPECT_EQ(to_text(chain_form(three)),
            "(x:2) let v0, v1 = split[sizes=[s0 + s1, s2]](x) in let v2, v3 = split[sizes=[s0, s1]](v0) in "
            "concat(concat(v1, v3), v2) => x");
  EXPECT_EQ(chain_form(three).id, three.id);
}

TEST(RuleDeriver, AnOutputByItselfClaimsNoMoreThanItsRule) {
  // Whoever takes output 0 alone must know that a fitting y exists: here one whose size, doubled, is that of x.
  const Rule rule =
      test::rule("(x:2, y:2) relu(x), relu(concat(x, y)) => relu(relu(x)), concat(relu(x), relu(y)) where x.0 = 2*y.0");
  const auto equations = equations_of(rule);
  ASSERT_TRUE(equations);
  ASSERT_EQ(equations->size(), 2u);
  EXPECT_FALSE((*equations)[0].condition.empty());
  EXPECT_FALSE(deriver({rule}).derive(test::rule("(x:2) relu(x) => relu(relu(x))")))
      << "nothing here says that a fitting y exists";
}
TEST(RuleDeriver, MeetsConditionsOnlyWhereTheyFollow) {
  const char* const law =
      "(v:4, w:4, x:4, y:4) conv2d(concat[axis=1](v, w), concat[axis=1](x, y)) => ewadd(conv2d(v, x), conv2d(w, y)) "
      "where v.1 = x.1";
  expect_derived(
      {law}, "(v:4, x:4) let a = conv2d(v, x) in ewadd(a, a) => conv2d(concat[axis=1](v, v), concat[axis=1](x, x))");
  EXPECT_FALSE(
      deriver(rules({law}))
          .derive(test::rule("(v:4, w:4, x:4, y:4) relu(conv2d(concat[axis=1](v, w), concat[axis=1](x, y))) => "
                             "relu(conv2d(concat[axis=1](w, v), concat[axis=1](y, x)))")))
      << "the cuts of images and kernels need not meet";
}
TEST(RuleDeriver, DerivesNoFalseRule) {
  const std::vector<Rule> library = rules({kAssociates, "(x:2) relu(relu(x)) => relu(x)",
                                           "(x:2, y:2, z:2) ewadd(ewadd(x, y), z) => ewadd(x, ewadd(y, z))"});
  RuleDeriver made = deriver(library);
  for (const std::string& text : test::wrong_rules()) EXPECT_FALSE(made.derive(test::rule(text))) << text;
}
TEST(RuleDeriver, AnswersTheSameWhateverItDerivedBefore) {
  const std::vector<Rule> library =
      rules({kAssociates, "(x:2, y:2, z:2) matmul(x, ewadd(y, z)) => ewadd(matmul(x, y), matmul(x, z))"});
  const Rule first = test::rule("(a:2, b:2) matmul(a, ewadd(b, b)) => let p = matmul(a, b) in ewadd(p, p)");
  const Rule second = test::rule(
      "(a:2, b:2, c:2) matmul(matmul(a, b), ewadd(c, c)) => "
      "let p = matmul(a, matmul(b, c)) in ewadd(p, p)");
  RuleDeriver used = deriver(library);
  const auto before = used.derive(second);
  ASSERT_TRUE(before && used.derive(first));
  EXPECT_EQ(used.derive(second)->certificate, before->certificate);
  EXPECT_EQ(deriver(library).derive(second)->certificate, before->certificate);
}

TEST(Instances, PutOneTensorInForSeveral) {
  EXPECT_TRUE(is_instance({kAssociates}, "(a:2) matmul(matmul(a, a), a) => matmul(a, matmul(a, a))"));
  EXPECT_FALSE(is_instance({"(a:2) matmul(matmul(a, a), a) => matmul(a, matmul(a, a))"}, kAssociates));
}
TEST(Instances, PutTermsInForInputs) {
  EXPECT_TRUE(
      is_instance({kAssociates}, "(a:2, b:2, c:2) matmul(matmul(a, relu(b)), c) => matmul(a, matmul(relu(b), c))"));
}
TEST(Instances, MayGoBackwardsAndExchangeOperands) {
  EXPECT_TRUE(is_instance({"(x:2, y:2, z:2) matmul(x, ewadd(y, z)) => ewadd(matmul(x, y), matmul(x, z))"},
                          "(x:2, y:2, z:2) ewadd(matmul(x, z), matmul(x, y)) => matmul(x, ewadd(y, z))"));
}
TEST(Instances, LeaveNoSizeOpen) {
  EXPECT_TRUE(is_instance({"(x:2) let v0, v1 = split[sizes=[s0, s1]](x) in relu(v1) => "
                           "let v0, v1 = split[sizes=[s0, s1]](relu(x)) in v1"},
                          "(x:2) let v0, v1 = split[sizes=[2, s0]](x) in relu(v1) => "
                          "let v0, v1 = split[sizes=[2, s0]](relu(x)) in v1"));
}
TEST(Instances, MayHaveATighterCondition) {
  EXPECT_TRUE(
      is_instance({"(x:2) transpose(transpose(x)) => x"}, "(x:2) transpose(transpose(x)) => x where x.0 = x.1"));
  EXPECT_FALSE(
      is_instance({"(x:2) transpose(transpose(x)) => x where x.0 = x.1"}, "(x:2) transpose(transpose(x)) => x"));
}
TEST(Instances, AreOneStep) {
  EXPECT_FALSE(is_instance({kAssociates},
                           "(a:2, b:2, c:2, d:2) matmul(matmul(matmul(a, b), c), d) => "
                           "matmul(a, matmul(b, matmul(c, d)))"));
}
TEST(Instances, HaveAllOutputsFromOneRule) {
  const std::vector<std::string> both = {"(x:2) relu(relu(x)) => relu(x)", "(x:2) transpose(transpose(x)) => x"};
  const std::string text = "(x:2, y:2) relu(relu(x)), transpose(transpose(y)) => relu(x), y";
  EXPECT_FALSE(is_instance(both, text));
  expect_derived(both, text);
}

TEST(Derivations, NameTheRulesThatTheyUse) {
  const auto uses = uses_of(
      "certificate 1\noutput 0\n. > abc.0@00000000 x=a\n0 < commutes.ewadd@00000000 x=a; y=b\n"
      "output 1\n. < abc.1@00000000 x=a\n. > abc.0@00000000 x=b\n");
  ASSERT_TRUE(uses);
  EXPECT_THAT(*uses, ElementsAre(DerivationUse{"abc", false}, DerivationUse{"abc", true}));
  EXPECT_THAT(uses_of("certificate 1\noutput 0\nno step\n").error().message, HasSubstr("line 3"));
}
TEST(Derivations, ThatCannotBeReadAreNotReversed) {
  const auto error = [](const std::string& step) {
    const auto reversed = reversed_certificate("certificate 1\noutput 0\n. > abc.0@00000000 x=a\n" + step + "\n");
    return reversed ? *reversed : reversed.error().message;
  };
  EXPECT_EQ(error(". < abc.1@00000000 x=a"),
            "certificate 1\noutput 0\n. > abc.1@00000000 x=a\n. < abc.0@00000000 x=a\n");
  for (const char* step : {"nothing", ". ", ". = abc.1@00000000 x=a", ""})
    EXPECT_EQ(error(step), fmt::format("line 4: '{}' is no step", step));
}
TEST(Derivations, OfALibraryWithoutTheRuleAreRejected) {
  const std::vector<Rule> library = rules({kAssociates});
  const Rule rule = test::rule("(a:2) matmul(matmul(a, a), a) => matmul(a, matmul(a, a))");
  const auto found = deriver(library).derive(rule);
  ASSERT_TRUE(found);
  EXPECT_TRUE(replay(library, rule, found->certificate));
  EXPECT_THAT(replay({}, rule, found->certificate).error().message, HasSubstr(library[0].id));
}

TEST(Converse, LeadsBackUnderItsOwnCondition) {
  const auto turned =
      converse(test::rule("(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v)) "
                          "where w.2 = v.2, w.3 = v.3"));
  ASSERT_TRUE(turned) << turned.error().message;
  EXPECT_EQ(to_text(*turned), "(x:4, w:4, v:4) conv2d(x, ewadd(w, v)) => ewadd(conv2d(x, w), conv2d(x, v))");
}
TEST(Converse, OfAConverseIsTheRule) {
  for (const std::string& text : test::true_rules()) {
    const auto turned = converse(test::rule(text));
    if (!turned) continue;
    const auto back = converse(*turned);
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(back->id, rule_id(test::rule(text))) << text << "\n" << to_text(*turned) << "\n" << to_text(*back);
  }
}
TEST(RuleDeriver, SaysWhetherItWasALimitThatEndedIt) {
  const std::vector<Rule> library = rules(
      {"(x:2, y:2) ewadd(x, y) => ewadd(y, x)", "(x:2, y:2, z:2) ewadd(ewadd(x, y), z) => ewadd(x, ewadd(y, z))"});
  const Rule wrong = test::rule(
      "(a:2, b:2, c:2, d:2, e:2) ewadd(ewadd(ewadd(ewadd(a, b), c), d), e) => ewadd(ewadd(ewadd(a, b), c), d) where "
      "a.0 = b.0");
  const auto limited = deriver(library).derive(wrong, {.nodes = 30});
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().code, ErrorCode::kBudget);
  EXPECT_THAT(limited.error().message, HasSubstr("a limit of the e-graph was reached"));
  const auto whole = deriver(rules({"(x:2) relu(relu(x)) => relu(x)"})).derive(test::rule("(x:2) relu(x) => x"));
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, ErrorCode::kNotFound);
}
TEST(Converse, IsNoneWhereTheTargetBindsTooLittle) {
  EXPECT_FALSE(converse(test::rule("(x:2) transpose(transpose(x)) => x"))) << "a bare input matches everything";
}
TEST(Converse, IsProvedByTheProofReadBackwards) {
  CertificateChecker checker(test::axioms().axioms(), test::plugins());
  std::size_t turned_rules = 0;
  for (const std::string& text : test::true_rules()) {
    const Rule rule = test::rule(text);
    const auto proof = EqualityProver(test::axioms().axioms()).prove(rule);
    const auto turned = converse(rule);
    if (!proof || !turned) continue;
    ++turned_rules;
    const auto certificate = reversed_certificate(proof->certificate);
    ASSERT_TRUE(certificate);
    const Status status = checker.check(*turned, *certificate);
    EXPECT_TRUE(status) << text << "\n" << *certificate << status.error().message;
  }
  EXPECT_GT(turned_rules, 10u);
}

}  // namespace
}  // namespace rewright
