// What the worked examples claim of themselves: an operator is one short file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

/// Lines that are neither empty nor comments alone.
int code_lines(const fs::path& file) {
  int lines = 0;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start != std::string::npos && !line.substr(start).starts_with("//")) ++lines;
  }
  return lines;
}

TEST(Examples, AnOperatorIsOneFileOfAtMostSixtyLines) {
  const fs::path swiglu = fs::path(REWRIGHT_SOURCE_DIR) / "plugins/examples/swiglu";
  ASSERT_TRUE(fs::exists(swiglu / "swiglu.cpp"));
  EXPECT_LE(code_lines(swiglu / "swiglu.cpp"), 60);
  EXPECT_GT(code_lines(swiglu / "swiglu.cpp"), 10);
}

}  // namespace
