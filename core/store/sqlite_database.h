// One SQLite database: statements, transactions and sentences for what can go wrong.
//
// Errors name the file and what to do: a full disk, a damaged file, a folder that cannot be written, another process
// that holds the database. After an error nothing of the open transaction is kept, everything before it is.
// Not for use from several threads at once.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace rewright {

class Database;

/// A prepared statement. Parameters are bound in the order of bind(), columns read by position.
class REWRIGHT_API SqlStatement {
 public:
  SqlStatement(SqlStatement&&) noexcept;
  SqlStatement& operator=(SqlStatement&&) = delete;
  ~SqlStatement();

  /// Binds the next parameters and goes to the first row.
  template <class... Values>
  [[nodiscard]] Result<bool> query(const Values&... values) {
    restart();
    (bind(values), ...);
    return step();
  }
  /// The same for a statement without rows.
  template <class... Values>
  Status run(const Values&... values) {
    const Result<bool> row = query(values...);
    if (!row) return row.error();
    restart();
    return {};
  }
  /// True if there is a (further) row.
  [[nodiscard]] Result<bool> step();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] int columns() const;

 private:
  friend class Database;
  SqlStatement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  void restart();
  void bind(std::int64_t value);
  void bind(std::uint64_t value) { bind(static_cast<std::int64_t>(value)); }
  void bind(int value) { bind(static_cast<std::int64_t>(value)); }
  void bind(bool value) { bind(static_cast<std::int64_t>(value)); }
  void bind(double value);
  void bind(std::string_view value);
  void bind(const std::string& value) { bind(std::string_view(value)); }
  void bind(const char* value) { bind(std::string_view(value)); }
  template <class Value>
  void bind(const std::optional<Value>& value) {
    if (value) {
      bind(*value);
    } else {
      ++bound_;
    }
  }

  Database* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

/// One step of a schema's life: SQL that takes it from version i to i + 1.
using Migrations = std::span<const std::string_view>;

class REWRIGHT_API Database {
 public:
  enum class Mode { kRead, kWrite, kCreate };

  /// kCreate makes the file if there is none. Errors: kNotFound, kIo, kMismatch (not a database, damaged).
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& file, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }

  /// Runs SQL that has neither parameters nor rows.
  Status run(std::string_view sql);
  [[nodiscard]] Result<SqlStatement> prepare(std::string_view sql);
  /// `work` and a commit, or nothing at all.
  Status transaction(const std::function<Status()>& work);

  /// Brings the schema to version migrations.size(). The version is PRAGMA user_version, or, for a `component` that
  /// adds tables of its own to somebody's database, its row in the table `component`. In kRead mode the file stays as
  /// it is: a copy in memory is brought up to date and read in its place. Errors: kMismatch, the file is of a newer
  /// version than this program knows.
  Status migrate(Migrations migrations, std::string_view component = {});
  /// Errors: kMismatch where pages are damaged or rows refer to rows that are not there.
  Status check();

 private:
  friend class SqlStatement;
  Database(std::string file, Mode mode) : file_(std::move(file)), mode_(mode) {}
  [[nodiscard]] Error error(int code) const;
  [[nodiscard]] Result<std::int64_t> version(std::string_view component);
  Status move_to_memory();
  Status set_version(std::string_view component, std::int64_t version);

  std::string file_;
  Mode mode_;
  sqlite3* handle_ = nullptr;
  bool in_transaction_ = false;
};

}  // namespace rewright
