// A folder that is filled under another name, beside or inside the one that it is for, and takes its place when it is
// whole: what is found under the name is never half of it.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rewright::compile {

/// Removes a folder that others may be writing into: from the first moment on nothing can be made under its name.
REWRIGHT_API void remove_at_once(const std::filesystem::path& folder);

class REWRIGHT_API StagedFolder {
 public:
  /// Makes the folder that is to be filled, and those above it. Errors: kUsage, `folder` is there and not `into` what
  /// is there, or is no folder; kIo.
  [[nodiscard]] static Result<std::unique_ptr<StagedFolder>> make(const std::string& folder, bool into);
  ~StagedFolder() { (void)discard(); }
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  [[nodiscard]] std::string path() const { return staged_.string(); }
  /// In a folder that is there, each file takes the place of one of its name. Errors: kIo; kUsage, a folder has the
  /// name of a file.
  [[nodiscard]] Status commit();
  /// Removes what was made, unless it was committed: then it is false. From any thread; nothing is committed
  /// afterwards.
  bool discard();

 private:
  StagedFolder(std::filesystem::path folder, bool is_there);
  [[nodiscard]] Status create();
  [[nodiscard]] Status move_files() const;

  std::filesystem::path folder_, staged_;
  bool is_there_;
  std::vector<std::filesystem::path> made_;  ///< Folders above it, from the top.
  std::mutex mutex_;
  bool is_committed_ = false, is_discarded_ = false;
};

}  // namespace rewright::compile
