// A function symbol of formulas: an output of an operator at some parameters and ranks.
#pragma once

#include <rewright/operator/operator.h>

#include <cstdint>
#include <string>
#include <vector>

namespace smt_verifier {

struct Symbol {
  const rewright::Operator* op = nullptr;
  std::uint32_t output = 0;
  rewright::Params params;        ///< Of a size list only the length counts.
  std::vector<int> ranks;         ///< Of the operands.
  rewright::SymbolicShape shape;  ///< Over "o1.0" (operand 1, axis 0) and "z0" (size argument 0).
  std::string name;               ///< As SMT-LIB writes it: the operator and a hash of the rest.
  std::string text;               ///< Its declaration and shape rules.
};

}  // namespace smt_verifier
