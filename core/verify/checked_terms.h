// The terms that the checker of certificates has met, with the operators' shape rules on symbolic sizes. Terms, what
// they apply, shapes and sets of conditions are numbers: equal ones have one number.
//
// Terms depend on the names and ranks of their inputs alone, conditions on the names of sizes, so that rules with the
// same names have them in common.
#pragma once

#include <rewright/base/result.h>
#include <rewright/operator/operator.h>
#include <rewright/rule/rule.h>

#include <boost/container/small_vector.hpp>

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
using HeadId = std::uint32_t;
using ShapeId = std::uint32_t;
using ConditionId = std::uint32_t;
using ConditionSet = std::uint32_t;  ///< 0: no condition.
using TermList = boost::container::small_vector<TermId, 6>;

/// What an application applies: one output of an operator at given parameters.
struct Head {
  const Operator* op = nullptr;  ///< Null: an input stands here.
  std::uint32_t output = 0;
  SymbolicParams params;
  bool has_sizes = false;  ///< The parameters name sizes.
};

/// An input, or an application.
struct CheckedTerm {
  HeadId head = 0;  ///< 0: an input.
  ShapeId shape = 0;
  ConditionSet defined = 0;  ///< What it and all applications within require of the inputs' sizes.
  bool has_sizes = false;    ///< Its parameters, or those of a term within, name sizes.
};

class CheckedTerms {
 public:
  CheckedTerms();

  [[nodiscard]] TermId input(const PatternInput& input);
  [[nodiscard]] HeadId head(const Operator& op, std::uint32_t output, const SymbolicParams& params);
  /// Errors: kShape where the application is defined nowhere.
  [[nodiscard]] Result<TermId> apply(HeadId head, const TermList& operands);
  /// The term with every size in its parameters replaced; what was found is kept in `known`.
  [[nodiscard]] Result<TermId> with_sizes(TermId id, const std::function<SymbolicDim(const SymbolicDim&)>& replace,
                                          std::unordered_map<TermId, TermId>& known);
  [[nodiscard]] ConditionSet set_of(const Constraint& condition);
  [[nodiscard]] ConditionSet unite(ConditionSet a, ConditionSet b);
  /// That the shapes of two terms of one rank are equal.
  [[nodiscard]] ConditionSet equal_shapes(TermId a, TermId b);

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] CheckedTerm operator[](TermId id) const { return terms_[id]; }
  [[nodiscard]] TermList operands(TermId id) const;
  [[nodiscard]] const Head& head(HeadId id) const { return heads_[id]; }
  [[nodiscard]] const SymbolicShape& shape(TermId id) const { return shapes_[terms_[id].shape]; }
  [[nodiscard]] const Constraint& condition(ConditionId id) const { return conditions_[id]; }
  /// Ascending.
  [[nodiscard]] std::span<const ConditionId> conditions(ConditionSet set) const { return sets_[set]; }

 private:
  struct Inference {
    ShapeId shape = 0;
    ConditionSet conditions = 0;
    std::optional<Error> error;
  };
  [[nodiscard]] ShapeId number(const SymbolicShape& shape);
  [[nodiscard]] const Inference& infer(HeadId head, const TermList& operands);

  std::vector<CheckedTerm> terms_;
  std::vector<TermId> inputs_;
  // Deques, so that a reference outlives what is made meanwhile.
  std::deque<Head> heads_;
  std::deque<SymbolicShape> shapes_;
  std::deque<Constraint> conditions_;
  std::deque<Inference> inferences_;  ///< By head and shapes of operands.
  std::vector<ConditionSet> unions_, equal_shapes_;
  Interner<std::uint32_t> term_numbers_, inference_numbers_, union_numbers_, equal_shapes_numbers_;
  Interner<char> input_numbers_, head_numbers_, shape_numbers_, condition_numbers_;
  Interner<ConditionId> sets_;
  std::vector<std::uint32_t> term_key_, inference_key_;  ///< Of what is being looked up.
  ByteKey bytes_, other_bytes_;
};

}  // namespace rewright
