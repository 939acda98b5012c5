#include "schedule/nest_scheduling.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "schedule/read_box.h"

namespace rewright::schedule {
namespace {

using loop::LoopKind;

std::optional<std::int64_t> stride(const Program& program, const loop::Store& store, const Loop& loop,
                                   const Nest& nest) {
  return stride_of(program, store.buffer, store.at, loop.axis, nest.outer);
}
std::optional<std::int64_t> stride(const Program& program, const ValueExpr& load, const Loop& loop, const Nest& nest) {
  return stride_of(program, load.buffer(), load.indices(), loop.axis, nest.loops());
}

/// floor((8 a + b) / 8) does not follow b < 8.
bool follows(const ValueExpr& load, const Loop& loop, const Nest& nest) {
  const std::vector<const Loop*> loops = nest.loops();
  return std::ranges::any_of(load.indices(), [&](const IndexExpr& index) {
    return names_axis(index, loop.axis) && names_axis(loop::simplified(index, loop::ranges_of(loops)), loop.axis);
  });
}
constexpr std::int64_t kNear =
    2;  ///< Lanes that are so far apart, at most, are loaded as vectors; others are gathered.

/// The loop that moves by 1 what lanes would gather, if it has more iterations than a vector has lanes.
const Loop* across_of(const Program& program, const Nest& nest, const Loop& lanes, std::int64_t width) {
  for (const ValueExpr& load : loads_in(nest.result->value)) {
    if (stride(program, load, lanes, nest).value_or(1) <= 1) continue;
    for (const Loop* loop : nest.outer) {
      if (loop != &lanes && extent(*loop) > width && stride(program, load, *loop, nest) == std::int64_t{1}) return loop;
    }
  }
  return nullptr;
}
/// Several lanes read one place, neighbours the next: within a vector of memory.
bool is_grouped(const ValueExpr& load, const Loop& lanes) {
  return std::ranges::all_of(load.indices(), [&](const IndexExpr& index) {
    const auto form = loop::linear(index);
    return form && form->coefficient(IndexExpr(lanes.axis)) == 0;
  });
}
/// Outer dimensions, blocks of lanes, dimensions in the order of the sums, lanes.
std::optional<Pack> packed(const Program& program, const ValueExpr& load, const Nest& nest, const Loop& lanes,
                           std::int64_t width) {
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
  const std::vector<const Loop*> sums = order_of_sums(program, nest);
  std::vector<std::pair<std::size_t, std::size_t>> inner;  ///< By the innermost sum that each dimension follows.
  Pack pack{program[load.buffer()].name, program[load.buffer()].name + "_panels", {}, true};
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (d == *lane_dimension) continue;
    const std::size_t rank = rank_of(at[d], sums);
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

}  // namespace

bool is_read_once(const Program& program, BufferId buffer) {
  const auto all = loop::accesses(program);
  return std::ranges::count_if(all, [&](const loop::Access& a) { return a.buffer == buffer; }) == 1;
}
std::size_t rank_of(const IndexExpr& index, std::span<const Loop* const> sums) {
  std::size_t rank = sums.size();
  while (rank > 0 && !names_axis(index, sums[rank - 1]->axis)) --rank;
  return rank;
}

std::int64_t extent(const Loop& loop) { return *loop.extent.number(); }
LoopName name_of_loop(const Loop& loop) { return *loop::parse_loop_name(loop.axis.name); }
std::vector<LoopName> loops_of(const Body& body) {
  std::vector<LoopName> names;
  for (const Statement& statement : body) {
    if (statement.loop() != nullptr) names.push_back(name_of_loop(*statement.loop()));
  }
  return names;
}

const Loop* lanes_of(const Program& program, const Nest& nest) {
  const Loop* lanes = nullptr;
  for (const Loop* loop : nest.outer) {
    if (stride(program, nest.stored(), *loop, nest) == std::int64_t{1} &&
        (lanes == nullptr || extent(*loop) > extent(*lanes)))
      lanes = loop;
  }
  return lanes != nullptr && extent(*lanes) > 1 ? lanes : nullptr;
}

std::vector<const Loop*> order_of_sums(const Program& program, const Nest& nest) {
  std::vector<const Loop*> sums = nest.reduced;
  const auto loads = loads_in(nest.update->value);
  const auto found = std::ranges::find_if(
      loads, [&](const ValueExpr& load) { return program[load.buffer()].role != BufferRole::kWeight; });
  if (found == loads.end()) return sums;
  std::ranges::stable_sort(sums, std::greater(),
                           [&](const Loop* loop) { return stride(program, *found, *loop, nest).value_or(0); });
  return sums;
}

std::optional<Split> split_in_groups(const Nest& nest, const Loop& lanes, std::int64_t vector) {
  for (const Loop* loop : nest.outer) {
    const auto group_size = [&](const IndexExpr& index, const auto& self) -> std::int64_t {
      if (index.kind() == IndexExpr::Kind::kFloor && index.operands()[0] == IndexExpr(loop->axis))
        return index.operands()[1].number().value_or(0);
      for (const IndexExpr& part : index.operands()) {
        if (const std::int64_t size = self(part, self); size > 0) return size;
      }
      return 0;
    };
    for (const ValueExpr& load : loads_in(nest.update->value)) {
      for (const IndexExpr& index : load.indices()) {
        const std::int64_t size = group_size(index, group_size);
        const bool is_even = size > 0 && (size % vector == 0 || vector % size == 0);
        if (size > 1 && extent(*loop) > size && extent(*loop) % size == 0 && !(loop == &lanes && is_even))
          return Split{name_of_loop(*loop), size};
      }
    }
  }
  return std::nullopt;
}

const Loop* places_of(const Program& program, const Nest& nest, const Loop* lanes) {
  const auto loads = loads_in(nest.update->value);
  // Vectors that all places of a tile read alike are loaded once; what is different is one number for all lanes.
  const auto shares_vectors = [&](const Loop& loop) {
    return lanes != nullptr && std::ranges::none_of(loads, [&](const ValueExpr& load) {
             return follows(load, *lanes, nest) && follows(load, loop, nest);
           });
  };
  const Loop* places = nullptr;
  std::pair<bool, std::int64_t> least;
  for (const Loop* loop : nest.outer) {
    const auto moved = stride(program, nest.stored(), *loop, nest);
    const auto moves = [&](const ValueExpr& load) { return follows(load, *loop, nest); };
    const bool is_shared = loads.size() < 2 || !std::ranges::all_of(loads, moves);
    if (loop == lanes || extent(*loop) < 2 || !moved || !is_shared || std::ranges::none_of(loads, moves)) continue;
    const std::pair rank(!shares_vectors(*loop), *moved);
    if (places == nullptr || rank < least) places = loop, least = rank;
  }
  return places;
}

RowsOfTile rows_of(const Program& program, const Nest& nest, const Loop& lanes, const Loop& places) {
  const auto loads = loads_in(nest.update->value);
  const auto is_shared = [&](const ValueExpr& load) {
    return follows(load, lanes, nest) && !follows(load, places, nest);
  };
  const auto shared = std::ranges::find_if(loads, is_shared);
  if (loads.size() != 2 || shared == loads.end() || std::ranges::all_of(loads, is_shared)) return {};
  const ValueExpr& other = *shared == loads[0] ? loads[1] : loads[0];
  for (const Loop* rows : nest.outer) {
    if (rows == &lanes || rows == &places || extent(*rows) < 2 || follows(other, *rows, nest)) continue;
    if (!stride(program, nest.stored(), *rows, nest) || !stride(program, *shared, *rows, nest)) continue;
    for (const IndexExpr& index : shared->indices())
      for (const Loop* sum : nest.reduced)
        if (extent(*sum) > 1 && names_axis(index, rows->axis) && names_axis(index, sum->axis)) return {rows, sum};
  }
  return {};
}

Panels panels_of(const Program& program, const Nest& nest, const Loop& lanes, std::int64_t width, bool has_places) {
  Panels panels;
  for (const ValueExpr& load : loads_in(nest.update->value)) {
    const auto moved = stride(program, load, lanes, nest);
    if (!names_axis(load.indices(), lanes.axis)) continue;
    const Buffer& buffer = program[load.buffer()];
    const bool is_weight = buffer.role == BufferRole::kWeight;
    const bool is_read_again = has_places && std::ranges::any_of(nest.outer, [&](const Loop* loop) {
                                 return extent(*loop) > 1 && !names_axis(load.indices(), loop->axis);
                               });
    const bool can =
        (is_weight || (is_read_again && buffer.role == BufferRole::kInput)) && is_read_once(program, load.buffer());
    const auto pack = can ? packed(program, load, nest, lanes, width) : std::nullopt;
    if (pack && (is_weight || moved != std::int64_t{1})) {
      if (std::ranges::find(panels.packs, pack->buffer, &Pack::buffer) == panels.packs.end())
        panels.packs.push_back(*pack);
    } else if (moved.value_or(kNear + 1) > kNear && !is_grouped(load, lanes)) {
      panels.gathers = true;
    }
  }
  return panels;
}

bool NestScheduling::apply(Transform transform) {
  Outcome outcome = schedule::apply(result_.program, transform);
  if (!std::holds_alternative<Program>(outcome)) return false;
  result_.program = std::get<Program>(std::move(outcome));
  result_.steps.push_back({std::move(transform)});
  return true;
}
const Loop* NestScheduling::loop_named(const LoopName& name) const {
  const auto path = path_to(result_.program, name);
  return path ? &loop_at(result_.program, *path) : nullptr;
}
std::set<std::string> NestScheduling::names() const {
  const auto all = loop_names(result_.program);
  return {all.begin(), all.end()};
}
std::vector<LoopName> NestScheduling::names_since(const std::set<std::string>& before) const {
  std::vector<LoopName> added;
  for (const std::string& name : loop_names(result_.program)) {
    if (!before.contains(name)) added.push_back(*loop::parse_loop_name(name));
  }
  return added;
}
std::string NestScheduling::unused_name(const std::string& stem) const {
  std::string name = stem;
  for (int i = 1; !is_free_name(result_.program, name); ++i) name = stem + std::to_string(i);
  return name;
}

bool NestScheduling::schedule_row(const Nest& nest, std::int64_t most_vectors) {
  const Loop& sum = *nest.reduced.back();
  const auto loads = loads_in(nest.update->value);
  const bool is_even = std::ranges::all_of(loads, [&](const ValueExpr& load) {
    const auto moved = stride(result_.program, load, sum, nest);
    return moved == std::int64_t{0} || moved == std::int64_t{1};
  });
  if (!is_even || extent(sum) < 2 * unit_.lanes) return false;
  const LoopName name = name_of_loop(sum), inner = extended(name, 1);
  std::int64_t vectors = most_vectors;
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

void NestScheduling::vectorise_inner(const LoopName& root) {
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

bool NestScheduling::schedule_chain(const Nest& nest) {
  const Loop* lanes = lanes_of(result_.program, nest);
  if (lanes == nullptr) return false;
  if (const Loop* across = across_of(result_.program, nest, *lanes, unit_.lanes))
    return schedule_transposition(nest, *lanes, *across);
  const LoopName name = name_of_loop(*lanes);
  Reorder order;
  for (const Loop* loop : nest.outer) {
    if (loop != lanes) order.loops.push_back(name_of_loop(*loop));
  }
  order.loops.push_back(name);
  if (lanes != nest.outer.back() && !apply(std::move(order))) return false;
  return apply(Mark{name, LoopKind::kVector});
}

bool NestScheduling::schedule_transposition(const Nest& nest, const Loop& lanes, const Loop& across) {
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

namespace {

/// What is stored last in a loop.
const loop::Store& last_store(const Loop& loop) {
  const Body* body = &loop.body;
  while (body->back().store() == nullptr) body = &loop::body_of(body->back());
  return *body->back().store();
}

}  // namespace

bool NestScheduling::write_in_copy(const LoopName& lanes, const LoopName& around, TileParts& parts) {
  const Loop& loop = *loop_named(lanes);
  const loop::Store& store = last_store(loop);
  const std::string target = result_.program[store.buffer].name;
  std::size_t lane_dimension = 0;
  while (!names_axis(store.at[lane_dimension], loop.axis)) ++lane_dimension;
  const std::set<std::string> before = names();
  if (!apply(CacheWrite{target, around, unused_name(target + "_tile")})) return false;
  for (const LoopName& added : names_since(before)) {
    const bool is_lane = added.parts[0].axis.substr(1) == std::to_string(lane_dimension);
    (is_lane ? parts.vectors : parts.unrolled).push_back(added);
  }
  return true;
}

bool NestScheduling::schedule_tile(const TileLoops& loops) {
  const LoopName& innermost = loops.lanes;
  const bool is_direct = nest_at(*loop_named(innermost))->result == nullptr;
  TileParts parts{{innermost}, {}};
  const auto distribute = [&](const LoopName& name, std::vector<LoopName>* into) {
    const std::set<std::string> before = names();
    if (!apply(Distribute{name})) return false;
    if (into != nullptr) std::ranges::copy(names_since(before), std::back_inserter(*into));
    return true;
  };
  if (!distribute(innermost, &parts.vectors)) return false;
  if (loops.places) {
    if (!distribute(*loops.places, &parts.unrolled)) return false;
    parts.unrolled.push_back(*loops.places);
  }
  if (loops.rows) {
    if (!distribute(*loops.rows, &parts.unrolled)) return false;
    parts.unrolled.push_back(*loops.rows);
  }
  for (std::size_t i = loops.blocks.size(); i-- > 0;) {
    if (!distribute(loops.blocks[i], nullptr)) return false;
  }
  for (std::size_t i = is_direct ? 0 : loops.whole.size(); i-- > 0;) {
    if (!distribute(loops.whole[i], nullptr)) return false;
  }
  Reorder order;
  for (const auto* names : {&loops.outer_sums, &loops.blocks, &loops.sums})
    order.loops.insert(order.loops.end(), names->begin(), names->end());
  for (const auto& name : {loops.rows, loops.places})
    if (name) order.loops.push_back(*name);
  order.loops.push_back(innermost);
  if (order.loops.size() > 1 && !apply(order)) return false;

  const auto around = loops_to(result_.program, *path_to(result_.program, order.loops.front()));
  const std::optional<LoopName> owner =
      around.size() < 2 ? std::nullopt : std::optional(name_of_loop(*around[around.size() - 2]));
  const bool has_parts = !loops.outer_sums.empty() || !loops.blocks.empty() || loops.in_place;
  if (is_direct && !loops.in_place && (!owner || !write_in_copy(innermost, *owner, parts))) return false;
  if (has_parts) {
    const LoopName* step = !loops.blocks.empty()       ? &loops.blocks.back()
                           : !loops.outer_sums.empty() ? &loops.outer_sums.back()
                           : owner                     ? &*owner
                                                       : nullptr;
    if (step == nullptr || !write_in_copy(innermost, *step, parts)) return false;
  }
  // Copies of more than a tile stay loops.
  const auto unrolls = [&](const LoopName& name) { return extent(*loop_named(name)) <= kMostPlaces; };
  for (const LoopName& name : parts.unrolled) {
    if (unrolls(name) && !apply(Mark{name, LoopKind::kUnroll})) return false;
  }
  return std::ranges::all_of(parts.vectors, [&](const LoopName& name) { return apply(Mark{name, LoopKind::kVector}); });
}

}  // namespace rewright::schedule
