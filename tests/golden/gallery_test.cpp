// The gallery as a reader has it: made by the program, looked at by a browser without a network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "store/store.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNasty = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

// One store for all tests: four rules with proofs, one of them conditional, one with two outputs; names that are
// markup.
class GalleryTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (fs::temp_directory_path() / "rewright-gallery-XXXXXX").string();
    folder_ = new fs::path(mkdtemp(pattern.data()));
    std::ofstream(*folder_ / "four.rules")
        << "(x:2) relu(relu(x)) => relu(x)\n"
           "(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))\n"
           "(x:2, y:2) relu(x), relu(y) => split[sizes=[x.0, y.0]](relu(concat(x, y)))\n"
           "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y\n";
    ASSERT_EQ(program("rules import four.rules --store store --verifiers evaluate egraph"), 0) << read("err.txt");
    const auto store = Store::open((*folder_ / "store").string(), Store::Mode::kWrite);
    ASSERT_TRUE(store) << store.error().message;
    const std::string id = (*store)->rule_texts()->at(1).id;
    ASSERT_TRUE((*store)->add(UseRecord{id, kNasty, "hash", kNasty, "flops", 2, 1500, 4000, 2500}));
    auto rename = (*store)->database().prepare("UPDATE campaign SET name = ?");
    ASSERT_TRUE(rename && rename->run(kNasty));
    ASSERT_EQ(program("rules gallery store -o gallery --threads 2"), 0) << read("err.txt");
  }
  static void TearDownTestSuite() {
    fs::remove_all(*folder_);
    delete folder_;
  }

  static int program(const std::string& arguments, const std::string& before = "") {
    const std::string command = "cd '" + folder_->string() + "' && " + before +
                                " '" REWRIGHT_BUILD_DIR "/bin/rewright' " + arguments + " >out.txt 2>err.txt";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static std::string read(const fs::path& name) {
    std::ostringstream text;
    text << std::ifstream(*folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  static std::map<std::string, std::string> files(const std::string& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(*folder_ / folder)) {
      if (entry.is_regular_file()) found[fs::relative(entry.path(), *folder_ / folder).string()] = read(entry.path());
    }
    return found;
  }
  // The text of the rule's page whose equation begins like that.
  static std::pair<std::string, std::string> rule_page(const std::string& source) {
    for (const auto& [name, text] : files("gallery")) {
      if (name.starts_with("rules/") && text.find("<p class=\"equation\"><code>" + source) != std::string::npos)
        return {name, text};
    }
    ADD_FAILURE() << "no page of " << source;
    return {};
  }
  static std::string browser(const std::string& page, const std::string& option) {
    const std::string command = "cd '" + folder_->string() + "' && HOME='" + folder_->string() +
                                "' timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                                "--virtual-time-budget=3000 " +
                                option + " 'file://" + (*folder_ / "gallery" / page).string() +
                                "' >dom.html 2>chromium.txt";
    EXPECT_EQ(std::system(command.c_str()), 0)
        << "chromium (scripts/install-dependencies --tests): " << read("chromium.txt");
    return read("dom.html");
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  static fs::path* folder_;
};
fs::path* GalleryTest::folder_ = nullptr;

TEST_F(GalleryTest, ARulesPageSaysAllThatIsKnownOfIt) {
  const auto [name, text] = rule_page("matmul(matmul(x, y), z)");
  EXPECT_EQ(count(text, "<svg"), 2U) << "source and target drawn";
  EXPECT_EQ(count(text, "class=\"node in in1\""), 2U) << "an input has one colour on both sides";
  EXPECT_THAT(text, HasSubstr("there is nothing more to check"));
  EXPECT_THAT(text, HasSubstr("<mark>matmul(matmul("));
  EXPECT_THAT(text, HasSubstr("href=\"../axioms/matmul-associates.html\""));
  EXPECT_THAT(text, HasSubstr("<td>1.5 ms</td><td>37.5 %</td>")) << "what it gained";
  EXPECT_THAT(text, HasSubstr("<code>(x:2, y:2, z:2) matmul(matmul(x, y), z) =&gt; matmul(x, matmul(y, z))</code>"));
}

TEST_F(GalleryTest, AConditionIsSaidAsAFormulaAndInWords) {
  const auto [name, text] = rule_page("relu(x), relu(y)");
  EXPECT_THAT(text,
              HasSubstr("<code>x.1 = y.1</code> <span>the size of x along axis 1 is that of y along axis 1</span>"));
  EXPECT_EQ(count(text, "<h3>Output"), 2U) << "a proof for each output";
}

TEST_F(GalleryTest, AnAxiomsPageHasTheRulesThatNeedIt) {
  const std::string page = read("gallery/axioms/matmul-associates.html");
  EXPECT_THAT(page, HasSubstr(":named matmul-associates"));
  EXPECT_THAT(page, HasSubstr("matmul(matmul(x, y), z) &rArr; matmul(x, matmul(y, z))"));
}

TEST_F(GalleryTest, EveryLinkLeadsToAFileOfTheSite) {
  const std::regex link("(href|src)=\"([^\"#]*)(#[^\"]*)?\"");
  for (const auto& [name, text] : files("gallery")) {
    if (!name.ends_with(".html")) continue;
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[2];
      if (target.empty() || target == "data:,") continue;
      EXPECT_TRUE(fs::exists((*folder_ / "gallery" / name).parent_path() / target)) << name << " names " << target;
    }
  }
}

TEST_F(GalleryTest, NothingComesFromElsewhere) {
  for (const auto& [name, text] : files("gallery")) {
    EXPECT_EQ(count(text, "https://"), 0U) << name;
    EXPECT_EQ(count(text, "http://"), name == "assets/gallery.js" ? 1U : 0U) << name << " (one: the name of SVG)";
  }
}

TEST_F(GalleryTest, NamesThatAreMarkupStayText) {
  for (const auto& [name, text] : files("gallery")) {
    EXPECT_THAT(text, Not(HasSubstr("<script>alert"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("<img"))) << name;
  }
  EXPECT_THAT(read("gallery/index.html"), HasSubstr("&lt;script&gt;alert(1)"));
}

TEST_F(GalleryTest, IsTheSameWithAnyNumberOfThreads) {
  ASSERT_EQ(program("rules gallery store -o one --threads 1"), 0) << read("err.txt");
  EXPECT_EQ(files("one"), files("gallery"));
  fs::remove_all(*folder_ / "one");
}

TEST_F(GalleryTest, TakesThePlaceOfAGalleryAndOfNothingElse) {
  ASSERT_EQ(program("rules gallery store -o again"), 0);
  std::ofstream(*folder_ / "again/rules/stale.html") << "stale";
  ASSERT_EQ(program("rules gallery store -o again/"), 0) << read("err.txt");
  EXPECT_FALSE(fs::exists(*folder_ / "again/rules/stale.html"));
  fs::remove_all(*folder_ / "again");
  fs::create_directory(*folder_ / "thesis");
  std::ofstream(*folder_ / "thesis/text") << "mine";
  EXPECT_EQ(program("rules gallery store -o thesis"), 2);
  EXPECT_THAT(read("err.txt"), HasSubstr("'thesis' is there already and is no gallery"));
  EXPECT_EQ(read("thesis/text"), "mine");
}

TEST_F(GalleryTest, OnAFullDiskTheOldOneStays) {
  const auto before = files("gallery");
  EXPECT_EQ(program("rules gallery store -o gallery", "trap '' XFSZ; ulimit -f 4;"), 3);
  EXPECT_THAT(read("err.txt"), HasSubstr("free some space"));
  EXPECT_EQ(files("gallery"), before);
  for (const auto& entry : fs::directory_iterator(*folder_))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("partial")));
}

TEST_F(GalleryTest, ABrowserShowsTheIndexAndFiltersIt) {
  const std::string all = browser("index.html", "--dump-dom");
  EXPECT_EQ(count(all, "<li class=\"card\">"), 4U);
  EXPECT_THAT(all, HasSubstr("4 of 4 rules"));
  EXPECT_GT(count(all, "<div class=\"tree\">"), 7U) << "both sides of each";
  EXPECT_EQ(count(all, "onerror"), count(all, "onerror=alert(2)&gt;")) << "a name is text in the page, too";
  const std::string some = browser("index.html#op=concat,relu&q=relu(y)", "--dump-dom");
  EXPECT_EQ(count(some, "<li class=\"card\">"), 1U);
  const std::string by_axiom = browser("index.html#axiom=matmul-associates", "--dump-dom");
  EXPECT_THAT(by_axiom, HasSubstr("1 of 4 rules whose proof needs matmul-associates"));
  const std::string used = browser("index.html#gain=positive", "--dump-dom");
  EXPECT_EQ(count(used, "<li class=\"card\">"), 1U);
}

TEST_F(GalleryTest, ABrowserDrawsEveryStepOfAProof) {
  const auto [name, text] = rule_page("relu(x), relu(y)");
  const std::string dom = browser(name, "--dump-dom");
  EXPECT_EQ(count(dom, "<div class=\"tree\">"), count(text, "<div class=\"term\">"));
  EXPECT_GT(count(dom, "part-taken"), 0U);
  EXPECT_GT(count(dom, "part-made"), 0U);
}

}  // namespace
}  // namespace rewright
