// The fingerprints of all graphs, 8 bytes each, and which of them occur more than once.
//
// They are spread over partitions by their upper bits as they come: each writer gathers a cache line per partition and
// copies full lines to a chunk of that partition. What is equal is then in one partition, which fits a cache. Where
// memory is short, full chunks go to a file and are read back partition by partition. Work that is done can be written
// to a file of its own, from which a later run, or another process, takes it instead of doing it again.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright::enumeration {

inline constexpr std::size_t kPartitionBits = 12;
inline constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;

class REWRIGHT_API FingerprintStore {
 public:
  /// Keeps about `memory_bytes` in memory (0: no limit) and the rest in a file without a name in `folder`.
  FingerprintStore(std::uint64_t memory_bytes, std::string folder);
  ~FingerprintStore();
  FingerprintStore(const FingerprintStore&) = delete;
  FingerprintStore& operator=(const FingerprintStore&) = delete;

  /// For one thread. What it holds back is handed over when it is flushed or ends.
  class REWRIGHT_API Writer {
   public:
    explicit Writer(FingerprintStore& store);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    void add(std::uint64_t fingerprint) {
      Line& line = lines_[fingerprint >> (64 - kPartitionBits)];
      line.words[line.count++] = fingerprint;
      if (line.count == kLineWords) copy(fingerprint >> (64 - kPartitionBits));
    }
    void flush();

   private:
    static constexpr std::size_t kLineWords = 8;
    struct Line {
      std::array<std::uint64_t, kLineWords> words;
      std::uint32_t count = 0;
    };
    void copy(std::size_t partition);
    FingerprintStore& store_;
    std::vector<Line> lines_;
    struct Open {
      std::uint64_t* chunk = nullptr;
      std::uint32_t used = 0;
    };
    std::vector<Open> open_;
  };

  /// What is added from now on is one piece of work. No writer may be at work.
  void begin_piece();
  /// Writes the piece to a file, which then serves instead of memory. Under a temporary name first: a file that is
  /// there is whole. No writer may be at work. Errors: kIo, kBudget.
  [[nodiscard]] Status persist(const std::string& path);
  /// Adds what persist() wrote. Errors: kIo; kMismatch where the file is something else or not whole; a partition that
  /// is damaged shows when it is read.
  [[nodiscard]] Status load(const std::string& path);

  /// Partitions that are counted here: all, or every `size`-th from `rank` on.
  struct Share {
    std::size_t rank = 0;
    std::size_t size = 1;
  };
  /// Number of distinct fingerprints in the share; those that occur more than once, ascending, go to `shared` (may be
  /// null). No writer may be at work. Errors: kIo, kBudget, of the file; kMismatch where a loaded file is damaged.
  [[nodiscard]] Result<std::uint64_t> count_distinct(std::vector<std::uint64_t>* shared, int threads, Share share);
  [[nodiscard]] Result<std::uint64_t> count_distinct(std::vector<std::uint64_t>* shared, int threads) {
    return count_distinct(shared, threads, Share{});
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// kIo, kBudget: what went wrong with the file since the last call; then fingerprints are lost.
  [[nodiscard]] Status status();

 private:
  static constexpr std::size_t kChunkWords = 512;  // 4 KiB
  struct Chunk {
    std::uint64_t* words = nullptr;
    std::uint32_t used = 0;
  };
  struct Stretch {
    int file = -1;
    std::uint64_t offset = 0;  ///< In the file, in bytes.
    std::uint64_t count = 0;
    std::optional<std::uint64_t> checksum;  ///< Of a file that another run wrote.
  };
  std::uint64_t* take_chunk();  ///< Null where there is no memory: what was to go there is lost, and status() says so.
  void give(std::size_t partition, Chunk chunk);
  void give_rest(std::size_t partition, Chunk chunk);
  void spill();
  void lose();     ///< What a writer held back.
  void run_out();  ///< The same, locked.

  std::uint64_t memory_bytes_;
  std::string folder_;
  std::mutex mutex_;
  std::vector<std::pair<void*, std::size_t>> slabs_;
  std::vector<std::uint64_t*> free_;
  std::vector<std::vector<Chunk>> chunks_;
  std::vector<std::vector<Stretch>> stretches_;
  struct Mark {
    std::size_t stretches = 0;
    std::size_t chunks = 0;  ///< Full ones, or but for the last.
    std::uint32_t used = 0;  ///< Words in the chunk after these.
  };
  Status read_partition(std::size_t partition, Mark from, std::vector<std::uint64_t>& words) const;
  std::vector<Mark> marks_;           ///< By partition: what was there when the piece began.
  std::vector<int> files_;            ///< Those with names.
  std::map<int, std::string> paths_;  ///< Of those that were loaded.
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t size_ = 0;
  std::string failure_;
  bool out_of_room_ = false;  ///< On the disk or in memory.
};

}  // namespace rewright::enumeration
