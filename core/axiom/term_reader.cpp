#include "axiom/term_reader.h"

#include <algorithm>
#include <cctype>

#include "tensor/dim_bounds.h"
#include "tensor/real.h"

namespace rewright {
namespace {

/// NAME, NAME.OUTPUT or NAME/ARITY.
struct FunctionName {
  std::string op;
  std::uint32_t output = 0;
  std::optional<std::size_t> arity;
};

FunctionName parse_function_name(const std::string& text) {
  FunctionName name{text, 0, std::nullopt};
  const std::size_t place = text.find_last_of("./");
  if (place == std::string::npos) return name;
  const auto number = to_integer(std::string_view(text).substr(place + 1));
  if (!number || *number < 0 || *number > 64) return name;
  name.op = text.substr(0, place);
  if (text[place] == '.')
    name.output = static_cast<std::uint32_t>(*number);
  else
    name.arity = static_cast<std::size_t>(*number);
  return name;
}

/// The digits of a whole number, with ".0" or without.
std::optional<std::string_view> whole_number(const SExpr& e) {
  std::string_view text = e.text;
  if (e.kind == SExpr::Kind::kNumeral) return text;
  if (e.kind != SExpr::Kind::kDecimal ||
      text.substr(text.find('.') + 1).find_first_not_of('0') != std::string_view::npos)
    return std::nullopt;
  return text.substr(0, text.find('.'));
}

/// 2, 0.5, (/ 1 6); nothing where it is something else. Errors: a number that no parameter means.
Result<std::optional<double>> unsigned_real(const SExpr& e) {
  if (e.kind == SExpr::Kind::kDecimal || e.kind == SExpr::Kind::kNumeral) {
    REWRIGHT_TRY(const double value, real_of_decimal(e.text));
    return std::optional(value);
  }
  if (!e.is_list() || e.items.size() != 3 || !e.items[0].is_symbol("/")) return std::optional<double>();
  const auto numerator = whole_number(e.items[1]), denominator = whole_number(e.items[2]);
  if (!numerator || !denominator) return std::optional<double>();
  REWRIGHT_TRY(const double value, real_of_fraction(*numerator, *denominator));
  return std::optional(value);
}

}  // namespace

Status AxiomBuilder::add_variables(const SExpr& list) {
  if (!list.is_list())
    return error_at(scope_, list, "found {}, expected the list of variables ((x Tensor) ...)", describe(list));
  static const std::map<std::string, AxiomSort, std::less<>> kSorts = {{"Tensor", AxiomSort::kTensor},
                                                                       {"Int", AxiomSort::kInt},
                                                                       {"Sizes", AxiomSort::kSizes},
                                                                       {"Real", AxiomSort::kReal}};
  for (const SExpr& entry : list.items) {
    if (!entry.is_list() || entry.items.size() != 2 || entry.items[0].kind != SExpr::Kind::kSymbol)
      return error_at(scope_, entry, "found {}, expected a variable and its sort, as in (x Tensor)", describe(entry));
    const std::string& name = entry.items[0].text;
    const auto sort = kSorts.find(entry.items[1].text);
    if (sort == kSorts.end())
      return error_at(scope_, entry.items[1], "found the sort {}, expected Tensor, Int, Sizes or Real",
                      describe(entry.items[1]));
    if (find_variable(name)) return error_at(scope_, entry, "the variable '{}' is there twice", name);
    if (!std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }))
      return error_at(scope_, entry, "the variable '{}' must consist of letters, digits and _", name);
    axiom_.variables.push_back({name, sort->second});
  }
  for (std::size_t i = 0; i < axiom_.variables.size(); ++i) {
    if (axiom_.variables[i].sort != AxiomSort::kTensor) continue;
    AxiomTerm term;
    term.variable = i;
    variable_term_[axiom_.variables[i].name] = static_cast<std::uint32_t>(axiom_.terms.size());
    axiom_.terms.push_back(std::move(term));
  }
  return {};
}

Result<std::uint32_t> AxiomBuilder::term(const SExpr& e) {
  if (e.kind == SExpr::Kind::kSymbol) {
    if (const auto found = variable_term_.find(e.text); found != variable_term_.end()) return found->second;
    if (!scope_.functions.contains(e.text))
      return error_at(scope_, e, "found '{}', expected a tensor variable or an application", e.text);
    return application(e, e.text, {});
  }
  if (!e.is_list() || e.items.empty() || e.items[0].kind != SExpr::Kind::kSymbol)
    return error_at(scope_, e, "found {}, expected a tensor variable or an application", describe(e));
  return application(e, e.items[0].text, std::span(e.items).subspan(1));
}

Result<SymbolicDim> AxiomBuilder::integer(const SExpr& e) const {
  if (e.kind == SExpr::Kind::kNumeral) {
    if (const auto value = to_integer(e.text)) return SymbolicDim(*value);
    return error_at(scope_, e, "the number {} is too large", e.text);
  }
  if (e.kind == SExpr::Kind::kSymbol) {
    if (const auto found = scope_.constants.find(e.text); found != scope_.constants.end())
      return SymbolicDim(found->second);
    const auto* variable = find_variable(e.text);
    if (variable && variable->sort == AxiomSort::kInt) return SymbolicDim::variable(SizeVar::read(e.text));
  }
  if (e.is_list() && e.items.size() >= 2 && e.items[0].kind == SExpr::Kind::kSymbol) {
    if (e.items[0].text == "dim") return dim(e);
    if (std::string_view("+-*").find(e.items[0].text) != std::string_view::npos) return arithmetic(e);
  }
  return error_at(scope_, e,
                  "found {}, expected a number, an Int variable, a constant, (dim AXIS x), or +, - or * of these",
                  describe(e));
}

const AxiomVariable* AxiomBuilder::find_variable(std::string_view name) const {
  const auto found = std::ranges::find(axiom_.variables, name, &AxiomVariable::name);
  return found == axiom_.variables.end() ? nullptr : &*found;
}

Result<SymbolicDim> AxiomBuilder::arithmetic(const SExpr& e) const {
  REWRIGHT_TRY(SymbolicDim total, integer(e.items[1]));
  if (!sum_fits(total, 0)) return error_at(scope_, e.items[1], "this is too large: numbers may reach 2^41");
  if (e.items.size() == 2 && e.items[0].text == "-") return SymbolicDim(0) - total;
  for (std::size_t i = 2; i < e.items.size(); ++i) {
    REWRIGHT_TRY(const SymbolicDim next, integer(e.items[i]));
    const bool product = e.items[0].text == "*";
    if (product ? !product_fits(total, next) : !sum_fits(total, next))
      return error_at(scope_, e, "this is too large: numbers may reach 2^41, sums 1000 terms");
    switch (e.items[0].text[0]) {
      case '+': total = total + next; break;
      case '-': total = total - next; break;
      default: total = total * next;
    }
  }
  return total;
}

Result<SymbolicDim> AxiomBuilder::dim(const SExpr& e) const {
  const auto* variable = e.items.size() == 3 ? find_variable(e.items[2].text) : nullptr;
  if (!variable || variable->sort != AxiomSort::kTensor)
    return error_at(scope_, e, "found {}, expected (dim AXIS x) with a tensor variable x", describe(e));
  REWRIGHT_TRY(const SymbolicDim axis, integer(e.items[1]));
  if (!axis.constant() && !axis.variable())
    return error_at(scope_, e.items[1], "expected a number or an Int variable as the axis");
  return SymbolicDim::variable(SizeVar::axis(variable->name, to_string(axis)));
}

Result<AxiomParam> AxiomBuilder::list_param(const SExpr& e) const {
  if (e.kind == SExpr::Kind::kSymbol) {
    const auto* variable = find_variable(e.text);
    if (variable && variable->sort == AxiomSort::kSizes) return AxiomParam(AxiomParamVariable{e.text});
    if (e.text == "sizes0" && scope_.functions.contains("sizes0")) return AxiomParam(std::vector<SymbolicDim>{});
  }
  if (!e.is_list() || e.items.empty() || !e.items[0].text.starts_with("sizes") ||
      to_integer(std::string_view(e.items[0].text).substr(5)) != static_cast<std::int64_t>(e.items.size()) - 1)
    return error_at(scope_, e, "found {}, expected a Sizes variable, (sizesN e1 ... eN) or sizes0", describe(e));
  std::vector<SymbolicDim> values;
  for (const SExpr& item : std::span(e.items).subspan(1)) {
    REWRIGHT_TRY(SymbolicDim value, integer(item));
    values.push_back(std::move(value));
  }
  return AxiomParam(std::move(values));
}

Result<AxiomParam> AxiomBuilder::choice_param(const ParamSpec& spec, const SExpr& e) const {
  REWRIGHT_TRY(SymbolicDim value, integer(e));
  if (!value.constant()) return AxiomParam(std::move(value));
  const std::string prefix = spec.name + ".";
  const auto place =
      e.text.starts_with(prefix) ? std::ranges::find(spec.choices, e.text.substr(prefix.size())) : spec.choices.end();
  if (place == spec.choices.end())
    return error_at(scope_, e, "found {}, expected one of {}{}", describe(e), prefix,
                    fmt::join(spec.choices, ", " + prefix));
  if (*value.constant() != place - spec.choices.begin())
    return error_at(scope_, e, "'{}' is defined as {}, but the operator counts it as {}", e.text, *value.constant(),
                    place - spec.choices.begin());
  return AxiomParam(std::move(value));
}

Result<AxiomParam> AxiomBuilder::real_param(const SExpr& e) const {
  if (e.kind == SExpr::Kind::kSymbol) {
    const auto* variable = find_variable(e.text);
    if (variable && variable->sort == AxiomSort::kReal) return AxiomParam(AxiomParamVariable{e.text});
  }
  const bool negative = e.is_list() && e.items.size() == 2 && e.items[0].is_symbol("-");
  const SExpr& number = negative ? e.items[1] : e;
  auto value = unsigned_real(number);
  if (!value) return error_at(scope_, number, "{}", value.error().message);
  if (!*value)
    return error_at(scope_, e, "found {}, expected a Real variable or a number: 0.5, (/ 1 6) or (- 0.5)", describe(e));
  return AxiomParam(negative ? -**value : **value);
}

Result<AxiomParam> AxiomBuilder::param(const ParamSpec& spec, const SExpr& e) const {
  switch (spec.kind) {
    case ParamKind::kInt: {
      REWRIGHT_TRY(SymbolicDim value, integer(e));
      return AxiomParam(std::move(value));
    }
    case ParamKind::kChoice: return choice_param(spec, e);
    case ParamKind::kInts:
    case ParamKind::kSizes: return list_param(e);
    case ParamKind::kReal: break;
  }
  return real_param(e);
}

Result<std::uint32_t> AxiomBuilder::application(const SExpr& at, const std::string& function,
                                                std::span<const SExpr> arguments) {
  if (!scope_.functions.contains(function))
    return error_at(scope_, at,
                    "the function '{}' is not declared in this file; expected a (declare-fun {} ...) before", function,
                    function);
  const FunctionName name = parse_function_name(function);
  const Operator* op = scope_.registry.find<Operator>(name.op);
  if (!op)
    return error_at(
        scope_, at,
        "no operator '{}' is loaded; give its plugin with --plugin FILE.so; 'rewright operators list' names those "
        "that are",
        name.op);
  const auto& specs = op->info().params;
  const int operands = static_cast<int>(arguments.size()) - static_cast<int>(specs.size());
  const int most = op->info().max_arity;
  if (operands < op->info().min_arity || (most >= 0 && operands > most) ||
      (name.arity && *name.arity != static_cast<std::size_t>(operands)))
    return error_at(scope_, at, "{} has {} arguments, expected {} parameters and then {} operands", function,
                    arguments.size(), specs.size(),
                    name.arity                     ? fmt::format("{}", *name.arity)
                    : most == op->info().min_arity ? fmt::format("{}", most)
                                                   : fmt::format("{} or more", op->info().min_arity));
  if (most < 0 && !name.arity && operands != 2)
    return error_at(scope_, at, "{} takes any number of operands: with {} it is written {}/{}", name.op, operands,
                    name.op, operands);
  AxiomTerm term;
  term.op = op;
  term.output = name.output;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    REWRIGHT_TRY(AxiomParam value, param(specs[i], arguments[i]));
    term.params.push_back(std::move(value));
  }
  for (const SExpr& argument : arguments.subspan(specs.size())) {
    REWRIGHT_TRY(const std::uint32_t operand, this->term(argument));
    term.operands.push_back(operand);
  }
  axiom_.terms.push_back(std::move(term));
  return static_cast<std::uint32_t>(axiom_.terms.size() - 1);
}

}  // namespace rewright
