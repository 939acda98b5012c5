/// What schedules took that were measured here: records of a store (`rewright schedule measure --records STORE`).
///
///   t = the least time of the kernel's records: of this processor, right, of the given target and policy
///   spread = that of the batches of this record: their quartiles' distance / 1.349, as far as they are normal
///
/// A kernel without a record is tuned, with so many trials, until so many seconds were spent on all; its records are
/// added. Without trials, or afterwards, it is an error, or costs what another cost model says.
///
/// Options  records (required, a store), target (c), policy (hot), trials (0), seconds (600), fallback (the name of a
///          cost model; none: an error)
/// Errors   kNotFound: the key that has no record, and how to measure it; kMismatch: records of a newer version, or of
///          other processors alone
#include <rewright/optimize/cost.h>
#include <rewright/optimize/cost_key.h>
#include <rewright/plugin/plugin.h>
#include <rewright/plugin/registry.h>
#include <rewright/tune/kernel_tuner.h>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace {
using namespace rewright;

constexpr std::int64_t kKnownVersion = 1;

struct CloseRecords {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinishRow {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Records = std::unique_ptr<sqlite3, CloseRecords>;
using Row = std::unique_ptr<sqlite3_stmt, FinishRow>;

class TunedCost final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "tuned"; }
  [[nodiscard]] std::string summary() const override {
    return "Measured schedules: the least time in a store's records of this processor, tuned on demand";
  }
  [[nodiscard]] std::string device() const override {
    return fmt::format("{}, {} caches, {}", target_, policy_, processor_name());
  }
  /// By the records already: nothing to cache.
  [[nodiscard]] bool measured() const override { return false; }

  Status configure(const Options& options, const Registry& registry) override {
    std::string fallback;
    tune::KernelBudget budget{0, 600};
    for (const auto& [name, value] : options) {
      if (name == "trials" || name == "seconds") {
        REWRIGHT_CHECK(set_budget(budget, name, value));
        continue;
      }
      std::string* const place = name == "records"    ? &folder_
                                 : name == "target"   ? &target_
                                 : name == "policy"   ? &policy_
                                 : name == "fallback" ? &fallback
                                                      : nullptr;
      if (place == nullptr) {
        return make_error(
            ErrorCode::kUsage,
            "cost model tuned has no option '{}'; there are: records, target, policy, trials, seconds, fallback", name);
      }
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr) return make_error(ErrorCode::kUsage, "cost model tuned: {} is a text", name);
      *place = *text;
    }
    if (folder_.empty()) {
      return make_error(ErrorCode::kUsage,
                        "cost model tuned needs --cost-option records=STORE, which rewright schedule measure wrote");
    }
    if (fallback == name()) return make_error(ErrorCode::kUsage, "cost model tuned cannot be its own fallback");
    if (!fallback.empty()) {
      REWRIGHT_TRY(const CostModel* model, registry.get<CostModel>(fallback));
      fallback_ = model->clone();
      REWRIGHT_CHECK(fallback_->configure({}, registry));
    }
    if (budget.trials > 0) {
      if (target_ != "c")
        return make_error(ErrorCode::kUsage, "cost model tuned tunes for target c alone; with {}, leave trials out",
                          target_);
      REWRIGHT_TRY(tuner_, tune::KernelTuner::start(folder_, policy_, budget, registry));
    }
    return open();
  }

  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    const Kernel kernel{{&application, 1}};
    REWRIGHT_TRY(const Estimate known, look_up(kernel));
    return known.us;
  }
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override {
    return fallback_ ? fallback_->fused() : std::vector<std::vector<std::string>>();
  }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    REWRIGHT_TRY(const Estimate known, look_up(kernel));
    return known.us;
  }
  [[nodiscard]] Result<std::vector<Estimate>> estimates(std::span<const Kernel> kernels) override {
    std::vector<Estimate> all;
    for (const Kernel& kernel : kernels) {
      REWRIGHT_TRY(all.emplace_back(), look_up(kernel));
    }
    return all;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<TunedCost>(); }

 private:
  static Status set_budget(tune::KernelBudget& budget, const std::string& name, const Options::mapped_type& value) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const double number = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : -1;
    if (!(number >= 0 && number <= 1e6))
      return make_error(ErrorCode::kUsage, "cost model tuned: {} is a number from 0 to 1000000", name);
    if (name == "trials")
      budget.trials = static_cast<std::int64_t>(number);
    else
      budget.seconds = number;
    return {};
  }
  [[nodiscard]] Error unreadable() const {
    return make_error(ErrorCode::kIo, "cost model tuned: the store '{}' cannot be read ({})", folder_,
                      sqlite3_errmsg(database_.get()));
  }
  [[nodiscard]] Result<Row> prepare(const char* sql) const {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql, -1, &raw, nullptr) != SQLITE_OK) {
      return make_error(ErrorCode::kNotFound,
                        "cost model tuned: the store '{}' has no records of schedules ({}); rewright schedule measure "
                        "--records writes some",
                        folder_, sqlite3_errmsg(database_.get()));
    }
    return Row(raw);
  }
  Status open() {
    sqlite3* raw = nullptr;
    const std::string file = folder_ + "/store.sqlite";
    const int status = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(raw);
    if (status != SQLITE_OK) {
      return make_error(ErrorCode::kNotFound, "cost model tuned: '{}' is no store: {} cannot be opened ({})", folder_,
                        file, sqlite3_errmsg(raw));
    }
    REWRIGHT_TRY(const Row version, prepare("SELECT version FROM component WHERE name = 'schedule_records'"));
    if (sqlite3_step(version.get()) == SQLITE_ROW && sqlite3_column_int64(version.get(), 0) > kKnownVersion) {
      return make_error(ErrorCode::kMismatch,
                        "cost model tuned: the records of '{}' are of version {}; this program reads version {}: "
                        "install a newer one",
                        folder_, sqlite3_column_int64(version.get(), 0), kKnownVersion);
    }
    if (!tuner_) REWRIGHT_CHECK(check_processor());
    REWRIGHT_TRY(find_, prepare("SELECT min(least_us), line FROM schedule_records WHERE structure = ?1 AND sizes = ?2 "
                                "AND outcome = 'ok' AND processor = ?3 AND target = ?4 AND policy = ?5"));
    return {};
  }
  Status check_processor() const {
    REWRIGHT_TRY(const Row row, prepare("SELECT DISTINCT processor FROM schedule_records"));
    std::vector<std::string> others;
    for (int status = sqlite3_step(row.get()); status != SQLITE_DONE; status = sqlite3_step(row.get())) {
      if (status != SQLITE_ROW) return unreadable();
      others.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(row.get(), 0)));
      if (others.back() == processor_name()) return {};
    }
    if (others.empty()) return {};
    return make_error(ErrorCode::kMismatch,
                      "cost model tuned: the records of '{}' are of {}, and this is {}; measure here with rewright "
                      "schedule measure",
                      folder_, fmt::join(others, ", "), processor_name());
  }
  void bind(int place, const std::string& text) {
    sqlite3_bind_text(find_.get(), place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  /// Of a record's batches.
  static double spread_of(const char* line) {
    const auto record = nlohmann::json::parse(line, nullptr, false);
    std::vector<double> batches =
        record.is_object() ? record.value("batches_us", std::vector<double>()) : std::vector<double>();
    if (batches.size() < 4) return 0;
    std::ranges::sort(batches);
    return (batches[batches.size() * 3 / 4] - batches[batches.size() / 4]) / 1.349;
  }
  /// Nothing where there is no record.
  Result<std::optional<Estimate>> find(const Kernel& kernel) {
    const KernelKey key = key_of(kernel);
    sqlite3_reset(find_.get());
    bind(1, key.structure);
    bind(2, fmt::format("{}", fmt::join(key.sizes, ",")));
    bind(3, processor_name());
    bind(4, target_);
    bind(5, policy_);
    if (sqlite3_step(find_.get()) != SQLITE_ROW) return unreadable();
    if (sqlite3_column_type(find_.get(), 0) == SQLITE_FLOAT) {
      const auto* line = reinterpret_cast<const char*>(sqlite3_column_text(find_.get(), 1));
      return std::optional(Estimate{sqlite3_column_double(find_.get(), 0), spread_of(line)});
    }
    sqlite3_reset(find_.get());  // What is added from now on is to be seen.
    return std::optional<Estimate>();
  }
  Result<Estimate> look_up(const Kernel& kernel) {
    if (find_ == nullptr) return make_error(ErrorCode::kUsage, "cost model tuned was not configured");
    REWRIGHT_TRY(std::optional<Estimate> known, find(kernel));
    if (!known && tuner_) {
      const auto tuned = tuner_->tune(kernel);
      if (!tuned && !fallback_) return tuned.error();
      REWRIGHT_TRY(known, find(kernel));
    }
    if (known) return *known;
    if (fallback_) {
      REWRIGHT_TRY(const std::vector<Estimate> all, fallback_->estimates({&kernel, 1}));
      return all[0];
    }
    return make_error(ErrorCode::kNotFound,
                      "cost model tuned: '{}' has no record of {}; rewright schedules best names the nearest, rewright "
                      "schedule measure adds one, --cost-option trials=8 tunes it, fallback=MODEL asks another model",
                      folder_, to_key(kernel));
  }

  std::string folder_, target_ = "c", policy_ = "hot";
  std::unique_ptr<CostModel> fallback_;
  std::unique_ptr<tune::KernelTuner> tuner_;
  Records database_;
  Row find_;  // Gone before the database.
};

}  // namespace

REWRIGHT_PLUGIN("cost.tuned", "1.0.0", "Measured schedules from a store") {
  registry.add<CostModel>(std::make_unique<TunedCost>());
}
