#include "campaign/family.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "rule/canonical.h"
#include "tensor/real.h"
#include "verify/certificate_text.h"

namespace rewright {
namespace {

constexpr std::string_view kRank = "rank", kAxis = "axis";

template <class Number>
bool is_number(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

using Axes = std::map<std::string, std::string, std::less<>>;  ///< An axis, and the one in its place.
/// Sizes along axes become those along the others.
SizeReplacement along(Axes axes) {
  return [axes = std::move(axes)](SizeVar size) -> std::optional<SymbolicDim> {
    const auto other = size.is_axis() ? axes.find(size.axis_text()) : axes.end();
    if (other == axes.end()) return std::nullopt;
    return SymbolicDim::variable(SizeVar::axis(size.tensor(), other->second));
  };
}

/// What a parameter's value is called in a substitution, or one element of it.
std::string in_substitution(const ParamSpec& spec, const std::string& text, std::optional<std::size_t> element) {
  const auto value = param_value(spec, text);
  if (!value) return text;
  if (const auto* number = std::get_if<std::int64_t>(&*value)) return fmt::format("{}", *number);
  const auto* list = std::get_if<std::vector<std::int64_t>>(&*value);
  if (list && element) return *element < list->size() ? fmt::format("{}", (*list)[*element]) : "";
  return text;
}

/// Where an axiom's variable stands for a parameter.
struct Place {
  const ParamSpec* spec;
  std::optional<std::size_t> element;  ///< Of a list.
};
std::vector<Place> places_of(const Axiom& axiom, std::string_view variable) {
  std::vector<Place> places;
  const auto is_it = [&](const SymbolicDim& dim) { return dim.variable() && dim.variable()->text() == variable; };
  for (const AxiomTerm& term : axiom.terms) {
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const ParamSpec& spec = term.op->info().params[i];
      if (const auto* whole = std::get_if<AxiomParamVariable>(&term.params[i]); whole && whole->name == variable)
        places.push_back({&spec, std::nullopt});
      if (const auto* one = std::get_if<SymbolicDim>(&term.params[i]); one && is_it(*one))
        places.push_back({&spec, std::nullopt});
      if (const auto* list = std::get_if<std::vector<SymbolicDim>>(&term.params[i])) {
        for (std::size_t k = 0; k < list->size(); ++k) {
          if (is_it((*list)[k])) places.push_back({&spec, k});
        }
      }
    }
  }
  return places;
}

/// A value of a substitution that names sizes, with another axis.
Result<std::string> with_other_axis(AxiomSort sort, const std::string& value, const SizeReplacement& replace) {
  if (sort == AxiomSort::kInt) {
    REWRIGHT_TRY(const SymbolicDim size, SymbolicDim::parse(value));
    return to_string(size.substitute(replace));
  }
  REWRIGHT_TRY(const auto sizes, read_sizes(value));
  std::vector<std::string> texts;
  for (const SymbolicDim& size : sizes) texts.push_back(to_string(size.substitute(replace)));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

std::string to_text(const std::vector<ParamText>& params) {
  std::string text;
  for (const auto& [name, value] : params) text += fmt::format("{}{}={}", text.empty() ? "" : "; ", name, value);
  return text;
}

Result<std::vector<ParamText>> read_params(std::string_view text) {
  std::vector<ParamText> params;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find("; "));
    text.remove_prefix(std::min(text.size(), one.size() + 2));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return make_error(ErrorCode::kParse, "found '{}', expected NAME=VALUE", one);
    params.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return params;
}

std::vector<std::string> param_texts(std::span<const ParamSpec> specs, const SymbolicParams& params) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto& value = params[i];
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      const bool named = specs[i].kind == ParamKind::kChoice;
      texts.push_back(named ? specs[i].choices[static_cast<std::size_t>(*number)] : fmt::format("{}", *number));
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      texts.push_back(fmt::format("[{}]", fmt::join(*list, ", ")));
    } else {
      const auto* real = std::get_if<double>(&value);
      texts.push_back(real ? real_text(*real) : "");
    }
  }
  return texts;
}

std::optional<BasicParamValue<SymbolicDim>> param_value(const ParamSpec& spec, std::string_view text) {
  if (spec.kind == ParamKind::kChoice) {
    const auto choice = std::ranges::find(spec.choices, text);
    if (choice == spec.choices.end()) return std::nullopt;
    return std::int64_t{choice - spec.choices.begin()};
  }
  if (spec.kind == ParamKind::kInt) {
    std::int64_t number = 0;
    if (!is_number(text, number)) return std::nullopt;
    return number;
  }
  if (spec.kind != ParamKind::kInts) return std::nullopt;
  const auto sizes = read_sizes(text);
  if (!sizes) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const SymbolicDim& size : *sizes) {
    if (!size.constant()) return std::nullopt;
    numbers.push_back(*size.constant());
  }
  return numbers;
}

Family::Family(Rule rule, std::vector<ParamText> free, std::span<const Axiom> axioms, const Registry& registry)
    : rule_(std::move(rule)), free_(std::move(free)), registry_(&registry) {
  for (const Axiom& axiom : axioms) axioms_.emplace(axiom.name, &axiom);
}

namespace {

bool has(const Rule& rule, const ParamText& free) {
  if (free.first == kRank) {
    int rank = 0;
    return is_number(free.second, rank) &&
           std::ranges::find(rule.inputs, rank, &PatternInput::rank) != rule.inputs.end();
  }
  for (const Pattern* side : {&rule.source, &rule.target}) {
    for (const PatternNode& node : side->nodes) {
      const std::vector<ParamSpec>& specs = node.op->info().params;
      const std::vector<std::string> texts = param_texts(specs, node.params);
      for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].name == free.first && texts[i] == free.second) return true;
      }
    }
  }
  return false;
}

}  // namespace

Result<Family> Family::read(Rule rule, std::string_view free, std::span<const Axiom> axioms, const Registry& registry) {
  REWRIGHT_TRY(std::vector<ParamText> params, read_params(free));
  for (const ParamText& param : params) {
    if (!has(rule, param))
      return make_error(ErrorCode::kParse, "the family's {} = {} stands nowhere in its rule", param.first,
                        param.second);
  }
  return Family(std::move(rule), std::move(params), axioms, registry);
}

Result<std::vector<std::string>> Family::read_values(std::string_view member) const {
  REWRIGHT_TRY(const auto params, read_params(member));
  if (!std::ranges::equal(params, free_, {}, &ParamText::first, &ParamText::first))
    return make_error(ErrorCode::kParse, "the member {} does not have the parameters of {}, in this order", member,
                      to_text(free_));
  std::vector<std::string> values;
  for (const auto& [name, value] : params) values.push_back(value);
  return values;
}

Result<SymbolicParams> Family::changed(const Operator& op, const SymbolicParams& params,
                                       const std::vector<Change>& changes) const {
  const std::vector<ParamSpec>& specs = op.info().params;
  const std::vector<std::string> texts = param_texts(specs, params);
  std::vector<BasicParamValue<SymbolicDim>> values(params.values().begin(), params.values().end());
  for (const auto& [free, other] : changes) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].name != free.first || texts[i] != free.second) continue;
      const auto value = param_value(specs[i], other);
      if (!value) return make_error(ErrorCode::kParse, "'{}' is no {} of {}", other, free.first, op.name());
      values[i] = *value;
      if (free.first != kAxis) continue;
      const SymbolicParams moved = substitute(SymbolicParams(values), along({{free.second, other}}));
      values.assign(moved.values().begin(), moved.values().end());
    }
  }
  return SymbolicParams(std::move(values));
}

Result<Rule> Family::changed_rule(const std::vector<Change>& changes, bool with_conditions) const {
  Rule rule = rule_;
  for (Pattern* side : {&rule.source, &rule.target}) {
    for (PatternNode& node : side->nodes) {
      REWRIGHT_TRY(node.params, changed(*node.op, node.params, changes));
    }
  }
  if (!with_conditions) rule.precondition.clear();
  Axes axes;
  for (const auto& [free, other] : changes) {
    if (free.first == kAxis) axes.emplace(free.second, other);
    if (free.first != kRank) continue;
    int from = 0, to = 0;
    if (!is_number(free.second, from) || !is_number(other, to) || to < 0 || to > kMaxRank)
      return make_error(ErrorCode::kParse, "'{}' is no rank", other);
    for (PatternInput& input : rule.inputs) {
      if (input.rank == from) input.rank = to;
    }
  }
  for (Constraint& condition : rule.precondition) condition = substitute(condition, along(axes));
  return parse_rule(to_text(rule), *registry_);
}

Result<std::string> Family::changed_proof(const std::vector<Change>& changes) const {
  std::string proof;
  for (std::string_view text = rule_.certificate; !text.empty();) {
    const std::string_view line = take_line(text);
    if (line == "certificate 1" || line.starts_with("output ")) {
      proof.append(line).push_back('\n');
    } else {
      REWRIGHT_TRY(const std::string step, changed_step(line, changes));
      proof += step + "\n";
    }
  }
  return proof;
}

Result<std::string> Family::changed_step(std::string_view line, const std::vector<Change>& changes) const {
  REWRIGHT_TRY(const StepText step, read_step(line));
  REWRIGHT_TRY(const EquationText equation, read_equation(step.equation));
  const auto named = axioms_.find(equation.axiom);
  if (named == axioms_.end()) return make_error(ErrorCode::kMismatch, "no axiom is called {}", equation.axiom);
  const Axiom& axiom = *named->second;
  const auto term_text = [&](const auto& self, const TermText& term) -> Result<std::string> {
    if (!term.is_application) return std::string(term.name);
    const auto* op = registry_->find<Operator>(term.name);
    if (!op) return make_error(ErrorCode::kMismatch, "no operator is called {}", term.name);
    REWRIGHT_TRY(const SymbolicParams given, parse_params(term.name, op->info().params, term.params));
    REWRIGHT_TRY(const SymbolicParams params, changed(*op, given, changes));
    std::string text(term.name);
    if (term.output > 0) text += fmt::format(".{}", term.output);
    text += to_string(op->info().params, params) + "(";
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
      REWRIGHT_TRY(const std::string operand, self(self, term.operands[i]));
      text += (i == 0 ? "" : ", ") + operand;
    }
    return text + ")";
  };
  std::vector<ParamText> substitution;
  Axes axes;
  for (const auto& [name, value] : equation.substitution) {
    std::string other(value);
    const auto variable = std::ranges::find(axiom.variables, name, &AxiomVariable::name);
    if (variable != axiom.variables.end() && variable->sort == AxiomSort::kTensor) {
      REWRIGHT_TRY(const TermText term, read_term(value));
      REWRIGHT_TRY(other, term_text(term_text, term));
    }
    for (const Place& place : places_of(axiom, name)) {
      for (const auto& [free, to] : changes) {
        if (place.spec->name != free.first || in_substitution(*place.spec, free.second, place.element) != value)
          continue;
        other = in_substitution(*place.spec, to, place.element);
        if (free.first == kAxis) axes.emplace(free.second, to);
      }
    }
    substitution.emplace_back(name, other);
  }
  for (auto& [name, value] : substitution) {
    const auto variable = std::ranges::find(axiom.variables, name, &AxiomVariable::name);
    if (variable == axiom.variables.end() || value.find('.') == std::string::npos) continue;
    if (variable->sort != AxiomSort::kInt && variable->sort != AxiomSort::kSizes) continue;
    REWRIGHT_TRY(value, with_other_axis(variable->sort, value, along(axes)));
  }
  return fmt::format("{} {} {}@{} {}", step.position, equation.left_to_right ? ">" : "<", equation.axiom,
                     equation.digest, to_text(substitution));
}

Result<Rule> Family::member(const std::vector<std::string>& values, CertificateChecker& checker) const {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (free_[i].second != values[i]) changes.emplace_back(free_[i], values[i]);
  }
  if (changes.empty()) return rule_;
  REWRIGHT_TRY(const std::string proof, changed_proof(changes));
  Error last;
  for (const bool with_conditions : {false, true}) {
    if (with_conditions && rule_.precondition.empty()) break;
    auto rule = changed_rule(changes, with_conditions);
    if (!rule) {
      last = rule.error();
      continue;
    }
    if (const Status proved = checker.check(*rule, proof); !proved) {
      last = proved.error();
      continue;
    }
    rule->trust = trust_by(proof);
    rule->certificate = proof;
    return rule;
  }
  return last;
}

}  // namespace rewright
