#include "discover/redundancy.h"

#include <algorithm>
#include <set>

#include "axiom/lemmas.h"

namespace rewright {

Result<std::vector<Redundancy>> find_redundant(const AxiomSet& axioms, const Entailment& entailment,
                                               const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<const Axiom*> order;
  for (const Axiom& axiom : axioms.axioms()) order.push_back(&axiom);
  std::ranges::reverse(order);
  std::ranges::stable_partition(order, [](const Axiom* axiom) { return !lemma_premises(*axiom).empty(); });
  std::set<std::string> taken;
  std::vector<Redundancy> results;
  for (const Axiom* axiom : order) {
    if (progress) progress(results.size(), order.size());
    taken.insert(axiom->name);
    const AxiomSet rest = axioms.filtered([&](const Axiom& other) { return !taken.contains(other.name); });
    REWRIGHT_TRY(Entailment::Answer answer, entailment.follows(*axiom, rest));
    if (!answer.follows) taken.erase(axiom->name);
    results.push_back({axiom->name, !lemma_premises(*axiom).empty(), std::move(answer)});
  }
  return results;
}

}  // namespace rewright
