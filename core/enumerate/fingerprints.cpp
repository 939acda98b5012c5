#include "enumerate/fingerprints.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "enumerate/raw_files.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright::enumeration {

namespace {
constexpr std::size_t kSlabBytes = std::size_t{32} << 20;

Error damaged(const std::string& path) {
  return make_error(ErrorCode::kMismatch,
                    "{}: this file of fingerprints is damaged; delete it, and what it held is done again", path);
}
}  // namespace

FingerprintStore::FingerprintStore(std::uint64_t memory_bytes, std::string folder)
    : memory_bytes_(memory_bytes),
      folder_(std::move(folder)),
      chunks_(kPartitions),
      stretches_(kPartitions),
      marks_(kPartitions) {}

FingerprintStore::~FingerprintStore() {
  for (const auto& [address, bytes] : slabs_) munmap(address, bytes);
  if (file_ >= 0) close(file_);
  for (const int file : files_) close(file);
}

std::uint64_t* FingerprintStore::take_chunk() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    const bool may_grow =
        memory_bytes_ == 0 || (slabs_.size() + 1) * kSlabBytes <= std::max<std::uint64_t>(memory_bytes_, kSlabBytes);
    if (!may_grow) spill();
    if (free_.empty()) {
      void* const slab = mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (slab == MAP_FAILED) {
        run_out();
        return nullptr;
      }
      madvise(slab, kSlabBytes, MADV_HUGEPAGE);  // Far fewer page faults; without effect where there are no such pages.
      slabs_.emplace_back(slab, kSlabBytes);
      auto* const words = static_cast<std::uint64_t*>(slab);
      for (std::size_t at = kSlabBytes / sizeof(std::uint64_t); at > 0; at -= kChunkWords)
        free_.push_back(words + at - kChunkWords);
    }
  }
  std::uint64_t* const chunk = free_.back();
  free_.pop_back();
  return chunk;
}

void FingerprintStore::give(std::size_t partition, Chunk chunk) {
  const std::lock_guard lock(mutex_);
  chunks_[partition].push_back(chunk);
  size_ += chunk.used;
}

/// A chunk that is not full: what fits goes to the last one of the partition.
void FingerprintStore::give_rest(std::size_t partition, Chunk chunk) {
  const std::lock_guard lock(mutex_);
  size_ += chunk.used;
  if (!chunks_[partition].empty()) {
    Chunk& last = chunks_[partition].back();
    const auto fitting = std::min<std::uint32_t>(chunk.used, kChunkWords - last.used);
    std::copy_n(chunk.words + (chunk.used - fitting), fitting, last.words + last.used);
    last.used += fitting;
    chunk.used -= fitting;
  }
  if (chunk.used > 0) {
    chunks_[partition].push_back(chunk);
  } else {
    free_.push_back(chunk.words);
  }
}

void FingerprintStore::lose() {
  const std::lock_guard lock(mutex_);
  run_out();
}

void FingerprintStore::run_out() {
  out_of_room_ = true;
  if (failure_.empty()) failure_ = "out of memory: fingerprints could not be kept";
}

void FingerprintStore::spill() {
  if (file_ < 0) {
    file_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) {
      failure_ = fmt::format("{}: no file could be made for fingerprints that do not fit the memory: {}", folder_,
                             std::strerror(errno));
      return;
    }
  }
  // Words [from, used) of each chunk: one stretch.
  const auto append = [&](std::size_t partition, std::span<const Chunk> chunks, std::uint32_t from) {
    Stretch stretch{file_, file_bytes_, 0, std::nullopt};
    for (const Chunk& chunk : chunks) {
      const std::size_t bytes = (chunk.used - from) * sizeof(std::uint64_t);
      if (failure_.empty() &&
          !write_all(file_, std::as_bytes(std::span(chunk.words + from, chunk.words + chunk.used)))) {
        out_of_room_ = errno == ENOSPC || errno == EDQUOT;
        failure_ = fmt::format("{}: fingerprints that do not fit the memory could not be written: {}", folder_,
                               std::strerror(errno));
      }
      file_bytes_ += bytes;
      stretch.count += chunk.used - from;
      from = 0;
    }
    if (stretch.count > 0) stretches_[partition].push_back(stretch);
    return stretch.count > 0;
  };
  for (std::size_t partition = 0; partition < kPartitions; ++partition) {
    // What was there when the piece began stays apart from the piece.
    std::vector<Chunk>& chunks = chunks_[partition];
    Mark& mark = marks_[partition];
    std::vector<Chunk> before(chunks.begin(), chunks.begin() + static_cast<std::ptrdiff_t>(mark.chunks));
    if (mark.used > 0) before.push_back({chunks[mark.chunks].words, mark.used});
    if (append(partition, before, 0)) {
      std::rotate(stretches_[partition].begin() + static_cast<std::ptrdiff_t>(mark.stretches),
                  stretches_[partition].end() - 1, stretches_[partition].end());
      ++mark.stretches;
    }
    append(partition, std::span(chunks).subspan(mark.chunks), mark.used);
    for (const Chunk& chunk : chunks) free_.push_back(chunk.words);
    chunks.clear();
    mark.chunks = 0;
    mark.used = 0;
  }
}

Status FingerprintStore::status() {
  if (failure_.empty()) return {};
  return make_error(out_of_room_ ? ErrorCode::kBudget : ErrorCode::kIo, "{}; give the run more memory or another disk",
                    failure_);
}

Status FingerprintStore::read_partition(std::size_t partition, Mark from, std::vector<std::uint64_t>& words) const {
  const std::span stretches = std::span(stretches_[partition]).subspan(from.stretches);
  const std::span chunks = std::span(chunks_[partition]).subspan(from.chunks);
  std::size_t total = 0;
  for (const Stretch& stretch : stretches) total += stretch.count;
  for (const Chunk& chunk : chunks) total += chunk.used;
  total -= from.used;
  words.resize(total);
  std::uint64_t* to = words.data();
  for (const Stretch& stretch : stretches) {
    const std::size_t bytes = stretch.count * sizeof(std::uint64_t);
    if (!read_all(stretch.file, std::as_writable_bytes(std::span(to, stretch.count)), stretch.offset)) {
      if (errno == 0 && stretch.checksum) return damaged(paths_.at(stretch.file));
      return make_error(ErrorCode::kIo, "{}: fingerprints could not be read back: {}", folder_,
                        errno == 0 ? "their file has become shorter" : std::strerror(errno));
    }
    if (stretch.checksum && XXH3_64bits(to, bytes) != *stretch.checksum) return damaged(paths_.at(stretch.file));
    to += stretch.count;
  }
  std::uint32_t begin = from.used;
  for (const Chunk& chunk : chunks) {
    to = std::copy(chunk.words + begin, chunk.words + chunk.used, to);
    begin = 0;
  }
  return {};
}

Result<std::uint64_t> FingerprintStore::count_distinct(std::vector<std::uint64_t>* shared, int threads, Share share) {
  std::vector<std::uint64_t> distinct(kPartitions);
  std::vector<std::vector<std::uint64_t>> repeated(shared == nullptr ? 0 : kPartitions);
  std::vector<Status> results(kPartitions);
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, kPartitions, [&](std::size_t partition) {
      if (partition % share.size != share.rank) return;
      thread_local std::vector<std::uint64_t> words, table;
      thread_local std::vector<bool> again;
      results[partition] = read_partition(partition, Mark{}, words);
      std::size_t slots = 16;
      while (slots < words.size() * 2) slots *= 2;
      table.assign(slots, 0);
      again.assign(slots, false);
      std::uint64_t count = 0;
      bool zero = false, zero_again = false;  // 0 marks a free slot.
      for (const std::uint64_t word : words) {
        if (word == 0) {
          zero_again = zero;
          zero = true;
          continue;
        }
        std::size_t at = word & (slots - 1);
        while (table[at] != 0 && table[at] != word) at = (at + 1) & (slots - 1);
        if (table[at] == word) {
          if (shared != nullptr && !again[at]) {
            again[at] = true;
            repeated[partition].push_back(word);
          }
        } else {
          table[at] = word;
          ++count;
        }
      }
      if (zero) ++count;
      if (zero_again && shared != nullptr) repeated[partition].push_back(0);
      distinct[partition] = count;
      if (shared != nullptr) std::sort(repeated[partition].begin(), repeated[partition].end());
    });
  });
  std::uint64_t total = 0;
  for (std::size_t partition = 0; partition < kPartitions; ++partition) {
    REWRIGHT_CHECK(std::move(results[partition]));
    total += distinct[partition];
    if (shared != nullptr) shared->insert(shared->end(), repeated[partition].begin(), repeated[partition].end());
  }
  return total;
}

// --- files with names ------------------------------------------------------------------------------------------------

namespace {

constexpr std::array<char, 8> kMagic = {'r', 'w', 'f', 'p', 0, 0, 0, 2};

/// The fingerprints follow, partition by partition. Each has a checksum of its own, so that a process reads no more
/// than its share.
struct Header {
  std::array<char, 8> magic = kMagic;
  std::array<std::uint64_t, kPartitions> counts{};
  std::array<std::uint64_t, kPartitions> checksums{};
  std::uint64_t checksum = 0;  ///< Of what is above.
};

std::uint64_t checksum_of(const Header& header) { return XXH3_64bits(&header, offsetof(Header, checksum)); }

}  // namespace

void FingerprintStore::begin_piece() {
  for (std::size_t partition = 0; partition < kPartitions; ++partition) {
    const std::vector<Chunk>& chunks = chunks_[partition];
    marks_[partition] = {stretches_[partition].size(), chunks.size(), 0};
    if (chunks.empty() || chunks.back().used == kChunkWords) continue;
    --marks_[partition].chunks;
    marks_[partition].used = chunks.back().used;
  }
}

Status FingerprintStore::persist(const std::string& path) {
  if (Status failed = status(); !failed) return failed;
  const std::string temporary = path + ".new";
  const int file = open(temporary.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) return file_error(temporary, "fingerprints could not be written");
  files_.push_back(file);
  auto header = std::make_unique<Header>();
  std::vector<std::uint64_t> words;
  bool good = lseek(file, sizeof(Header), SEEK_SET) == sizeof(Header);
  std::uint64_t offset = sizeof(Header);
  for (std::size_t partition = 0; partition < kPartitions && good; ++partition) {
    REWRIGHT_CHECK(read_partition(partition, marks_[partition], words));
    header->counts[partition] = words.size();
    header->checksums[partition] = XXH3_64bits(words.data(), words.size() * sizeof(std::uint64_t));
    good = write_all(file, std::as_bytes(std::span(words)));
    std::vector<Chunk>& chunks = chunks_[partition];
    const Mark& mark = marks_[partition];
    const std::size_t kept = mark.chunks + (mark.used > 0 ? 1 : 0);
    for (std::size_t i = kept; i < chunks.size(); ++i) free_.push_back(chunks[i].words);
    chunks.resize(kept);
    if (mark.used > 0) chunks.back().used = mark.used;
    auto& stretches = stretches_[partition];
    stretches.erase(stretches.begin() + static_cast<std::ptrdiff_t>(mark.stretches), stretches.end());
    stretches.push_back({file, offset, words.size(), std::nullopt});
    offset += words.size() * sizeof(std::uint64_t);
  }
  header->checksum = checksum_of(*header);
  good = good && lseek(file, 0, SEEK_SET) == 0 && write_all(file, std::as_bytes(std::span(header.get(), 1))) &&
         fsync(file) == 0 && rename(temporary.c_str(), path.c_str()) == 0;
  if (!good) return file_error(temporary, "fingerprints could not be written");
  return {};
}

Status FingerprintStore::load(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file_error(path, "fingerprints could not be read");
  files_.push_back(file);
  auto header = std::make_unique<Header>();
  struct stat status {};
  const bool whole = read(file, header.get(), sizeof(Header)) == sizeof(Header) && header->magic == kMagic &&
                     header->checksum == checksum_of(*header) && fstat(file, &status) == 0;
  if (!whole) return damaged(path);
  const std::uint64_t total = std::accumulate(header->counts.begin(), header->counts.end(), std::uint64_t{0});
  if (static_cast<std::uint64_t>(status.st_size) != sizeof(Header) + total * sizeof(std::uint64_t))
    return damaged(path);
  paths_.emplace(file, path);
  std::uint64_t offset = sizeof(Header);
  for (std::size_t partition = 0; partition < kPartitions; ++partition) {
    stretches_[partition].push_back({file, offset, header->counts[partition], header->checksums[partition]});
    offset += header->counts[partition] * sizeof(std::uint64_t);
  }
  size_ += total;
  return {};
}

// --- writing ---------------------------------------------------------------------------------------------------------

FingerprintStore::Writer::Writer(FingerprintStore& store) : store_(store), lines_(kPartitions), open_(kPartitions) {}

FingerprintStore::Writer::~Writer() {
  try {
    flush();
  } catch (const std::bad_alloc&) {  // Of a list that grows.
    store_.lose();
  }
}

void FingerprintStore::Writer::copy(std::size_t partition) {
  Line& line = lines_[partition];
  Open& open = open_[partition];
  if (open.chunk == nullptr) open = {store_.take_chunk(), 0};
  if (open.chunk == nullptr) {
    line.count = 0;
    return;
  }
  std::copy_n(line.words.data(), line.count, open.chunk + open.used);
  open.used += line.count;
  line.count = 0;
  if (open.used + kLineWords > kChunkWords) {
    store_.give(partition, {open.chunk, open.used});
    open = {};
  }
}

void FingerprintStore::Writer::flush() {
  for (std::size_t partition = 0; partition < kPartitions; ++partition) {
    if (lines_[partition].count > 0) copy(partition);
    Open& open = open_[partition];
    if (open.chunk != nullptr) store_.give_rest(partition, {open.chunk, open.used});
    open = {};
  }
}

}  // namespace rewright::enumeration
