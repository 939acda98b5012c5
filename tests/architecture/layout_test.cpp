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

bool names_an_interpreter(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return stream.get() == '#' && stream.get() == '!';
}

bool runs(const fs::path& file) { return (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none; }

TEST(Layout, EveryScriptRunsAndNamesItsInterpreter) {
  std::vector<fs::path> scripts = {kRoot / ".ci/run"};
  for (const auto& entry : fs::directory_iterator(kRoot / "scripts")) {
    if (entry.is_regular_file() && entry.path().extension() != ".md") scripts.push_back(entry.path());
  }
  EXPECT_GE(scripts.size(), 5u);
  for (const fs::path& script : scripts) {
    EXPECT_TRUE(names_an_interpreter(script)) << script << " opens with no interpreter";
    EXPECT_TRUE(runs(script)) << script << " has no run bit";
  }
}

TEST(Layout, WhatNamesAnInterpreterRunsAndNothingElseDoes) {
  for (const char* folder : {"core", "plugins", "operators", "axioms", "experiments", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (!entry.is_regular_file()) continue;
      EXPECT_EQ(runs(entry), names_an_interpreter(entry)) << entry.path() << " (its run bit, its first line)";
    }
  }
}

}  // namespace
