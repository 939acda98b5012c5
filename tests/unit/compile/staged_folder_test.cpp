// A folder is found whole under its name, or it is not there; what is there is changed only where that is asked for.
#include "compile/staged_folder.h"

#include <rewright/base/command.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

class StagedFolderTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::vector<std::string> files(const std::string& name = "") const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path(name))) all.push_back(entry.path().filename());
    return all;
  }
  static void fill(const StagedFolder& staged, const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(staged.path() + "/" + name, text));
  }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::make();
};

TEST_F(StagedFolderTest, IsThereOnceItIsCommitted) {
  const auto staged = *StagedFolder::make(path("a/b/"), false);
  fill(*staged, "file", "text");
  EXPECT_FALSE(fs::exists(path("a/b")));
  ASSERT_TRUE(staged->commit());
  EXPECT_FALSE(staged->discard());
  EXPECT_THAT(files("a"), UnorderedElementsAre("b"));
  EXPECT_EQ(*read_file(path("a/b/file")), "text");
}

TEST_F(StagedFolderTest, LeavesNothingUnlessItIsCommitted) {
  {
    const auto staged = *StagedFolder::make(path("a/b"), false);
    fill(*staged, "file", "text");
    EXPECT_TRUE(staged->discard());
    EXPECT_FALSE(staged->commit());
    const auto dropped = *StagedFolder::make(path("c"), false);
    fill(*dropped, "file", "text");
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(StagedFolderTest, RefusesWhatIsThere) {
  fs::create_directory(path("folder"));
  fs::create_symlink("nowhere", path("link"));
  for (const char* name : {"folder", "link"}) {
    EXPECT_EQ(StagedFolder::make(path(name), false).error().message,
              path(name) + ": it exists; give another folder, or --force to write into it");
  }
  EXPECT_EQ(StagedFolder::make(path("link"), true).error().message, path("link") + ": it is no folder");
}

TEST_F(StagedFolderTest, WritesIntoWhatIsThereWhereThatIsAskedFor) {
  fs::create_directory(path("there"));
  ASSERT_TRUE(write_file(path("there/old"), "old"));
  ASSERT_TRUE(write_file(path("there/other"), "other"));
  const auto staged = *StagedFolder::make(path("there"), true);
  fill(*staged, "old", "new");
  EXPECT_EQ(*read_file(path("there/old")), "old");
  ASSERT_TRUE(staged->commit());
  (void)staged->discard();
  EXPECT_EQ(*read_file(path("there/old")), "new");
  EXPECT_THAT(files("there"), UnorderedElementsAre("old", "other"));
}

TEST_F(StagedFolderTest, ChangesNothingWhereAFolderHasTheNameOfAFile) {
  fs::create_directories(path("there/b"));
  ASSERT_TRUE(write_file(path("there/a"), "old"));
  const auto staged = *StagedFolder::make(path("there"), true);
  fill(*staged, "a", "new");
  fill(*staged, "b", "new");
  const Status status = staged->commit();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("there/b: it is a folder"));
  EXPECT_EQ(*read_file(path("there/a")), "old");
}

TEST_F(StagedFolderTest, CannotBeMadeInAFile) {
  ASSERT_TRUE(write_file(path("file"), "text"));
  EXPECT_THAT(StagedFolder::make(path("file/folder"), false).error().message,
              HasSubstr("file/folder: the folder cannot be made: "));
}

}  // namespace
