// Measuring that is shared: all is measured, once, in order, whoever is there, slow, dead or of another kind.
#include "tune/shared_measuring.h"

#include <rewright/base/command.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "schedule/apply.h"
#include "support/equal_programs.h"

namespace {

using namespace rewright;
using namespace rewright::tune;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kProduct =
    "buffer a[20, 24] float32 in\nbuffer w[24, 36] float32 weight\nbuffer c[20, 36] float32 out\n"
    "for c.i 20 serial { for c.j 36 serial { store c[c.i, c.j] = 0\n"
    "for c.k 24 serial { store c[c.i, c.j] += a[c.i, c.k] * w[c.k, c.j] } } }";

class Shared : public testing::Test {
 protected:
  Shared() : folder_(*TemporaryFolder::make()) {
    EXPECT_TRUE(registry_.load_default());
    setting_.task.batches = 3;
    setting_.task.batch_us = 20;
    setting_.task.dialect = "vectors";
    setting_.plain = test_support::program_of(kProduct);
    setting_.plugin = *Measurer::plugin_of(registry_, "c");
    for (const char* steps : {"", "split c.i 4", "split c.j 12", "split c.k 8", "reorder c.j c.i"}) {
      auto made = schedule::apply(setting_.plain, *schedule::parse_schedule(steps));
      EXPECT_TRUE(made) << steps;
      programs_.push_back(made->program);
    }
    use_cache("here");
  }
  ~Shared() override { ::unsetenv("XDG_CACHE_HOME"); }

  /// Each host has a lock of its own.
  void use_cache(const std::string& host) {
    ::setenv("XDG_CACHE_HOME", (folder_.path() + "/cache-" + host).c_str(), 1);
  }
  [[nodiscard]] std::string shared() const { return folder_.path() + "/measuring"; }
  Status measure(SharedMeasuring& lead) {
    if (!measurer_) {
      auto started = Measurer::start(setting_);
      EXPECT_TRUE(started) << started.error().message;
      measurer_ = *std::move(started);
    }
    return lead.measure(
        setting_, programs_,
        [&](std::span<const loop::Program> part, const auto& heard) {
          own_ += part.size();
          return measurer_->measure(part, heard);
        },
        [&](std::size_t i, const Measurement& measured) -> Status {
          EXPECT_TRUE(measured.is_ok()) << measured.text;
          heard_.push_back(i);
          return {};
        });
  }
  void wait_for(const std::string& file) const {
    for (int tries = 0; tries < 600 && !fs::exists(shared() + "/" + file); ++tries) std::this_thread::sleep_for(50ms);
  }

  TemporaryFolder folder_;
  Registry registry_;
  Measurer::Setting setting_;
  std::vector<loop::Program> programs_;
  std::unique_ptr<Measurer> measurer_;
  std::vector<std::size_t> heard_;
  std::size_t own_ = 0;
};

TEST_F(Shared, AloneTheTunerMeasuresAll) {
  auto lead = SharedMeasuring::lead(shared(), {"here", "m"});
  ASSERT_TRUE(lead) << lead.error().message;
  ASSERT_TRUE(measure(**lead));
  EXPECT_THAT(heard_, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(own_, 5U);
  lead->reset();
  EXPECT_TRUE(fs::is_empty(shared()));
}

TEST_F(Shared, AWorkerMeasuresItsShareUntilTheTunerEnds) {
  auto lead = SharedMeasuring::lead(shared(), {"here", "m"});
  ASSERT_TRUE(lead) << lead.error().message;
  auto started = Measurer::start(setting_);  // Which has the lock of this host.
  ASSERT_TRUE(started) << started.error().message;
  measurer_ = *std::move(started);
  use_cache("there");
  Result<SharedMeasuring::Service> served = make_error(ErrorCode::kInternal, "it never began");
  std::thread worker([&] { served = SharedMeasuring::serve(shared(), {"there", "m"}, registry_, 30s, {}); });
  wait_for("there.worker");
  const Status status = measure(**lead);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_THAT(heard_, ElementsAre(0, 1, 2, 3, 4)) << "in their order, whoever measured them";
  EXPECT_EQ((*lead)->by_workers() + own_, 5U) << "each once";
  EXPECT_EQ((*lead)->by_workers(), 2U);
  lead->reset();
  worker.join();
  ASSERT_TRUE(served) << served.error().message;
  EXPECT_EQ(served->measured, 2U);
  EXPECT_EQ(served->end, "the tuner ended");
  EXPECT_TRUE(fs::is_empty(shared()));
}

// What a worker took and never answered, and what no worker took, is measured by the tuner.
TEST_F(Shared, NothingIsLostWithAWorker) {
  for (const bool takes : {false, true}) {
    own_ = 0, heard_.clear();
    auto lead = SharedMeasuring::lead(shared(), {"here", "m"}, 2000ms);
    ASSERT_TRUE(lead) << lead.error().message;
    ASSERT_TRUE(write_file(shared() + "/dead.worker", "{}"));
    std::thread thief([&] {
      for (int tries = 0; takes && tries < 600; ++tries, std::this_thread::sleep_for(5ms)) {
        for (const auto& entry : fs::directory_iterator(shared())) {
          if (entry.path().extension() == ".task")
            return fs::rename(entry.path(), entry.path().parent_path() / (entry.path().stem().string() + ".dead"));
        }
      }
    });
    const Status status = measure(**lead);
    thief.join();
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_THAT(heard_, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(own_, 5U) << takes;
  }
}

TEST_F(Shared, AWorkerThatCannotHelpSaysWhy) {
  const auto ended = [&](const SharedMeasuring::Who& who) {
    const auto served = SharedMeasuring::serve(shared(), who, registry_, 0s, {});
    return served ? served->end : served.error().message;
  };
  EXPECT_EQ(ended({"there", "m"}), "nobody tunes here");
  auto lead = SharedMeasuring::lead(shared(), {"here", "m"});
  ASSERT_TRUE(lead) << lead.error().message;
  EXPECT_THAT(ended({"here", "m"}), HasSubstr("here tunes, and measures itself"));
  EXPECT_THAT(ended({"there", "other"}),
              HasSubstr("this machine (other) is of another kind than that of the tuner (m)"));
  const auto stopped = SharedMeasuring::serve(shared(), {"there", "m"}, registry_, 0s, [] { return true; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kBudget);
  ASSERT_TRUE(write_file(shared() + "/" + (*lead)->run() + "-7.task", "nonsense"));
  use_cache("there");
  const auto hostile = SharedMeasuring::serve(shared(), {"there", "m"}, registry_, 0s, {});
  ASSERT_FALSE(hostile);
  EXPECT_THAT(hostile.error().message, HasSubstr("is no order of a tuner"));
}

}  // namespace
