// The variables of a law: as many as hold, with plain names.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <initializer_list>
#include <string>

#include "discover/judge.h"

namespace rewright {

[[nodiscard]] inline bool is_tensor(const Axiom& axiom, std::size_t variable) {
  return axiom.variables[variable].sort == AxiomSort::kTensor;
}
/// The first of `names`, then the first with numbers, that the axiom has not.
[[nodiscard]] REWRIGHT_API std::string fresh_name(const Axiom& axiom, std::initializer_list<const char*> names);
/// Its position; the same rank in every combination of ranks.
std::size_t add_variable(Axiom& axiom, std::string name, AxiomSort sort, int rank);

/// With one value for the variable in its domain.
[[nodiscard]] Axiom with_value(Axiom axiom, const std::string& variable, const std::string& value);
/// Does one side name every variable? Otherwise no prover could use it: it would have to guess.
[[nodiscard]] bool is_usable(const Axiom& axiom);

/// Terms that stand on both sides become variables, the largest first, where it holds still.
[[nodiscard]] Axiom abstract_subterms(Axiom axiom, const Judge& judge);
/// Occurrences of one variable become different variables, the most that hold.
[[nodiscard]] Axiom split_variables(Axiom axiom, const Judge& judge);
/// Tensors are x, y, z, ..., in the order in which a reader meets them; parameters come first.
[[nodiscard]] Axiom with_plain_names(const Axiom& axiom);

}  // namespace rewright
