// Campaigns with pruners of proved rules: what the library keeps, what the store says of the rest, and the audit.
#include "campaign/library.h"

#include <rewright/axiom/axiom.h>
#include <rewright/egraph/prover.h>
#include <rewright/plugin/registry.h>
#include <rewright/verify/derivation.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/files.h"
#include "campaign/audit_library.h"
#include "campaign/config.h"
#include "campaign/rule_source.h"
#include "campaign/runner.h"
#include "store/derivations.h"
#include "store/store.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCampaign = R"(
[campaign]
name = "library"
max_operators = 2
inputs = [
  { name = "x", shapes = [[2, 3], [3, 2]] },
  { name = "y", shapes = [[2, 3], [3, 2]] },
  { name = "w", shapes = [[3, 3], [2, 2]], weight = true },
  { name = "v", shapes = [[3, 3], [2, 2]], weight = true },
]
pruners = [PRUNERS]
verifiers = ["evaluate", "egraph"]
axioms = ["AXIOMS/elementwise.smt2", "AXIOMS/linear_algebra.smt2", "AXIOMS/layout.smt2"]

[operators]
ewadd = {}
ewmul = {}
relu = {}
matmul = {}
transpose = {}
concat = { axis = [0, 1] }
split = { axis = [0, 1] }
)";
constexpr const char* kCheap = R"("renaming", "common_subgraph")";
constexpr const char* kAll = R"("renaming", "common_subgraph", "specialisation", "derivable")";

class LibraryTest : public testing::Test {
 protected:
  LibraryTest() {
    std::string pattern = (fs::temp_directory_path() / "rewright-library-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    if (const Status status = registry_.load_default(); !status) ADD_FAILURE() << status.error().message;
  }
  ~LibraryTest() override { fs::remove_all(folder_); }

  Result<CampaignSummary> run(const std::string& name, const std::string& pruners, RunOptions options = {},
                              const std::string& more = {}) {
    std::string text = kCampaign;
    for (const auto& [word, value] : {std::pair<std::string, std::string>{
                                          "pruners = [PRUNERS]\n", fmt::format("pruners = [{}]\n{}", pruners, more)},
                                      {"AXIOMS", REWRIGHT_SOURCE_DIR "/axioms"}}) {
      for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size()))
        text.replace(at, word.size(), value);
    }
    const std::string file = (folder_ / "campaign.toml").string();
    std::ofstream(file) << text;
    REWRIGHT_TRY(const CampaignConfig config, load_campaign(file, registry_));
    options.store = store(name);
    return run_campaign(config, registry_, options);
  }
  void load_liars() {
    const Status status = registry_.load(REWRIGHT_BUILD_DIR "/tests/plugins/campaign/liars.so");
    if (!status) ADD_FAILURE() << status.error().message;
  }
  [[nodiscard]] std::string store(const std::string& name) const { return (folder_ / name).string(); }
  std::unique_ptr<Store> open(const std::string& name, Store::Mode mode = Store::Mode::kRead) {
    auto opened = Store::open(store(name), mode);
    if (!opened) fail(opened.error().message);
    return *std::move(opened);
  }
  std::vector<Rule> rules(const std::string& name) { return *open(name)->unjudged_rules(registry_); }
  std::vector<DerivationRecord> derivations(const std::string& name) {
    auto records = DerivationTable::read(*open(name));
    if (!records) fail(records.error().message);
    return *std::move(records);
  }
  AuditReport audit(const std::string& name) {
    const auto report = audit_library(*open(name), registry_, {});
    if (!report) fail(report.error().message);
    return *report;
  }
  std::string content(const std::string& name) {
    std::string text;
    for (const Rule& rule : rules(name)) text += rule.id + rule.name + to_text(rule) + rule.certificate;
    for (const DerivationRecord& record : derivations(name))
      text +=
          fmt::format("{} {} {} {} {}", record.id, record.pruner, record.reason, record.forward, record.certificate);
    return text;
  }
  void alter(const std::string& name, const std::string& sql) {
    const auto opened = open(name, Store::Mode::kWrite);
    const Status status = opened->database().run(sql);
    ASSERT_TRUE(status) << status.error().message;
  }

  fs::path folder_;
  Registry registry_;
};

TEST_F(LibraryTest, RowsThatWereChangedAreRefusedWhenTheyAreUsed) {
  ASSERT_TRUE(run("true", kAll));
  const auto refusal = [&](const std::string& sql) {
    fs::remove_all(store("changed"));
    fs::copy(store("true"), store("changed"), fs::copy_options::recursive);
    alter("changed", sql);
    const auto read = judged_rules(*open("changed"), registry_);
    return read ? "" : read.error().message;
  };
  const std::string first = " where position = (select min(position) from rules)";
  const std::string id = rules("true").front().id;
  EXPECT_EQ(refusal("update rules set name = 'another'" + first), "");
  EXPECT_THAT(refusal("update rules set text = '(x:2) relu(x) => x'" + first),
              AllOf(HasSubstr("changed/store.sqlite', rule " + id), HasSubstr("its id is not that of its text")));
  const auto forged = parse_rule("(x:2) relu(x) => x", registry_);
  ASSERT_TRUE(forged);
  EXPECT_THAT(refusal(fmt::format("update rules set text = '{}', id = '{}'", to_text(*forged), forged->id) + first),
              AllOf(HasSubstr("rule " + forged->id), HasSubstr("its proof is rejected")));
  EXPECT_THAT(refusal("update rules set certificate = ''" + first),
              AllOf(HasSubstr("rule " + id), HasSubstr("its proof is rejected")));
}
TEST_F(LibraryTest, EveryProvedRuleIsKeptOrDerived) {
  const auto all = run("all", kCheap), small = run("small", kAll);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_LT(small->rules, all->rules);
  std::set<std::string> accounted;
  for (const Rule& rule : rules("small")) accounted.insert(rule.id);
  for (const DerivationRecord& record : derivations("small")) accounted.insert(record.id);
  for (const Rule& rule : rules("all")) EXPECT_TRUE(accounted.contains(rule.id)) << to_text(rule);
}
TEST_F(LibraryTest, DerivesWhatTheCheapPrunersAloneLeave) {
  ASSERT_TRUE(run("all", kCheap) && run("small", kAll));
  const auto found = derive_all(rules("all"), one_direction_each(rules("small")), registry_);
  ASSERT_TRUE(found);
  const std::vector<Rule> all = rules("all");
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE((*found)[i]) << to_text(all[i]);
}
TEST_F(LibraryTest, HasBothDirectionsOfAnEquationWithProofs) {
  ASSERT_TRUE(run("small", kAll));
  std::set<std::string> ids;
  for (const Rule& rule : rules("small")) ids.insert(rule.id);
  for (const Rule& rule : rules("small")) {
    EXPECT_EQ(rule.trust, Trust::kCertificate);
    const auto turned = converse(rule);
    if (turned) {
      EXPECT_TRUE(ids.contains(turned->id)) << to_text(rule);
    }
  }
}
TEST_F(LibraryTest, ThePrunersSayWhatTheyRemoved) {
  const auto summary = run("small", kAll);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->pruners.size(), 4u);
  EXPECT_GT(summary->pruners[2].removed, 0u);
  EXPECT_GT(summary->pruners[3].removed, 0u);
  EXPECT_EQ(summary->pruners[3].left,
            summary->proved + summary->generalised - summary->pruners[2].removed - summary->pruners[3].removed);
  EXPECT_LE(summary->pruners[3].forward, summary->pruners[3].removed);
  for (const DerivationRecord& record : derivations("small")) {
    EXPECT_FALSE(record.reason.empty());
    EXPECT_EQ(record.by.empty(), record.rules.empty()) << record.certificate;
  }
}
TEST_F(LibraryTest, AnyNumberOfThreadsGivesTheSameBytes) {
  RunOptions two, five;
  two.threads = 2;
  five.threads = 5;
  ASSERT_TRUE(run("one", kAll) && run("two", kAll, two) && run("five", kAll, five));
  EXPECT_EQ(content("one"), content("two"));
  EXPECT_EQ(content("one"), content("five"));
  EXPECT_EQ(*open("one")->dump(), *open("five")->dump());
}
TEST_F(LibraryTest, StoppedWhileTheLibraryIsMadeItGoesOnToTheSameBytes) {
  ASSERT_TRUE(run("whole", kAll));
  RunOptions stopped;
  bool in_library = false;
  stopped.progress = [&](const CampaignProgress& progress) { in_library = in_library || progress.phase == "library"; };
  stopped.stop = [&] { return in_library; };
  const auto first = run("parts", kAll, stopped);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->state, CampaignSummary::State::kStopped);
  RunOptions on;
  on.resume = true;
  ASSERT_TRUE(run("parts", kAll, on));
  EXPECT_EQ(content("whole"), content("parts"));
}
TEST_F(LibraryTest, FreshForgetsDerivationsToo) {
  ASSERT_TRUE(run("store", kAll));
  RunOptions fresh;
  fresh.fresh = true;
  const auto again = run("store", kCheap, fresh);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(derivations("store").empty());
}
TEST_F(LibraryTest, PrunersOfCandidatesComeFirst) {
  const auto wrong = run("wrong", R"("renaming", "derivable", "common_subgraph")");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("list 'common_subgraph' first"));
  EXPECT_THAT(run("wrong", R"({ name = "derivable", nodes = 0 })").error().message, HasSubstr("nodes"));
}

TEST_F(LibraryTest, APrunerThatIsWrongCostsNoRule) {
  load_liars();
  ASSERT_TRUE(run("all", kCheap));
  for (const auto& [derivation, reason] :
       {std::pair("none", "since its derivation is rejected"), {"by_each_other", "since no derivation is found"}}) {
    const auto swept = run(derivation, fmt::format("{}, {{ name = \"sweeping\", {} = true }}", kCheap, derivation));
    ASSERT_TRUE(swept) << swept.error().message;
    EXPECT_THAT(*read_file(store(derivation) + "/log.txt"), HasSubstr(reason));
    EXPECT_TRUE(audit(derivation).failures.empty());
    std::set<std::string> accounted;
    for (const Rule& rule : rules(derivation)) accounted.insert(rule.id);
    for (const DerivationRecord& record : derivations(derivation)) accounted.insert(record.id);
    for (const Rule& rule : rules("all")) EXPECT_TRUE(accounted.contains(rule.id)) << to_text(rule);
  }
}
TEST_F(LibraryTest, APrunerThatAnswersTooFewIsAnError) {
  load_liars();
  const auto swept = run("swept", fmt::format("{}, {{ name = \"sweeping\", too_few = true }}", kCheap));
  ASSERT_FALSE(swept);
  EXPECT_THAT(swept.error().message, HasSubstr("it must give one each"));
}

TEST_F(LibraryTest, TakesMoreGeneralFormsAndIsStillProved) {
  ASSERT_TRUE(run("small", kAll));
  const auto summary = run("general", kAll, {}, "generalise = true\n");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_GT(summary->generalised, 0u);
  EXPECT_LT(summary->rules, open("small")->rule_texts()->size());
  const AuditReport report = audit("general");
  EXPECT_TRUE(report.failures.empty()) << report.failures[0].text << report.failures[0].reason;
  const std::vector<Rule> proved = rules("general");
  EXPECT_TRUE(std::ranges::all_of(proved, [](const Rule& rule) { return rule.trust == Trust::kCertificate; }));
  EXPECT_THAT(run("wrong", kCheap, {}, "generalise = true\n").error().message, HasSubstr("needs a pruner of rules"));
}

TEST_F(LibraryTest, TakesNoGeneralFormWhoseProofIsRejected) {
  const AxiomSet axioms =
      *load_axioms(std::vector<std::string>{REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2"}, registry_);
  const auto form = [&](const std::string& text) {
    Rule rule = *parse_rule(text, registry_);
    rule.certificate = EqualityProver(axioms.axioms()).prove(rule)->certificate;
    return rule;
  };
  const Rule right = form("(x:2) relu(relu(relu(x))) => relu(x)"), old = form("(x:3) relu(relu(x)) => relu(x)");
  Rule wrong = form("(x:2) relu(relu(x)) => relu(x)");
  wrong.certificate = "certificate 1\noutput 0\n";
  RuleJudge judge(axioms, registry_);
  std::vector<ProvedRule> library;
  std::vector<std::string> log;
  add_general_forms(library, {wrong, std::nullopt, right, right, old}, {old.id}, judge,
                    [&](const std::string& line) { log.push_back(line); });
  ASSERT_EQ(library.size(), 1u);
  EXPECT_EQ(library[0].rule.id, right.id);
  EXPECT_FALSE(library[0].goal);
  EXPECT_THAT(log, testing::ElementsAre("library: a general form is left out, since its proof is rejected: (x:2) "
                                        "relu(relu(x)) => relu(x): output 0: the steps do not lead to the target",
                                        "library: 1 rules have a more general form"));
}

TEST_F(LibraryTest, TheAuditAcceptsWhatACampaignLeft) {
  const auto summary = run("small", kAll);
  ASSERT_TRUE(summary);
  const AuditReport report = audit("small");
  EXPECT_TRUE(report.failures.empty()) << report.failures[0].text << report.failures[0].reason;
  EXPECT_EQ(report.dropped, derivations("small").size());
  EXPECT_EQ(report.replayed, report.dropped);
  EXPECT_EQ(report.derived, report.dropped);
}
TEST_F(LibraryTest, TheAuditMissesAnEssentialRule) {
  ASSERT_TRUE(run("small", kAll));
  alter("small",
        "DELETE FROM rules WHERE text LIKE '%matmul(matmul(%=> matmul(%, matmul(%' "
        "OR text LIKE '%matmul(%, matmul(%=> matmul(matmul(%'");
  const AuditReport report = audit("small");
  EXPECT_LT(report.replayed, report.dropped);
  EXPECT_LT(report.derived, report.dropped);
  ASSERT_FALSE(report.failures.empty());
  EXPECT_THAT(report.failures[0].text, HasSubstr("matmul"));
}
TEST_F(LibraryTest, TheAuditRejectsAnAlteredDerivation) {
  ASSERT_TRUE(run("small", kAll));
  alter("small",
        "UPDATE derivations SET certificate = replace(certificate, ' > ', ' < ') WHERE goal = "
        "(SELECT min(goal) FROM derivations WHERE certificate LIKE '% > %')");
  const AuditReport report = audit("small");
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_THAT(report.failures[0].reason, HasSubstr("rejected"));
}
TEST_F(LibraryTest, TheAuditMissesALostDerivation) {
  ASSERT_TRUE(run("small", kAll));
  alter("small", "DELETE FROM derivations WHERE goal = (SELECT max(goal) FROM derivations)");
  const AuditReport report = audit("small");
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_THAT(report.failures[0].reason, HasSubstr("neither in the library nor derived"));
}

TEST_F(LibraryTest, RulesOfAFileJoinTheCampaigns) {
  const std::string file = store("more.rules");
  const char* const rule = "(x:4) relu(relu(relu(x))) => relu(x)";
  const auto write = [&](const std::string& certificate) {
    std::ofstream(file) << "rule " << rule << "\ncertificate 1\noutput 0\n" << certificate;
  };
  const AxiomSet axioms =
      *load_axioms(std::vector<std::string>{REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2"}, registry_);
  const auto proof = EqualityProver(axioms.axioms()).prove(*parse_rule(rule, registry_));
  ASSERT_TRUE(proof);
  std::ofstream(file) << "rule " << rule << "\n" << proof->certificate;
  const auto summary = run("joined", kAll, {}, "rules = [\"more.rules\"]\n");
  ASSERT_TRUE(summary) << summary.error().message;
  std::vector<std::string> texts;
  for (const Rule& each : rules("joined")) texts.push_back(to_text(each));
  EXPECT_THAT(texts, testing::Contains(rule)) << "rank 4 is not enumerated here, so nothing derives it";
  EXPECT_TRUE(audit("joined").failures.empty());
  write("");
  EXPECT_THAT(run("refused", kAll, {}, "rules = [\"more.rules\"]\n").error().message, HasSubstr("proof is rejected"));
}

TEST_F(LibraryTest, ALogThatCannotBeWrittenCostsTheLogAlone) {
  ASSERT_TRUE(run("with", kAll));
  fs::create_directories(store("without") + "/log.txt");
  const auto summary = run("without", kAll);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(content("without"), content("with"));
}

TEST_F(LibraryTest, ARuleOfAFileThatAVerifierRefutedIsAnError) {
  const std::string file = store("more.rules"), rule = "(x:2) transpose(transpose(x)) => x";
  const AxiomSet axioms = *load_axioms(std::vector<std::string>{REWRIGHT_SOURCE_DIR "/axioms/layout.smt2"}, registry_);
  const auto proof = EqualityProver(axioms.axioms()).prove(*parse_rule(rule, registry_));
  ASSERT_TRUE(proof) << proof.error().message;
  std::ofstream(file) << "rule " << rule << "\n" << proof->certificate;
  const auto campaign = [&](const RunOptions& options) {
    return run("refuted", kAll, options, "rules = [\"more.rules\"]\n");
  };
  ASSERT_TRUE(campaign({}));
  const std::string id = rule_id(*parse_rule(rule, registry_));
  ASSERT_EQ(*open("refuted")->count("goals", "id = '" + id + "' AND status = 'proved'"), 1) << "one of the campaign's";
  // As if a verifier had refuted it, and the library were still to be made.
  alter("refuted", "DELETE FROM derivations");
  alter("refuted", "DELETE FROM rules");
  alter("refuted", "DELETE FROM phases WHERE name = 'library'");
  alter("refuted", "UPDATE goals SET status = 'refuted', certificate = '' WHERE id = '" + id + "'");
  RunOptions options;
  options.resume = true;
  const auto summary = campaign(options);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message,
              testing::AllOf(HasSubstr("the rule "), HasSubstr("transpose(transpose(x)) => x"),
                             HasSubstr("(" + id + ") is proved in '" + file + "', and a verifier has refuted it, so")));
}

// --- the library that comes with the program -----------------------------------------------------------------------

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_F(LibraryTest, TheSmallOneIsMadeAnewByteForByte) {
  const std::string source = REWRIGHT_SOURCE_DIR "/experiments/library/";
  const auto config = load_campaign(source + "small.toml", registry_);
  ASSERT_TRUE(config) << config.error().message;
  RunOptions options;
  options.store = store("small");
  ASSERT_TRUE(run_campaign(*config, registry_, options));
  const std::string made = store("small.rules");
  const std::string command =
      fmt::format("{}/bin/rewright certificates export {} --families -o {}", REWRIGHT_BUILD_DIR, store("small"), made);
  ASSERT_EQ(std::system(command.c_str()), 0);
  // Paths of axioms are relative to the file, and it lies elsewhere here.
  const auto rules_of = [](const std::string& text) { return text.substr(text.find("\nrule ")); };
  EXPECT_EQ(rules_of(text_of(made)), rules_of(text_of(source + "small.rules")))
      << "make it anew with the commands in small.toml and look at what has changed";
}
TEST_F(LibraryTest, EveryProofOfTheProgramsOwnIsAccepted) {
  const auto own = read_rule_source(REWRIGHT_SOURCE_DIR "/experiments/library/library.rules", registry_);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_GT(own->size(), 100u);
  EXPECT_TRUE(std::ranges::all_of(*own, [](const Rule& rule) { return rule.trust == Trust::kCertificate; }));
}
TEST_F(LibraryTest, EveryRuleWrittenByHandIsProved) {
  for (const char* name : {"networks", "constants"}) {
    const std::string source = fmt::format("{}/experiments/library/{}.", REWRIGHT_SOURCE_DIR, name);
    const auto written = read_rule_source(source + "txt", registry_);
    const auto proved = read_rule_source(source + "rules", registry_);
    ASSERT_TRUE(written) << written.error().message;
    ASSERT_TRUE(proved) << proved.error().message;
    std::set<std::string> ids;
    for (const Rule& rule : *proved) {
      EXPECT_EQ(rule.trust, Trust::kCertificate);
      ids.insert(rule.id);
    }
    EXPECT_EQ(ids.size(), written->size()) << "make " << name << ".rules anew with the commands in its README";
    for (const Rule& rule : *written) EXPECT_TRUE(ids.contains(rule.id)) << to_text(rule);
  }
}
/// What TASO's generator finds and the campaign's own library lacks: groups, constants, wires.
TEST_F(LibraryTest, TheProgramsOwnDerivesWhatTasoFinds) {
  std::vector<Rule> rules;
  for (const char* text :
       {"(x:2, y:2) ewadd(x, ewmul(y, x)) => ewmul(x, ewadd(y, constant_one[sizes=[x.0, x.1]]))",
        "(x:4) conv2d[activation=relu](pool2d_avg[kernel=[3, 3]](x), constant_conv[sizes=[4, x.1, 3, 3]]) => "
        "relu(conv2d(x, constant_pool[sizes=[4, x.1, 3, 3]]))",
        "(x:4, t:0) conv2d(x, smul(constant_conv[sizes=[x.1, x.1, s0, s1]], t)) => ewmul(x, smul(constant_one[sizes="
        "[x.0, x.1, x.2, x.3]], t))",
        "(x:4, v:4, w:4) ewadd(conv2d[groups=2](x, v), conv2d[groups=2](x, w)) => conv2d[groups=2](x, ewadd(v, w)) "
        "where v.2 = w.2, v.3 = w.3",
        "(w:4) let v = constant_conv[sizes=[w.0, w.0, 3, 3]] in conv2d[activation=relu](v, conv2d(v, w)) => "
        "relu(enlarge[kernel=[3, 3]](w))"}) {
    auto rule = parse_rule(text, registry_);
    ASSERT_TRUE(rule) << rule.error().message;
    rules.push_back(*std::move(rule));
  }
  ParameterUses uses;
  for (const Rule& rule : rules) uses.add(rule);
  std::vector<Rule> own;
  for (const char* name : {"library", "constants"}) {
    const auto found =
        read_rule_source(fmt::format("{}/experiments/library/{}.rules", REWRIGHT_SOURCE_DIR, name), registry_, uses);
    ASSERT_TRUE(found) << found.error().message;
    own.insert(own.end(), found->begin(), found->end());
  }
  const auto derived = derive_all(rules, one_direction_each(own), registry_);
  ASSERT_TRUE(derived);
  for (std::size_t i = 0; i < rules.size(); ++i) EXPECT_TRUE((*derived)[i]) << to_text(rules[i]);
}
TEST_F(LibraryTest, TheProgramsOwnDerivesTheSmallOne) {
  const std::string source = REWRIGHT_SOURCE_DIR "/experiments/library/";
  const auto own = read_rule_source(source + "library.rules", registry_);
  const auto small = read_rule_source(source + "small.rules", registry_);
  ASSERT_TRUE(own && small);
  const auto derived = derive_all(*small, one_direction_each(*own), registry_);
  ASSERT_TRUE(derived);
  for (std::size_t i = 0; i < small->size(); ++i) EXPECT_TRUE((*derived)[i]) << to_text((*small)[i]);
}

TEST_F(LibraryTest, AFileOfProofsIsBelievedOnlyAfterReplay) {
  ASSERT_TRUE(run("small", kAll));
  const Rule rule = rules("small").front();
  const auto write = [&](const std::string& certificate) {
    const std::string file = store("proofs.txt");
    std::ofstream(file) << "axioms " << fs::relative(REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2", folder_).string()
                        << "\naxioms "
                        << fs::relative(REWRIGHT_SOURCE_DIR "/axioms/linear_algebra.smt2", folder_).string()
                        << "\naxioms " << fs::relative(REWRIGHT_SOURCE_DIR "/axioms/layout.smt2", folder_).string()
                        << "\n\nrule " << to_text(rule) << "\n"
                        << certificate;
    return read_rule_source(file, registry_);
  };
  const auto believed = write(rule.certificate);
  ASSERT_TRUE(believed) << believed.error().message;
  EXPECT_EQ(believed->at(0).id, rule.id);
  EXPECT_EQ(believed->at(0).trust, Trust::kCertificate);
  const auto rejected = write("certificate 1\noutput 0\n");
  ASSERT_FALSE(rejected);
  EXPECT_THAT(rejected.error().message, HasSubstr("proofs.txt:5: the proof is rejected"));
}

}  // namespace
}  // namespace rewright
