// What the steps of certificates say: axioms under substitutions, as equations between terms, each read once.
#pragma once

#include <rewright/axiom.h>
#include <rewright/registry.h>
#include <rewright/result.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/certificate_text.h"
#include "verify/checked_terms.h"

namespace rewright {

/// One direction of one axiom under one substitution: equal wherever the conditions hold.
struct Statement {
  TermId from = 0, to = 0;
  ConditionSet conditions = 0;  ///< Both sides are defined and of one shape, and the axiom's condition holds.
};

/// The texts that have been read over one list of inputs: what a name stands for depends on its rank.
struct TextsRead {
  Interner<char> terms, statements;
  std::vector<TermId> term_of;
  std::deque<Statement> statement_of;
};

class Statements {
 public:
  Statements(CheckedTerms& terms, std::span<const Axiom> axioms, const Registry& registry);

  [[nodiscard]] TextsRead texts_over(std::span<const PatternInput> inputs);
  /// `text` is a step without its position. Errors: kParse; kMismatch where it is no instance of an axiom.
  Result<const Statement*> read(std::string_view text, TextsRead& texts);

 private:
  struct Known {
    const Axiom* axiom = nullptr;
    std::string digest;
    std::uint32_t number = 0;
  };
  /// What a substitution gives one variable.
  struct Value {
    std::optional<std::string_view> text;
    std::optional<TermId> tensor;
    std::vector<SymbolicDim> sizes;  ///< The one of an Int variable, those of a Sizes variable.
    double real = 0;
  };
  /// An axiom at given shapes of its tensors and values of its other variables.
  struct Use {
    std::vector<ParamsId> params;  ///< By term of the axiom.
    ConditionSet conditions = 0;   ///< The axiom's own, and that both sides have one shape.
  };

  Result<Statement> instance(std::string_view text, TextsRead& texts);
  Status bind(const EquationText& text, TextsRead& texts);
  Result<TermId> term_of(std::string_view text, TextsRead& texts);
  Result<TermId> term_of(const TermText& text, TextsRead& texts);
  Result<const Use*> use();
  Result<Use> new_use();
  Status read_values();
  Result<ParamsId> params_of(const AxiomTerm& term) const;
  Result<BasicParamValue<SymbolicDim>> parameter(const ParamSpec& spec, const AxiomParam& param) const;
  Result<SymbolicDim> resolve(const SymbolicDim& dim) const;
  std::optional<SymbolicDim> resolve_name(std::string_view name) const;
  const Value* value_of(std::string_view name) const;
  Result<TermId> instantiate(std::uint32_t index, const std::vector<ParamsId>& params);

  CheckedTerms& terms_;
  const Registry& registry_;
  std::map<std::string, Known, std::less<>> axioms_;
  Interner<char> value_numbers_;
  Interner<std::uint32_t> use_numbers_;
  std::deque<Use> uses_;
  // Of the step that is being read:
  const Known* known_ = nullptr;
  std::vector<Value> values_;  ///< By variable of the axiom.
  std::vector<std::uint32_t> key_;
  std::vector<TermId> operands_;
};

}  // namespace rewright
