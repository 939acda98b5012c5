#include "discover/law_variables.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "discover/equation.h"

namespace rewright {
namespace {

constexpr int kMostTries = 1500;  ///< Assignments of occurrences to variables, for one variable.

bool takes_name(const Axiom& axiom, std::string_view name) {
  return std::ranges::find(axiom.variables, name, &AxiomVariable::name) != axiom.variables.end();
}

std::string fresh_tensor(const Axiom& axiom) { return fresh_name(axiom, {"x", "y", "z", "w", "u", "v"}); }

/// Every use of `what`, as an operand or a side, becomes a use of `by`.
Axiom with_term_replaced(const Axiom& axiom, std::uint32_t what, std::uint32_t by) {
  Axiom result = axiom;
  for (AxiomTerm& term : result.terms) std::ranges::replace(term.operands, what, by);
  if (result.left == what) result.left = by;
  if (result.right == what) result.right = by;
  return result;
}

std::set<std::uint32_t> below(const Axiom& axiom, std::uint32_t root) {
  std::set<std::uint32_t> terms;
  std::function<void(std::uint32_t)> visit = [&](std::uint32_t term) {
    if (!terms.insert(term).second) return;
    for (const std::uint32_t operand : axiom.terms[term].operands) visit(operand);
  };
  visit(root);
  return terms;
}

/// The same terms with the variables first, as specialise() wants operands before applications.
Axiom with_variables_first(const Axiom& axiom) {
  std::vector<std::uint32_t> order;
  for (const bool variables : {true, false}) {
    for (std::uint32_t i = 0; i < axiom.terms.size(); ++i) {
      if (axiom.terms[i].variable.has_value() == variables) order.push_back(i);
    }
  }
  std::vector<std::uint32_t> moved(axiom.terms.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) moved[order[i]] = i;
  Axiom result = axiom;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    result.terms[i] = axiom.terms[order[i]];
    for (std::uint32_t& operand : result.terms[i].operands) operand = moved[operand];
  }
  result.left = moved[axiom.left];
  result.right = moved[axiom.right];
  return result;
}

/// A side as a tree: every occurrence of a variable is a leaf of its own.
struct Tree {
  std::uint32_t term = 0;      ///< Of the axiom; for leaves, the variable's.
  std::size_t occurrence = 0;  ///< Of leaves.
  std::vector<Tree> operands;
};

/// The axiom in which occurrence k of the variable's term is variable `to[k]` of `copies`.
class Splitter {
 public:
  Splitter(const Axiom& axiom, std::uint32_t term) : axiom_(axiom), term_(term) {
    left_ = tree(axiom.left);
    occurrences_left_ = count_;
    right_ = tree(axiom.right);
  }
  [[nodiscard]] std::size_t left() const { return occurrences_left_; }
  [[nodiscard]] std::size_t all() const { return count_; }

  [[nodiscard]] Axiom with(const std::vector<std::size_t>& to, std::size_t copies) const {
    Axiom result = axiom_;
    std::vector<std::uint32_t> terms = {term_};
    const std::size_t variable = *axiom_.terms[term_].variable;
    for (std::size_t copy = 1; copy < copies; ++copy) {
      AxiomTerm term;
      term.variable = add_variable(result, fresh_tensor(result), AxiomSort::kTensor, 0);
      for (AxiomRanks& ranks : result.ranks) ranks.back() = ranks[variable];
      terms.push_back(static_cast<std::uint32_t>(result.terms.size()));
      result.terms.push_back(std::move(term));
    }
    std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> known;
    std::function<std::uint32_t(const Tree&)> build = [&](const Tree& tree) -> std::uint32_t {
      if (axiom_.terms[tree.term].variable) return tree.term == term_ ? terms[to[tree.occurrence]] : tree.term;
      std::vector<std::uint32_t> operands;
      for (const Tree& operand : tree.operands) operands.push_back(build(operand));
      const auto [place, fresh] =
          known.try_emplace({tree.term, operands}, static_cast<std::uint32_t>(result.terms.size()));
      if (fresh) {
        AxiomTerm term = axiom_.terms[tree.term];
        term.operands = std::move(operands);
        result.terms.push_back(std::move(term));
      }
      return place->second;
    };
    result.left = build(left_);
    result.right = build(right_);
    return tidied(with_variables_first(result));
  }

 private:
  Tree tree(std::uint32_t index) {
    Tree made{index, 0, {}};
    if (index == term_) made.occurrence = count_++;
    for (const std::uint32_t operand : axiom_.terms[index].operands) made.operands.push_back(tree(operand));
    return made;
  }

  const Axiom& axiom_;
  std::uint32_t term_;
  std::size_t count_ = 0, occurrences_left_ = 0;
  Tree left_, right_;
};

/// Partitions of 0 .. n-1 as restricted growth strings, those of the most blocks first.
std::vector<std::vector<std::size_t>> partitions(std::size_t n) {
  std::vector<std::vector<std::size_t>> all;
  std::vector<std::size_t> one(n, 0);
  std::function<void(std::size_t, std::size_t)> extend = [&](std::size_t at, std::size_t blocks) {
    if (at == n) return all.push_back(one);
    for (std::size_t block = 0; block <= blocks && block < n; ++block) {
      one[at] = block;
      extend(at + 1, std::max(blocks, block + 1));
    }
  };
  extend(0, 0);
  std::ranges::stable_sort(all, std::greater(), [](const auto& p) { return p.empty() ? 0 : std::ranges::max(p) + 1; });
  return all;
}

/// The axiom with one variable made several, as many as hold; nothing if none is.
std::optional<Axiom> split_variable(const Axiom& axiom, std::uint32_t term, const Judge& judge) {
  const Splitter splitter(axiom, term);
  if (splitter.left() < 2 || splitter.left() > 5) return std::nullopt;
  const std::size_t right = splitter.all() - splitter.left();
  int tries = 0;
  for (const auto& partition : partitions(splitter.left())) {
    const std::size_t copies = std::ranges::max(partition) + 1;
    if (copies == 1) break;
    std::vector<std::size_t> to = partition;
    to.resize(splitter.all(), 0);
    while (true) {
      if (++tries > kMostTries) return std::nullopt;
      Axiom candidate = splitter.with(to, copies);
      if (candidate.left != candidate.right && judge.probably(candidate)) return candidate;
      std::size_t at = 0;
      while (at < right && ++to[splitter.left() + at] == copies) to[splitter.left() + at++] = 0;
      if (at == right) break;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string fresh_name(const Axiom& axiom, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!takes_name(axiom, name)) return name;
  }
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}{}", *names.begin(), number);
    if (!takes_name(axiom, name)) return name;
  }
}

Axiom with_value(Axiom axiom, const std::string& variable, const std::string& value) {
  axiom.domain += fmt::format("{}{} {}", axiom.domain.empty() ? "" : "; ", variable, value);
  return axiom;
}

bool is_usable(const Axiom& axiom) {
  const auto names_all = [&](std::uint32_t side) {
    std::set<std::string, std::less<>> named;
    for (const std::uint32_t index : below(axiom, side)) {
      const AxiomTerm& term = axiom.terms[index];
      if (term.variable) named.insert(axiom.variables[*term.variable].name);
      for (const AxiomParam& param : term.params) {
        if (const auto* whole = std::get_if<AxiomParamVariable>(&param)) named.insert(whole->name);
        const auto* one = std::get_if<SymbolicDim>(&param);
        const auto* list = std::get_if<std::vector<SymbolicDim>>(&param);
        for (const SymbolicDim& dim : list ? std::span(*list) : std::span(one, one ? 1 : 0))
          if (const auto size = dim.variable()) named.insert(size->text());
      }
    }
    return std::ranges::all_of(axiom.variables, [&](const auto& variable) { return named.contains(variable.name); });
  };
  return names_all(axiom.left) || names_all(axiom.right);
}

std::size_t add_variable(Axiom& axiom, std::string name, AxiomSort sort, int rank) {
  axiom.variables.push_back({std::move(name), sort});
  for (AxiomRanks& ranks : axiom.ranks) ranks.push_back(rank);
  return axiom.variables.size() - 1;
}

Axiom abstract_subterms(Axiom axiom, const Judge& judge) {
  for (bool changed = true; std::exchange(changed, false);) {
    auto typed = specialise(axiom, axiom.ranks[0], {});
    if (!typed) return axiom;
    const auto left = below(axiom, axiom.left), right = below(axiom, axiom.right);
    for (std::uint32_t i = static_cast<std::uint32_t>(axiom.terms.size()); i-- > 0;) {
      if (axiom.terms[i].variable || !left.contains(i) || !right.contains(i)) continue;
      Axiom candidate = axiom;
      const std::size_t variable =
          add_variable(candidate, fresh_tensor(candidate), AxiomSort::kTensor, typed->terms[i].shape.rank());
      AxiomTerm term;
      term.variable = variable;
      candidate.terms.push_back(std::move(term));
      candidate = with_term_replaced(candidate, i, static_cast<std::uint32_t>(candidate.terms.size() - 1));
      candidate = tidied(with_variables_first(candidate));
      if (candidate.left == candidate.right || !judge.probably(candidate)) continue;
      axiom = std::move(candidate);
      changed = true;
      break;
    }
  }
  return axiom;
}

Axiom split_variables(Axiom axiom, const Judge& judge) {
  for (bool changed = true; std::exchange(changed, false);) {
    for (std::uint32_t i = 0; i < axiom.terms.size() && !changed; ++i) {
      if (!axiom.terms[i].variable) continue;
      if (auto split = split_variable(axiom, i, judge)) {
        axiom = *std::move(split);
        changed = true;
      }
    }
  }
  return axiom;
}

/// Tensors are x, y, z, ..., in the order in which a reader meets them; parameters come first.
Axiom with_plain_names(const Axiom& axiom) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < axiom.variables.size(); ++i) {
    if (!is_tensor(axiom, i)) order.push_back(i);
  }
  std::set<std::string> taken;
  for (const std::size_t i : order) taken.insert(axiom.variables[i].name);
  std::function<void(std::uint32_t)> visit = [&](std::uint32_t term) {
    const auto& variable = axiom.terms[term].variable;
    if (variable && std::ranges::find(order, *variable) == order.end()) order.push_back(*variable);
    for (const std::uint32_t operand : axiom.terms[term].operands) visit(operand);
  };
  visit(axiom.left);
  visit(axiom.right);
  std::map<std::string, std::string, std::less<>> names;
  std::vector<std::string> free;
  for (const char* name : {"x", "y", "z", "w", "u", "v"}) {
    if (!taken.contains(name)) free.emplace_back(name);
  }
  std::vector<std::size_t> position(axiom.variables.size(), 0);
  Axiom result = axiom;
  result.variables.clear();
  result.ranks.assign(axiom.ranks.size(), {});
  std::size_t next = 0;
  for (const std::size_t i : order) {
    AxiomVariable variable = axiom.variables[i];
    if (variable.sort == AxiomSort::kTensor) {
      variable.name = next < free.size() ? free[next] : fmt::format("x{}", next);
      ++next;
    }
    names[axiom.variables[i].name] = variable.name;
    position[i] = result.variables.size();
    result.variables.push_back(std::move(variable));
    for (std::size_t k = 0; k < axiom.ranks.size(); ++k) result.ranks[k].push_back(axiom.ranks[k][i]);
  }
  const auto renamed = [&](const SymbolicDim& dim) {
    return dim.substitute([&](SizeVar size) -> std::optional<SymbolicDim> {
      const auto found = names.find(size.tensor());
      if (found == names.end()) return std::nullopt;
      return SymbolicDim::variable(size.is_axis() ? SizeVar::axis(found->second, size.axis_text())
                                                  : SizeVar::read(found->second));
    });
  };
  for (AxiomTerm& term : result.terms) {
    if (term.variable) term.variable = position[*term.variable];
    for (AxiomParam& param : term.params) {
      if (auto* one = std::get_if<SymbolicDim>(&param)) *one = renamed(*one);
      if (auto* list = std::get_if<std::vector<SymbolicDim>>(&param))
        std::ranges::transform(*list, list->begin(), renamed);
    }
  }
  for (Constraint& condition : result.condition) {
    condition.left = renamed(condition.left);
    condition.right = renamed(condition.right);
  }
  return result;
}

}  // namespace rewright
