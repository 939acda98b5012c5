// The kernels of experiments/schedules beside oneDNN: one thread, wall-clock least times, interleaved.
//
//   rewright_bench_schedules FOLDER [--only TEXT] [--seconds S] [--runs N] [--out FILE]
//
// A run times ours and each peer in turn, in batches of at least 100 us, until its seconds are over; its figure is the
// least. ratio = least time of the best peer / ours, its interval over the runs. Results are compared with those of the
// program without a schedule. A figure above the peak, measured beside it, ends the program: it is a fault of
// measuring.
#include <rewright/base/toml.h>
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>

#include <CLI/CLI.hpp>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "dnnl_peers.h"
#include "loop/interpreter.h"
#include "loop/lower.h"
#include "schedule/apply.h"
#include "schedule/schedule_space.h"
#include "tune/this_machine.h"

namespace {

using namespace rewright;
using bench::Sizes;

struct Settings {
  std::string folder, only, out;
  double seconds = 0.5;
  int runs = 5;
};

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Timed {
  std::string name;
  std::function<void()> run;
  double least = 1e9;  ///< Seconds, of all runs.
  std::vector<double> of_runs = {};
};

/// Least seconds of each, batch by batch in turn.
void time_in_turn(std::vector<Timed>& all, double seconds) {
  constexpr double kBatch = 1e-4;
  std::vector<double> least(all.size(), 1e9);
  for (Timed& each : all) each.run();
  const double end = now() + seconds;
  for (int round = 0; round < 3 || now() < end; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int count = least[i] < kBatch ? static_cast<int>(kBatch / least[i]) + 1 : 1;
      const double start = now();
      for (int k = 0; k < count; ++k) all[i].run();
      least[i] = std::min(least[i], (now() - start) / count);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].of_runs.push_back(least[i]);
    all[i].least = std::min(all[i].least, least[i]);
  }
}

/// Memory for a program's buffers, cache lines apart.
class Memory {
 public:
  explicit Memory(const loop::Program& program) {
    for (const Buffer& buffer : program.buffers) {
      auto& row = rows_.emplace_back(static_cast<std::size_t>(*loop::element_count(buffer)) + 32);
      std::uint32_t x = static_cast<std::uint32_t>(row.size()) * 77 + 1;
      for (float& f : row) {
        x = x * 1664525U + 1013904223U;
        f = static_cast<float>(static_cast<std::int32_t>(x)) / 2147483648.0F;
      }
      const auto address = reinterpret_cast<std::uintptr_t>(row.data());
      places_.push_back(reinterpret_cast<std::byte*>((address + 63) / 64 * 64));
    }
  }
  [[nodiscard]] std::span<std::byte* const> places() const { return places_; }
  [[nodiscard]] float* floats(std::size_t buffer) const { return reinterpret_cast<float*>(places_[buffer]); }

 private:
  std::vector<std::vector<float>> rows_;
  std::vector<std::byte*> places_;
};

Result<std::unique_ptr<loop::CompiledProgram>> compiled(const Target& target, const loop::Program& program,
                                                        const std::string& dialect) {
  loop::TargetOptions options;
  options.dialect = dialect;
  return compile_one(target, program, options);
}

struct Case {
  std::string name, peer;
  loop::Program plain, scheduled;
  Sizes sizes;
  double work = 2;
};

Error in_case(const std::string& name, const Error& error) {
  return make_error(error.code, "{}: {}", name, error.message);
}

Result<Case> read_case(const toml::table& table, const std::string& folder, int lanes) {
  const auto text = [&](const char* key) { return table[key].value_or(std::string()); };
  Case made{text("name"), text("peer"), {}, {}, {}};
  for (const auto& [key, value] : *table["sizes"].as_table())
    made.sizes[std::string(key.str())] = value.value_or(std::int64_t{0});
  std::istringstream factors(text("work"));
  for (std::string factor; factors >> factor;)
    made.work *= std::isdigit(factor[0]) != 0 ? std::stod(factor) : static_cast<double>(made.sizes.at(factor));
  REWRIGHT_TRY(const std::string program_text, read_file(folder + "/" + text("program")));
  REWRIGHT_TRY(const loop::Program program, loop::parse_program(program_text));
  made.plain = loop::specialised(program, [&](const SizeVar& size) -> std::optional<std::int64_t> {
    const auto at = made.sizes.find(size.text());
    return at == made.sizes.end() ? std::nullopt : std::optional(at->second);
  });
  REWRIGHT_TRY(const std::string space_text, read_file(folder + "/" + text("schedule")));
  REWRIGHT_TRY(schedule::Space space, schedule::parse_space(space_text));
  if (const auto* knobs = table[fmt::format("knobs{}", lanes)].as_table()) {
    for (const auto& [key, value] : *knobs)
      REWRIGHT_CHECK(schedule::give(space, fmt::format("{}={}", key.str(), value.value_or(std::int64_t{0}))));
  }
  REWRIGHT_TRY(const schedule::Choices choices, schedule::given_choices(space));
  REWRIGHT_TRY(const schedule::Schedule steps, schedule::schedule_of(space, choices));
  auto scheduled = schedule::apply(made.plain, steps);
  if (!scheduled) return in_case(made.name, scheduled.error());
  made.scheduled = std::move(scheduled->program);
  return made;
}

/// Relative to 1 or the value, whichever is larger.
double greatest_error(const loop::Program& program, const Memory& a, const Memory& b) {
  double worst = 0;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].role != BufferRole::kOutput) continue;
    for (std::int64_t k = 0; k < *loop::element_count(program.buffers[i]); ++k) {
      const double x = a.floats(i)[k], y = b.floats(i)[k];
      const double error = std::abs(x - y) / std::max(1.0, std::abs(y));
      worst = std::max(worst, std::isnan(error) ? 1e30 : error);
    }
  }
  return worst;
}

/// A line of the table.
Result<std::string> measured(const Case& given, const Target& target, const Settings& settings, double peak) {
  const double start = now();
  REWRIGHT_TRY(const auto code, compiled(target, given.scheduled, "vectors"));
  const double compile_ms = (now() - start) * 1e3;
  REWRIGHT_TRY(const auto plain, compiled(target, given.plain, "c11"));
  const Memory memory(given.scheduled), expected(given.plain);
  for (std::size_t b = 0; b < given.plain.buffers.size(); ++b) {
    const auto count = static_cast<std::size_t>(*loop::element_count(given.plain.buffers[b]));
    std::memcpy(memory.floats(b), expected.floats(b), count * sizeof(float));
  }
  REWRIGHT_CHECK(code->run(memory.places()));
  REWRIGHT_CHECK(plain->run(expected.places()));
  const double error = greatest_error(given.plain, memory, expected);
  if (error > 1e-3) return make_error(ErrorCode::kInternal, "{}: the result is wrong by {}", given.name, error);

  std::vector<Timed> all = {{"ours", [&] { (void)code->run(memory.places()); }}};
  for (bench::Peer& peer : bench::dnnl_peers(given.peer, given.sizes)) all.push_back({peer.name, std::move(peer.run)});
  if (all.size() == 1) return make_error(ErrorCode::kUnsupported, "{}: there is no peer '{}'", given.name, given.peer);
  for (int run = 0; run < settings.runs; ++run) time_in_turn(all, settings.seconds);
  const auto is_peer = [](const Timed& each) { return each.name != "ours" && !each.name.ends_with("winograd"); };
  std::vector<double> ratios;
  for (std::size_t run = 0; run < all[0].of_runs.size(); ++run) {
    double best = 1e9;
    for (const Timed& each : all)
      if (is_peer(each)) best = std::min(best, each.of_runs[run]);
    ratios.push_back(best / all[0].of_runs[run]);
  }
  std::ranges::sort(ratios);
  double best = 1e9;
  std::string peers;
  for (const Timed& each : all) {
    if (is_peer(each)) best = std::min(best, each.least);
    if (each.name != "ours")
      peers += fmt::format("{}{} {:.1f}", peers.empty() ? "" : "; ", each.name, each.least * 1e6);
    const double rate = given.work / each.least / 1e9;
    if (each.name == "ours" && rate > tune::kMostOfPeak * peak)
      return make_error(ErrorCode::kInternal,
                        "{}: {:.1f} GFLOP/s are more than the peak of {:.1f}: a fault of measuring", given.name, rate,
                        peak);
  }
  return fmt::format("{}\t{:.1f}\t{:.1f}\t{:.2f}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{:.1e}\t{:.0f}\n", given.name,
                     all[0].least * 1e6, given.work / all[0].least / 1e9, given.work / all[0].least / 1e9 / peak, peers,
                     best / all[0].least, ratios.front(), ratios.back(), error, compile_ms);
}

Status run(const Settings& settings) {
  Registry registry;
  REWRIGHT_CHECK(registry.load_default());
  REWRIGHT_TRY(const Target* target, registry.get<Target>("c"));
  const int lanes = __builtin_cpu_supports("avx512f") != 0 ? 16 : 8;
  REWRIGHT_TRY(const tune::Machine machine, tune::measured_machine(true));
  const double limit = machine.peak_gflops;
  const std::string file = settings.folder + "/cases.toml";
  REWRIGHT_TRY(const std::string text, read_file(file));
  REWRIGHT_TRY(const toml::table table, parse_toml(text, file));
  std::string lines = "kernel\tus\tgflops\tshare\tpeers_us\tratio\tlow\thigh\terror\tcompile_ms\n";
  std::printf("peak %.1f GFLOP/s, vectors of %d\n%s", limit, lanes, lines.c_str());
  for (const auto& node : *table["case"].as_array()) {
    const toml::table& row = *node.as_table();
    if (row["name"].value_or(std::string()).find(settings.only) == std::string::npos) continue;
    REWRIGHT_TRY(const Case given, read_case(row, settings.folder, lanes));
    REWRIGHT_TRY(const std::string line, measured(given, *target, settings, limit));
    std::printf("%s", line.c_str());
    std::fflush(stdout);
    lines += line;
  }
  return settings.out.empty() ? Status() : write_file(settings.out, lines);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the kernels of experiments/schedules beside oneDNN's (OMP_NUM_THREADS=1, taskset -c 1)");
  Settings settings;
  app.add_option("folder", settings.folder, "cases.toml, programs and schedules")->required();
  app.add_option("--only", settings.only, "Kernels whose name has this text");
  app.add_option("--seconds", settings.seconds, "For each run of a kernel")->capture_default_str();
  app.add_option("--runs", settings.runs, "Runs of each kernel")->capture_default_str();
  app.add_option("--out", settings.out, "A file for the table");
  CLI11_PARSE(app, argc, argv);
  const auto status = run(settings);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
