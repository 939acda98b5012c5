// A gallery of a store that a test fills: what each page says of a rule, and what stands where it cannot be made.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/gallery.h"
#include "store/derivations.h"
#include "support/operators.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::loaded;

class Gallery : public ::testing::Test {
 protected:
  Gallery() : folder_(fs::temp_directory_path() / fmt::format("rewright-gallery-{}", getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    auto store = Store::open((folder_ / "store").string(), Store::Mode::kRun);
    if (!store) fail(store.error().message);
    store_ = *std::move(store);
    std::ofstream(store_->path("axioms.txt")) << "/nowhere/axioms.smt2\n";
    fill();
  }
  ~Gallery() override { fs::remove_all(folder_); }

  static void expect(const Status& status) { EXPECT_TRUE(status) << status.error().message; }

  void add_rule(std::int64_t position, const std::string& text, Trust trust, const std::string& certificate) {
    auto rule = parse_rule(text, loaded());
    if (!rule) fail(rule.error().message);
    rule->trust = trust;
    rule->certificate = certificate;
    GoalRecord goal;
    goal.position = position;
    goal.id = fmt::format("g{}", position);
    goal.text = text;
    goal.name = rule->name;
    goal.example = example_text(*rule);
    goal.status = "proved";
    goal.rule = text;
    expect(store_->add(goal));
    if (trust != Trust::kNone) expect(store_->add(RuleRecord{position, position, *rule, text}));
    ids_.push_back(rule->id);
  }

  void fill() {
    for (const std::int64_t i : {0, 1})
      expect(store_->add(CandidateRecord{i, fmt::format("candidate{}", i), 2, "source", "target"}));
    expect(store_->add(RemovalRecord{0, "renaming", "", "it came back", true}));
    expect(store_->add(RemovalRecord{1, "renaming", "candidate0", "the same"}));
    add_rule(0, "(x:2) relu(relu(x)) => relu(x)", Trust::kSolver, "");
    add_rule(1, "(x:2) transpose(transpose(x)) => x", Trust::kCertificate, "no proof");
    add_rule(2, "(x:2) relu(relu(relu(x))) => relu(x)", Trust::kNone, "");
    expect(store_->add(ProposalRecord{0, true, true, 0, ""}));
    expect(store_->add(
        VerdictRecord{0, 0, "z3", "1.0.0", {5, 7}, {VerdictKind::kProved, "in 3 steps", "", "", {}, {"relu<relu>"}}}));
    auto table = DerivationTable::open(*store_);
    ASSERT_TRUE(table) << table.error().message;
    expect(table->add({2, ids_[2], "derivable", {ids_[0]}, "twice the same", 2, true, "no certificate", {ids_[0]}}));
  }

  [[nodiscard]] std::string site() const { return (folder_ / "site").string(); }
  [[nodiscard]] std::string refusal(const std::string& site, const GalleryOptions& options = {}) const {
    const auto report = write_gallery(*store_, loaded(), site, options);
    return report ? "" : report.error().message;
  }
  static std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  /// The page of the rule at this position.
  [[nodiscard]] std::string page(std::size_t position) const {
    for (const auto& entry : fs::directory_iterator(site() + "/rules"))
      if (entry.path().string().find(ids_[position]) != std::string::npos) return content(entry.path());
    return "";
  }

  fs::path folder_;
  std::unique_ptr<Store> store_;
  std::vector<std::string> ids_;
};

TEST_F(Gallery, SaysOfARuleHowItWasFoundAndWhatFollowsFromIt) {
  const auto report = write_gallery(*store_, loaded(), site());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->rules, 2u);
  EXPECT_EQ(report->proofs, 0u);
  EXPECT_THAT(page(0), AllOf(HasSubstr("It rests on the word of z3, which gives no steps."),
                             HasSubstr("right to left, sizes that nothing determines kept as numbers"),
                             HasSubstr("removed by renaming, came back"), HasSubstr("1 proved rule follows from it"),
                             HasSubstr("<code>(x:2) relu(relu(relu(x))) =&gt; relu(x)</code>"),
                             HasSubstr("twice the same; from the library in 2 steps, each from left to right")));
  EXPECT_THAT(page(1), AllOf(HasSubstr("No verifier was asked about it as a goal. The proof below is its own."),
                             HasSubstr("The certificate cannot be replayed here: "),
                             HasSubstr("No rule was left out for its sake."), HasSubstr("No candidate led to it")));
}

TEST_F(Gallery, SaysThatTheAxiomsAreNotThereAnyMore) {
  ASSERT_EQ(refusal(site()), "");
  const std::string sentence = "/nowhere/axioms.smt2";
  EXPECT_THAT(content(site() + "/axioms.html"),
              AllOf(HasSubstr("Their statements are not shown: "), HasSubstr(sentence), HasSubstr("relu&lt;relu&gt;")));
  std::size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(site() + "/axioms")) {
    ++pages;
    EXPECT_THAT(content(entry.path()), AllOf(HasSubstr("Its statement is not shown: "), HasSubstr(sentence)));
  }
  EXPECT_EQ(pages, 1u);
}

TEST_F(Gallery, IsNotMadeOfDrawingsThatAreMissing) {
  fs::create_directories(folder_ / "programs");
  const fs::path dot = folder_ / "programs/dot";
  std::ofstream(dot) << "#!/bin/sh\nwhile read -r line; do :; done\necho '<svg></svg><svg>'\n";
  fs::permissions(dot, fs::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", dot.parent_path().c_str(), 1);
  const std::string sentence = refusal(site());
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(sentence, "Graphviz's 'dot' made 1 drawings of 4");
  EXPECT_FALSE(fs::exists(site()));
}

TEST_F(Gallery, IsMadeWholeOrNotAtAll) {
  GalleryOptions stopped;
  stopped.stop = [] { return true; };
  EXPECT_EQ(refusal(site(), stopped), "the gallery was stopped; nothing was made");
  std::ofstream(folder_ / "file") << "text";
  EXPECT_THAT(refusal((folder_ / "file").string()), HasSubstr("is there already and is no gallery"));
  EXPECT_THAT(refusal((folder_ / "file/site").string()), HasSubstr("cannot be written: Not a directory"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  const std::string full = refusal(site());
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(full, HasSubstr("cannot be written: File too large; free some space and try again"));
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_THAT(entry.path().filename().string(), ::testing::AnyOf("store", "file")) << "nothing is left of it";
}

}  // namespace
}  // namespace rewright
