#include <algorithm>

#include "theorem/sums.h"

namespace rewright::theorem {

std::optional<Sum> Sums::written_out(const Sum& sum) {
  std::vector<Term> open = sum.terms;
  Sum all;
  bool is_changed = false;
  while (!open.empty()) {
    Term term = std::move(open.back());
    open.pop_back();
    std::optional<std::pair<Symbol, std::int64_t>> few;  // The last number that a variable takes from 0 on.
    for (const Symbol symbol : term.bound) {
      const Polynomial it = Polynomial::symbol(symbol);
      if (std::ranges::find(term.guards, at_least_zero(it)) == term.guards.end()) continue;
      for (const Fact& guard : term.guards) {
        const auto last = guard.is_equality ? std::nullopt : (guard.value + it).constant();
        if (last && *last >= 0 && *last < kFew && !few) few = std::pair(symbol, *last);
      }
    }
    if (!few) {
      all.terms.push_back(std::move(term));
      continue;
    }
    is_changed = true;
    std::erase(term.bound, few->first);
    for (std::int64_t number = 0; number <= few->second; ++number)
      open.push_back(renamed(substitute(term, {{few->first, Polynomial(number)}})));
  }
  return is_changed ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace rewright::theorem
