// rewright compile --in-context: which of its best schedules a kernel takes is decided among the others
//
// Alone a kernel finds its inputs where it left them; in a model they lie where the kernel before put them. So the
// model is built with each kernel's best schedule, with each one's second, and so on; a kernel takes that with which it
// was fastest there. What comes of that is timed as a whole beside the others: neighbours may have changed what it was
// fastest for.
#include <algorithm>
#include <map>

#include "cli/compile_ways.h"
#include "cli/interrupt.h"

namespace rewright::cli {
namespace {

/// Least times of a program among the others, by rank; several calls of it add up.
using Times = std::map<std::string, std::vector<double>>;

void add_times(Times& times, const compile::CompileReport& report, std::size_t rank) {
  for (const compile::KernelTime& time : report.profile) {
    if (time.program.empty()) continue;
    auto& us = times[time.program];
    us.resize(rank + 1, 0);
    us[rank] += time.us;
  }
}

}  // namespace

Result<Compiled> chosen_in_context(const Settings& settings, const CompileArguments& arguments, Workplace& workplace) {
  REWRIGHT_TRY(const std::string records, records_of(arguments));
  if (records.empty())
    return make_error(ErrorCode::kUsage, "--in-context chooses among schedules: say --records STORE or --effort 1");
  REWRIGHT_TRY(const auto ways, SeveralWays::of(settings, arguments, workplace));
  const auto add = [&](const std::string& name, const compile::Ranks& ranks) {
    return ways->add(name, [&](compile::CompileOptions& options) { options.ranks = ranks; });
  };
  Times times;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(arguments.in_context) && !interrupted(); ++rank) {
    compile::Ranks ranks;
    for (const auto& [program, us] : times) ranks[program] = rank;
    REWRIGHT_CHECK(add(rank == 0 ? "alone" : std::to_string(rank + 1), ranks));
    const compile::CompileReport& report = ways->last();
    if (!report.not_compiled.empty() || !report.equal()) return Compiled{report};
    add_times(times, report, rank);
  }
  compile::Ranks chosen;
  InContext found;
  for (const auto& [program, us] : times) {
    const auto best = static_cast<std::size_t>(std::ranges::min_element(us) - us.begin());
    ++found.programs;
    if (best == 0) continue;
    chosen[program] = best;
    ++found.others;
    found.kernels_us += us.front() - us[best];
  }
  if (!chosen.empty() && !interrupted()) REWRIGHT_CHECK(add("in-context", chosen));
  REWRIGHT_TRY(Compiled compiled, fastest(std::move(*ways).take(), workplace));
  compiled.in_context = found;
  return compiled;
}

}  // namespace rewright::cli
