#include "axiom/any_function.h"

#include <algorithm>
#include <optional>

namespace rewright {

namespace {

/// Nothing where relu does not occur, or is fused where the function cannot be.
std::optional<Axiom> with_function(const Axiom& axiom, const Operator& function) {
  Axiom result = axiom;
  result.needs.clear();
  bool any = false;
  for (AxiomTerm& term : result.terms) {
    if (!term.op) continue;
    if (term.op->name() == "relu") {
      term.op = &function;
      any = true;
    }
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const ParamSpec& spec = term.op->info().params[i];
      const auto* value = std::get_if<SymbolicDim>(&term.params[i]);
      if (spec.name != "activation" || !value || !value->constant()) continue;
      const auto choice = [&](std::string_view name) {
        return std::ranges::find(spec.choices, name) - spec.choices.begin();
      };
      if (*value->constant() != choice("relu")) continue;
      if (choice(function.name()) == std::ssize(spec.choices)) return std::nullopt;
      term.params[i] = SymbolicDim(static_cast<std::int64_t>(choice(function.name())));
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return result;
}

}  // namespace

std::vector<Axiom> with_other_functions(const Axiom& axiom, const Registry& registry) {
  std::vector<Axiom> all;
  for (const char* name : {"tanh", "neg"}) {
    const Operator* function = registry.find<Operator>(name);
    if (!function) continue;
    if (auto put = with_function(axiom, *function)) all.push_back(*std::move(put));
  }
  return all;
}

}  // namespace rewright
