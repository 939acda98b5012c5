#include "schedule/one_shot.h"

#include <rewright/loop/linear_index.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "loop/accesses.h"
#include "schedule/apply.h"
#include "schedule/loop_tree.h"
#include "schedule/places.h"

namespace rewright::schedule {
namespace {

using loop::Store;
using loop::StoreKind;

/// Loops of which each holds the next alone, and what the last of them holds.
struct Nest {
  std::vector<const Loop*> loops;
  const Body* body = nullptr;
};
Nest nest_of(const Loop& outermost) {
  Nest nest{{&outermost}, &outermost.body};
  while (nest.body->size() == 1 && nest.body->front().loop() != nullptr) {
    nest.loops.push_back(nest.body->front().loop());
    nest.body = &nest.loops.back()->body;
  }
  return nest;
}

bool has_branch(const Body& body) {
  return std::ranges::any_of(
      body, [](const Statement& statement) { return statement.branch() != nullptr || has_branch(body_of(statement)); });
}

/// floor(axis / F) and axis mod F in an index: F by axis.
void collect_blocks(const IndexExpr& index, std::map<std::uint32_t, std::int64_t>& blocks) {
  using Kind = IndexExpr::Kind;
  if (index.kind() == Kind::kFloor || index.kind() == Kind::kModulo) {
    const IndexExpr& of = index.operands()[0];
    const auto factor = index.operands()[1].number();
    if (of.kind() == Kind::kAxis && factor) blocks[of.axis().id] = *factor;
  }
  for (const IndexExpr& part : index.operands()) collect_blocks(part, blocks);
}

/// The axis along which neighbours lie beside each other, if there is one.
std::optional<Axis> axis_of_last(std::span<const IndexExpr> at, std::span<const Loop* const> loops) {
  if (at.empty()) return std::nullopt;
  const auto form = loop::linear(at.back());
  if (!form) return std::nullopt;
  for (const Loop* loop : loops) {
    if (form->coefficient(IndexExpr(loop->axis)) == 1 && !uses_axis(at.first(at.size() - 1), loop->axis))
      return loop->axis;
  }
  return std::nullopt;
}

bool is_of(const LoopName& name, const LoopName& ancestor) {
  if (name.parts.size() != 1 || ancestor.parts.size() != 1) return false;
  const auto& part = name.parts[0];
  const auto& before = ancestor.parts[0];
  return part.stage == before.stage && part.axis == before.axis && part.path.size() >= before.path.size() &&
         std::equal(before.path.begin(), before.path.end(), part.path.begin());
}

class OneShot {
 public:
  OneShot(const Program& program, const VectorUnit& unit) : now_(program), unit_(unit) {}

  Schedule run() {
    std::vector<std::string> nests;
    for (const Statement& statement : now_.body) {
      if (statement.loop() != nullptr) nests.push_back(statement.loop()->axis.name);
    }
    for (const std::string& nest : nests) {
      const auto kept = std::pair(now_, steps_);
      if (with_blocks(nest) && (contraction(nest) || row_reduction(nest) || lanes(nest))) continue;
      std::tie(now_, steps_) = kept;
    }
    return steps_;
  }

 private:
  /// All of the steps, or none.
  bool take(const std::string& text) {
    const auto steps = parse_schedule(text);
    if (!steps) return false;
    auto made = schedule::apply(now_, *steps);
    if (!made) return false;
    now_ = std::move(made->program);
    steps_.insert(steps_.end(), steps->begin(), steps->end());
    return true;
  }
  [[nodiscard]] const Loop* find(const std::string& name) const {
    const auto path = path_to(now_, *loop::parse_loop_name(name));
    return path ? &loop_at(now_, *path) : nullptr;
  }
  /// The outermost loop of a nest, which may have been split.
  [[nodiscard]] const Loop* outermost(const std::string& name) const {
    const Loop* found = find(name);
    return found != nullptr ? found : find(name + "/0");
  }
  /// Marks all loops that have come of one.
  void mark(const char* how, const std::string& ancestor) {
    const LoopName of = *loop::parse_loop_name(ancestor);
    for (const std::string& name : loop_names(now_)) {
      if (is_of(*loop::parse_loop_name(name), of)) take(fmt::format("{} {}", how, name));
    }
  }

  /// Splits the axes that layouts divide into blocks.
  bool with_blocks(const std::string& nest) {
    const auto path = path_to(now_, *loop::parse_loop_name(nest));
    std::map<std::uint32_t, std::int64_t> blocks;
    std::map<std::uint32_t, std::string> names;
    Program alone = now_;
    alone.body = Body(1, statement_at(now_, *path));
    for (const loop::Access& access : loop::accesses(alone)) {
      for (const IndexExpr& index : access.at) collect_blocks(index, blocks);
      for (const Loop* loop : access.loops) names[loop->axis.id] = loop->axis.name;
    }
    for (const auto& [axis, factor] : blocks) {
      if (!names.contains(axis) || !take(fmt::format("split {} {}", names[axis], factor))) return false;
    }
    return true;
  }

  // --- sums of products ----------------------------------------------------------------------------------------

  /// What a nest of sums of products consists of.
  struct Sum {
    std::vector<std::string> spatial, reductions;  ///< Outermost first.
    std::vector<const Loop*> loops;                ///< All of them.
    const Store* update = nullptr;
    const Store* last = nullptr;  ///< Of the result.
  };
  [[nodiscard]] std::optional<Sum> sum_of(const std::string& name) const {
    const Loop* loop = outermost(name);
    if (loop == nullptr || has_branch(loop->body)) return std::nullopt;
    const Nest nest = nest_of(*loop);
    const Body& body = *nest.body;
    if (body.size() < 2 || body.size() > 3 || body[0].store() == nullptr || body[1].loop() == nullptr)
      return std::nullopt;
    const Nest inner = nest_of(*body[1].loop());
    if (inner.body->size() != 1 || inner.body->front().store() == nullptr) return std::nullopt;
    Sum sum;
    sum.update = inner.body->front().store();
    sum.last = body.size() == 3 ? body[2].store() : sum.update;
    if (sum.last == nullptr || sum.update->kind != StoreKind::kAdd ||
        sum.update->value.kind() != ValueExpr::Kind::kMultiply)
      return std::nullopt;
    for (const ValueExpr& factor : sum.update->value.operands()) {
      if (factor.kind() != ValueExpr::Kind::kLoad) return std::nullopt;
    }
    for (const Loop* each : nest.loops) sum.spatial.push_back(each->axis.name);
    for (const Loop* each : inner.loops) sum.reductions.push_back(each->axis.name);
    sum.loops = nest.loops;
    sum.loops.insert(sum.loops.end(), inner.loops.begin(), inner.loops.end());
    return sum;
  }

  bool contraction(const std::string& name) {
    const auto kept = std::pair(now_, steps_);
    if (tile(name)) return true;
    std::tie(now_, steps_) = kept;
    return false;
  }

  bool tile(const std::string& name) {
    auto sum = sum_of(name);
    if (!sum) return false;
    if (sum->last == sum->update) {  // In the result itself: an element of its own is brought there at the end.
      const std::string& result = now_[sum->update->buffer].name;
      if (!take(fmt::format("cache-write {} {} {}_sum", result, sum->spatial.back(), result))) return false;
      sum = sum_of(name);
      if (!sum) return false;
    }
    const std::size_t spatial_count = sum->spatial.size();
    const std::span<const Loop* const> spatial(sum->loops.data(), spatial_count);
    const auto lane = axis_of_last(sum->last->at, spatial);
    if (!lane) return false;
    const Loop& lane_loop = **std::ranges::find(spatial, lane->id, [](const Loop* l) { return l->axis.id; });
    const std::int64_t lane_extent = lane_loop.extent.number().value_or(0);
    const auto factors = sum->update->value.operands();
    const bool by_lane[2] = {uses_axis(factors[0].indices(), *lane), uses_axis(factors[1].indices(), *lane)};
    if (!by_lane[0] && !by_lane[1]) return false;
    // The factor with the lanes, a weight if both have them.
    const bool second = by_lane[0] && by_lane[1] ? now_[factors[1].buffer()].role == BufferRole::kWeight : by_lane[1];
    const ValueExpr along = factors[second ? 1 : 0], other = factors[second ? 0 : 1];
    const bool is_block = lane_loop.axis.name.ends_with("/1");
    const std::int64_t width = is_block ? lane_extent : std::min<std::int64_t>(tile_width(), rounded(lane_extent));
    std::optional<std::string> row;
    for (std::size_t i = spatial_count; i-- > 0 && !row;) {
      const Axis& axis = spatial[i]->axis;
      if (axis.id == lane->id || uses_axis(along.indices(), axis) || !uses_axis(other.indices(), axis)) continue;
      if (spatial[i]->extent.number().value_or(0) > 1) row = axis.name;
    }
    const std::int64_t rows = row ? find(*row)->extent.number().value_or(0) : 1;
    const std::int64_t tall = rows_of_tile(rows, width);

    const bool is_packed = pack(along, *lane, is_block ? 0 : width);
    if (!is_packed && !is_block && lane_extent % width != 0 && !axis_of_last(along.indices(), spatial)) return false;
    std::string lane_name = lane->name;
    if (!is_block) {
      if (!take(fmt::format("split {} {}{}", lane_name, width, lane_extent % width == 0 ? "" : " tail=pad")))
        return false;
      lane_name += "/1";
    }
    // Loops that are left keep their order: blocks of lanes, others, rows, lanes.
    std::vector<std::string> order;
    for (const std::string& each : sum->spatial) {
      if (each == lane->name && !is_block) order.push_back(each + "/0");
      if (each != lane->name && each != row) order.push_back(each);
    }
    if (row) order.push_back(*row);
    order.push_back(lane_name);
    if (order.size() > 1 && !take(fmt::format("reorder {}", fmt::join(order, " ")))) return false;
    const bool is_cut = row && rows % tall != 0;
    if (row && tall < rows && !take(fmt::format("split {} {}{}", *row, tall, is_cut ? " tail=cut" : ""))) return false;
    return sums_in_registers(lane_name, row ? *row : "", sum->reductions);
  }

  [[nodiscard]] std::int64_t tile_width() const { return unit_.registers > 16 ? 2 * unit_.lanes : 16; }
  [[nodiscard]] std::int64_t rounded(std::int64_t extent) const {
    return (extent + unit_.lanes - 1) / unit_.lanes * unit_.lanes;
  }
  /// A divisor if one is large enough.
  [[nodiscard]] std::int64_t rows_of_tile(std::int64_t rows, std::int64_t width) const {
    const std::int64_t vectors = std::max<std::int64_t>((width + unit_.lanes - 1) / unit_.lanes, 1);
    const std::int64_t most = std::min<std::int64_t>((unit_.registers - 2) / vectors, unit_.registers > 16 ? 14 : 7);
    if (rows <= most) return std::max<std::int64_t>(rows, 1);
    for (std::int64_t tall = most; tall >= (most + 1) / 2; --tall) {
      if (rows % tall == 0) return tall;
    }
    return most;
  }

  /// The weight in the order in which its elements are read: blocks of lanes, the rest, the rest's blocks, lanes.
  bool pack(const ValueExpr& weight, const Axis& lane, std::int64_t width) {
    const Buffer& buffer = now_[weight.buffer()];
    if (buffer.role != BufferRole::kWeight) return false;
    std::vector<std::string> front, middle, end, last;
    bool pads = false;
    for (std::size_t d = 0; d < weight.indices().size(); ++d) {
      const IndexExpr& index = weight.indices()[d];
      const std::int64_t size = *buffer.sizes[d].number();
      const std::int64_t factor = uses_axis({&index, 1}, lane) && width > 0 ? width : factor_of(index);
      if (factor <= 1) {
        middle.push_back(fmt::format("{}", d));
        continue;
      }
      pads |= size % factor != 0;
      (uses_axis({&index, 1}, lane) ? front : middle).push_back(fmt::format("{}/{}", d, factor));
      (uses_axis({&index, 1}, lane) ? last : end).push_back(fmt::format("{}%{}", d, factor));
    }
    if (front.size() != 1) return false;
    for (const auto* part : {&middle, &end, &last}) front.insert(front.end(), part->begin(), part->end());
    return take(fmt::format("pack {0} {0}_packed {1}{2}", buffer.name, fmt::join(front, " "), pads ? " pad" : ""));
  }
  /// Of l/0 * F + l/1: F.
  [[nodiscard]] std::int64_t factor_of(const IndexExpr& index) const {
    const auto form = loop::linear(index);
    if (!form || form->terms.size() != 2) return 1;
    return std::max(std::abs(form->terms[0].second), std::abs(form->terms[1].second));
  }

  /// For each nest whose last spatial loop has come of the lanes.
  bool sums_in_registers(const std::string& lane, const std::string& row, const std::vector<std::string>& reductions) {
    const LoopName of_lane = *loop::parse_loop_name(lane);
    for (const std::string& each : loop_names(now_)) {
      const LoopName name = *loop::parse_loop_name(each);
      const auto path = path_to(now_, name);
      if (!is_of(name, of_lane) || !path || loop_at(now_, *path).body.size() < 2) continue;
      if (!take(fmt::format("distribute {}", each))) return false;
      std::vector<std::string> order = reductions_in(each, reductions);
      LoopPath up = *path_to(now_, name);
      up.pop_back();
      const Loop* around = up.empty() ? nullptr : statement_at(now_, up).loop();
      if (!row.empty() && around != nullptr &&
          is_of(*loop::parse_loop_name(around->axis.name), *loop::parse_loop_name(row))) {
        const std::string rows = around->axis.name;
        if (!take(fmt::format("distribute {}", rows))) return false;
        order.push_back(rows);
      }
      order.push_back(each);
      if (!take(fmt::format("reorder {}", fmt::join(order, " ")))) return false;
      if (find(order[order.size() - 3 + (order.size() < 3 ? 1 : 0)])) unroll_small(order);
    }
    mark("vectorise", lane);
    if (!row.empty()) unroll_rows(row);
    return true;
  }
  /// The reductions around a loop of lanes, blocks last, as it stands in the program.
  [[nodiscard]] std::vector<std::string> reductions_in(const std::string& lane,
                                                       const std::vector<std::string>& reductions) const {
    std::vector<std::string> found, blocks;
    for_each_loop(Body(1, statement_at(now_, *path_to(now_, *loop::parse_loop_name(lane)))), [&](const Loop& loop) {
      const LoopName name = *loop::parse_loop_name(loop.axis.name);
      for (const std::string& reduction : reductions) {
        if (!is_of(name, *loop::parse_loop_name(reduction))) continue;
        (reduction.ends_with("/1") ? blocks : found).push_back(loop.axis.name);
      }
    });
    found.insert(found.end(), blocks.begin(), blocks.end());
    return found;
  }
  /// The last window of a sum, if it is a small one.
  void unroll_small(const std::vector<std::string>& order) {
    constexpr std::int64_t kMostTaps = 4;
    for (const std::string& name : order) {
      const Loop* loop = find(name);
      const bool is_window = loop != nullptr && loop->extent.number().value_or(0) <= kMostTaps && !name.ends_with("/1");
      if (is_window && name != order.back() && name == order[order.size() > 3 ? order.size() - 4 : 0])
        take(fmt::format("unroll {}", name));
    }
  }
  void unroll_rows(const std::string& row) {
    const LoopName of = *loop::parse_loop_name(row);
    for (const std::string& each : loop_names(now_)) {
      const LoopName name = *loop::parse_loop_name(each);
      const Loop* loop = find(each);
      if (!is_of(name, of) || loop == nullptr || loop->extent.number().value_or(64) > 14) continue;
      const bool is_tile = std::ranges::all_of(loop->body, [](const Statement& s) {
        return s.loop() != nullptr && s.loop()->kind == loop::LoopKind::kVector;
      });
      if (is_tile) take(fmt::format("unroll {}", each));
    }
  }

  // --- others --------------------------------------------------------------------------------------------------

  /// One statement sets or updates, in loops of which the last is a reduction along what it reads.
  bool row_reduction(const std::string& name) {
    const auto kept = std::pair(now_, steps_);
    const Loop* loop = outermost(name);
    if (loop == nullptr || has_branch(loop->body)) return false;
    const Nest nest = nest_of(*loop);
    for (const Statement& statement : *nest.body) {
      if (statement.loop() == nullptr) continue;
      const Nest inner = nest_of(*statement.loop());
      if (inner.body->size() != 1 || inner.body->front().store() == nullptr) continue;
      const Store& update = *inner.body->front().store();
      const Axis& last = inner.loops.back()->axis;
      if (update.kind == StoreKind::kSet || uses_axis(update.at, last)) continue;
      const std::int64_t extent = inner.loops.back()->extent.number().value_or(0);
      const std::int64_t width = width_of_row(extent);
      if (width == 0) continue;
      const std::string part = fmt::format("part{}", parts_++), whole = last.name;
      const std::string combine = width == unit_.lanes
                                      ? fmt::format("unroll {0}.d0", part)
                                      : fmt::format(
                                            "split {0}.d0 {1}; rfactor {0}.d0/1 {0}s; unroll {0}.d0/0; "
                                            "vectorise {0}.d0/1; vectorise {0}s.i0; unroll {0}s.d0",
                                            part, unit_.lanes);
      if (!take(fmt::format("split {0} {1}; rfactor {0}/1 {2}; vectorise {0}/1; vectorise {2}.i0; {3}", whole, width,
                            part, combine))) {
        std::tie(now_, steps_) = kept;
        return false;
      }
      return true;
    }
    return false;
  }
  /// A multiple of the lanes that divides the extent, four vectors at most; 0: there is none.
  [[nodiscard]] std::int64_t width_of_row(std::int64_t extent) const {
    for (std::int64_t width = 4L * unit_.lanes; width >= unit_.lanes; width -= unit_.lanes) {
      if (extent % width == 0 && extent > width) return width;
    }
    return 0;
  }

  bool lanes(const std::string& name) {
    const Loop* loop = outermost(name);
    if (loop == nullptr) return false;
    const Nest nest = nest_of(*loop);
    const Store* last = nest.body->empty() ? nullptr : nest.body->back().store();
    if (last == nullptr && !nest.body->empty() && nest.body->front().store() != nullptr)
      last = nest.body->front().store();
    const auto lane = last == nullptr ? std::nullopt : axis_of_last(last->at, nest.loops);
    if (!lane) return true;
    std::vector<std::string> order;
    for (const Loop* each : nest.loops) {
      if (each->axis.id != lane->id) order.push_back(each->axis.name);
    }
    order.push_back(lane->name);
    const bool is_last = nest.loops.back()->axis.id == lane->id;
    if (!is_last && !take(fmt::format("reorder {}", fmt::join(order, " ")))) return true;
    const Loop* innermost = find(lane->name);
    if (innermost->body.size() > 1) {
      const auto kept = std::pair(now_, steps_);
      if (!take(fmt::format("distribute {}", lane->name)) || !inwards(lane->name)) {
        std::tie(now_, steps_) = kept;
        return true;
      }
    }
    mark("vectorise", lane->name);
    return true;
  }
  /// Lanes below the loops that they hold.
  bool inwards(const std::string& lane) {
    const Loop* loop = find(lane);
    if (loop == nullptr || loop->body.size() != 1 || loop->body[0].loop() == nullptr) return loop != nullptr;
    std::vector<std::string> order;
    const Nest inner = nest_of(*loop->body[0].loop());
    for (const Loop* each : inner.loops) order.push_back(each->axis.name);
    order.push_back(lane);
    return take(fmt::format("reorder {}", fmt::join(order, " ")));
  }

  Program now_;
  Schedule steps_;
  VectorUnit unit_;
  int parts_ = 0;
};

}  // namespace

std::optional<VectorUnit> vector_unit(std::string_view dialect) {
  constexpr VectorUnit kAvx512{16, 32}, kAvx2{8, 16}, kPortable{4, 16};
  if (dialect == "vectors") {
    if (__builtin_cpu_supports("avx512f") != 0) return kAvx512;
    return __builtin_cpu_supports("avx2") != 0 ? kAvx2 : kPortable;
  }
  if (dialect == "vectors-avx512") return kAvx512;
  if (dialect == "vectors-avx2") return kAvx2;
  return dialect == "vectors-portable" ? std::optional(kPortable) : std::nullopt;
}

Schedule one_shot(const Program& program, const VectorUnit& unit) { return OneShot(program, unit).run(); }

}  // namespace rewright::schedule
