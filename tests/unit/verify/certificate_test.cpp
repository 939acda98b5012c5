// The checker of certificates accepts what the e-graph proves and no certificate that was tampered with.
#include <rewright/egraph/prover.h>
#include <rewright/verify/certificate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/random.h"
#include "unit/verify/rules.h"
#include "verify/certificate_text.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;

std::string certificate_of(const Rule& rule) {
  EqualityProver prover(test::axioms().axioms());
  const auto proof = prover.prove(rule);
  if (!proof) fail(proof.error().message);
  return proof->certificate;
}
Status check(const Rule& rule, std::string_view certificate, const AxiomSet& axioms = test::axioms()) {
  return CertificateChecker(axioms.axioms(), test::plugins()).check(rule, certificate);
}
std::string reason(const Status& status) { return status ? "accepted" : status.error().message; }
std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const auto at = text.find(what);
  if (at == std::string::npos) fail(fmt::format("'{}' is not in:\n{}", what, text));
  return text.replace(at, what.size(), by);
}
std::string digest_of(std::string_view name, const AxiomSet& axioms = test::axioms()) {
  const auto found = std::ranges::find(axioms.axioms(), name, &Axiom::name);
  if (found == axioms.axioms().end()) fail(fmt::format("there is no axiom {}", name));
  return statement_digest(*found);
}
/// "NAME@DIGEST" of an axiom of this tree.
std::string cite(std::string_view name) { return fmt::format("{}@{}", name, digest_of(name)); }

// Two steps, each at its own place, with parameters.
const char* const kRuleText =
    "(x:4, y:4, v:4) relu(conv2d[strides=[2, 2]](ewadd(x, y), v)) => conv2d[strides=[2, 2], activation=relu](ewadd(y, "
    "x), v)";
const Rule& rule() {
  static const Rule kRule = test::rule(kRuleText);
  return kRule;
}
std::string certificate() {
  return "certificate 1\noutput 0\n0.0 > " + cite("ewadd-commutes") + " x=x; y=y\n. < " + cite("conv-with-relu") +
         " s=[2, 2]; p=0; q=[0, 0, 0, 0]; d=[1, 1]; g=1; x=ewadd(y, x); w=v\n";
}

TEST(Certificate, WrittenByHandIsAccepted) { EXPECT_EQ(reason(check(rule(), certificate())), "accepted"); }
TEST(Certificate, OfEveryTrueRuleIsAccepted) {
  for (const auto& text : test::true_rules()) {
    const Rule true_rule = test::rule(text);
    const std::string proof = certificate_of(true_rule);
    EXPECT_EQ(reason(check(true_rule, proof)), "accepted") << text << "\n" << proof;
  }
}
std::string written(const ProofTerm& term) {
  std::string text = term.text;
  for (std::size_t i = 0; i < term.operands.size(); ++i) text += (i == 0 ? "(" : ", ") + written(term.operands[i]);
  return text + (term.operands.empty() ? "" : ")");
}

TEST(Certificate, IsExplainedStepByStep) {
  CertificateChecker checker(test::axioms().axioms(), test::plugins());
  const auto chains = checker.explain(rule(), certificate());
  ASSERT_TRUE(chains) << chains.error().message;
  ASSERT_EQ(chains->size(), 1U);
  const ProofChain& chain = chains->front();
  EXPECT_EQ(written(chain.start), "relu(conv2d[strides=[2, 2]](ewadd(x, y), v))");
  ASSERT_EQ(chain.steps.size(), 2U);
  EXPECT_EQ(chain.steps[0].axiom, "ewadd-commutes");
  EXPECT_EQ(chain.steps[0].position, (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(written(chain.steps[0].after), "relu(conv2d[strides=[2, 2]](ewadd(y, x), v))");
  EXPECT_FALSE(chain.steps[1].left_to_right);
  EXPECT_EQ(chain.steps[1].substitution.back(), std::pair(std::string("w"), std::string("v")));
  EXPECT_EQ(written(chain.steps[1].after), "conv2d[strides=[2, 2], activation=relu](ewadd(y, x), v)");
}

TEST(Certificate, ThatIsRejectedIsNotExplained) {
  CertificateChecker checker(test::axioms().axioms(), test::plugins());
  EXPECT_FALSE(checker.explain(rule(), replaced(certificate(), "x=x; y=y", "x=y; y=x")));
}

TEST(Certificate, OfOneRuleIsNoneOfAnother) {
  for (const auto& text : test::true_rules()) {
    const std::string proof = certificate_of(test::rule(text));
    for (const auto& wrong : test::wrong_rules())
      EXPECT_FALSE(check(test::rule(wrong), proof)) << wrong << "\n" << proof;
  }
}

struct Tampering {
  std::string name, what, by, reason;
  friend std::ostream& operator<<(std::ostream& stream, const Tampering& one) { return stream << one.name; }
};
class TamperedCertificate : public ::testing::TestWithParam<Tampering> {};
TEST_P(TamperedCertificate, IsRejected) {
  const Tampering& tampering = GetParam();
  const auto filled = [](std::string text) {
    const auto brace = text.find('{');
    return brace == std::string::npos ? text
                                      : text.replace(brace, text.find('}') + 1 - brace,
                                                     cite(text.substr(brace + 1, text.find('}') - brace - 1)));
  };
  const Status status = check(rule(), replaced(certificate(), filled(tampering.what), filled(tampering.by)));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr(tampering.reason));
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, TamperedCertificate,
    ::testing::Values(
        Tampering{"position", "0.0 >", "0.1 >", "step 1: the term at the position is not the side of the axiom"},
        Tampering{"positionOutside", "0.0 >", "0.0.0.7 >", "outside the term"},
        Tampering{"positionUnreadable", "0.0 >", "0..0 >", "no position"},
        Tampering{"positionCut", "0.0 >", "0. >", "'0.' is no position"},
        Tampering{"axiom", "{ewadd-commutes}", "{ewmul-commutes}", "step 1: the term at the position"},
        Tampering{"axiomUnknown", "ewadd-commutes@", "ewadd-obeys@", "the axiom files have no axiom ewadd-obeys"},
        Tampering{"digest", "ewadd-commutes@", "ewadd-commutes@0", "is not what it was when the proof was made"},
        Tampering{"direction", ". < ", ". > ", "step 2: the term at the position"},
        Tampering{"directionUnreadable", ". < ", ". = ", "no direction"},
        Tampering{"substitution", "x=x; y=y", "x=y; y=x", "step 1: the term at the position"},
        Tampering{"substitutionOfOtherTerm", "x=ewadd(y, x)", "x=ewadd(x, y)", "step 2: the term at the position"},
        Tampering{"substitutionOfOtherRank", "x=x; y=y", "x=x; y=constant_one[sizes=[x.0]]()",
                  "is not claimed for tensors of ranks 4, 1"},
        Tampering{"substitutionOfUnknownInput", "x=x; y=y", "x=x; y=z", "neither an input of the rule nor an operator"},
        Tampering{"substitutionOfAnOutputThatIsNot", "x=ewadd(y, x)", "x=ewadd.1(y, x)", "output 1"},
        Tampering{"substitutionLeftOut", "x=x; y=y", "x=x", "y has no value"},
        Tampering{"substitutionTwice", "x=x; y=y", "x=x; x=x; y=y", "x has two values"},
        Tampering{"substitutionOfNoVariable", "x=x; y=y", "x=x; y=y; u=y", "has no variable 'u'"},
        Tampering{"parameter", "s=[2, 2]", "s=[1, 1]", "step 2: the term at the position"},
        Tampering{"parameterOfChoice", "p=0", "p=1", "step 2: y.2 >= v.2 does not follow"},
        Tampering{"parameterOutOfRange", "p=0", "p=9", "has no choice 9"},
        Tampering{"parameterThatIsASize", "g=1", "g=x.1", "must be a number"},
        Tampering{"parameterListCut", "d=[1, 1]", "d=[1]", "dilations"},
        Tampering{"version", "certificate 1", "certificate 2", "the first line"},
        Tampering{"output", "output 0", "output 1", "the proof of output 0 is missing"},
        Tampering{"parenthesis", "ewadd(y, x)", "ewadd(y, x", "a ')' is missing"}),
    [](const auto& info) { return info.param.name; });

TEST(Certificate, WithAStepTooFewOrTooManyIsRejected) {
  const std::string whole = certificate();
  const std::size_t first = whole.find("0.0"), second = whole.find(". <");
  EXPECT_THAT(reason(check(rule(), whole.substr(0, first) + whole.substr(second))), HasSubstr("step 1"));
  EXPECT_THAT(reason(check(rule(), whole.substr(0, second))), HasSubstr("do not lead to the target"));
  EXPECT_FALSE(check(rule(), whole + whole.substr(second)));
  EXPECT_THAT(reason(check(rule(), whole + "output 1\n")), HasSubstr("goes on after the last output"));
  EXPECT_FALSE(check(rule(), ""));
}
TEST(Certificate, CutAnywhereIsRejected) {
  const std::string whole = certificate();
  // Without its last character alone, the end of the last line, it says the same.
  for (std::size_t size = 0; size + 1 < whole.size(); ++size)
    EXPECT_FALSE(check(rule(), whole.substr(0, size))) << size;
}
TEST(Certificate, OfAChangedRuleIsRejected) {
  for (const char* changed :
       {"(x:4, y:4, v:4) relu(conv2d[strides=[2, 2]](ewadd(x, y), v)) => conv2d[strides=[2, 2]](ewadd(y, x), v)",
        "(x:4, y:4, v:4) relu(conv2d[strides=[2, 2]](ewadd(x, y), v)) => conv2d[strides=[2, 2], "
        "activation=relu](ewmul(y, x), v)",
        "(x:4, y:4, v:4) relu(conv2d(ewadd(x, y), v)) => conv2d[activation=relu](ewadd(y, x), v)",
        "(x:4, y:4, v:4) relu(conv2d[strides=[2, 2]](ewadd(x, y), v)) => conv2d[strides=[2, 2], "
        "activation=relu](ewadd(y, y), v)"})
    EXPECT_FALSE(check(test::rule(changed), certificate())) << changed;
}

/// A file of this tree with one text replaced, among the others.
AxiomSet changed_axioms(const std::string& file, std::string_view what, std::string_view by) {
  AxiomSet axioms;
  for (const std::string& path : test::axioms().files()) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const std::string read = path.ends_with(file) ? replaced(text.str(), what, by) : text.str();
    if (const Status status = axioms.add(read, path, test::plugins()); !status) fail(status.error().message);
  }
  return axioms;
}
// The digest says nothing of :domain; the claim is looked at in each step.
TEST(Certificate, IsRejectedWhereAStepLiesOutsideOfWhatIsClaimed) {
  const Rule clamps = test::rule("(x:1) clip[low=-1, high=1](clip[low=-1, high=1](x)) => clip[low=-1, high=1](x)");
  const std::string proof = certificate_of(clamps);
  const auto narrowed = [&](std::string_view domain) {
    return changed_axioms("activation.smt2",
                          ":named clip-clip\n  :ranks \"x 0..4\"\n  :domain \"u any -1.0 0.0; v any 0.5 2.0\"",
                          fmt::format(":named clip-clip\n  :ranks \"x 0..4\"\n  :domain \"{}\"", domain));
  };
  EXPECT_EQ(reason(check(clamps, proof)), "accepted");
  EXPECT_EQ(reason(check(clamps, proof, narrowed("u -1..; v 0.5..2"))), "accepted");
  EXPECT_THAT(reason(check(clamps, proof, narrowed("u -0.5..; v 0.5..2"))),
              HasSubstr("axiom clip-clip is not claimed for u = -1"));
  EXPECT_THAT(reason(check(clamps, proof, narrowed("u > v"))), HasSubstr("is not claimed for u = -1, v = 1"));
  const AxiomSet sizes = narrowed("x.0 4..");
  EXPECT_THAT(reason(check(clamps, proof, sizes)), HasSubstr("x.0 >= 4"));
  EqualityProver prover(narrowed("u -0.5..").axioms());
  EXPECT_FALSE(prover.prove(clamps)) << "nor does the e-graph use it there";
}
TEST(Certificate, IsRejectedWhereAnAxiomReadsOtherwise) {
  const std::string stated = "(= (ewadd x y) (ewadd y x)))\n  :named ewadd-commutes\n  :ranks \"x y 0..4\"";
  const AxiomSet other = changed_axioms("elementwise.smt2", stated,
                                        "(= (ewadd x y) (ewadd y x)))\n  :named ewadd-commutes\n  :ranks \"x y 0..2\"");
  EXPECT_THAT(reason(check(rule(), certificate(), other)), HasSubstr("the axiom ewadd-commutes is not what it was"));
  // With the new digest it is the ranks that do not fit.
  const std::string forged =
      replaced(certificate(), cite("ewadd-commutes"), "ewadd-commutes@" + digest_of("ewadd-commutes", other));
  EXPECT_THAT(reason(check(rule(), forged, other)), HasSubstr("is not claimed for tensors of ranks 4, 4"));
  const AxiomSet false_axiom = changed_axioms(
      "elementwise.smt2", stated, "(= (ewadd x y) (ewmul y x)))\n  :named ewadd-commutes\n  :ranks \"x y 0..4\"");
  EXPECT_FALSE(check(rule(), certificate(), false_axiom));
  // Comments, sources and other axioms do not count.
  const AxiomSet renamed = changed_axioms("elementwise.smt2", ":named ewmul-commutes", ":named ewmul-obeys");
  EXPECT_EQ(reason(check(rule(), certificate(), renamed)), "accepted");
}

// The weights have one kernel size: with 1 x 1 and 3 x 3 under padding same, outputs agree in size and differ in value.
TEST(Certificate, IsRejectedUnderAWeakerPrecondition) {
  Rule conditional = test::rule(
      "(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v)) where w.2 = v.2, w.3 = v.3");
  const std::string proof = certificate_of(conditional);
  EXPECT_EQ(reason(check(conditional, proof)), "accepted");
  ASSERT_FALSE(conditional.precondition.empty());
  for (std::size_t i = 0; i < conditional.precondition.size(); ++i) {
    Rule weaker = conditional;
    weaker.precondition.erase(weaker.precondition.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(reason(check(weaker, proof)), HasSubstr("does not follow from the rule's conditions"));
  }
}
// The kernel of the identity must be 1 or more, as the sizes of y are: no condition says so. That of s0 is not.
TEST(Certificate, MayTakeInputsToHaveSizesOfAtLeastOne) {
  const Rule sized =
      test::rule("(x:4, y:4) relu(x), relu(y) => relu(conv2d(x, constant_conv[sizes=[x.1, x.1, y.2, y.3]])), relu(y)");
  EXPECT_TRUE(sized.precondition.empty());
  EXPECT_EQ(reason(check(sized, certificate_of(sized))), "accepted");
  Rule bound = test::rule(
      "(x:4) relu(x), constant_one[sizes=[s0]] => relu(conv2d(x, constant_conv[sizes=[x.1, x.1, s0, s0]])), "
      "constant_one[sizes=[s0]]");
  ASSERT_EQ(bound.precondition.size(), 1U);
  EXPECT_EQ(to_string(bound.precondition[0]), "s0 >= 1");
  const std::string proof = certificate_of(bound);
  EXPECT_EQ(reason(check(bound, proof)), "accepted");
  bound.precondition.clear();
  EXPECT_THAT(reason(check(bound, proof)), HasSubstr("s0 >= 1 does not follow"));
}
TEST(Certificate, IsRejectedWhereTwoInputsHaveOneName) {
  Rule twice = test::rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)");
  const std::string nothing = "certificate 1\noutput 0\n";
  EXPECT_THAT(reason(check(twice, nothing)), HasSubstr("do not lead to the target"));
  twice.inputs[1].name = "x";
  EXPECT_THAT(reason(check(twice, nothing)), HasSubstr("two inputs are called x"));
}
// y.0 is s1 - x.0 there, and a size of y all the same.
TEST(Certificate, MayNameASizeByADifference) {
  const Rule sums = test::rule(
      "(x:2, y:2) matmul(constant_one[sizes=[s0, s1]], concat(x, y)) => ewadd(matmul(constant_one[sizes=[s0, x.0]], "
      "x), "
      "matmul(constant_one[sizes=[s0, y.0]], y))");
  const std::string proof = "certificate 1\noutput 0\n. > " + cite("sum-of-rows-of-concat") + " m=s0; n=s1; x=x; y=y\n";
  EXPECT_EQ(reason(check(sums, proof)), "accepted");
  EXPECT_FALSE(check(sums, replaced(proof, "m=s0", "m=s1")));
}
// Of the same two sizes.
TEST(Certificate, AConditionOfOneKindIsNoneOfAnother) {
  const auto checked = [](std::string_view needed, std::string_view known) {
    AxiomSet one;
    const auto read = one.add(
        fmt::format("(declare-sort Tensor 0)(declare-fun relu (Tensor) Tensor)(assert (! (forall ((x Tensor)) (= (relu "
                    "x) x)) :named one :ranks \"x 2\" :condition \"{}\" :source \"none\"))",
                    needed),
        "one.smt2", test::plugins());
    if (!read) fail(read.error().message);
    return check(test::rule(fmt::format("(x:2) relu(x) => x where {}", known)),
                 "certificate 1\noutput 0\n. > one@" + digest_of("one", one) + " x=x\n", one);
  };
  for (const char* needed : {"x.0 = x.1", "x.0 >= x.1", "x.1 >= x.0", "x.0 != x.1"}) {
    for (const char* known : {"x.0 = x.1", "x.0 >= x.1", "x.1 >= x.0", "x.0 != x.1"}) {
      const bool follows = std::string_view(needed) == known ||
                           (std::string_view(known) == "x.0 = x.1" && std::string_view(needed).find(">=") != 0 &&
                            std::string_view(needed).find(">=") != std::string_view::npos);
      EXPECT_EQ(reason(checked(needed, known)) == "accepted", follows) << needed << " from " << known;
    }
  }
}
// Below an operator without sizes of its own, too.
TEST(Certificate, KnowsEqualSizesAtAnyDepth) {
  const Rule deep = test::rule(
      "(x:2, y:2) relu(relu(ewmul(x, constant_one[sizes=[y.0, y.1]]))), ewadd(x, y) => relu(relu(x)), ewadd(x, y)");
  EXPECT_EQ(reason(check(deep, certificate_of(deep))), "accepted") << certificate_of(deep);
}
// The identity kernel of s0 channels gives back an image of s0 channels alone, which no operator's own conditions say.
TEST(Certificate, BothSidesOfAnAxiomHaveOneShape) {
  Rule same = test::rule(
      "(x:4) relu(conv2d(x, constant_conv[sizes=[s0, x.1, 1, 1]])), constant_one[sizes=[s0]] => relu(x), "
      "constant_one[sizes=[s0]] where s0 = x.1");
  const std::string proof = replaced(certificate_of(same), "a=x.1", "a=s0");
  EXPECT_EQ(reason(check(same, proof)), "accepted") << proof;
  same.precondition.clear();
  EXPECT_THAT(reason(check(same, proof)), HasSubstr("does not follow")) << proof;
}
TEST(Certificate, NamesOutputsOfOperators) {
  const Rule parts = test::rule(
      "(x:2, y:2) let a, b = split[sizes=[s0, s1]](x) in ewadd(b, y) => let a, b = split[sizes=[s0, s1]](x) in "
      "ewadd(y, b)");
  const std::string proof = certificate_of(parts);
  EXPECT_EQ(reason(check(parts, proof)), "accepted");
  EXPECT_FALSE(check(parts, replaced(proof, "split.1", "split.0"))) << proof;
  EXPECT_THAT(reason(check(parts, replaced(proof, "split.1", "split.one"))), HasSubstr("'split.one' names no output"));
  EXPECT_THAT(reason(check(parts, "certificate 1\noutput 0\nnonsense\n")), HasSubstr("'nonsense' is no step"));
}
TEST(Certificate, OfAnAxiomWhoseSidesDifferInRankIsRejected) {
  AxiomSet flat;
  const Status read = flat.add(
      "(declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun sizes1 (Int) Sizes)(declare-fun dim (Int Tensor) Int)"
      "(declare-fun reshape (Sizes Tensor) Tensor)(assert (! (forall ((x Tensor)) (= (reshape (sizes1 (* (dim 0 x) "
      "(dim 1 x))) x) x)) :named flat :ranks \"x 2\" :source \"none\"))",
      "flat.smt2", test::plugins());
  ASSERT_TRUE(read) << read.error().message;
  const Rule goal = test::rule("(x:2) relu(reshape[sizes=[x.0*x.1]](x)) => reshape[sizes=[x.0*x.1]](relu(x))");
  const std::string proof = "certificate 1\noutput 0\n0 > flat@" + digest_of("flat", flat) + " x=x\n";
  EXPECT_THAT(reason(check(goal, proof, flat)), HasSubstr("the sides of flat differ in rank"));
}
// Neither an axiom's condition nor its parameters at one tensor's sizes are those at another's.
TEST(Certificate, SizesOfOneTensorAreNotThoseOfAnother) {
  AxiomSet three;
  ASSERT_TRUE(
      three.add("(declare-sort Tensor 0)(declare-fun relu (Tensor) Tensor)(assert (! (forall ((x Tensor)) (= "
                "(relu x) x)) :named of-three :ranks \"x 1\" :condition \"x.0 = 3\" :source \"none\"))",
                "three.smt2", test::plugins()));
  const auto proof = [](const std::string& cited) {
    const std::string step = ". > " + cited + " x=";
    return "certificate 1\noutput 0\n" + step + "x\noutput 1\n" + step + "y\n";
  };
  const std::string of_three = proof("of-three@" + digest_of("of-three", three));
  CertificateChecker conditions(three.axioms(), test::plugins());
  const auto checked_where = [&](const std::string& known) {
    return reason(conditions.check(test::rule("(x:1, y:1) relu(x), relu(y) => x, y where " + known), of_three));
  };
  EXPECT_EQ(checked_where("x.0 = 3, y.0 = 3"), "accepted");
  EXPECT_THAT(checked_where("x.0 = 3"), HasSubstr("output 1: step 1: y.0 = 3 does not follow"));

  CertificateChecker parameters(test::axioms().axioms(), test::plugins());
  const Rule identities = test::rule(
      "(x:2, y:2) matmul(x, constant_identity[sizes=[x.1, x.1]]), matmul(y, constant_identity[sizes=[y.1, y.1]]) => x, "
      "y");
  const std::string neutral = proof(cite("matmul-identity-right"));
  EXPECT_EQ(reason(parameters.check(identities, neutral)), "accepted");
  EXPECT_THAT(reason(parameters.check(identities, replaced(neutral, "x=y", "x=x"))), HasSubstr("output 1: step 1"));
}
// x.1 = 2 and x.1 = 3: anything follows, and nothing is proved.
TEST(Certificate, IsRejectedUnderAPreconditionThatNothingMeets) {
  Rule impossible = test::rule("(x:2, y:2) matmul(x, y) => matmul(x, y)");
  impossible.precondition = {*Constraint::parse("x.0 = 2"), *Constraint::parse("x.0 = 3")};
  EXPECT_THAT(reason(check(impossible, "certificate 1\noutput 0\n")), HasSubstr("no sizes meet"));
}
// A checker forgets what it knows before that grows without end; it goes on as if it were new.
TEST(Certificate, IsCheckedAlikeHoweverMuchWasCheckedBefore) {
  CertificateChecker checker(test::axioms().axioms(), test::plugins());
  const Rule given = test::rule("(x:2) relu(x) => relu(x)");
  for (std::int64_t least = 1; least <= 20'100; ++least) {
    Rule conditional = given;
    conditional.precondition = {{Constraint::Kind::kAtLeast, SymbolicDim::variable(SizeVar::read("x.0")), least}};
    ASSERT_EQ(reason(checker.check(conditional, "certificate 1\noutput 0\n")), "accepted") << least;
  }
  EXPECT_EQ(reason(checker.check(rule(), certificate())), "accepted");
  EXPECT_EQ(reason(checker.check(test::rule("(x:2) relu(x) => transpose(relu(x)) where x.0 = x.1"),
                                 "certificate 1\noutput 0\n")),
            "output 0: the steps do not lead to the target");
}

TEST(Certificate, OutputsAreProvedInTheirOrder) {
  const Rule two = test::rule("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y");
  const std::string proof = certificate_of(two);
  const std::size_t second = proof.find("output 1");
  EXPECT_EQ(reason(check(two, proof)), "accepted");
  EXPECT_THAT(reason(check(two, proof.substr(0, second))), HasSubstr("the proof of output 1 is missing"));
  EXPECT_FALSE(check(two, replaced(proof, "split-second-of-concat@" + digest_of("split-second-of-concat"),
                                   cite("split-first-of-concat"))));
}
// Not even garbage ends the checker, and one rejection leaves it as it was.
TEST(CertificateProperty, RandomBytesNeitherCrashNorProve) {
  CertificateChecker checker(test::axioms().axioms(), test::plugins());
  const Rule wrong = test::rule("(x:4, y:4, v:4) relu(conv2d[strides=[2, 2]](ewadd(x, y), v)) => ewadd(y, x)");
  rewright::testing::Random random(5);
  const std::string whole = certificate();
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (std::int64_t flips = random.between(1, 3); flips > 0; --flips) {
      const auto at = static_cast<std::size_t>(random.between(0, std::ssize(text) - 1));
      if (random.one_in(3)) {
        text.erase(at, static_cast<std::size_t>(random.between(1, 5)));
      } else {
        text[at] = static_cast<char>(random.between(32, 126));
      }
    }
    EXPECT_FALSE(checker.check(wrong, text)) << text;
    (void)checker.check(rule(), text);
  }
  EXPECT_EQ(reason(checker.check(rule(), whole)), "accepted");
}
TEST(Certificate, OfTermsNestedWithoutEndIsRefused) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "relu(";
  EXPECT_THAT(reason(check(rule(), replaced(certificate(), "x=ewadd(y, x)", "x=" + deep))), HasSubstr("levels"));
}

TEST(CertificateFile, ReadsWhatItWrote) {
  CertificateFile file;
  file.axioms = {"a.smt2", "folder/b.smt2"};
  file.entries.push_back({"(x:2) relu(x) => x", "certificate 1\noutput 0\n", 4});
  file.entries.push_back({kRuleText, certificate(), 8});
  const auto again = read_certificate_file(to_text(file));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->axioms, file.axioms);
  ASSERT_EQ(again->entries.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again->entries[i].rule, file.entries[i].rule);
    EXPECT_EQ(again->entries[i].certificate, file.entries[i].certificate);
    EXPECT_EQ(again->entries[i].line, file.entries[i].line);
  }
  EXPECT_THAT(read_certificate_file("axioms a\nrules x\n").error().message, HasSubstr("line 2: found 'rules x'"));
}

// --- in the portfolio ----------------------------------------------------------------------------------------------

const Registry& with_liars() {
  static const Registry kRegistry = [] {
    Registry registry = test::load_plugins();
    if (auto status = registry.load(REWRIGHT_BUILD_DIR "/tests/plugins/verify/liars.so"); !status)
      fail(status.error().message);
    return registry;
  }();
  return kRegistry;
}
TEST(Portfolio, DoesNotBelieveACertificateThatTheCheckerRejects) {
  const std::vector<Rule> rules = {test::rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)")};
  const std::vector<VerifierChoice> liar = {{"forges", {}}};
  const auto alone = verify_all(rules, test::axioms(), liar, with_liars());
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->rules[0].outcome.kind, VerdictKind::kUnknown);
  EXPECT_THAT(alone->rules[0].outcome.reason,
              HasSubstr("its certificate is rejected: output 0: the steps do not lead"));
}
TEST(Portfolio, TakesTheEGraphsCertificates) {
  std::vector<Rule> rules;
  for (const auto& text : test::true_rules()) rules.push_back(test::rule(text));
  PortfolioOptions options;
  options.chunk = 5;
  options.threads = 2;
  const std::vector<VerifierChoice> verifiers = {{"evaluate", {}}, {"egraph", {}}, {"z3", {}}};
  const auto report = verify_all(rules, test::axioms(), verifiers, test::plugins(), options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->proved, rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(report->rules[i].decided_by, "egraph");
    EXPECT_EQ(reason(check(rules[i], report->rules[i].outcome.certificate)), "accepted");
  }
}

}  // namespace
}  // namespace rewright
