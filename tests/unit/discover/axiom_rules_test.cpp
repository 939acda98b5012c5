// Axioms as rules of a program.
#include "discover/axiom_rules.h"

#include <rewright/verify/certificate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "discover/axiom_bindings.h"
#include "support/rewriter.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::loaded;
using testing::read_graph;
using ::testing::SizeIs;

constexpr std::string_view kHead = R"((set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(define-fun activation.none () Int 0)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun matmul (Tensor Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)
)";

AxiomSet axioms_of(const std::string& text) {
  AxiomSet axioms;
  const Status status = axioms.add(std::string(kHead) + text, "test.smt2", loaded());
  EXPECT_TRUE(status) << status.error().message;
  return axioms;
}

std::string axiom(const std::string& name, const std::string& variables, const std::string& equation,
                  const std::string& ranks, const std::string& more = "") {
  return "(assert (! (forall (" + variables + ") " + equation + ") :named " + name + " :ranks \"" + ranks + "\" " +
         more + " :source \"a test\"))\n";
}

AxiomRules rules_for(const AxiomSet& axioms, const Graph& program) {
  auto rules = rules_of_axioms(axioms, program, loaded());
  EXPECT_TRUE(rules) << rules.error().message;
  return *std::move(rules);
}

/// Of all axiom files but those that are false.
AxiomSet all_axioms() {
  std::vector<std::string> files;
  for (const char* name : {"activation", "broadcast", "composition", "constants", "convolution", "elementwise",
                           "layout", "linear_algebra", "normalisation", "reshape"})
    files.push_back(std::string(REWRIGHT_SOURCE_DIR) + "/axioms/" + name + ".smt2");
  return *load_axioms(files, loaded());
}

std::size_t matches_in(const Rule& rule, const Graph& graph) {
  const Rewriter rewriter({rule});
  EXPECT_THAT(rewriter.unusable(), IsEmpty());
  return rewriter.matches(graph).size();
}

const std::string kTwoConvolutions =
    axiom("conv-over-weight-ewadd", "(s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (y Tensor) (z Tensor)",
          "(= (conv2d s p q d g activation.none x (ewadd y z)) (ewadd (conv2d s p q d g activation.none x y) "
          "(conv2d s p q d g activation.none x z)))",
          "x y z 4");

TEST(AxiomRules, HaveTheParametersOfTheProgramInBothDirections) {
  const Graph program = read_graph(
      "x = input (1, 4, 6, 6)\nw = weight (4, 4, 3, 3)\nv = weight (4, 4, 3, 3)\n"
      "a = conv2d[strides=[2, 1]](x, w)\nb = conv2d[strides=[2, 1]](x, v)\nc = ewadd(a, b)\noutput c\n");
  const AxiomRules found = rules_for(axioms_of(kTwoConvolutions), program);
  ASSERT_THAT(found.rules, SizeIs(2));
  EXPECT_THAT(found.rules[0].name, HasSubstr("conv-over-weight-ewadd-"));
  EXPECT_THAT(found.rules[1].name, HasSubstr("conv-over-weight-ewadd-back-"));
  for (const Rule& rule : found.rules) EXPECT_THAT(to_text(rule), HasSubstr("strides=[2, 1]"));
  EXPECT_EQ(found.used, 1u);
  EXPECT_EQ(matches_in(found.rules[0], program), 0u);
  EXPECT_GT(matches_in(found.rules[1], program), 0u);
}

TEST(AxiomRules, AskForWhatTheAxiomHoldsUnder) {
  // Under padding same both kernels give outputs of one size, and their sum does not exist.
  const Graph program = read_graph(
      "x = input (1, 4, 6, 6)\nw = weight (4, 4, 3, 3)\nv = weight (4, 4, 1, 1)\n"
      "a = conv2d(x, w)\nb = conv2d(x, v)\nc = ewadd(a, b)\noutput c\n");
  const AxiomRules found = rules_for(axioms_of(kTwoConvolutions), program);
  ASSERT_THAT(found.rules, SizeIs(2));
  EXPECT_EQ(matches_in(found.rules[1], program), 0u) << to_text(found.rules[1]);

  // The axiom's own condition, in words of sizes.
  const std::string square =
      axiom("square", "(x Tensor)", "(= (relu (relu x)) (relu x))", "x 2", ":condition \"x.0 = x.1\"");
  const Graph relus = read_graph("x = input (2, 3)\na = relu(x)\nb = relu(a)\noutput b\n");
  const AxiomRules conditional = rules_for(axioms_of(square), relus);
  ASSERT_FALSE(conditional.rules.empty());
  EXPECT_EQ(matches_in(conditional.rules[0], relus), 0u);
  EXPECT_EQ(matches_in(conditional.rules[0], read_graph("x = input (3, 3)\na = relu(x)\nb = relu(a)\noutput b\n")), 1u);
}

TEST(AxiomRules, OfAllFilesAreStepsThatTheCheckerAccepts) {
  const Graph program = read_graph(R"(
x = input (2, 4, 6, 6)
w = weight (4, 4, 3, 3)
s = weight (4)
b = weight (4)
m = weight (4)
v = weight (4)
c = conv2d(x, w)
n = batch_norm(c, s, b, m, v)
r = relu(n)
p = pool2d_avg[kernel=[3, 3]](r)
k = concat[axis=1](r, p)
h, i = split[axis=1, sizes=[4, 4]](k)
e = ewadd(h, i)
f = reshape[sizes=[2, 144]](e)
u = weight (144, 8)
q = matmul(f, u)
o = softmax[axis=1](q)
t = transpose(o)
output t
)");
  const AxiomSet axioms = all_axioms();
  const AxiomRules found = rules_for(axioms, program);
  EXPECT_GT(found.used, 60u);
  EXPECT_GT(found.rules.size(), found.used);
  EXPECT_THAT(found.refused, IsEmpty());
  CertificateChecker checker(axioms.axioms(), loaded());
  std::set<std::string> names, texts;
  for (const Rule& rule : found.rules) {
    EXPECT_EQ(rule.trust, Trust::kCertificate);
    const Status accepted = checker.check(rule, rule.certificate);
    EXPECT_TRUE(accepted) << to_text(rule) << "\n" << rule.certificate << accepted.error().message;
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    // What is written down and read again is the same rule, and its proof still one of it.
    const auto read = parse_rule(to_text(rule), loaded());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->id, rule.id) << to_text(rule);
    EXPECT_TRUE(checker.check(*read, rule.certificate));
  }
  EXPECT_THAT(names, Contains(HasSubstr("batch-norm-of-conv-")));
}

TEST(AxiomRules, AreMadeOfWhatOtherRulesBring) {
  // No transpose is there before the first rule was used.
  const AxiomSet axioms = axioms_of(
      axiom("turned", "(x Tensor) (y Tensor)",
            "(= (matmul x y) (transpose (sizes2 1 0) (matmul (transpose (sizes2 1 0) y) (transpose (sizes2 1 0) "
            "x))))",
            "x y 2") +
      axiom("twice", "(x Tensor)", "(= (transpose (sizes2 1 0) (transpose (sizes2 1 0) x)) x)", "x 2"));
  const Graph program = read_graph("x = input (2, 3)\ny = input (3, 4)\na = matmul(x, y)\noutput a\n");
  const AxiomRules found = rules_for(axioms, program);
  EXPECT_EQ(found.used, 2u);
  EXPECT_THAT(found.rules, SizeIs(3)) << "turned both ways; twice in one: a bare tensor is no source";
}

TEST(AxiomRules, AreNotMadeOfWhatIsFalse) {
  const AxiomSet axioms =
      axioms_of(axiom("wrong", "(x Tensor) (y Tensor)", "(= (relu (ewadd x y)) (ewadd (relu x) (relu y)))", "x y 2") +
                axiom("right", "(x Tensor)", "(= (relu (relu x)) (relu x))", "x 2"));
  const Graph program = read_graph("x = input (2, 3)\na = relu(x)\nb = ewadd(a, x)\nc = relu(b)\noutput c\n");
  const AxiomRules found = rules_for(axioms, program);
  EXPECT_EQ(found.used, 1u);
  for (const Rule& rule : found.rules) EXPECT_THAT(rule.name, HasSubstr("right"));
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_THAT(found.refused[0], HasSubstr("the axiom wrong is false, so that nothing is proved by it: "));
}

TEST(AxiomRules, AreNotMadeOfStepsThatTheCheckerRejects) {
  // Its operators are others than those that the axiom speaks of, though of the same names.
  Registry others;
  ASSERT_TRUE(others.load_default());
  const auto found = rules_of_axioms(axioms_of(axiom("right", "(x Tensor)", "(= (relu (relu x)) (relu x))", "x 2")),
                                     read_graph("x = input (2, 3)\na = relu(x)\nb = relu(a)\noutput b\n"), others);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->rules, IsEmpty());
  EXPECT_EQ(found->used, 0u);
  ASSERT_THAT(found->refused, SizeIs(1)) << "said once, not for every step";
  EXPECT_THAT(found->refused[0],
              HasSubstr("axiom right: the step '(x:2) relu(relu(x)) => relu(x)' is not accepted: output 0: step 1: "));
}

TEST(AxiomRules, EndWhereTheyAreToldToWhileAxiomsAreAudited) {
  AxiomRuleOptions options;
  options.progress = [](std::size_t, std::size_t) { return false; };
  const auto rules =
      rules_of_axioms(axioms_of(axiom("right", "(x Tensor)", "(= (relu (relu x)) (relu x))", "x 2")),
                      read_graph("x = input (2, 3)\na = relu(x)\nb = relu(a)\noutput b\n"), loaded(), options);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kBudget);
  EXPECT_EQ(rules.error().message, "stopped while axioms were audited");
}

TEST(AxiomRules, SayWhichAxiomsAreNone) {
  const AxiomSet axioms = axioms_of(axiom("commutes", "(x Tensor) (y Tensor)", "(= (ewadd x y) (ewadd y x))", "x y 2") +
                                    axiom("elsewhere", "(x Tensor)", "(= (relu (relu x)) (relu x))", "x 3"));
  const AxiomRules found = rules_for(axioms, read_graph("x = input (2, 3)\na = ewadd(x, x)\nb = relu(a)\noutput b\n"));
  EXPECT_THAT(found.undirected, ElementsAre("commutes")) << "a match does not see the order of operands";
  EXPECT_EQ(found.elsewhere, 1u) << "there is no tensor of rank 3";
  EXPECT_THAT(found.rules, IsEmpty());
}

TEST(AxiomRules, TakeTheParametersThatTheSideLeavesOpenFromTheAudit) {
  const AxiomSet axioms = axioms_of(axiom("first", "(a Int) (b Int) (t Sizes) (x Tensor) (y Tensor)",
                                          "(= (split.0 a t (concat b x y)) (split.0 a t (concat b x y)))", "x y 2",
                                          ":condition \"a != b\""));
  ProgramUses uses;
  uses.add(read_graph("x = input (2, 3)\na = concat[axis=1](x, x)\nb, c = split[axis=1, sizes=[1, 5]](a)\noutput b\n"));
  const Axiom& first = axioms.axioms()[0];
  const auto bindings = *bindings_at(first, first.left, uses, 100);
  ASSERT_THAT(bindings, SizeIs(1));
  EXPECT_EQ(std::get<std::int64_t>(bindings[0].at("a")), 1);
  EXPECT_EQ(std::get<std::int64_t>(bindings[0].at("b")), 1);
  EXPECT_EQ(std::get<SizeList<std::int64_t>>(bindings[0].at("t")).values.size(), 2u);
  EXPECT_THAT(*bindings_at(first, first.left, uses, 0), IsEmpty());
}

TEST(AxiomRules, AreNotMadeOfAnAxiomOutsideOfItsDomain) {
  const std::string of_domain = ":domain \"a 0; s _2\"";
  const AxiomSet axioms = axioms_of(axiom("first-part", "(a Int) (s Sizes) (x Tensor)",
                                          "(= (split.0 a s (relu x)) (relu (split.0 a s x)))", "x 2", of_domain));
  const auto inside =
      rules_for(axioms, read_graph("x = input (4, 4)\na = relu(x)\nb, c = split[axis=0, sizes=[2, 2]](a)\noutput b\n"));
  EXPECT_EQ(inside.rules.size(), 2u);
  EXPECT_THAT(inside.refused, IsEmpty());
  const auto outside =
      rules_for(axioms, read_graph("x = input (4, 4)\na = relu(x)\nb, c = split[axis=1, sizes=[2, 2]](a)\noutput b\n"));
  EXPECT_THAT(outside.rules, IsEmpty());
  EXPECT_THAT(outside.refused, ElementsAre(HasSubstr("axiom first-part is not claimed for a = 1")));
}

}  // namespace
}  // namespace rewright
