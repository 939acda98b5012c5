#include "experiment/kind.h"

#include <fmt/ranges.h>

#include <array>

namespace rewright::experiment {
namespace {

constexpr std::array kKinds = {
    Kind{"campaign", "a campaign: graphs, classes and candidates by level, what pruners and verifiers leave",
         campaign_job},
    Kind{"walk", "the walk over graphs alone, with parts of it switched off", walk_job},
    Kind{"representatives", "what is left of a space where one graph of each class alone is extended",
         representatives_job},
    Kind{"program", "a program of the benchmarks, its figures read from what it prints", program_job},
    Kind{"verify", "one verifier on the rules of a file", verify_job},
    Kind{"audit", "axioms evaluated over a bounded domain", audit_job},
    Kind{"drop_axioms", "axioms left out one at a time", drop_axioms_job},
    Kind{"lines", "lines of source code", lines_job},
    Kind{"optimize", "a model made cheaper by one search, compared, measured", optimize_job},
    Kind{"substitution", "a substitution written down: proved, derived, measured, drawn", substitution_job},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

Result<const Kind*> find_kind(const std::string& name, const Place& place) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return &kind;
    names.emplace_back(kind.name);
  }
  return make_error(ErrorCode::kParse, "{}:{}: there is no kind of run '{}'; there are: {}", place.file, place.line,
                    name, fmt::join(names, ", "));
}

}  // namespace rewright::experiment
