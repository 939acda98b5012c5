// Files are written whole or not at all, and what is no file stays what it is.
#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace rewright {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / fmt::format("rewright-files-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(Files, AreWrittenOver) {
  ASSERT_TRUE(write_file(path("a"), "long ago"));
  ASSERT_TRUE(write_file(path("a"), "now"));
  EXPECT_EQ(*read_file(path("a")), "now");
  EXPECT_EQ(count(), 1);
}

TEST_F(Files, AreWrittenThroughASymbolicLink) {
  fs::create_directories(folder_ / "elsewhere");
  ASSERT_TRUE(write_file(path("elsewhere/a"), "long ago"));
  fs::create_symlink("elsewhere/a", folder_ / "link");
  ASSERT_TRUE(write_file(path("link"), "now"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(path("elsewhere/a")), "now");
}

TEST_F(Files, APipeStaysOne) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(write_file(path("pipe"), "text"));
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  EXPECT_EQ(count(), 1);
}

TEST_F(Files, AFolderIsNotWritten) {
  const Status status = write_file(folder_.string(), "text");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              HasSubstr(fmt::format("'{}' cannot be written: Is a directory", folder_.string())));
  EXPECT_EQ(count(), 0);
}

TEST_F(Files, AFolderIsNotRead) {
  const auto text = read_file(folder_.string());
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, fmt::format("'{}' cannot be read: Is a directory", folder_.string()));
}

TEST_F(Files, WhatCannotBeWrittenToItsEndLeavesWhatWasThere) {
  ASSERT_TRUE(write_file(path("a"), "long ago"));
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit limit = {1000, unlimited.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status over = write_file(path("a"), std::string(2000, 'x')),
               anew = write_file(path("b"), std::string(2000, 'x'));
  setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, before);
  ASSERT_FALSE(over);
  ASSERT_FALSE(anew);
  EXPECT_EQ(over.error().code, ErrorCode::kIo);
  EXPECT_EQ(over.error().message,
            fmt::format("'{}' cannot be written: File too large; free some space and try again", path("a")));
  EXPECT_EQ(*read_file(path("a")), "long ago");
  EXPECT_EQ(count(), 1) << "nothing half-written is left";
}

}  // namespace
}  // namespace rewright
