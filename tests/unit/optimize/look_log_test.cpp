// Checkpoints: a search that was stopped or killed anywhere ends as if it had not been.
#include "optimize/look_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "optimize/optimizer.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using testing::FixedPrices;
using ::testing::HasSubstr;
using testing::loaded;
using testing::read_graph;

const LookLog::Key kKey = {{"model", "one"}, {"seed", "1"}};

const char* const kModel = R"(
x = input (4, 4)
v = weight (4, 4)
w = weight (4, 4)
a = matmul(x, v)
b = matmul(x, w)
s = ewadd(a, b)
r = relu(s)
t = transpose(r)
u = transpose(t)
p = ewmul(u, x)
q = relu(p)
output q
)";

class Checkpoint : public ::testing::TestWithParam<const char*> {
 protected:
  Checkpoint() : file_(fs::temp_directory_path() / fmt::format("rewright-looks-{}", ::getpid())) { remove(); }
  ~Checkpoint() override { remove(); }
  void remove() const { fs::remove(file_); }
  [[nodiscard]] std::string content() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set_content(const std::string& content) const { std::ofstream(file_, std::ios::binary) << content; }

  /// How a search ends, stopped after so many reports.
  std::string end(LookLog* looks, int reports = 1'000'000, const OptimizeOptions& given = {.steps = 40}) const {
    FixedPrices prices({{"matmul", 30}, {"ewadd", 10}, {"relu", 1}, {"transpose", 2}, {"ewmul", 3}});
    GraphCost cost(prices, nullptr);
    const auto search = (*loaded().get<SearchStrategy>(name_))->clone();
    OptimizeOptions options = given;
    options.looks = looks;
    const auto report = optimize(read_graph(kModel), testing::true_rules(), *search, cost, options,
                                 [&](std::uint64_t, std::uint64_t, double) { return reports-- > 0; });
    if (!report) return report.error().message;
    std::string text =
        fmt::format("{} {} {}\n", report->search.steps, report->search.candidates, to_text(report->best));
    for (const RewriteStep& step : report->search.path)
      text += fmt::format("{} {}\n", step.rule_name, step.cost_after_us);
    return text;
  }
  [[nodiscard]] std::string path() const { return file_.string(); }

  std::string name_ = "backtracking";

 private:
  fs::path file_;
};

TEST_P(Checkpoint, GoesOnFromWhereverItWasStopped) {
  name_ = GetParam();
  const std::string whole = end(nullptr);
  for (const int reports : {0, 1, 3, 10, 25}) {
    SCOPED_TRACE(reports);
    remove();
    {
      const auto looks = LookLog::begin(path(), kKey);
      ASSERT_TRUE(looks) << looks.error().message;
      static_cast<void>(end(looks->get(), reports));
    }
    const auto again = LookLog::resume(path(), kKey);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(end(again->get()), whole);
  }
}

TEST_P(Checkpoint, GoesOnWhereverTheFileEnds) {
  name_ = GetParam();
  const std::string whole = end(nullptr);
  { static_cast<void>(end(LookLog::begin(path(), kKey)->get(), 3)); }  // One block, and then another.
  { EXPECT_EQ(end(LookLog::resume(path(), kKey)->get()), whole); }
  const std::string all = content();
  std::set<std::uint64_t> read;
  for (int i = 1; i <= 8; ++i) {
    SCOPED_TRACE(i);
    set_content(all.substr(0, 100 + (all.size() - 100) * static_cast<std::size_t>(i) / 8));
    const auto again = LookLog::resume(path(), kKey);
    ASSERT_TRUE(again) << again.error().message;
    read.insert((*again)->read_count());
    EXPECT_EQ(end(again->get()), whole);
  }
  EXPECT_TRUE(read.size() > 1 || name_ == "egraph") << "some of it was read, or all";
}

TEST_P(Checkpoint, SaysAllThatASearchAsks) {
  name_ = GetParam();
  std::string whole;
  { whole = end(LookLog::begin(path(), kKey)->get()); }
  const std::string all = content();
  { EXPECT_EQ(end(LookLog::resume(path(), kKey)->get()), whole); }
  EXPECT_EQ(content(), all) << "nothing was worked out, so nothing was written";
}

INSTANTIATE_TEST_SUITE_P(Plugins, Checkpoint,
                         ::testing::Values("backtracking", "greedy", "beam", "annealing", "sampling", "mcts", "egraph"),
                         [](const auto& info) { return std::string(info.param); });

class CheckpointFile : public Checkpoint {};

TEST_F(CheckpointFile, KeepsApartWhatRunsSideBySide) {
  for (const char* name : {"sampling", "backtracking"}) {
    SCOPED_TRACE(name);
    name_ = name;
    remove();
    const auto options = [](int threads) {
      return OptimizeOptions{.steps = 60, .registry = &loaded(), .threads = threads, .region_size = 3};
    };
    const std::string whole = end(nullptr, 1'000'000, options(1));
    { static_cast<void>(end(LookLog::begin(path(), kKey)->get(), 20, options(3))); }
    EXPECT_EQ(end(LookLog::resume(path(), kKey)->get(), 1'000'000, options(1)), whole);
    EXPECT_EQ(end(LookLog::resume(path(), kKey)->get(), 1'000'000, options(3)), whole);
  }
}

TEST_F(CheckpointFile, AnswersNoOtherQuestions) {
  { static_cast<void>(end(LookLog::begin(path(), kKey)->get())); }
  for (const char* other : {"beam", "greedy", "annealing"}) {
    SCOPED_TRACE(other);
    name_ = other;
    const std::string whole = end(nullptr);
    EXPECT_EQ(end(LookLog::resume(path(), kKey)->get()), whole);
    EXPECT_EQ(end(LookLog::resume(path(), kKey)->get()), whole) << "what was cut off stays so";
  }
}

TEST_F(CheckpointFile, MayHaveMoreStepsThanBefore) {
  const std::string more = end(nullptr, 1'000'000, {.steps = 60});
  { static_cast<void>(end(LookLog::begin(path(), kKey)->get(), 1'000'000, {.steps = 10})); }
  const auto again = LookLog::resume(path(), kKey);
  EXPECT_GT((*again)->read_count(), 0u);
  EXPECT_EQ(end(again->get(), 1'000'000, {.steps = 60}), more);
}

TEST_F(CheckpointFile, DamageInTheMiddleCostsWhatFollows) {
  const std::string whole = end(nullptr);
  { static_cast<void>(end(LookLog::begin(path(), kKey)->get())); }
  std::string damaged = content();
  damaged[damaged.size() / 2] ^= 1;
  set_content(damaged);
  EXPECT_EQ(end(LookLog::resume(path(), kKey)->get()), whole);
}

TEST_F(CheckpointFile, IsRefusedWithASentence) {
  { ASSERT_TRUE(LookLog::begin(path(), kKey)); }
  EXPECT_THAT(LookLog::begin(path(), kKey).error().message, HasSubstr("add --resume"));
  EXPECT_THAT(LookLog::resume(path(), {{"model", "one"}, {"seed", "2"}}).error().message,
              HasSubstr("'seed=1' there, 'seed=2' here"));
  set_content("RWLOOKS1 and then nonsense that is long enough to be read as numbers");
  EXPECT_THAT(LookLog::resume(path(), kKey).error().message, HasSubstr("is no checkpoint"));
  EXPECT_THAT(LookLog::resume("/dev/zero", kKey).error().message, HasSubstr("'/dev/zero' is no file"));
  EXPECT_THAT(LookLog::begin("/dev/zero", kKey).error().message, HasSubstr("'/dev/zero' is no file"));
  EXPECT_THAT(LookLog::begin("/no/such/folder/file", kKey).error().message, HasSubstr("/no/such/folder/file"));
  EXPECT_EQ(LookLog::resume("/proc/self/exe", kKey).error().message,
            "--checkpoint: '/proc/self/exe' cannot be written: Text file busy");
}

/// A disk that takes no file of more bytes while this lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before_{};
};

TEST_F(CheckpointFile, OnAFullDiskIsNotBegun) {
  const FullDisk disk(8);
  const auto looks = LookLog::begin(path(), kKey);
  ASSERT_FALSE(looks);
  EXPECT_EQ(looks.error().message, fmt::format("--checkpoint: '{}' cannot be written: File too large", path()));
  EXPECT_FALSE(fs::exists(path())) << "half a checkpoint";
}

TEST_F(CheckpointFile, ThatTheDiskHasNoRoomForStopsNoSearchAndIsSaid) {
  const std::string whole = end(nullptr);
  {
    const auto looks = LookLog::begin(path(), kKey);
    ASSERT_TRUE(looks) << looks.error().message;
    EXPECT_EQ((*looks)->trouble(), std::nullopt);
    const FullDisk disk(fs::file_size(path()));
    EXPECT_EQ(end(looks->get()), whole);
    EXPECT_EQ((*looks)->trouble(),
              fmt::format("the checkpoint '{}' cannot be written any more (File too large); --resume goes on from "
                          "before that",
                          path()));
  }
  const auto again = LookLog::resume(path(), kKey);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(end(again->get()), whole);
}

}  // namespace
}  // namespace rewright
