#include "schedule/nest.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>

#include "loop/bounds.h"

namespace rewright::schedule {
namespace {

using loop::Store;
using loop::StoreKind;

/// The only store below a statement, with the loops down to it.
const Store* only_store(const Statement& statement, Nest& nest) {
  if (const Store* store = statement.store()) return store;
  const Body& body = loop::body_of(statement);
  if (body.size() != 1) return nullptr;
  if (const Loop* loop = statement.loop()) {
    nest.reduced.push_back(loop);
  } else {
    nest.has_conditions = true;
    const Guard& more = statement.branch()->condition;
    nest.conditions.insert(nest.conditions.end(), more.begin(), more.end());
  }
  return only_store(body[0], nest);
}

}  // namespace

std::vector<const Loop*> Nest::loops() const {
  std::vector<const Loop*> all = outer;
  all.insert(all.end(), reduced.begin(), reduced.end());
  return all;
}

std::optional<Nest> nest_at(const Loop& root) {
  Nest nest;
  nest.outer.push_back(&root);
  while (nest.outer.back()->body.size() == 1 && nest.outer.back()->body[0].loop() != nullptr) {
    nest.outer.push_back(nest.outer.back()->body[0].loop());
  }
  const Body& body = nest.outer.back()->body;
  if (body.empty() || body.size() > 3 || (body.size() > 1 && body[0].store() == nullptr)) return std::nullopt;
  if (body.size() == 1) {
    nest.result = body[0].store();
    if (nest.result == nullptr || nest.result->kind != StoreKind::kSet) return std::nullopt;
    return nest;
  }
  nest.update = only_store(body[1], nest);
  if (nest.update == nullptr || nest.reduced.empty() || nest.update->kind == StoreKind::kSet) return std::nullopt;
  const Store& init = *body[0].store();
  if (init.kind != StoreKind::kSet || init.buffer != nest.update->buffer || init.at != nest.update->at)
    return std::nullopt;
  if (body.size() == 3) {
    nest.result = body[2].store();
    if (nest.result == nullptr || nest.result->kind != StoreKind::kSet) return std::nullopt;
  }
  return nest;
}

std::vector<ValueExpr> loads_in(const ValueExpr& value) {
  if (value.kind() == ValueExpr::Kind::kLoad) return {value};
  std::vector<ValueExpr> loads;
  for (const ValueExpr& part : value.operands()) {
    const auto more = loads_in(part);
    loads.insert(loads.end(), more.begin(), more.end());
  }
  return loads;
}

bool names_axis(const IndexExpr& index, const Axis& axis) {
  if (index.kind() == IndexExpr::Kind::kAxis) return index.axis() == axis;
  return names_axis(index.operands(), axis);
}

bool names_axis(std::span<const IndexExpr> at, const Axis& axis) {
  return std::ranges::any_of(at, [&](const IndexExpr& index) { return names_axis(index, axis); });
}

bool names_axis(const IndexCondition& condition, const Axis& axis) {
  return names_axis(condition.left, axis) || names_axis(condition.right, axis);
}

std::optional<std::int64_t> stride_of(const Program& program, BufferId buffer, std::span<const IndexExpr> at,
                                      const Axis& axis, std::span<const Loop* const> loops) {
  IndexExpr flat = 0;
  for (std::size_t d = 0; d < at.size(); ++d) flat = flat * program[buffer].sizes[d] + at[d];
  const auto form = loop::linear(loop::simplified(flat, loop::ranges_of(loops)));
  if (!form) return std::nullopt;
  std::int64_t stride = 0;
  for (const auto& [atom, coefficient] : form->terms) {
    if (atom == IndexExpr(axis))
      stride = coefficient;
    else if (names_axis(atom, axis))
      return std::nullopt;
  }
  return stride;
}

}  // namespace rewright::schedule
