// The schedule of a sketch whose numbers are chosen.
#include <algorithm>

#include "schedule/nest_scheduling.h"
#include "schedule/one_shot.h"
#include "schedule/sketch.h"
#include "schedule/sketch_plans.h"

namespace rewright::schedule {
namespace {

using loop::LoopKind;

constexpr std::int64_t kMostUnrolled = 64;  ///< Vectors in the body of a loop.

std::int64_t divisor_below(std::int64_t number, std::int64_t most) {
  std::int64_t divisor = std::max<std::int64_t>(1, std::min(number, most));
  while (number % divisor != 0) --divisor;
  return divisor;
}

/// The choices of one stage.
struct Chosen {
  PlanKnobs knobs;
  std::span<const std::int64_t> choices;
  [[nodiscard]] std::int64_t number(std::optional<std::size_t> knob, std::int64_t otherwise) const {
    if (!knob) return otherwise;
    const SketchKnob& which = knobs.knobs[*knob];
    return which.numbers.empty() ? choices[*knob] : which.numbers[static_cast<std::size_t>(choices[*knob])];
  }
};

class SketchScheduling : private NestScheduling {
 public:
  SketchScheduling(const Program& program, const SketchOptions& options)
      : NestScheduling(OneShot{{}, program}, options.unit), options_(options) {}

  std::optional<OneShot> run(const Sketch& sketch, const Choices& choices) && {
    for (const StagePlan& plan : sketch.stages) {
      if (plan.form == StageForm::kInline && !apply(Inline{plan.stage})) return std::nullopt;
    }
    for (const LoopName& root : loops_of(program().body)) fuse_lanes(root);
    for (const StagePlan& plan : sketch.stages) {
      if (plan.form == StageForm::kInline || plan.form == StageForm::kAtReader) continue;
      const std::span<const std::int64_t> own(choices.begin() + static_cast<std::ptrdiff_t>(plan.first_knob),
                                              plan.knob_count);
      if (plan.form == StageForm::kReader ? !schedule_reader(sketch, plan, own) : !schedule(plan, own))
        return std::nullopt;
    }
    return std::move(*this).take();
  }

 private:
  bool schedule(const StagePlan& plan, std::span<const std::int64_t> choices) {
    const Loop* root = loop_named(plan.root);
    if (root == nullptr) return false;
    const auto nest = nest_at(*root);
    if (plan.form == StageForm::kPlain || !nest) {
      const bool is_chain = nest && nest->update == nullptr && attempt([&] { return schedule_chain(*nest); });
      if (!is_chain) vectorise_inner(plan.root);
      return true;
    }
    const Chosen chosen{knobs_of(program(), *nest, plan.stage, plan.form, options_), choices};
    if (chosen.knobs.knobs.size() != plan.knob_count) return false;
    if (plan.form == StageForm::kPartsInLanes) return schedule_row(*nest, chosen.number(chosen.knobs.vectors, 1));
    if (plan.form == StageForm::kPartsOutside) return schedule_parts(*nest, plan, chosen);
    return schedule_tiles(*nest, plan.form, chosen);
  }

  /// Each part of the longest sum on its own.
  bool schedule_parts(const Nest& nest, const StagePlan& plan, const Chosen& chosen) {
    const Loop* longest = nest.reduced.front();
    for (const Loop* sum : nest.reduced) {
      if (extent(*sum) > extent(*longest)) longest = sum;
    }
    const std::int64_t parts = divisor_below(extent(*longest), chosen.number(chosen.knobs.vectors, 1));
    if (parts < 2) return false;
    const LoopName name = name_of_loop(*longest);
    if (!apply(Split{name, extent(*longest) / parts}) ||
        !apply(ReductionFactor{extended(name, 0), unused_name(plan.stage + "_parts")}))
      return false;
    vectorise_inner(plan.root);
    return true;
  }

  /// What is read there is computed in front of what reads it, the last in the program first.
  bool schedule_reader(const Sketch& sketch, const StagePlan& plan, std::span<const std::int64_t> choices) {
    const Loop* root = loop_named(plan.root);
    const auto nest = root == nullptr ? std::nullopt : nest_at(*root);
    if (!nest) return false;
    const Chosen chosen{knobs_of(program(), *nest, plan.stage, plan.form, options_), choices};
    const Loop& around = *nest->outer[static_cast<std::size_t>(chosen.number(chosen.knobs.depth, 1) - 1)];
    LoopName location = name_of_loop(around);
    const std::int64_t at_once = divisor_below(extent(around), chosen.number(chosen.knobs.at_once, 1));
    if (at_once > 1) {
      if (!apply(Split{location, at_once})) return false;
      location = extended(location, 0);
    }
    for (std::size_t i = sketch.stages.size(); i-- > 0;) {
      const StagePlan& read = sketch.stages[i];
      if (read.form != StageForm::kAtReader || read.reader != plan.root) continue;
      if (!apply(ComputeAt{read.stage, location, unused_name(read.stage + "_part")})) return false;
      if (loop_named(read.root) != nullptr) return false;  // It is read elsewhere, too.
    }
    go_on(one_shot(so_far(), loops_of(loop_named(location)->body), options_.unit));
    return true;
  }

  // --- tiles -----------------------------------------------------------------------------------------------------

  /// A loop of results in one of the nests that the tails leave.
  struct LeafLoop {
    LoopName name;
    std::size_t outer = 0;  ///< Its number in the nest that all came of.
    bool is_tile = false;
  };
  using Leaf = std::vector<LeafLoop>;  ///< Outermost first.

  bool schedule_tiles(const Nest& nest, StageForm form, const Chosen& chosen) {
    const Loop* lanes = lanes_of(program(), nest);
    const auto at = static_cast<std::size_t>(std::ranges::find(nest.outer, lanes) - nest.outer.begin());
    const std::int64_t width = chosen.number(chosen.knobs.vectors, 1);
    const auto rows = static_cast<std::size_t>(chosen.number(chosen.knobs.rows, 0));
    const std::int64_t places = rows == 0 ? 1 : chosen.number(chosen.knobs.places, 1);
    if (rows != 0 && places > extent(*nest.outer[rows - 1])) return false;
    const std::int64_t vectors = (width + unit().lanes - 1) / unit().lanes;
    if (places * vectors + vectors + 1 > unit().registers) return false;
    const Panels panels = panels_of(program(), nest, *lanes, width, true);
    if (panels.gathers) return false;
    std::vector<Pack> packs;
    for (const Pack& pack : panels.packs) {
      if (chosen.number(chosen.knobs.panels, 1) != 0 || gathers_without(nest, *lanes, pack)) packs.push_back(pack);
    }
    Leaf whole;
    moving_.clear();
    for (std::size_t i = 0; i < nest.outer.size(); ++i) {
      whole.push_back({name_of_loop(*nest.outer[i]), i, false});
      moving_.push_back(extent(*nest.outer[i]) > 1);
    }
    std::vector<Leaf> leaves;
    if (!cut(whole, at, width, leaves)) return false;
    if (rows != 0 && places > 1) {
      std::vector<Leaf> finer;
      for (const Leaf& leaf : leaves) {
        if (!cut(leaf, rows - 1, places, finer)) return false;
      }
      leaves = std::move(finer);
    }
    for (const Leaf& leaf : leaves) {
      if (!schedule_leaf(leaf, at, form, chosen, vectors * places)) return false;
    }
    return std::ranges::all_of(packs, [&](const Pack& pack) { return apply(pack); });
  }
  [[nodiscard]] bool gathers_without(const Nest& nest, const Loop& lanes, const Pack& pack) const {
    return std::ranges::any_of(loads_in(nest.update->value), [&](const ValueExpr& load) {
      return program()[load.buffer()].name == pack.buffer &&
             stride_of(program(), load.buffer(), load.indices(), lanes.axis, nest.loops()).value_or(2) > 1;
    });
  }

  /// Tiles of a loop, the rest as a nest of its own.
  bool cut(Leaf leaf, std::size_t outer, std::int64_t size, std::vector<Leaf>& into) {
    const auto found = std::ranges::find(leaf, outer, &LeafLoop::outer);
    if (found != leaf.begin()) {
      std::rotate(leaf.begin(), found, found + 1);
      Reorder order;
      for (const LeafLoop& each : leaf) order.loops.push_back(each.name);
      if (!apply(order)) return false;
    }
    const LoopName name = leaf.front().name;
    const std::int64_t all = extent(*loop_named(name));
    if (size >= all) {
      leaf.front().is_tile = true;
      into.push_back(std::move(leaf));
      return true;
    }
    const std::set<std::string> before = names();
    if (!apply(Split{name, size, Tail::kCut})) return false;
    Leaf tail = leaf;
    leaf.front().name = extended(name, 0);
    leaf.insert(leaf.begin() + 1, {extended(name, 1), outer, true});
    into.push_back(leaf);
    if (all % size == 0) return true;
    std::vector<LoopName> copies = names_since(before);
    std::erase_if(copies, [&](const LoopName& copy) { return copy == leaf[0].name || copy == leaf[1].name; });
    if (copies.size() < tail.size()) {  // A tail of one iteration has no loop.
      tail.erase(tail.begin());
    } else {
      tail.front().is_tile = true;
    }
    if (tail.empty() || copies.size() < tail.size()) return false;
    for (std::size_t i = 0; i < tail.size(); ++i) tail[i].name = copies[i];
    into.push_back(std::move(tail));
    return true;
  }

  bool schedule_leaf(const Leaf& leaf, std::size_t lanes, StageForm form, const Chosen& chosen,
                     std::int64_t tile_vectors) {
    const TileLevels levels = levels_of(options_.structure, form);
    std::vector<std::pair<LoopName, std::size_t>> sums;  // With their numbers in the nest.
    {
      const Nest nest = *nest_at(*loop_named(leaf.front().name));
      for (const Loop* sum : order_of_sums(program(), nest)) {
        const auto number = std::ranges::find(nest.reduced, sum) - nest.reduced.begin();
        sums.emplace_back(name_of_loop(*sum), number);
      }
    }
    std::vector<std::vector<LeafLoop>> by_level(levels.outer + levels.blocks);
    TileLoops tile;
    bool has_lanes = false;
    for (const LeafLoop& each : leaf) {
      if (!each.is_tile) {
        if (!split_in_levels(each, chosen, by_level)) return false;
      } else if (each.outer == lanes) {
        has_lanes = true;
        tile.lanes = each.name;
      } else {
        tile.places = each.name;
      }
    }
    if (!has_lanes) {  // One element is left over.
      vectorise_inner(leaf.front().name);
      return true;
    }
    for (const auto& [name, number] : sums) {
      if (!split_sum(name, chosen.number(chosen.knobs.sums[number], 0), tile)) return false;
    }
    std::vector<LoopName> outer;
    put_in_order(by_level.front(), chosen);
    for (std::size_t level = 0; level < by_level.size(); ++level) {
      std::vector<LoopName>& into = level < levels.outer ? outer : tile.blocks;
      for (const LeafLoop& each : by_level[level]) into.push_back(each.name);
    }
    Reorder order{outer};
    order.loops.insert(order.loops.end(), tile.blocks.begin(), tile.blocks.end());
    if (tile.places) order.loops.push_back(*tile.places);
    order.loops.push_back(tile.lanes);
    if (order.loops.size() > 1 && !apply(order)) return false;
    if (outer.empty() && !own(tile, outer)) return false;
    tile.in_place = form == StageForm::kTileInPlace;
    if (tile.in_place) tile.whole = outer;
    if (!schedule_tile(tile) || !unroll(tile.sums, chosen, tile_vectors)) return false;
    const bool is_parallel = chosen.number(chosen.knobs.parallel, 0) != 0;
    return !is_parallel || apply(Mark{outer.front(), LoopKind::kParallel});
  }

  /// The largest divisors that are at most what is wished, the innermost level first.
  bool split_in_levels(const LeafLoop& each, const Chosen& chosen, std::vector<std::vector<LeafLoop>>& by_level) {
    std::int64_t left = extent(*loop_named(each.name)), inside = 1;
    std::vector<std::int64_t> sizes(by_level.size(), 1);
    const auto& wishes = chosen.knobs.blocks[each.outer];
    for (std::size_t level = by_level.size(); level-- > 1;) {
      sizes[level] = divisor_below(left, chosen.number(wishes[level - 1], 1));
      left /= sizes[level];
      inside *= sizes[level];
    }
    sizes[0] = left;
    if (left == 1 && inside == 1) {  // It is in nobody's way outside.
      by_level[0].push_back(each);
      return true;
    }
    LeafLoop rest = each;
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      if (level > 0) inside /= sizes[level];
      if (sizes[level] == 1) continue;
      if (inside > 1) {
        if (!apply(Split{rest.name, inside})) return false;
        by_level[level].push_back({extended(rest.name, 0), each.outer, false});
        rest.name = extended(rest.name, 1);
      } else {
        by_level[level].push_back(rest);
        break;
      }
    }
    return true;
  }
  /// Loops of the outermost level.
  void put_in_order(std::vector<LeafLoop>& loops, const Chosen& chosen) const {
    if (!chosen.knobs.order) return;
    const auto order =
        order_number(chosen.knobs.knobs[*chosen.knobs.order].loops, chosen.number(chosen.knobs.order, 0));
    std::vector<std::size_t> rank(moving_.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = moving_[i] ? order[next++] : 0;
    std::ranges::stable_sort(loops, {}, [&](const LeafLoop& each) { return rank[each.outer]; });
  }
  bool split_sum(const LoopName& name, std::int64_t wish, TileLoops& tile) {
    const std::int64_t all = extent(*loop_named(name));
    const std::int64_t at_once = wish == 0 ? all : divisor_below(all, wish);
    if (at_once == all) {
      tile.sums.push_back(name);
      return true;
    }
    if (!apply(Split{name, at_once})) return false;
    tile.outer_sums.push_back(extended(name, 0));
    tile.sums.push_back(extended(name, 1));
    return true;
  }
  /// A loop of one iteration around all.
  bool own(TileLoops& tile, std::vector<LoopName>& outer) {
    LoopName& first = !tile.blocks.empty() ? tile.blocks.front() : tile.places ? *tile.places : tile.lanes;
    if (!split_whole(first)) return false;
    outer.push_back(extended(first, 0));
    first = extended(first, 1);
    return true;
  }
  /// Innermost sums, as many as the body of a loop may have.
  bool unroll(const std::vector<LoopName>& sums, const Chosen& chosen, std::int64_t tile_vectors) {
    std::int64_t left =
        std::min(chosen.number(chosen.knobs.unroll, 1), std::max<std::int64_t>(1, kMostUnrolled / tile_vectors));
    for (std::size_t i = sums.size(); i-- > 0 && left > 1;) {
      const std::int64_t all = extent(*loop_named(sums[i]));
      if (all <= left) {
        if (!apply(Mark{sums[i], LoopKind::kUnroll})) return false;
        left /= all;
        continue;
      }
      const std::int64_t part = divisor_below(all, left);
      return part == 1 || (apply(Split{sums[i], part}) && apply(Mark{extended(sums[i], 1), LoopKind::kUnroll}));
    }
    return true;
  }

  const SketchOptions& options_;
  std::vector<bool> moving_;  ///< By loop of the nest: has it more than one iteration?
};

std::optional<OneShot> by_plans(const Sketch& sketch, const loop::Program& program, const SketchOptions& options,
                                const Choices& choices) {
  if (!sketch.given) return SketchScheduling(program, options).run(sketch, choices);
  const Choices all = completed(*sketch.given, choices);
  if (!is_allowed(*sketch.given, all)) return std::nullopt;
  auto steps = schedule_of(*sketch.given, all);
  if (!steps) return std::nullopt;
  auto made = schedule::apply(program, *steps);
  if (!made) return std::nullopt;
  return OneShot{std::move(*steps), std::move(made->program)};
}

}  // namespace

std::optional<OneShot> realised(const Sketch& sketch, const loop::Program& program, const SketchOptions& options,
                                const Choices& choices) {
  auto made = by_plans(sketch, program, options, choices);
  if (made && options.finish) made->program = options.finish(made->program);
  return made;
}

}  // namespace rewright::schedule
