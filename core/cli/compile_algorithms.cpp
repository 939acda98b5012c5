// rewright compile --algorithms: by which algorithm a node is computed is decided among the others.
#include "cli/compile_ways.h"
#include "cli/interrupt.h"
#include "compile/algorithm_choice.h"

namespace rewright::cli {

Result<Compiled> computed_in_several_ways(const Settings& settings, const CompileArguments& arguments,
                                          Workplace& workplace) {
  REWRIGHT_TRY(const auto ways, SeveralWays::of(settings, arguments, workplace));
  const compile::CompileWay add = [&](const std::string& name,
                                      const compile::Algorithms& algorithms) -> Result<const compile::CompileReport*> {
    if (interrupted()) return nullptr;
    REWRIGHT_CHECK(ways->add(name, [&](compile::CompileOptions& options) { options.algorithms = algorithms; }));
    return &ways->last();
  };
  REWRIGHT_TRY(compile::AlgorithmChoice choice, choose_algorithms(ways->model(), arguments.algorithms, add));
  REWRIGHT_TRY(Compiled compiled, fastest(std::move(*ways).take(), workplace));
  if (compiled.report.equal()) compiled.algorithms = std::move(choice);
  return compiled;
}

}  // namespace rewright::cli
