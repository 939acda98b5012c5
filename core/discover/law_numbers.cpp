#include "discover/law_numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "discover/equation.h"
#include "discover/law_variables.h"

namespace rewright {
namespace {

constexpr std::size_t kMostApart = 6;  ///< Places of one variable of which some are tried without the others.

/// An element of a list that is a number or a variable, sizes of tensors among them.
struct Place {
  std::size_t term = 0, param = 0, index = 0;
};
using Places = std::vector<Place>;

const SymbolicDim& at(const Axiom& axiom, const Place& place) {
  return std::get<std::vector<SymbolicDim>>(axiom.terms[place.term].params[place.param])[place.index];
}
SymbolicDim& at(Axiom& axiom, const Place& place) {
  return std::get<std::vector<SymbolicDim>>(axiom.terms[place.term].params[place.param])[place.index];
}
SymbolicDim variable_called(const std::string& name) { return SymbolicDim::variable(SizeVar::read(name)); }
bool is_size_of_tensor(const SymbolicDim& dim) {
  const auto variable = dim.variable();
  return variable && variable->is_axis();
}

/// What an element is compared with: sizes and kernels are one kind, since kernels are sizes of weights. Empty: it
/// stays.
std::string kind_of(const ParamSpec& spec) {
  if (spec.name == "starts") return spec.name;
  if (spec.kind == ParamKind::kSizes || spec.name == "kernel") return "size";
  if (spec.kind == ParamKind::kInts && (spec.name == "before" || spec.name == "after")) return spec.name;
  return {};
}

/// How a place is compared with others: its kind, and how far from the end of its list it is. Kernels are the last two
/// of four.
using Role = std::pair<std::string, std::size_t>;

std::map<Role, Places> places_of(const Axiom& axiom) {
  std::map<Role, Places> places;
  for (std::size_t t = 0; t < axiom.terms.size(); ++t) {
    const AxiomTerm& term = axiom.terms[t];
    for (std::size_t p = 0; p < term.params.size(); ++p) {
      const auto* list = std::get_if<std::vector<SymbolicDim>>(&term.params[p]);
      const std::string kind = list ? kind_of(term.op->info().params[p]) : "";
      if (kind.empty()) continue;
      for (std::size_t i = 0; i < list->size(); ++i)
        if ((*list)[i].constant() || (*list)[i].variable()) places[{kind, list->size() - i}].push_back({t, p, i});
    }
  }
  return places;
}

Axiom with_expression(Axiom axiom, const Places& places, const SymbolicDim& expression) {
  for (const Place& place : places) at(axiom, place) = expression;
  return axiom;
}

/// With a fresh variable, and its name.
std::pair<Axiom, std::string> with_variable(Axiom axiom, const Places& places) {
  const std::string name = fresh_name(axiom, {"m", "n", "i", "j", "k", "l"});
  add_variable(axiom, name, AxiomSort::kInt, 0);
  return {with_expression(std::move(axiom), places, variable_called(name)), name};
}

/// Does it hold at two values of the variable or more?
bool varies(const Axiom& axiom, const std::string& name, const Judge& judge) {
  int values = 0;
  for (const int value : {0, 1, 2, 3}) values += judge.somewhere(with_value(axiom, name, fmt::format("{}", value)));
  return values >= 2;
}

/// Could these places have another value than this, everything else being as it is?
bool is_free(const Axiom& axiom, const Places& places, const SymbolicDim& value, const Judge& judge) {
  auto [other, name] = with_variable(axiom, places);
  other.condition.push_back({Constraint::Kind::kNotEqual, variable_called(name), value});
  return judge.somewhere(other);
}

bool is_law(const Axiom& axiom, const std::string& name, const Judge& judge) {
  return is_usable(axiom) && varies(axiom, name, judge) && judge.surely(axiom);
}

/// Of equal places: which can be a variable of their own; those that the other way round would be the rest, too.
std::vector<Places> subsets_of(const Places& places, bool all) {
  std::vector<Places> subsets;
  if (all) subsets.push_back(places);
  if (places.size() > kMostApart) return subsets;
  for (std::uint32_t subset = 1; subset + 1 < 1U << places.size(); ++subset) {
    Places some;
    for (std::size_t k = 0; k < places.size(); ++k)
      if (subset >> k & 1) some.push_back(places[k]);
    subsets.push_back(std::move(some));
  }
  return subsets;
}

/// One variable for all these places, which are equal, or for some of them. Where there is a variable already, only
/// some.
std::optional<Axiom> with_variables(const Axiom& axiom, const Places& places, const Judge& judge) {
  const SymbolicDim& value = at(axiom, places[0]);
  const bool is_variable = value.variable() && !is_size_of_tensor(value);
  for (const Places& some : subsets_of(places, !is_variable)) {
    auto [general, name] = with_variable(axiom, some);
    if (!is_law(general, name, judge)) continue;
    if (!value.constant() && !is_free(axiom, some, value, judge)) continue;
    return general;
  }
  return std::nullopt;
}

/// A list of sizes as one variable, of any length, wherever it stands.
std::optional<Axiom> with_list(const Axiom& axiom, const Judge& judge) {
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> lists;
  for (std::size_t t = 0; t < axiom.terms.size(); ++t) {
    for (std::size_t p = 0; p < axiom.terms[t].params.size(); ++p) {
      const auto* list = std::get_if<std::vector<SymbolicDim>>(&axiom.terms[t].params[p]);
      if (!list || axiom.terms[t].op->info().params[p].kind != ParamKind::kSizes) continue;
      std::string text;
      for (const SymbolicDim& dim : *list) text += to_string(dim) + ",";
      lists[text].emplace_back(t, p);
    }
  }
  for (const auto& [text, places] : lists) {
    Axiom general = axiom;
    const std::string name = fresh_name(axiom, {"k", "l", "m", "n"});
    add_variable(general, name, AxiomSort::kSizes, 0);
    for (const auto& [term, param] : places) general.terms[term].params[param] = AxiomParamVariable{name};
    general = tidied(general);
    int lengths = 0;
    for (const char* length : {"_1", "_2", "_3", "_4"}) lengths += judge.probably(with_value(general, name, length));
    if (lengths >= 2 && is_usable(general) && judge.surely(general)) return general;
  }
  return std::nullopt;
}

/// The lists of an operator's parameters, where all its applications have the same and all lists one length, not 0:
/// axes, starts, sizes and steps of a slice. Empty: they are not so.
std::vector<std::size_t> lists_of_one_length(const Axiom& axiom, const Operator* op) {
  const AxiomTerm* first = nullptr;
  std::vector<std::size_t> lists;
  for (const AxiomTerm& term : axiom.terms) {
    if (term.op != op) continue;
    for (std::size_t p = 0; p < term.params.size(); ++p) {
      const auto* list = std::get_if<std::vector<SymbolicDim>>(&term.params[p]);
      if (!first && list) lists.push_back(p);
      if (list && first && *list != std::get<std::vector<SymbolicDim>>(first->params[p])) return {};
    }
    if (!first) first = &term;
  }
  const auto length = [&](std::size_t p) { return std::get<std::vector<SymbolicDim>>(first->params[p]).size(); };
  const bool alike = std::ranges::all_of(lists, [&](std::size_t p) { return length(p) == length(lists[0]); });
  return lists.size() >= 2 && alike && length(lists[0]) > 0 ? lists : std::vector<std::size_t>();
}

/// Such lists as variables of any length, together: one alone would not fit the others.
Axiom with_lists_of(Axiom axiom, const Operator* op, const std::vector<std::size_t>& lists, const Judge& judge) {
  Axiom general = axiom;
  for (const std::size_t p : lists) {
    const std::string name = fresh_name(general, {"k", "l", "m", "n"});
    add_variable(general, name, AxiomSort::kSizes, 0);
    for (AxiomTerm& term : general.terms)
      if (term.op == op) term.params[p] = AxiomParamVariable{name};
  }
  general = tidied(general);
  return is_usable(general) && judge.surely(general) ? general : axiom;
}

/// The product of the sizes of a tensor of rank 2 or more.
std::optional<SymbolicDim> product_of_sizes(const Axiom& axiom, std::size_t tensor) {
  if (!is_tensor(axiom, tensor) || axiom.ranks[0][tensor] < 2) return std::nullopt;
  SymbolicDim product = 1;
  for (int axis = 0; axis < axiom.ranks[0][tensor]; ++axis)
    product = product * SymbolicDim::variable(SizeVar::axis(axiom.variables[tensor].name, axis));
  return product;
}

std::optional<Axiom> with_product(const Axiom& axiom, const Place& place, const Judge& judge) {
  if (axiom.terms[place.term].op->info().params[place.param].kind != ParamKind::kSizes) return std::nullopt;
  for (std::size_t tensor = 0; tensor < axiom.variables.size(); ++tensor) {
    const auto product = product_of_sizes(axiom, tensor);
    if (!product || is_free(axiom, {place}, *product, judge)) continue;
    Axiom candidate = with_expression(axiom, {place}, *product);
    if (judge.surely(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<Axiom> with_sum(const Axiom& axiom, const Place& first, const Place& second, const Place& total,
                              const Judge& judge) {
  auto [one, m] = with_variable(axiom, {first});
  auto [both, n] = with_variable(std::move(one), {second});
  const SymbolicDim sum = variable_called(m) + variable_called(n);
  Axiom candidate = with_expression(both, {total}, sum);
  if (!varies(candidate, m, judge) || !varies(candidate, n, judge) || !judge.surely(candidate)) return std::nullopt;
  return candidate;
}

std::optional<Axiom> with_any_sum(const Axiom& axiom, const Places& places, const Judge& judge) {
  for (const Place& total : places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t j = i + 1; j < places.size(); ++j) {
        const Place &first = places[i], &second = places[j];
        if (first.term == total.term || second.term == total.term || first.term == second.term) continue;
        const auto a = at(axiom, first).constant(), b = at(axiom, second).constant(), c = at(axiom, total).constant();
        if (!a || !b || !c || *a + *b != *c) continue;
        if (auto general = with_sum(axiom, first, second, total, judge)) return general;
      }
    }
  }
  return std::nullopt;
}

std::optional<Axiom> with_one_expression(const Axiom& axiom, const Judge& judge) {
  for (const auto& [role, places] : places_of(axiom)) {
    if (role.first != "size")
      if (auto general = with_any_sum(axiom, places, judge)) return general;
    for (const Place& place : places)
      if (auto general = with_product(axiom, place, judge)) return general;
  }
  return std::nullopt;
}

std::optional<Axiom> with_variable_for_equal(const Axiom& axiom, const Places& places, const Judge& judge) {
  std::map<std::string, Places> by_value;
  for (const Place& place : places) by_value[to_string(at(axiom, place))].push_back(place);
  for (const auto& [value, equal] : by_value)
    if (auto general = with_variables(axiom, equal, judge)) return general;
  return std::nullopt;
}

/// Equal elements of one role first, then those of all, which a transpose may bring elsewhere.
std::optional<Axiom> with_one_variable(const Axiom& axiom, const Judge& judge) {
  const auto by_role = places_of(axiom);
  for (const auto& [role, places] : by_role)
    if (auto general = with_variable_for_equal(axiom, places, judge)) return general;
  Places sizes;
  for (const auto& [role, places] : by_role)
    if (role.first == "size") sizes.insert(sizes.end(), places.begin(), places.end());
  return with_variable_for_equal(axiom, sizes, judge);
}

}  // namespace

Axiom generalise_lists(Axiom axiom, const Judge& judge) {
  std::map<std::string, const Operator*> operators;
  for (const AxiomTerm& term : axiom.terms)
    if (term.op != nullptr) operators.emplace(term.op->name(), term.op);
  for (const auto& [name, op] : operators) {
    const std::vector<std::size_t> lists = lists_of_one_length(axiom, op);
    if (!lists.empty()) axiom = with_lists_of(std::move(axiom), op, lists, judge);
  }
  return axiom;
}

Axiom generalise_sums(Axiom axiom, const Judge& judge) {
  while (auto general = with_one_expression(axiom, judge)) axiom = *std::move(general);
  return axiom;
}

Axiom generalise_numbers(Axiom axiom, const Judge& judge) {
  while (auto general = with_list(axiom, judge)) axiom = *std::move(general);
  while (auto general = with_one_variable(axiom, judge)) axiom = *std::move(general);
  return axiom;
}

}  // namespace rewright
