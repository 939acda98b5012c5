// tensorise l outer-product:  for l { for i { for j { c[i, j] += a[i] * b[j] } } }  becomes
//                             for l { for i unroll { for j vector { ... } } }
//
// The loops are matched with those of the tile; what is marked is then a form that targets with vectors keep in
// registers, step after step of l.
#include <rewright/loop/linear_index.h>

#include <fmt/format.h>

#include "schedule/loop_tree.h"
#include "schedule/places.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

/// The loops in a loop down to its one store, outermost first; nothing if there are other statements.
struct Nest {
  std::vector<const Loop*> loops;
  const loop::Store* store = nullptr;
};
std::optional<Nest> nest_in(const Loop& loop) {
  Nest nest;
  const Body* body = &loop.body;
  while (body->size() == 1) {
    const Statement& statement = body->front();
    nest.store = statement.store();
    if (nest.store != nullptr) return nest;
    const Loop* inner = statement.loop();
    if (inner == nullptr) return std::nullopt;
    nest.loops.push_back(inner);
    body = &inner->body;
  }
  return std::nullopt;
}

/// Do neighbouring iterations of an axis lie beside each other, whatever the other axes?
bool is_along(std::span<const IndexExpr> at, const Axis& axis) {
  if (at.empty() || uses_axis(at.first(at.size() - 1), axis)) return false;
  auto last = loop::linear(at.back());
  if (!last || last->coefficient(IndexExpr(axis)) != 1) return false;
  last->add(IndexExpr(axis), -1);
  return !uses_axis(std::vector{last->index()}, axis);
}

bool is_load(const ValueExpr& value) { return value.kind() == ValueExpr::Kind::kLoad; }

/// Why the nest is not that of the tile; nothing if it is.
std::optional<std::string> difference(const Nest& nest, const Loop& step, RegisterTile tile) {
  const bool is_outer = tile == RegisterTile::kOuterProduct;
  const std::size_t wanted = is_outer ? 2 : 1;
  if (nest.loops.size() != wanted) return fmt::format("{} of them", nest.loops.size());
  for (const Loop* loop : nest.loops) {
    if (!loop->extent.number()) return fmt::format("{}, whose extent is no number", loop->axis.name);
  }
  const loop::Store& store = *nest.store;
  const auto parts = store.value.operands();
  if (store.kind != loop::StoreKind::kAdd || store.value.kind() != ValueExpr::Kind::kMultiply || !is_load(parts[0]) ||
      !is_load(parts[1]))
    return "another statement than an addition of the product of two elements";
  const Axis& lane = nest.loops.back()->axis;
  if (!is_along(store.at, lane)) return fmt::format("sums that do not lie beside each other along {}", lane.name);
  if (uses_axis(store.at, step.axis)) return fmt::format("another tile in each iteration of {}", step.axis.name);
  const auto fits = [&](const ValueExpr& a, const ValueExpr& b) {
    if (!is_along(b.indices(), lane)) return false;
    if (!is_outer) return is_along(a.indices(), lane);
    const Axis& row = nest.loops[0]->axis;
    return !uses_axis(a.indices(), lane) && uses_axis(a.indices(), row) && !uses_axis(b.indices(), row);
  };
  if (!fits(parts[0], parts[1]) && !fits(parts[1], parts[0]))
    return is_outer ? "factors that are no column and no row" : "factors that are not both along the lanes";
  if (is_outer && !uses_axis(store.at, nest.loops[0]->axis))
    return fmt::format("one row for all iterations of {}", nest.loops[0]->axis.name);
  return std::nullopt;
}

}  // namespace

Outcome transformed(const Program& program, const Tensorise& tensorise) {
  const auto path = path_to(program, tensorise.loop);
  if (!path) return gone(program, tensorise.loop);
  const Loop& step = loop_at(program, *path);
  const auto nest = nest_in(step);
  const std::optional<std::string> different =
      nest ? difference(*nest, step, tensorise.tile) : std::optional<std::string>("other statements");
  if (different)
    return Conflict{Conflict::Kind::kForm, fmt::format("nothing but the loops of the tile in {}", step.axis.name),
                    *different};
  Outcome marked = program;
  for (std::size_t i = nest->loops.size(); i-- > 0;) {
    const bool is_lane = i + 1 == nest->loops.size();
    const LoopName name = *loop::parse_loop_name(nest->loops[i]->axis.name);
    marked =
        transformed(std::get<Program>(marked), Mark{name, is_lane ? loop::LoopKind::kVector : loop::LoopKind::kUnroll});
    if (std::holds_alternative<Conflict>(marked)) return marked;
  }
  return marked;
}

}  // namespace rewright::schedule
