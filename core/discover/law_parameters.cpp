#include "discover/law_parameters.h"

#include <algorithm>
#include <optional>
#include <set>

#include "discover/law_variables.h"

namespace rewright {
namespace {

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

}  // namespace

Axiom generalise_parameters(Axiom axiom, const Judge& judge) {
  for (const Group& group : groups_of(axiom)) {
    if (auto general = generalise_group(axiom, group, judge)) axiom = *std::move(general);
  }
  return axiom;
}

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

Axiom without_needless_conditions(Axiom axiom, const Judge& judge) {
  for (std::size_t i = axiom.condition.size(); i-- > 0;) {
    Axiom candidate = axiom;
    candidate.condition.erase(candidate.condition.begin() + static_cast<std::ptrdiff_t>(i));
    if (judge.probably(candidate)) axiom = std::move(candidate);
  }
  return axiom;
}

}  // namespace rewright
