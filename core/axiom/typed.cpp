// Axioms at given ranks and parameters: symbolic shapes of both sides, and what must be checked before each use.
#include <rewright/axiom/axiom.h>
#include <rewright/tensor/linear.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "axiom/claim.h"

namespace rewright {
namespace {

using Value = BasicParamValue<SymbolicDim>;
using Names = std::set<std::string, std::less<>>;

/// Calls use(expression, is_parameter) for every integer expression in a term's parameters; a size list's elements are
/// sizes, all else is a parameter.
template <class Use>
void for_each_expression(const AxiomTerm& term, Use use) {
  for (std::size_t i = 0; i < term.params.size(); ++i) {
    const bool parameter = term.op->info().params[i].kind != ParamKind::kSizes;
    if (const auto* one = std::get_if<SymbolicDim>(&term.params[i])) use(*one, parameter);
    if (const auto* list = std::get_if<std::vector<SymbolicDim>>(&term.params[i])) {
      for (const SymbolicDim& dim : *list) use(dim, parameter);
    }
  }
}

/// Adds the variables of `dim` that must be numbers before sizes are: all of a parameter's, an axis' in "x.a".
void add_parameter_names(const SymbolicDim& dim, bool parameter, Names& names) {
  for (const SizeVar name : dim.variables()) {
    if (!name.is_axis() && parameter) names.insert(name.text());
    if (name.is_axis() && name.axis() < 0) names.insert(std::string(name.axis_text()));
  }
}

class Specialiser {
 public:
  Specialiser(const Axiom& axiom, const AxiomRanks& ranks, const ParamBinding& fixed) : axiom_(axiom) {
    typed_.axiom = &axiom;
    typed_.ranks = ranks;
    typed_.fixed = fixed;
  }

  Result<TypedAxiom> run() {
    for (const std::string& name : parameter_variables(axiom_)) {
      if (!typed_.fixed.contains(name))
        return make_error(ErrorCode::kUsage, "axiom {}: the parameter variable {} has no value", axiom_.name, name);
    }
    REWRIGHT_TRY(const AxiomClaim claim, read_claim(axiom_));
    REWRIGHT_CHECK(check_claim(axiom_, claim, typed_.fixed));
    REWRIGHT_CHECK(type_terms());
    REWRIGHT_CHECK(type_condition(axiom_.condition));
    REWRIGHT_CHECK(type_condition(size_constraints(claim)));
    REWRIGHT_CHECK(equate_shapes());
    typed_.left_to_right = use(typed_.left, typed_.left_defined, typed_.right, typed_.right_defined);
    typed_.right_to_left = use(typed_.right, typed_.right_defined, typed_.left, typed_.left_defined);
    return std::move(typed_);
  }

 private:
  template <class... Args>
  Error unfit(fmt::format_string<Args...> format, Args&&... args) const {
    return make_error(ErrorCode::kShape, "axiom {}: {}", axiom_.name, fmt::format(format, std::forward<Args>(args)...));
  }

  /// "a" bound to a number, "x.a", "strides.0": replaced; sizes stay.
  Result<SymbolicDim> resolve(const SymbolicDim& dim) const {
    std::optional<Error> error;
    auto resolved = dim.substitute([&](SizeVar name) -> std::optional<SymbolicDim> {
      auto one = resolve_variable(name);
      if (one) return *std::move(one);
      error = one.error();
      return std::nullopt;
    });
    if (error) return *std::move(error);
    return resolved;
  }
  Result<SymbolicDim> resolve_variable(SizeVar name) const {
    const std::string& base = name.tensor();
    const auto found = typed_.fixed.find(base);
    if (!name.is_axis()) {
      if (found == typed_.fixed.end()) return SymbolicDim::variable(name);
      if (const auto* number = std::get_if<std::int64_t>(&found->second)) return SymbolicDim(*number);
      return unfit("the variable {} is no number here", name.text());
    }
    REWRIGHT_TRY(const std::int64_t index, index_of(name.axis_text()));
    if (found != typed_.fixed.end()) {
      if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) {
        if (index >= std::ssize(*list)) return unfit("the list {} has no element {}", base, index);
        return SymbolicDim((*list)[static_cast<std::size_t>(index)]);
      }
      return SymbolicDim::variable(SizeVar::axis(base, index));
    }
    const auto variable = std::ranges::find(axiom_.variables, base, &AxiomVariable::name);
    const auto position = static_cast<std::size_t>(variable - axiom_.variables.begin());
    if (variable == axiom_.variables.end() || index >= typed_.ranks[position])
      return unfit("there is no size {} at these ranks", name.text());
    return SymbolicDim::variable(SizeVar::axis(base, index));
  }
  Result<std::int64_t> index_of(std::string_view text) const {
    std::int64_t index = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (code != std::errc() || end != text.data() + text.size()) {
      const auto found = typed_.fixed.find(text);
      if (found == typed_.fixed.end() || !std::holds_alternative<std::int64_t>(found->second))
        return unfit("the axis {} has no value", text);
      index = std::get<std::int64_t>(found->second);
    }
    if (index < 0) return unfit("the axis {} is negative", index);
    return index;
  }

  Result<Value> resolve_param(const ParamSpec& spec, const AxiomParam& param) const {
    if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) {
      const ParamValue& value = typed_.fixed.find(variable->name)->second;
      if (const auto* real = std::get_if<double>(&value); real && spec.kind == ParamKind::kReal) return Value(*real);
      if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&value); ints && spec.kind == ParamKind::kInts)
        return Value(*ints);
      if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&value); sizes && spec.kind == ParamKind::kSizes) {
        SizeList<SymbolicDim> list;
        for (std::size_t i = 0; i < sizes->values.size(); ++i)
          list.values.push_back(SymbolicDim::variable(SizeVar::axis(variable->name, static_cast<std::int64_t>(i))));
        return Value(std::move(list));
      }
      return unfit("the value of {} does not fit the parameter {}", variable->name, spec.name);
    }
    if (const auto* real = std::get_if<double>(&param)) return Value(*real);
    if (const auto* one = std::get_if<SymbolicDim>(&param)) {
      REWRIGHT_TRY(const std::int64_t number, number_of(*one, spec));
      if (spec.kind == ParamKind::kChoice && (number < 0 || number >= std::ssize(spec.choices)))
        return unfit("the parameter {} has no choice {}", spec.name, number);
      return Value(number);
    }
    const auto& list = std::get<std::vector<SymbolicDim>>(param);
    if (spec.kind == ParamKind::kSizes) {
      SizeList<SymbolicDim> sizes;
      for (const SymbolicDim& dim : list) {
        REWRIGHT_TRY(SymbolicDim resolved, resolve(dim));
        sizes.values.push_back(std::move(resolved));
      }
      return Value(std::move(sizes));
    }
    std::vector<std::int64_t> numbers;
    for (const SymbolicDim& dim : list) {
      REWRIGHT_TRY(const std::int64_t number, number_of(dim, spec));
      numbers.push_back(number);
    }
    return Value(std::move(numbers));
  }
  Result<std::int64_t> number_of(const SymbolicDim& dim, const ParamSpec& spec) const {
    REWRIGHT_TRY(const SymbolicDim resolved, resolve(dim));
    if (const auto number = resolved.constant()) return *number;
    return unfit("the parameter {} must be a number, and is {}", spec.name, to_string(resolved));
  }

  Status type_terms() {
    const auto of_left = reachable(axiom_.left), of_right = reachable(axiom_.right);
    Constraints<SymbolicDim> left, right;
    for (std::size_t i = 0; i < axiom_.terms.size(); ++i) {
      const AxiomTerm& term = axiom_.terms[i];
      TypedTerm typed{term.variable, term.op, term.output, {}, term.operands, {}};
      if (term.variable) {
        for (int axis = 0; axis < typed_.ranks[*term.variable]; ++axis)
          typed.shape.append(SymbolicDim::variable(SizeVar::axis(axiom_.variables[*term.variable].name, axis)));
      } else {
        REWRIGHT_CHECK(type_application(term, typed, of_left[i] ? &left : nullptr, of_right[i] ? &right : nullptr));
      }
      typed_.terms.push_back(std::move(typed));
    }
    typed_.left = axiom_.left;
    typed_.right = axiom_.right;
    typed_.left_defined = left.conditions();
    typed_.right_defined = right.conditions();
    return {};
  }
  Status type_application(const AxiomTerm& term, TypedTerm& typed, Constraints<SymbolicDim>* left,
                          Constraints<SymbolicDim>* right) {
    std::vector<Value> values;
    for (std::size_t p = 0; p < term.params.size(); ++p) {
      REWRIGHT_TRY(auto value, resolve_param(term.op->info().params[p], term.params[p]));
      values.push_back(std::move(value));
    }
    typed.params = SymbolicParams(std::move(values));
    std::vector<SymbolicShape> in;
    for (const std::uint32_t operand : term.operands) in.push_back(typed_.terms[operand].shape);
    for (Constraints<SymbolicDim>* where : {left, right}) {
      if (!where) continue;
      auto out = term.op->infer(typed.params, in, *where);
      if (!out) return unfit("{}", out.error().message);
      if (where->violation()) return unfit("{}", where->violation()->message);
      if (term.output >= out->size()) return unfit("{} has no output {}", term.op->name(), term.output);
      typed.shape = (*out)[term.output];
    }
    return {};
  }
  std::vector<bool> reachable(std::uint32_t root) const {
    std::vector<bool> reached(axiom_.terms.size(), false);
    reached[root] = true;
    for (std::size_t i = axiom_.terms.size(); i-- > 0;) {
      if (!reached[i]) continue;
      for (const std::uint32_t operand : axiom_.terms[i].operands) reached[operand] = true;
    }
    return reached;
  }

  Status type_condition(const std::vector<Constraint>& conditions) {
    for (const Constraint& constraint : conditions) {
      REWRIGHT_TRY(SymbolicDim left, resolve(constraint.left));
      REWRIGHT_TRY(SymbolicDim right, resolve(constraint.right));
      Constraint resolved{constraint.kind, std::move(left), std::move(right)};
      const auto decided = resolved.decided();
      if (decided && !*decided) return unfit("its condition {} fails", to_string(constraint));
      if (!decided) typed_.condition.push_back(std::move(resolved));
    }
    return {};
  }

  /// Both sides must have one shape; what does not follow from their being defined becomes part of the condition.
  Status equate_shapes() {
    const SymbolicShape& left = typed_.terms[typed_.left].shape;
    const SymbolicShape& right = typed_.terms[typed_.right].shape;
    if (left.rank() != right.rank()) return unfit("its sides have ranks {} and {}", left.rank(), right.rank());
    std::vector<Constraint> known = typed_.condition;
    known.insert(known.end(), typed_.left_defined.begin(), typed_.left_defined.end());
    known.insert(known.end(), typed_.right_defined.begin(), typed_.right_defined.end());
    const SizeSystem system(known);
    if (system.contradictory()) return unfit("nothing meets its conditions at these ranks and parameters");
    for (int axis = 0; axis < left.rank(); ++axis) {
      Constraint equal{Constraint::Kind::kEqual, left[axis], right[axis]};
      const auto decided = equal.decided();
      if (decided && !*decided) return unfit("its sides differ in size along axis {}", axis);
      if (!system.implies(equal)) typed_.condition.push_back(std::move(equal));
    }
    return {};
  }

  std::optional<std::vector<Constraint>> use(std::uint32_t from, const std::vector<Constraint>& from_defined,
                                             std::uint32_t to, const std::vector<Constraint>& to_defined) const {
    if (typed_.terms[from].variable) return std::nullopt;
    const Names bound = names_of(from);
    for (const std::string& name : names_of(to)) {
      if (!bound.contains(name)) return std::nullopt;
    }
    const SizeSystem system(from_defined);
    std::vector<Constraint> residual;
    for (const auto* constraints : {&typed_.condition, &to_defined}) {
      for (const Constraint& constraint : *constraints) {
        if (!system.implies(constraint) && std::ranges::find(residual, constraint) == residual.end())
          residual.push_back(constraint);
      }
    }
    return residual;
  }
  /// Tensor variables by name and size variables without a tensor, as a side's terms mention them.
  Names names_of(std::uint32_t root) const {
    Names names;
    const auto reached = reachable(root);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (!reached[i]) continue;
      const TypedTerm& term = typed_.terms[i];
      if (term.variable) names.insert(axiom_.variables[*term.variable].name);
      for (const auto& value : term.params.values()) {
        const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value);
        if (!sizes) continue;
        for (const SymbolicDim& dim : sizes->values) {
          for (const SizeVar name : dim.variables()) names.insert(tensor_of(name));
        }
      }
    }
    return names;
  }
  /// "x" for the size "x.0" of a tensor variable; else the name itself.
  std::string tensor_of(SizeVar name) const {
    const auto found = std::ranges::find(axiom_.variables, name.tensor(), &AxiomVariable::name);
    return found != axiom_.variables.end() && found->sort == AxiomSort::kTensor ? name.tensor() : name.text();
  }

  const Axiom& axiom_;
  TypedAxiom typed_;
};

}  // namespace

std::vector<std::string> parameter_variables(const Axiom& axiom) {
  Names names;
  for (const AxiomTerm& term : axiom.terms) {
    for (const AxiomParam& param : term.params) {
      if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) names.insert(variable->name);
    }
    if (term.op)
      for_each_expression(term,
                          [&](const SymbolicDim& dim, bool parameter) { add_parameter_names(dim, parameter, names); });
  }
  return {names.begin(), names.end()};
}

Result<TypedAxiom> specialise(const Axiom& axiom, const AxiomRanks& ranks, const ParamBinding& fixed) {
  return Specialiser(axiom, ranks, fixed).run();
}

}  // namespace rewright
