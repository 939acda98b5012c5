#include "enumerate/fingerprints.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rewright::enumeration {

namespace {
constexpr std::size_t kSlabBytes = std::size_t{32} << 20;
}

FingerprintStore::FingerprintStore(std::uint64_t memory_bytes, std::string folder)
    : memory_bytes_(memory_bytes), folder_(std::move(folder)), chunks_(kPartitions), stretches_(kPartitions) {}

FingerprintStore::~FingerprintStore() {
  for (const auto& [address, bytes] : slabs_) munmap(address, bytes);
  if (file_ >= 0) close(file_);
}

std::uint64_t* FingerprintStore::take_chunk() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    const bool may_grow =
        memory_bytes_ == 0 || (slabs_.size() + 1) * kSlabBytes <= std::max<std::uint64_t>(memory_bytes_, kSlabBytes);
    if (!may_grow) spill();
    if (free_.empty()) {
      void* const slab = mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (slab == MAP_FAILED) throw std::bad_alloc();
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

void FingerprintStore::spill() {
  if (file_ < 0) {
    file_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) {
      failure_ = fmt::format("{}: no file could be made for fingerprints that do not fit the memory: {}", folder_,
                             std::strerror(errno));
      return;
    }
  }
  for (std::size_t partition = 0; partition < kPartitions; ++partition) {
    Stretch stretch{file_bytes_, 0};
    for (const Chunk& chunk : chunks_[partition]) {
      const std::size_t bytes = chunk.used * sizeof(std::uint64_t);
      if (failure_.empty() &&
          pwrite(file_, chunk.words, bytes, static_cast<off_t>(file_bytes_)) != static_cast<ssize_t>(bytes)) {
        disk_full_ = errno == ENOSPC || errno == EDQUOT;
        failure_ = fmt::format("{}: fingerprints that do not fit the memory could not be written: {}", folder_,
                               std::strerror(errno));
      }
      file_bytes_ += bytes;
      stretch.count += chunk.used;
      free_.push_back(chunk.words);
    }
    if (stretch.count > 0) stretches_[partition].push_back(stretch);
    chunks_[partition].clear();
  }
}

Status FingerprintStore::status() {
  if (failure_.empty()) return {};
  return make_error(disk_full_ ? ErrorCode::kBudget : ErrorCode::kIo, "{}; give the run more memory or another disk",
                    failure_);
}

Status FingerprintStore::read_partition(std::size_t partition, std::vector<std::uint64_t>& words) const {
  std::size_t total = 0;
  for (const Stretch& stretch : stretches_[partition]) total += stretch.count;
  for (const Chunk& chunk : chunks_[partition]) total += chunk.used;
  words.resize(total);
  std::uint64_t* to = words.data();
  for (const Stretch& stretch : stretches_[partition]) {
    const std::size_t bytes = stretch.count * sizeof(std::uint64_t);
    if (pread(file_, to, bytes, static_cast<off_t>(stretch.offset)) != static_cast<ssize_t>(bytes)) {
      return make_error(ErrorCode::kIo, "{}: fingerprints could not be read back: {}", folder_, std::strerror(errno));
    }
    to += stretch.count;
  }
  for (const Chunk& chunk : chunks_[partition]) to = std::copy_n(chunk.words, chunk.used, to);
  return {};
}

Result<std::uint64_t> FingerprintStore::count_distinct(std::vector<std::uint64_t>* shared, int threads) {
  std::vector<std::uint64_t> distinct(kPartitions);
  std::vector<std::vector<std::uint64_t>> repeated(shared == nullptr ? 0 : kPartitions);
  std::vector<Status> results(kPartitions);
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, kPartitions, [&](std::size_t partition) {
      thread_local std::vector<std::uint64_t> words, table;
      thread_local std::vector<bool> again;
      results[partition] = read_partition(partition, words);
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

// --- writing ---------------------------------------------------------------------------------------------------------

FingerprintStore::Writer::Writer(FingerprintStore& store) : store_(store), lines_(kPartitions), open_(kPartitions) {}

void FingerprintStore::Writer::copy(std::size_t partition) {
  Line& line = lines_[partition];
  Open& open = open_[partition];
  if (open.chunk == nullptr) open = {store_.take_chunk(), 0};
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
    if (open.chunk != nullptr) store_.give(partition, {open.chunk, open.used});
    open = {};
  }
}

}  // namespace rewright::enumeration
