// The terms that the checker of certificates has met, with the operators' shape rules on symbolic sizes. Terms,
// parameters, shapes and sets of conditions are numbers: equal ones have one number.
//
// Terms depend on the names and ranks of their inputs alone, conditions on the names of sizes, so that rules with the
// same names have them in common.
#pragma once

#include <rewright/operator.h>
#include <rewright/result.h>
#include <rewright/rule.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "verify/byte_key.h"
#include "verify/interner.h"

namespace rewright {

using TermId = std::uint32_t;
using ParamsId = std::uint32_t;
using ShapeId = std::uint32_t;
using ConditionId = std::uint32_t;
using ConditionSet = std::uint32_t;  ///< 0: no condition.

/// An input, or one output of an application.
struct CheckedTerm {
  const Operator* op = nullptr;  ///< Null: an input.
  std::uint32_t output = 0;
  ParamsId params = 0;
  ShapeId shape = 0;
  ConditionSet own = 0;      ///< What this application requires of its operands.
  ConditionSet defined = 0;  ///< What it and all applications within require.
  bool has_sizes = false;    ///< Parameters, its own or of a term within, name sizes.
};

class CheckedTerms {
 public:
  CheckedTerms() { (void)sets_.add({}); }

  [[nodiscard]] TermId input(const PatternInput& input);
  /// Errors: kShape where the application is defined nowhere.
  [[nodiscard]] Result<TermId> apply(const Operator& op, std::uint32_t output, ParamsId params,
                                     std::span<const TermId> operands);
  /// The term with every size in its parameters replaced; what was found is kept in `known`.
  [[nodiscard]] Result<TermId> with_sizes(TermId id, const std::function<SymbolicDim(const SymbolicDim&)>& replace,
                                          std::unordered_map<TermId, TermId>& known);
  [[nodiscard]] ParamsId number(const SymbolicParams& params);
  [[nodiscard]] ConditionSet set_of(const Constraint& condition);
  [[nodiscard]] ConditionSet unite(ConditionSet a, ConditionSet b);

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] const CheckedTerm& operator[](TermId id) const { return terms_[id]; }
  [[nodiscard]] std::vector<TermId> operands(TermId id) const;
  [[nodiscard]] const SymbolicShape& shape(TermId id) const { return shapes_[terms_[id].shape]; }
  [[nodiscard]] const SymbolicParams& params(ParamsId id) const { return params_[id]; }
  [[nodiscard]] const Constraint& condition(ConditionId id) const { return conditions_[id]; }
  /// Ascending.
  [[nodiscard]] std::span<const ConditionId> conditions(ConditionSet set) const { return sets_[set]; }

 private:
  struct Inference {
    std::vector<ShapeId> outputs;
    ConditionSet conditions = 0;
    std::optional<Error> error;
  };
  [[nodiscard]] ShapeId number(const SymbolicShape& shape);
  [[nodiscard]] const Inference& infer(const Operator& op, ParamsId params, std::span<const TermId> operands);

  // Deques, so that a reference outlives what is made meanwhile.
  std::deque<CheckedTerm> terms_;
  std::deque<SymbolicParams> params_;
  std::deque<SymbolicShape> shapes_;
  std::deque<Constraint> conditions_;
  std::deque<Inference> inferences_;  ///< By operator, parameters and shapes of operands.
  std::vector<ConditionSet> unions_;
  Interner<std::uint64_t> term_numbers_, inference_numbers_, union_numbers_;
  Interner<char> input_numbers_, params_numbers_, shape_numbers_, condition_numbers_;
  Interner<ConditionId> sets_;
  std::vector<std::uint64_t> term_key_, inference_key_;  ///< Of what is being looked up.
  ByteKey bytes_;
};

}  // namespace rewright
