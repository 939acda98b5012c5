// Axioms taken away come back: a small campaign is run once, one axiom is dropped, and what is suggested for the goals
// that are open then must imply it. And what follows from axioms, what does not.
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "axiom/audit.h"
#include "axiom/lemmas.h"
#include "axiom/writer.h"
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

/// Rows and columns that are repeated, and bounds.
constexpr const char* kBroadcast = R"(
[campaign]
name = "broadcast"
max_operators = 2
inputs = [
  { name = "x", shapes = [[2, 3], [3, 2]] },
  { name = "row", shapes = [[3], [2]] },
  { name = "column", shapes = [[2, 1], [3, 1]] },
]
pruners = ["renaming", "common_subgraph"]
verifiers = ["evaluate", "egraph"]
axioms = ["../../axioms/elementwise.smt2", "../../axioms/layout.smt2", "../../axioms/activation.smt2", "../../axioms/broadcast.smt2"]
[operators]
broadcast_add = [{ distinct_operands = true }, { stretch_left = [1], distinct_operands = true }, { stretch_right = [1], distinct_operands = true }]
clip = { low = -1.0, high = 2.5 }
concat = { axis = [0, 1] }
transpose = {}
)";

/// The quickstart's campaign, two operators deep; its axioms.
class AxiomDiscovery : public testing::Test {
 protected:
  static void SetUpTestSuite() { set_up("quickstart/campaign.toml"); }
  static void set_up(const std::string& experiment) {
    std::ifstream stream(REWRIGHT_SOURCE_DIR "/experiments/" + experiment);
    set_up_text(std::string(std::istreambuf_iterator<char>(stream), {}), kFiles, true);
  }
  static void set_up_text(std::string text, const std::vector<std::string>& files, bool all_proved) {
    std::string pattern = (fs::temp_directory_path() / "rewright-discovery-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    registry_ = std::make_unique<Registry>();
    ASSERT_TRUE(registry_->load_default());
    const auto put = [&](const std::string& from, const std::string& to) {
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    };
    if (text.find("name = \"quickstart\"") != std::string::npos) put("max_operators = 3", "max_operators = 2");
    put("../../axioms", REWRIGHT_SOURCE_DIR "/axioms");
    std::ofstream(folder_ / "campaign.toml") << text;
    const auto config = load_campaign((folder_ / "campaign.toml").string(), *registry_);
    ASSERT_TRUE(config) << config.error().message;
    RunOptions options;
    options.store = (folder_ / "store").string();
    const auto summary = run_campaign(*config, *registry_, options);
    ASSERT_TRUE(summary) << summary.error().message;
    ASSERT_TRUE(!all_proved || summary->unknown == 0) << summary->unknown;
    auto axioms = load_axioms(files, *registry_);
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

/// The same where tensors are repeated, not all goals of which are proved.
class DroppedAxiomOfBroadcasting : public DroppedAxiom {
 protected:
  static void SetUpTestSuite() {
    std::vector<std::string> files;
    for (const char* name : {"elementwise", "layout", "activation", "broadcast"})
      files.push_back(fmt::format(REWRIGHT_SOURCE_DIR "/axioms/{}.smt2", name));
    set_up_text(kBroadcast, files, false);
  }
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
TEST_P(DroppedAxiomOfBroadcasting, ComesBack) { expect_back(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Broadcast, DroppedAxiomOfBroadcasting,
                         testing::Values("broadcast-add-commutes", "broadcast-add-of-left-concat", "clip-of-concat",
                                         "transpose-of-clip"));
INSTANTIATE_TEST_SUITE_P(Scalars, DroppedAxiomOfGroups,
                         testing::Values("smul-by-sum", "conv-over-data-ewadd", "conv-over-weight-ewadd"));
INSTANTIATE_TEST_SUITE_P(Quickstart, DroppedAxiom,
                         testing::Values("matmul-associates", "concat-exchange", "relu-of-concat", "conv-with-relu",
                                         "ewmul-over-ewadd", "split-first-of-concat", "transpose-of-matmul",
                                         "matmul-of-right-concat", "conv-of-weight-concat", "maximum-of-concat-0",
                                         "relu-of-double", "smul-smul", "transpose-transpose", "ewmul-commutes"));

// Told to stop when the first law is made, it has that one; told so from the start, none.
TEST_F(AxiomDiscovery, KeepsWhatItHasWhenItIsStopped) {
  const AxiomSet left = axioms_->filtered(
      [](const Axiom& axiom) { return axiom.name != "matmul-associates" && axiom.name != "relu-relu"; });
  SuggestOptions options;
  options.ask_all = true;
  std::size_t rounds = 0;  // "equations" is reported before the first law and after each.
  options.progress = [&](const std::string& what, std::size_t, std::size_t) { rounds += what == "equations"; };
  for (const std::size_t laws : {0, 1}) {
    rounds = 0;
    options.law.stop = [&] { return rounds > laws; };
    const auto found = suggest_axioms(*store(), left, *registry_, entailment(), options);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(found->stopped);
    EXPECT_EQ(found->axioms.size(), laws);
    EXPECT_THAT(found->unsettled, testing::IsEmpty());
  }
  options.law.stop = [] { return false; };
  const auto whole = suggest_axioms(*store(), left, *registry_, entailment(), options);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_FALSE(whole->stopped);
  EXPECT_GT(whole->axioms.size(), 1u);
}

// With one scalar, what goals need is x * (s + s) = (x + x) * s.
TEST_F(AxiomDiscovery, PrefersALawThatSaysMoreThanTheGoalsNeed) {
  SuggestOptions options;
  options.ask_all = true;
  const AxiomSet left = without("smul-by-sum");
  for (const bool looks : {false, true}) {
    if (!looks) options.looks = 0;
    const auto found = suggest_axioms(*store(), left, *registry_, entailment(), options);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->axioms.size(), 1u);
    EXPECT_EQ(found->follow, found->open);
    const auto now = with_suggestions(left, found->axioms, *registry_);
    ASSERT_TRUE(now) << now.error().message;
    const auto answer = entailment().follows(axiom("smul-by-sum"), *now);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->follows, looks);
    options.looks = SuggestOptions().looks;
  }
}

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

// With a bound below 0, |min(|x|, bound)| is not min(|x|, bound): the audit's own three numbers do not show it.
TEST_F(AxiomDiscovery, LeavesABoundAsItIsWhereOthersDoNotDo) {
  const auto rule =
      parse_rule("(x:2) abs(clip[low=-1, high=0.5](abs(x))) => clip[low=-1, high=0.5](abs(x))", *registry_);
  ASSERT_TRUE(rule) << rule.error().message;
  const auto law = generalised_law(*axiom_of(*rule, 0));
  ASSERT_TRUE(law) << law.error().message;
  EXPECT_TRUE(law->counterexample.empty());
  EXPECT_THAT(*to_smt(law->axiom), testing::HasSubstr("(clip e 0.5 (abs/1 x))")) << "from below, any bound does";
  const auto clipped =
      parse_rule("(x:2) clip[low=-1, high=0.5](abs(x)) => clip[low=-1, high=0.5](abs(abs(x)))", *registry_);
  const auto any = generalised_law(*axiom_of(*clipped, 0));
  ASSERT_TRUE(any) << any.error().message;
  EXPECT_EQ(std::ranges::count(any->axiom.variables, AxiomSort::kReal, &AxiomVariable::sort), 2) << *to_smt(any->axiom);
}

// What stretches the right operand stretches the left one after the exchange: one variable, not two.
TEST_F(AxiomDiscovery, FollowsAValueToAnotherParameter) {
  const auto rule = parse_rule(
      "(x:2, y:2) broadcast_sub[stretch_right=[1]](x, y) => neg(broadcast_sub[stretch_left=[1]](y, x))", *registry_);
  ASSERT_TRUE(rule) << rule.error().message;
  const auto law = generalised_law(*axiom_of(*rule, 0));
  ASSERT_TRUE(law) << law.error().message;
  EXPECT_EQ(std::ranges::count(law->axiom.variables, AxiomSort::kSizes, &AxiomVariable::sort), 2);
  EXPECT_THAT(*to_smt(law->axiom), testing::HasSubstr("(broadcast_sub e f x y)"));
  EXPECT_THAT(*to_smt(law->axiom), testing::HasSubstr("(broadcast_sub f e y x)"));
}

/// The law that a rule is made into, as SMT-LIB on one line.
std::string law_of(std::string_view text, const Registry& registry) {
  const auto rule = parse_rule(text, registry);
  if (!rule) return rule.error().message;
  const auto law = generalised_law(*axiom_of(*rule, 0));
  if (!law) return law.error().message;
  std::istringstream lines(*to_smt(law->axiom));
  std::string all;
  for (std::string word; lines >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

TEST_F(AxiomDiscovery, MakesVariablesOfTheSizesOfConstants) {
  EXPECT_THAT(law_of("() enlarge[kernel=[3, 3]](constant_conv[sizes=[s0, s1, 1, 1]]) => constant_conv[sizes=[s0, s1, "
                     "3, 3]]",
                     *registry_),
              testing::HasSubstr("(= (enlarge (sizes2 j n) (constant_conv (sizes4 s0 s1 i m))) (constant_conv (sizes4 "
                                 "s0 s1 j n)))"))
      << "a kernel is the sizes that it leads to, and no variable of its own";
  EXPECT_THAT(law_of("(x:4) conv2d(relu(x), constant_conv[sizes=[3, x.1, 1, 1]]) => relu(conv2d(x, "
                     "constant_conv[sizes=[3, x.1, 1, 1]]))",
                     *registry_),
              testing::HasSubstr("(constant_conv (sizes4 i j n m))"))
      << "the channels need not be the image's: there may be groups";
  EXPECT_THAT(law_of("(x:2) reshape[sizes=[s0, s1]](reshape[sizes=[s2]](x)) => reshape[sizes=[s0, s1]](x)", *registry_),
              testing::HasSubstr("(= (reshape k (reshape l x)) (reshape k x))"));
}

TEST_F(AxiomDiscovery, LetsListsGrowTogetherThatCannotGrowAlone) {
  const std::string law =
      law_of("(x:2) relu(slice[axes=[1], starts=[1], sizes=[1]](x)) => slice[axes=[1], starts=[1], sizes=[1]](relu(x))",
             *registry_);
  EXPECT_THAT(law, testing::HasSubstr("(= (relu (slice k l m n x)) (slice k l m n (relu x)))"));
  EXPECT_THAT(law, testing::HasSubstr(":ranks \"x 1..4\""));
  EXPECT_THAT(law_of("(x:2) relu(pad[before=[1, 0], after=[0, 2]](x)) => pad[before=[1, 0], after=[0, 2]](relu(x))",
                     *registry_),
              testing::HasSubstr("(= (relu (pad k l 0.0 x)) (pad k l 0.0 (relu x)))"));
  EXPECT_THAT(law_of("(x:1) slice[axes=[0], starts=[0], sizes=[2]](slice[axes=[0], starts=[1], sizes=[3]](x)) => "
                     "slice[axes=[0], starts=[1], sizes=[2]](x)",
                     *registry_),
              testing::Not(testing::HasSubstr("(slice k l m n")))
      << "two slices have lists of their own";
}

TEST_F(AxiomDiscovery, MakesSumsOfWhatCanBeNothingElse) {
  EXPECT_THAT(law_of("(x:1) pad[before=[0], after=[1]](pad[before=[1], after=[2]](x)) => pad[before=[1], after=[3]](x)",
                     *registry_),
              testing::HasSubstr("(pad (sizes1 (+ i j)) (sizes1 (+ m n)) e x)"));
  EXPECT_THAT(
      law_of("(x:2) slice[axes=[1], starts=[1], sizes=[1]](slice[axes=[1], starts=[1], sizes=[2]](x)) => "
             "slice[axes=[1], starts=[2], sizes=[1]](x)",
             *registry_),
      testing::HasSubstr("(= (slice e (sizes1 n) (sizes1 i) (sizes1 1) (slice e (sizes1 m) (sizes1 j) (sizes1 1) "
                         "x)) (slice e (sizes1 (+ m n)) (sizes1 i) (sizes1 1) x))"))
      << "with steps of two the starts do not add up";
}

TEST_F(AxiomDiscovery, PrefersEveryStrideToEveryPadding) {
  EXPECT_THAT(law_of("(x:4, w:4) conv2d(x, enlarge[kernel=[3, 3]](w)) => conv2d(x, w)", *registry_),
              testing::HasSubstr("(conv2d s padding.same q (sizes2 1 1) g e x (enlarge (sizes2 n m) y))"));
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
