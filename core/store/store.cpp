#include "store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/sync_folder.h"
#include "store/store_schema.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

Error folder_error(const std::string& folder, int code) {
  return make_error(ErrorCode::kIo,
                    "the store folder '{}' cannot be made or written: {}; choose another with --store "
                    "DIR",
                    folder, std::strerror(code));
}

// The descriptor that holds the lock. The lock goes with the process, however it ends.
Result<int> lock(const std::string& folder) {
  const std::string file = folder + "/lock";
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return folder_error(folder, errno);
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  const int code = errno;
  close(descriptor);
  if (code != EWOULDBLOCK) return folder_error(folder, code);
  return make_error(ErrorCode::kIo,
                    "another campaign is running on the store '{}'; wait for it (rewright campaign "
                    "status {}), or choose another folder with --store DIR",
                    folder, folder);
}

Database::Mode database_mode(Store::Mode mode) {
  switch (mode) {
    case Store::Mode::kRead: return Database::Mode::kRead;
    case Store::Mode::kWrite: return Database::Mode::kWrite;
    case Store::Mode::kRun: return Database::Mode::kCreate;
  }
  return Database::Mode::kRead;
}

}  // namespace

Store::~Store() {
  database_.reset();
  if (lock_ >= 0) close(lock_);
}

std::string Store::path(const std::string& name) const { return folder_ + "/" + name; }

Result<std::unique_ptr<Store>> Store::open(const std::string& folder, Mode mode) {
  std::unique_ptr<Store> store(new Store(folder));
  const std::string file = store->path("store.sqlite");
  if (mode == Mode::kRun) {
    std::error_code code;
    const bool fresh = fs::create_directories(folder, code);
    if (code) return folder_error(folder, code.value());
    fs::path made = fresh ? fs::absolute(folder, code).lexically_normal() : fs::path();
    for (; made != made.parent_path(); made = made.parent_path()) sync_folder_of(made);
    REWRIGHT_TRY(store->lock_, lock(folder));
  } else if (!fs::exists(file)) {
    return make_error(ErrorCode::kNotFound,
                      "'{}' is no store: there is no {}; rewright campaign run FILE --store {} "
                      "makes one",
                      folder, file, folder);
  }
  REWRIGHT_TRY(store->database_, Database::open(file, database_mode(mode)));
  REWRIGHT_CHECK(store->database_->migrate(store_schema()));
  if (mode == Mode::kRun) REWRIGHT_CHECK(store->database_->check());
  return store;
}

bool Store::busy(const std::string& folder) {
  const int descriptor = ::open((folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return held;
}

Status Store::insert(const char* sql, const std::function<Status(SqlStatement&)>& run) {
  REWRIGHT_TRY(SqlStatement statement, database_->prepare(sql));
  return run(statement);
}

Result<std::optional<CampaignRecord>> Store::campaign() {
  REWRIGHT_TRY(SqlStatement statement, database_->prepare("SELECT name, config_hash, config FROM campaign"));
  REWRIGHT_TRY(const bool there, statement.query());
  if (!there) return std::optional<CampaignRecord>();
  CampaignRecord record{statement.text(0), statement.text(1), statement.text(2), {}};
  REWRIGHT_TRY(SqlStatement rows,
               database_->prepare("SELECT kind, name, version, hash FROM ingredients ORDER BY kind, name"));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    record.ingredients.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3)});
    REWRIGHT_TRY(more, rows.step());
  }
  return std::optional(std::move(record));
}

Status Store::begin(const CampaignRecord& campaign) {
  return database_->transaction([&]() -> Status {
    REWRIGHT_CHECK(insert("INSERT INTO campaign VALUES (1, ?, ?, ?)", [&](SqlStatement& statement) {
      return statement.run(campaign.name, campaign.config_hash, campaign.config);
    }));
    REWRIGHT_TRY(SqlStatement statement, database_->prepare("INSERT INTO ingredients VALUES (?, ?, ?, ?)"));
    for (const Ingredient& part : campaign.ingredients) {
      REWRIGHT_CHECK(statement.run(part.kind, part.name, part.version, part.hash));
    }
    return {};
  });
}

Status Store::clear() {
  return database_->transaction([&] {
    return database_->run(
        "DELETE FROM timings; DELETE FROM runs; DELETE FROM uses; DELETE FROM rules; DELETE FROM goal_origins;"
        "DELETE FROM candidate_origins; DELETE FROM campaigns; DELETE FROM verdict_times; DELETE FROM verdicts;"
        "DELETE FROM proposals;"
        "DELETE FROM goals; DELETE FROM removals; DELETE FROM candidates; DELETE FROM levels; DELETE FROM phases;"
        "DELETE FROM ingredients; DELETE FROM campaign;");
  });
}

Result<bool> Store::finished(const std::string& phase) {
  REWRIGHT_TRY(SqlStatement statement, database_->prepare("SELECT 1 FROM phases WHERE name = ?"));
  return statement.query(phase);
}

Status Store::finish(const std::string& phase) {
  return insert("INSERT INTO phases VALUES (?)", [&](SqlStatement& statement) { return statement.run(phase); });
}

Result<std::int64_t> Store::count(const std::string& table, const std::string& where) {
  REWRIGHT_TRY(SqlStatement statement,
               database_->prepare(fmt::format("SELECT count(*) FROM {} WHERE {}", table, where)));
  REWRIGHT_CHECK(statement.query());
  return statement.integer(0);
}

Status Store::begin_run(int threads, bool resumed) {
  return insert("INSERT INTO runs (started, threads, resumed) VALUES (datetime('now'), ?, ?)",
                [&](SqlStatement& statement) { return statement.run(threads, resumed); });
}

Status Store::add_time(const std::string& phase, double seconds, std::uint64_t peak_memory_bytes) {
  return insert(
      "INSERT INTO timings VALUES ((SELECT max(number) FROM runs), ?, ?, ?) ON CONFLICT DO UPDATE SET "
      "seconds = seconds + excluded.seconds, peak_memory_bytes = excluded.peak_memory_bytes",
      [&](SqlStatement& statement) { return statement.run(phase, seconds, peak_memory_bytes); });
}

Result<double> Store::seconds(const std::string& phase) {
  REWRIGHT_TRY(SqlStatement statement, database_->prepare("SELECT total(seconds) FROM timings WHERE phase = ?"));
  REWRIGHT_CHECK(statement.query(phase));
  return statement.real(0);
}

Result<std::uint64_t> Store::peak_memory_bytes(const std::string& phase) {
  REWRIGHT_TRY(SqlStatement statement,
               database_->prepare("SELECT max(peak_memory_bytes) FROM timings WHERE phase = ?"));
  REWRIGHT_CHECK(statement.query(phase));
  return static_cast<std::uint64_t>(statement.integer(0));
}

Result<std::string> Store::dump() {
  constexpr std::array kTables = {
      "campaign ORDER BY 1",       "ingredients ORDER BY 1, 2",  "phases ORDER BY 1",
      "levels ORDER BY 1",         "candidates ORDER BY 1",      "removals ORDER BY 1",
      "goals ORDER BY 1",          "proposals ORDER BY 1, 2, 3", "verdicts ORDER BY 1, 2",
      "rules ORDER BY 1",          "campaigns ORDER BY 1",       "candidate_origins ORDER BY 1, 2",
      "goal_origins ORDER BY 1, 2"};
  std::string text;
  for (const char* table : kTables) {
    text += fmt::format("-- {}\n", std::string_view(table).substr(0, std::string_view(table).find(' ')));
    REWRIGHT_TRY(SqlStatement rows, database_->prepare(fmt::format("SELECT * FROM {}", table)));
    REWRIGHT_TRY(bool more, rows.query());
    while (more) {
      for (int column = 0; column < rows.columns(); ++column) {
        if (column > 0) text += '|';
        text += rows.is_null(column) ? "NULL" : rows.text(column);
      }
      text += "\n";
      REWRIGHT_TRY(more, rows.step());
    }
  }
  return text;
}

}  // namespace rewright
