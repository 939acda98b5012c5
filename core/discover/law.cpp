#include "discover/law.h"

#include <algorithm>

#include "axiom/any_function.h"
#include "discover/judge.h"
#include "discover/law_numbers.h"
#include "discover/law_parameters.h"
#include "discover/law_variables.h"

namespace rewright {

Result<Law> generalised_law(const Axiom& equation, const LawOptions& options) {
  const Judge judge(options);
  Law law;
  REWRIGHT_TRY(const AuditResult first, judge.thoroughly(equation));
  if (!first.holds || first.combinations == 0) {
    law.axiom = equation;
    law.counterexample = first.combinations == 0 ? std::string("no sizes meet its conditions") : first.counterexample;
    return law;
  }
  Axiom axiom = without_needless_conditions(equation, judge);
  axiom = abstract_subterms(std::move(axiom), judge);
  axiom = split_variables(std::move(axiom), judge);
  axiom = generalise_lists(std::move(axiom), judge);
  // Numbers before lists as a whole: every step of a slice holds while it has two elements, and every size at step 1.
  axiom = generalise_sums(std::move(axiom), judge);
  axiom = generalise_numbers(std::move(axiom), judge);
  axiom = generalise_parameters(std::move(axiom), judge);
  axiom = generalise_numbers(std::move(axiom), judge);
  Axiom ranked = generalise_choices(generalise_ranks(std::move(axiom), judge), judge);
  ranked = with_plain_names(ranked);
  if (options.registry) {
    const auto others = with_other_functions(ranked, *options.registry);
    if (!std::ranges::all_of(others, [&](const Axiom& other) { return judge.probably(other); }))
      ranked.needs = "real-relu";
  }
  REWRIGHT_TRY(const AuditResult last, judge.thoroughly(ranked));
  if (judge.stopped()) return make_error(ErrorCode::kBudget, "stopped while '{}' was made general", equation.name);
  // What the thorough audit refutes was generalised too far: the equation itself is left.
  if (!last.holds) {
    law.axiom = equation;
    law.combinations = first.combinations;
    return law;
  }
  law.axiom = std::move(ranked);
  law.combinations = last.combinations;
  return law;
}

}  // namespace rewright
