// How a store grows: the candidates of a campaign written over and over under new ids, then read.
//
//   rewright_bench_store STORE NEW_STORE [--candidates N]
//
// STORE is that of a campaign, NEW_STORE is made. tests/RESULTS.md says what it found.
#include <CLI/CLI.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "campaign/candidate_batch.h"
#include "store/store.h"

namespace {
using namespace rewright;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Says what `work` took, by the clock and of the processor.
Status measure(const char* what, const std::function<Status()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = cpu_seconds();
  REWRIGHT_CHECK(work());
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  fmt::print("{:<28} {:9.2f} s {:9.2f} s of CPU {:9.0f} MiB at most\n", what, wall.count(), cpu_seconds() - before,
             peak_mib());
  return {};
}

/// Spread over their index as hashes are.
std::string new_id(std::uint64_t number) {
  return fmt::format("{:016x}{:016x}", number * 0x9e3779b97f4a7c15, (number + 1) * 0xbf58476d1ce4e5b9);
}

Status write(Store& store, const std::vector<CandidateRecord>& originals, std::int64_t count) {
  std::int64_t position = 0;
  while (position < count) {
    REWRIGHT_CHECK(store.database().transaction([&]() -> Status {
      const std::int64_t end =
          std::min(count, position + static_cast<std::int64_t>(candidate_batch(static_cast<std::size_t>(position))));
      for (; position < end; ++position) {
        CandidateRecord record = originals[static_cast<std::size_t>(position) % originals.size()];
        record.position = position;
        record.id = new_id(static_cast<std::uint64_t>(position));
        REWRIGHT_CHECK(store.add(record));
      }
      return {};
    }));
  }
  return {};
}

Status run(const std::string& from, const std::string& to, std::int64_t count) {
  std::vector<CandidateRecord> originals;
  {
    REWRIGHT_TRY(const auto store, Store::open(from, Store::Mode::kRead));
    REWRIGHT_CHECK(store->candidates([&](const CandidateRecord& record) -> Status {
      originals.push_back(record);
      return {};
    }));
    if (originals.empty()) return Error{ErrorCode::kUsage, "the store has no candidates"};
    REWRIGHT_TRY(const auto campaign, store->campaign());
    REWRIGHT_TRY(const auto made, Store::open(to, Store::Mode::kRun));
    REWRIGHT_CHECK(made->begin(*campaign));
    REWRIGHT_CHECK(measure("written", [&] { return write(*made, originals, count); }));
  }
  std::unique_ptr<Store> store;
  REWRIGHT_CHECK(measure("opened and counted", [&]() -> Status {
    REWRIGHT_TRY(store, Store::open(to, Store::Mode::kRead));
    REWRIGHT_TRY(const std::int64_t there, store->count("candidates"));
    return there == count ? Status() : Error{ErrorCode::kMismatch, "candidates are missing"};
  }));
  REWRIGHT_CHECK(measure("read one by one", [&] { return store->candidates([](const auto&) { return Status(); }); }));
  REWRIGHT_CHECK(measure("10,000 looked up", [&]() -> Status {
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      const auto position = static_cast<std::int64_t>(i * 0x9e3779b97f4a7c15 % static_cast<std::uint64_t>(count));
      REWRIGHT_CHECK(store->candidate(position));
    }
    return {};
  }));
  fmt::print("{} candidates, {:.0f} MiB on disk\n", count,
             static_cast<double>(std::filesystem::file_size(store->path("store.sqlite"))) / (1 << 20));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How a store grows: candidates of a campaign written over and over, then read.");
  std::string from;
  std::string to;
  std::int64_t count = 10'000'000;
  app.add_option("store", from, "store of a campaign")->required();
  app.add_option("new_store", to, "store to make")->required();
  app.add_option("--candidates", count, "how many to write")->capture_default_str()->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (const Status done = run(from, to, count); !done) {
    fmt::print(stderr, "rewright_bench_store: {}\n", done.error().message);
    return 2;
  }
}
