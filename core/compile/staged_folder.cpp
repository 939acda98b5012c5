#include "compile/staged_folder.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/sync_folder.h"

namespace rewright::compile {
namespace {

namespace fs = std::filesystem;

Error not_made(const fs::path& folder, const std::error_code& why) {
  return make_error(ErrorCode::kIo, "{}: the folder cannot be made: {}", folder.string(), why.message());
}

}  // namespace

void remove_at_once(const fs::path& folder) {
  std::error_code failed;
  const fs::path gone = folder.string() + ".gone";
  fs::rename(folder, gone, failed);
  if (!failed) fs::remove_all(gone, failed);
}

Result<std::unique_ptr<StagedFolder>> StagedFolder::make(const std::string& folder, bool into) {
  std::error_code ignored;
  const bool is_there = fs::exists(fs::symlink_status(folder, ignored));
  if (is_there && !into) {
    return make_error(ErrorCode::kUsage, "{}: it exists; give another folder, or --force to write into it", folder);
  }
  if (is_there && !fs::is_directory(folder, ignored))
    return make_error(ErrorCode::kUsage, "{}: it is no folder", folder);
  fs::path place = fs::absolute(folder, ignored).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  std::unique_ptr<StagedFolder> staged(new StagedFolder(std::move(place), is_there));
  REWRIGHT_CHECK(staged->create());
  return staged;
}

StagedFolder::StagedFolder(fs::path folder, bool is_there) : folder_(std::move(folder)), is_there_(is_there) {
  const std::string name = fmt::format("{}.tmp", ::getpid());
  staged_ = is_there_ ? folder_ / ("." + name) : fs::path(folder_.string() + "." + name);
}

Status StagedFolder::create() {
  std::error_code failed;
  for (fs::path above = staged_.parent_path(); !fs::exists(above, failed); above = above.parent_path()) {
    made_.insert(made_.begin(), above);
  }
  fs::remove_all(staged_, failed);  // Of a process of the same number that was killed.
  fs::create_directories(staged_, failed);
  return failed ? Status(not_made(folder_, failed)) : Status();
}

Status StagedFolder::commit() {
  const std::scoped_lock lock(mutex_);
  if (is_discarded_) return make_error(ErrorCode::kIo, "{}: it was discarded", folder_.string());
  if (is_there_) {
    REWRIGHT_CHECK(move_files());
  } else {
    std::error_code failed;
    fs::rename(staged_, folder_, failed);
    if (failed) return not_made(folder_, failed);
  }
  sync_folder_of(folder_);
  is_committed_ = true;
  return {};
}

Status StagedFolder::move_files() const {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(staged_, failed)) files.push_back(entry.path());
  for (const fs::path& file : files) {
    const fs::path place = folder_ / file.filename();
    if (!fs::is_directory(place, failed)) continue;
    return make_error(ErrorCode::kUsage, "{}: it is a folder, and a file is to have this name", place.string());
  }
  for (const fs::path& file : files) {
    fs::rename(file, folder_ / file.filename(), failed);
    if (failed) return make_error(ErrorCode::kIo, "{}: {}", (folder_ / file.filename()).string(), failed.message());
  }
  return {};
}

bool StagedFolder::discard() {
  const std::scoped_lock lock(mutex_);
  std::error_code ignored;
  remove_at_once(staged_);  // Empty, or no longer there, where it was committed.
  if (is_committed_) return false;
  is_discarded_ = true;
  for (auto above = made_.rbegin(); above != made_.rend(); ++above) fs::remove(*above, ignored);  // Where it is empty.
  return true;
}

}  // namespace rewright::compile
