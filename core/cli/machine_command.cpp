// rewright machine
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "tune/this_machine.h"

namespace rewright::cli {
namespace {

std::string name_of_level(const tune::CacheLevel& cache) {
  return cache.level == 0 ? "DRAM" : fmt::format("L{}", cache.level);
}

Result<ExitCode> show_machine(const Settings& settings, bool again) {
  REWRIGHT_TRY(const tune::MeasuredMachine machine, tune::measured_machine(again));
  if (settings.json) {
    Json caches = Json::array(), bandwidths = Json::object();
    for (const tune::CacheLevel& cache : machine.caches) {
      caches.push_back({{"name", name_of_level(cache)}, {"bytes", cache.bytes}});
      bandwidths[name_of_level(cache)] = cache.read_gb_s;
    }
    Json peaks = {{"gflops", machine.peak_gflops}};
    for (const tune::DotPeak& peak : machine.dot_peaks)
      peaks[peak.element + "_gops"] = peak.gops > 0 ? Json(peak.gops) : Json();
    peaks["read_gb_s"] = std::move(bandwidths);
    print_json({{"processor", machine.processor},
                {"fingerprint", machine.fingerprint},
                {"instructions", machine.instructions},
                {"caches", std::move(caches)},
                {"peaks", std::move(peaks)}});
    return ExitCode::kDone;
  }
  print_line(fmt::format("{}, fingerprint {}", machine.processor, machine.fingerprint));
  print_line(fmt::format("{}; one core: {:.1f} GFLOP/s", fmt::join(machine.instructions, ", "), machine.peak_gflops));
  for (const tune::DotPeak& peak : machine.dot_peaks) print_line(to_string(peak));
  Table table({"memory", "size", "GB/s read"});
  table.align_right({1, 2});
  for (const tune::CacheLevel& cache : machine.caches) {
    const std::string size = cache.level == 0 ? "" : bytes(static_cast<std::uint64_t>(cache.bytes));
    table.add({name_of_level(cache), size, fmt::format("{:.1f}", cache.read_gb_s)});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

}  // namespace

void add_machine(Program& program) {
  auto again = std::make_shared<bool>(false);
  const Command command = program.command(
      program.root(), "machine",
      "What one core of this machine can do at most: arithmetic in float32, bfloat16 and int8, and reading memory",
      {"rewright machine", "rewright machine --again --json"},
      [again](const Settings& settings) { return show_machine(settings, *again); });
  command.add_flag("--again", *again, "Measure it, though it was measured before");
}

}  // namespace rewright::cli
