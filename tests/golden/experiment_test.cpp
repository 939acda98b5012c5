// The tree's own experiments, cut down, and the page made of them, as a browser without a network shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

/// A folder that goes with the object, and the program run in it.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "rewright-experiment-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path_); }
  [[nodiscard]] int shell(const std::string& command) const {
    const int status = std::system(("cd '" + path_.string() + "' && " + command + " >out.txt 2>err.txt").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] int program(const std::string& arguments) const {
    return shell("'" REWRIGHT_BUILD_DIR "/bin/rewright' experiment " + arguments +
                 " --experiments '" REWRIGHT_SOURCE_DIR "/experiments'");
  }
  [[nodiscard]] std::string read(const fs::path& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  [[nodiscard]] nlohmann::json last_line() const {
    const std::string text = read("out.txt");
    return nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2) + 1));
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class QuickExperiment : public testing::TestWithParam<std::string> {};

TEST_P(QuickExperiment, EndsWithAVerdictOnEveryClaim) {
  const Scratch scratch;
  ASSERT_EQ(scratch.program("run " + GetParam() + " --quick --threads 2 --json"), 0)
      << scratch.read("err.txt") << scratch.read("out.txt");
  const nlohmann::json answer = scratch.last_line();
  EXPECT_GT(answer.at("claims").size(), 0U);
  for (const nlohmann::json& claim : answer.at("claims")) {
    const std::string verdict = claim.at("verdict");
    EXPECT_NE(verdict, "not reproduced") << claim;
    if (verdict == "reproduced") {
      EXPECT_FALSE(claim.at("value").is_null()) << claim;
    } else {
      EXPECT_NE(claim.at("because"), "") << claim;
    }
  }
  ASSERT_EQ(scratch.program("run " + GetParam() + " --quick --threads 2 --json"), 0);
  EXPECT_EQ(scratch.last_line().at("units_done"), 0) << "nothing is done twice";
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(REWRIGHT_SOURCE_DIR "/experiments"))
    if (fs::exists(entry.path() / "experiment.toml")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Golden, QuickExperiment, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string browser(const Scratch& scratch, const std::string& option) {
  EXPECT_EQ(scratch.shell("HOME='" + scratch.path().string() +
                          "' timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                          "--hide-scrollbars --virtual-time-budget=2000 " +
                          option + " 'file://" + scratch.path().string() + "/site/index.html'"),
            0)
      << "chromium (scripts/install-dependencies --tests): " << scratch.read("err.txt");
  return scratch.read("out.txt");
}

TEST(ExperimentSite, IsOnePageThatABrowserShowsWithoutANetwork) {
  const Scratch scratch;
  ASSERT_EQ(scratch.program("run case-studies operators --quick"), 0) << scratch.read("err.txt");
  ASSERT_EQ(scratch.program("report case-studies operators --quick -o site --json"), 0) << scratch.read("err.txt");
  const std::size_t claims = scratch.last_line().at("claims").size();
  const std::string page = scratch.read("site/index.html");
  for (const char* part : {"href=\"http", "src=\"", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(part))) << "nothing is asked for over the network";
  EXPECT_EQ(count(page, "<span class=\"badge "), 2 * claims) << "each on top and in its experiment";
  EXPECT_GE(count(page, "class=\"rw-plot\""), 2U);
  EXPECT_GE(count(page, "<div class=\"drawing\"><svg"), 8U) << "four substitutions, before and after";
  const std::regex link("href=\"([^\"#]+)\"");
  for (std::sregex_iterator at(page.begin(), page.end(), link), end; at != end; ++at) {
    if ((*at)[1] == "data:,") continue;
    EXPECT_TRUE(fs::exists(scratch.path() / "site" / (*at)[1].str())) << (*at)[1];
  }
  // The page is no wider than the window, on a desk and on a phone: what is wide scrolls by itself.
  std::ofstream(scratch.path() / "site/index.html", std::ios::app)
      << "<script>document.title = 'wide:' + (document.documentElement.scrollWidth - window.innerWidth)</script>";
  for (const char* size : {"1280,1000", "500,1000"}) {
    const std::string dom = browser(scratch, std::string("--dump-dom --window-size=") + size);
    const std::size_t at = dom.find("<title>wide:");
    ASSERT_NE(at, std::string::npos) << size;
    EXPECT_LE(std::atoi(dom.c_str() + at + 12), 0) << "the page is too wide at " << size;
  }
  browser(scratch, "--screenshot=shot.png --window-size=390,1000");
  EXPECT_GT(scratch.read("shot.png").size(), 5'000U) << "the page is empty on a phone";
}

}  // namespace
