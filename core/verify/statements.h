// What the steps of certificates say: axioms under substitutions, as equations between terms, each read once.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/verify/certificate.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "axiom/claim.h"
#include "verify/certificate_text.h"
#include "verify/checked_terms.h"

namespace rewright {

/// One direction of one axiom under one substitution: equal wherever the conditions hold.
struct Statement {
  TermId from = 0, to = 0;
  ConditionSet conditions = 0;  ///< Both sides are defined and of one shape, and the axiom's condition holds.
};

/// The texts that have been read over one set of inputs: what a name stands for depends on its rank.
struct TextsRead {
  Interner<char> terms, statements;
  std::vector<TermId> term_of;
  std::deque<Statement> statement_of;
};

class Statements {
 public:
  Statements(CheckedTerms& terms, std::span<const Axiom> axioms, const Registry& registry)
      : terms_(terms), registry_(registry) {
    for (const Axiom& axiom : axioms) {
      if (names_.number(axiom.name) == axioms_.size()) axioms_.push_back(&axiom);
    }
    digests_.resize(axioms_.size());
  }

  /// `terms` are the inputs', one each.
  [[nodiscard]] TextsRead& texts_over(std::span<const PatternInput> inputs, const TermList& terms) {
    key_.assign(terms.begin(), terms.end());
    std::ranges::sort(key_);
    const auto [place, fresh] = texts_.try_emplace(key_);
    for (std::size_t i = 0; fresh && i < inputs.size(); ++i) {
      (void)place->second.terms.add(inputs[i].name);
      place->second.term_of.push_back(terms[i]);
    }
    return place->second;
  }

  /// `text` is a step without its position. Errors: kParse; kMismatch where it is no instance of an axiom.
  Result<const Statement*> read(std::string_view text, TextsRead& texts) {
    if (const auto known = texts.statements.find(text)) return &texts.statement_of[*known];
    REWRIGHT_TRY(const Statement made, instance(text, texts));
    (void)texts.statements.add(text);
    return &texts.statement_of.emplace_back(made);
  }

 private:
  /// What a substitution gives one variable.
  struct Value {
    std::optional<std::string_view> text;
    std::optional<TermId> tensor;
    std::vector<SymbolicDim> sizes;  ///< The one of an Int variable, those of a Sizes variable.
    double real = 0;
  };
  /// An axiom at given values of its variables; of tensors the ranks count, as long as it names none of their sizes.
  struct Use {
    std::vector<HeadId> heads;    ///< By term of the axiom.
    ConditionSet conditions = 0;  ///< The axiom's own.
  };

  Result<Statement> instance(std::string_view text, TextsRead& texts) {
    REWRIGHT_TRY(const EquationText equation, read_equation(text));
    const auto number = names_.find(equation.axiom);
    if (!number) return mismatch("the axiom files have no axiom {}", equation.axiom);
    axiom_ = axioms_[*number];
    std::string& digest = digests_[*number];
    if (digest.empty()) digest = statement_digest(*axiom_);
    if (equation.digest != digest)
      return mismatch("the axiom {} is not what it was when the proof was made: @{}, now @{}", equation.axiom,
                      equation.digest, digest);
    REWRIGHT_CHECK(bind(equation, texts));
    REWRIGHT_TRY(const Use* use, this->use(*number));
    REWRIGHT_TRY(const TermId left, instantiate(axiom_->left, use->heads));
    REWRIGHT_TRY(const TermId right, instantiate(axiom_->right, use->heads));
    if (terms_.shape(left).rank() != terms_.shape(right).rank())
      return mismatch("the sides of {} differ in rank", equation.axiom);
    ConditionSet conditions = terms_.unite(use->conditions, terms_.equal_shapes(left, right));
    for (const TermId side : {left, right}) conditions = terms_.unite(conditions, terms_[side].defined);
    for (const Value& value : values_) {
      if (value.tensor) conditions = terms_.unite(conditions, terms_[*value.tensor].defined);
    }
    return equation.left_to_right ? Statement{left, right, conditions} : Statement{right, left, conditions};
  }

  /// No variable gets two values.
  Status bind(const EquationText& text, TextsRead& texts) {
    const auto& variables = axiom_->variables;
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
    return {};
  }
  Result<TermId> term_of(std::string_view text, TextsRead& texts) {
    if (const auto known = texts.terms.find(text)) return texts.term_of[*known];
    REWRIGHT_TRY(const TermText tree, read_term(text));
    REWRIGHT_TRY(const TermId term, term_of(tree, texts));
    (void)texts.terms.add(text);
    texts.term_of.push_back(term);
    return term;
  }
  Result<TermId> term_of(const TermText& text, TextsRead& texts) {
    const auto input = texts.terms.find(text.name);
    if (input && !text.is_application) return texts.term_of[*input];
    const auto* op = registry_.find<Operator>(text.name);
    if (!op || !text.is_application)
      return mismatch("'{}' is neither an input of the rule nor an operator with operands", text.name);
    REWRIGHT_TRY(const SymbolicParams params, parse_params(text.name, op->info().params, text.params));
    TermList operands;
    for (const TermText& operand : text.operands) {
      REWRIGHT_TRY(operands.emplace_back(), term_of(operand, texts));
    }
    return terms_.apply(terms_.head(*op, text.output, params), operands);
  }

  /// Until the next one is asked for.
  Result<const Use*> use(std::uint32_t number) {
    key_.assign(1, number);
    for (const Value& value : values_) {
      key_.push_back(value.tensor ? static_cast<std::uint32_t>(terms_.shape(*value.tensor).rank())
                     : value.text ? value_numbers_.number(*value.text)
                                  : ~std::uint32_t{0});
    }
    if (const auto known = use_numbers_.find(key_)) return &uses_[*known];
    names_sizes_ = false;
    REWRIGHT_TRY(use_, new_use());
    if (names_sizes_) return &use_;
    (void)use_numbers_.add(key_);
    return &uses_.emplace_back(use_);
  }
  Result<Use> new_use() {
    AxiomRanks ranks;
    for (Value& value : values_) {
      const AxiomVariable& variable = axiom_->variables[ranks.size()];
      ranks.push_back(value.tensor ? terms_.shape(*value.tensor).rank() : 0);
      if (variable.sort == AxiomSort::kTensor && !value.tensor) return mismatch("{} has no value", variable.name);
      if (!value.text || value.tensor) continue;
      if (variable.sort == AxiomSort::kReal) {
        REWRIGHT_TRY(value.real, read_real(*value.text));
      } else if (variable.sort == AxiomSort::kSizes) {
        REWRIGHT_TRY(value.sizes, read_sizes(*value.text));
      } else {
        REWRIGHT_TRY(value.sizes.emplace_back(), SymbolicDim::parse(*value.text));
      }
    }
    if (std::ranges::find(axiom_->ranks, ranks) == axiom_->ranks.end())
      return mismatch("{} is not claimed for tensors of ranks {}", axiom_->name, fmt::join(ranks, ", "));
    REWRIGHT_TRY(const AxiomClaim claim, read_claim(*axiom_));
    REWRIGHT_CHECK(check_claim(*axiom_, claim, parameters()));
    Use made;
    for (const AxiomTerm& term : axiom_->terms) {
      std::vector<BasicParamValue<SymbolicDim>> params;
      for (const AxiomParam& param : term.params) {
        REWRIGHT_TRY(params.emplace_back(), parameter(term.op->info().params[params.size()], param));
      }
      made.heads.push_back(term.variable ? 0 : terms_.head(*term.op, term.output, SymbolicParams(std::move(params))));
    }
    std::vector<Constraint> conditions = size_constraints(claim);
    conditions.insert(conditions.end(), axiom_->condition.begin(), axiom_->condition.end());
    for (const Constraint& condition : conditions) {
      REWRIGHT_TRY(const SymbolicDim left, resolve(condition.left));
      REWRIGHT_TRY(const SymbolicDim right, resolve(condition.right));
      made.conditions = terms_.unite(made.conditions, terms_.set_of({condition.kind, left, right}));
    }
    return made;
  }
  /// What the substitution gives the variables that stand for parameters.
  [[nodiscard]] ParamBinding parameters() const {
    ParamBinding binding;
    for (std::size_t v = 0; v < values_.size(); ++v) {
      const AxiomVariable& variable = axiom_->variables[v];
      const Value& value = values_[v];
      if (!value.text || value.tensor) continue;
      if (variable.sort == AxiomSort::kReal) {
        binding.emplace(variable.name, value.real);
      } else if (auto numbers = numbers_of(value.sizes); !numbers) {
        binding.emplace(variable.name, SizeList<std::int64_t>{std::vector<std::int64_t>(value.sizes.size())});
      } else if (variable.sort == AxiomSort::kInt) {
        binding.emplace(variable.name, numbers->front());
      } else {
        const ParamSpec* spec = spec_of(*axiom_, variable.name);
        const bool sizes = spec != nullptr && spec->kind == ParamKind::kSizes;
        binding.emplace(variable.name, sizes ? ParamValue(SizeList<std::int64_t>{*std::move(numbers)})
                                             : ParamValue(*std::move(numbers)));
      }
    }
    return binding;
  }
  /// Nothing where one of them is no number.
  [[nodiscard]] static std::optional<std::vector<std::int64_t>> numbers_of(std::span<const SymbolicDim> dims) {
    std::vector<std::int64_t> numbers;
    for (const SymbolicDim& dim : dims) {
      if (!dim.constant()) return std::nullopt;
      numbers.push_back(*dim.constant());
    }
    return numbers;
  }
  [[nodiscard]] Result<BasicParamValue<SymbolicDim>> parameter(const ParamSpec& spec, const AxiomParam& param) {
    using Value = BasicParamValue<SymbolicDim>;
    if (const auto* real = std::get_if<double>(&param)) return Value(*real);
    std::vector<SymbolicDim> list;
    if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) {
      const auto* bound = value_of(variable->name);
      if (!bound) return mismatch("{} has no value", variable->name);
      if (spec.kind == ParamKind::kReal) return Value(bound->real);
      list = bound->sizes;
    } else {
      const auto* one = std::get_if<SymbolicDim>(&param);
      for (const SymbolicDim& dim : one ? std::span(one, 1) : std::span(std::get<std::vector<SymbolicDim>>(param))) {
        REWRIGHT_TRY(list.emplace_back(), resolve(dim));
      }
    }
    if (spec.kind == ParamKind::kSizes) return Value(SizeList<SymbolicDim>{std::move(list)});
    std::vector<std::int64_t> numbers;
    for (const SymbolicDim& dim : list) {
      if (!dim.constant()) return mismatch("the parameter {} is {}, and must be a number", spec.name, to_string(dim));
      numbers.push_back(*dim.constant());
    }
    if (spec.kind == ParamKind::kInts) return Value(std::move(numbers));
    if (numbers.size() != 1) return mismatch("the parameter {} must be one number", spec.name);
    if (spec.kind == ParamKind::kChoice && (numbers[0] < 0 || numbers[0] >= std::ssize(spec.choices)))
      return mismatch("the parameter {} has no choice {}", spec.name, numbers[0]);
    return Value(numbers[0]);
  }
  /// An expression of the axiom over "m", "x.0", "x.a" and "list.0".
  [[nodiscard]] Result<SymbolicDim> resolve(const SymbolicDim& dim) {
    if (dim.constant()) return dim;
    bool found_all = true;
    SymbolicDim resolved = dim.substitute([&](SizeVar name) {
      auto value = resolve_variable(name);
      found_all = found_all && value;
      return value;
    });
    if (!found_all) return mismatch("{} has no value under the substitution", to_string(dim));
    return resolved;
  }
  [[nodiscard]] std::optional<SymbolicDim> resolve_variable(SizeVar name) {
    const Value* bound = value_of(name.tensor());
    if (!bound) return std::nullopt;
    std::int64_t index = !name.is_axis() && bound->sizes.size() == 1 ? 0 : -1;
    if (name.is_axis()) {
      const std::string_view axis = name.axis_text();
      const Value* variable = value_of(axis);
      const auto number = SymbolicDim::parse(axis);
      const bool named = variable && variable->sizes.size() == 1;
      index = (named ? variable->sizes[0].constant() : number ? number->constant() : std::nullopt).value_or(-1);
    }
    names_sizes_ |= bound->tensor.has_value();
    const auto elements = bound->tensor ? terms_.shape(*bound->tensor).dims() : std::span(bound->sizes);
    if (index < 0 || index >= std::ssize(elements)) return std::nullopt;
    return elements[static_cast<std::size_t>(index)];
  }
  /// Null where it has none.
  [[nodiscard]] const Value* value_of(std::string_view name) const {
    const auto& variables = axiom_->variables;
    const auto variable = std::ranges::find(variables, name, &AxiomVariable::name);
    if (variable == variables.end()) return nullptr;
    const Value& value = values_[static_cast<std::size_t>(variable - variables.begin())];
    return value.text ? &value : nullptr;
  }

  Result<TermId> instantiate(std::uint32_t index, const std::vector<HeadId>& heads) {
    const AxiomTerm& term = axiom_->terms[index];
    if (term.variable) return *values_[*term.variable].tensor;
    TermList operands;
    for (const std::uint32_t operand : term.operands) {
      REWRIGHT_TRY(operands.emplace_back(), instantiate(operand, heads));
    }
    return terms_.apply(heads[index], operands);
  }

  CheckedTerms& terms_;
  const Registry& registry_;
  std::vector<const Axiom*> axioms_;                ///< By the number of the name.
  std::vector<std::string> digests_;                ///< Of these; "" until it is asked for.
  std::map<std::vector<TermId>, TextsRead> texts_;  ///< By inputs, in any order.
  Interner<char> names_, value_numbers_;
  Interner<std::uint32_t> use_numbers_;
  std::deque<Use> uses_;
  // Of the step that is being read:
  const Axiom* axiom_ = nullptr;
  std::vector<Value> values_;       ///< By variable of the axiom.
  std::vector<std::uint32_t> key_;  ///< Of what is being looked up.
  Use use_;
  bool names_sizes_ = false;  ///< The use: of tensors.
};

}  // namespace rewright
