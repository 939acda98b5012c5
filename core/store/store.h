// The store: one folder that holds everything a campaign has found.
//
//   STORE/store.sqlite    the database; its tables are described in core/store/README.md
//   STORE/campaign.toml   the campaign file, as it was
//   STORE/progress.json   where the running campaign stands; replaced about once a second
//   STORE/log.txt         one line per event, with times
//   STORE/lock            held by the running campaign
//
// All tables but `runs`, `timings`, `verdict_times` and `uses` depend on the campaign file, the plugins and the program
// alone: two stores of one campaign have equal rows, whatever the number of threads, kills and resumes.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/verifier.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite_database.h"

namespace rewright {

/// What a store's content rests on: the program, a plugin, an axiom file.
struct Ingredient {
  std::string kind;  ///< "program", "plugin", "axioms".
  std::string name;
  std::string version;
  std::string hash;  ///< Of the file.
  friend bool operator==(const Ingredient&, const Ingredient&) = default;
};

struct CampaignRecord {
  std::string name;
  std::string config_hash;              ///< Of the resolved configuration; comments and spelling do not count.
  std::string config;                   ///< The resolved configuration, JSON.
  std::vector<Ingredient> ingredients;  ///< By kind and name.
};

struct LevelRecord {
  int operators = 0;
  std::uint64_t graphs = 0;
  std::uint64_t classes = 0;
  std::uint64_t candidates = 0;
};

struct CandidateRecord {
  std::int64_t position = 0;  ///< From 0, in the order of enumeration.
  std::string id;
  int operators = 0;  ///< Of its larger side.
  std::string source;
  std::string target;
};

/// A pruner's decision. A candidate removed for the sake of another comes back if that one is not proved.
struct RemovalRecord {
  std::int64_t candidate = 0;
  std::string pruner;
  std::string by;  ///< Id of the other candidate; empty if it is superfluous by itself.
  std::string reason;
  bool reinstated = false;
};

/// A candidate in one direction, generalised: what the verifiers are asked.
struct GoalRecord {
  std::int64_t position = 0;
  std::string id;
  std::string text;
  std::string name;
  std::string example;          ///< JSON: {"shapes": [[2, 4]], "sizes": {"s0": 2}}.
  std::string status = "open";  ///< "open", "proved", "refuted" or "unknown".
  std::string rule;             ///< Proved: the rule's text, with the conditions of the proof.
  std::string trust;            ///< Proved: "solver", "certificate" or "theorem".
  std::string certificate;
};

/// Which goal a candidate led to, or why it led to none.
struct ProposalRecord {
  std::int64_t candidate = 0;
  bool reversed = false;  ///< Target => source.
  bool numbers = false;   ///< Sizes that nothing determines stay the numbers they are (a second try).
  std::optional<std::int64_t> goal;
  std::string reason;
};

struct VerdictRecord {
  std::int64_t goal = 0;
  int place = 0;  ///< Of the verifier in the campaign's list.
  std::string verifier;
  std::string version;
  Budget budget;
  Verdict verdict;
};

struct RuleRecord {
  std::int64_t position = 0;
  std::int64_t goal = 0;
  Rule rule;
  std::string text;
};

/// What the optimizer gained with a rule in a model: the steps of its path that the rule made, together. A second run
/// of the same model, search and cost model takes the place of the first.
struct UseRecord {
  std::string rule;        ///< Its id.
  std::string model;       ///< The file's name.
  std::string model_hash;  ///< Of the file.
  std::string search;
  std::string cost;
  std::int64_t times = 0;
  double gain_us = 0;  ///< Cost before the steps minus cost after them; negative where a rule prepares for another.
  double model_before_us = 0;
  double model_after_us = 0;
};

/// A rule as it is shown: no operators have to be loaded.
struct RuleText {
  std::string id;
  std::string name;
  std::string inputs;  ///< "x:2, y:2".
  std::string source;
  std::string target;
  std::string precondition;  ///< "" if there is none.
  std::string text;
  std::string trust;
  std::string example;
  std::string certificate;
  std::int64_t goal = 0;
};
/// The rule that a row says, its id worked out from its text; nothing of it is judged. Errors: kParse, with what was
/// found.
[[nodiscard]] REWRIGHT_API Result<Rule> unjudged_rule(const RuleText& row, const Registry& registry);
/// Splits the text form of a rule into `inputs`, `source`, `target` and `precondition`.
[[nodiscard]] REWRIGHT_API RuleText split_rule_text(std::string text);

class REWRIGHT_API Store {
 public:
  enum class Mode {
    kRead,   ///< Another process may be writing. A store of an older version is read as if it were of this one.
    kWrite,  ///< Adds to a store that is there (uses, measured costs); a campaign may run meanwhile.
    kRun,    ///< Makes the store if it is not there, and locks out other campaigns.
  };

  /// Errors: kNotFound (no store there), kIo (rights, disk, in use by another campaign), kMismatch (damaged, newer).
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& folder, Mode mode);
  /// True while a campaign runs on the store.
  [[nodiscard]] static bool busy(const std::string& folder);
  ~Store();

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string path(const std::string& name) const;
  [[nodiscard]] Database& database() { return *database_; }

  /// Nothing if no campaign has begun here.
  [[nodiscard]] Result<std::optional<CampaignRecord>> campaign();
  Status begin(const CampaignRecord& campaign);
  /// Empties every table.
  Status clear();
  /// The plugins that its rows were made with, those of merged campaigns too; `hash` is not asked for.
  [[nodiscard]] Result<std::vector<Ingredient>> plugins();

  [[nodiscard]] Result<bool> finished(const std::string& phase);
  Status finish(const std::string& phase);

  Status add(const LevelRecord& level);
  Status add(const CandidateRecord& candidate);
  Status add(const RemovalRecord& removal);
  Status add(const GoalRecord& goal);
  Status add(const ProposalRecord& proposal);
  Status add(const VerdictRecord& verdict);
  Status add(const RuleRecord& rule);
  /// Errors: kIo where the store holds no such rule any more.
  Status add(const UseRecord& use);
  /// Sets status, rule, trust and certificate.
  Status settle(const GoalRecord& goal);
  Status reinstate(std::int64_t candidate);
  /// Takes back what an unfinished phase has written.
  Status discard_candidates();

  [[nodiscard]] Result<std::vector<LevelRecord>> levels();
  /// Calls `visit` in order of position; candidates that no pruner removed (or all of them).
  Status candidates(const std::function<Status(const CandidateRecord&)>& visit, bool survivors_only = false);
  [[nodiscard]] Result<CandidateRecord> candidate(std::int64_t position);
  [[nodiscard]] Result<std::vector<GoalRecord>> goals();
  [[nodiscard]] Result<std::vector<ProposalRecord>> proposals();
  [[nodiscard]] Result<std::vector<VerdictRecord>> verdicts(std::int64_t goal);
  [[nodiscard]] Result<std::vector<RuleText>> rule_texts();
  /// By gain, the greatest first.
  [[nodiscard]] Result<std::vector<UseRecord>> uses();
  /// The library, in its fixed order, as its rows say; whoever uses rules asks judged_rules (campaign/rule_source.h).
  /// Errors: an operator that is not loaded.
  [[nodiscard]] Result<std::vector<Rule>> unjudged_rules(const Registry& registry);
  /// Why a rule of the library cannot be read. Where its operator is not loaded (kNotFound): which plugins the store
  /// was made with are missing, and how to load them.
  [[nodiscard]] Error unreadable(const RuleText& row, const Error& error, const Registry& registry);
  [[nodiscard]] Result<std::int64_t> count(const std::string& table, const std::string& where = "1");

  /// Times and circumstances: the only tables that differ between two runs of one campaign.
  Status begin_run(int threads, bool resumed);
  Status add_time(const std::string& phase, double seconds, std::uint64_t peak_memory_bytes);
  /// Seconds over all runs.
  [[nodiscard]] Result<double> seconds(const std::string& phase);
  /// The most that any run used by the end of the phase.
  [[nodiscard]] Result<std::uint64_t> peak_memory_bytes(const std::string& phase);

  /// Every row of every table but the times, as text: equal stores, equal text.
  [[nodiscard]] Result<std::string> dump();

 private:
  explicit Store(std::string folder) : folder_(std::move(folder)) {}
  Status insert(const char* sql, const std::function<Status(SqlStatement&)>& run);

  std::string folder_;
  int lock_ = -1;
  std::unique_ptr<Database> database_;
};

/// The JSON of Rule::example and Rule::example_sizes, and back.
[[nodiscard]] REWRIGHT_API std::string example_text(const Rule& rule);
Status read_example(const std::string& text, Rule& rule);

}  // namespace rewright
