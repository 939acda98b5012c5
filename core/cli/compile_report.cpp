#include "cli/compile_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "cli/optimize_outcome.h"
#include "cli/output.h"

namespace rewright::cli {
namespace {

/// Why it is not equal, or not comparable.
std::string reason_of(const Equivalence& found) { return found.difference + found.reason; }

Json times_of(const compile::VersionReport& version) {
  const bool is_measured = version.ours_us.has_value();
  return {{"ours_us", is_measured ? Json(*version.ours_us) : Json()},
          {"onnxruntime_us", is_measured ? Json(*version.runtime_us) : Json()},
          {"onnxruntime_us_by_ours_us", is_measured ? Json(version.runtime_by_ours()) : Json()},
          {"turns",
           version.turns
               ? Json{{"median", version.turns->median}, {"low", version.turns->low}, {"high", version.turns->high}}
               : Json()},
          {"slower_than_onnxruntime", is_measured ? Json(version.is_slower()) : Json()}};
}

/// "0.034", "5.20", "1204".
std::string microseconds(double us) { return fmt::format("{:.{}f}", us, us < 1 ? 3 : us < 100 ? 2 : 0); }

/// What could be gained of a kernel.
double excess(const compile::KernelTime& time) { return std::max(time.us - time.limit_us, 0.0); }

/// Kernels that take most, and all others as one.
void print_profile(const std::vector<compile::KernelTime>& profile) {
  constexpr std::size_t kShown = 12;
  std::vector<compile::KernelTime> times = profile;
  std::ranges::stable_sort(times, std::greater(), &compile::KernelTime::us);
  if (times.size() > kShown + 1) {
    compile::KernelTime others{counted(times.size() - kShown, "other kernel"), ""};
    for (std::size_t k = kShown; k < times.size(); ++k) others.us += times[k].us, others.limit_us += times[k].limit_us;
    times.resize(kShown);
    times.push_back(std::move(others));
  }
  double sum = 0;
  for (const compile::KernelTime& time : times) sum += time.us;
  Table table({"kernel", "result", "us", "share", "limit us", "of limit"});
  table.align_right({2, 3, 4, 5});
  for (const compile::KernelTime& time : times) {
    table.add({time.kernel, time.result, microseconds(time.us), fmt::format("{:.1f} %", 100 * time.us / sum),
               microseconds(time.limit_us), time.us > 0 ? fmt::format("{:.0f} %", 100 * time.limit_us / time.us) : ""});
  }
  print(table.to_string());
}

/// Where it is slower: kernels with the most time above their limits, which make up half of all such time.
std::string kernels_to_blame(const std::vector<compile::KernelTime>& profile) {
  constexpr std::size_t kMost = 5;
  std::vector<compile::KernelTime> times = profile;
  std::ranges::stable_sort(times, std::greater(), excess);
  double all = 0, named = 0;
  for (const compile::KernelTime& time : times) all += excess(time);
  std::vector<std::string> words;
  for (const compile::KernelTime& time : times) {
    if (words.size() == kMost || (!words.empty() && 2 * named >= all)) break;
    named += excess(time);
    words.push_back(
        fmt::format("{} ({} us, limit {} us)", time.kernel, microseconds(time.us), microseconds(time.limit_us)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

void print_times(const compile::CompileReport& report) {
  const compile::VersionReport& version = report.versions.front();
  const double by_ours = version.runtime_by_ours();
  print_line(fmt::format("{} us a run; {} takes {} us, {:.2f} times as long (least times, in turn, {} each).",
                         microseconds(*version.ours_us), report.runtime, microseconds(*version.runtime_us), by_ours,
                         counted(static_cast<std::uint64_t>(report.threads), "thread")));
  if (version.turns)
    print_line(fmt::format("Turn by turn: {:.2f} times, from {:.2f} to {:.2f} with 95 % confidence.",
                           version.turns->median, version.turns->low, version.turns->high));
  if (report.ours_peak_bytes && report.runtime_peak_bytes) {
    print_line(fmt::format("It adds {} to a process at most, weights as well; {} adds {}.",
                           bytes(static_cast<std::uint64_t>(*report.ours_peak_bytes)), report.runtime,
                           bytes(static_cast<std::uint64_t>(*report.runtime_peak_bytes))));
  }
  if (report.beside_us)
    print_line(
        fmt::format("The kernels of {}, each alone, add up to {} us.", report.beside, microseconds(*report.beside_us)));
  print_line("Each kernel among the others, and what this machine allows for it alone:");
  print_profile(report.profile);
  if (!version.is_slower()) return;
  print_line(fmt::format("SLOWER than {} by {:.0f} %. Most time above the limit: {}.", report.runtime,
                         100 * (1 / by_ours - 1), kernels_to_blame(report.profile)));
}

/// Where rules may make the difference, "no" where they changed nothing.
std::string name_of(const Compiled& compiled, const compile::WayToCompile& way) {
  const bool is_by_rules = !compiled.fusion && !compiled.in_context && !compiled.algorithms;
  return is_by_rules && way.report.rewrites == 0 ? "no" : way.name;
}

/// Between ways.
const char* what_differs(const Compiled& compiled) {
  if (compiled.fusion) return "fused";
  if (compiled.algorithms) return "algorithms";
  return compiled.in_context ? "schedules" : "optimize";
}

void print_algorithms(const compile::AlgorithmChoice& found) {
  Table table({"node", "fastest by", "us", "as usual", "gain"});
  table.align_right({2, 3, 4});
  for (const compile::NodeAlgorithm& node : found.nodes)
    table.add({node.node, node.algorithm, microseconds(node.us), microseconds(node.usual_us),
               fmt::format("{:.2f}", node.usual_us / node.us)});
  if (found.nodes.empty()) return print_line("No node is one that these algorithms are for.");
  print(table.to_string());
  if (!found.refused.empty())
    print_line(fmt::format("By {} the results differ by more than the noise floor, so that it is not taken.",
                           fmt::join(found.refused, ", ")));
}

void print_ways(const Compiled& compiled) {
  if (compiled.fusion) {
    const compile::FusionReport& found = *compiled.fusion;
    if (found.moves > 0)
      print_line(fmt::format("{} where two nodes may be one kernel. By cost: {} us if they are, {} us the best of {}.",
                             counted(found.joints, "place"), microseconds(found.usual.us),
                             found.best.empty() ? "-" : microseconds(found.best.front().us),
                             counted(static_cast<std::uint64_t>(found.moves), "move")));
  }
  if (compiled.in_context) {
    const InContext& found = *compiled.in_context;
    print_line(fmt::format("{} of {} are faster among the others with another schedule than the best alone, by {} us.",
                           found.others, counted(found.programs, "kernel"), microseconds(found.kernels_us)));
  }
  if (compiled.algorithms) print_algorithms(*compiled.algorithms);
  Table table({what_differs(compiled), compiled.fusion ? "kernels" : "rewrites", "us", "gain", "95 % confidence"});
  table.align_right({1, 2, 3});
  for (const compile::WayToCompile& way : compiled.ways)
    table.add({name_of(compiled, way),
               fmt::format("{}", compiled.fusion ? way.report.worst().kernels : way.report.rewrites),
               microseconds(way.us), fmt::format("{:.2f}", way.gain.median),
               fmt::format("{:.2f} to {:.2f}", way.gain.low, way.gain.high)});
  print(table.to_string());
}

Json fusion_json(const compile::FusionReport& found) {
  Json best = Json::array();
  for (const compile::FusionChoice& choice : found.best)
    best.push_back({{"us", choice.us}, {"stored", choice.stored.size()}});
  return {{"joints", found.joints},     {"moves", found.moves},       {"asked", found.asked},
          {"usual_us", found.usual.us}, {"start_us", found.start.us}, {"best", std::move(best)}};
}

/// Where sizes are open: each version's.
void print_times_of_versions(const compile::CompileReport& report) {
  Table table({"sizes", "us", report.runtime + " us", "by ours"});
  table.align_right({1, 2, 3});
  for (const compile::VersionReport& version : report.versions)
    table.add({to_text(version.sizes), microseconds(*version.ours_us), microseconds(*version.runtime_us),
               fmt::format("{:.2f}", version.runtime_by_ours())});
  print(table.to_string());
  print_line(fmt::format("Least times of a run, in turn, {} each; --dim instead of --open times each kernel.",
                         counted(static_cast<std::uint64_t>(report.threads), "thread")));
  if (report.worst().is_slower())
    print_line(fmt::format("SLOWER than {} at {}.", report.runtime, to_text(report.worst().sizes)));
}

}  // namespace

/// The worst version, and each where sizes are open.
Json compile_json(const Compiled& compiled, double seconds) {
  const compile::CompileReport& report = compiled.report;
  Json not_compiled = Json::array();
  for (const auto& [node, reason] : report.not_compiled) not_compiled.push_back({{"node", node}, {"reason", reason}});
  Json profile = Json::array();
  for (const compile::KernelTime& time : report.profile)
    profile.push_back({{"kernel", time.kernel},
                       {"result", time.result},
                       {"nodes", time.nodes},
                       {"us", time.us},
                       {"limit_us", time.limit_us}});
  const compile::VersionReport worst = report.versions.empty() ? compile::VersionReport() : report.worst();
  Json json = {{"kernels", worst.kernels},
               {"rewrites", report.rewrites},
               {"seconds", seconds},
               {"equal", report.equal()},
               {"comparable", worst.equivalence.verdict != GateVerdict::kNotComparable},
               {"max_abs_error", worst.equivalence.max_abs_error},
               {"noise_floor", worst.equivalence.tolerance},
               {"runs", worst.equivalence.runs},
               {"threads", report.threads},
               {"beside", report.beside_us ? Json{{"device", report.beside}, {"us", *report.beside_us}} : Json()},
               {"peak_bytes", report.ours_peak_bytes ? Json(*report.ours_peak_bytes) : Json()},
               {"onnxruntime_peak_bytes", report.runtime_peak_bytes ? Json(*report.runtime_peak_bytes) : Json()},
               {"profile", std::move(profile)},
               {"memory_bytes", report.not_compiled.empty() ? report.artefact.memory_bytes() : 0},
               {"artefact_bytes", report.artefact.bytes()}};
  json.update(times_of(worst));
  if (!worst.sizes.empty()) {
    Json versions = Json::array();
    for (const compile::VersionReport& version : report.versions) {
      Json entry = times_of(version);
      entry["sizes"] = version.sizes;
      entry["kernels"] = version.kernels;
      versions.push_back(std::move(entry));
    }
    json["versions"] = std::move(versions);
  }
  Json ways = Json::array();
  for (const compile::WayToCompile& way : compiled.ways)
    ways.push_back({{what_differs(compiled), name_of(compiled, way)},
                    {"rewrites", way.report.rewrites},
                    {"kernels", way.report.worst().kernels},
                    {"us", way.us},
                    {"gain", {{"median", way.gain.median}, {"low", way.gain.low}, {"high", way.gain.high}}}});
  if (!ways.empty()) json["ways"] = std::move(ways);
  if (compiled.fusion) json["fusion"] = fusion_json(*compiled.fusion);
  if (const auto& found = compiled.in_context)
    json["in_context"] = {{"programs", found->programs}, {"others", found->others}, {"kernels_us", found->kernels_us}};
  if (const auto& found = compiled.algorithms) {
    Json nodes = Json::array();
    for (const compile::NodeAlgorithm& node : found->nodes)
      nodes.push_back(
          {{"node", node.node}, {"algorithm", node.algorithm}, {"us", node.us}, {"usual_us", node.usual_us}});
    json["algorithms"] = {{"nodes", std::move(nodes)}, {"refused", found->refused}};
  }
  json["not_compiled"] = std::move(not_compiled);
  if (const std::string reason = reason_of(worst.equivalence); !reason.empty()) json["reason"] = reason;
  return json;
}

void print_compile_report(const Compiled& compiled, const std::string& folder, double seconds) {
  const compile::CompileReport& report = compiled.report;
  for (const auto& [node, reason] : report.not_compiled) print_line(fmt::format("not compiled: {}: {}", node, reason));
  if (!report.not_compiled.empty()) return;
  const compile::VersionReport& worst = report.worst();
  const bool is_open = !worst.sizes.empty();
  print_line(fmt::format("{}{} in {}, {} of memory, {} of code and weights",
                         is_open ? counted(report.versions.size(), "version") + ", " : "",
                         counted(worst.kernels, "kernel"), duration(seconds),
                         bytes(static_cast<std::uint64_t>(report.artefact.memory_bytes())),
                         bytes(static_cast<std::uint64_t>(report.artefact.bytes()))));
  if (report.rewrites > 0) print_line(fmt::format("After {} by rules.", counted(report.rewrites, "rewrite")));
  if (report.equal()) {
    print_line(sentence_of_equality(worst.equivalence));
    print_line("Written to " + folder + ".");
  } else {
    const bool is_different = worst.equivalence.verdict == GateVerdict::kDifferent;
    print_line(fmt::format("{}{}: {}; nothing was written.",
                           is_different ? "NOT EQUAL to the original" : "NOT COMPARABLE",
                           is_open ? " at " + to_text(worst.sizes) : "", reason_of(worst.equivalence)));
  }
  if (!worst.ours_us) return;
  if (compiled.ways.size() > 1) print_ways(compiled);
  if (is_open) {
    print_times_of_versions(report);
  } else {
    print_times(report);
  }
}

Json compile_json(const compile::RegionsReport& report, double seconds) {
  Json regions = Json::array();
  for (const compile::RegionReport& region : report.regions) {
    Json entry = times_of(region.found);
    entry["nodes"] = region.nodes;
    entry["kernels"] = region.found.kernels;
    entry["operator"] = region.name;
    entry["kept_as_it_is"] = region.reason;
    regions.push_back(std::move(entry));
  }
  Json json = {{"seconds", seconds},
               {"nodes", report.nodes},
               {"nodes_compiled", report.kept_nodes()},
               {"regions", std::move(regions)},
               {"equal", report.kept() > 0 && report.equivalence.equal()},
               {"max_abs_error", report.equivalence.max_abs_error},
               {"gain", Json()}};
  if (report.times)
    json["gain"] = {
        {"median", report.times->gain.median}, {"low", report.times->gain.low}, {"high", report.times->gain.high}};
  if (const std::string reason = reason_of(report.equivalence); !reason.empty()) json["reason"] = reason;
  return json;
}

void print_compile_report(const compile::RegionsReport& report, const std::string& name, const std::string& folder,
                          double seconds) {
  Table table({"region", "nodes", "kernels", "us", "runtime us", "by ours", ""});
  table.align_right({1, 2, 3, 4, 5});
  for (std::size_t i = 0; i < report.regions.size(); ++i) {
    const compile::RegionReport& region = report.regions[i];
    const compile::VersionReport& found = region.found;
    const bool is_measured = found.ours_us.has_value();
    table.add({fmt::format("{}", i + 1), fmt::format("{}", region.nodes),
               found.kernels == 0 ? "" : fmt::format("{}", found.kernels),
               is_measured ? microseconds(*found.ours_us) : "", is_measured ? microseconds(*found.runtime_us) : "",
               is_measured ? fmt::format("{:.2f}", found.runtime_by_ours()) : "",
               region.reason.empty() ? region.name : "stays: " + region.reason});
  }
  print(table.to_string());
  if (report.kept() == 0) {
    print_line(report.regions.empty() ? "No region of the model can be compiled; nothing was written."
                                      : "No region is faster as C; nothing was written.");
    return;
  }
  print_line(fmt::format("{} of {} are {} now, in {}.", counted(report.kept_nodes(), "node"), report.nodes,
                         counted(report.kept(), "operator"), duration(seconds)));
  if (!report.equivalence.equal()) {
    const bool is_different = report.equivalence.verdict == GateVerdict::kDifferent;
    print_line(fmt::format("{}: {}; nothing was written.",
                           is_different ? "NOT EQUAL to the original" : "NOT COMPARABLE",
                           reason_of(report.equivalence)));
    return;
  }
  print_line(sentence_of_equality(report.equivalence));
  if (report.times) {
    const RatioSpread& gain = report.times->gain;
    print_line(fmt::format("{}: {:.2f} times as fast as the original ({:.2f} to {:.2f}, {}).",
                           report.times->slower()   ? "SLOWER"
                           : report.times->faster() ? "Faster"
                                                    : "No gain is certain",
                           gain.median, gain.low, gain.high,
                           counted(static_cast<std::uint64_t>(report.times->rounds), "round")));
  }
  print_line(fmt::format("Written to {0}: {1}.onnx, and lib{1}_ort.so for RegisterCustomOpsLibrary.", folder, name));
}

}  // namespace rewright::cli
