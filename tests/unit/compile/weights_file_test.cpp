// Files of weights: what is in them, how large they may be, and what is left where they cannot be written.
#include "compile/weights_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "compiled_graph.h"
#include "support/limit.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using rewright::testing::Limit;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

class WeightsFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::make();
};

std::vector<float> numbers_at(const std::string& file, std::int64_t offset, std::size_t count) {
  std::vector<float> numbers(count);
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(offset);
  stream.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(count * sizeof(float)));
  EXPECT_TRUE(stream);
  return numbers;
}

std::int64_t bytes_on_disk(const std::string& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0);
  return std::int64_t{status.st_blocks} * 512;
}

TEST_F(WeightsFile, HasEachWeightAtItsPlace) {
  std::ofstream(path("data"), std::ios::binary) << std::string(100, 'x') << std::string("\0\0\x80?\0\0\0@", 8);
  const PlacedWeight weights[] = {{0, constant(floats({2}), {1, 2})},
                                  {64, repeated(floats({3}), 7)},
                                  {128, ExternalWeight{floats({2}), "data", path("data"), 100, 8}}};
  ASSERT_TRUE(write_weights(weights, 136, path("weights")));
  EXPECT_EQ(fs::file_size(path("weights")), 136U);
  EXPECT_THAT(numbers_at(path("weights"), 0, 3), ElementsAre(1, 2, 0));
  EXPECT_THAT(numbers_at(path("weights"), 64, 4), ElementsAre(7, 7, 7, 0));
  EXPECT_THAT(numbers_at(path("weights"), 128, 2), ElementsAre(1, 2));
}

TEST_F(WeightsFile, IsNotThereWhereAFileOfTheModelIsTooShort) {
  std::ofstream(path("data")) << "short";
  const PlacedWeight weights[] = {{0, constant(floats({2}), {1, 2})},
                                  {64, ExternalWeight{floats({2}), "data", path("data"), 0, 8}}};
  EXPECT_EQ(write_weights(weights, 72, path("weights")).error().message,
            "external data '" + path("data") + "' cannot be read");
  EXPECT_THAT(std::vector<fs::path>(fs::directory_iterator(fs::path(path("")).parent_path()), {}),
              ElementsAre(path("data")));
}

TEST_F(WeightsFile, IsNotThereWhereItMayNotGrowSoLarge) {
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const PlacedWeight weights[] = {{0, repeated(floats({1 << 20}), 1)}};
  Status written;
  {
    const Limit limit(RLIMIT_FSIZE, 1 << 20);
    written = write_weights(weights, 4 << 20, path("weights"));
  }
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message,
            "'" + path("weights") + "' cannot be written: File too large; free some space and try again");
  EXPECT_TRUE(fs::is_empty(fs::path(path("")).parent_path()));
}

TEST_F(WeightsFile, OnAFullDeviceIsASentence) {
  const PlacedWeight weights[] = {{0, repeated(floats({4}), 1)}};
  EXPECT_EQ(write_weights(weights, 16, "/dev/full").error().message,
            "'/dev/full' cannot be written: No space left on device; free some space and try again");
}

/// Address space is limited to little more than is in use: a weight of 1 GiB could not be held.
TEST_F(WeightsFile, OfRepeatedNumbersTakesNoMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve address space";
#endif
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = static_cast<rlim_t>(pages) * 4096 + (rlim_t{64} << 20);
  const std::int64_t count = kGiB / 4, large = (std::int64_t{96} << 20) / 4;
  const PlacedWeight zeros[] = {{0, repeated(floats({count}), 0)}}, ones[] = {{0, repeated(floats({large}), 1)}};
  Status of_zeros, of_ones;
  {
    const Limit limit(RLIMIT_AS, most);
    of_zeros = write_weights(zeros, 4 * count, path("zeros"));
    of_ones = write_weights(ones, 4 * large, path("ones"));
  }
  EXPECT_TRUE(of_zeros);
  EXPECT_TRUE(of_ones);
  EXPECT_THAT(numbers_at(path("ones"), 4 * large - 8, 2), ElementsAre(1, 1));
  EXPECT_LT(bytes_on_disk(path("zeros")), 1 << 20);
}

/// Zeros take no room; the numbers that are read lie behind them.
TEST_F(WeightsFile, OfMoreThan4GiBIsMappedAndRead) {
  const std::int64_t rows = 1'200'000, columns = 1000, elements = rows * columns;
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({1, 2}));
  const Port big =
      *builder.input("big", floats({rows, columns}), InputKind::kWeight, repeated(floats({rows, columns}), 0));
  const Port w = *builder.input("w", floats({1, 2}), InputKind::kWeight, constant(floats({1, 2}), {10, 20}));
  const std::vector<std::int64_t> axes = {0, 1}, starts = {rows - 1, columns - 2}, sizes = {1, 2}, steps = {1, 1};
  const Port end =
      *builder.apply1("slice", {{"axes", axes}, {"starts", starts}, {"sizes", sizes}, {"steps", steps}}, {big});
  builder.output(*builder.apply1("ewadd", {}, {x, end}), "of big");
  builder.output(*builder.apply1("ewadd", {}, {x, w}), "of w");

  const Library library(model_of(builder.finish()));
  const std::string file = library.path("model.weights");
  ASSERT_GT(library.artefact().weight_bytes, 4 * kGiB);
  EXPECT_EQ(fs::file_size(file), static_cast<std::uintmax_t>(library.artefact().weight_bytes));
  EXPECT_LT(bytes_on_disk(file), 1 << 20);
  {
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    const float last[] = {3, 4};
    stream.seekp((elements - 2) * 4);
    stream.write(reinterpret_cast<const char*>(last), sizeof last);
  }
  EXPECT_THAT(library.run({{0.5, 0.25}}), ElementsAre(ElementsAre(3.5, 4.25), ElementsAre(10.5, 20.25)));
}

}  // namespace
