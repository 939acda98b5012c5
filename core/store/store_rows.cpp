// The rows of a store: one function per kind of row and direction.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "store/store.h"

namespace rewright {
namespace {

using Json = nlohmann::ordered_json;

const char* word(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kProved: return "proved";
    case VerdictKind::kRefuted: return "refuted";
    case VerdictKind::kUnknown: break;
  }
  return "unknown";
}

/// The store's word: a certificate says itself whether it is a theorem's.
const char* word(Trust trust) { return trust >= Trust::kCertificate ? "certificate" : "solver"; }

VerdictKind kind_of(std::string_view word) {
  if (word == "proved") return VerdictKind::kProved;
  return word == "refuted" ? VerdictKind::kRefuted : VerdictKind::kUnknown;
}

// Condition by condition, as to_string writes them.
std::string join_conditions(const std::vector<Constraint>& conditions) {
  std::vector<std::string> texts;
  for (const Constraint& condition : conditions) texts.push_back(to_string(condition));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Reads every row with `read` into a vector.
template <class Row, class Read>
Result<std::vector<Row>> all(Result<SqlStatement> statement, Read read) {
  if (!statement) return statement.error();
  std::vector<Row> rows;
  REWRIGHT_TRY(bool more, statement->query());
  while (more) {
    rows.push_back(read(*statement));
    REWRIGHT_TRY(more, statement->step());
  }
  return rows;
}

CandidateRecord read_candidate(const SqlStatement& row) {
  return {row.integer(0), row.text(1), static_cast<int>(row.integer(2)), row.text(3), row.text(4)};
}

}  // namespace

// --- writing ---------------------------------------------------------------------------------------------------

Status Store::add(const LevelRecord& level) {
  return insert("INSERT OR REPLACE INTO levels VALUES (?, ?, ?, ?)", [&](SqlStatement& statement) {
    return statement.run(level.operators, level.graphs, level.classes, level.candidates);
  });
}

Status Store::add(const CandidateRecord& candidate) {
  return insert("INSERT INTO candidates VALUES (?, ?, ?, ?, ?)", [&](SqlStatement& statement) {
    return statement.run(candidate.position, candidate.id, candidate.operators, candidate.source, candidate.target);
  });
}

Status Store::add(const RemovalRecord& removal) {
  return insert("INSERT INTO removals VALUES (?, ?, ?, ?, ?)", [&](SqlStatement& statement) {
    const auto by = removal.by.empty() ? std::optional<std::string>() : std::optional(removal.by);
    return statement.run(removal.candidate, removal.pruner, by, removal.reason, removal.reinstated);
  });
}

Status Store::add(const GoalRecord& goal) {
  return insert("INSERT INTO goals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [&](SqlStatement& statement) {
    return statement.run(goal.position, goal.id, goal.text, goal.name, goal.example, goal.status, goal.rule, goal.trust,
                         goal.certificate);
  });
}

Status Store::add(const ProposalRecord& proposal) {
  return insert("INSERT INTO proposals VALUES (?, ?, ?, ?, ?)", [&](SqlStatement& statement) {
    return statement.run(proposal.candidate, proposal.reversed, proposal.numbers, proposal.goal, proposal.reason);
  });
}

Status Store::add(const VerdictRecord& record) {
  const Verdict& verdict = record.verdict;
  REWRIGHT_CHECK(
      insert("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [&](SqlStatement& statement) {
        return statement.run(record.goal, record.place, record.verifier, record.version, record.budget.work,
                             record.budget.memory_bytes, word(verdict.kind), verdict.reason, verdict.counterexample,
                             verdict.certificate, join_conditions(verdict.conditions),
                             fmt::format("{}", fmt::join(verdict.axioms, "\n")));
      }));
  if (verdict.seconds <= 0) return {};
  return insert("INSERT INTO verdict_times VALUES (?, ?, ?)",
                [&](SqlStatement& statement) { return statement.run(record.goal, record.place, verdict.seconds); });
}

Status Store::add(const UseRecord& use) {
  return insert("INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, datetime('now'))",
                [&](SqlStatement& statement) {
                  return statement.run(use.rule, use.model_hash, use.search, use.cost, use.model, use.times,
                                       use.gain_us, use.model_before_us, use.model_after_us);
                });
}

Status Store::add(const RuleRecord& record) {
  return insert("INSERT INTO rules VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [&](SqlStatement& statement) {
    return statement.run(record.position, record.rule.id, record.rule.name, record.goal, record.text,
                         word(record.rule.trust), example_text(record.rule), record.rule.certificate);
  });
}

Status Store::settle(const GoalRecord& goal) {
  return insert("UPDATE goals SET status = ?, rule = ?, trust = ?, certificate = ? WHERE position = ?",
                [&](SqlStatement& statement) {
                  return statement.run(goal.status, goal.rule, goal.trust, goal.certificate, goal.position);
                });
}

Status Store::reinstate(std::int64_t candidate) {
  return insert("UPDATE removals SET reinstated = 1 WHERE candidate = ?",
                [&](SqlStatement& statement) { return statement.run(candidate); });
}

Status Store::discard_candidates() { return database_->run("DELETE FROM candidates; DELETE FROM levels;"); }

// --- reading ---------------------------------------------------------------------------------------------------

Result<std::vector<LevelRecord>> Store::levels() {
  return all<LevelRecord>(database_->prepare("SELECT * FROM levels ORDER BY operators"), [](const SqlStatement& row) {
    return LevelRecord{static_cast<int>(row.integer(0)), static_cast<std::uint64_t>(row.integer(1)),
                       static_cast<std::uint64_t>(row.integer(2)), static_cast<std::uint64_t>(row.integer(3))};
  });
}

Status Store::candidates(const std::function<Status(const CandidateRecord&)>& visit, bool survivors_only) {
  REWRIGHT_TRY(SqlStatement rows, database_->prepare(fmt::format(
                                      "SELECT * FROM candidates {} ORDER BY position",
                                      survivors_only ? "WHERE position NOT IN (SELECT candidate FROM removals)" : "")));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    REWRIGHT_CHECK(visit(read_candidate(rows)));
    REWRIGHT_TRY(more, rows.step());
  }
  return {};
}

Result<CandidateRecord> Store::candidate(std::int64_t position) {
  REWRIGHT_TRY(SqlStatement row, database_->prepare("SELECT * FROM candidates WHERE position = ?"));
  REWRIGHT_TRY(const bool there, row.query(position));
  if (!there) return make_error(ErrorCode::kNotFound, "'{}' has no candidate {}", database_->file(), position);
  return read_candidate(row);
}

Result<std::vector<GoalRecord>> Store::goals() {
  return all<GoalRecord>(database_->prepare("SELECT * FROM goals ORDER BY position"), [](const SqlStatement& row) {
    return GoalRecord{row.integer(0), row.text(1), row.text(2), row.text(3), row.text(4),
                      row.text(5),    row.text(6), row.text(7), row.text(8)};
  });
}

Result<std::vector<ProposalRecord>> Store::proposals() {
  return all<ProposalRecord>(
      database_->prepare("SELECT * FROM proposals ORDER BY 1, 2, 3"), [](const SqlStatement& row) {
        const auto goal = row.is_null(3) ? std::optional<std::int64_t>() : std::optional(row.integer(3));
        return ProposalRecord{row.integer(0), row.integer(1) != 0, row.integer(2) != 0, goal, row.text(4)};
      });
}

Result<std::vector<VerdictRecord>> Store::verdicts(std::int64_t goal) {
  REWRIGHT_TRY(SqlStatement row, database_->prepare("SELECT verdicts.*, total(seconds) FROM verdicts LEFT JOIN "
                                                    "verdict_times USING (goal, place) WHERE goal = ? "
                                                    "GROUP BY place ORDER BY place"));
  std::vector<VerdictRecord> records;
  REWRIGHT_TRY(bool more, row.query(goal));
  while (more) {
    VerdictRecord record;
    record.goal = row.integer(0);
    record.place = static_cast<int>(row.integer(1));
    record.verifier = row.text(2);
    record.version = row.text(3);
    record.budget = {static_cast<std::uint64_t>(row.integer(4)), static_cast<std::uint64_t>(row.integer(5))};
    record.verdict.kind = kind_of(row.text(6));
    record.verdict.reason = row.text(7);
    record.verdict.counterexample = row.text(8);
    record.verdict.certificate = row.text(9);
    record.verdict.axioms = split_words(row.text(11));
    record.verdict.seconds = row.real(12);
    records.push_back(std::move(record));
    REWRIGHT_TRY(more, row.step());
  }
  return records;
}

Result<std::vector<RuleText>> Store::rule_texts() {
  return all<RuleText>(
      database_->prepare("SELECT text, id, name, trust, example, certificate, goal FROM rules ORDER BY position"),
      [](const SqlStatement& row) {
        RuleText rule = split_rule_text(row.text(0));
        rule.id = row.text(1);
        rule.name = row.text(2);
        rule.example = row.text(4);
        rule.certificate = row.text(5);
        rule.trust = row.text(3);
        if (rule.trust == name_of(Trust::kCertificate) && trust_by(rule.certificate) == Trust::kTheorem)
          rule.trust = name_of(Trust::kTheorem);
        rule.goal = row.integer(6);
        return rule;
      });
}

Result<std::vector<UseRecord>> Store::uses() {
  return all<UseRecord>(database_->prepare("SELECT rule, model, model_hash, search, cost, times, gain_us, "
                                           "model_before_us, model_after_us FROM uses "
                                           "ORDER BY gain_us DESC, rule, model_hash, search, cost"),
                        [](const SqlStatement& row) {
                          return UseRecord{row.text(0),    row.text(1), row.text(2), row.text(3), row.text(4),
                                           row.integer(5), row.real(6), row.real(7), row.real(8)};
                        });
}

Result<Rule> unjudged_rule(const RuleText& row, const Registry& registry) {
  REWRIGHT_TRY(Rule rule, parse_rule(row.text, registry));
  rule.name = row.name;
  for (const Trust trust : {Trust::kSolver, Trust::kCertificate, Trust::kTheorem}) {
    if (row.trust == name_of(trust)) rule.trust = trust;
  }
  rule.certificate = row.certificate;
  REWRIGHT_CHECK(read_example(row.example, rule));
  return rule;
}

Result<std::vector<Rule>> Store::unjudged_rules(const Registry& registry) {
  REWRIGHT_TRY(const std::vector<RuleText> texts, rule_texts());
  std::vector<Rule> rules;
  for (const RuleText& text : texts) {
    Result<Rule> rule = unjudged_rule(text, registry);
    if (!rule) return unreadable(text, rule.error(), registry);
    rule->id = text.id;
    rules.push_back(*std::move(rule));
  }
  return rules;
}

Result<std::vector<Ingredient>> Store::plugins() {
  return all<Ingredient>(
      database_->prepare(
          "SELECT name, version FROM ingredients WHERE kind = 'plugin' UNION "
          "SELECT json_extract(value, '$.name'), json_extract(value, '$.version') FROM campaigns, "
          "json_each(campaigns.ingredients) WHERE json_extract(value, '$.kind') = 'plugin' ORDER BY 1, 2"),
      [](const SqlStatement& row) {
        return Ingredient{"plugin", row.text(0), row.text(1), ""};
      });
}

Error Store::unreadable(const RuleText& row, const Error& error, const Registry& registry) {
  std::vector<std::string> missing;
  const Result<std::vector<Ingredient>> made_with = plugins();
  if (error.code == ErrorCode::kNotFound && made_with) {
    for (const Ingredient& plugin : *made_with)
      if (std::ranges::find(registry.plugins(), plugin.name, &LoadedPlugin::name) == registry.plugins().end())
        missing.push_back(plugin.name + " " + plugin.version);
  }
  if (missing.empty())
    return make_error(error.code, "'{}', rule {} ({}): {}; run the campaign again, or remove the row",
                      database_->file(), row.id, row.name, error.message);
  return make_error(error.code,
                    "'{}', rule {} ({}): it needs a plugin that is not loaded; the store was made with {}: give the "
                    "file with --plugin FILE.so, or its folder in REWRIGHT_PLUGIN_PATH",
                    database_->file(), row.id, row.name, fmt::join(missing, " and "));
}

// --- text forms ------------------------------------------------------------------------------------------------

RuleText split_rule_text(std::string text) {
  RuleText parts;
  const std::size_t inputs_end = std::min(text.find(')'), text.size());
  const std::size_t arrow = std::min(text.find(" => "), text.size());
  const std::size_t where = std::min(text.rfind(" where "), text.size());
  const auto from = [&](std::size_t begin, std::size_t end) {
    return begin < end ? text.substr(begin, end - begin) : std::string();
  };
  parts.inputs = from(1, inputs_end);
  parts.source = from(inputs_end + 2, arrow);
  parts.target = from(arrow + 4, where);
  parts.precondition = from(where + 7, text.size());
  parts.text = std::move(text);
  return parts;
}

std::string example_text(const Rule& rule) {
  Json shapes = Json::array();
  for (const Shape& shape : rule.example) shapes.push_back(shape.dims());
  Json sizes = Json::object();
  for (const auto& [name, value] : rule.example_sizes) sizes[name.text()] = value;
  return Json{{"shapes", std::move(shapes)}, {"sizes", std::move(sizes)}}.dump();
}

Status read_example(const std::string& text, Rule& rule) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("shapes") || !json.contains("sizes")) {
    return make_error(ErrorCode::kParse, "rule {}: '{}' is no example of input shapes", rule.id, text);
  }
  try {
    rule.example.clear();
    for (const Json& shape : json["shapes"]) rule.example.emplace_back(shape.get<std::vector<std::int64_t>>());
    rule.example_sizes.clear();
    for (const auto& [name, value] : json["sizes"].items()) rule.example_sizes.emplace_back(SizeVar::read(name), value);
  } catch (const Json::exception&) {
    return make_error(ErrorCode::kParse, "rule {}: '{}' is no example of input shapes", rule.id, text);
  }
  return {};
}

}  // namespace rewright
