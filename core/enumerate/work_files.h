// Files of finished work: what a killed run need not do again, and what processes that enumerate together hand to each
// other.
//
// A pass over one level is cut into pieces; each piece that is done is one file, named after it and written under a
// temporary name first, with a checksum. Processes take every `ranks`-th piece and read each other's files; they wait
// for one another at barriers, which are files too.
#pragma once

#include <rewright/base/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace rewright::enumeration {

class WorkFiles {
 public:
  /// An empty folder: no files, one process. `token` tells this run of several processes from earlier ones.
  /// Work is worth a file once `seconds` are over.
  WorkFiles(std::string folder, std::size_t rank, std::size_t ranks, std::string token, double seconds = 0);

  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] bool is_mine(std::size_t piece) const { return piece % ranks_ == rank_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] bool has(const std::string& name) const;
  /// Is what is done now worth a file? Always between processes; by oneself once the run has taken a few seconds.
  [[nodiscard]] bool wanted() const;

  template <class T>
  [[nodiscard]] Status save(const std::string& name, std::span<const T> items) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return save_bytes(name, std::as_bytes(items));
  }
  /// Appends what save() wrote. Errors: kMismatch where the file is damaged.
  template <class T>
  [[nodiscard]] Status load(const std::string& name, std::vector<T>& items) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return load_bytes(name, sizeof(T), [&](std::size_t count) {
      const std::size_t before = items.size();
      items.resize(before + count);
      return std::as_writable_bytes(std::span(items).subspan(before));
    });
  }

  /// Waits until every process has come to the barrier of this name. False: `stop` said so, or a process was stopped.
  /// Errors: a process failed.
  [[nodiscard]] Result<bool> barrier(const std::string& name, const std::function<bool()>& stop) const;
  static constexpr const char* kStopped = "it was stopped";
  /// Tells the other processes that this one gives up; by the sentence kStopped, that it was stopped.
  void fail(const Error& error) const;

 private:
  Status save_bytes(const std::string& name, std::span<const std::byte> bytes) const;
  Status load_bytes(const std::string& name, std::size_t item_bytes,
                    const std::function<std::span<std::byte>(std::size_t)>& room) const;

  std::string folder_;
  std::size_t rank_ = 0;
  std::size_t ranks_ = 1;
  std::string token_;
  double seconds_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rewright::enumeration
