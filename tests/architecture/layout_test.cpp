// What a visitor of the repository meets first: a short top level, and entries that run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = REWRIGHT_SOURCE_DIR;

TEST(Layout, TopLevelHoldsOnlyTheAgreedEntries) {
  const std::set<std::string> agreed = {
      "CMakeLists.txt", "CMakePresets.json", "LICENSE",   "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
      "core",           "plugins",           "operators", "axioms",    "experiments",  "scripts",
      "tests"};
  const std::set<std::string> ignored = {"build", "node_modules", "compile_commands.json", "CMakeUserPresets.json"};
  std::vector<std::string> others;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".") || name.starts_with("build-") || ignored.contains(name) || agreed.contains(name))
      continue;
    others.push_back(name);
  }
  EXPECT_THAT(others, testing::IsEmpty());
}

TEST(Layout, EveryScriptRunsAndNamesItsInterpreter) {
  std::vector<fs::path> scripts = {kRoot / ".ci/run"};
  for (const auto& entry : fs::directory_iterator(kRoot / "scripts")) {
    if (entry.is_regular_file() && entry.path().extension() != ".md") scripts.push_back(entry.path());
  }
  EXPECT_GE(scripts.size(), 5u);
  for (const fs::path& script : scripts) {
    std::string first;
    std::ifstream stream(script);
    std::getline(stream, first);
    EXPECT_TRUE(first.starts_with("#!")) << script << " opens with no interpreter";
    EXPECT_NE(fs::status(script).permissions() & fs::perms::owner_exec, fs::perms::none) << script << " has no run bit";
  }
}

}  // namespace
