// The audit: what it must find, what it must say, and that it says the same on any number of threads.
#include "axiom/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "axiom/counterexample.h"
#include "axiom/domain.h"
#include "axiom/typing_audit.h"
#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

using testing::HasSubstr;

std::string text_of_file(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

AuditOptions thorough() {
  AuditOptions options;
  options.max_sizes = 60;
  return options;
}

/// The axioms of a file with one piece of its text replaced, as far as its name goes.
Result<Axiom> mutated(const std::string& file, const std::string& name, const std::string& from,
                      const std::string& to) {
  std::string text = text_of_file(test::axiom_file(file));
  const std::size_t end = text.find(":named " + name + "\n");
  const std::size_t begin = text.rfind("(assert", end);
  const std::size_t place = text.find(from, begin);
  if (end == std::string::npos || place == std::string::npos || place > text.find("(assert", begin + 1))
    fail("no '" + from + "' in axiom " + name);
  text.replace(place, from.size(), to);
  AxiomSet set;
  if (auto status = set.add(text, file, test::operators()); !status) return status.error();
  for (const Axiom& axiom : set.axioms()) {
    if (axiom.name == name) return axiom;
  }
  fail("no axiom " + name);
}

struct Mutant {
  std::string file, name, from, to;
};
void PrintTo(const Mutant& mutant, std::ostream* out) {
  *out << mutant.name << ": " << mutant.from << " -> " << mutant.to;
}

class MutatedAxiom : public testing::TestWithParam<Mutant> {};

TEST_P(MutatedAxiom, IsFoundOut) {
  const auto axiom = mutated(GetParam().file, GetParam().name, GetParam().from, GetParam().to);
  ASSERT_TRUE(axiom) << axiom.error().message;
  const auto result = audit(*axiom, thorough());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->combinations, 0u);
  EXPECT_FALSE(result->holds) << "holds on " << result->combinations << " combinations";
  EXPECT_THAT(result->counterexample, HasSubstr("left"));
}
INSTANTIATE_TEST_SUITE_P(
    Axioms, MutatedAxiom,
    testing::Values(
        Mutant{"elementwise.smt2", "ewmul-over-ewadd", "(ewmul y z)", "(ewmul x z)"},
        Mutant{"elementwise.smt2", "relu-of-double", "(relu (ewadd x x))", "(relu (ewmul x x))"},
        Mutant{"elementwise.smt2", "relu-of-triple", "(ewadd (relu x) (relu x))", "(ewadd x (relu x))"},
        Mutant{"layout.smt2", "concat-associates", "(concat a y z)", "(concat a z y)"},
        Mutant{"layout.smt2", "concat-exchange", ":condition \"a != b\"", ":condition \"a = b\""},
        Mutant{"layout.smt2", "split-second-of-concat", "(concat a x y)) y", "(concat a x y)) x"},
        Mutant{"layout.smt2", "split-of-three-second", "(split.0 a (sizes2 n o)", "(split.1 a (sizes2 o n)"},
        Mutant{"layout.smt2", "transpose-of-concat-0", "(concat 0 x y)", "(concat 0 y x)"},
        Mutant{"linear_algebra.smt2", "transpose-of-matmul", "(transpose (sizes2 1 0) y)", "y"},
        Mutant{"linear_algebra.smt2", "smul-through-right-of-matmul", "(smul y s)", "(smul (smul y s) s)"},
        Mutant{"convolution.smt2", "conv-of-weight-concat", "(concat 0 y z)", "(concat 0 z y)"},
        Mutant{"convolution.smt2", "conv-over-data-ewadd", "g activation.none (ewadd x y) w",
               "g activation.relu (ewadd x y) w"},
        Mutant{"convolution.smt2", "average-as-convolution", "count_include_pad.yes", "count_include_pad.no"},
        Mutant{"convolution.smt2", "maximum-of-double", "(ewadd x x))", "(ewmul x x))"},
        Mutant{"convolution.smt2", "conv-of-enlarge", "(sizes2 1 1) g a x (enlarge", "(sizes2 2 2) g a x (enlarge"},
        Mutant{"convolution.smt2", "conv-grouped", "h*z.0 = g*w.0; ", ""}));

Axiom one(const std::string& assertion) {
  AxiomSet set;
  const std::string head = R"((declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun ewadd (Tensor Tensor) Tensor)
    (declare-fun relu (Tensor) Tensor)(declare-fun matmul (Tensor Tensor) Tensor)(declare-fun sigmoid (Tensor) Tensor)
    (declare-fun exp (Tensor) Tensor)(declare-fun ewmul (Tensor Tensor) Tensor)(declare-fun concat (Int Tensor Tensor) Tensor)
    (declare-fun pool2d_max (Sizes Sizes Int Sizes Tensor) Tensor)
    (declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor))";
  if (auto status = set.add(head + assertion, "f.smt2", test::operators()); !status) fail(status.error().message);
  return set.axioms()[0];
}

TEST(Audit, DrawsTheSmallestCounterexample) {
  const auto result = audit(one(R"((assert (! (forall ((x Tensor) (y Tensor)) (= (matmul x y) (matmul y x)))
      :named n :ranks "x y 2" :source "s")))"));
  ASSERT_TRUE(result);
  // 1 by 1 matrices commute; of 2 by 2 ones, these are the first of -1, 0 and 1 that do not.
  EXPECT_THAT(result->counterexample, testing::StartsWith("ranks: x 2, y 2\nx (2, 2) =\n"));
  EXPECT_THAT(result->counterexample, HasSubstr("left (2, 2) =\n"));
}

/// The audit of one axiom at its first ranks.
struct OneTyping {
  OneTyping(const std::string& assertion, const AuditOptions& how)
      : axiom(read(assertion)),
        typed(*specialise(axiom, axiom.ranks[0], {})),
        options(how),
        audit(typed, *domain_of(axiom, options.domain), options) {}
  static Axiom read(const std::string& assertion) {
    AxiomSet set;
    const Status status = set.add(
        "(declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun sizes1 (Int) Sizes)"
        "(define-fun keepdims.no () Int 0)(declare-fun neg (Tensor) Tensor)(declare-fun relu (Tensor) Tensor)"
        "(declare-fun ewadd (Tensor Tensor) Tensor)(declare-fun reduce_max (Sizes Int Tensor) Tensor)"
        "(declare-fun slice (Sizes Sizes Sizes Sizes Tensor) Tensor)" +
            assertion,
        "f.smt2", test::operators());
    if (!status) fail(status.error().message);
    return set.axioms()[0];
  }
  Axiom axiom;
  TypedAxiom typed;
  AuditOptions options;
  TypingAudit audit;
};

// The least of twelve numbers is hardly ever positive.
TEST(Audit, ShowsTheVeryNumbersWhereOthersShowNothing) {
  const std::string least = "(relu (neg (reduce_max (sizes1 0) keepdims.no (neg x))))";
  AuditResult result;
  std::optional<AuditFailure> failure;
  std::string shown, otherwise;
  for (std::uint64_t seed = 1; seed < 100'000 && !failure; ++seed) {
    AuditOptions options;
    options.seed = seed;
    OneTyping one(fmt::format(R"((assert (! (forall ((x Tensor)) (= {} (ewadd {} {})))
                      :named n :ranks "x 1" :domain "x.0 12" :source "s")))",
                              least, least, least),
                  options);
    failure = one.audit.run(result, [] { return false; });
    if (!failure) continue;
    shown = one.audit.describe(*failure);
    ++failure->point.seed;
    otherwise = one.audit.describe(*failure);
  }
  ASSERT_TRUE(failure) << "in " << result.combinations;
  EXPECT_THAT(shown, testing::StartsWith("ranks: x 1\nx (12) =\n"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("left = 0\n"))) << "the least is positive";
  EXPECT_NE(shown, otherwise);
}

TEST(Audit, ShowsNoNumbersWhereASizeIsBeyondAllNumbers) {
  OneTyping one(R"((assert (! (forall ((m Int) (x Tensor))
      (= (slice (sizes1 0) (sizes1 (* 4 m)) (sizes1 1) (sizes1 1) x) x)) :named n :ranks "x 1" :source "s")))",
                AuditOptions());
  const auto shown = [&](std::int64_t m) {
    return one.audit.describe({{m, 3}, {AuditPoint::Algebra::kField, Draw::kWhole, 1}});
  };
  EXPECT_THAT(shown(0), testing::StartsWith("ranks: x 1\nm = 0\nx (3) =\n"));
  EXPECT_EQ(shown(std::int64_t{1} << 62), "ranks: x 1\n");
}

TEST(Audit, CountsEveryCombinationOfSizes) {
  AuditOptions options;
  options.max_sizes = 0;
  options.max_dim = 4;
  const auto result = audit(one(R"((assert (! (forall ((x Tensor) (y Tensor)) (= (ewadd x y) (ewadd y x)))
      :named n :ranks "x y 1..3" :source "s")))"),
                            options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->combinations, 4u + 16u + 64u);
  EXPECT_TRUE(result->complete);
  EXPECT_GT(result->error, 0);
  EXPECT_LT(result->error, 1e-17);
}

TEST(Audit, SaysWhenAPartOfTheDomainWasLeftOut) {
  AuditOptions options;
  options.max_sizes = 5;
  const auto result = audit(one(R"((assert (! (forall ((x Tensor) (y Tensor)) (= (ewadd x y) (ewadd y x)))
      :named n :ranks "x y 3" :source "s")))"),
                            options);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->complete);
  EXPECT_LT(result->combinations, 27u);
}

TEST(Audit, GivesNoBoundWhereMaxDecides) {
  const auto result = audit(test::axiom("relu-relu"));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->holds);
  EXPECT_EQ(result->sampled, result->combinations);
}

TEST(Audit, LimitsSizesToTheDomainOfTheAxiom) {
  AuditOptions options;
  options.max_sizes = 0;
  const auto result = audit(one(R"((assert (! (forall ((x Tensor) (y Tensor)) (= (ewadd x y) (ewadd y x)))
      :named n :ranks "x y 2" :domain "x.0 2 3; x.1 3" :source "s")))"),
                            options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->combinations, 2u);
}

TEST(Audit, TellsALawOfEveryFunctionFromALawOfOne) {
  const std::string sum_law =
      R"((assert (! (forall ((x Tensor) (y Tensor)) (= (exp (ewadd x y)) (ewmul (exp x) (exp y))))
      :named n :ranks "x y 1" :source "s")";
  EXPECT_FALSE(audit(one(sum_law + "))"))->holds) << "over the field, exp is any function";
  EXPECT_TRUE(audit(one(sum_law + " :needs \"real-functions\"))"))->holds);
  const std::string any =
      R"((assert (! (forall ((x Tensor) (y Tensor)) (= (sigmoid (concat 0 x y)) (concat 0 (sigmoid x) (sigmoid y))))
      :named n :ranks "x y 1" :source "s")))";
  EXPECT_TRUE(audit(one(any))->holds);
  const std::string wrong = R"((assert (! (forall ((x Tensor) (y Tensor)) (= (exp (ewadd x y)) (ewadd (exp x) (exp y))))
      :named n :ranks "x y 1" :source "s" :needs "real-functions")))";
  EXPECT_FALSE(audit(one(wrong))->holds) << "nor is it a law of exp";
}

TEST(Audit, DoesNotDependOnTheNumberOfThreads) {
  const AxiomSet rejected = test::load({test::axiom_file("rejected.smt2")});
  AuditOptions options;
  options.max_sizes = 20;
  const auto alone = audit(rejected.axioms(), options);
  options.threads = 4;
  const auto together = audit(rejected.axioms(), options);
  ASSERT_TRUE(alone && together);
  for (std::size_t i = 0; i < alone->size(); ++i) {
    EXPECT_EQ((*alone)[i].combinations, (*together)[i].combinations);
    EXPECT_EQ((*alone)[i].counterexample, (*together)[i].counterexample);
  }
}

TEST(Audit, EndsWhenItIsTold) {
  AuditOptions options;
  int asked = 0;
  options.stop = [&] { return ++asked == 2; };
  const auto axioms = test::axioms().axioms().first(3);
  const auto results = audit(axioms, options);
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->size(), 3u);
  std::uint64_t done = 0;
  for (const AuditResult& result : *results) {
    EXPECT_TRUE(result.stopped && result.holds) << result.name;
    done += result.combinations;
  }
  EXPECT_GT(done, 0u);
  const auto whole = audit(axioms);
  ASSERT_TRUE(whole) << whole.error().message;
  for (const AuditResult& result : *whole) EXPECT_FALSE(result.stopped) << result.name;
}

TEST(AuditDomain, NamesWhatItCannotRead) {
  const auto error = [](const std::string& domain) {
    const auto result =
        audit(one(R"((assert (! (forall ((a Int) (x Tensor) (y Tensor)) (= (concat a x y) (concat a x y)))
      :named n :ranks "x y 2" :source "s" :domain ")" +
                  domain + "\"))"));
    return result ? std::string("no error") : result.error().message;
  };
  EXPECT_EQ(error("a 0"), "no error");
  EXPECT_THAT(error("b 1"), HasSubstr("axiom n: domain: 'b' is no parameter variable"));
  EXPECT_THAT(error("a [1"), HasSubstr("'[1' is no value of axis"));
  EXPECT_THAT(error("a"), HasSubstr("'a' has no values"));
  EXPECT_THAT(error("x.0 none"), HasSubstr("'none' is no size"));
  EXPECT_THAT(error("a [0,1]"), HasSubstr("'[0,1]' is a list, and axis is none"));
}

TEST(AuditDomain, RefusesAChoiceThatTheOperatorDoesNotHave) {
  const auto result =
      audit(one(R"((assert (! (forall ((s Sizes) (p Int) (x Tensor)) (= (pool2d_max s s p s x) (pool2d_max s s p s x)))
      :named n :ranks "x 4" :source "s" :domain "p 99")))"));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("'99' is no value of padding"));
}

TEST(Drawing, PutsRowsUnderEachOther) {
  const std::vector<std::string> elements = {"1", "-10", "0", "1/2"};
  EXPECT_EQ(drawing_of("x", Shape{2, 2}, elements), "x (2, 2) =\n      1  -10\n      0  1/2\n");
  EXPECT_EQ(drawing_of("s", Shape{}, std::vector<std::string>{"3"}), "s = 3\n");
  EXPECT_EQ(drawing_of("y", Shape{1, 2, 1, 2}, elements),
            "y (1, 2, 1, 2) =\n  y[0, 0]\n      1  -10\n  y[0, 1]\n      0  1/2\n");
}

}  // namespace
}  // namespace rewright
