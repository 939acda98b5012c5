// The tree's own experiments, cut down, and the pages made of them, as a browser without a network shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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

/// By id, what the results that ship say of the claims.
std::map<std::string, std::string> kept_verdicts(const Scratch& scratch, const std::string& name) {
  EXPECT_EQ(
      scratch.program("report " + name + " --results '" REWRIGHT_SOURCE_DIR "/experiments/results' -o kept --json"), 0)
      << scratch.read("err.txt");
  std::map<std::string, std::string> verdicts;
  const nlohmann::json answer = scratch.last_line();
  for (const nlohmann::json& claim : answer.at("claims")) verdicts[claim.at("id")] = claim.at("verdict");
  return verdicts;
}

TEST_P(QuickExperiment, EndsWithAVerdictOnEveryClaim) {
  const Scratch scratch;
  const std::map<std::string, std::string> kept = kept_verdicts(scratch, GetParam());
  const int code = scratch.program("run " + GetParam() + " --quick --threads 2 --json");
  ASSERT_TRUE(code == 0 || code == 1) << scratch.read("err.txt") << scratch.read("out.txt");
  const nlohmann::json answer = scratch.last_line();
  EXPECT_GT(answer.at("claims").size(), 0U);
  bool all_hold = true;
  for (const nlohmann::json& claim : answer.at("claims")) {
    const std::string verdict = claim.at("verdict"), id = claim.at("id");
    EXPECT_NE(verdict, "not run") << claim;
    if (verdict == "not reproduced") {
      EXPECT_EQ(kept.at(id), verdict) << "what the full run reproduces, the quick one does: " << claim;
      all_hold = all_hold && !claim.at("recorded").is_null();
    }
    if (verdict == "not comparable here" || !claim.at("recorded").is_null()) {
      EXPECT_NE(claim.at("because"), "") << claim;
    } else {
      EXPECT_FALSE(claim.at("value").is_null()) << claim;
    }
  }
  EXPECT_EQ(code, all_hold ? 0 : 1);
  EXPECT_EQ(scratch.program("run " + GetParam() + " --quick --threads 2 --json"), code);
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

class FromRecords : public testing::TestWithParam<std::string> {};

TEST_P(FromRecords, TheTablesAreThoseThatShip) {
  const Scratch scratch;
  kept_verdicts(scratch, GetParam());
  const int code = scratch.program("run " + GetParam() + " --from-records --results again --json");
  ASSERT_TRUE(code == 0 || code == 1) << scratch.read("err.txt") << scratch.read("out.txt");
  ASSERT_EQ(scratch.program("report " + GetParam() + " --results again -o again-site"), 0) << scratch.read("err.txt");
  std::size_t tables = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path() / "kept" / GetParam())) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".csv")) continue;
    EXPECT_EQ(scratch.read("kept/" + GetParam() + "/" + file), scratch.read("again-site/" + GetParam() + "/" + file))
        << file;
    ++tables;
  }
  EXPECT_GT(tables, 1U);
}

// Those whose every unit is a measurement or was computed from the files as they are.
INSTANTIATE_TEST_SUITE_P(Golden, FromRecords, testing::Values("learn", "matmap", "stack", "transfer", "tuning"),
                         [](const auto& info) { return info.param; });

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string browser(const Scratch& scratch, const std::string& option, const std::string& place) {
  EXPECT_EQ(scratch.shell("HOME='" + scratch.path().string() +
                          "' timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                          "--hide-scrollbars --virtual-time-budget=2000 " +
                          option + " 'file://" + scratch.path().string() + "/site/index.html" + place + "'"),
            0)
      << "chromium (scripts/install-dependencies --tests): " << scratch.read("err.txt");
  return scratch.read("out.txt");
}

TEST(ExperimentSite, IsPagesThatABrowserShowsWithoutANetwork) {
  const Scratch scratch;
  ASSERT_EQ(scratch.program("run case-studies operators --quick"), 0) << scratch.read("err.txt");
  ASSERT_EQ(scratch.program("report case-studies operators --quick -o site --json"), 0) << scratch.read("err.txt");
  const std::size_t claims = scratch.last_line().at("claims").size();
  const std::string index = scratch.read("site/index.html");
  EXPECT_EQ(count(index, "<span class=\"badge "), claims) << "each once";
  EXPECT_LT(index.find("<h3>TASO</h3>"), index.find("<h3>this project</h3>")) << "papers first";
  const std::string cases = scratch.read("site/case-studies.html"), operators = scratch.read("site/operators.html");
  EXPECT_EQ(count(cases + operators, "<span class=\"badge "), claims) << "each in its experiment";
  EXPECT_GE(count(operators, "class=\"rw-plot\""), 2U);
  EXPECT_GE(count(cases, "<div class=\"drawing\""), 8U) << "four substitutions, before and after";
  const std::regex link("href=\"([^\"#]+)");
  for (const std::string& page : {index, cases, operators}) {
    EXPECT_LT(page.size(), 300'000U);
    for (const char* part : {"href=\"http", "src=\"", "url(", "@import"})
      EXPECT_THAT(page, Not(HasSubstr(part))) << "nothing is asked for over the network";
    for (std::sregex_iterator at(page.begin(), page.end(), link), end; at != end; ++at) {
      if ((*at)[1] == "data:,") continue;
      EXPECT_TRUE(fs::exists(scratch.path() / "site" / (*at)[1].str())) << (*at)[1];
    }
  }
  // A tile's address chooses: what is not of that verdict is hidden.
  const std::string dom = browser(scratch, "--dump-dom", "#verdict=not-comparable-here");
  const std::size_t hidden = count(dom, "<tr data-verdict=\"reproduced\"");
  EXPECT_GT(hidden, 0U);
  EXPECT_THAT(dom, HasSubstr(std::to_string(count(index, "<tr data-verdict=\"not-comparable-here\"")) + " of " +
                             std::to_string(claims) + " claims"));
}

}  // namespace
