#include "store/derivations.h"

#include <array>
#include <map>

namespace rewright {
namespace {

constexpr std::string_view kComponent = "derivations";
// Every version of the tables, as steps; a released one is never changed.
constexpr std::array<std::string_view, 1> kSchema = {R"sql(
CREATE TABLE derivations (
  goal INTEGER PRIMARY KEY REFERENCES goals (position) ON DELETE CASCADE,
  id TEXT NOT NULL,
  pruner TEXT NOT NULL,
  by TEXT NOT NULL,
  reason TEXT NOT NULL,
  steps INTEGER NOT NULL,
  forward INTEGER NOT NULL,
  certificate TEXT NOT NULL
) STRICT;
CREATE TABLE derivation_rules (
  goal INTEGER NOT NULL REFERENCES derivations (goal) ON DELETE CASCADE,
  rule TEXT NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
  PRIMARY KEY (goal, rule)
) STRICT, WITHOUT ROWID;
CREATE INDEX derivation_rules_by_rule ON derivation_rules (rule);
)sql"};

Result<bool> has_tables(Store& store) {
  REWRIGHT_TRY(SqlStatement row,
               store.database().prepare("SELECT 1 FROM sqlite_master WHERE name = 'derivation_rules'"));
  return row.query();
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    list.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

}  // namespace

Result<DerivationTable> DerivationTable::open(Store& store) {
  REWRIGHT_CHECK(store.database().migrate(kSchema, kComponent));
  return DerivationTable(store);
}

Status DerivationTable::add(const DerivationRecord& record) {
  REWRIGHT_TRY(SqlStatement row, store_->database().prepare("INSERT INTO derivations VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  REWRIGHT_CHECK(row.run(record.goal, record.id, record.pruner, fmt::format("{}", fmt::join(record.by, " ")),
                         record.reason, record.steps, record.forward, record.certificate));
  REWRIGHT_TRY(SqlStatement named, store_->database().prepare("INSERT INTO derivation_rules VALUES (?, ?)"));
  for (const std::string& rule : record.rules) REWRIGHT_CHECK(named.run(record.goal, rule));
  return {};
}

Result<std::vector<DerivationRecord>> DerivationTable::read(Store& store) {
  std::vector<DerivationRecord> records;
  REWRIGHT_TRY(const bool there, has_tables(store));
  if (!there) return records;
  std::map<std::int64_t, std::vector<std::string>> rules;
  REWRIGHT_TRY(SqlStatement named, store.database().prepare("SELECT goal, rule FROM derivation_rules ORDER BY 1, 2"));
  REWRIGHT_TRY(bool more, named.query());
  while (more) {
    rules[named.integer(0)].push_back(named.text(1));
    REWRIGHT_TRY(more, named.step());
  }
  REWRIGHT_TRY(SqlStatement rows, store.database().prepare("SELECT * FROM derivations ORDER BY goal"));
  REWRIGHT_TRY(more, rows.query());
  while (more) {
    records.push_back({rows.integer(0), rows.text(1), rows.text(2), words(rows.text(3)), rows.text(4), rows.integer(5),
                       rows.integer(6) != 0, rows.text(7), std::move(rules[rows.integer(0)])});
    REWRIGHT_TRY(more, rows.step());
  }
  return records;
}

Result<DerivationCounts> count_derivations(Store& store, const std::string& pruner) {
  DerivationCounts counts;
  REWRIGHT_TRY(const bool there, has_tables(store));
  if (!there) return counts;
  REWRIGHT_TRY(SqlStatement row,
               store.database().prepare("SELECT count(*), total(forward) FROM derivations WHERE pruner = ?"));
  REWRIGHT_CHECK(row.query(pruner));
  counts.all = static_cast<std::uint64_t>(row.integer(0));
  counts.forward = static_cast<std::uint64_t>(row.integer(1));
  return counts;
}

}  // namespace rewright
