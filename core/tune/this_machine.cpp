#include "tune/this_machine.h"

#include <rewright/base/command.h>
#include <rewright/optimize/cost.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/files.h"
#include "tune/machine_probe.h"
#include "tune/user_cache.h"

namespace rewright::tune {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t kMemoryBytes = std::int64_t{128} << 20;
constexpr int kProbeSeconds = 60;

std::set<std::string> processor_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

std::string first_word(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

std::int64_t size_of(const std::string& text) {  // "32K", "16M"
  const auto count = read_bytes(text);
  return count ? static_cast<std::int64_t>(*count) : 0;
}

std::vector<CacheLevel> cache_levels() {
  std::vector<CacheLevel> levels;
  const fs::path folder = "/sys/devices/system/cpu/cpu0/cache";
  std::error_code fault;
  for (int i = 0; fs::exists(folder / fmt::format("index{}", i), fault); ++i) {
    const fs::path cache = folder / fmt::format("index{}", i);
    if (first_word(cache / "type") == "Instruction") continue;
    const std::string level = first_word(cache / "level");
    levels.push_back({level.empty() ? 0 : level[0] - '0', size_of(first_word(cache / "size"))});
  }
  if (levels.empty()) levels = {{1, 32 << 10}, {2, 1 << 20}, {3, 16 << 20}};  // A system that does not say.
  std::ranges::sort(levels, {}, &CacheLevel::bytes);
  levels.push_back({0, std::max(kMemoryBytes, 4 * levels.back().bytes)});
  return levels;
}

Json to_json(const MeasuredMachine& machine) {
  Json caches = Json::array();
  for (const CacheLevel& cache : machine.caches) {
    caches.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"read_gb_s", cache.read_gb_s}});
  }
  Json dots = Json::object();
  for (const DotPeak& peak : machine.dot_peaks) dots[peak.element] = peak.gops;
  return {{"fingerprint", machine.fingerprint},
          {"peak_gflops", machine.peak_gflops},
          {"dot_peaks", std::move(dots)},
          {"caches", std::move(caches)}};
}

/// False where the text is not what to_json() wrote for this machine.
bool read_measured(const std::string& text, MeasuredMachine& machine) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("fingerprint", "") != machine.fingerprint) return false;
  if (!json.contains("caches") || json["caches"].size() != machine.caches.size()) return false;
  machine.peak_gflops = json.value("peak_gflops", 0.0);
  const Json dots = json.value("dot_peaks", Json::object());
  for (DotPeak& peak : machine.dot_peaks) {
    if (!dots.contains(peak.element)) return false;
    peak.gops = dots.value(peak.element, 0.0);
  }
  for (std::size_t i = 0; i < machine.caches.size(); ++i) {
    machine.caches[i].read_gb_s = json["caches"][i].value("read_gb_s", 0.0);
  }
  return machine.peak_gflops > 0;
}

/// The buffers of the probe: half of each cache, so that they stay in it; all that is asked for of memory.
std::vector<std::int64_t> probed_bytes(const Machine& machine) {
  std::vector<std::int64_t> sizes;
  for (const CacheLevel& cache : machine.caches) sizes.push_back(cache.level == 0 ? cache.bytes : cache.bytes / 2);
  return sizes;
}

Status probe(MeasuredMachine& machine) {
  REWRIGHT_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string source = folder.path() + "/probe.c", program = folder.path() + "/probe";
  REWRIGHT_CHECK(write_file(source, probe_source(probed_bytes(machine))));
  REWRIGHT_CHECK(run_c_compiler({"-std=gnu11", "-O2", "-march=native", "-ffp-contract=fast", "-o", program, source},
                                kProbeSeconds));
  const std::vector<std::string> words = {program};
  REWRIGHT_TRY(const CommandOutcome outcome, run_command(words, kProbeSeconds));
  std::istringstream numbers(outcome.text);
  numbers >> machine.peak_gflops;
  for (DotPeak& peak : machine.dot_peaks) numbers >> peak.gops;
  for (CacheLevel& cache : machine.caches) numbers >> cache.read_gb_s;
  if (outcome.exit_code == 0 && numbers && machine.peak_gflops > 0) return {};
  return make_error(ErrorCode::kUnsupported, "the peak of this machine cannot be measured: the probe {} (\"{}\")",
                    outcome.timed_out ? "took too long" : fmt::format("ended with exit code {}", outcome.exit_code),
                    outcome.first_error_line());
}

}  // namespace

std::int64_t Machine::last_cache_bytes() const {
  std::int64_t most = 0;
  for (const CacheLevel& cache : caches) most = cache.level == 0 ? most : std::max(most, cache.bytes);
  return most;
}

Machine described_machine() {
  Machine machine;
  machine.processor = processor_name();
  machine.caches = cache_levels();
  const std::set<std::string> flags = processor_flags();
  for (const auto& [flag, name] : {std::pair("avx2", "AVX2"), {"avx512f", "AVX-512"}, {"fma", "FMA"}}) {
    if (flags.contains(flag)) machine.instructions.emplace_back(name);
  }
  std::string text = fmt::format("{}|{}", machine.processor, fmt::join(machine.instructions, " "));
  for (const CacheLevel& cache : machine.caches) text += fmt::format("|{}:{}", cache.level, cache.bytes);
  machine.fingerprint = content_hash(text).substr(0, 16);
  return machine;
}

std::string to_string(const DotPeak& peak) {
  if (peak.gops <= 0) return fmt::format("{}: none, as this processor has no {}", peak.element, peak.instructions);
  return fmt::format("{}: {:.1f} GOP/s by {}", peak.element, peak.gops, peak.instructions);
}

Result<MeasuredMachine> measured_machine(bool again) {
  MeasuredMachine machine{described_machine(), {{"bfloat16", "AVX512_BF16"}, {"int8", "AVX512_VNNI"}}};
  REWRIGHT_TRY(const std::string folder, user_cache());
  const std::string file = fmt::format("{}/machine-{}.json", folder, machine.fingerprint);
  if (const auto text = read_file(file); !again && text && read_measured(*text, machine)) return machine;
  REWRIGHT_CHECK(probe(machine));
  REWRIGHT_CHECK(write_file(file, to_json(machine).dump(2) + "\n"));
  return machine;
}

}  // namespace rewright::tune
