#include "campaign/merge_stores.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/files.h"
#include "store/compare.h"
#include "store/derivations.h"
#include "store/store.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kSeparator = 0x1f;

// Calls `visit` for every row.
Status each_row(Database& database, std::string_view sql, const std::function<Status(const SqlStatement&)>& visit) {
  REWRIGHT_TRY(SqlStatement rows, database.prepare(sql));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    REWRIGHT_CHECK(visit(rows));
    REWRIGHT_TRY(more, rows.step());
  }
  return {};
}

std::optional<std::string> text_or_null(const SqlStatement& row, int column) {
  return row.is_null(column) ? std::optional<std::string>() : std::optional(row.text(column));
}

// What is in the merged store, by id.
struct KnownGoal {
  std::int64_t position = 0;
  RuleText text;
  std::string status, trust, place;
};
struct KnownRule {
  RuleText rule;
  std::string place;
};

/// Positions of one store's rows in the merged one.
struct Numbers {
  std::unordered_map<std::int64_t, std::int64_t> campaigns, candidates, goals;
};

class Merger {
 public:
  Merger(Store& out, const Registry& registry) : out_(out), database_(out.database()), registry_(registry) {}

  Status add(Store& in, MergeReport::Part& part) {
    Numbers numbers;
    REWRIGHT_CHECK(add_campaigns(in, numbers));
    REWRIGHT_CHECK(add_candidates(in, numbers));
    REWRIGHT_CHECK(add_goals(in, numbers));
    REWRIGHT_CHECK(add_verdicts(in, numbers));
    REWRIGHT_CHECK(add_proposals(in, numbers));
    REWRIGHT_CHECK(add_rules(in, numbers, part));
    REWRIGHT_CHECK(keep_derivations(in, numbers));
    REWRIGHT_CHECK(add_uses(in));
    return add_runs(in);
  }

  Status finish() {
    REWRIGHT_CHECK(add_derivations());
    REWRIGHT_CHECK(database_.run(
        "INSERT INTO removals SELECT candidate, pruner, by, reason, max(reinstated) FROM candidate_origins AS o "
        "WHERE campaign = (SELECT min(campaign) FROM candidate_origins AS p WHERE p.candidate = o.candidate) AND NOT "
        "EXISTS (SELECT 1 FROM candidate_origins AS p WHERE p.candidate = o.candidate AND p.pruner IS NULL) "
        "GROUP BY candidate"));
    Json config = {{"merge", campaign_names_}, {"pruners", pruners_}};
    const std::string name = fmt::format("merge of {}", fmt::join(campaign_names_, ", "));
    REWRIGHT_CHECK(out_.begin({name, content_hash(config.dump()), config.dump(), {}}));
    for (const char* phase : {"enumerate", "prune", "verify", "library"}) REWRIGHT_CHECK(out_.finish(phase));
    return {};
  }

 private:
  // --- campaigns -----------------------------------------------------------------------------------------------

  Status add_campaigns(Store& in, Numbers& numbers) {
    std::size_t count = 0;
    REWRIGHT_CHECK(each_row(in.database(), "SELECT * FROM campaigns ORDER BY number", [&](const SqlStatement& row) {
      ++count;
      return add_campaign(row.integer(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), numbers);
    }));
    if (count > 0) return {};
    REWRIGHT_TRY(const auto campaign, in.campaign());
    Json ingredients = Json::array(), levels = Json::array();
    for (const Ingredient& part : campaign->ingredients)
      ingredients.push_back({{"kind", part.kind}, {"name", part.name}, {"version", part.version}, {"hash", part.hash}});
    REWRIGHT_TRY(const auto counted, in.levels());
    for (const LevelRecord& level : counted)
      levels.push_back({{"operators", level.operators},
                        {"graphs", level.graphs},
                        {"classes", level.classes},
                        {"candidates", level.candidates}});
    return add_campaign(0, campaign->name, campaign->config_hash, campaign->config, ingredients.dump(), levels.dump(),
                        numbers);
  }

  Status add_campaign(std::int64_t number, const std::string& name, const std::string& hash, const std::string& config,
                      const std::string& ingredients, const std::string& levels, Numbers& numbers) {
    const auto next = static_cast<std::int64_t>(campaigns_.size());
    const auto [known, fresh] = campaigns_.emplace(std::pair(hash, ingredients), next);
    numbers.campaigns[number] = known->second;
    if (!fresh) return {};
    campaign_names_.push_back(name);
    const Json read = Json::parse(config, nullptr, false);
    if (read.is_object() && read.contains("pruners")) {
      for (const Json& pruner : read["pruners"]) {
        if (std::ranges::find(pruners_, pruner) == pruners_.end()) pruners_.push_back(pruner);
      }
    }
    REWRIGHT_TRY(SqlStatement insert, database_.prepare("INSERT INTO campaigns VALUES (?, ?, ?, ?, ?, ?)"));
    return insert.run(next, name, hash, config, ingredients, levels);
  }

  // --- candidates and goals ------------------------------------------------------------------------------------

  Status add_candidates(Store& in, Numbers& numbers) {
    REWRIGHT_CHECK(in.candidates([&](CandidateRecord candidate) -> Status {
      const auto next = static_cast<std::int64_t>(candidates_.size());
      const auto [known, fresh] = candidates_.emplace(candidate.id, next);
      numbers.candidates[candidate.position] = known->second;
      if (!fresh) return {};  // The same graphs, found at other sizes perhaps.
      candidate.position = next;
      return out_.add(candidate);
    }));
    REWRIGHT_TRY(SqlStatement insert,
                 database_.prepare("INSERT OR IGNORE INTO candidate_origins VALUES (?, ?, ?, ?, ?, ?, ?)"));
    return each_row(
        in.database(),
        "SELECT candidate, campaign, position, pruner, by, reason, reinstated FROM candidate_origins "
        "UNION ALL SELECT position, 0, position, pruner, by, reason, coalesce(reinstated, 0) FROM candidates "
        "LEFT JOIN removals ON candidate = position WHERE NOT EXISTS (SELECT 1 FROM campaigns) ORDER BY 1, 2",
        [&](const SqlStatement& row) {
          return insert.run(numbers.candidates.at(row.integer(0)), numbers.campaigns.at(row.integer(1)), row.integer(2),
                            text_or_null(row, 3), text_or_null(row, 4), text_or_null(row, 5), row.integer(6));
        });
  }

  Status add_goals(Store& in, Numbers& numbers) {
    REWRIGHT_TRY(const std::vector<GoalRecord> goals, in.goals());
    for (const GoalRecord& goal : goals) REWRIGHT_CHECK(add_goal(goal, in.folder(), numbers));
    REWRIGHT_TRY(SqlStatement insert, database_.prepare("INSERT OR IGNORE INTO goal_origins VALUES (?, ?, ?)"));
    return each_row(
        in.database(),
        "SELECT goal, campaign, position FROM goal_origins UNION ALL SELECT position, 0, position FROM goals "
        "WHERE NOT EXISTS (SELECT 1 FROM campaigns) ORDER BY 1, 2",
        [&](const SqlStatement& row) {
          return insert.run(numbers.goals.at(row.integer(0)), numbers.campaigns.at(row.integer(1)), row.integer(2));
        });
  }

  Status add_goal(GoalRecord goal, const std::string& place, Numbers& numbers) {
    RuleText text = split_rule_text(goal.text);
    text.id = goal.id;
    const auto next = static_cast<std::int64_t>(goals_.size());
    const auto [found, fresh] = goals_.emplace(goal.id, KnownGoal{next, text, goal.status, goal.trust, place});
    KnownGoal& known = found->second;
    numbers.goals[goal.position] = known.position;
    goal.position = known.position;
    if (fresh) return out_.add(goal);
    REWRIGHT_CHECK(check_same_rule(known.text, known.place, text, place, registry_));
    const bool disagree = (known.status == "proved" && goal.status == "refuted") ||
                          (known.status == "refuted" && goal.status == "proved");
    if (disagree)
      return make_error(
          ErrorCode::kMismatch,
          "the rule {} ({}) is {} in '{}' and {} in '{}', so an axiom or a verifier is wrong; look at both "
          "with rewright rules show before they are joined",
          goal.id, goal.text, known.status, known.place, goal.status, place);
    if (!says_more(goal, known)) return {};
    known.status = goal.status;
    known.trust = goal.trust;
    return out_.settle(goal);
  }

  /// The store's word: a certificate says itself whether it is a theorem's.
  static const char* trust_column(const RuleText& rule) { return rule.certificate.empty() ? "solver" : "certificate"; }
  static int weight(const std::string& status, const std::string& trust) {
    if (status == "proved") return trust == "theorem" ? 5 : trust == "certificate" ? 4 : 3;
    return status == "refuted" ? 2 : status == "unknown" ? 1 : 0;
  }
  static bool says_more(const GoalRecord& goal, const KnownGoal& known) {
    return weight(goal.status, goal.trust) > weight(known.status, known.trust);
  }

  // --- verdicts and proposals ----------------------------------------------------------------------------------

  Status add_verdicts(Store& in, const Numbers& numbers) {
    REWRIGHT_TRY(SqlStatement insert,
                 database_.prepare("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    REWRIGHT_TRY(SqlStatement insert_time, database_.prepare("INSERT INTO verdict_times VALUES (?, ?, ?)"));
    return each_row(
        in.database(),
        "SELECT verdicts.*, seconds FROM verdicts LEFT JOIN verdict_times USING (goal, place) ORDER BY 1, 2",
        [&](const SqlStatement& row) -> Status {
          const std::int64_t goal = numbers.goals.at(row.integer(0));
          std::string key = fmt::format("{}", goal);
          for (int column = 2; column < 12; ++column) key.append(1, kSeparator).append(row.text(column));
          if (!verdicts_.insert(content_hash(key)).second) return {};  // Both stores have it.
          const int place = places_[goal]++;
          REWRIGHT_CHECK(insert.run(goal, place, row.text(2), row.text(3), row.integer(4), row.integer(5), row.text(6),
                                    row.text(7), row.text(8), row.text(9), row.text(10), row.text(11)));
          if (row.is_null(12)) return {};
          return insert_time.run(goal, place, row.real(12));
        });
  }

  Status add_proposals(Store& in, const Numbers& numbers) {
    REWRIGHT_TRY(const std::vector<ProposalRecord> proposals, in.proposals());
    REWRIGHT_TRY(SqlStatement insert, database_.prepare("INSERT OR IGNORE INTO proposals VALUES (?, ?, ?, ?, ?)"));
    for (const ProposalRecord& proposal : proposals) {
      std::optional<std::int64_t> goal = proposal.goal;
      if (goal) *goal = numbers.goals.at(*goal);
      REWRIGHT_CHECK(insert.run(numbers.candidates.at(proposal.candidate), proposal.reversed, proposal.numbers, goal,
                                proposal.reason));
    }
    return {};
  }

  // --- rules and what was done with them -----------------------------------------------------------------------

  Status add_rules(Store& in, const Numbers& numbers, MergeReport::Part& part) {
    REWRIGHT_TRY(const std::vector<RuleText> rules, in.rule_texts());
    part.rules = rules.size();
    REWRIGHT_TRY(SqlStatement insert, database_.prepare("INSERT INTO rules VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
    REWRIGHT_TRY(SqlStatement update, database_.prepare("UPDATE rules SET goal = ?, text = ?, trust = ?, example = ?, "
                                                        "certificate = ? WHERE id = ?"));
    for (const RuleText& rule : rules) {
      const std::int64_t goal = numbers.goals.at(rule.goal);
      const auto next = static_cast<std::int64_t>(rules_.size());
      const auto [found, fresh] = rules_.emplace(rule.id, KnownRule{rule, in.folder()});
      KnownRule& known = found->second;
      if (fresh) {
        ++part.added;
        const bool taken = !names_.insert(rule.name).second;
        const std::string name = taken ? fmt::format("{}-{}", rule.name, rule.id) : rule.name;
        REWRIGHT_CHECK(
            insert.run(next, rule.id, name, goal, rule.text, trust_column(rule), rule.example, rule.certificate));
        continue;
      }
      REWRIGHT_CHECK(check_same_rule(known.rule, known.place, rule, in.folder(), registry_));
      if (weight("proved", rule.trust) <= weight("proved", known.rule.trust)) continue;
      known.rule.trust = rule.trust;
      REWRIGHT_CHECK(update.run(goal, rule.text, trust_column(rule), rule.example, rule.certificate, rule.id));
    }
    return {};
  }

  // Until all rules are there: what one library does without may be in another.
  Status keep_derivations(Store& in, const Numbers& numbers) {
    REWRIGHT_TRY(const std::vector<DerivationRecord> records, DerivationTable::read(in));
    for (DerivationRecord record : records) {
      record.goal = numbers.goals.at(record.goal);
      derivations_.push_back(std::move(record));
    }
    return {};
  }
  Status add_derivations() {
    if (derivations_.empty()) return {};
    REWRIGHT_TRY(DerivationTable table, DerivationTable::open(out_));
    std::set<std::int64_t> known;
    for (const DerivationRecord& record : derivations_) {
      if (!rules_.contains(record.id) && known.insert(record.goal).second) REWRIGHT_CHECK(table.add(record));
    }
    return {};
  }

  Status add_uses(Store& in) {
    REWRIGHT_TRY(SqlStatement insert,
                 database_.prepare("INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    return each_row(in.database(), "SELECT * FROM uses", [&](const SqlStatement& row) {
      return insert.run(row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.integer(5), row.real(6),
                        row.real(7), row.real(8), row.text(9));
    });
  }

  Status add_runs(Store& in) {
    REWRIGHT_TRY(const std::int64_t before, out_.count("runs"));
    REWRIGHT_TRY(SqlStatement run, database_.prepare("INSERT INTO runs VALUES (?, ?, ?, ?)"));
    REWRIGHT_CHECK(each_row(in.database(), "SELECT * FROM runs ORDER BY number", [&](const SqlStatement& row) {
      return run.run(before + row.integer(0), row.text(1), row.integer(2), row.integer(3));
    }));
    REWRIGHT_TRY(SqlStatement time, database_.prepare("INSERT INTO timings VALUES (?, ?, ?, ?)"));
    return each_row(in.database(), "SELECT * FROM timings", [&](const SqlStatement& row) {
      return time.run(before + row.integer(0), row.text(1), row.real(2), row.integer(3));
    });
  }

  Store& out_;
  Database& database_;
  const Registry& registry_;
  std::map<std::pair<std::string, std::string>, std::int64_t> campaigns_;
  std::vector<std::string> campaign_names_;
  std::vector<DerivationRecord> derivations_;
  std::vector<Json> pruners_;  // As campaign files have them, each once.
  std::unordered_map<std::string, std::int64_t> candidates_;
  std::unordered_map<std::string, KnownGoal> goals_;
  std::unordered_map<std::string, KnownRule> rules_;
  std::set<std::string> names_, verdicts_;
  std::unordered_map<std::int64_t, int> places_;
};

// Where the axioms are: each file once. One that has moved with its checkout is the same if its content is.
Result<std::string> merged_axioms(std::span<const std::string> folders) {
  std::map<std::string, std::string> by_name;
  std::string lines;
  for (const std::string& folder : folders) {
    if (!fs::exists(folder + "/axioms.txt")) continue;
    REWRIGHT_TRY(const std::string paths, read_file(folder + "/axioms.txt"));
    std::size_t end = 0;
    for (std::size_t at = 0; at < paths.size(); at = end + 1) {
      end = std::min(paths.find('\n', at), paths.size());
      const std::string path = paths.substr(at, end - at);
      const auto [known, fresh] = by_name.emplace(fs::path(path).filename().string(), path);
      if (fresh) lines += path + "\n";
      if (fresh || known->second == path) continue;
      const auto left = read_file(known->second), right = read_file(path);
      if (left && right && *left != *right)
        return make_error(
            ErrorCode::kMismatch,
            "the stores rest on different axioms: '{}' and '{}' (of '{}') differ; run one of the campaigns "
            "again with the other's axioms",
            known->second, path, folder);
    }
  }
  return lines;
}

Result<std::unique_ptr<Store>> open_part(const std::string& folder) {
  REWRIGHT_TRY(auto store, Store::open(folder, Store::Mode::kRead));
  REWRIGHT_CHECK(store->database().check());
  REWRIGHT_TRY(const bool finished, store->finished("library"));
  if (!finished)
    return make_error(
        ErrorCode::kMismatch,
        "the campaign in '{}' is not finished; end it with rewright campaign run FILE --resume, then merge", folder);
  return store;
}

Result<MergeReport> merge_into(std::span<const std::string> folders, const std::string& made,
                               const Registry& registry) {
  MergeReport report;
  REWRIGHT_TRY(const std::string axioms, merged_axioms(folders));
  std::vector<std::unique_ptr<Store>> parts;
  for (const std::string& folder : folders) {
    REWRIGHT_TRY(parts.emplace_back(), open_part(folder));
  }
  REWRIGHT_TRY(const auto out, Store::open(made, Store::Mode::kRun));
  Merger merger(*out, registry);
  REWRIGHT_CHECK(out->database().transaction([&]() -> Status {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      report.parts.push_back({folders[i], 0, 0});
      REWRIGHT_CHECK(merger.add(*parts[i], report.parts.back()));
      report.rules += report.parts.back().added;
    }
    return merger.finish();
  }));
  REWRIGHT_CHECK(write_file(out->path("axioms.txt"), axioms));
  // The log goes into the database before the folder gets its name: what could fail has failed.
  REWRIGHT_CHECK(out->database().run("PRAGMA wal_checkpoint(TRUNCATE)"));
  return report;
}

}  // namespace

Result<MergeReport> merge_stores(std::span<const std::string> folders, const std::string& target,
                                 const Registry& registry) {
  if (fs::exists(target))
    return make_error(ErrorCode::kUsage, "'{}' is there already; a merge makes a new folder, name one with -o", target);
  const std::string made = fmt::format("{}.partial-{}", target, getpid());
  Result<MergeReport> report = merge_into(folders, made, registry);
  std::error_code code;
  if (report) fs::rename(made, target, code);
  if (report && !code) return report;
  std::error_code ignored;
  fs::remove_all(made, ignored);
  if (report) return make_error(ErrorCode::kIo, "'{}' cannot be made: {}", target, code.message());
  if (report.error().code == ErrorCode::kBudget)
    return make_error(ErrorCode::kBudget,
                      "the disk is full: '{}' was not made, and the stores that were read are as they were; free some "
                      "space and merge again",
                      target);
  return report.error();
}

}  // namespace rewright
