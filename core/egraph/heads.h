// Heads: what stands in front of the operands of a term. One head per (operator, output, parameters that are no sizes);
// of a list of sizes only the length counts, its elements are arguments of the term.
//
// For each head and ranks of operands the operator's symbolic shape rule is run once and made into programs.
#pragma once

#include <rewright/operator/operator.h>
#include <rewright/operator/params.h>

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "egraph/hash_index.h"
#include "egraph/size_arithmetic.h"

namespace rewright::egraph {

using HeadId = std::uint32_t;
using ValueId = std::uint32_t;

/// Operators by number; those beyond the last share its bit.
using Vocabulary = std::bitset<256>;

struct Head {
  const Operator* op = nullptr;
  std::uint32_t operator_number = 0;
  std::uint32_t output = 0;
  std::vector<ValueId> params;
  std::uint32_t sizes = 0;  ///< The number of size arguments.
};

/// Slots: the operands' sizes, operand by operand, then the size arguments.
struct ShapeRule {
  std::vector<SizeCode> shape;  ///< Of this output.
  std::vector<ConstraintCode> defined;
};

class Heads {
 public:
  [[nodiscard]] ValueId value(const ParamValue& value);
  [[nodiscard]] const ParamValue& operator()(ValueId id) const { return values_[id]; }

  /// Output 0 .. of one application have consecutive ids only by chance: ask for each.
  [[nodiscard]] HeadId head(const Operator& op, std::uint32_t output, const SymbolicParams& params);
  [[nodiscard]] HeadId with_output(HeadId head, std::uint32_t output);
  [[nodiscard]] const Head& operator[](HeadId id) const { return heads_[id]; }
  [[nodiscard]] std::size_t size() const { return heads_.size(); }
  /// A number below Vocabulary's size, the same for the same operator.
  [[nodiscard]] std::uint32_t number_of(const Operator& op);

  /// The rule of this output at these ranks, or null where the application is defined nowhere.
  [[nodiscard]] const ShapeRule* shape_rule(HeadId head, std::span<const int> ranks);
  /// How many outputs it has at these ranks; 0 where it is defined nowhere.
  [[nodiscard]] std::uint32_t outputs(HeadId head, std::span<const int> ranks);

 private:
  struct Rule {
    HeadId head = 0;
    std::uint64_t ranks = 0;
    std::uint32_t outputs = 0;
    std::optional<ShapeRule> rule;
  };
  [[nodiscard]] HeadId intern(Head head);
  [[nodiscard]] const Rule& rule_of(HeadId head, std::span<const int> ranks);
  [[nodiscard]] Rule infer(HeadId head, std::span<const int> ranks) const;

  std::vector<ParamValue> values_;
  std::vector<Head> heads_;
  std::vector<const Operator*> operators_;
  std::vector<std::unique_ptr<Rule>> rules_;
  HashIndex value_index_, head_index_, rule_index_;
  std::vector<ValueId> scratch_;
};

/// The size arguments of an application, in order.
void append_size_arguments(const SymbolicParams& params, std::vector<const SymbolicDim*>& sizes);

}  // namespace rewright::egraph
