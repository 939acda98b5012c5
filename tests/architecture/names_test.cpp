// A file is found by its name: none occurs twice in core, operators and plugins, but where it is the room's own.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

/// A file NAME of a folder NAME, and a plugin that is one file of its kind's folder, bear a name that is theirs.
bool is_the_rooms_own(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (file.stem() == folder.filename() || *file.begin() == "operators") return true;
  return *file.begin() == "plugins" && std::distance(file.begin(), file.end()) == 3;
}

/// Where a header and its source lie is one room.
fs::path room_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const std::string text = folder.string(), prefix = "core/include/rewright/";
  return text.starts_with(prefix) ? fs::path("core") / text.substr(prefix.size()) : folder;
}

TEST(Names, NoneOccursTwiceWithoutItsRoom) {
  const fs::path root = REWRIGHT_SOURCE_DIR;
  std::map<std::string, std::set<fs::path>> rooms;     // by name without extension
  std::map<std::string, std::set<std::string>> files;  // by room and name: headers of one name
  for (const char* top : {"core", "operators", "plugins"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path file = fs::relative(entry.path(), root);
      const auto extension = file.extension();
      if ((extension != ".cpp" && extension != ".h") || file.stem() == "main" || file.stem() == "@name@") continue;
      files[(room_of(file) / file.filename()).string()].insert(file.string());
      // What is core's is found by its name too, though a room's own; report/gallery.h is of report/gallery.
      const bool is_own = is_the_rooms_own(file);
      const fs::path room = is_own || !fs::is_directory(root / file.parent_path() / file.stem())
                                ? room_of(file)
                                : file.parent_path() / file.stem();
      if (!is_own || *file.begin() == "core") rooms[file.stem().string()].insert(room);
    }
  }
  for (const auto& [name, found] : rooms) {
    std::string text;
    for (const fs::path& room : found) text += " " + room.string();
    EXPECT_EQ(found.size(), 1U) << name << " is in" << text;
  }
  for (const auto& [name, found] : files) EXPECT_EQ(found.size(), 1U) << name << " is there twice";
}

}  // namespace
