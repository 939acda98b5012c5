// The judge of rules and what it remembers: who is believed, and for how long.
#include "verify/rule_judge.h"

#include <rewright/axiom/axiom.h>
#include <rewright/egraph/prover.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "campaign/rule_source.h"
#include "plugin/own_folder.h"
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
  static std::string digest_of(const Rule& rule, const std::string& certificate) {
    return RuleJudge(axioms(), plugins()).proof_digest(rule, certificate);
  }
  /// As a run of the program that judged it would leave it.
  static void remember(const Rule& rule, const std::string& certificate) {
    JudgedMemory memory(plugins());
    memory.add(digest_of(rule, certificate));
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
  EXPECT_TRUE(memory.knows(digest_of(rule, certificate)));
  EXPECT_FALSE(is_proved(rule, "certificate 1\noutput 0\n"))
      << "that another proof of it holds says nothing of this one";
}
TEST_F(RuleJudgeTest, BelievesItsOwnFolderUnlessToldNotTo) {
  const Rule rule = test::rule(kRule);
  remember(rule, "never replayed");
  EXPECT_TRUE(is_proved(rule, "never replayed"));
  EXPECT_FALSE(is_proved(rule, "never replayed", RuleJudge::Memory::kNone));
}
TEST_F(RuleJudgeTest, BelievesNothingThatOthersMayWrite) {
  const Rule rule = test::rule(kRule);
  remember(rule, "never replayed");
  ASSERT_EQ(files().size(), 1U);
  for (const fs::path& place : {files().front(), folder_ / "rewright/proofs", folder_ / "rewright"}) {
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      EXPECT_TRUE(is_proved(rule, "never replayed"));
      EXPECT_EQ(JudgedMemory::refusal(), "");
      fs::permissions(place, others, fs::perm_options::add);
      EXPECT_FALSE(is_proved(rule, "never replayed")) << place;
      EXPECT_THAT(JudgedMemory::refusal(), HasSubstr("'" + place.string() + "' is not yours alone to write"));
      fs::permissions(place, others, fs::perm_options::remove);
    }
  }
}
TEST_F(RuleJudgeTest, BelievesNoFileOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const Rule rule = test::rule(kRule);
  remember(rule, "never replayed");
  ASSERT_EQ(chown(files().front().c_str(), 1, 1), 0);
  EXPECT_FALSE(is_proved(rule, "never replayed"));
  EXPECT_THAT(JudgedMemory::refusal(), HasSubstr(files().front().string()));
}
TEST_F(RuleJudgeTest, MakesItsFolderForTheUserAlone) {
  const mode_t before = umask(0);
  remember(test::rule(kRule), "never replayed");
  umask(before);
  EXPECT_EQ(fs::status(folder_ / "rewright/proofs").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder_ / "rewright").permissions(), fs::perms::owner_all);
}
TEST_F(RuleJudgeTest, BelievesNothingThatWasJudgedWithOtherOperators) {
  const Rule rule = test::rule(kRule);
  const std::string digest = digest_of(rule, "never replayed");
  { JudgedMemory(Registry()).add(digest); }
  ASSERT_EQ(files().size(), 1U);
  EXPECT_TRUE(JudgedMemory(Registry()).knows(digest));
  EXPECT_FALSE(JudgedMemory(plugins()).knows(digest));
  EXPECT_FALSE(is_proved(rule, "never replayed"));
}
TEST_F(RuleJudgeTest, KeepsTheFilesOfAFewBuilds) {
  fs::create_directories(folder_ / "rewright/proofs");
  for (int i = 10; i < 30; ++i) {
    const fs::path file = folder_ / "rewright/proofs" / (std::string(62, '0') + std::to_string(i));
    std::ofstream(file) << "\n";
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(i));
  }
  remember(test::rule(kRule), "never replayed");
  EXPECT_EQ(files().size(), 8U);
  EXPECT_TRUE(fs::exists(folder_ / "rewright/proofs" / (std::string(62, '0') + "10"))) << "the newest stays";
  EXPECT_TRUE(is_proved(test::rule(kRule), "never replayed"));
}
/// The program's own operators, but relu from a file elsewhere.
const Registry& with_foreign_relu(const fs::path& folder) {
  static Registry registry = [&] {
    Registry all;
    fs::create_directories(folder / "foreign");
    fs::copy_file(own_plugin_folder() + "/operators/relu.so", folder / "foreign/relu.so");
    for (const auto& entry : fs::directory_iterator(own_plugin_folder() + "/operators")) {
      const bool is_relu = entry.path().filename() == "relu.so";
      const fs::path file = is_relu ? folder / "foreign/relu.so" : entry.path();
      if (const Status loaded = all.load(file.string()); !loaded) fail(loaded.error().message);
    }
    return all;
  }();
  return registry;
}
TEST_F(RuleJudgeTest, AuditsAxiomsOfItsOwnAgainWhereAnOperatorIsNot) {
  const std::vector<std::string> file = {REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2"};
  const auto audited_with = [&](const Registry& registry, bool of_relu) {
    const auto set = load_axioms(file, registry);
    if (!set) fail(set.error().message);
    const auto has_relu = [](const Axiom& axiom) {
      return std::ranges::any_of(axiom.terms, [](const AxiomTerm& t) { return t.op && t.op->name() == "relu"; });
    };
    const auto axiom = std::ranges::find(set->axioms(), of_relu, has_relu);
    EXPECT_TRUE(RuleJudge(*set, registry).check_axiom(*axiom));
    const bool was_audited = !files().empty();
    fs::remove_all(folder_ / "rewright");
    return was_audited;
  };
  EXPECT_FALSE(audited_with(plugins(), true)) << "its file and its operators are those of axioms/audited.txt";
  EXPECT_FALSE(audited_with(with_foreign_relu(folder_), false));
  EXPECT_TRUE(audited_with(with_foreign_relu(folder_), true));
}
TEST_F(RuleJudgeTest, AuditsNoTheoremInWhicheverFile) {
  const auto was_audited = [&](const std::string& equation) {
    const fs::path file = folder_ / "own.smt2";
    std::ofstream(file) << "(declare-sort Tensor 0)\n(declare-fun ewadd (Tensor Tensor) Tensor)\n"
                           "(assert (! (forall ((x Tensor) (y Tensor)) "
                        << equation << ") :named mine :ranks \"x y 0..4\" :source \"own\"))\n";
    const auto set = load_axioms(std::vector<std::string>{file.string()}, plugins());
    if (!set) fail(set.error().message);
    EXPECT_TRUE(RuleJudge(*set, plugins()).check_axioms());
    const bool was_audited = !files().empty();
    fs::remove_all(folder_ / "rewright");
    return was_audited;
  };
  EXPECT_FALSE(was_audited("(= (ewadd x y) (ewadd y x))")) << "as in axioms/elementwise.smt2";
  EXPECT_TRUE(was_audited("(= (ewadd x (ewadd y y)) (ewadd (ewadd y x) y))"));
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
TEST_F(RuleJudgeTest, FindsAFalseAxiomWhateverItsName) {
  // A line of the list of audited files is a digest, spaces and a name; so are names that look like one, or like two.
  std::vector<std::string> refused;
  for (const std::string name : {"clip\tis nothing", "clip\nis nothing", "a  b", "operator clip 1.0.0"}) {
    const fs::path file = folder_ / "false.smt2";
    std::ofstream(file) << "(declare-sort Tensor 0)\n(declare-fun relu (Tensor) Tensor)\n"
                           "(assert (! (forall ((x Tensor)) (= (relu (relu x)) (relu x))) :named right :ranks \"x 1\" "
                           ":source \"idempotent\"))\n(assert (! (forall ((x Tensor)) (= (relu x) x)) :named |"
                        << name << "| :ranks \"x 0..4\" :source \"false\"))\n";
    const auto set = load_axioms(std::vector<std::string>{file.string()}, plugins());
    if (!set) {
      refused.push_back(name + ": " + set.error().message);
      continue;
    }
    for (int run = 0; run < 2; ++run) {
      const Status judged = RuleJudge(*set, plugins()).check_axioms();
      ASSERT_FALSE(judged) << name;
      EXPECT_THAT(judged.error().message, HasSubstr("false.smt2:4: the axiom " + name + " is false"));
    }
  }
  EXPECT_THAT(refused, ::testing::IsEmpty());
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(file_sha256("/nowhere/to/be/found"));
}

}  // namespace
}  // namespace rewright
