// A public header that changes raises the ABI version: plugins built before are refused, and do not misread objects.
// What the headers were when the version was raised is a checksum in public_headers.txt.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Without comments and white space; the version itself counts as no change.
std::string code_of(const std::string& text) {
  static const std::regex kComment(R"(//[^\n]*)"), kVersion(R"(kPluginAbiVersion = \d+;)");
  std::string code = std::regex_replace(std::regex_replace(text, kVersion, ""), kComment, "");
  std::erase_if(code, [](unsigned char c) { return std::isspace(c) != 0; });
  return code;
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
std::uint64_t checksum(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

std::string line_for(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::string all;
  for (const fs::path& file : files) all += file.filename().string() + ":" + code_of(text_of(file)) + "\n";
  std::smatch version;
  const std::string plugin = text_of(folder / "plugin.h");
  std::regex_search(plugin, version, std::regex(R"(kPluginAbiVersion = (\d+);)"));
  return fmt::format("ABI {}, checksum {:016x}", version[1].str(), checksum(all));
}

TEST(PublicHeaders, AreThoseOfTheirAbiVersion) {
  const fs::path tree = REWRIGHT_SOURCE_DIR;
  std::string known = text_of(tree / "tests/architecture/public_headers.txt");
  known.resize(std::min(known.size(), known.find('\n')));
  EXPECT_EQ(line_for(tree / "core/include/rewright"), known)
      << "A public header has changed: raise kPluginAbiVersion in core/include/rewright/plugin.h by one (once between "
         "two "
         "releases is enough), and put the new line into tests/architecture/public_headers.txt.";
}

TEST(PublicHeaders, CommentsAndTheVersionAreNoChange) {
  EXPECT_EQ(code_of("int a;  // one\nint b;"), code_of("int a;\n\n// two\nint   b;"));
  EXPECT_EQ(code_of("kPluginAbiVersion = 1;"), code_of("kPluginAbiVersion = 2;"));
  EXPECT_NE(code_of("int a;"), code_of("long a;"));
}

}  // namespace
