// What expressions are made of.
#pragma once

#include <rewright/operator/expression.h>

#include <string>
#include <vector>

namespace rewright {

struct IndexExpr::Node {
  Kind kind = Kind::kNumber;
  std::int64_t number = 0;
  SymbolicDim size = {};  ///< kSize
  Axis axis = {};
  BufferId buffer = {};
  std::vector<IndexExpr> operands = {};
  std::uint64_t hash = 0;
};

struct ValueExpr::Node {
  Kind kind = Kind::kNumber;
  double number = 0;
  BufferId buffer = {};
  ElementType element = ElementType::kUnknown;
  Function function = Function::kExp;
  Reduction reduction = Reduction::kSum;
  std::vector<IndexExpr> indices = {};
  std::vector<AxisRange> axes = {};
  Guard guard = {};
  std::vector<ValueExpr> operands = {};
  std::uint64_t hash = 0;
};

}  // namespace rewright
