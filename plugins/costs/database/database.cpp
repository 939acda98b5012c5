/// Measurements that were made elsewhere: looked up in a file that `rewright optimize --cost-cache FILE` wrote, on this
/// machine or another one, with any measuring cost model.
///
///   t = the row of operator_costs whose key is MODEL|DEVICE and what optimize/cost_key.h says of the kernel
///
/// Where the file has kernels whose tensors lie in orders that were told (@ and digits behind the shapes), so may those
/// that it is asked about: layouts can be chosen by it.
///
/// Nothing is measured here. What the file does not hold costs infinitely much, so that no search ends there.
///
/// Options  file (required), device (a part of the name of one of the file's MODEL|DEVICE; needed if it holds several)
/// Errors   kNotFound, kUsage: the file, its devices, and which option to give.
#include <rewright/optimize/cost.h>
#include <rewright/optimize/cost_key.h>
#include <rewright/plugin/plugin.h>

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <tuple>

namespace {
using namespace rewright;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

Result<Database> open_file(const std::string& file) {
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  Database database(raw);
  if (status != SQLITE_OK)
    return make_error(ErrorCode::kNotFound, "cost model database: '{}' cannot be opened ({})", file,
                      sqlite3_errmsg(raw));
  return database;
}

Result<Statement> prepare(sqlite3* database, const std::string& file, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &raw, nullptr) != SQLITE_OK)
    return make_error(ErrorCode::kUsage,
                      "cost model database: '{}' holds no measurements ({}); --cost-cache writes "
                      "such files",
                      file, sqlite3_errmsg(database));
  return Statement(raw);
}

/// "MODEL|DEVICE" of a key.
std::string_view source_of(std::string_view key) {
  const std::size_t model = key.find('|');
  return key.substr(0, model == std::string_view::npos ? model : key.find('|', model + 1));
}

class DatabaseCost final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "database"; }
  [[nodiscard]] std::string summary() const override {
    return "Measured elsewhere: looked up in a file that --cost-cache wrote";
  }
  [[nodiscard]] std::string device() const override { return source_.empty() ? "not configured" : source_; }
  /// Of this file, not of this machine: nothing to cache.
  [[nodiscard]] bool measured() const override { return false; }

  Status configure(const Options& options, const Registry& registry) override {
    std::string part;
    for (const auto& [name, value] : options) {
      const auto* text = std::get_if<std::string>(&value);
      if (name != "file" && name != "device")
        return make_error(ErrorCode::kUsage, "cost model database has no option '{}'; there are: file, device", name);
      if (text == nullptr) return make_error(ErrorCode::kUsage, "cost model database: {} is a text", name);
      (name == "file" ? file_ : part) = *text;
    }
    if (file_.empty())
      return make_error(ErrorCode::kUsage,
                        "cost model database needs --cost-option file=FILE, which --cost-cache wrote");
    REWRIGHT_TRY(database_, open_file(file_));
    REWRIGHT_CHECK(choose_source(part, registry));
    REWRIGHT_TRY(find_, prepare(database_.get(), file_, "SELECT cost_us FROM operator_costs WHERE key = ?1"));
    return {};
  }

  [[nodiscard]] Result<double> cost_us(const Application& application) override { return look_up(to_key(application)); }
  [[nodiscard]] bool knows_layouts() const override { return held_.layouts; }
  /// The sequences that the file has.
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override {
    return {held_.fused.begin(), held_.fused.end()};
  }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override { return look_up(to_key(kernel)); }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<DatabaseCost>(); }

 private:
  Result<double> look_up(const std::string& of) {
    if (find_ == nullptr) return make_error(ErrorCode::kUsage, "cost model database was not configured");
    const std::string key = source_ + of;
    sqlite3_reset(find_.get());
    sqlite3_bind_text(find_.get(), 1, key.data(), static_cast<int>(key.size()), SQLITE_TRANSIENT);
    const int status = sqlite3_step(find_.get());
    if (status == SQLITE_ROW) return sqlite3_column_double(find_.get(), 0);
    if (status == SQLITE_DONE) return std::numeric_limits<double>::infinity();
    return unreadable();
  }
  [[nodiscard]] Error unreadable() const {
    return make_error(ErrorCode::kIo, "cost model database: '{}' cannot be read ({})", file_,
                      sqlite3_errmsg(database_.get()));
  }
  Status choose_source(const std::string& part, const Registry& registry) {
    REWRIGHT_TRY(const Statement keys, prepare(database_.get(), file_, "SELECT key FROM operator_costs"));
    std::map<std::string, Held> sources;
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(keys.get())) == SQLITE_ROW) {
      const auto* raw = reinterpret_cast<const char*>(sqlite3_column_text(keys.get(), 0));
      const std::string_view text = raw == nullptr ? "" : raw;
      const std::string_view kernel = text.substr(source_of(text).size());
      Held& held = sources[std::string(source_of(text))];
      if (const auto owned = from_key(kernel, registry)) {
        if (const auto names = chain_of(owned->kernel()); names.size() > 1) held.fused.insert(names);
      }
      held.layouts = held.layouts || kernel.find('@') != std::string_view::npos;
    }
    if (status != SQLITE_DONE) return unreadable();
    const auto fits = [&](const auto& source) { return source.first.find(part) != std::string::npos; };
    if (std::ranges::count_if(sources, fits) == 1) {
      std::tie(source_, held_) = *std::ranges::find_if(sources, fits);
      return {};
    }
    return make_error(ErrorCode::kUsage,
                      "cost model database: '{}' has measurements of {} ({}); name one by --cost-option device=PART",
                      file_, sources.empty() ? "nothing" : fmt::format("{} devices", sources.size()),
                      fmt::join(std::views::keys(sources), "; "));
  }

  /// Of one device.
  struct Held {
    std::set<std::vector<std::string>> fused;
    bool layouts = false;
  };
  std::string file_, source_;
  Held held_;
  Database database_;
  Statement find_;  // Gone before the database.
};

}  // namespace

REWRIGHT_PLUGIN("cost.database", "1.2.0", "Measurements from a file") {
  registry.add<CostModel>(std::make_unique<DatabaseCost>());
}
