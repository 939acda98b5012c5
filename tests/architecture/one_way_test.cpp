// Rules are judged by one function, verify/rule_judge.h. What it stands on - a store's rows as they are, the checker of
// certificates, the audit of axioms, the word that a rule is proved - is asked by few files, each for a reason that
// stands here. Another file that asks is a second way in.
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

struct Source {
  const char* what;
  std::regex use;
  std::map<std::string, const char*> files;  ///< Below core, and why.
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = {
      {"a store's rules as its rows say them",
       std::regex(R"(\bunjudged_rules?\()"),
       {{"store/store.h", "declares it"},
        {"store/store_rows.cpp", "defines it"},
        {"campaign/rule_source.cpp", "judges each row"},
        {"cli/rules_list.cpp", "lists them as their rows say them"},
        {"report/gallery/gallery_site.cpp", "draws them; the page of each replays its proof"}}},
      {"a checker of certificates of its own",
       std::regex(R"(\bCertificateChecker\b(?!&))"),
       {{"include/rewright/verify/certificate.h", "declares it"},
        {"verify/certificate.cpp", "defines it"},
        {"verify/rule_judge.cpp", "judges"},
        {"verify/portfolio.cpp", "checks what a verifier has just proved, from axioms that the judge has let in"},
        {"verify/derivation.cpp", "checks what follows from rules that the judge has let in"},
        {"report/gallery/gallery.cpp", "shows the steps of each proof, or that it cannot be replayed"}}},
      {"an audit of axioms of its own",
       std::regex(R"(#include "axiom/audit\.h")"),
       {{"axiom/audit.cpp", "defines it"},
        {"verify/rule_judge.cpp", "judges"},
        {"cli/axioms_command.cpp", "is the command 'axioms check'"},
        {"cli/axioms_prove.cpp", "evaluates what stays open"},
        {"python/axioms_binding.cpp", "is Axioms.audit(), which is that command"},
        {"discover/judge.h", "looks for axioms; they are audited again when used"},
        {"experiment/kinds/axioms_kind.cpp", "measures the audit"}}},
      {"the word that a rule has a certificate",
       std::regex(R"(\btrust = (.*\btrust_by\(|Trust::k(Certificate|Theorem);))"),
       {{"campaign/rule_source.cpp", "after the judge"},
        {"campaign/family.cpp", "after the judge's checker"},
        {"campaign/library_phase.cpp", "after the phase of verification"},
        {"campaign/library.cpp", "of general forms, which the judge takes or leaves out"},
        {"campaign/verify_phase.cpp", "after the portfolio's check"},
        {"campaign/import_rules.cpp", "after the portfolio's check"},
        {"campaign/rule_verdict.cpp", "after the judge"},
        {"discover/axiom_rules.cpp", "after the judge"}}},
  };
  return all;
}

std::string without_comment(const std::string& line) { return line.substr(0, line.find("//")); }

/// A sentence for each use by a file that is not in the list, and for each file in it that has no use.
std::vector<std::string> other_ways(const fs::path& root, bool all_used) {
  std::vector<std::string> found;
  std::map<std::pair<const Source*, std::string>, bool> used;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string file = fs::relative(entry.path(), root).string();
    std::ifstream stream(entry.path());
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      for (const Source& source : sources()) {
        if (!std::regex_search(without_comment(line), source.use)) continue;
        used[{&source, file}] = true;
        if (!source.files.contains(file)) found.push_back(fmt::format("{}:{} has {}", file, number, source.what));
      }
    }
  }
  for (const Source& source : sources())
    for (const auto& [file, why] : source.files)
      if (all_used && !used.contains({&source, file}))
        found.push_back(fmt::format("{} has no more {}", file, source.what));
  std::ranges::sort(found);
  return found;
}

TEST(OneWay, RulesAreJudgedByOneFunction) {
  EXPECT_THAT(other_ways(REWRIGHT_SOURCE_DIR "/core", true), IsEmpty())
      << "ask judged_rules or read_rule_source (campaign/rule_source.h) or RuleJudge (verify/rule_judge.h)";
}

TEST(OneWay, ASecondWayInIsSeen) {
  const fs::path root = fs::temp_directory_path() / fmt::format("rewright-one-way-{}", ::getpid());
  fs::create_directories(root / "cli");
  std::ofstream(root / "cli/rules_command.cpp")
      << "#include \"axiom/audit.h\"\nauto rules = store->unjudged_rules(registry);\n"
         "CertificateChecker checker(axioms, registry);\n// CertificateChecker\n"
         "void take(CertificateChecker& checker);\nrule.trust = Trust::kCertificate;\n";
  EXPECT_THAT(other_ways(root, false),
              ElementsAre("cli/rules_command.cpp:1 has an audit of axioms of its own",
                          "cli/rules_command.cpp:2 has a store's rules as its rows say them",
                          "cli/rules_command.cpp:3 has a checker of certificates of its own",
                          "cli/rules_command.cpp:6 has the word that a rule has a certificate"));
  fs::remove_all(root);
}

}  // namespace
