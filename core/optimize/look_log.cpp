// The file, all numbers as they lie in memory:
//
//   "RWLOOKS1"
//   u64 size of the key, u64 hash of it, the key: a line "name=value" each
//   blocks: u64 stream, u64 count, u64 size, u64 hash, `size` records of 24 bytes
//
// where count is how many answers the stream has before the block: others that came before are cut off.
#include "optimize/look_log.h"

#include <rewright/base/mixing.h>

#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace rewright {
namespace {

constexpr std::string_view kMagic = "RWLOOKS1";
constexpr std::int64_t kFlushEvery_ns = 1'000'000'000;
constexpr std::size_t kMostUnwritten = 1 << 14;
static_assert(sizeof(LookRecord) == 24);

struct BlockHead {
  std::uint64_t stream, count, size, hash;
};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint64_t hash_of(std::uint64_t stream, std::uint64_t count, std::span<const LookRecord> records) {
  return XXH3_64bits_withSeed(records.data(), records.size_bytes(), stream * kGoldenGamma + count);
}

std::string text_of(const LookLog::Key& key) {
  std::string text;
  for (const auto& [name, value] : key) text += fmt::format("{}={}\n", name, value);
  return text;
}

std::string_view line_at(std::string_view text, std::size_t line) {
  for (; line > 0 && !text.empty(); --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

thread_local SearchPartScope* scope = nullptr;

/// A folder or a device holds no checkpoint.
Status check_is_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) || std::filesystem::is_regular_file(path, failed)) return {};
  return make_error(ErrorCode::kUsage, "--checkpoint: '{}' is no file; name one", path);
}

}  // namespace

// --- the file --------------------------------------------------------------------------------------------------

LookLog::~LookLog() {
  if (file_ != nullptr) std::fclose(file_);
}

std::optional<std::string> LookLog::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_.empty() ? std::nullopt : std::optional(trouble_);
}

Result<std::unique_ptr<LookLog>> LookLog::begin(const std::string& path, const Key& key) {
  REWRIGHT_CHECK(check_is_file(path));
  std::unique_ptr<LookLog> log(new LookLog(path));
  log->file_ = std::fopen(path.c_str(), "wbx");
  if (log->file_ == nullptr && errno == EEXIST)
    return make_error(ErrorCode::kUsage,
                      "--checkpoint: '{}' holds a search already: add --resume to go on with it, or remove the file",
                      path);
  if (log->file_ == nullptr)
    return make_error(ErrorCode::kIo, "--checkpoint: '{}' cannot be made: {}", path, std::strerror(errno));
  const std::string text = text_of(key);
  const std::uint64_t head[] = {text.size(), XXH3_64bits(text.data(), text.size())};
  const bool written = std::fwrite(kMagic.data(), kMagic.size(), 1, log->file_) == 1 &&
                       std::fwrite(head, sizeof(head), 1, log->file_) == 1 &&
                       std::fwrite(text.data(), 1, text.size(), log->file_) == text.size() &&
                       std::fflush(log->file_) == 0;
  if (!written) {
    const int trouble = errno;
    std::remove(path.c_str());
    return make_error(ErrorCode::kIo, "--checkpoint: '{}' cannot be written: {}", path, std::strerror(trouble));
  }
  return log;
}

Result<std::unique_ptr<LookLog>> LookLog::resume(const std::string& path, const Key& key) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return begin(path, key);
  REWRIGHT_CHECK(check_is_file(path));
  const auto unusable = [&](const char* what) {
    return make_error(ErrorCode::kIo, "--checkpoint: '{}' cannot be {}: {}", path, what, std::strerror(errno));
  };
  std::unique_ptr<LookLog> log(new LookLog(path));
  log->file_ = std::fopen(path.c_str(), "ab");
  if (log->file_ == nullptr) return unusable("written");
  std::ifstream in(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) return unusable("read");
  std::size_t good = 0;
  REWRIGHT_CHECK(log->read(content, key, good));
  if (::truncate(path.c_str(), static_cast<off_t>(good)) != 0) return unusable("written");
  return log;
}

/// `good`: how many bytes are whole.
Status LookLog::read(const std::string& content, const Key& key, std::size_t& good) {
  const auto no_checkpoint = [&] {
    return make_error(ErrorCode::kUsage, "--checkpoint: '{}' is no checkpoint of a search; remove it, or name another",
                      path_);
  };
  std::uint64_t head[2];
  good = kMagic.size() + sizeof(head);
  if (content.size() < good || !content.starts_with(kMagic)) return no_checkpoint();
  std::memcpy(head, content.data() + kMagic.size(), sizeof(head));
  if (head[0] > content.size() - good || XXH3_64bits(content.data() + good, head[0]) != head[1]) return no_checkpoint();
  const std::string_view theirs = std::string_view(content).substr(good, head[0]);
  const std::string ours = text_of(key);
  for (std::size_t i = 0; i < key.size() && ours != theirs; ++i)
    if (line_at(theirs, i) != line_at(ours, i))
      return make_error(ErrorCode::kUsage,
                        "--resume: '{}' is of another search ('{}' there, '{}' here); give what it was begun with, or "
                        "another file",
                        path_, line_at(theirs, i), line_at(ours, i));
  good += head[0];
  BlockHead block{};
  while (content.size() - good >= sizeof(block)) {
    std::memcpy(&block, content.data() + good, sizeof(block));
    const std::size_t room = content.size() - good - sizeof(block);
    if (block.size > room / sizeof(LookRecord)) break;
    std::vector<LookRecord> records(block.size);
    if (block.size > 0)
      std::memcpy(records.data(), content.data() + good + sizeof(block), block.size * sizeof(LookRecord));
    std::vector<LookRecord>& stream = streams_[block.stream];
    if (hash_of(block.stream, block.count, records) != block.hash || block.count > stream.size()) break;
    stream.resize(block.count);
    stream.insert(stream.end(), records.begin(), records.end());
    good += sizeof(block) + block.size * sizeof(LookRecord);
  }
  for (const auto& [id, stream] : streams_) read_count_ += stream.size();
  return {};
}

std::vector<LookRecord> LookLog::take(std::uint64_t stream) {
  const std::scoped_lock lock(mutex_);
  const auto found = streams_.find(stream);
  return found == streams_.end() ? std::vector<LookRecord>() : std::move(found->second);
}

void LookLog::write(std::uint64_t stream, std::uint64_t count, std::span<const LookRecord> records) {
  const std::scoped_lock lock(mutex_);
  if (!trouble_.empty()) return;
  const BlockHead head{stream, count, records.size(), hash_of(stream, count, records)};
  const bool written = std::fwrite(&head, sizeof(head), 1, file_) == 1 &&
                       std::fwrite(records.data(), sizeof(LookRecord), records.size(), file_) == records.size() &&
                       std::fflush(file_) == 0;
  if (!written)
    trouble_ = fmt::format("the checkpoint '{}' cannot be written any more ({}); --resume goes on from before that",
                           path_, std::strerror(errno));
}

// --- a stream --------------------------------------------------------------------------------------------------

std::unique_ptr<LookStream> LookStream::of_next_space() {
  if (scope == nullptr || scope->place_.log == nullptr) return nullptr;
  const std::uint64_t words[] = {scope->place_.part, scope->place_.spaces++};
  return std::unique_ptr<LookStream>(new LookStream(scope->place_.log, XXH3_64bits(words, sizeof(words))));
}

LookStream::LookStream(LookLog* log, std::uint64_t id)
    : log_(log), id_(id), known_(log->take(id)), flushed_ns_(now_ns()) {}

LookStream::~LookStream() { flush(); }

std::optional<LookRecord> LookStream::next(std::uint32_t from, std::uint32_t move) {
  if (used_ == known_.size()) return std::nullopt;
  constexpr std::uint32_t kAnswer = LookRecord::kPossible | LookRecord::kKnown;
  const LookRecord& record = known_[used_];
  if (record.from != from || (record.move & ~kAnswer) != move) {
    known_.resize(used_);  // The next block says so.
    return std::nullopt;
  }
  ++used_, ++written_;
  return record;
}

void LookStream::add(const LookRecord& record) {
  fresh_.push_back(record);
  if (fresh_.size() >= kMostUnwritten || now_ns() - flushed_ns_ >= kFlushEvery_ns) flush();
}

void LookStream::flush() {
  flushed_ns_ = now_ns();
  if (fresh_.empty()) return;
  log_->write(id_, written_, fresh_);
  written_ += fresh_.size();
  fresh_.clear();
}

// --- parts -----------------------------------------------------------------------------------------------------

SearchPartScope::SearchPartScope(LookLog* log) : place_{log, 0, 0}, outer_(scope) { scope = this; }

SearchPartScope::SearchPartScope(const Place& outer, std::size_t i) : place_{outer.log, 0, 0}, outer_(scope) {
  const std::uint64_t words[] = {outer.part, outer.spaces, ~std::uint64_t{i}};
  place_.part = XXH3_64bits(words, sizeof(words));
  scope = this;
}

SearchPartScope::~SearchPartScope() { scope = outer_; }

SearchPartScope::Place SearchPartScope::fork() {
  if (scope == nullptr) return {};
  const Place place = scope->place_;
  ++scope->place_.spaces;
  return place;
}

}  // namespace rewright
