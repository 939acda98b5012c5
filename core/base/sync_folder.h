// Names that outlive a loss of power.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace rewright {

/// fsync() of a file keeps its bytes, not its name: what was made, renamed or removed in a folder is on the disk once
/// the folder of `path` is synchronised, too. Where a file system cannot do that, nothing more can be done.
inline void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}

}  // namespace rewright
