// Stores of several machines joined: nothing twice, nothing lost, and what cannot be joined left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "campaign/merge_stores.h"
#include "store/compare.h"
#include "store/derivations.h"
#include "store/statistics.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::loaded;
using testing::read_rule;
using ::testing::UnorderedElementsAre;

const std::string kTwice = "(x:2) relu(relu(x)) => relu(x)";
const std::string kOrder = "(x:2) relu(transpose(x)) => transpose(relu(x))";
const std::string kBack = "(x:2) transpose(transpose(x)) => x";

struct Entry {
  std::string rule;
  std::string status = "proved";
  std::string trust = "certificate";
};

class MergeTest : public ::testing::Test {
 protected:
  MergeTest() {
    std::string pattern = (fs::temp_directory_path() / "rewright-merge-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~MergeTest() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // A finished campaign: a candidate, a goal and a verdict for each entry, a rule for each that is proved.
  void make(const std::string& name, const std::vector<Entry>& entries, bool finished = true) {
    auto store = Store::open(path(name), Store::Mode::kRun);
    ASSERT_TRUE(store) << store.error().message;
    const Status status = (*store)->database().transaction([&]() -> Status {
      REWRIGHT_CHECK((*store)->begin({name, "hash of " + name, R"({"pruners":[{"name":"renaming"}]})", {}}));
      REWRIGHT_CHECK((*store)->add(LevelRecord{2, 100, 50, entries.size()}));
      for (const Entry& entry : entries) REWRIGHT_CHECK(add(**store, entry));
      if (!finished) return {};
      return (*store)->finish("library");
    });
    ASSERT_TRUE(status) << status.error().message;
  }
  Status add(Store& store, const Entry& entry) {
    Rule rule = read_rule(entry.rule);
    REWRIGHT_TRY(const std::int64_t goals, store.count("goals"));
    REWRIGHT_TRY(const std::int64_t rules, store.count("rules"));
    REWRIGHT_CHECK(store.add(CandidateRecord{goals, "candidate " + rule.id, 2, "source", "target"}));
    GoalRecord goal{goals,        rule.id,    entry.rule,  rule.name, example_text(rule),
                    entry.status, entry.rule, entry.trust, ""};
    if (entry.trust == "certificate") goal.certificate = "certificate 1\n";
    REWRIGHT_CHECK(store.add(goal));
    REWRIGHT_CHECK(store.add(ProposalRecord{goals, false, false, goals, ""}));
    Verdict verdict{
        entry.status == "proved" ? VerdictKind::kProved : VerdictKind::kRefuted, entry.trust, "", "", {}, {}};
    verdict.seconds = 0.5;
    REWRIGHT_CHECK(store.add(VerdictRecord{goals, 0, "egraph", "1.0.0", {}, verdict}));
    if (entry.status != "proved") return {};
    rule.trust = entry.trust == "certificate" ? Trust::kCertificate : Trust::kSolver;
    rule.certificate = goal.certificate;
    return store.add(RuleRecord{rules, goals, rule, entry.rule});
  }
  Result<MergeReport> merge(const std::vector<std::string>& names, const std::string& target = "merged") {
    std::vector<std::string> folders;
    for (const std::string& name : names) folders.push_back(path(name));
    return merge_stores(folders, path(target), loaded());
  }
  std::string refusal(const std::vector<std::string>& names) {
    const auto before = contents(names);
    const auto report = merge(names);
    EXPECT_EQ(contents(names), before) << "the stores that are read stay as they are";
    expect_nothing_made();
    return report ? "" : report.error().message;
  }
  void expect_nothing_made() {
    for (const auto& entry : fs::directory_iterator(folder_))
      EXPECT_FALSE(entry.path().filename().string().starts_with("merged")) << "half of a store: " << entry.path();
  }
  std::unique_ptr<Store> open(const std::string& name) { return *Store::open(path(name), Store::Mode::kRead); }
  std::vector<std::string> contents(const std::vector<std::string>& names) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
      const auto store = Store::open(path(name), Store::Mode::kRead);
      const Result<std::string> rows = store ? (*store)->dump() : Result<std::string>(store.error());
      found.push_back(rows ? *rows : rows.error().message);
    }
    return found;
  }
  std::vector<RuleText> rules(const std::string& name) {
    auto found = open(name)->rule_texts();
    if (!found) ADD_FAILURE() << found.error().message;
    return found ? *std::move(found) : std::vector<RuleText>();
  }
  std::vector<std::string> texts(const std::string& name) {
    std::vector<std::string> found;
    for (const RuleText& rule : rules(name)) found.push_back(rule.text);
    return found;
  }

  fs::path folder_;
};

TEST_F(MergeTest, KeepsEveryRuleOnceAndKnowsWhoFoundIt) {
  make("here", {{kTwice}, {kOrder}});
  make("there", {{kBack}, {"(a:2) relu(relu(a)) => relu(a)"}});  // One of them under another name.
  const auto report = merge({"here", "there"});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->rules, 3U);
  EXPECT_EQ(report->parts[1].added, 1U);
  EXPECT_THAT(texts("merged"), ElementsAre(kTwice, kOrder, kBack));
  const auto store = open("merged");
  EXPECT_EQ(*store->count("goal_origins", "goal = 0"), 2) << "both campaigns found the first";
  EXPECT_EQ(*store->count("goal_origins", "goal = 1"), 1);
  EXPECT_EQ(*store->count("candidate_origins"), 4);
  EXPECT_EQ(*store->count("campaigns", "levels LIKE '%\"graphs\":100%'"), 2);
  EXPECT_EQ(*store->count("verdicts"), 3) << "the same verdict twice is one";
  EXPECT_EQ(*store->count("verdict_times"), 3);
  EXPECT_TRUE(store->database().check());
  EXPECT_EQ((**store->campaign()).name, "merge of here, there");
}

TEST_F(MergeTest, GivesTheSameRulesInAnyOrder) {
  make("here", {{kTwice}, {kOrder}});
  make("there", {{kBack}, {kTwice}});
  ASSERT_TRUE(merge({"here", "there"}, "one"));
  ASSERT_TRUE(merge({"there", "here"}, "two"));
  EXPECT_THAT(texts("two"), UnorderedElementsAre(kTwice, kOrder, kBack));
  EXPECT_EQ(texts("one").size(), texts("two").size());
}

TEST_F(MergeTest, OfAMergedStoreAndItsPartAddsNothing) {
  make("here", {{kTwice}, {kOrder}});
  make("there", {{kBack}, {kTwice}});
  ASSERT_TRUE(merge({"here", "there"}, "once"));
  ASSERT_TRUE(merge({"once", "there"}, "again"));
  EXPECT_EQ(*open("again")->dump(), *open("once")->dump());
}

TEST_F(MergeTest, ACertificateTakesThePlaceOfASolversWord) {
  make("here", {{kTwice, "proved", "solver"}});
  make("there", {{kTwice}});
  ASSERT_TRUE(merge({"here", "there"}));
  const RuleText rule = rules("merged").at(0);
  EXPECT_EQ(rule.trust, "certificate");
  EXPECT_EQ(rule.certificate, "certificate 1\n");
  EXPECT_EQ(open("merged")->verdicts(0)->size(), 2U) << "what both said stays";
}

TEST_F(MergeTest, AnAnswerTakesThePlaceOfNoneInEitherOrder) {
  make("here", {{kTwice, "unknown", ""}, {kOrder, "open", ""}, {kBack, "refuted", ""}});
  make("there", {{kTwice, "refuted", ""}, {kOrder, "unknown", ""}, {kBack, "open", ""}});
  for (const auto& names : {std::vector<std::string>{"here", "there"}, {"there", "here"}}) {
    const std::string target = names[0] + " first";
    ASSERT_TRUE(merge(names, target));
    std::vector<std::string> found;
    const auto goals = open(target)->goals();
    ASSERT_TRUE(goals) << goals.error().message;
    for (const GoalRecord& goal : *goals) found.push_back(goal.text + ": " + goal.status);
    EXPECT_THAT(found, UnorderedElementsAre(kTwice + ": refuted", kOrder + ": unknown", kBack + ": refuted"));
  }
}

TEST_F(MergeTest, KeepsTheTimesOfAllRuns) {
  make("here", {{kTwice}});
  make("there", {{kOrder}});
  for (const auto& [name, seconds] : {std::pair("here", 2.0), {"there", 0.5}}) {
    const auto store = *Store::open(path(name), Store::Mode::kWrite);
    ASSERT_TRUE(store->begin_run(3, false));
    ASSERT_TRUE(store->add_time("verify", seconds, 1000));
  }
  ASSERT_TRUE(merge({"here", "there"}));
  EXPECT_EQ(*open("merged")->count("runs"), 2);
  EXPECT_EQ(*open("merged")->count("timings", "seconds = 2 OR seconds = 0.5"), 2);
}

TEST_F(MergeTest, ACandidateIsRemovedOnlyIfEveryCampaignRemovedIt) {
  make("here", {{kTwice}, {kOrder}});
  make("there", {{kTwice}, {kOrder}});
  for (const char* name : {"here", "there"}) {
    const auto store = *Store::open(path(name), Store::Mode::kWrite);
    ASSERT_TRUE(store->add(RemovalRecord{0, "renaming", "", name}));
  }
  ASSERT_TRUE((*Store::open(path("here"), Store::Mode::kWrite))->add(RemovalRecord{1, "renaming", "", "here"}));
  ASSERT_TRUE(merge({"here", "there"}));
  EXPECT_EQ(*open("merged")->count("removals"), 1);
  EXPECT_EQ(*open("merged")->count("candidate_origins", "pruner = 'renaming'"), 3) << "what each decided stays";
}

TEST_F(MergeTest, KeepsWhatRulesGained) {
  make("here", {{kTwice}});
  make("there", {{kOrder}});
  const std::string id = read_rule(kOrder).id;
  ASSERT_TRUE((*Store::open(path("there"), Store::Mode::kWrite))
                  ->add(UseRecord{id, "a.onnx", "hash", "greedy", "flops", 1, 2.5, 10, 7.5}));
  ASSERT_TRUE(merge({"here", "there"}));
  const auto uses = open("merged")->uses();
  ASSERT_EQ(uses->size(), 1U);
  EXPECT_EQ(uses->front().rule, id);
  EXPECT_EQ(uses->front().gain_us, 2.5);
}

TEST_F(MergeTest, ADerivationStaysUnlessTheOtherLibraryHasTheRule) {
  make("here", {{kTwice}, {kOrder}});
  {
    const auto store = *Store::open(path("here"), Store::Mode::kWrite);
    const std::string kept = read_rule(kTwice).id, dropped = read_rule(kOrder).id;
    ASSERT_TRUE(store->database().run("DELETE FROM rules WHERE goal = 1"));
    auto table = DerivationTable::open(*store);
    ASSERT_TRUE(table);
    ASSERT_TRUE(table->add({1, dropped, "derivable", {kept}, "follows", 2, true, "certificate 1\n", {kept}}));
  }
  make("without", {{kBack}});
  make("with", {{kBack}, {kOrder}});
  ASSERT_TRUE(merge({"without", "here"}, "one"));
  const auto derived = DerivationTable::read(*open("one"));
  ASSERT_TRUE(derived);
  ASSERT_EQ(derived->size(), 1U);
  EXPECT_EQ(open("one")->goals()->at(static_cast<std::size_t>(derived->front().goal)).text, kOrder);
  ASSERT_TRUE(merge({"with", "here"}, "two"));
  EXPECT_EQ(DerivationTable::read(*open("two"))->size(), 0U);
}

TEST_F(MergeTest, StopsWhereOneStoreProvesWhatAnotherRefutes) {
  make("here", {{kTwice}});
  make("there", {{kTwice, "refuted", ""}});
  EXPECT_THAT(refusal({"here", "there"}), AllOf(HasSubstr("is proved in '" + path("here") + "' and refuted in '"),
                                                HasSubstr(read_rule(kTwice).id)));
  EXPECT_THAT(refusal({"there", "here"}), HasSubstr("is refuted in '" + path("there") + "' and proved in '"));
}

TEST_F(MergeTest, StopsAtOneIdWithTwoContents) {
  make("here", {{kTwice}});
  make("there", {{kTwice}});
  for (const char* table : {"goals", "rules"}) {
    const auto store = *Store::open(path("there"), Store::Mode::kWrite);
    ASSERT_TRUE(store->database().run(fmt::format("UPDATE {} SET text = '(x:2) relu(relu(x)) => x'", table)));
  }
  EXPECT_THAT(refusal({"here", "there"}),
              AllOf(HasSubstr("'" + path("there") + "' holds another rule under the id " + read_rule(kTwice).id),
                    HasSubstr("'(x:2) relu(relu(x)) => x' has the id")));
}

TEST_F(MergeTest, StopsAtADamagedPage) {
  make("here", {{kTwice}});
  make("there", {{kOrder}});
  const std::string file = path("there") + "/store.sqlite";
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
  stream << std::string(8192, '\xff');
  stream.close();
  EXPECT_THAT(refusal({"here", "there"}), AllOf(HasSubstr("there/store.sqlite' is damaged")));
}

TEST_F(MergeTest, StopsAtAStoreOfANewerProgram) {
  make("here", {{kTwice}});
  make("there", {{kOrder}});
  ASSERT_TRUE((*Store::open(path("there"), Store::Mode::kWrite))->database().run("PRAGMA user_version = 99"));
  EXPECT_THAT(refusal({"here", "there"}), AllOf(HasSubstr("there/store.sqlite"), HasSubstr("newer Rewright")));
}

TEST_F(MergeTest, StopsAtACampaignThatIsNotFinished) {
  make("here", {{kTwice}});
  make("there", {{kOrder}}, false);
  EXPECT_THAT(refusal({"here", "there"}), HasSubstr("the campaign in '" + path("there") + "' is not finished"));
}

TEST_F(MergeTest, NeverWritesOverWhatIsThere) {
  make("here", {{kTwice}});
  make("there", {{kOrder}});
  const auto report = merge({"here", "there"}, "here");
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("'" + path("here") + "' is there already"));
  EXPECT_THAT(texts("here"), ElementsAre(kTwice));
}

TEST_F(MergeTest, StopsAtTwoVersionsOfOneAxiomFile) {
  make("here", {{kTwice}});
  make("there", {{kOrder}});
  for (const char* name : {"here", "there"}) {
    fs::create_directory(path(std::string(name) + ".axioms"));
    const std::string file = path(std::string(name) + ".axioms/layout.smt2");
    std::ofstream(file) << "; as they are " << name << "\n";
    std::ofstream(path(name) + "/axioms.txt") << file << "\n";
  }
  EXPECT_THAT(refusal({"here", "there"}), HasSubstr("the stores rest on different axioms"));
}

TEST_F(MergeTest, LeavesNothingBehindWhereNothingMoreCanBeWritten) {
  make("here", {{kTwice}, {kOrder}});
  make("there", {{kBack}});
  const auto before = contents({"here", "there"});
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit limit = {60'000, unlimited.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const auto report = merge({"here", "there"});
  setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(report) << "it fitted";
  EXPECT_EQ(report.error().code, ErrorCode::kBudget);
  EXPECT_THAT(report.error().message,
              HasSubstr(fmt::format("the disk is full: '{}' was not made, and the stores", path("merged"))));
  EXPECT_EQ(contents({"here", "there"}), before);
  expect_nothing_made();
}

// --- two libraries side by side --------------------------------------------------------------------------------

RuleSource source(const std::string& place, const std::vector<std::string>& texts) {
  RuleSource made{place, {}};
  for (const std::string& text : texts) {
    made.rules.push_back(split_rule_text(text));
    made.rules.back().id = read_rule(text).id;
  }
  return made;
}

std::vector<std::string> texts(const std::vector<const RuleText*>& rules) {
  std::vector<std::string> found;
  for (const RuleText* rule : rules) found.push_back(rule->text);
  return found;
}

TEST(RuleDiff, TellsTheLostFromTheNew) {
  const RuleSource before = source("before", {kTwice, kOrder}), after = source("after", {kBack, kTwice, kBack});
  const auto found = diff(before, after, loaded());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(texts(found->lost), ElementsAre(kOrder));
  EXPECT_THAT(texts(found->fresh), ElementsAre(kBack, kBack));
  EXPECT_EQ(found->common, 1U);
}

TEST(RuleDiff, StopsAtOneIdWithTwoContents) {
  const RuleSource before = source("before", {kTwice});
  RuleSource after = source("after", {kOrder});
  after.rules[0].id = before.rules[0].id;
  const auto found = diff(before, after, loaded());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("'after' holds another rule under the id " + before.rules[0].id));
}

TEST(RuleStatistics, CountApplicationsNotWordsInSizeLists) {
  EXPECT_THAT(operators_in("let v0, v1 = split[axis=1, sizes=[floor(x.0 / 2), y.0]](x) in relu(v0), v1"),
              ElementsAre("split", "relu"));
  EXPECT_THAT(operators_in("constant_one[sizes=[2]]"), ElementsAre("constant_one"));
  EXPECT_THAT(operators_in("x"), ElementsAre());
  EXPECT_EQ(size_of(split_rule_text(kBack)), 2U);
}

}  // namespace
}  // namespace rewright
