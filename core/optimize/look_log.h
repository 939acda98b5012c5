// What a search was told of the graphs that it looked at, kept in a file: a checkpoint.
//
// A search is a function of its problem, its seed and the answers that it gets. So a search that was killed goes on by
// being run again with the answers in the file, without working them out: it comes to where it was, and then further,
// as if nothing had happened. Rewrites that are entered are made anew. An answer is used only for the question that it
// was given to; where the search asks another, what follows in the file is cut off and worked out.
//
// Parts of a search that run side by side, and spaces that one of them opens, have streams of answers of their own.
//
// File    magic, key, blocks of answers of one stream; see look_log.cpp. Blocks are written about every second. What is
//         damaged at the end, by a kill or a full disk, is cut off.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

/// An answer, and what it answers.
struct LookRecord {
  static constexpr std::uint32_t kIsNew = 1U << 31, kPossible = 1U << 30, kKnown = 1U << 29;
  std::uint32_t from = 0;
  std::uint32_t move = 0;  ///< With flags: new graphs are asked for, it is possible, it is known.
  double cost_us = 0;
  std::uint64_t hash = 0;  ///< Of a new graph that is possible and not known.
};

class REWRIGHT_API LookLog {
 public:
  /// What a search depends on, by name: it must be the same again when it is resumed.
  using Key = std::vector<std::pair<std::string, std::string>>;

  /// Errors: the file is there, or cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<LookLog>> begin(const std::string& path, const Key& key);
  /// Goes on with the file, if it is there. Errors: it is no checkpoint, or one of another search: what differs.
  [[nodiscard]] static Result<std::unique_ptr<LookLog>> resume(const std::string& path, const Key& key);
  ~LookLog();

  /// Answers that were read, of all streams.
  [[nodiscard]] std::uint64_t read_count() const { return read_count_; }
  /// Why the file ends before the search, if it does.
  [[nodiscard]] std::optional<std::string> trouble() const;

 private:
  friend class LookStream;
  explicit LookLog(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Status read(const std::string& content, const Key& key, std::size_t& good);
  [[nodiscard]] std::vector<LookRecord> take(std::uint64_t stream);
  /// For several threads.
  void write(std::uint64_t stream, std::uint64_t count, std::span<const LookRecord> records);

  std::string path_;
  std::FILE* file_ = nullptr;
  std::uint64_t read_count_ = 0;
  mutable std::mutex mutex_;
  std::string trouble_;
  std::map<std::uint64_t, std::vector<LookRecord>> streams_;
};

/// The answers of one space, in the order of its questions.
class LookStream {
 public:
  /// That of the next space in the part of the search that this thread is in; it may be one that keeps nothing.
  [[nodiscard]] static std::unique_ptr<LookStream> of_next_space();
  ~LookStream();

  /// The answer in the file, if it is to this question. `move` has kIsNew or not.
  [[nodiscard]] std::optional<LookRecord> next(std::uint32_t from, std::uint32_t move);
  void add(const LookRecord& record);

 private:
  LookStream(LookLog* log, std::uint64_t id);
  void flush();

  LookLog* log_;
  std::uint64_t id_;
  std::vector<LookRecord> known_;  ///< From the file.
  std::size_t used_ = 0;           ///< Of them.
  std::uint64_t written_ = 0;      ///< Answers that count in the file.
  std::vector<LookRecord> fresh_;
  std::int64_t flushed_ns_;
};

/// While it lives, what this thread does belongs to a part of a search.
class REWRIGHT_API SearchPartScope {
 public:
  struct Place {
    LookLog* log = nullptr;  ///< Null: nothing is kept.
    std::uint64_t part = 0;
    std::uint32_t spaces = 0;  ///< Opened so far, and forks.
  };
  /// A whole search.
  explicit SearchPartScope(LookLog* log);
  /// Part i of what `outer` belongs to.
  SearchPartScope(const Place& outer, std::size_t i);
  ~SearchPartScope();
  SearchPartScope(const SearchPartScope&) = delete;
  SearchPartScope& operator=(const SearchPartScope&) = delete;

  /// Where parts begin that run side by side; each call is another place.
  [[nodiscard]] static Place fork();

 private:
  friend class LookStream;
  Place place_;
  SearchPartScope* outer_;
};

}  // namespace rewright
