#include "optimize/cost_cache.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "store/sqlite_database.h"

namespace rewright {
namespace {

constexpr std::array<std::string_view, 1> kMigrations = {
    "CREATE TABLE operator_costs (key TEXT PRIMARY KEY, cost_us REAL NOT NULL) WITHOUT ROWID"};

class DatabaseCostCache final : public CostCache {
 public:
  DatabaseCostCache(std::unique_ptr<Database> database, SqlStatement find, SqlStatement insert)
      : database_(std::move(database)), find_(std::move(find)), insert_(std::move(insert)) {}

  std::optional<double> find(const std::string& key) override {
    const Result<bool> row = find_.query(key);
    if (!row || !*row) return std::nullopt;  // What cannot be read is measured again.
    const double cost_us = find_.real(0);
    if (const Result<bool> more = find_.step(); !more) return std::nullopt;  // To the end: the read is over.
    return cost_us;
  }
  Status insert(const std::string& key, double cost_us) override { return insert_.run(key, cost_us); }

 private:
  std::unique_ptr<Database> database_;
  SqlStatement find_, insert_;  // Gone before the database.
};

}  // namespace

Result<std::unique_ptr<CostCache>> open_cost_cache(const std::string& path) {
  REWRIGHT_TRY(auto database, Database::open(path, Database::Mode::kCreate));
  REWRIGHT_CHECK(database->migrate(kMigrations, "operator_costs"));
  REWRIGHT_TRY(SqlStatement find, database->prepare("SELECT cost_us FROM operator_costs WHERE key = ?1"));
  REWRIGHT_TRY(SqlStatement insert,
               database->prepare("INSERT OR REPLACE INTO operator_costs (key, cost_us) VALUES (?1, ?2)"));
  return std::unique_ptr<CostCache>(
      std::make_unique<DatabaseCostCache>(std::move(database), std::move(find), std::move(insert)));
}

}  // namespace rewright
