#include "schedule/one_shot.h"

#include <algorithm>
#include <limits>
#include <set>

#include "schedule/nest_scheduling.h"

namespace rewright::schedule {
namespace {

constexpr std::int64_t kLatency = 6;  ///< Of a multiply-add, in multiply-adds; so many sums must be under way.
constexpr std::int64_t kLoop = 1;     ///< What a step costs beside, in multiply-adds.
constexpr std::int64_t kRowVectors = 4;
constexpr std::int64_t kMostVectors = 4;
constexpr std::int64_t kMostGuarded = 8;
constexpr std::int64_t kMostUpdates = 64;  ///< In the body of a loop around a tile of rows.

struct Tile {
  std::int64_t places = 1;
  std::int64_t vectors = 1;
};

/// Steps for all places and vectors, the tails too.
std::int64_t cost_of(const Tile& tile, std::int64_t places, std::int64_t vectors) {
  const auto step = [](std::int64_t t, std::int64_t n) {
    return t * n == 0 ? 0 : std::max({t * n, t + n, kLatency}) + kLoop;
  };
  const auto column = [&](std::int64_t n) {
    return places / tile.places * step(tile.places, n) + step(places % tile.places, n);
  };
  return vectors / tile.vectors * column(tile.vectors) + column(vectors % tile.vectors);
}

Tile best_tile(std::int64_t places, std::int64_t vectors, std::int64_t registers) {
  Tile best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t n = std::min(kMostVectors, vectors); n >= 1; --n) {
    for (std::int64_t t = std::min(kMostPlaces, places); t >= 1; --t) {
      if (t * n + n + 1 > registers) continue;
      const std::int64_t cost = cost_of({t, n}, places, vectors);
      if (cost < least) best = {t, n}, least = cost;
    }
  }
  return best;
}

/// Of a tile whose updates are under conditions, which many vectors are to share; of the fewest tiles, even ones.
std::int64_t guarded_vectors(std::int64_t vectors) {
  const std::int64_t tiles = (vectors + kMostGuarded - 1) / kMostGuarded;
  return (vectors + tiles - 1) / tiles;
}

class Scheduling : private NestScheduling {
 public:
  using NestScheduling::NestScheduling;

  OneShot run(const std::vector<LoopName>& roots) && {
    for (const LoopName& root : roots) schedule(fused(root));
    return std::move(*this).take();
  }

 private:
  /// The root of the nest once its lanes are fused.
  LoopName fused(const LoopName& root) {
    const std::set<std::string> before = names();
    if (!fuse_lanes(root) || loop_named(root) != nullptr) return root;
    return names_since(before).back();
  }

  // --- kinds of nests --------------------------------------------------------------------------------------------

  void schedule(const LoopName& root) {
    const Loop* loop = loop_named(root);
    const auto nest = loop == nullptr ? std::nullopt : nest_at(*loop);
    if (!nest) return loop == nullptr ? void() : schedule_inner(root, *loop);
    const bool is_known =
        std::ranges::all_of(nest->loops(), [](const Loop* each) { return each->extent.number().value_or(0) > 0; });
    if (!is_known) return;
    if (nest->update == nullptr) {
      (void)attempt([&] { return schedule_chain(*nest); });
    } else if (!attempt([&] { return schedule_contraction(*nest); }) &&
               !attempt([&] { return schedule_row(*nest, kRowVectors); })) {
      vectorise_inner(root);
    }
  }

  /// Steps in order, each of nests of its own: of a recurrence.
  void schedule_inner(const LoopName& root, const Loop& loop) {
    const std::vector<LoopName> inner = loops_of(loop.body);
    const bool are_nests =
        std::ranges::any_of(inner, [&](const LoopName& name) { return nest_at(*loop_named(name)).has_value(); });
    if (!are_nests) return vectorise_inner(root);
    for (const LoopName& name : inner) schedule(fused(name));
  }

  // --- contractions ----------------------------------------------------------------------------------------------

  [[nodiscard]] std::int64_t bytes_of(BufferId buffer) const {
    std::int64_t count = 4;
    for (const IndexExpr& size : program()[buffer].sizes) count *= *size.number();
    return count;
  }

  bool schedule_contraction(const Nest& nest) {
    const Loop* lanes = lanes_of(program(), nest);
    if (lanes == nullptr) return false;
    const bool are_uniform = std::ranges::none_of(
        nest.conditions, [&](const IndexCondition& condition) { return names_axis(condition, lanes->axis); });
    if (!are_uniform) return false;
    if (const auto groups = split_in_groups(nest, *lanes, unit().lanes)) {
      const LoopName outermost = name_of_loop(*nest.outer.front());
      if (!apply(*groups)) return false;
      return schedule_contraction(
          *nest_at(*loop_named(outermost == groups->loop ? extended(outermost, 0) : outermost)));
    }
    const std::int64_t vectors = (extent(*lanes) + unit().lanes - 1) / unit().lanes;
    const Loop* places = nest.has_conditions ? nullptr : places_of(program(), nest, lanes);
    const Tile tile = nest.has_conditions
                          ? Tile{1, guarded_vectors(vectors)}
                          : best_tile(places == nullptr ? 1 : extent(*places), vectors, unit().registers);
    const std::int64_t width = std::min(tile.vectors * unit().lanes, extent(*lanes));
    const Panels panels = panels_of(program(), nest, *lanes, width, places != nullptr);
    if (panels.gathers) return false;
    if (places != nullptr && panels.packs.empty() && tile.places == extent(*places) &&
        schedule_rows(nest, *lanes, *places))
      return true;

    // Weights that stay in the cache: all of them for some places before the next; otherwise panel by panel.
    std::int64_t weights = 0;
    for (const ValueExpr& load : loads_in(nest.update->value)) {
      if (places == nullptr || !names_axis(load.indices(), places->axis)) weights += bytes_of(load.buffer());
    }
    Reorder order;
    const LoopName lanes_name = name_of_loop(*lanes);
    const auto places_name = places == nullptr ? std::nullopt : std::optional(name_of_loop(*places));
    std::vector<LoopName> rest, batch;
    for (const Loop* loop : nest.outer) {
      if (loop == lanes || loop == places) continue;
      const bool is_batch = std::ranges::all_of(
          loads_in(nest.update->value), [&](const ValueExpr& load) { return names_axis(load.indices(), loop->axis); });
      (is_batch || 2 * weights <= unit().cache_bytes ? batch : rest).push_back(name_of_loop(*loop));
    }
    order.loops = batch;
    order.loops.push_back(lanes_name);
    order.loops.insert(order.loops.end(), rest.begin(), rest.end());
    if (places_name) order.loops.push_back(*places_name);
    if (order.loops.size() > 1 && !apply(order)) return false;

    const auto parts = split_lanes(lanes_name, width);
    if (!parts) return false;
    for (const LoopName& part : *parts) {
      if (!schedule_panel(part, tile.places)) return false;
    }
    for (const Pack& pack : panels.packs) {
      if (!apply(pack)) return false;
    }
    return true;
  }
  /// Tiles of one vector, all places, and some rows, in half the registers: what rows share takes others. The sum along
  /// them is innermost, and unrolled.
  bool schedule_rows(const Nest& nest, const Loop& lanes, const Loop& places) {
    const RowsOfTile of = rows_of(program(), nest, lanes, places);
    if (of.rows == nullptr) return false;
    std::int64_t rows = std::min(unit().registers / 2 / extent(places), extent(*of.rows));
    while (rows > 1 && (extent(*of.rows) % rows != 0 || rows * extent(places) * extent(*of.sum) > kMostUpdates)) --rows;
    if (rows < 2) return false;
    const LoopName lanes_name = name_of_loop(lanes), rows_name = name_of_loop(*of.rows),
                   places_name = name_of_loop(places);
    Reorder order;
    for (const Loop* loop : nest.outer)
      if (loop != &lanes && loop != &places && loop != of.rows) order.loops.push_back(name_of_loop(*loop));
    order.loops.insert(order.loops.end(), {rows_name, lanes_name, places_name});
    return attempt([&] {
      if (!apply(order) || !apply(Split{rows_name, rows}) || !apply(Reorder{{lanes_name, extended(rows_name, 1)}}))
        return false;
      const auto parts = split_lanes(lanes_name, std::min(unit().lanes, extent(*loop_named(lanes_name))));
      if (!parts || !schedule_rows(parts->front())) return false;
      return parts->size() == 1 || (split_whole(parts->back()) && schedule_rows(extended(parts->back(), 1)));
    });
  }
  /// Of one vector of lanes, around rows and places.
  bool schedule_rows(const LoopName& lanes) {
    const Nest nest = *nest_at(*loop_named(lanes));
    TileLoops loops{
        .lanes = lanes, .places = name_of_loop(*nest.outer[2]), .rows = name_of_loop(*nest.outer[1]), .sums = {}};
    const LoopName sum = name_of_loop(*rows_of(program(), nest, *nest.outer[0], *nest.outer[2]).sum);
    for (const Loop* each : order_of_sums(program(), nest))
      if (name_of_loop(*each) != sum) loops.sums.push_back(name_of_loop(*each));
    loops.sums.push_back(sum);
    return apply(Reorder{{*loops.rows, *loops.places, lanes}}) && NestScheduling::schedule_tile(loops) &&
           apply(Mark{sum, loop::LoopKind::kUnroll});
  }
  /// Lanes of vectors, and those of the tail; nothing: they cannot be split.
  std::optional<std::vector<LoopName>> split_lanes(const LoopName& lanes, std::int64_t width) {
    const std::set<std::string> before = names();
    if (!apply(Split{lanes, width, Tail::kCut})) return std::nullopt;
    std::vector<LoopName> parts = {extended(lanes, 1)};
    for (const LoopName& added : names_since(before)) {
      if (added == parts[0] || added == extended(lanes, 0)) continue;
      parts.push_back(added);  // The first is the tail; loops in it are copies.
      break;
    }
    return parts;
  }
  /// Tiles of one panel: the loop of its lanes, around the other loops.
  bool schedule_panel(const LoopName& lanes, std::int64_t most_places) {
    const Nest nest = *nest_at(*loop_named(lanes));
    const Loop* places = nest.has_conditions ? nullptr : places_of(program(), nest, nest.outer.front());
    if (places != nullptr && places != nest.outer.back()) places = nullptr;
    Reorder order;
    for (const Loop* loop : nest.outer) {
      if (loop != nest.outer.front()) order.loops.push_back(name_of_loop(*loop));
    }
    order.loops.push_back(lanes);
    const auto places_name = places == nullptr ? std::nullopt : std::optional(name_of_loop(*places));
    const std::int64_t count = places == nullptr ? 1 : extent(*places);
    if (order.loops.size() > 1 && !apply(order)) return false;
    if (!places_name) return split_whole(lanes) && schedule_tile(extended(lanes, 1));
    const std::set<std::string> before = names();
    if (!apply(Split{*places_name, std::min(most_places, count), Tail::kCut})) return false;
    const LoopName inner = extended(*places_name, 1);
    std::vector<LoopName> tail;
    for (const LoopName& added : names_since(before)) {
      if (added != inner && added != extended(*places_name, 0)) tail.push_back(added);
    }
    if (!schedule_tile(lanes, inner)) return false;
    if (tail.empty()) return true;  // Otherwise: places, and lanes in them.
    return split_whole(tail[0]) && schedule_tile(tail[1], extended(tail[0], 1));
  }
  bool schedule_tile(const LoopName& lanes, const std::optional<LoopName>& places = std::nullopt) {
    TileLoops loops{.lanes = lanes, .places = places, .sums = {}};
    for (const Loop* sum : order_of_sums(program(), *nest_at(*loop_named(lanes))))
      loops.sums.push_back(name_of_loop(*sum));
    return NestScheduling::schedule_tile(loops);
  }
};

}  // namespace

OneShot one_shot(const loop::Program& program, const VectorUnit& unit) {
  return one_shot(OneShot{{}, program}, roots_of(program), unit);
}

std::vector<LoopName> roots_of(const loop::Program& program) { return loops_of(program.body); }

OneShot one_shot(OneShot before, const std::vector<LoopName>& roots, const VectorUnit& unit) {
  return Scheduling(std::move(before), unit).run(roots);
}

}  // namespace rewright::schedule
