#include "compile/compile_page.h"

#include "optimize/gate_types.h"
#include "tune/this_machine.h"

namespace rewright::compile {
namespace {

std::string size_text(std::int64_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 10'240 ? fmt::format("{:.0f} KiB", kib) : fmt::format("{:.0f} MiB", kib / 1024);
}

}  // namespace

CompilingReport page_of(const CompileReport& report, const std::string& model) {
  const VersionReport& worst = report.worst();
  CompilingReport page{.model = model, .threads = report.threads};
  if (worst.ours_us)
    page.lede = fmt::format("{} us a run; {} takes {} us, {:.2f} times as long.", kernel_us_text(*worst.ours_us),
                            report.runtime, kernel_us_text(*worst.runtime_us), worst.runtime_by_ours());
  if (worst.turns)
    page.facts.emplace_back("turn by turn", fmt::format("{:.2f} times, from {:.2f} to {:.2f} with 95 % confidence",
                                                        worst.turns->median, worst.turns->low, worst.turns->high));
  page.facts.emplace_back("threads", fmt::format("{}", report.threads));
  page.facts.emplace_back("kernels", fmt::format("{}", worst.kernels));
  if (report.rewrites > 0) page.facts.emplace_back("rewrites by rules", fmt::format("{}", report.rewrites));
  page.facts.emplace_back("code and weights", size_text(static_cast<std::int64_t>(report.artefact.bytes())));
  page.facts.emplace_back("memory of a run", size_text(static_cast<std::int64_t>(report.artefact.memory_bytes())));
  page.facts.emplace_back("equal", sentence_of_equality(worst.equivalence));
  if (const auto machine = tune::measured_machine()) page.machine = *machine;
  for (const KernelTime& time : report.profile)
    page.kernels.push_back({{time.kernel, time.us, time.work.operations, time.work.bytes}, time.result, time.limit_us});
  return page;
}

}  // namespace rewright::compile
