#include "schedule/partial_results.h"

#include <rewright/loop/buffer_owners.h>

#include <functional>
#include <limits>

namespace rewright::schedule {
namespace {

using loop::StoreKind;

void for_each_store(const Body& body, const std::function<void(const loop::Store&)>& visit) {
  for (const Statement& statement : body) {
    if (statement.store() != nullptr) visit(*statement.store());
    for_each_store(body_of(statement), visit);
  }
}

}  // namespace

ValueExpr neutral(StoreKind kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case StoreKind::kMultiply: return ValueExpr::from_integer(1);
    case StoreKind::kMaximum: return ValueExpr::from_double(-kInfinity);
    case StoreKind::kMinimum: return ValueExpr::from_double(kInfinity);
    default: return ValueExpr::from_integer(0);
  }
}

std::optional<StoreKind> only_update(const Body& body, BufferId buffer) {
  std::optional<StoreKind> kind;
  bool is_one = true;
  for_each_store(body, [&](const loop::Store& store) {
    if (store.buffer != buffer) return;
    is_one &= store.kind != StoreKind::kSet && kind.value_or(store.kind) == store.kind;
    kind = store.kind;
  });
  return is_one ? kind : std::nullopt;
}

bool owner_is_inside(const Program& program, const LoopPath& path, BufferId buffer) {
  const auto owner = loop::owners(program)[buffer.value];
  if (!owner) return false;
  bool is_inside = false;
  for_each_loop(Body(1, Statement(loop_at(program, path))),
                [&](const Loop& loop) { is_inside |= loop.axis.id == *owner; });
  return is_inside;
}

}  // namespace rewright::schedule
