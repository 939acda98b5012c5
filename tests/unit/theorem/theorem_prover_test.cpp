// Axioms proved for all sizes: those of the tree, none of the false ones, and no false mutant.
#include "theorem/theorem_prover.h"

#include <rewright/base/mixing.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "axiom/audit.h"
#include "axiom/domain.h"
#include "unit/axiom/loaded.h"
#include "verify/rule_judge.h"

namespace rewright::theorem {
namespace {

std::vector<AxiomProof> proofs_of(std::span<const Axiom> axioms, AxiomProofOptions options = {}) {
  options.threads = 2;
  auto proofs = prove(axioms, options);
  if (!proofs) fail(proofs.error().message);
  return *std::move(proofs);
}

std::set<std::string> open_in(const std::string& file) {
  const AxiomSet set = test::load({test::axiom_file(file)});
  std::set<std::string> open;
  for (const AxiomProof& proof : proofs_of(set.axioms())) {
    if (!proof.proved) open.insert(proof.name);
    EXPECT_EQ(proof.proved, proof.reason.empty()) << proof.name << ": " << proof.reason;
  }
  return open;
}

TEST(Theorems, AreTheAxiomsOfTheTree) {
  for (const char* file : {"elementwise.smt2", "layout.smt2", "linear_algebra.smt2", "broadcast.smt2", "reshape.smt2",
                           "normalisation.smt2", "composition.smt2"})
    EXPECT_EQ(open_in(file), std::set<std::string>()) << file;
  EXPECT_EQ(open_in("activation.smt2"), std::set<std::string>{"maximum-of-softplus"});
}

const Axiom& axiom_named(const AxiomSet& set, std::string_view name) {
  const auto found = std::ranges::find(set.axioms(), name, &Axiom::name);
  if (found == set.axioms().end()) fail(std::string(name));
  return *found;
}

/// "matmul: SUM" of each step.
std::vector<std::string> told(const std::vector<ProofStep>& steps) {
  std::vector<std::string> texts;
  for (const ProofStep& step : steps) texts.push_back(step.op + ": " + step.value);
  return texts;
}

TEST(Theorems, AreToldDefinitionByDefinition) {
  const AxiomSet set = test::load({test::axiom_file("linear_algebra.smt2")});
  const auto reading = read_proof(axiom_named(set, "matmul-over-right-ewadd"), 4);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->left, "matmul(x, ewadd(y, z))");
  EXPECT_EQ(reading->right, "ewadd(matmul(x, y), matmul(x, z))");
  EXPECT_EQ(reading->setting, "x of rank 2, y of rank 2, z of rank 2");
  EXPECT_THAT(reading->conditions, testing::IsSupersetOf({"y.0 = z.0", "y.1 = z.1"}));
  ASSERT_EQ(reading->proof.told.size(), 1u);
  const ProofCase& one = reading->proof.told.front();
  EXPECT_THAT(
      told(one.left_steps),
      testing::ElementsAre(": matmul(x, ewadd(y, z))[i0, i1]",
                           "matmul: sum(k0) [k0 < z.0] [0 <= k0] x[i0, k0] ewadd(y, z)[k0, i1]", "ewadd: " + one.left));
  ASSERT_EQ(one.right_steps.size(), 4u);
  EXPECT_EQ(told(one.right_steps)[1], "ewadd: matmul(x, y)[i0, i1] + matmul(x, z)[i0, i1]");
  EXPECT_EQ(one.right_steps.back().value, one.right);
  EXPECT_THAT(one.because, testing::HasSubstr("same sum"));
}

TEST(Theorems, AreToldCaseByCase) {
  const AxiomSet set = test::load({test::axiom_file("layout.smt2"), test::axiom_file("elementwise.smt2")});
  const auto reading = read_proof(axiom_named(set, "relu-of-concat"), 4);
  ASSERT_TRUE(reading);
  ASSERT_EQ(reading->proof.told.size(), 2u);
  for (const ProofCase& one : reading->proof.told) {
    EXPECT_EQ(one.where.size(), 1u);
    EXPECT_FALSE(one.because.empty());
    EXPECT_EQ(one.left_steps.back().value, one.left);
  }
}

TEST(Theorems, OfConvolutionsAreAllButThreeOfMaxima) {
  EXPECT_EQ(open_in("convolution.smt2"),
            (std::set<std::string>{"maximum-of-product-with-own-relu", "maximum-of-sum-with-own-relu",
                                   "product-of-relu-and-maximum"}));
}

Axiom read_one(const std::string& declarations, const std::string& assertion) {
  AxiomSet set;
  const std::string head = "(declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun sizes2 (Int Int) Sizes)\n";
  if (auto status = set.add(head + declarations + assertion, "f.smt2", test::operators()); !status)
    fail(status.error().message);
  return set.axioms()[0];
}

// What :needs claims is what the proof uses; prelu is defined by what relu is defined by, and needs no law of it.
TEST(Theorems, UseTheLawsThatTheirAxiomsNeed) {
  int of_order = 0, of_functions = 0, of_none = 0;
  for (const char* file :
       {"elementwise.smt2", "layout.smt2", "linear_algebra.smt2", "activation.smt2", "normalisation.smt2"}) {
    const AxiomSet set = test::load({test::axiom_file(file)});
    const auto proofs = proofs_of(set.axioms());
    for (std::size_t i = 0; i < proofs.size(); ++i) {
      const Axiom& axiom = set.axioms()[i];
      if (!proofs[i].proved || axiom.name == "prelu-by-relu") continue;
      const bool needs_order = axiom.needs == "real-relu", needs_functions = axiom.needs == "real-functions";
      EXPECT_TRUE(!needs_order || proofs[i].laws.order) << axiom.name;
      EXPECT_TRUE(!needs_functions || proofs[i].laws.functions) << axiom.name;
      of_order += needs_order;
      of_functions += needs_functions;
      of_none += !proofs[i].laws.order && !proofs[i].laws.functions;
    }
  }
  EXPECT_GT(of_order, 20);
  EXPECT_GT(of_functions, 15);
  EXPECT_GT(of_none, 200);
}

// Each line of axioms/theorems.txt is a digest of what an axiom of the tree says, and nearly all of these are there.
TEST(Theorems, AreRecordedByWhatAxiomsOfTheTreeSay) {
  std::map<std::string, std::string> of_axioms;
  for (const Axiom& axiom : test::axioms().axioms()) of_axioms[*axiom_digest(axiom)] = axiom.name;
  std::ifstream file(REWRIGHT_SOURCE_DIR "/axioms/theorems.txt");
  int theorems = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("operator ")) continue;
    ++theorems;
    const std::string name = line.substr(66, line.find(',') - 66);
    EXPECT_EQ(of_axioms[line.substr(0, 64)], name)
        << "rewright axioms prove --record axioms/theorems.txt axioms/*.smt2";
  }
  EXPECT_GE(theorems, 500);
}

TEST(Theorems, HoldAtEveryRankThatATensorCanHave) {
  const Axiom sum =
      read_one("(declare-fun relu (Tensor) Tensor)(declare-fun ewadd (Tensor Tensor) Tensor)",
               "(assert (! (forall ((x Tensor) (y Tensor)) (= (relu (ewadd x y)) (relu (ewadd y x)))) :named "
               "n :source \"s\" :ranks \"x y all\"))");
  AxiomProofOptions options;
  options.certify = true;
  const AxiomProof proof = proofs_of({&sum, 1}, options).front();
  EXPECT_TRUE(proof.is_certified()) << proof.reason << proof.uncertified;
  EXPECT_EQ(proof.instances, 9U);
}

TEST(Theorems, AreNoFalseEquations) {
  const AxiomSet rejected = test::load({test::axiom_file("rejected.smt2")});
  for (const AxiomProof& proof : proofs_of(rejected.axioms())) EXPECT_FALSE(proof.proved) << proof.name;
}

/// The window of 9 is the whole row up to size 5: true at the sizes of an audit, false at 6.
TEST(Theorems, DoNotStopAtTheSizesOfAnAudit) {
  const Axiom axiom = read_one(R"((declare-fun pool2d_max (Sizes Sizes Int Sizes Tensor) Tensor)
      (declare-fun sizes4 (Int Int Int Int) Sizes)(define-fun padding.same () Int 0))",
                               R"((assert (! (forall ((x Tensor))
      (= (pool2d_max (sizes2 1 9) (sizes2 1 1) padding.same (sizes4 0 0 0 0) x)
         (pool2d_max (sizes2 1 11) (sizes2 1 1) padding.same (sizes4 0 0 0 0) x)))
      :named n :ranks "x 4" :source "s")))");
  AuditOptions small;
  small.max_dim = 4;
  small.wide_typings = 0;
  small.wide_dim = 4;
  EXPECT_TRUE(audit(axiom, small)->holds);
  EXPECT_FALSE(proofs_of(std::vector{axiom})[0].proved);
  Axiom narrow = axiom;
  narrow.condition = {*Constraint::parse("x.3 <= 5")};
  EXPECT_TRUE(proofs_of(std::vector{narrow})[0].proved);
}

/// A side that is a number where the other is none: exp(log x) at x < 0.
TEST(Theorems, CancelNothingThatCanBeUndefined) {
  const Axiom axiom =
      read_one("(declare-fun exp (Tensor) Tensor)(declare-fun log (Tensor) Tensor)",
               R"((assert (! (forall ((x Tensor)) (= (exp (log x)) x)) :named n :ranks "x 1" :source "s")))");
  EXPECT_FALSE(proofs_of(std::vector{axiom})[0].proved);
}

// --- mutants
// -----------------------------------------------------------------------------------------------------------

/// Without terms that neither side reaches.
void drop_unreached(Axiom& axiom) {
  std::vector<bool> reached(axiom.terms.size());
  reached[axiom.left] = reached[axiom.right] = true;
  for (std::size_t t = axiom.terms.size(); t-- > 0;) {
    if (!reached[t]) continue;
    for (const std::uint32_t operand : axiom.terms[t].operands) reached[operand] = true;
  }
  std::vector<std::uint32_t> places(axiom.terms.size());
  std::vector<AxiomTerm> terms;
  for (std::size_t t = 0; t < axiom.terms.size(); ++t) {
    if (!reached[t]) continue;
    places[t] = static_cast<std::uint32_t>(terms.size());
    terms.push_back(axiom.terms[t]);
    for (std::uint32_t& operand : terms.back().operands) operand = places[operand];
  }
  axiom.left = places[axiom.left];
  axiom.right = places[axiom.right];
  axiom.terms = std::move(terms);
}

/// Operators that take the same parameters and operands.
std::vector<const Operator*> alike(const Operator& op) {
  std::vector<const Operator*> found;
  for (const Operator* other : test::operators().all<Operator>()) {
    const OperatorInfo &a = op.info(), &b = other->info();
    const bool fits = other != &op && a.min_arity == b.min_arity && a.max_arity == b.max_arity &&
                      std::ranges::equal(a.params, b.params, [](const ParamSpec& x, const ParamSpec& y) {
                        return x.kind == y.kind && x.choices.size() == y.choices.size();
                      });
    if (fits) found.push_back(other);
  }
  return found;
}

/// One change: an operand, the order of operands, an operator, a side, a number, a condition left out.
bool mutate(Axiom& axiom, Random& random) {
  std::vector<std::size_t> applications;
  for (std::size_t t = 0; t < axiom.terms.size(); ++t) {
    if (!axiom.terms[t].variable) applications.push_back(t);
  }
  if (applications.empty()) return false;
  const std::size_t place = applications[random.below(applications.size())];
  AxiomTerm& term = axiom.terms[place];
  switch (random.below(6)) {
    case 0:
      if (term.operands.empty()) return false;
      term.operands[random.below(term.operands.size())] = static_cast<std::uint32_t>(random.below(place));
      return true;
    case 1:
      if (term.operands.size() < 2) return false;
      std::swap(term.operands[0], term.operands[1 + random.below(term.operands.size() - 1)]);
      return true;
    case 2: {
      const auto others = alike(*term.op);
      if (others.empty()) return false;
      term.op = others[random.below(others.size())];
      return true;
    }
    case 3:
      (random.below(2) == 0 ? axiom.left : axiom.right) = static_cast<std::uint32_t>(random.below(axiom.terms.size()));
      return true;
    case 4: {
      if (term.params.empty()) return false;
      AxiomParam& param = term.params[random.below(term.params.size())];
      if (auto* number = std::get_if<SymbolicDim>(&param))
        *number = *number + SymbolicDim(random.below(2) == 0 ? 1 : -1);
      if (auto* real = std::get_if<double>(&param)) *real += 0.5;
      if (auto* list = std::get_if<std::vector<SymbolicDim>>(&param); list && list->size() > 1)
        std::swap((*list)[0], (*list)[1]);
      return true;
    }
    default:
      if (axiom.condition.empty()) return false;
      axiom.condition.erase(axiom.condition.begin() +
                            static_cast<std::ptrdiff_t>(random.below(axiom.condition.size())));
      return true;
  }
}

/// REWRIGHT_MUTANTS=5000 for more (a minute).
TEST(Theorems, AreNoFalseMutants) {
  const char* asked = std::getenv("REWRIGHT_MUTANTS");
  const std::size_t wanted = asked == nullptr ? 1'500 : std::stoul(asked);
  const std::span<const Axiom> axioms = test::axioms().axioms();
  Random random(40);
  std::vector<Axiom> mutants;
  while (mutants.size() < wanted) {
    Axiom mutant = axioms[random.below(axioms.size())];
    if (!mutate(mutant, random) || (random.below(2) == 0 && !mutate(mutant, random))) continue;
    drop_unreached(mutant);
    if (mutant.left == mutant.right || !domain_of(mutant, AuditDomain::kSmall)) continue;
    mutants.push_back(std::move(mutant));
  }
  AxiomProofOptions options;
  options.instance = {.pivots = 50'000, .cases = 60};
  options.drawn = 20;
  std::size_t proved = 0;
  const auto proofs = proofs_of(mutants, options);
  for (std::size_t m = 0; m < mutants.size(); ++m) {
    if (!proofs[m].proved) continue;
    ++proved;
    AuditOptions evaluated;
    evaluated.max_sizes = evaluated.max_typings = 40;
    evaluated.threads = 2;
    const auto result = audit(mutants[m], evaluated);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->holds) << "mutant " << m << " of " << mutants[m].name << "\n" << result->counterexample;
  }
  EXPECT_GT(proved, wanted / 15) << "many mutants are true: a commutation, a condition that is implied";
}

}  // namespace
}  // namespace rewright::theorem
