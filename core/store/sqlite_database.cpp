#include "store/sqlite_database.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace rewright {
namespace {

constexpr int kBusyTimeoutMs = 5000;

bool exists(const std::string& file) {
  struct stat info = {};
  return stat(file.c_str(), &info) == 0;
}

bool writable_folder(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  return access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

// As a URI, so that a database in a folder that cannot be written opens all the same: nobody can change it, and no
// write-ahead log has to be made beside it.
std::string uri_of(const std::string& file, Database::Mode mode) {
  std::string uri = "file:";
  for (const char c : file) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  const bool frozen = mode == Database::Mode::kRead && !writable_folder(file) && !exists(file + "-wal");
  return frozen ? uri + "?immutable=1" : uri;
}

int flags_of(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::kRead: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    case Database::Mode::kWrite: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI;
    case Database::Mode::kCreate: break;
  }
  return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
}

}  // namespace

// --- SqlStatement -------------------------------------------------------------------------------------------------

SqlStatement::SqlStatement(SqlStatement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)), bound_(other.bound_) {}

SqlStatement::~SqlStatement() { sqlite3_finalize(statement_); }

void SqlStatement::restart() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
}

void SqlStatement::bind(std::int64_t value) { sqlite3_bind_int64(statement_, ++bound_, value); }
void SqlStatement::bind(double value) { sqlite3_bind_double(statement_, ++bound_, value); }
void SqlStatement::bind(std::string_view value) {
  sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

Result<bool> SqlStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const Error error = database_->error(code);
  sqlite3_reset(statement_);
  return error;
}

std::int64_t SqlStatement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double SqlStatement::real(int column) const { return sqlite3_column_double(statement_, column); }
bool SqlStatement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
int SqlStatement::columns() const { return sqlite3_column_count(statement_); }
std::string SqlStatement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

// --- Database --------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Database>> Database::open(const std::string& file, Mode mode) {
  if (mode != Mode::kCreate && !exists(file)) {
    return make_error(ErrorCode::kNotFound, "there is no store database '{}'", file);
  }
  std::unique_ptr<Database> database(new Database(file, mode));
  const int code = sqlite3_open_v2(uri_of(file, mode).c_str(), &database->handle_, flags_of(mode), nullptr);
  if (code != SQLITE_OK) return database->error(code);
  sqlite3_extended_result_codes(database->handle_, 1);
  sqlite3_busy_timeout(database->handle_, kBusyTimeoutMs);
  REWRIGHT_CHECK(database->run("PRAGMA foreign_keys = ON"));
  REWRIGHT_CHECK(database->run("PRAGMA cache_size = -65536"));  // KiB. Ids are hashes: their index is met all over.
  if (mode != Mode::kRead) {
    REWRIGHT_CHECK(database->run("PRAGMA journal_mode = WAL"));
    REWRIGHT_CHECK(database->run("PRAGMA synchronous = FULL"));
  }
  return database;
}

Database::~Database() { sqlite3_close(handle_); }

Status Database::run(std::string_view sql) {
  const int code = sqlite3_exec(handle_, std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<SqlStatement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  return SqlStatement(*this, statement);
}

Status Database::transaction(const std::function<Status()>& work) {
  if (in_transaction_) return work();
  REWRIGHT_CHECK(run("BEGIN IMMEDIATE"));
  in_transaction_ = true;
  Status status;
  try {
    status = work();
    if (status) status = run("COMMIT");
  } catch (...) {
    in_transaction_ = false;
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
  in_transaction_ = false;
  if (!status && sqlite3_get_autocommit(handle_) == 0) {
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return status;
}

Error Database::error(int code) const {
  const char* message = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const int system = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  // SQLite sometimes loses the system's reason for a failed write; as a rule it is a full disk or a limit on file
  // sizes.
  const bool full =
      system == ENOSPC || system == EDQUOT || system == EFBIG || (system == 0 && code == SQLITE_IOERR_WRITE);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return make_error(
          ErrorCode::kBudget,
          "the disk is full: '{}' keeps what was saved before; free some space and run the same command again, a "
          "campaign with --resume",
          file_);
    case SQLITE_IOERR:
      if (full) return error(SQLITE_FULL);
      return make_error(ErrorCode::kIo, "'{}' cannot be read or written: {}{}{}", file_, message,
                        system == 0 ? "" : ": ", system == 0 ? "" : std::strerror(system));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return make_error(ErrorCode::kMismatch,
                        "'{}' is damaged or no store database ({}); take a copy that is whole, "
                        "or start a new store with --store DIR",
                        file_, message);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return make_error(ErrorCode::kIo,
                        "'{}' cannot be written ({}); check the rights of the file and its folder, or "
                        "choose another folder with --store DIR",
                        file_, message);
    case SQLITE_CANTOPEN:
      return make_error(ErrorCode::kIo, "'{}' cannot be opened: {}; check that its folder is there and may be written",
                        file_, system == 0 ? message : std::strerror(system));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make_error(ErrorCode::kIo, "'{}' is in use by another process; wait until that has ended", file_);
    case SQLITE_NOMEM: return make_error(ErrorCode::kBudget, "out of memory while working on '{}'", file_);
    default: return make_error(ErrorCode::kInternal, "'{}': SQLite says: {} (code {})", file_, message, code);
  }
}

Result<std::int64_t> Database::version(std::string_view component) {
  if (component.empty()) {
    REWRIGHT_TRY(SqlStatement statement, prepare("PRAGMA user_version"));
    REWRIGHT_CHECK(statement.query());
    return statement.integer(0);
  }
  REWRIGHT_TRY(SqlStatement table, prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'component'"));
  REWRIGHT_TRY(const bool there, table.query());
  if (!there) return std::int64_t{0};
  REWRIGHT_TRY(SqlStatement statement, prepare("SELECT version FROM component WHERE name = ?"));
  REWRIGHT_TRY(const bool known, statement.query(component));
  return known ? statement.integer(0) : std::int64_t{0};
}

Status Database::set_version(std::string_view component, std::int64_t version) {
  if (component.empty()) return run(fmt::format("PRAGMA user_version = {}", version));
  REWRIGHT_CHECK(run("CREATE TABLE IF NOT EXISTS component (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT"));
  REWRIGHT_TRY(SqlStatement statement, prepare("INSERT OR REPLACE INTO component VALUES (?, ?)"));
  return statement.run(component, version);
}

Status Database::move_to_memory() {
  sqlite3* memory = nullptr;
  int code = sqlite3_open_v2(":memory:", &memory, SQLITE_OPEN_READWRITE, nullptr);
  if (code == SQLITE_OK) {
    if (sqlite3_backup* copy = sqlite3_backup_init(memory, "main", handle_, "main")) {
      sqlite3_backup_step(copy, -1);
      sqlite3_backup_finish(copy);
    }
    code = sqlite3_errcode(memory);  // Of each of these.
  }
  std::swap(handle_, memory);
  const Status status = code == SQLITE_OK ? Status() : Status(error(code));
  sqlite3_close(memory);
  if (!status) return status;
  sqlite3_extended_result_codes(handle_, 1);
  return run("PRAGMA foreign_keys = ON");
}

Status Database::migrate(Migrations migrations, std::string_view component) {
  const auto wanted = static_cast<std::int64_t>(migrations.size());
  REWRIGHT_TRY(const std::int64_t found, version(component));
  if (found < 0) return error(SQLITE_CORRUPT);
  if (found > wanted) {
    return make_error(ErrorCode::kMismatch,
                      "'{}' was written by a newer Rewright: its schema{}{} has version {} and "
                      "this program knows versions up to {}; use that program, or start a new store with --store DIR",
                      file_, component.empty() ? "" : " of ", component, found, wanted);
  }
  if (found == wanted) return {};
  if (mode_ == Mode::kRead) {
    if (found == 0 && component.empty()) {
      return make_error(ErrorCode::kMismatch,
                        "nothing was saved in '{}' (the disk was full, or what began it was ended early), or it is no "
                        "store of Rewright; run that again",
                        file_);
    }
    if (!component.empty()) {
      return make_error(ErrorCode::kMismatch,
                        "'{}' has schema version {} and this program reads version {}; a run of "
                        "its campaign brings it up to date",
                        file_, found, wanted);
    }
    REWRIGHT_CHECK(move_to_memory());
  }
  return transaction([&]() -> Status {
    for (std::int64_t step = found; step < wanted; ++step) {
      REWRIGHT_CHECK(run(migrations[static_cast<std::size_t>(step)]));
    }
    return set_version(component, wanted);
  });
}

Status Database::check() {
  REWRIGHT_TRY(SqlStatement pages, prepare("PRAGMA quick_check(1)"));
  REWRIGHT_CHECK(pages.query());
  if (pages.text(0) != "ok") return error(SQLITE_CORRUPT);
  REWRIGHT_TRY(SqlStatement keys, prepare("PRAGMA foreign_key_check"));
  REWRIGHT_TRY(const bool broken, keys.query());
  if (broken) return error(SQLITE_CORRUPT);
  return {};
}

}  // namespace rewright
