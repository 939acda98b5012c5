#include "verify/statements.h"

#include <rewright/certificate.h>

#include <algorithm>
#include <charconv>

namespace rewright {
namespace {

template <class... Args>
Error mismatch(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kMismatch, format, std::forward<Args>(args)...);
}

}  // namespace

Statements::Statements(CheckedTerms& terms, std::span<const Axiom> axioms, const Registry& registry)
    : terms_(terms), registry_(registry) {
  for (const Axiom& axiom : axioms)
    axioms_.try_emplace(axiom.name, &axiom, statement_digest(axiom), static_cast<std::uint32_t>(axioms_.size()));
}

TextsRead Statements::texts_over(std::span<const PatternInput> inputs) {
  TextsRead texts;
  for (const PatternInput& input : inputs) {
    texts.term_of.push_back(terms_.input(input));
    (void)texts.terms.add(input.name);
  }
  return texts;
}

Result<const Statement*> Statements::read(std::string_view text, TextsRead& texts) {
  if (const auto known = texts.statements.find(text)) return &texts.statement_of[*known];
  REWRIGHT_TRY(const Statement statement, instance(text, texts));
  (void)texts.statements.add(text);
  return &texts.statement_of.emplace_back(statement);
}

Result<Statement> Statements::instance(std::string_view text, TextsRead& texts) {
  REWRIGHT_TRY(const EquationText equation, read_equation(text));
  const auto named = axioms_.find(equation.axiom);
  if (named == axioms_.end()) return mismatch("the axiom files have no axiom {}", equation.axiom);
  known_ = &named->second;
  if (equation.digest != known_->digest)
    return mismatch("the axiom {} is not what it was when the proof was made: @{}, now @{}", equation.axiom,
                    equation.digest, known_->digest);
  REWRIGHT_CHECK(bind(equation, texts));
  REWRIGHT_TRY(const Use* use, this->use());
  REWRIGHT_TRY(const TermId left, instantiate(known_->axiom->left, use->params));
  REWRIGHT_TRY(const TermId right, instantiate(known_->axiom->right, use->params));
  Statement made{left, right, use->conditions};
  if (!equation.left_to_right) std::swap(made.from, made.to);
  for (const TermId side : {left, right}) made.conditions = terms_.unite(made.conditions, terms_[side].defined);
  for (const Value& value : values_) {
    if (value.tensor) made.conditions = terms_.unite(made.conditions, terms_[*value.tensor].defined);
  }
  return made;
}

/// No variable gets two values, each tensor has one.
Status Statements::bind(const EquationText& text, TextsRead& texts) {
  const auto& variables = known_->axiom->variables;
  values_.assign(variables.size(), {});
  for (const auto& [name, value] : text.substitution) {
    const auto variable = std::ranges::find(variables, name, &AxiomVariable::name);
    if (variable == variables.end()) return mismatch("{} has no variable '{}'", text.axiom, name);
    Value& bound = values_[static_cast<std::size_t>(variable - variables.begin())];
    if (bound.text) return mismatch("{} has two values", name);
    bound.text = value;
    if (variable->sort != AxiomSort::kTensor) continue;
    REWRIGHT_TRY(bound.tensor, term_of(value, texts));
  }
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (variables[v].sort == AxiomSort::kTensor && !values_[v].text)
      return mismatch("{} has no value", variables[v].name);
  }
  return {};
}

Result<TermId> Statements::term_of(std::string_view text, TextsRead& texts) {
  if (const auto known = texts.terms.find(text)) return texts.term_of[*known];
  REWRIGHT_TRY(const TermText tree, read_term(text));
  REWRIGHT_TRY(const TermId term, term_of(tree, texts));
  (void)texts.terms.add(text);
  texts.term_of.push_back(term);
  return term;
}
Result<TermId> Statements::term_of(const TermText& text, TextsRead& texts) {
  const auto input = texts.terms.find(text.name);
  if (input && !text.is_application) return texts.term_of[*input];
  const auto* op = registry_.find<Operator>(text.name);
  if (!op || !text.is_application)
    return mismatch("'{}' is neither an input of the rule nor an operator with operands", text.name);
  REWRIGHT_TRY(const SymbolicParams params, parse_params(text.name, op->info().params, text.params));
  std::vector<TermId> operands;
  for (const TermText& operand : text.operands) {
    REWRIGHT_TRY(const TermId term, term_of(operand, texts));
    operands.push_back(term);
  }
  return terms_.apply(*op, text.output, terms_.number(params), operands);
}

Result<const Statements::Use*> Statements::use() {
  key_ = {known_->number};
  for (const Value& value : values_) {
    key_.push_back(value.tensor ? terms_[*value.tensor].shape
                   : value.text ? value_numbers_.number(*value.text)
                                : ~std::uint32_t{0});
  }
  if (const auto known = use_numbers_.find(key_)) return &uses_[*known];
  REWRIGHT_TRY(Use made, new_use());
  (void)use_numbers_.add(key_);
  return &uses_.emplace_back(std::move(made));
}

Result<Statements::Use> Statements::new_use() {
  const Axiom& axiom = *known_->axiom;
  AxiomRanks ranks;
  for (const Value& value : values_) ranks.push_back(value.tensor ? terms_.shape(*value.tensor).rank() : 0);
  if (std::ranges::find(axiom.ranks, ranks) == axiom.ranks.end())
    return mismatch("{} is not claimed for tensors of ranks {}", axiom.name, fmt::join(ranks, ", "));
  REWRIGHT_CHECK(read_values());
  Use made;
  for (const AxiomTerm& term : axiom.terms) {
    made.params.push_back(0);
    if (term.variable) continue;
    REWRIGHT_TRY(made.params.back(), params_of(term));
  }
  const auto require = [&](const Constraint& condition) {
    if (condition.kind == Constraint::Kind::kEqual && condition.left == condition.right) return;
    made.conditions = terms_.unite(made.conditions, terms_.set_of(condition));
  };
  for (const Constraint& condition : axiom.condition) {
    REWRIGHT_TRY(const SymbolicDim left, resolve(condition.left));
    REWRIGHT_TRY(const SymbolicDim right, resolve(condition.right));
    require({condition.kind, left, right});
  }
  REWRIGHT_TRY(const TermId left, instantiate(axiom.left, made.params));
  REWRIGHT_TRY(const TermId right, instantiate(axiom.right, made.params));
  const SymbolicShape &a = terms_.shape(left), &b = terms_.shape(right);
  if (a.rank() != b.rank()) return mismatch("the sides of {} differ in rank", axiom.name);
  for (int axis = 0; axis < a.rank(); ++axis) require({Constraint::Kind::kEqual, a[axis], b[axis]});
  return made;
}

Status Statements::read_values() {
  for (std::size_t v = 0; v < values_.size(); ++v) {
    Value& value = values_[v];
    const AxiomSort sort = known_->axiom->variables[v].sort;
    if (!value.text || value.tensor) continue;
    if (sort == AxiomSort::kReal) {
      REWRIGHT_TRY(value.real, read_real(*value.text));
    } else if (sort == AxiomSort::kSizes) {
      REWRIGHT_TRY(value.sizes, read_sizes(*value.text));
    } else {
      REWRIGHT_TRY(const SymbolicDim size, SymbolicDim::parse(*value.text));
      value.sizes = {size};
    }
  }
  return {};
}

Result<ParamsId> Statements::params_of(const AxiomTerm& term) const {
  std::vector<BasicParamValue<SymbolicDim>> values;
  for (std::size_t p = 0; p < term.params.size(); ++p) {
    REWRIGHT_TRY(auto value, parameter(term.op->info().params[p], term.params[p]));
    values.push_back(std::move(value));
  }
  return terms_.number(SymbolicParams(std::move(values)));
}

Result<BasicParamValue<SymbolicDim>> Statements::parameter(const ParamSpec& spec, const AxiomParam& param) const {
  if (const auto* real = std::get_if<double>(&param)) return BasicParamValue<SymbolicDim>(*real);
  std::vector<SymbolicDim> list;
  if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) {
    const Value* bound = value_of(variable->name);
    if (!bound) return mismatch("{} has no value", variable->name);
    if (spec.kind == ParamKind::kReal) return BasicParamValue<SymbolicDim>(bound->real);
    list = bound->sizes;
  } else {
    const auto* one = std::get_if<SymbolicDim>(&param);
    for (const SymbolicDim& dim : one ? std::vector{*one} : std::get<std::vector<SymbolicDim>>(param)) {
      REWRIGHT_TRY(SymbolicDim resolved, resolve(dim));
      list.push_back(std::move(resolved));
    }
  }
  if (spec.kind == ParamKind::kSizes) return BasicParamValue<SymbolicDim>(SizeList<SymbolicDim>{std::move(list)});
  std::vector<std::int64_t> numbers;
  for (const SymbolicDim& dim : list) {
    if (!dim.constant()) return mismatch("the parameter {} is {}, and must be a number", spec.name, to_string(dim));
    numbers.push_back(*dim.constant());
  }
  if (spec.kind == ParamKind::kInts) return BasicParamValue<SymbolicDim>(std::move(numbers));
  if (numbers.size() != 1) return mismatch("the parameter {} must be one number", spec.name);
  if (spec.kind == ParamKind::kChoice && (numbers[0] < 0 || numbers[0] >= std::ssize(spec.choices)))
    return mismatch("the parameter {} has no choice {}", spec.name, numbers[0]);
  return BasicParamValue<SymbolicDim>(numbers[0]);
}

/// An expression of the axiom over "m", "x.0", "x.a" and "list.0".
Result<SymbolicDim> Statements::resolve(const SymbolicDim& dim) const {
  bool found_all = true;
  const SymbolicDim resolved = dim.substitute([&](std::string_view name) -> std::optional<SymbolicDim> {
    auto value = resolve_name(name);
    found_all = found_all && value;
    return value;
  });
  if (!found_all) return mismatch("{} has no value under the substitution", to_string(dim));
  return resolved;
}
std::optional<SymbolicDim> Statements::resolve_name(std::string_view name) const {
  const std::string_view base = name.substr(0, name.find('.'));
  const Value* bound = value_of(base);
  if (!bound) return std::nullopt;
  const auto& sizes = bound->sizes;
  if (base.size() == name.size()) return sizes.size() == 1 ? std::optional(sizes[0]) : std::nullopt;
  const std::string_view axis = name.substr(base.size() + 1);
  std::int64_t index = -1;
  if (const Value* variable = value_of(axis); variable && variable->sizes.size() == 1) {
    index = variable->sizes[0].constant().value_or(-1);
  } else if (std::from_chars(axis.data(), axis.data() + axis.size(), index).ptr != axis.data() + axis.size()) {
    return std::nullopt;
  }
  const auto elements = bound->tensor ? terms_.shape(*bound->tensor).dims() : std::span(sizes);
  if (index < 0 || index >= std::ssize(elements)) return std::nullopt;
  return elements[static_cast<std::size_t>(index)];
}
/// Null where it has none.
const Statements::Value* Statements::value_of(std::string_view name) const {
  const auto& variables = known_->axiom->variables;
  const auto variable = std::ranges::find(variables, name, &AxiomVariable::name);
  if (variable == variables.end()) return nullptr;
  const Value& value = values_[static_cast<std::size_t>(variable - variables.begin())];
  return value.text ? &value : nullptr;
}

Result<TermId> Statements::instantiate(std::uint32_t index, const std::vector<ParamsId>& params) {
  const AxiomTerm& term = known_->axiom->terms[index];
  if (term.variable) return *values_[*term.variable].tensor;
  const std::size_t first = operands_.size();
  for (const std::uint32_t operand : term.operands) {
    const auto made = instantiate(operand, params);
    if (!made) {
      operands_.resize(first);
      return made.error();
    }
    operands_.push_back(*made);
  }
  auto made = terms_.apply(*term.op, term.output, params[index], std::span(operands_).subspan(first));
  operands_.resize(first);
  return made;
}

}  // namespace rewright
