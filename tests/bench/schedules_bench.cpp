// Scheduled kernels beside those of libraries: one thread, wall-clock least times, interleaved (peer_table.h).
//
//   rewright_bench_schedules FOLDER [--cases FILE] [--ours NAME=STORE ...] [--only TEXT] [--seconds S] [--runs N]
//                            [--records FILE] [--out FILE]
//   rewright_bench_schedules --from-records FILE [--out FILE]
//
//   cases.toml      kernels of experiments/schedules: ours is by hand, peers are oneDNN's
//   operators.toml  those of experiments/tuning: ours are what `rewright tune` left in stores, the schedule that needs
//                   no search (template) and that of Halide's scheduler of 2019 (adams2019); peers are oneDNN's,
//                   OpenBLAS's and ONNX Runtime's
//
// It is built with -DREWRIGHT_BUILD_BENCHMARKS=ON where Debian's libdnnl-dev is. Results are compared with those of the
// program without a schedule; weights are packed before it is timed, as the peers' are. The peak is measured before and
// after each kernel, and the greater of both counts: a virtual machine's clock changes. A figure above it ends the
// program: it is a fault of measuring. --records keeps the times, --from-records makes the table of them.
#include <rewright/base/toml.h>
#include <rewright/loop/target.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "loop/interpreter.h"
#include "loop/lower.h"
#include "operator_peers.h"
#include "peer_table.h"
#include "schedule/apply.h"
#include "schedule/schedule_space.h"
#include "store/schedule_records.h"
#include "tune/before_runs.h"
#include "tune/kernel_program.h"
#include "tune/this_machine.h"
#include "tune/tuning_task.h"

namespace {

using namespace rewright;
using bench::Sizes;
using bench::TimedKernel;

struct Settings {
  std::string folder, cases = "cases.toml", only, out, records, from_records;
  std::vector<std::string> ours;
  double seconds = 0.5;
  int runs = 5;
};

/// Memory for a program's buffers, cache lines apart. What is given has the same values under the same name.
class Memory {
 public:
  explicit Memory(const loop::Program& program) {
    for (const Buffer& buffer : program.buffers) {
      auto& row = rows_.emplace_back(static_cast<std::size_t>(*loop::element_count(buffer)) + 32);
      const auto address = reinterpret_cast<std::uintptr_t>(row.data());
      places_.push_back(reinterpret_cast<std::byte*>((address + 63) / 64 * 64));
      float* const begin = floats(places_.size() - 1);
      std::uint32_t x = 1;
      for (const char c : buffer.name) x = x * 31 + static_cast<unsigned char>(c);
      for (std::int64_t i = 0; i < *loop::element_count(buffer); ++i) {
        x = x * 1664525U + 1013904223U;
        begin[i] = static_cast<float>(static_cast<std::int32_t>(x)) / 2147483648.0F;
      }
    }
  }
  [[nodiscard]] std::span<std::byte* const> places() const { return places_; }
  [[nodiscard]] float* floats(std::size_t buffer) const { return reinterpret_cast<float*>(places_[buffer]); }

 private:
  std::vector<std::vector<float>> rows_;
  std::vector<std::byte*> places_;
};

using Compiled = std::unique_ptr<loop::CompiledProgram>;

Result<Compiled> compiled(const Target& target, const loop::Program& program, const std::string& dialect) {
  loop::TargetOptions options;
  options.dialect = dialect;
  return compile_one(target, program, options);
}

/// One of ours: how a program runs.
struct Own {
  std::string name;
  const Target* target = nullptr;
  loop::Program program;
  std::string dialect = "vectors";
};
struct Case {
  std::string name, program, peer;
  loop::Program plain;
  Sizes sizes;
  double operations = 0;
  std::vector<Own> ours = {};
};

/// What all cases need.
struct Bench {
  Registry registry;
  const Target* c = nullptr;
  const Target* halide = nullptr;  ///< May be missing.
  tune::Machine machine;
  int lanes = 8;
};

Result<loop::Program> read_program(const std::string& file, const Sizes& sizes) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  REWRIGHT_TRY(const loop::Program program, loop::parse_program(text));
  return loop::specialised(program, [&](const SizeVar& size) -> std::optional<std::int64_t> {
    const auto at = sizes.find(size.text());
    return at == sizes.end() ? std::nullopt : std::optional(at->second);
  });
}

Result<loop::Program> scheduled(const std::string& name, const loop::Program& plain, const schedule::Schedule& steps) {
  auto made = schedule::apply(plain, steps);
  if (!made) return make_error(made.error().code, "{}: {}", name, made.error().message);
  return std::move(made->program);
}

/// A row of cases.toml: keys that end in the number of lanes go before those that do not.
Result<Case> read_hand_case(const toml::table& table, const Settings& settings, const Bench& bench) {
  const auto key_of = [&](const std::string& key) {
    const std::string own = fmt::format("{}{}", key, bench.lanes);
    return table.contains(own) ? own : key;
  };
  const auto text = [&](const char* key) { return table[key_of(key)].value_or(std::string()); };
  Case made{text("name"), text("program"), text("peer"), {}, {}};
  for (const auto& [key, value] : *table[key_of("sizes")].as_table())
    made.sizes[std::string(key.str())] = value.value_or(std::int64_t{0});
  std::istringstream factors(text("work"));
  made.operations = 2;
  for (std::string factor; factors >> factor;)
    made.operations *= std::isdigit(factor[0]) != 0 ? std::stod(factor) : static_cast<double>(made.sizes.at(factor));
  REWRIGHT_TRY(made.plain, read_program(settings.folder + "/" + made.program, made.sizes));
  REWRIGHT_TRY(const std::string space_text, read_file(settings.folder + "/" + text("schedule")));
  REWRIGHT_TRY(schedule::Space space, schedule::parse_space(space_text));
  if (const auto* knobs = table[key_of("knobs")].as_table()) {
    for (const auto& [key, value] : *knobs)
      REWRIGHT_CHECK(schedule::give(space, fmt::format("{}={}", key.str(), value.value_or(std::int64_t{0}))));
  }
  REWRIGHT_TRY(const schedule::Choices choices, schedule::given_choices(space));
  REWRIGHT_TRY(const schedule::Schedule steps, schedule::schedule_of(space, choices));
  REWRIGHT_TRY(loop::Program program, scheduled(made.name, made.plain, steps));
  made.ours.push_back({"hand", bench.c, std::move(program)});
  return made;
}

/// The fastest schedule of a store for this case: as a tuner gives it, or, as a template, the one that needs no search.
Result<Own> recorded(const Case& given, const std::string& name, const std::string& store, bool is_template,
                     const Bench& bench) {
  const tune::TuningTask task = tune::program_task(given.name, given.plain);
  REWRIGHT_TRY(const auto records, ScheduleRecords::read(store));
  const ScheduleRecord* best = nullptr;
  for (const ScheduleRecord& record : records) {
    const bool is_ours = record.structure == task.structure && record.sizes == task.sizes &&
                         record.machine == bench.machine.fingerprint && record.outcome == "ok" &&
                         record.dialect == "vectors" &&
                         (record.origin == "optimiser" || (record.origin == "search" && !is_template));
    if (is_ours && (best == nullptr || record.least_us() < best->least_us())) best = &record;
  }
  if (best == nullptr)
    return make_error(ErrorCode::kNotFound,
                      "'{}' has no schedule of {} for this machine; rewright tune kernel "
                      "makes some",
                      store, given.name);
  REWRIGHT_TRY(const schedule::Schedule steps, schedule::parse_schedule(best->schedule));
  REWRIGHT_TRY(loop::Program program, scheduled(given.name, given.plain, steps));
  return Own{name, bench.c, std::move(program)};
}

/// A shape of a row of operators.toml: "M=127 N=127 K=127".
Result<Case> read_operator_case(const toml::table& table, const std::string& shape, const Settings& settings,
                                const Bench& bench) {
  const std::string program = table["program"].value_or(std::string());
  Case made{program + " " + shape, program, program, {}, {}};
  std::istringstream parts(shape);
  for (std::string part; parts >> part;) {
    const std::size_t at = part.find('=');
    made.sizes[part.substr(0, at)] = std::stoll(part.substr(at + 1));
  }
  REWRIGHT_TRY(made.plain, read_program(settings.folder + "/" + program + ".loop", made.sizes));
  made.operations = tune::work_of(made.plain).operations;
  for (const std::string& own : settings.ours) {
    const std::size_t at = own.find('=');
    if (made.ours.empty()) {
      REWRIGHT_TRY(made.ours.emplace_back(), recorded(made, "template", own.substr(at + 1), true, bench));
    }
    REWRIGHT_TRY(made.ours.emplace_back(), recorded(made, own.substr(0, at), own.substr(at + 1), false, bench));
  }
  if (bench.halide != nullptr) made.ours.push_back({"adams2019", bench.halide, made.plain, "adams2019"});
  return made;
}

/// Relative to 1 or the value, whichever is larger.
double greatest_error(const Case& given, const loop::Program& program, const Memory& found, const Memory& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < given.plain.buffers.size(); ++i) {
    const Buffer& buffer = given.plain.buffers[i];
    if (buffer.role != BufferRole::kOutput) continue;
    const auto same = std::ranges::find(program.buffers, buffer.name, &Buffer::name);
    const auto place = static_cast<std::size_t>(same - program.buffers.begin());
    for (std::int64_t k = 0; k < *loop::element_count(buffer); ++k) {
      const double x = found.floats(place)[k], y = expected.floats(i)[k];
      const double error = std::abs(x - y) / std::max(1.0, std::abs(y));
      worst = std::max(worst, std::isnan(error) ? 1e30 : error);
    }
  }
  return worst;
}

/// What is timed, after it was run and compared once.
Result<bench::Timed> timed(const Case& given, const Own& own, const Memory& expected) {
  const auto start = std::chrono::steady_clock::now();
  const tune::SplitProgram split = tune::split_before_runs(own.program);
  REWRIGHT_TRY(Compiled rest, compiled(*own.target, split.rest, own.dialect));
  bench::Timed made{.name = own.name, .run = {}};
  made.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const auto memory = std::make_shared<Memory>(own.program);
  if (!split.before.body.empty()) {
    REWRIGHT_TRY(const Compiled before, compiled(*own.target, split.before, own.dialect));
    REWRIGHT_CHECK(before->run(memory->places()));
  }
  const std::shared_ptr<loop::CompiledProgram> code = std::move(rest);
  REWRIGHT_CHECK(code->run(memory->places()));
  made.error = greatest_error(given, own.program, *memory, expected);
  if (made.error > 1e-3)
    return make_error(ErrorCode::kInternal, "{} by {}: the result is wrong by {}", given.name, own.name, made.error);
  made.run = [code, memory] { (void)code->run(memory->places()); };
  return made;
}

Result<std::vector<bench::Peer>> peers_of(const Case& given, const Bench& bench) {
  std::vector<bench::Peer> peers = bench::dnnl_peers(given.peer, given.sizes);
  if (given.peer == given.program) {
    REWRIGHT_TRY(const Runtime* runtime, bench.registry.get<Runtime>("onnxruntime"));
    REWRIGHT_TRY(peers, bench::operator_peers(given.program, given.sizes,
                                              REWRIGHT_SOURCE_DIR "/.cache/openblas/libopenblas.so.0", *runtime));
  }
  if (peers.empty()) return make_error(ErrorCode::kUnsupported, "{}: there is no peer '{}'", given.name, given.peer);
  return peers;
}

Result<TimedKernel> measured(const Case& given, Bench& bench, const Settings& settings) {
  REWRIGHT_TRY(const Compiled plain, compiled(*bench.c, given.plain, "c11"));
  const Memory expected(given.plain);
  REWRIGHT_CHECK(plain->run(expected.places()));
  TimedKernel kernel{given.name, given.operations, bench.machine.peak_gflops, {}, {}};
  for (const Own& own : given.ours) {
    auto made = timed(given, own, expected);
    if (made) {
      kernel.ours.push_back(std::move(*made));
    } else if (own.target == bench.c) {
      return made.error();
    } else {
      std::fprintf(stderr, "%s: %s\n", given.name.c_str(), made.error().message.c_str());
    }
  }
  REWRIGHT_TRY(std::vector<bench::Peer> peers, peers_of(given, bench));
  for (bench::Peer& peer : peers)
    kernel.peers.push_back({.name = peer.name, .run = std::move(peer.run), .seconds = std::move(peer.seconds)});
  bench::time_in_turn(kernel, settings.seconds, settings.runs);
  REWRIGHT_TRY(bench.machine, tune::measured_machine(true));
  kernel.peak_gflops = std::max(kernel.peak_gflops, bench.machine.peak_gflops);
  return kernel;
}

Result<std::vector<Case>> read_cases(const Settings& settings, const Bench& bench) {
  const std::string file = settings.folder + "/" + settings.cases;
  REWRIGHT_TRY(const std::string text, read_file(file));
  REWRIGHT_TRY(const toml::table table, parse_toml(text, file));
  const auto is_asked = [&](const std::string& name) { return name.find(settings.only) != std::string::npos; };
  std::vector<Case> cases;
  for (const auto& node : *table["case"].as_array()) {
    const toml::table& row = *node.as_table();
    if (const auto* shapes = row["shapes"].as_array()) {
      for (const auto& shape : *shapes) {
        const std::string numbers = shape.value_or(std::string());
        if (!is_asked(row["program"].value_or(std::string()) + " " + numbers)) continue;
        REWRIGHT_TRY(cases.emplace_back(), read_operator_case(row, numbers, settings, bench));
      }
    } else if (is_asked(row["name"].value_or(std::string()))) {
      REWRIGHT_TRY(cases.emplace_back(), read_hand_case(row, settings, bench));
    }
  }
  return cases;
}

Status from_records(const Settings& settings) {
  REWRIGHT_TRY(const std::string text, read_file(settings.from_records));
  std::string lines = bench::kColumns;
  std::istringstream records(text);
  for (std::string line; std::getline(records, line);) {
    REWRIGHT_TRY(const TimedKernel kernel, bench::kernel_of_record(line));
    if (kernel.name.find(settings.only) == std::string::npos) continue;
    REWRIGHT_TRY(const std::string rows, bench::rows_of(kernel));
    lines += rows;
  }
  std::printf("%s", lines.c_str());
  return settings.out.empty() ? Status() : write_file(settings.out, lines);
}

Status run(const Settings& settings) {
  if (!settings.from_records.empty()) return from_records(settings);
  Bench bench;
  REWRIGHT_CHECK(bench.registry.load_default());
  REWRIGHT_TRY(bench.c, bench.registry.get<Target>("c"));
  bench.halide = bench.registry.find<Target>("halide");
  bench.lanes = __builtin_cpu_supports("avx512f") != 0 ? 16 : 8;
  REWRIGHT_TRY(bench.machine, tune::measured_machine(true));
  REWRIGHT_TRY(const std::vector<Case> cases, read_cases(settings, bench));
  std::fprintf(stderr, "peak %.1f GFLOP/s, vectors of %d\n", bench.machine.peak_gflops, bench.lanes);
  std::string lines = bench::kColumns, records;
  std::printf("%s", lines.c_str());
  for (const Case& given : cases) {
    REWRIGHT_TRY(const TimedKernel kernel, measured(given, bench, settings));
    REWRIGHT_TRY(const std::string rows, bench::rows_of(kernel));
    std::printf("%s", rows.c_str());
    std::fflush(stdout);
    lines += rows;
    records += bench::to_record(kernel) + "\n";
  }
  if (!settings.records.empty()) REWRIGHT_CHECK(write_file(settings.records, records));
  return settings.out.empty() ? Status() : write_file(settings.out, lines);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Times scheduled kernels beside those of libraries (OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 taskset -c 1)");
  Settings settings;
  app.add_option("folder", settings.folder, "Cases, programs and schedules");
  app.add_option("--cases", settings.cases, "Its file of cases")->capture_default_str();
  app.add_option("--ours", settings.ours, "What was tuned: NAME=STORE");
  app.add_option("--only", settings.only, "Kernels whose name has this text");
  app.add_option("--seconds", settings.seconds, "For each run of a kernel")->capture_default_str();
  app.add_option("--runs", settings.runs, "Runs of each kernel")->capture_default_str();
  app.add_option("--records", settings.records, "A file for all times");
  app.add_option("--from-records", settings.from_records, "Such a file, for a table without measuring");
  app.add_option("--out", settings.out, "A file for the table");
  CLI11_PARSE(app, argc, argv);
  if (settings.folder.empty() == settings.from_records.empty()) {
    std::fprintf(stderr, "a folder, or --from-records\n");
    return 2;
  }
  const auto status = run(settings);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
