// Axioms taken away come back: a small campaign is run once, one axiom is dropped, and what is suggested for the goals
// that are open then must imply it. And what follows from axioms, what does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rewright/registry.h>

#include <filesystem>
#include <fstream>

#include "axiom/audit.h"
#include "axiom/lemmas.h"
#include "campaign/config.h"
#include "campaign/runner.h"
#include "discover/equation.h"
#include "discover/redundancy.h"
#include "discover/suggest.h"
#include "discover/unfold.h"
#include "discover/usage.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFiles = {
    REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2", REWRIGHT_SOURCE_DIR "/axioms/layout.smt2",
    REWRIGHT_SOURCE_DIR "/axioms/linear_algebra.smt2", REWRIGHT_SOURCE_DIR "/axioms/convolution.smt2"};

/// The quickstart's campaign, two operators deep; its axioms.
class AxiomDiscovery : public testing::Test {
 protected:
  static void SetUpTestSuite() { set_up("quickstart/campaign.toml"); }
  static void set_up(const std::string& experiment) {
    std::string pattern = (fs::temp_directory_path() / "rewright-discovery-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    registry_ = std::make_unique<Registry>();
    ASSERT_TRUE(registry_->load_default());
    std::ifstream stream(REWRIGHT_SOURCE_DIR "/experiments/" + experiment);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    const auto put = [&](const std::string& from, const std::string& to) {
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    };
    if (experiment.starts_with("quickstart")) put("max_operators = 3", "max_operators = 2");
    put("../../axioms", REWRIGHT_SOURCE_DIR "/axioms");
    std::ofstream(folder_ / "campaign.toml") << text;
    const auto config = load_campaign((folder_ / "campaign.toml").string(), *registry_);
    ASSERT_TRUE(config) << config.error().message;
    RunOptions options;
    options.store = (folder_ / "store").string();
    const auto summary = run_campaign(*config, *registry_, options);
    ASSERT_TRUE(summary) << summary.error().message;
    ASSERT_EQ(summary->unknown, 0u);
    auto axioms = load_axioms(kFiles, *registry_);
    ASSERT_TRUE(axioms) << axioms.error().message;
    axioms_ = std::make_unique<AxiomSet>(*std::move(axioms));
  }
  static void TearDownTestSuite() {
    fs::remove_all(folder_);
    axioms_.reset();
    registry_.reset();
  }

  static std::unique_ptr<Store> store() {
    auto opened = Store::open((folder_ / "store").string(), Store::Mode::kRead);
    if (!opened) fail(opened.error().message);
    return *std::move(opened);
  }
  static const Axiom& axiom(const std::string& name) {
    for (const Axiom& axiom : axioms_->axioms()) {
      if (axiom.name == name) return axiom;
    }
    fail("no axiom " + name);
  }
  static AxiomSet only(const std::vector<std::string>& names) {
    return axioms_->filtered([&](const Axiom& axiom) { return std::ranges::find(names, axiom.name) != names.end(); });
  }
  static AxiomSet without(const std::string& name) {
    return axioms_->filtered([&](const Axiom& axiom) { return axiom.name != name; });
  }
  static Entailment entailment() {
    auto prover = default_prover(*registry_);
    if (!prover) fail(prover.error().message);
    return Entailment(*registry_, *prover, 2);
  }

  static inline fs::path folder_;
  static inline std::unique_ptr<Registry> registry_;
  static inline std::unique_ptr<AxiomSet> axioms_;
};

class DroppedAxiom : public AxiomDiscovery, public testing::WithParamInterface<const char*> {
 protected:
  static void expect_back(const char* dropped);
};
/// The same over the campaign that has two scalars and a convolution of groups.
class DroppedAxiomOfGroups : public DroppedAxiom {
 protected:
  static void SetUpTestSuite() { set_up("axioms/scalars-and-groups.toml"); }
};

void DroppedAxiom::expect_back(const char* dropped) {
  const AxiomSet left = without(dropped);
  ASSERT_EQ(left.axioms().size() + 1, axioms_->axioms().size());
  SuggestOptions options;
  options.ask_all = true;
  options.law.registry = registry_.get();
  const auto found = suggest_axioms(*store(), left, *registry_, entailment(), options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_GT(found->open, 0u) << "no goal needs it";
  EXPECT_EQ(found->follow, found->open);
  EXPECT_THAT(found->refuted, testing::IsEmpty());
  const auto now = with_suggestions(left, found->axioms, *registry_);
  ASSERT_TRUE(now) << now.error().message;
  const auto answer = entailment().follows(axiom(dropped), *now);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->follows) << answer->proved << " of " << answer->combinations << ": " << answer->reason;
  // And the suggestions are true on more sizes than those they were made from.
  for (const Suggestion& suggestion : found->axioms) {
    AuditOptions audited;
    audited.max_sizes = 30;
    audited.max_typings = 60;
    audited.seed = 77;
    const auto result = audit(suggestion.axiom, audited);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->holds) << suggestion.axiom.name << "\n" << result->counterexample;
  }
}
TEST_P(DroppedAxiom, ComesBack) { expect_back(GetParam()); }
TEST_P(DroppedAxiomOfGroups, ComesBack) { expect_back(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Scalars, DroppedAxiomOfGroups,
                         testing::Values("smul-by-sum", "conv-over-data-ewadd", "conv-over-weight-ewadd"));
INSTANTIATE_TEST_SUITE_P(Quickstart, DroppedAxiom,
                         testing::Values("matmul-associates", "concat-exchange", "relu-of-concat", "conv-with-relu",
                                         "ewmul-over-ewadd", "split-first-of-concat", "transpose-of-matmul",
                                         "matmul-of-right-concat", "conv-of-weight-concat", "maximum-of-concat-0",
                                         "relu-of-double", "smul-smul", "transpose-transpose", "ewmul-commutes"));

TEST_F(AxiomDiscovery, SuggestsNothingWhereNothingIsOpen) {
  const auto found = suggest_axioms(*store(), *axioms_, *registry_, entailment());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->open, 0u);
  EXPECT_THAT(found->axioms, testing::IsEmpty());
}

TEST_F(AxiomDiscovery, FindsAFalseEquationOut) {
  const auto rule = parse_rule("(x:2, y:2) matmul(x, y) => matmul(y, x)", *registry_);
  ASSERT_TRUE(rule) << rule.error().message;
  const auto equation = axiom_of(*rule, 0);
  ASSERT_TRUE(equation) << equation.error().message;
  const auto law = generalised_law(*equation);
  ASSERT_TRUE(law) << law.error().message;
  EXPECT_THAT(law->counterexample, testing::HasSubstr("left (2, 2)"));
}

// Random images have a positive greatest value nearly everywhere: only inputs that are mostly -1 show that it is false.
TEST_F(AxiomDiscovery, FindsOutWhatIsFalseForFewInputs) {
  for (const char* inside : {"x", "matmul(x, x)"}) {
    const auto rule = parse_rule(fmt::format("(x:4) let p = pool2d_max[kernel=[3, 3]]({0}) in conv2d(p, p) => let p = "
                                             "pool2d_max[kernel=[3, 3]]({0}) in conv2d[activation=relu](p, p)",
                                             inside),
                                 *registry_);
    ASSERT_TRUE(rule) << rule.error().message;
    const auto law = generalised_law(*axiom_of(*rule, 0));
    ASSERT_TRUE(law) << law.error().message;
    EXPECT_FALSE(law->counterexample.empty()) << inside;
  }
}

TEST_F(AxiomDiscovery, MakesAsManyVariablesAsHold) {
  const auto rule = parse_rule("(x:2) ewadd(x, x) => ewadd(x, x)", *registry_);
  ASSERT_TRUE(rule);
  EXPECT_FALSE(axiom_of(*rule, 0)) << "the sides are one term";
  const auto squares = parse_rule(
      "(v:2) let c = concat(v, v) in concat[axis=1](c, c) => let r = concat[axis=1](v, v) in concat(r, r)", *registry_);
  ASSERT_TRUE(squares) << squares.error().message;
  const auto law = generalised_law(*axiom_of(*squares, 0));
  ASSERT_TRUE(law) << law.error().message;
  const auto tensors = std::ranges::count(law->axiom.variables, AxiomSort::kTensor, &AxiomVariable::sort);
  EXPECT_EQ(tensors, 4);
  EXPECT_EQ(law->axiom.ranks.size(), 3u) << "ranks 2 to 4";
  EXPECT_EQ(law->axiom.condition.size(), 1u) << "the axes differ";
}

TEST_F(AxiomDiscovery, KnowsWhatFollowsAndWhatDoesNot) {
  const auto moves = entailment().follows(axiom("conv-smul-moves"), only({"conv-of-data-smul", "conv-of-weight-smul"}));
  ASSERT_TRUE(moves) << moves.error().message;
  EXPECT_TRUE(moves->follows) << moves->reason;
  const auto half = entailment().follows(axiom("conv-smul-moves"), only({"conv-of-data-smul"}));
  ASSERT_TRUE(half);
  EXPECT_FALSE(half->follows);
  const auto alone = entailment().follows(axiom("matmul-associates"), without("matmul-associates"));
  ASSERT_TRUE(alone);
  EXPECT_FALSE(alone->follows);
}

TEST_F(AxiomDiscovery, ProvesASplitByPuttingAConcatThere) {
  const Axiom& lemma = axiom("split-first-of-matmul-right");
  std::vector<std::string> premises = lemma_premises(lemma);
  EXPECT_THAT(premises, testing::ElementsAre("matmul-of-right-concat", "concat-of-splits"));
  premises.insert(premises.end(), {"split-first-of-concat", "split-second-of-concat"});
  const auto answer = entailment().follows(lemma, only(premises));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->follows) << answer->reason;
  EXPECT_THAT(answer->by, testing::ElementsAre("concat-of-splits"));
  premises[1] = "concat-associates";
  EXPECT_FALSE(entailment().follows(lemma, only(premises))->follows) << "without the axiom that allows it";
}

TEST_F(AxiomDiscovery, TakesAwayWhatFollowsAndNothingElse) {
  const AxiomSet few = only({"smul-smul", "smul-commutes", "smul-exchange", "relu-relu", "matmul-associates"});
  const auto entries = find_redundant(few, entailment());
  ASSERT_TRUE(entries) << entries.error().message;
  std::vector<std::string> taken;
  for (const Redundancy& entry : *entries) {
    if (entry.answer.follows) taken.push_back(entry.name);
  }
  EXPECT_THAT(taken, testing::ElementsAre("smul-exchange"));
}

TEST_F(AxiomDiscovery, CountsTheRulesOfAStore) {
  const auto usage = usage_of(*store());
  ASSERT_TRUE(usage) << usage.error().message;
  EXPECT_GT(usage->rules, 300u);
  EXPECT_LE(usage->silent, usage->rules);
}

// What TASO states follows from ours: each of its axioms from those that its :source names.
TEST_F(AxiomDiscovery, ProvesWhatTasoStates) {
  const auto taso =
      load_axioms(std::vector<std::string>{REWRIGHT_SOURCE_DIR "/experiments/axioms/taso.smt2"}, *registry_);
  ASSERT_TRUE(taso) << taso.error().message;
  EXPECT_EQ(taso->axioms().size(), 46u);
  for (const Axiom& stated : taso->axioms()) {
    std::vector<std::string> names;
    std::istringstream words(stated.source);
    for (std::string word; words >> word;) names.push_back(word);
    const AxiomSet ours = only(names);
    ASSERT_EQ(ours.axioms().size(), names.size()) << stated.name << " names " << stated.source;
    const auto answer = entailment().follows(stated, ours);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->follows) << stated.name << " from " << stated.source << ": " << answer->proved << " of "
                                 << answer->combinations << ": " << answer->reason;
  }
}

}  // namespace
}  // namespace rewright
