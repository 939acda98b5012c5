#include "optimize/cost_cache.h"

#include <sqlite3.h>

#include <optional>
#include <utility>

namespace rewright {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

constexpr int kBusyTimeoutMs = 10'000;

class SqliteCostCache final : public CostCache {
 public:
  static Result<std::unique_ptr<CostCache>> open(const std::string& path) {
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    std::unique_ptr<SqliteCostCache> cache(new SqliteCostCache(path, raw));
    if (opened != SQLITE_OK) return cache->error("opened");
    sqlite3_busy_timeout(raw, kBusyTimeoutMs);
    constexpr const char* kSchema =
        "CREATE TABLE IF NOT EXISTS operator_costs (key TEXT PRIMARY KEY, cost_us REAL NOT NULL) WITHOUT ROWID";
    if (sqlite3_exec(raw, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) return cache->error("prepared");
    cache->find_ = cache->prepare("SELECT cost_us FROM operator_costs WHERE key = ?1");
    cache->insert_ = cache->prepare("INSERT OR REPLACE INTO operator_costs (key, cost_us) VALUES (?1, ?2)");
    if (!cache->find_ || !cache->insert_) return cache->error("read");
    return std::unique_ptr<CostCache>(std::move(cache));
  }

  std::optional<double> find(const std::string& key) override {
    bind(find_, key);
    std::optional<double> cost;
    if (sqlite3_step(find_.get()) == SQLITE_ROW) cost = sqlite3_column_double(find_.get(), 0);
    sqlite3_reset(find_.get());
    return cost;
  }

  Status insert(const std::string& key, double cost_us) override {
    bind(insert_, key);
    sqlite3_bind_double(insert_.get(), 2, cost_us);
    const int done = sqlite3_step(insert_.get());
    sqlite3_reset(insert_.get());
    if (done != SQLITE_DONE) return error("written");
    return {};
  }

 private:
  SqliteCostCache(std::string path, sqlite3* database) : path_(std::move(path)), database_(database) {}

  [[nodiscard]] Error error(const char* what) const {
    return make_error(ErrorCode::kIo, "the cost table in '{}' cannot be {}: {}", path_, what,
                      sqlite3_errmsg(database_.get()));
  }
  [[nodiscard]] Statement prepare(const char* text) const {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_.get(), text, -1, &statement, nullptr);
    return Statement(statement);
  }
  static void bind(const Statement& statement, const std::string& key) {
    sqlite3_bind_text(statement.get(), 1, key.data(), static_cast<int>(key.size()), SQLITE_TRANSIENT);
  }

  std::string path_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  Statement find_, insert_;  // Gone before the database.
};

}  // namespace

Result<std::unique_ptr<CostCache>> open_cost_cache(const std::string& path) { return SqliteCostCache::open(path); }

}  // namespace rewright
