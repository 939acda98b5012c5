#include "schedule/one_shot.h"

#include <algorithm>
#include <limits>
#include <set>

#include "loop/accesses.h"
#include "schedule/apply.h"
#include "schedule/nest.h"
#include "schedule/read_box.h"

namespace rewright::schedule {
namespace {

using loop::LoopKind;

constexpr std::int64_t kLatency = 6;      ///< Of a multiply-add, in multiply-adds; so many sums must be under way.
constexpr std::int64_t kLoop = 1;         ///< What a step costs beside, in multiply-adds.
constexpr std::int64_t kMostPlaces = 14;  ///< Of a tile.
constexpr std::int64_t kRowVectors = 4;
constexpr std::int64_t kMostVectors = 4;
constexpr std::int64_t kMostGuarded = 8;

std::int64_t extent(const Loop& loop) { return *loop.extent.number(); }
LoopName name_of_loop(const Loop& loop) { return *loop::parse_loop_name(loop.axis.name); }

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

class Scheduling {
 public:
  Scheduling(const Program& program, const VectorUnit& unit) : unit_(unit), result_{{}, program} {}

  OneShot run() {
    std::vector<LoopName> roots;
    for (const Statement& statement : result_.program.body) {
      if (statement.loop() != nullptr) roots.push_back(name_of_loop(*statement.loop()));
    }
    for (const LoopName& root : roots) schedule(root);
    return std::move(result_);
  }

 private:
  // --- steps -----------------------------------------------------------------------------------------------------

  bool apply(Transform transform) {
    Outcome outcome = schedule::apply(result_.program, transform);
    if (!std::holds_alternative<Program>(outcome)) return false;
    result_.program = std::get<Program>(std::move(outcome));
    result_.steps.push_back({std::move(transform)});
    return true;
  }
  /// All or nothing.
  template <class Steps>
  bool attempt(const Steps& steps) {
    const OneShot before = result_;
    if (steps()) return true;
    result_ = before;
    return false;
  }
  [[nodiscard]] const Loop* loop_named(const LoopName& name) const {
    const auto path = path_to(result_.program, name);
    return path ? &loop_at(result_.program, *path) : nullptr;
  }
  [[nodiscard]] std::set<std::string> names() const {
    const auto all = loop_names(result_.program);
    return {all.begin(), all.end()};
  }
  /// Loops that are not in `before`, outermost first.
  [[nodiscard]] std::vector<LoopName> names_since(const std::set<std::string>& before) const {
    std::vector<LoopName> added;
    for (const std::string& name : loop_names(result_.program)) {
      if (!before.contains(name)) added.push_back(*loop::parse_loop_name(name));
    }
    return added;
  }
  [[nodiscard]] std::optional<std::int64_t> stride(const loop::Store& store, const Loop& loop, const Nest& nest) const {
    return stride_of(result_.program, store.buffer, store.at, loop.axis, nest.outer);
  }
  [[nodiscard]] std::optional<std::int64_t> stride(const ValueExpr& load, const Loop& loop, const Nest& nest) const {
    return stride_of(result_.program, load.buffer(), load.indices(), loop.axis, nest.loops());
  }

  // --- kinds of nests --------------------------------------------------------------------------------------------

  void schedule(const LoopName& root) {
    const Loop* loop = loop_named(root);
    const auto nest = loop == nullptr ? std::nullopt : nest_at(*loop);
    if (!nest) return vectorise_inner(root);
    const bool is_known =
        std::ranges::all_of(nest->loops(), [](const Loop* each) { return each->extent.number().value_or(0) > 0; });
    if (!is_known) return;
    if (nest->update == nullptr) {
      (void)attempt([&] { return schedule_chain(*nest); });
    } else if (!attempt([&] { return schedule_contraction(*nest); }) && !attempt([&] { return schedule_row(*nest); })) {
      vectorise_inner(root);
    }
  }

  // --- rows ------------------------------------------------------------------------------------------------------

  /// The innermost sum in kRowVectors vectors of partial results; of these one vector, of that one number.
  bool schedule_row(const Nest& nest) {
    const Loop& sum = *nest.reduced.back();
    const auto loads = loads_in(nest.update->value);
    const bool is_even = std::ranges::all_of(loads, [&](const ValueExpr& load) {
      const auto moved = stride(load, sum, nest);
      return moved == std::int64_t{0} || moved == std::int64_t{1};
    });
    if (!is_even || extent(sum) < 2 * unit_.lanes) return false;
    const LoopName name = name_of_loop(sum), inner = extended(name, 1);
    std::int64_t vectors = kRowVectors;
    while (vectors > 1 && extent(sum) % (vectors * unit_.lanes) != 0) vectors /= 2;
    const std::string parts = unused_name(result_.program[nest.update->buffer].name + "_parts");
    const LoopName init = *loop::parse_loop_name(parts + ".i0"), whole = *loop::parse_loop_name(parts + ".d0");
    if (!apply(Split{name, vectors * unit_.lanes, Tail::kCut}) || !apply(ReductionFactor{inner, parts}) ||
        !apply(Mark{inner, LoopKind::kVector}) || !apply(Mark{init, LoopKind::kVector}))
      return false;
    if (vectors == 1) return true;
    const std::string last = unused_name(parts + "1");
    const LoopName last_init = *loop::parse_loop_name(last + ".i0"), last_whole = *loop::parse_loop_name(last + ".d0");
    return apply(Split{whole, unit_.lanes}) && apply(ReductionFactor{extended(whole, 1), last}) &&
           apply(Mark{extended(whole, 0), LoopKind::kUnroll}) && apply(Mark{extended(whole, 1), LoopKind::kVector}) &&
           apply(Mark{last_init, LoopKind::kVector}) && apply(Mark{last_whole, LoopKind::kUnroll});
  }

  /// Innermost loops whose iterations are independent and move what they store by 1.
  void vectorise_inner(const LoopName& root) {
    const Loop* loop = loop_named(root);
    if (loop == nullptr) return;
    std::vector<LoopName> inner;
    for_each_loop(Body(1, Statement(*loop)), [&](const Loop& each) {
      const bool is_inner = std::ranges::all_of(each.body, [&](const Statement& s) {
        return s.store() != nullptr &&
               stride_of(result_.program, s.store()->buffer, s.store()->at, each.axis, {}) == std::int64_t{1};
      });
      if (is_inner && !each.body.empty()) inner.push_back(name_of_loop(each));
    });
    for (const LoopName& name : inner) (void)apply(Mark{name, LoopKind::kVector});
  }

  /// The loop that moves what is stored by 1; null: none does.
  [[nodiscard]] const Loop* lanes_of(const Nest& nest) const {
    const Loop* lanes = nullptr;
    for (const Loop* loop : nest.outer) {
      if (stride(nest.stored(), *loop, nest) == std::int64_t{1} && (lanes == nullptr || extent(*loop) > extent(*lanes)))
        lanes = loop;
    }
    return lanes != nullptr && extent(*lanes) > 1 ? lanes : nullptr;
  }

  bool schedule_chain(const Nest& nest) {
    const Loop* lanes = lanes_of(nest);
    if (lanes == nullptr) return false;
    if (const Loop* across = across_of(nest, *lanes)) return schedule_transposition(nest, *lanes, *across);
    const LoopName name = name_of_loop(*lanes);
    Reorder order;
    for (const Loop* loop : nest.outer) {
      if (loop != lanes) order.loops.push_back(name_of_loop(*loop));
    }
    order.loops.push_back(name);
    if (lanes != nest.outer.back() && !apply(std::move(order))) return false;
    return apply(Mark{name, LoopKind::kVector});
  }

  /// The loop that moves by 1 what lanes would gather, if it has more iterations than a vector has lanes.
  [[nodiscard]] const Loop* across_of(const Nest& nest, const Loop& lanes) const {
    for (const ValueExpr& load : loads_in(nest.result->value)) {
      if (stride(load, lanes, nest).value_or(1) <= 1) continue;
      for (const Loop* loop : nest.outer) {
        if (loop != &lanes && extent(*loop) > unit_.lanes && stride(load, *loop, nest) == std::int64_t{1}) return loop;
      }
    }
    return nullptr;
  }
  /// All that is across a vector's lanes in turn: so what is gathered is in the first cache when the next needs it.
  bool schedule_transposition(const Nest& nest, const Loop& lanes, const Loop& across) {
    const LoopName name = name_of_loop(lanes), across_name = name_of_loop(across);
    Reorder order;
    for (const Loop* loop : nest.outer)
      if (loop != &lanes && loop != &across) order.loops.push_back(name_of_loop(*loop));
    order.loops.push_back(name);
    order.loops.push_back(across_name);
    if (!apply(order)) return false;
    const std::set<std::string> before = names();
    if (!apply(Split{name, unit_.lanes, Tail::kCut})) return false;
    const LoopName inner = extended(name, 1);
    std::vector<LoopName> tail;  // Its lanes, and what is across.
    for (const LoopName& added : names_since(before)) {
      if (added != inner && added != extended(name, 0)) tail.push_back(added);
    }
    const auto vectorise = [&](const LoopName& vector, const LoopName& each) {
      return apply(Reorder{{each, vector}}) && apply(Mark{vector, LoopKind::kVector});
    };
    const bool is_whole = loop_named(inner) == nullptr || vectorise(inner, across_name);
    return is_whole && (tail.size() < 2 || vectorise(tail[0], tail[1]));
  }

  // --- contractions ----------------------------------------------------------------------------------------------

  /// The loop that some of what is multiplied follows and other does not; of these the one that moves the result least.
  [[nodiscard]] const Loop* places_of(const Nest& nest, const Loop* lanes) const {
    const auto loads = loads_in(nest.update->value);
    const Loop* places = nullptr;
    std::int64_t least = 0;
    for (const Loop* loop : nest.outer) {
      const auto moved = stride(nest.stored(), *loop, nest);
      const auto follows = [&](const ValueExpr& load) { return names_axis(load.indices(), loop->axis); };
      const bool is_shared = loads.size() < 2 || !std::ranges::all_of(loads, follows);
      if (loop == lanes || extent(*loop) < 2 || !moved || !is_shared || std::ranges::none_of(loads, follows)) continue;
      if (places == nullptr || *moved < least) places = loop, least = *moved;
    }
    return places;
  }

  [[nodiscard]] std::int64_t bytes_of(BufferId buffer) const {
    std::int64_t count = 4;
    for (const IndexExpr& size : result_.program[buffer].sizes) count *= *size.number();
    return count;
  }

  bool schedule_contraction(const Nest& nest) {
    const Loop* lanes = lanes_of(nest);
    if (lanes == nullptr) return false;
    const bool are_uniform = std::ranges::none_of(
        nest.conditions, [&](const IndexCondition& condition) { return names_axis(condition, lanes->axis); });
    if (!are_uniform) return false;
    const std::int64_t vectors = (extent(*lanes) + unit_.lanes - 1) / unit_.lanes;
    const Loop* places = nest.has_conditions ? nullptr : places_of(nest, lanes);
    const Tile tile = nest.has_conditions
                          ? Tile{1, guarded_vectors(vectors)}
                          : best_tile(places == nullptr ? 1 : extent(*places), vectors, unit_.registers);
    const std::int64_t width = std::min(tile.vectors * unit_.lanes, extent(*lanes));
    const auto panels = packed_loads(nest, *lanes, width, places != nullptr);
    if (!panels) return false;

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
      (is_batch || 2 * weights <= unit_.cache_bytes ? batch : rest).push_back(name_of_loop(*loop));
    }
    order.loops = batch;
    order.loops.push_back(lanes_name);
    order.loops.insert(order.loops.end(), rest.begin(), rest.end());
    if (places_name) order.loops.push_back(*places_name);
    if (order.loops.size() > 1 && !apply(order)) return false;

    const std::set<std::string> before = names();
    if (!apply(Split{lanes_name, width, Tail::kCut})) return false;
    std::vector<LoopName> parts = {extended(lanes_name, 1)};
    for (const LoopName& added : names_since(before)) {
      if (added == parts[0] || added == extended(lanes_name, 0)) continue;
      parts.push_back(added);  // The first is the tail; loops in it are copies.
      break;
    }
    for (const LoopName& part : parts) {
      if (!schedule_panel(part, tile.places)) return false;
    }
    for (const Pack& pack : *panels) {
      if (!apply(pack)) return false;
    }
    return true;
  }
  /// What is to lie in panels: weights, and, if it is read again and again, what lanes would gather. Nothing: some load
  /// cannot.
  [[nodiscard]] std::optional<std::vector<Pack>> packed_loads(const Nest& nest, const Loop& lanes, std::int64_t width,
                                                              bool is_read_again) const {
    std::vector<Pack> packs;
    for (const ValueExpr& load : loads_in(nest.update->value)) {
      const auto moved = stride(load, lanes, nest);
      if (!names_axis(load.indices(), lanes.axis)) continue;
      const Buffer& buffer = result_.program[load.buffer()];
      const bool is_weight = buffer.role == BufferRole::kWeight;
      const bool can =
          (is_weight || (is_read_again && buffer.role == BufferRole::kInput)) && is_read_once(load.buffer());
      const auto pack = can ? packed(load, nest, lanes, width) : std::nullopt;
      if (pack && (is_weight || moved != std::int64_t{1})) {
        if (std::ranges::find(packs, pack->buffer, &Pack::buffer) == packs.end()) packs.push_back(*pack);
      } else if (moved.value_or(2) > 1 && !is_grouped(load, lanes)) {
        return std::nullopt;
      }
    }
    return packs;
  }
  /// Several lanes read one place, neighbours the next: within a vector of memory.
  [[nodiscard]] static bool is_grouped(const ValueExpr& load, const Loop& lanes) {
    return std::ranges::all_of(load.indices(), [&](const IndexExpr& index) {
      const auto form = loop::linear(index);
      return form && form->coefficient(IndexExpr(lanes.axis)) == 0;
    });
  }
  [[nodiscard]] bool is_read_once(BufferId buffer) const {
    const auto all = loop::accesses(result_.program);
    return std::ranges::count_if(all, [&](const loop::Access& a) { return a.buffer == buffer; }) == 1;
  }
  /// Outer dimensions, blocks of lanes, dimensions in the order of the sums, lanes.
  [[nodiscard]] std::optional<Pack> packed(const ValueExpr& load, const Nest& nest, const Loop& lanes,
                                           std::int64_t width) const {
    const auto at = load.indices();
    std::optional<std::size_t> lane_dimension;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (!names_axis(at[d], lanes.axis)) continue;
      const auto form = loop::linear(at[d]);
      if (lane_dimension || !form || form->coefficient(IndexExpr(lanes.axis)) != 1) return std::nullopt;
      if (form->terms.size() > 1) {
        for (const auto& [atom, coefficient] : form->terms) {
          if (atom != IndexExpr(lanes.axis) && coefficient % width != 0) return std::nullopt;
        }
        if (extent(lanes) % width != 0) return std::nullopt;
      }
      if (form->constant % width != 0) return std::nullopt;
      lane_dimension = d;
    }
    if (!lane_dimension) return std::nullopt;
    const std::vector<const Loop*> sums = order_of_sums(nest);
    std::vector<std::pair<std::size_t, std::size_t>> inner;  ///< By the innermost sum that each dimension follows.
    Pack pack{result_.program[load.buffer()].name, result_.program[load.buffer()].name + "_panels", {}, true};
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (d == *lane_dimension) continue;
      std::size_t rank = 0;
      for (std::size_t r = 0; r < sums.size(); ++r) {
        if (names_axis(at[d], sums[r]->axis)) rank = r + 1;
      }
      if (rank == 0)
        pack.parts.push_back({d, LayoutPart::Kind::kWhole, 1});
      else
        inner.emplace_back(rank, d);
    }
    std::ranges::sort(inner);
    pack.parts.push_back({*lane_dimension, LayoutPart::Kind::kBlock, width});
    for (const auto& [rank, d] : inner) pack.parts.push_back({d, LayoutPart::Kind::kWhole, 1});
    pack.parts.push_back({*lane_dimension, LayoutPart::Kind::kInBlock, width});
    return pack;
  }
  /// The one that moves what is not a weight most is outermost.
  [[nodiscard]] std::vector<const Loop*> order_of_sums(const Nest& nest) const {
    std::vector<const Loop*> sums = nest.reduced;
    const auto loads = loads_in(nest.update->value);
    const auto found = std::ranges::find_if(
        loads, [&](const ValueExpr& load) { return result_.program[load.buffer()].role != BufferRole::kWeight; });
    if (found == loads.end()) return sums;
    std::ranges::stable_sort(sums, std::greater(),
                             [&](const Loop* loop) { return stride(*found, *loop, nest).value_or(0); });
    return sums;
  }

  /// Tiles of one panel: the loop of its lanes, around the other loops.
  bool schedule_panel(const LoopName& lanes, std::int64_t most_places) {
    const Nest nest = *nest_at(*loop_named(lanes));
    const Loop* places = nest.has_conditions ? nullptr : places_of(nest, nest.outer.front());
    if (places != nullptr && places != nest.outer.back()) places = nullptr;
    Reorder order;
    for (const Loop* loop : nest.outer) {
      if (loop != nest.outer.front()) order.loops.push_back(name_of_loop(*loop));
    }
    order.loops.push_back(lanes);
    const auto places_name = places == nullptr ? std::nullopt : std::optional(name_of_loop(*places));
    const std::int64_t count = places == nullptr ? 1 : extent(*places);
    if (order.loops.size() > 1 && !apply(order)) return false;
    if (!places_name) return split_whole(lanes) && schedule_tile(std::nullopt, extended(lanes, 1));
    const std::set<std::string> before = names();
    if (!apply(Split{*places_name, std::min(most_places, count), Tail::kCut})) return false;
    const LoopName inner = extended(*places_name, 1);
    std::vector<LoopName> tail;
    for (const LoopName& added : names_since(before)) {
      if (added != inner && added != extended(*places_name, 0)) tail.push_back(added);
    }
    if (!schedule_tile(inner, lanes)) return false;
    if (tail.empty()) return true;  // Otherwise: places, and lanes in them.
    return split_whole(tail[0]) && schedule_tile(extended(tail[0], 1), tail[1]);
  }
  /// A loop of one iteration around it, which owns its tile.
  bool split_whole(const LoopName& name) { return apply(Split{name, extent(*loop_named(name))}); }

  /// A tile of places, and of lanes in them, in registers.
  bool schedule_tile(const std::optional<LoopName>& places, const LoopName& lanes) {
    const Nest nest = *nest_at(*loop_named(lanes));
    Reorder order;
    for (const Loop* loop : order_of_sums(nest)) order.loops.push_back(name_of_loop(*loop));
    if (places) order.loops.push_back(*places);
    order.loops.push_back(lanes);
    const bool is_direct = nest.result == nullptr;
    const std::string target = result_.program[nest.stored().buffer].name;
    std::size_t lane_dimension = 0;
    while (!names_axis(nest.stored().at[lane_dimension], nest.outer.back()->axis)) ++lane_dimension;

    std::set<std::string> before = names();
    if (!apply(Distribute{lanes})) return false;
    std::vector<LoopName> vectors = names_since(before);
    vectors.push_back(lanes);
    std::vector<LoopName> unrolled;
    if (places) {
      before = names();
      if (!apply(Distribute{*places})) return false;
      unrolled = names_since(before);
      unrolled.push_back(*places);
    }
    if (!apply(order)) return false;
    if (is_direct) {
      const auto path = path_to(result_.program, order.loops.front());
      if (path->size() < 2) return false;
      const auto around = loops_to(result_.program, *path);
      before = names();
      const std::string cache = unused_name(target + "_tile");
      if (!apply(CacheWrite{target, name_of_loop(*around[around.size() - 2]), cache})) return false;
      for (const LoopName& added : names_since(before)) {
        const bool is_lane = added.parts[0].axis.substr(1) == std::to_string(lane_dimension);
        (is_lane ? vectors : unrolled).push_back(added);
      }
    }
    for (const LoopName& name : unrolled) {
      if (!apply(Mark{name, LoopKind::kUnroll})) return false;
    }
    return std::ranges::all_of(vectors, [&](const LoopName& name) { return apply(Mark{name, LoopKind::kVector}); });
  }
  [[nodiscard]] std::string unused_name(const std::string& stem) const {
    std::string name = stem;
    for (int i = 1; !is_free_name(result_.program, name); ++i) name = stem + std::to_string(i);
    return name;
  }

  VectorUnit unit_;
  OneShot result_;
};

}  // namespace

OneShot one_shot(const loop::Program& program, const VectorUnit& unit) { return Scheduling(program, unit).run(); }

}  // namespace rewright::schedule
