#include "discover/law_parameters.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "axiom/domain.h"
#include "discover/equation.h"
#include "discover/law_variables.h"
#include "tensor/real.h"

namespace rewright {
namespace {

/// Tensors of which the ranks are chosen together: each by itself where they are few, else those of one rank, of the
/// two greatest.
std::vector<std::vector<std::size_t>> groups_of_tensors(const Axiom& axiom) {
  constexpr std::size_t kFew = 3, kMostGroups = 2;
  std::vector<std::vector<std::size_t>> single;
  std::map<int, std::vector<std::size_t>, std::greater<>> by_rank;
  for (std::size_t i = 0; i < axiom.variables.size(); ++i) {
    if (!is_tensor(axiom, i)) continue;
    single.push_back({i});
    by_rank[axiom.ranks[0][i]].push_back(i);
  }
  if (single.size() <= kFew) return single;
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [rank, tensors] : by_rank) {
    if (groups.size() < kMostGroups) groups.push_back(std::move(tensors));
  }
  return groups;
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

/// A parameter that is a number or a list of numbers, as text; nothing for variables and sizes.
std::optional<std::string> constant_text(const ParamSpec& spec, const AxiomParam& param) {
  if (spec.kind == ParamKind::kSizes) return std::nullopt;
  if (const auto* real = std::get_if<double>(&param)) return real_text(*real);
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

/// A value that a parameter has, wherever it has it.
struct Group {
  std::string name;  ///< Of the parameter.
  ParamKind kind = ParamKind::kInt;
  std::string value;      ///< As text.
  std::string also = {};  ///< Another parameter, which becomes the same variable where it has this value.
  friend auto operator<=>(const Group& a, const Group& b) {
    return std::tie(a.name, a.value) <=> std::tie(b.name, b.value);
  }
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

/// What is stretched to the left of an exchange is stretched to the right after it: a value that one parameter has on
/// the left side only and another on the right side only.
std::vector<Group> groups_that_move(const Axiom& axiom) {
  const auto on_side = [&](std::uint32_t side) {
    Axiom one = axiom;
    one.left = one.right = side;
    return groups_of(tidied(one));
  };
  const std::set<Group> left = on_side(axiom.left), right = on_side(axiom.right);
  std::vector<Group> moving;
  for (const Group& from : left) {
    for (const Group& to : right) {
      if (right.contains(from) || left.contains(to) || from.kind != to.kind || from.value != to.value) continue;
      moving.push_back({from.name, from.kind, from.value, to.name});
    }
  }
  return moving;
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

void add_domain(Axiom& axiom, const std::string& values) {
  axiom.domain += (axiom.domain.empty() ? "" : "; ") + values;
}

/// The axiom with a variable for the group's value. Sizes along an axis that becomes a variable follow it: x.0 is x.a
/// where `follow` is set.
Axiom with_variable(const Axiom& axiom, const Group& group, const std::string& name, bool follow) {
  Axiom result = axiom;
  const bool list = group.kind == ParamKind::kInts;
  const AxiomSort sort = list ? AxiomSort::kSizes : group.kind == ParamKind::kReal ? AxiomSort::kReal : AxiomSort::kInt;
  add_variable(result, name, sort, 0);
  // Of a bound the audit's own values leave few within the other one: clip's from -1 on, say.
  if (sort == AxiomSort::kReal) add_domain(result, fmt::format("{} any {} -2.5 -0.75 0 0.5 3", name, group.value));
  const auto followed = [&](const SymbolicDim& dim) {
    return dim.substitute([&](SizeVar size) -> std::optional<SymbolicDim> {
      if (!size.is_axis() || size.axis_text() != group.value) return std::nullopt;
      return SymbolicDim::variable(SizeVar::axis(size.tensor(), name));
    });
  };
  for (AxiomTerm& term : result.terms) {
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const ParamSpec& spec = term.op->info().params[i];
      const bool named = spec.name == group.name || spec.name == group.also;
      if (named && constant_text(spec, term.params[i]) == group.value) {
        if (sort == AxiomSort::kInt)
          term.params[i] = SymbolicDim::variable(SizeVar::read(name));
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
    if (condition.kind != Constraint::Kind::kNotEqual || !condition.left.variable()) continue;
    const auto number = condition.right.constant();
    if (number && fmt::format("{}", *number) == group.value && group.name == "axis")
      condition.right = SymbolicDim::variable(SizeVar::read(name));
  }
  return result;
}

/// Is the axiom compared somewhere at two values of the axis or more? A variable that only one value fits says nothing,
/// and no prover can guess that value where the side at hand does not name it.
bool says_more(const Axiom& axiom, const std::string& axis, const Judge& judge) {
  Axiom at = axiom;
  // Tensors of a low rank have few axes.
  at.ranks.push_back(with_greatest_rank(axiom, 4));
  int values = 0;
  for (int value = 0; value < 4; ++value) {
    Axiom one = at;
    add_domain(one, fmt::format("{} {}", axis, value));
    values += judge.probably(one);
  }
  return values >= 2;
}

/// The same of a choice.
bool says_more_of_choice(const Axiom& axiom, const std::string& name, const Judge& judge) {
  int values = 0;
  for (const std::string& choice : spec_of(axiom, name)->choices)
    values += judge.probably(with_value(axiom, name, choice));
  return values >= 2;
}

/// The same of lists of numbers that the other side may have as sizes, or in a sum: they fit one value alone then.
bool says_more_of_list(const Axiom& axiom, const Group& group, const std::string& name, const Judge& judge) {
  if (group.name != "kernel" && group.name != "before" && group.name != "after") return true;
  int values = 0;
  for (const int value : {0, 1, 2, 3}) {
    const std::vector<int> list(static_cast<std::size_t>(std::ranges::count(group.value, ',')), value);
    values += judge.probably(with_value(axiom, name, fmt::format("[{}]", fmt::join(list, ","))));
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
    if (group.kind == ParamKind::kChoice && !says_more_of_choice(candidate, name, judge)) continue;
    if (!says_more_of_list(candidate, group, name, judge)) continue;
    if (judge.surely(candidate)) return candidate;
    if (group.name != "axis") continue;
    for (const Group& other : groups_of(axiom)) {
      if (other.name != "axis" || other.value == group.value) continue;
      Axiom apart = candidate;
      apart.condition.push_back({Constraint::Kind::kNotEqual, SymbolicDim::variable(SizeVar::read(name)),
                                 SymbolicDim(static_cast<std::int64_t>(std::stoll(other.value)))});
      if (judge.surely(apart)) return apart;
    }
  }
  return std::nullopt;
}

/// With few values for the lists of axes along which something is repeated: there are many, and several such lists in
/// one law.
Axiom narrowed(Axiom axiom) {
  for (const AxiomVariable& variable : axiom.variables) {
    const ParamSpec* spec = variable.sort == AxiomSort::kSizes ? spec_of(axiom, variable.name) : nullptr;
    if (spec != nullptr && (spec->name == "stretch_left" || spec->name == "stretch_right"))
      add_domain(axiom, variable.name + " any [] [0] [1] [2]");
  }
  return axiom;
}

}  // namespace

namespace {

/// Until nothing changes: an axis along which nothing is repeated is free only once what is repeated is.
Axiom generalise_groups(Axiom axiom, bool choices, const Judge& judge) {
  for (bool changed = true; std::exchange(changed, false);) {
    for (const Group& group : groups_of(axiom)) {
      if ((group.kind == ParamKind::kChoice) != choices) continue;
      auto general = generalise_group(axiom, group, judge);
      if (!general) continue;
      axiom = *std::move(general);
      changed = true;
    }
  }
  return axiom;
}

}  // namespace

Axiom generalise_parameters(Axiom axiom, const Judge& judge) {
  for (const Group& group : groups_that_move(axiom)) {
    Axiom candidate = with_variable(axiom, group, variable_for(axiom, group), false);
    if (judge.surely(candidate)) axiom = std::move(candidate);
  }
  return generalise_groups(std::move(axiom), false, judge);
}

Axiom generalise_choices(Axiom axiom, const Judge& judge) { return generalise_groups(std::move(axiom), true, judge); }

Axiom generalise_ranks(Axiom axiom, const Judge& judge) {
  constexpr int kRanks = 5;
  const std::vector<std::vector<std::size_t>> groups = groups_of_tensors(axiom);
  int all = 1;
  for (std::size_t i = 0; i < groups.size(); ++i) all *= kRanks;
  const Axiom narrow = narrowed(axiom);
  std::vector<AxiomRanks> some;
  for (int number = 0; number < all; ++number) {
    Axiom candidate = narrow;
    AxiomRanks& ranks = candidate.ranks[0];
    int rest = number;
    for (const std::vector<std::size_t>& group : groups) {
      for (const std::size_t tensor : group) ranks[tensor] = rest % kRanks;
      rest /= kRanks;
    }
    candidate.ranks.resize(1);
    if (ranks == axiom.ranks[0] || judge.probably(candidate)) some.push_back(ranks);
  }
  std::ranges::sort(some);
  Axiom general = axiom;
  general.ranks = some;
  if (judge.surely(general)) return general;
  std::erase_if(some, [&](const AxiomRanks& ranks) {
    general.ranks = {ranks};
    return ranks != axiom.ranks[0] && !judge.surely(general);
  });
  axiom.ranks = std::move(some);
  return axiom;
}

Axiom without_needless_conditions(Axiom axiom, const Judge& judge) {
  for (std::size_t i = axiom.condition.size(); i-- > 0;) {
    Axiom candidate = axiom;
    candidate.condition.erase(candidate.condition.begin() + static_cast<std::ptrdiff_t>(i));
    if (judge.probably(candidate)) axiom = std::move(candidate);
  }
  return axiom;
}

}  // namespace rewright
