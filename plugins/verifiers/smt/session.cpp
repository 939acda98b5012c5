// Theories by axiom set, and what one solver has been told of a theory.
#include <fmt/format.h>

#include <utility>

#include "theory.h"

namespace smt_verifier {

using namespace rewright;

std::shared_ptr<Theory> TheoryShelf::of(const AxiomSet& axioms) {
  const std::scoped_lock lock(mutex_);
  // Two registries have operators of their own.
  const void* operators = axioms.axioms().empty() ? nullptr : axioms.axioms().front().terms.back().op;
  std::shared_ptr<Theory>& theory = theories_[{axioms.digest(), operators}];
  if (!theory) theory = std::make_shared<Theory>(axioms, manner_);
  return theory;
}

void Session::tell(const SymbolSet& symbols, std::string& text) {
  for (const Symbol* symbol : symbols) {
    if (told_.symbols.insert(symbol).second) text += symbol->text;
  }
}

std::string input_name(int rank, int index) { return fmt::format("in.{}.{}", rank, index); }
std::string number_name(int index) { return fmt::format("n.{}", index); }

void Session::tell_inputs(const Vocabulary& goal, std::string& text) {
  const bool numbers = theory_.sizes() == Sizes::kNumbers;
  for (int rank = 0; rank <= kMaxRank; ++rank) {
    int& told = told_.inputs[static_cast<std::size_t>(rank)];
    for (; told < goal.inputs[static_cast<std::size_t>(rank)]; ++told) {
      const std::string name = input_name(rank, told);
      text += fmt::format("(declare-fun {} () {})(assert {})\n", name, sort_name(rank), defined(rank, name));
      for (int axis = 0; numbers && axis < rank; ++axis)
        text += fmt::format("(assert (>= {} 1))\n", size_of(rank, std::to_string(axis), name));
    }
  }
  for (; told_.numbers < goal.numbers; ++told_.numbers) {
    const std::string name = number_name(told_.numbers);
    text += fmt::format("(declare-fun {} () {})\n", name, size_sort(theory_.sizes()));
    if (numbers) text += fmt::format("(assert (>= {} 0))\n", name);
  }
}

std::string Session::news(const Vocabulary& goal) {
  std::string text;
  if (!std::exchange(begun_, true)) text = theory_.head();
  tell_inputs(goal, text);
  const std::vector<const Use*>& uses = theory_.uses_from(goal.symbols);
  if (!lists_.insert(&uses).second) return text;  // One for each set of symbols.
  tell(goal.symbols, text);
  for (const Use* use : uses) {
    if (!uses_.insert(use).second) continue;
    tell(use->symbols, text);
    text += use->text;
  }
  return text;
}

}  // namespace smt_verifier
