// Every operator's source file gives an operator, and the axiom files that it cites speak of it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "support/operators.h"

namespace rewright::testing {
namespace {

TEST(EveryOperator, IsLoadedFromEachSourceFile) {
  std::set<std::string> sources, loaded_names;
  for (const auto& entry : std::filesystem::directory_iterator(REWRIGHT_SOURCE_DIR "/operators")) {
    if (entry.path().extension() == ".cpp") sources.insert(entry.path().stem().string());
  }
  for (const Operator* op : loaded().all<Operator>()) loaded_names.insert(op->name());
  EXPECT_THAT(loaded_names, ::testing::IsSupersetOf(sources));
  EXPECT_GE(sources.size(), 16U);
}

TEST(EveryOperator, CitesAxiomFilesThatSpeakOfIt) {
  const std::filesystem::path tree = REWRIGHT_SOURCE_DIR;
  const auto text_of_file = [](const std::filesystem::path& path) {
    std::ifstream stream(path);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  std::size_t cited = 0;
  for (const Operator* op : loaded().all<Operator>()) {
    const std::string source = text_of_file(tree / "operators" / (op->name() + ".cpp"));
    static const std::regex kFile("axioms/[a-z_]+[.]smt2");
    for (auto it = std::sregex_iterator(source.begin(), source.end(), kFile); it != std::sregex_iterator(); ++it) {
      const std::string axioms = text_of_file(tree / it->str());
      EXPECT_THAT(axioms, ::testing::HasSubstr("(" + op->name())) << it->str();
      ++cited;
    }
  }
  EXPECT_GE(cited, 16U);
}

}  // namespace
}  // namespace rewright::testing
