#include "peer_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <time.h>

#include <algorithm>
#include <limits>

#include "tune/this_machine.h"

namespace rewright::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBatch = 1e-4;
constexpr double kNever = std::numeric_limits<double>::infinity();

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double batch_of(const Timed& timed, double least) {
  if (timed.seconds) return timed.seconds();
  const int count = least < kBatch ? static_cast<int>(kBatch / least) + 1 : 1;
  const double start = now();
  for (int k = 0; k < count; ++k) timed.run();
  return (now() - start) / count;
}

void run_once(std::vector<Timed*>& all, double seconds) {
  std::vector<double> least(all.size(), kNever);
  for (std::size_t i = 0; i < all.size(); ++i) least[i] = batch_of(*all[i], kNever);
  const double end = now() + seconds;
  for (int round = 0; round < 3 || now() < end; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) least[i] = std::min(least[i], batch_of(*all[i], least[i]));
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->of_runs.push_back(least[i]);
}

bool is_rival(const Timed& peer) { return !peer.name.ends_with("winograd"); }

Json to_json(const std::vector<Timed>& all) {
  Json rows = Json::array();
  for (const Timed& each : all) {
    Json us = Json::array();
    for (const double seconds : each.of_runs) us.push_back(seconds * 1e6);
    Json row = {{"name", each.name}, {"us", std::move(us)}};
    if (each.compile_ms > 0) row.update({{"error", each.error}, {"compile_ms", each.compile_ms}});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Timed> timed_of(const Json& rows) {
  std::vector<Timed> all;
  for (const Json& row : rows) {
    Timed& each = all.emplace_back();
    each.name = row.at("name");
    for (const Json& us : row.at("us")) each.of_runs.push_back(us.get<double>() * 1e-6);
    each.error = row.value("error", 0.0);
    each.compile_ms = row.value("compile_ms", 0.0);
  }
  return all;
}

}  // namespace

double Timed::least() const { return of_runs.empty() ? kNever : *std::ranges::min_element(of_runs); }

void time_in_turn(TimedKernel& kernel, double seconds, int runs) {
  std::vector<Timed*> all;
  for (Timed& each : kernel.ours) all.push_back(&each);
  for (Timed& each : kernel.peers) all.push_back(&each);
  for (int run = 0; run < runs; ++run) run_once(all, seconds);
}

std::string to_record(const TimedKernel& kernel) {
  return Json({{"kernel", kernel.name},
               {"operations", kernel.operations},
               {"peak_gflops", kernel.peak_gflops},
               {"ours", to_json(kernel.ours)},
               {"peers", to_json(kernel.peers)}})
      .dump();
}

Result<TimedKernel> kernel_of_record(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    return TimedKernel{json.at("kernel"), json.at("operations"), json.at("peak_gflops"), timed_of(json.at("ours")),
                       timed_of(json.at("peers"))};
  } catch (const Json::exception& error) {
    return make_error(ErrorCode::kParse, "no record of times: {}", error.what());
  }
}

Result<std::string> rows_of(const TimedKernel& kernel) {
  double best = kNever;
  std::string peers;
  for (const Timed& each : kernel.peers) {
    if (is_rival(each)) best = std::min(best, each.least());
    peers += fmt::format("{}{} {:.1f}", peers.empty() ? "" : "; ", each.name, each.least() * 1e6);
  }
  std::string lines;
  for (const Timed& own : kernel.ours) {
    const double rate = kernel.operations / own.least() / 1e9;
    if (rate > tune::kMostOfPeak * kernel.peak_gflops)
      return make_error(ErrorCode::kInternal,
                        "{}: {:.1f} GFLOP/s are more than the peak of {:.1f}: a fault of measuring", kernel.name, rate,
                        kernel.peak_gflops);
    std::vector<double> ratios;
    for (std::size_t run = 0; run < own.of_runs.size(); ++run) {
      double of_run = kNever;
      for (const Timed& each : kernel.peers)
        if (is_rival(each)) of_run = std::min(of_run, each.of_runs[run]);
      ratios.push_back(of_run / own.of_runs[run]);
    }
    const auto [low, high] = std::ranges::minmax(ratios);
    lines += fmt::format("{}\t{}\t{:.1f}\t{:.1f}\t{:.2f}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{:.1e}\t{:.0f}\n", kernel.name,
                         own.name, own.least() * 1e6, rate, rate / kernel.peak_gflops, peers, best / own.least(), low,
                         high, own.error, own.compile_ms);
  }
  return lines;
}

}  // namespace rewright::bench
