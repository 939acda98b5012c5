// The judge of rules and what it remembers: who is believed, and for how long.
#include "verify/rule_judge.h"

#include "campaign/rule_source.h"

#include <rewright/axiom.h>
#include <rewright/egraph.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using test::axioms;
using test::plugins;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kRule = "(x:2, y:2) concat(relu(x), relu(y)) => relu(concat(x, y))";

/// With a cache folder of its own.
class RuleJudgeTest : public testing::Test {
 protected:
  RuleJudgeTest() {
    std::string pattern = (fs::temp_directory_path() / "rewright-judge-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~RuleJudgeTest() override {
    if (before_.empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    }
    fs::remove_all(folder_);
  }

  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(folder_ / "rewright/proofs")) return found;
    for (const auto& entry : fs::directory_iterator(folder_ / "rewright/proofs")) found.push_back(entry.path());
    return found;
  }
  static std::string proof_of(const Rule& rule) {
    SaturationLimits limits;
    limits.assume = false;
    const auto proof = EqualityProver(axioms().axioms()).prove(rule, limits);
    if (!proof) fail(proof.error().message);
    return proof->certificate;
  }
  /// As a run of the program that judged it would leave it.
  static void remember(const Rule& rule, const std::string& certificate) {
    JudgedMemory memory(plugins());
    memory.add(JudgedMemory::digest_of({"proof", axioms().digest(), to_text(rule), certificate}));
  }
  static bool is_proved(const Rule& rule, const std::string& certificate,
                        RuleJudge::Memory memory = RuleJudge::Memory::kUsed) {
    return RuleJudge(axioms(), plugins(), memory).prove(rule, certificate).has_value();
  }

  fs::path folder_;
  std::string before_;
};

TEST_F(RuleJudgeTest, ReplaysProofsOnceAndRemembersThoseThatHold) {
  const Rule rule = test::rule(kRule);
  const std::string certificate = proof_of(rule);
  EXPECT_FALSE(is_proved(rule, "certificate 1\noutput 0\n"));
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(is_proved(rule, certificate));
  ASSERT_EQ(files().size(), 1U);
  const JudgedMemory memory(plugins());
  EXPECT_TRUE(memory.knows(JudgedMemory::digest_of({"proof", axioms().digest(), to_text(rule), certificate})));
  EXPECT_FALSE(is_proved(rule, "certificate 1\noutput 0\n"))
      << "that another proof of it holds says nothing of this one";
}
TEST_F(RuleJudgeTest, BelievesItsOwnFolderUnlessToldNotTo) {
  const Rule rule = test::rule(kRule);
  remember(rule, "never replayed");
  EXPECT_TRUE(is_proved(rule, "never replayed"));
  EXPECT_FALSE(is_proved(rule, "never replayed", RuleJudge::Memory::kNone));
}
TEST_F(RuleJudgeTest, BelievesNoFileThatOthersMayWrite) {
  const Rule rule = test::rule(kRule);
  remember(rule, "never replayed");
  ASSERT_EQ(files().size(), 1U);
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(files().front(), fs::perms::owner_read | fs::perms::owner_write | others);
    EXPECT_FALSE(is_proved(rule, "never replayed"));
  }
}
TEST_F(RuleJudgeTest, BelievesNothingThatWasJudgedWithOtherOperators) {
  const Rule rule = test::rule(kRule);
  const std::string digest = JudgedMemory::digest_of({"proof", axioms().digest(), to_text(rule), "never replayed"});
  { JudgedMemory(Registry()).add(digest); }
  ASSERT_EQ(files().size(), 1U);
  EXPECT_TRUE(JudgedMemory(Registry()).knows(digest));
  EXPECT_FALSE(JudgedMemory(plugins()).knows(digest));
  EXPECT_FALSE(is_proved(rule, "never replayed"));
}
TEST_F(RuleJudgeTest, KeepsTheFilesOfAFewBuilds) {
  fs::create_directories(folder_ / "rewright/proofs");
  for (int i = 10; i < 30; ++i) {
    const fs::path file = folder_ / "rewright/proofs" / (std::string(30, '0') + std::to_string(i));
    std::ofstream(file) << "\n";
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(i));
  }
  remember(test::rule(kRule), "never replayed");
  EXPECT_EQ(files().size(), 8U);
  EXPECT_TRUE(fs::exists(folder_ / "rewright/proofs" / (std::string(30, '0') + "10"))) << "the newest stays";
  EXPECT_TRUE(is_proved(test::rule(kRule), "never replayed"));
}
TEST_F(RuleJudgeTest, MakesNoRuleOfAFalseAxiom) {
  const std::string rules = REWRIGHT_SOURCE_DIR "/tests/models/faults/R07_false_axiom.rules";
  for (int run = 0; run < 2; ++run) {
    const auto read = read_rule_source(rules, plugins());
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, AllOf(HasSubstr("R07_false_axiom.rules:2: "),
                                            HasSubstr("R07_false_axiom.smt2:29: the axiom clip-two is false")));
  }
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace rewright
