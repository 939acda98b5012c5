#include "enumerate/fingerprints.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>

#include "enumerate/space.h"
#include "support/limit.h"

namespace rewright::enumeration {
namespace {

namespace fs = std::filesystem;

class Fingerprints : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rewright-fingerprints-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Every third of the first numbers comes twice.
  static void add(FingerprintStore& store, std::uint64_t from, std::uint64_t to) {
    FingerprintStore::Writer writer(store);
    for (std::uint64_t i = from; i < to; ++i) {
      writer.add(mix(i));
      if (i % 3 == 0) writer.add(mix(i));
    }
  }
  static void expect(FingerprintStore& store, std::uint64_t distinct) {
    std::vector<std::uint64_t> shared;
    const auto counted = store.count_distinct(&shared, 2);
    ASSERT_TRUE(counted) << counted.error().message;
    EXPECT_EQ(*counted, distinct);
    EXPECT_EQ(shared.size(), (distinct + 2) / 3);
    EXPECT_TRUE(std::is_sorted(shared.begin(), shared.end()));
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < distinct; i += 3) sum += mix(i);
    EXPECT_EQ(std::accumulate(shared.begin(), shared.end(), std::uint64_t{0}), sum) << "as many, but others";
  }
  fs::path folder_;
};

constexpr std::uint64_t kMany = 6'000'000;  // 64 MB with the repetitions.

TEST_F(Fingerprints, AreCountedInMemory) {
  FingerprintStore store(0, folder_.string());
  add(store, 0, 100'000);
  EXPECT_EQ(store.size(), 133'334U);
  expect(store, 100'000);
}

TEST_F(Fingerprints, ThatDoNotFitTheMemoryAreReadBackFromAFile) {
  FingerprintStore store(std::uint64_t{32} << 20, folder_.string());
  add(store, 0, kMany);
  ASSERT_TRUE(store.status());
  expect(store, kMany);
  EXPECT_TRUE(fs::is_empty(folder_)) << "the file has no name";
}

TEST_F(Fingerprints, AFolderThatIsNotThereIsAnError) {
  FingerprintStore store(std::uint64_t{32} << 20, path("no such folder"));
  add(store, 0, kMany);
  const Status status = store.status();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("no such folder"), std::string::npos);
}

TEST_F(Fingerprints, AFileThatTakesNoMoreIsAnErrorThatSaysSo) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  FingerprintStore store(std::uint64_t{32} << 20, folder_.string());
  {
    const testing::Limit limit(RLIMIT_FSIZE, (1 << 20) + 1000);  // Within a write.
    add(store, 0, kMany);
  }
  std::signal(SIGXFSZ, before);
  const Status status = store.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            folder_.string() +
                ": fingerprints that do not fit the memory could not be written: File too large; give the run more "
                "memory or another disk");
  EXPECT_FALSE(store.persist(path("piece"))) << "some are lost";
}

TEST_F(Fingerprints, APieceThatTheDiskHasNoRoomForIsAnErrorThatNamesItsFile) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  FingerprintStore store(std::uint64_t{1} << 30, folder_.string());
  store.begin_piece();
  add(store, 0, kMany);
  Status status;
  {
    const testing::Limit limit(RLIMIT_FSIZE, 1000);
    status = store.persist(path("piece"));
  }
  std::signal(SIGXFSZ, before);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, path("piece.new") + ": fingerprints could not be written: File too large");
  EXPECT_FALSE(fs::exists(path("piece")));
}

#ifndef REWRIGHT_SANITIZED  // Their shadow memory knows no limit.
TEST_F(Fingerprints, ThatNoMemoryIsLeftForAreAnErrorThoughTheyWereTaken) {
  FingerprintStore store(0, folder_.string());
  {
    auto writer = std::make_unique<FingerprintStore::Writer>(store);
    for (std::uint64_t i = 0; i < 100; ++i) writer->add(mix(i));  // Held back: fewer than are handed over at once.
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const testing::Limit limit(RLIMIT_AS,
                               pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (std::uint64_t{8} << 20));
    writer.reset();
  }
  const Status status = store.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kBudget);
  EXPECT_NE(status.error().message.find("out of memory: fingerprints could not be kept"), std::string::npos)
      << status.error().message;
}
#endif

TEST_F(Fingerprints, MayBeAnyNumberZeroToo) {
  FingerprintStore store(0, folder_.string());
  {
    FingerprintStore::Writer writer(store);
    for (const std::uint64_t fingerprint : {0, 1, 0, 2, 0}) writer.add(fingerprint);
  }
  std::vector<std::uint64_t> shared;
  EXPECT_EQ(*store.count_distinct(&shared, 1), 3U);
  EXPECT_EQ(shared, std::vector<std::uint64_t>{0});
}

TEST_F(Fingerprints, OfAPieceGoToItsFileAndNoOthers) {
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{32} << 20}) {
    {
      FingerprintStore store(memory, folder_.string());
      add(store, 0, kMany / 16);
      store.begin_piece();
      add(store, kMany / 16, kMany / 8);  // Ends in the chunks that the piece began in the middle of.
      add(store, kMany / 8, kMany);
      ASSERT_TRUE(store.persist(path("piece")));
      expect(store, kMany);
      store.begin_piece();
      add(store, kMany, kMany + 10);
      ASSERT_TRUE(store.persist(path("small")));
    }
    FingerprintStore again(memory, folder_.string());
    ASSERT_TRUE(again.load(path("small")));
    EXPECT_EQ(again.size(), 14U);
    FingerprintStore whole(memory, folder_.string());
    ASSERT_TRUE(whole.load(path("piece")));
    add(whole, 0, kMany / 16);
    expect(whole, kMany);
  }
}

TEST_F(Fingerprints, SharesAddUp) {
  FingerprintStore store(0, folder_.string());
  add(store, 0, 100'000);
  std::uint64_t distinct = 0;
  std::vector<std::uint64_t> all, shared;
  for (std::size_t rank = 0; rank < 3; ++rank) distinct += *store.count_distinct(&shared, 1, {rank, 3});
  EXPECT_EQ(distinct, 100'000U);
  ASSERT_TRUE(store.count_distinct(&all, 1));
  std::sort(shared.begin(), shared.end());
  EXPECT_EQ(shared, all);
}

TEST_F(Fingerprints, OfAFileThatBecameShorterSinceAreAnError) {
  FingerprintStore writer(0, folder_.string());
  add(writer, 0, 1000);
  ASSERT_TRUE(writer.persist(path("piece")));
  FingerprintStore reader(0, folder_.string());
  ASSERT_TRUE(reader.load(path("piece")));
  fs::resize_file(path("piece"), fs::file_size(path("piece")) - 8);
  const auto own = writer.count_distinct(nullptr, 1), others = reader.count_distinct(nullptr, 1);
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, ErrorCode::kIo);
  EXPECT_EQ(own.error().message,
            folder_.string() + ": fingerprints could not be read back: their file has become shorter");
  ASSERT_FALSE(others);
  EXPECT_EQ(others.error().code, ErrorCode::kMismatch);
  EXPECT_EQ(others.error().message,
            path("piece") + ": this file of fingerprints is damaged; delete it, and what it held is done again");
}

TEST_F(Fingerprints, ADamagedFileIsToldFromAWholeOne) {
  {
    FingerprintStore store(0, folder_.string());
    add(store, 0, 1000);
    ASSERT_TRUE(store.persist(path("piece")));
  }
  const auto size = fs::file_size(path("piece"));
  const auto refused = [&](const char* what) {
    FingerprintStore store(0, folder_.string());
    Status status = store.load(path("piece"));
    if (status) {
      const auto counted = store.count_distinct(nullptr, 1);
      if (!counted) status = counted.error();
    }
    ASSERT_FALSE(status) << what;
    EXPECT_NE(status.error().message.find(path("piece")), std::string::npos);
  };
  for (const std::uint64_t at : {std::uint64_t{3}, std::uint64_t{100}, size - 3}) {
    std::fstream file(path("piece"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
    file.close();
    refused("a bit is turned");
    file.open(path("piece"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
  }
  fs::resize_file(path("piece"), size - 8);
  refused("the end is missing");
  fs::resize_file(path("piece"), 10);
  refused("nearly all is missing");
}

}  // namespace
}  // namespace rewright::enumeration
