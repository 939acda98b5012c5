// One loop of what two move evenly, for lanes that would be few.
#include <algorithm>

#include "schedule/nest_scheduling.h"

namespace rewright::schedule {
namespace {

/// Vectors; a loop of more is long enough by itself.
constexpr std::int64_t kFewVectors = 4;

/// The dimension that an axis alone moves, by 1.
std::optional<std::size_t> dimension_of(std::span<const IndexExpr> at, const Axis& axis) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] == IndexExpr(axis)) return d;
  }
  return std::nullopt;
}

/// The order in which the two dimensions are last and neighbours, the others in that of the sums.
std::optional<Pack> in_rows(const Program& program, const ValueExpr& load, const Nest& nest, const Loop& outer,
                            const Loop& inner) {
  const auto at = load.indices();
  const auto high = dimension_of(at, outer.axis), low = dimension_of(at, inner.axis);
  if (!high || !low || !is_read_once(program, load.buffer()) || program[load.buffer()].role != BufferRole::kWeight)
    return std::nullopt;
  const std::vector<const Loop*> sums = order_of_sums(program, nest);
  std::vector<std::pair<std::size_t, std::size_t>> others;  ///< By the innermost sum that each dimension follows.
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (d == *high || d == *low) continue;
    if (names_axis(at[d], outer.axis) || names_axis(at[d], inner.axis)) return std::nullopt;
    others.emplace_back(rank_of(at[d], sums), d);
  }
  std::ranges::sort(others);
  Pack pack{program[load.buffer()].name, program[load.buffer()].name + "_rows", {}};
  for (const auto& [rank, d] : others) pack.parts.push_back({d, LayoutPart::Kind::kWhole, 1});
  for (const std::size_t d : {*high, *low}) pack.parts.push_back({d, LayoutPart::Kind::kWhole, 1});
  return pack;
}

}  // namespace

bool NestScheduling::fuse_lanes(const LoopName& root) {
  const Loop* loop = loop_named(root);
  const auto nest = loop == nullptr ? std::nullopt : nest_at(*loop);
  const auto is_known = [](const Loop* each) { return each->extent.number().value_or(0) > 0; };
  if (!nest || nest->update == nullptr || !std::ranges::all_of(nest->loops(), is_known)) return false;
  const Loop* inner = lanes_of(program(), *nest);
  const auto at = std::ranges::find(nest->outer, inner);
  if (inner == nullptr || at == nest->outer.begin() || extent(*inner) > kFewVectors * unit().lanes) return false;
  const Loop* outer = *(at - 1);
  const auto names_one = [&](const auto& what) {
    return names_axis(what, outer->axis) || names_axis(what, inner->axis);
  };
  const auto moved = stride_of(program(), nest->stored().buffer, nest->stored().at, outer->axis, nest->outer);
  if (extent(*outer) == 1 || moved != extent(*inner) || std::ranges::any_of(nest->conditions, names_one)) return false;
  std::vector<Transform> steps = {Fuse{name_of_loop(*outer), name_of_loop(*inner)}};
  for (const ValueExpr& load : loads_in(nest->update->value)) {
    if (!names_one(load.indices())) continue;
    auto pack = in_rows(program(), load, *nest, *outer, *inner);
    if (!pack) return false;
    steps.emplace_back(*std::move(pack));
  }
  return attempt([&] { return std::ranges::all_of(steps, [&](const Transform& step) { return apply(step); }); });
}

loop::Program with_fused_lanes(const loop::Program& program, const VectorUnit& unit) {
  NestScheduling scheduling(OneShot{{}, program}, unit);
  for (const LoopName& root : loops_of(program.body)) scheduling.fuse_lanes(root);
  return std::move(scheduling).take().program;
}

}  // namespace rewright::schedule
