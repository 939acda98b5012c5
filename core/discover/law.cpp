#include "discover/law.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "axiom/any_function.h"
#include "axiom/audit.h"
#include "discover/equation.h"

namespace rewright {
namespace {

constexpr int kMostTries = 1500;  ///< Assignments of occurrences to variables, for one variable.

bool is_tensor(const Axiom& axiom, std::size_t variable) {
  return axiom.variables[variable].sort == AxiomSort::kTensor;
}

bool takes_name(const Axiom& axiom, std::string_view name) {
  return std::ranges::find(axiom.variables, name, &AxiomVariable::name) != axiom.variables.end();
}

/// The first of `names`, then the names with numbers, that the axiom has not.
std::string fresh_name(const Axiom& axiom, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!takes_name(axiom, name)) return name;
  }
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}{}", *names.begin(), number);
    if (!takes_name(axiom, name)) return name;
  }
}

std::string fresh_tensor(const Axiom& axiom) { return fresh_name(axiom, {"x", "y", "z", "w", "u", "v"}); }

std::size_t add_variable(Axiom& axiom, std::string name, AxiomSort sort, int rank) {
  axiom.variables.push_back({std::move(name), sort});
  for (AxiomRanks& ranks : axiom.ranks) ranks.push_back(rank);
  return axiom.variables.size() - 1;
}

// --- does it hold? -------------------------------------------------------------------------------------------------

class Judge {
 public:
  explicit Judge(const LawOptions& options) : options_(options) {}

  /// At a few sizes: enough to drop what is wrong.
  bool probably(const Axiom& axiom) const {
    AuditOptions quick;
    quick.max_dim = 3;
    quick.max_sizes = 6;
    quick.max_typings = 12;
    quick.seed = options_.seed;
    return holds(axiom, quick) && holds(axiom, middle());
  }
  bool surely(const Axiom& axiom) const {
    if (!probably(axiom)) return false;
    const auto result = thoroughly(axiom);
    return result && result->holds;
  }
  bool holds(const Axiom& axiom, const AuditOptions& how) const {
    const auto result = audit(axiom, how);
    return result && result->holds && result->combinations > 0;
  }
  /// The last word; its result.
  Result<AuditResult> thoroughly(const Axiom& axiom) const {
    AuditOptions options;
    options.max_dim = 4;
    options.max_sizes = 120;
    options.max_typings = 300;
    options.seed = options_.seed + 1;
    options.threads = options_.threads;
    return audit(axiom, options);
  }

 private:
  AuditOptions middle() const {
    AuditOptions options;
    options.max_dim = 3;
    options.max_sizes = 25;
    options.max_typings = 80;
    options.seed = options_.seed;
    return options;
  }
  const LawOptions& options_;
};

// --- subterms --------------------------------------------------------------------------------------------------------

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

// --- variables -------------------------------------------------------------------------------------------------------

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

// --- parameters ------------------------------------------------------------------------------------------------------

/// A parameter that is a number or a list of numbers, as text; nothing for variables and sizes.
std::optional<std::string> constant_text(const ParamSpec& spec, const AxiomParam& param) {
  if (spec.kind == ParamKind::kSizes) return std::nullopt;
  if (const auto* real = std::get_if<double>(&param)) return fmt::format("{}", *real);
  if (const auto* one = std::get_if<SymbolicDim>(&param)) {
    if (const auto number = one->constant()) return fmt::format("{}", *number);
    return std::nullopt;
  }
  const auto* list = std::get_if<std::vector<SymbolicDim>>(&param);
  if (!list) return std::nullopt;
  std::string text = "[";
  for (const SymbolicDim& dim : *list) {
    const auto number = dim.constant();
    if (!number) return std::nullopt;
    text += fmt::format("{},", *number);
  }
  return text + "]";
}

struct Group {
  std::string name;  ///< Of the parameter.
  ParamKind kind = ParamKind::kInt;
  std::string value;  ///< As text.
  friend auto operator<=>(const Group& a, const Group& b) {
    return std::tie(a.name, a.value) <=> std::tie(b.name, b.value);
  }
  friend bool operator==(const Group& a, const Group& b) { return a.name == b.name && a.value == b.value; }
};

std::set<Group> groups_of(const Axiom& axiom) {
  std::set<Group> groups;
  for (const AxiomTerm& term : axiom.terms) {
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const ParamSpec& spec = term.op->info().params[i];
      if (const auto value = constant_text(spec, term.params[i])) groups.insert({spec.name, spec.kind, *value});
    }
  }
  return groups;
}

std::string variable_for(const Axiom& axiom, const Group& group) {
  if (group.name == "axis") return fresh_name(axiom, {"a", "b", "c"});
  if (group.name == "strides") return fresh_name(axiom, {"s", "t"});
  if (group.name == "padding") return fresh_name(axiom, {"p"});
  if (group.name == "pads") return fresh_name(axiom, {"q"});
  if (group.name == "dilations") return fresh_name(axiom, {"d"});
  if (group.name == "groups") return fresh_name(axiom, {"g", "h"});
  if (group.name == "kernel" || group.name == "perm") return fresh_name(axiom, {"k", "m"});
  return fresh_name(axiom, {"e", "f", "r", "i", "j"});
}

/// The axiom with a variable for the group's value. Sizes along an axis that becomes a variable follow it: x.0 is x.a
/// where `follow` is set.
Axiom with_variable(const Axiom& axiom, const Group& group, const std::string& name, bool follow) {
  Axiom result = axiom;
  const bool list = group.kind == ParamKind::kInts;
  const AxiomSort sort = list ? AxiomSort::kSizes : group.kind == ParamKind::kReal ? AxiomSort::kReal : AxiomSort::kInt;
  add_variable(result, name, sort, 0);
  const auto followed = [&](const SymbolicDim& dim) {
    return dim.substitute([&](std::string_view size) -> std::optional<SymbolicDim> {
      const std::size_t dot = size.find('.');
      if (dot == std::string_view::npos || size.substr(dot + 1) != group.value) return std::nullopt;
      return SymbolicDim::variable(fmt::format("{}.{}", size.substr(0, dot), name));
    });
  };
  for (AxiomTerm& term : result.terms) {
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const ParamSpec& spec = term.op->info().params[i];
      if (spec.name == group.name && constant_text(spec, term.params[i]) == group.value) {
        if (sort == AxiomSort::kInt)
          term.params[i] = SymbolicDim::variable(name);
        else
          term.params[i] = AxiomParamVariable{name};
      } else if (auto* sizes = std::get_if<std::vector<SymbolicDim>>(&term.params[i]);
                 sizes && follow && spec.kind == ParamKind::kSizes) {
        for (SymbolicDim& dim : *sizes) dim = followed(dim);
      }
    }
  }
  // A condition that speaks of the number ("b != 0") speaks of the variable now.
  for (Constraint& condition : result.condition) {
    if (condition.kind != Constraint::Kind::kNotEqual || !condition.left.variable_name()) continue;
    const auto number = condition.right.constant();
    if (number && fmt::format("{}", *number) == group.value && group.name == "axis")
      condition.right = SymbolicDim::variable(name);
  }
  return result;
}

/// The first combination of ranks, with another rank for the tensors of the greatest.
AxiomRanks with_greatest_rank(const Axiom& axiom, int rank) {
  AxiomRanks ranks = axiom.ranks[0];
  int greatest = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) greatest = std::max(greatest, is_tensor(axiom, i) ? ranks[i] : 0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (is_tensor(axiom, i) && ranks[i] == greatest) ranks[i] = rank;
  }
  return ranks;
}

/// Is the axiom compared somewhere at two values of the axis or more? A variable that only one value fits says nothing,
/// and no prover can guess that value where the side at hand does not name it.
bool says_more(const Axiom& axiom, const std::string& axis, const Judge& judge) {
  Axiom at = axiom;
  // Tensors of a low rank have few axes.
  at.ranks.push_back(with_greatest_rank(axiom, 4));
  int values = 0;
  for (int value = 0; value < 4; ++value) {
    at.domain = fmt::format("{} {}", axis, value);
    values += judge.probably(at);
  }
  return values >= 2;
}

std::optional<Axiom> generalise_group(const Axiom& axiom, const Group& group, const Judge& judge) {
  const std::string name = variable_for(axiom, group);
  // Sizes along the axis go with it where that is the same to begin with: split[axis=1, sizes=[x.1, y.1]] is a split at
  // [x.a, y.a], and not at [x.1, y.1] along every axis a.
  for (const bool follow : {true, false}) {
    if (follow && group.name != "axis") continue;
    Axiom candidate = with_variable(axiom, group, name, follow);
    if (group.name == "axis" && !says_more(candidate, name, judge)) continue;
    if (judge.surely(candidate)) return candidate;
    if (group.name != "axis") continue;
    for (const Group& other : groups_of(axiom)) {
      if (other.name != "axis" || other.value == group.value) continue;
      Axiom apart = candidate;
      apart.condition.push_back({Constraint::Kind::kNotEqual, SymbolicDim::variable(name),
                                 SymbolicDim(static_cast<std::int64_t>(std::stoll(other.value)))});
      if (judge.surely(apart)) return apart;
    }
  }
  return std::nullopt;
}

/// Ranks for which a parameter's number makes no sense leave the number: ranks come first, then parameters.
Axiom generalise_parameters(Axiom axiom, const Judge& judge) {
  for (const Group& group : groups_of(axiom)) {
    if (auto general = generalise_group(axiom, group, judge)) axiom = *std::move(general);
  }
  return axiom;
}

// --- ranks -----------------------------------------------------------------------------------------------------------

Axiom generalise_ranks(Axiom axiom, const Judge& judge) {
  const AxiomRanks own = axiom.ranks[0];
  if (own == with_greatest_rank(axiom, 0)) return axiom;
  std::vector<AxiomRanks> kept;
  for (int rank = 0; rank <= 4; ++rank) {
    Axiom candidate = axiom;
    candidate.ranks = {with_greatest_rank(axiom, rank)};
    if (candidate.ranks[0] == own || judge.surely(candidate)) kept.push_back(candidate.ranks[0]);
  }
  axiom.ranks = std::move(kept);
  return axiom;
}

/// "x.0 = y.0" and the like that both sides' being defined implies anyway say nothing; others are kept only if needed.
Axiom without_needless_conditions(Axiom axiom, const Judge& judge) {
  for (std::size_t i = axiom.condition.size(); i-- > 0;) {
    Axiom candidate = axiom;
    candidate.condition.erase(candidate.condition.begin() + static_cast<std::ptrdiff_t>(i));
    if (judge.probably(candidate)) axiom = std::move(candidate);
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
    return dim.substitute([&](std::string_view name) -> std::optional<SymbolicDim> {
      const std::size_t dot = name.find('.');
      const auto found = names.find(name.substr(0, dot));
      if (found == names.end()) return std::nullopt;
      const std::string_view rest = dot == std::string_view::npos ? std::string_view() : name.substr(dot);
      return SymbolicDim::variable(fmt::format("{}{}", found->second, rest));
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

}  // namespace

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
  axiom = generalise_parameters(std::move(axiom), judge);
  Axiom ranked = generalise_ranks(axiom, judge);
  ranked = with_plain_names(ranked);
  if (options.registry) {
    const auto others = with_other_functions(ranked, *options.registry);
    if (!std::ranges::all_of(others, [&](const Axiom& other) { return judge.probably(other); }))
      ranked.needs = "real-relu";
  }
  REWRIGHT_TRY(const AuditResult last, judge.thoroughly(ranked));
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
