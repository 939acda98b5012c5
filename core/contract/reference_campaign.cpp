#include "contract/reference_campaign.h"

#include <rewright/egraph/prover.h>
#include <rewright/graph/graph.h>
#include <rewright/verify/derivation.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "campaign/config.h"
#include "campaign/library.h"
#include "campaign/rule_source.h"
#include "campaign/runner.h"
#include "store/store.h"

namespace rewright::contract {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCampaign = R"([campaign]
name = "reference"
max_operators = 3
inputs = [
  {{ name = "x", shapes = [[2, 3], [3, 1]] }},
  {{ name = "y", shapes = [[2, 3], [3, 1]] }},
  {{ name = "v", shapes = [[3, 3], [1, 1]] }},
  {{ name = "w", shapes = [[3, 3], [1, 1]] }},
]
verifiers = ["evaluate", "egraph"]
trust = "certificate"
axioms = ["{}"]

[operators]
ewadd = {{}}
matmul = {{}}
relu = {{}}
transpose = {{}}
)";

class Folder {
 public:
  Folder() {
    std::error_code ignored;
    std::string pattern = (fs::temp_directory_path(ignored) / "rewright-reference-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What the store says, as a pruner is given it.
Result<ReferenceCampaign> read_store(Store& store, const Registry& registry) {
  ReferenceCampaign campaign;
  std::map<std::int64_t, std::size_t> candidate_at;
  REWRIGHT_CHECK(store.candidates([&](const CandidateRecord& record) -> Status {
    REWRIGHT_TRY(Graph source, parse_graph(record.source, registry));
    REWRIGHT_TRY(Graph target, parse_graph(record.target, registry));
    candidate_at[record.position] = campaign.candidates.size();
    campaign.candidates.push_back({record.id, std::move(source), std::move(target)});
    return {};
  }));
  REWRIGHT_TRY(campaign.rules, judged_rules(store, registry));
  std::ranges::sort(campaign.rules, comes_before);
  std::map<std::string, std::size_t> rule_at;
  for (std::size_t i = 0; i < campaign.rules.size(); ++i) rule_at[campaign.rules[i].id] = i;
  campaign.rules_of.resize(campaign.candidates.size());
  REWRIGHT_TRY(SqlStatement rows,
               store.database().prepare("SELECT candidate, rules.id FROM proposals JOIN rules ON proposals.goal = "
                                        "rules.goal ORDER BY candidate, rules.position"));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    campaign.rules_of[candidate_at.at(rows.integer(0))].push_back(rule_at.at(rows.text(1)));
    REWRIGHT_TRY(more, rows.step());
  }
  return campaign;
}

}  // namespace

Result<ReferenceCampaign> reference_campaign(const Registry& registry, const AxiomSet& axioms) {
  const Folder folder;
  if (folder.path().empty()) return make_error(ErrorCode::kIo, "there is no folder for temporary files");
  std::vector<std::string> files;
  for (const std::string& file : axioms.files()) files.push_back(fs::absolute(file).string());
  const std::string file = folder.path() + "/campaign.toml";
  REWRIGHT_CHECK(write_file(file, fmt::format(kCampaign, fmt::join(files, "\", \""))));
  REWRIGHT_TRY(const CampaignConfig config, load_campaign(file, registry));
  RunOptions options;
  options.store = folder.path() + "/store";
  REWRIGHT_TRY(const CampaignSummary summary, run_campaign(config, registry, options));
  if (summary.rules == 0) return make_error(ErrorCode::kUnsupported, "the axioms prove nothing of the campaign");
  REWRIGHT_TRY(const std::unique_ptr<Store> store, Store::open(options.store, Store::Mode::kRead));
  return read_store(*store, registry);
}

Result<std::vector<std::string>> not_following(const std::vector<Rule>& dropped, const std::vector<Rule>& kept,
                                               const Registry& registry) {
  const std::vector<Rule> library = one_direction_each(kept);
  REWRIGHT_TRY(const auto derivations, derive_all(dropped, library, registry));
  REWRIGHT_TRY(DerivationChecker checker, DerivationChecker::over(library, registry));
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (!derivations[i] || !checker.check(dropped[i], derivations[i]->certificate))
      failures.push_back(to_text(dropped[i]));
  }
  return failures;
}

}  // namespace rewright::contract
