// A name of a type means one thing in the whole library. Where two files of core define two types by one name in one
// namespace, the linker keeps the members of one of them, of std::vector of it and the like, for both.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

/// The types that a source defines in namespaces that other files can name. Reads lines as clang-format writes them.
std::vector<std::string> types_of(std::istream& source) {
  static const std::regex opening(R"(^(?:inline )?namespace ?([\w:]*) ?\{)");
  static const std::regex type(
      R"(^(?:class|struct|union|enum|enum class) (?:REWRIGHT_API )?(\w+)(?: final)?(?: : .*)? ?\{)");
  std::vector<std::string> namespaces, types;
  std::size_t anonymous = 0;
  std::smatch match;
  for (std::string line; std::getline(source, line);) {
    if (std::regex_search(line, match, opening)) {
      namespaces.push_back(match[1]);
      anonymous += match[1].length() == 0;
    } else if (line.starts_with("}  // namespace") && !namespaces.empty()) {
      anonymous -= namespaces.back().empty();
      namespaces.pop_back();
    } else if (anonymous == 0 && std::regex_search(line, match, type)) {
      std::string name = match[1];
      for (auto outer = namespaces.rbegin(); outer != namespaces.rend(); ++outer) name = *outer + "::" + name;
      types.push_back(std::move(name));
    }
  }
  return types;
}

/// One sentence for each name that has several definitions.
std::vector<std::string> defined_again(const fs::path& root, std::size_t* count = nullptr) {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::ifstream source(entry.path());
    for (const std::string& type : types_of(source)) files[type].push_back(fs::relative(entry.path(), root).string());
  }
  std::vector<std::string> again;
  for (auto& [type, places] : files) {
    std::ranges::sort(places);
    if (places.size() > 1) again.push_back(fmt::format("{}: {} and {}", type, places[0], places[1]));
  }
  if (count != nullptr) *count = files.size();
  return again;
}

TEST(OneDefinition, EveryTypeOfTheLibraryHasANameOfItsOwn) {
  std::size_t types = 0;
  EXPECT_THAT(defined_again(REWRIGHT_SOURCE_DIR "/core", &types), IsEmpty());
  EXPECT_GT(types, 300u);
}

TEST(OneDefinition, ASecondTypeOfOneNameIsSeen) {
  const fs::path root = fs::temp_directory_path() / fmt::format("rewright-one-definition-{}", ::getpid());
  fs::create_directories(root);
  std::ofstream(root / "a.h")
      << "namespace rewright {\nstruct Once {\n};\nclass REWRIGHT_API Twice {\n};\n}  // namespace "
         "rewright\n";
  std::ofstream(root / "b.cpp")
      << "namespace rewright {\nnamespace {\nstruct Once {\n};\n}  // namespace\nclass Twice final "
         ": public Once {\n};\n}  // namespace rewright\n";
  std::ofstream(root / "c.h")
      << "namespace rewright::cli {\nclass Twice;\nstruct Twice {\n};\n}  // namespace rewright::cli\n";
  EXPECT_THAT(defined_again(root), ElementsAre("rewright::Twice: a.h and b.cpp"));
  fs::remove_all(root);
}

}  // namespace
