#include "store/schedule_records.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>

#include "base/files.h"

namespace rewright {
namespace {

using RecordJson = nlohmann::ordered_json;

constexpr int kLineVersion = 1;
constexpr std::string_view kRecordComponent = "schedule_records";
// Every version of the table, as steps; a released one is never changed.
constexpr std::array<std::string_view, 1> kRecordSchema = {R"sql(
CREATE TABLE schedule_records (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  structure TEXT NOT NULL,
  sizes TEXT NOT NULL,
  outcome TEXT NOT NULL,
  least_us REAL NOT NULL,  -- Infinite where it did not run.
  machine TEXT NOT NULL,
  processor TEXT NOT NULL,
  target TEXT NOT NULL,
  policy TEXT NOT NULL,
  line TEXT NOT NULL
) STRICT;
CREATE INDEX schedule_records_by_kernel ON schedule_records (structure, sizes);
CREATE TRIGGER schedule_records_stay BEFORE UPDATE ON schedule_records BEGIN
  SELECT raise(ABORT, 'records are added, never changed');
END;
CREATE TRIGGER schedule_records_last BEFORE DELETE ON schedule_records BEGIN
  SELECT raise(ABORT, 'records are added, never taken away');
END;
)sql"};

constexpr std::string_view kProgramComponent = "kernel_programs";
constexpr std::array<std::string_view, 1> kProgramSchema = {R"sql(
CREATE TABLE kernel_programs (
  structure TEXT NOT NULL,
  sizes TEXT NOT NULL,
  program TEXT NOT NULL,
  PRIMARY KEY (structure, sizes)
) STRICT;
)sql"};

constexpr std::array kOutcomes = {"ok", "wrong", "crashed", "timeout", "refused", "over-budget"};
constexpr std::array kOrigins = {"search", "transfer", "hand", "optimiser"};

template <class Words>
Status check_word(const char* what, const std::string& word, const Words& words) {
  if (std::ranges::find(words, word) != words.end()) return {};
  return make_error(ErrorCode::kParse, "{} is '{}'; expected {}", what, word, fmt::join(words, ", "));
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) { return fmt::format("{}", fmt::join(sizes, ",")); }
std::vector<std::int64_t> sizes_of(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    sizes.push_back(std::strtoll(text.c_str() + at, nullptr, 10));
    at = end + 1;
  }
  return sizes;
}

Result<ScheduleRecord> read_fields(const RecordJson& json) {
  ScheduleRecord record;
  try {
    json.at("structure").get_to(record.structure);
    json.at("sizes").get_to(record.sizes);
    json.at("schedule").get_to(record.schedule);
    json.at("target").get_to(record.target);
    json.at("dialect").get_to(record.dialect);
    json.at("target_version").get_to(record.target_version);
    json.at("machine").get_to(record.machine);
    json.at("processor").get_to(record.processor);
    json.at("policy").get_to(record.policy);
    json.at("threads").get_to(record.threads);
    json.at("batches_us").get_to(record.batches_us);
    json.at("outcome").get_to(record.outcome);
    json.at("text").get_to(record.text);
    json.at("seed").get_to(record.seed);
    json.at("origin").get_to(record.origin);
    json.at("recorded").get_to(record.recorded);
  } catch (const nlohmann::json::exception& fault) {
    return make_error(ErrorCode::kParse, "no record of a schedule: {}", fault.what());
  }
  REWRIGHT_CHECK(check_word("outcome", record.outcome, kOutcomes));
  REWRIGHT_CHECK(check_word("origin", record.origin, kOrigins));
  REWRIGHT_CHECK(check_word("policy", record.policy, std::array{"hot", "cold"}));
  const auto is_time = [](double us) { return std::isfinite(us) && us > 0; };
  if (!std::ranges::all_of(record.batches_us, is_time) || (record.outcome == "ok" && record.batches_us.empty())) {
    return make_error(ErrorCode::kParse, "batches_us holds no times");
  }
  return record;
}

Result<std::unique_ptr<Store>> opened_to_read(const std::string& folder) {
  auto opened = Store::open(folder, Store::Mode::kRead);
  if (!opened && opened.error().code == ErrorCode::kNotFound) {
    return make_error(
        ErrorCode::kNotFound,
        "'{0}' is no store of schedules; rewright schedule measure KERNEL --records {0} and rewright tune "
        "kernel KERNEL --records {0} make one",
        folder);
  }
  return opened;
}

Result<bool> has_table(Store& store, std::string_view name) {
  REWRIGHT_TRY(SqlStatement table, store.database().prepare("SELECT 1 FROM sqlite_master WHERE name = ?"));
  return table.query(std::string(name));
}

}  // namespace

double ScheduleRecord::least_us() const {
  return batches_us.empty() ? std::numeric_limits<double>::infinity() : *std::ranges::min_element(batches_us);
}

double ScheduleRecord::quantile_us(double fraction) const {
  if (batches_us.empty()) return std::numeric_limits<double>::infinity();
  std::vector<double> sorted = batches_us;
  std::ranges::sort(sorted);
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::string to_line(const ScheduleRecord& record) {
  const RecordJson json = {{"version", kLineVersion},
                           {"structure", record.structure},
                           {"sizes", record.sizes},
                           {"schedule", record.schedule},
                           {"target", record.target},
                           {"dialect", record.dialect},
                           {"target_version", record.target_version},
                           {"machine", record.machine},
                           {"processor", record.processor},
                           {"policy", record.policy},
                           {"threads", record.threads},
                           {"batches_us", record.batches_us},
                           {"outcome", record.outcome},
                           {"text", record.text},
                           {"seed", record.seed},
                           {"origin", record.origin},
                           {"recorded", record.recorded}};
  return json.dump(-1, ' ', false, RecordJson::error_handler_t::replace);
}

Result<ScheduleRecord> record_of_line(std::string_view line) {
  const RecordJson json = RecordJson::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("version") || !json["version"].is_number_integer()) {
    return make_error(ErrorCode::kParse, "no record of a schedule: expected one JSON object with a version");
  }
  if (const auto version = json["version"].get<std::int64_t>(); version != kLineVersion) {
    return make_error(ErrorCode::kMismatch,
                      "a record of version {}; this program reads version {}: install a newer one", version,
                      kLineVersion);
  }
  return read_fields(json);
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text.data(), ms % 1000);
}

Result<ScheduleRecords> ScheduleRecords::open(const std::string& folder) {
  if (!std::filesystem::exists(folder + "/store.sqlite")) {
    REWRIGHT_CHECK(Store::open(folder, Store::Mode::kRun));  // Makes it, and gives its lock back.
  }
  REWRIGHT_TRY(std::unique_ptr<Store> store, Store::open(folder, Store::Mode::kWrite));
  REWRIGHT_CHECK(store->database().migrate(kRecordSchema, kRecordComponent));
  REWRIGHT_CHECK(store->database().migrate(kProgramSchema, kProgramComponent));
  return ScheduleRecords(std::move(store));
}

Status ScheduleRecords::add_program(const std::string& structure, const std::vector<std::int64_t>& sizes,
                                    const std::string& program) {
  REWRIGHT_TRY(SqlStatement row, store_->database().prepare("INSERT OR IGNORE INTO kernel_programs (structure, sizes, "
                                                            "program) VALUES (?, ?, ?)"));
  return row.run(structure, sizes_text(sizes), program);
}

Result<bool> ScheduleRecords::add(const ScheduleRecord& record) {
  const std::string line = to_line(record);
  const std::string id = content_hash(line);
  REWRIGHT_TRY(SqlStatement there, store_->database().prepare("SELECT 1 FROM schedule_records WHERE id = ?"));
  REWRIGHT_TRY(const bool is_known, there.query(id));
  if (is_known) return false;
  REWRIGHT_TRY(SqlStatement row,
               store_->database().prepare("INSERT INTO schedule_records (id, structure, sizes, outcome, least_us, "
                                          "machine, processor, target, policy, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
                                          "?, ?)"));
  REWRIGHT_CHECK(row.run(id, record.structure, sizes_text(record.sizes), record.outcome, record.least_us(),
                         record.machine, record.processor, record.target, record.policy, line));
  return true;
}

Result<KernelPrograms> ScheduleRecords::programs(const std::string& folder) {
  REWRIGHT_TRY(const std::unique_ptr<Store> store, opened_to_read(folder));
  KernelPrograms programs;
  REWRIGHT_TRY(const bool is_there, has_table(*store, kProgramComponent));
  if (!is_there) return programs;
  REWRIGHT_CHECK(store->database().migrate(kProgramSchema, kProgramComponent));
  REWRIGHT_TRY(SqlStatement rows, store->database().prepare("SELECT structure, sizes, program FROM kernel_programs"));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    programs[{rows.text(0), sizes_of(rows.text(1))}] = rows.text(2);
    REWRIGHT_TRY(more, rows.step());
  }
  return programs;
}

Result<std::vector<ScheduleRecord>> ScheduleRecords::read(const std::string& folder) {
  REWRIGHT_TRY(const std::unique_ptr<Store> store, opened_to_read(folder));
  std::vector<ScheduleRecord> records;
  REWRIGHT_TRY(const bool is_there, has_table(*store, kRecordComponent));
  if (!is_there) return records;
  REWRIGHT_CHECK(store->database().migrate(kRecordSchema, kRecordComponent));
  REWRIGHT_TRY(SqlStatement rows,
               store->database().prepare("SELECT number, id, line FROM schedule_records ORDER BY number"));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    const std::string line = rows.text(2);
    auto record = record_of_line(line);
    if (content_hash(line) != rows.text(1)) {
      record = make_error(ErrorCode::kMismatch, "its hash is not that of what it says");
    }
    if (!record) {
      return make_error(ErrorCode::kMismatch,
                        "the store '{}' is damaged: record {}: {}; rewright schedules import "
                        "reads an exported copy",
                        folder, rows.integer(0), record.error().message);
    }
    records.push_back(*std::move(record));
    REWRIGHT_TRY(more, rows.step());
  }
  return records;
}

}  // namespace rewright
