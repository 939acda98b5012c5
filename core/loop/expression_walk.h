// Walks over the parts of values.
#pragma once

#include <rewright/operator/expression.h>

#include <functional>
#include <unordered_set>

namespace rewright::loop {

/// An index, its parts, and what its data is read at, outermost first.
inline void for_each_index(const IndexExpr& index, const std::function<void(const IndexExpr&)>& visit) {
  visit(index);
  for (const IndexExpr& part : index.operands()) for_each_index(part, visit);
}

inline void for_each_index(const Guard& guard, const std::function<void(const IndexExpr&)>& visit) {
  for (const IndexCondition& condition : guard) {
    for_each_index(condition.left, visit);
    for_each_index(condition.right, visit);
  }
}

/// Each value that is not shared, or shared, once; parts after the whole.
class ValueWalk {
 public:
  explicit ValueWalk(std::function<void(const ValueExpr&)> visit) : visit_(std::move(visit)) {}
  void operator()(const ValueExpr& value) {
    if (!seen_.insert(value.address()).second) return;
    visit_(value);
    for (const ValueExpr& part : value.operands()) (*this)(part);
  }

 private:
  std::function<void(const ValueExpr&)> visit_;
  std::unordered_set<const ValueExpr::Node*> seen_;
};

/// All indices of a value and their parts.
inline void for_each_index(const ValueExpr& value, const std::function<void(const IndexExpr&)>& visit) {
  ValueWalk([&](const ValueExpr& part) {
    for (const IndexExpr& index : part.indices()) for_each_index(index, visit);
    for_each_index(part.guard(), visit);
    for (const AxisRange& range : part.axes()) for_each_index(range.extent, visit);
  })(value);
}

}  // namespace rewright::loop
