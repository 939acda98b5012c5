#include "enumerate/work_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "enumerate/raw_files.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright::enumeration {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr std::array<char, 8> kWorkMagic = {'r', 'w', 'w', 'k', 0, 0, 0, 1};

struct WorkHeader {
  std::array<char, 8> magic = kWorkMagic;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

}  // namespace

WorkFiles::WorkFiles(std::string folder, std::size_t rank, std::size_t ranks, std::string token, double seconds)
    : folder_(std::move(folder)), rank_(rank), ranks_(ranks), token_(std::move(token)), seconds_(seconds) {
  std::error_code ignored;
  if (!folder_.empty()) fs::create_directories(folder_, ignored);
}

bool WorkFiles::has(const std::string& name) const { return !folder_.empty() && access(path(name).c_str(), F_OK) == 0; }

bool WorkFiles::wanted() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  return !folder_.empty() && (ranks_ > 1 || elapsed.count() >= seconds_);
}

Status WorkFiles::save_bytes(const std::string& name, std::span<const std::byte> bytes) const {
  const std::string temporary = path(name) + ".new";
  const int file = open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return file_error(temporary, "finished work could not be written");
  WorkHeader header;
  header.bytes = bytes.size();
  header.checksum = XXH3_64bits(bytes.data(), bytes.size());
  const bool good = write_all(file, std::as_bytes(std::span(&header, 1))) && write_all(file, bytes) && fsync(file) == 0;
  if (close(file) != 0 || !good || rename(temporary.c_str(), path(name).c_str()) != 0) {
    return file_error(temporary, "finished work could not be written");
  }
  return {};
}

Status WorkFiles::load_bytes(const std::string& name, std::size_t item_bytes,
                             const std::function<std::span<std::byte>(std::size_t)>& room) const {
  const Error damaged =
      make_error(ErrorCode::kMismatch,
                 "{}: this file of finished work is damaged; delete it, and the work is done again", path(name));
  std::ifstream file(path(name), std::ios::binary);
  WorkHeader header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header)) || header.magic != kWorkMagic) return damaged;
  std::error_code failed;
  const std::uint64_t size = fs::file_size(path(name), failed);
  if (failed || size != sizeof(header) + header.bytes || header.bytes % item_bytes != 0) return damaged;
  const std::span<std::byte> bytes = room(header.bytes / item_bytes);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) return damaged;
  if (XXH3_64bits(bytes.data(), bytes.size()) != header.checksum) return damaged;
  return {};
}

Result<bool> WorkFiles::barrier(const std::string& name, const std::function<bool()>& stop) const {
  if (ranks_ == 1) return true;
  const auto sign = [&](std::size_t rank) { return path(fmt::format("{}.{}.{}", token_, name, rank)); };
  const auto failure = [&](std::size_t rank) { return path(fmt::format("{}.failed.{}", token_, rank)); };
  if (!std::ofstream(sign(rank_))) return file_error(sign(rank_), "a sign to the other processes could not be written");
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    while (access(sign(rank).c_str(), F_OK) != 0) {
      if (access(failure(rank).c_str(), F_OK) == 0) {
        std::ifstream file(failure(rank));
        int code = static_cast<int>(ErrorCode::kIo);
        std::string sentence;
        std::getline(file >> code >> std::ws, sentence);
        if (sentence == kStopped) return false;
        return make_error(static_cast<ErrorCode>(code), "process {} of {} failed: {}", rank + 1, ranks_, sentence);
      }
      if (stop && stop()) return false;
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }
  return true;
}

void WorkFiles::fail(const Error& error) const {
  if (ranks_ == 1) return;
  const std::string file = path(fmt::format("{}.failed.{}", token_, rank_)), temporary = file + ".new";
  std::ofstream(temporary) << static_cast<int>(error.code) << " " << error.message << "\n";
  (void)std::rename(temporary.c_str(), file.c_str());  // Nobody reads half of it.
}

}  // namespace rewright::enumeration
