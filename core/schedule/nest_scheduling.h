// What all makers of schedules share: a program with the steps that led to it, and ready pieces for nests. Read off
// the loops and the strides of what they touch, never off an operator's name.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "schedule/apply.h"
#include "schedule/nest.h"
#include "schedule/vector_unit.h"

namespace rewright::schedule {

[[nodiscard]] std::int64_t extent(const Loop& loop);
[[nodiscard]] LoopName name_of_loop(const Loop& loop);
/// The loops that stand in a body themselves.
[[nodiscard]] std::vector<LoopName> loops_of(const Body& body);

/// The loop that moves what is stored by 1, of several the longest; null: none does.
[[nodiscard]] const Loop* lanes_of(const Program& program, const Nest& nest);
/// A loop that some index has divided by the size of a group: so much of it reads alike. Lanes are split where vectors
/// of so many would hold parts of groups.
[[nodiscard]] std::optional<Split> split_in_groups(const Nest& nest, const Loop& lanes, std::int64_t vector);
/// The loop that some of what is multiplied follows and other does not; of these one whose iterations read the same
/// vectors, then the one that moves the result least.
[[nodiscard]] const Loop* places_of(const Program& program, const Nest& nest, const Loop* lanes);
/// Another loop that some of what is multiplied follows along a dimension that a sum moves, too, and other does not:
/// iterations beside each other read the same vectors, at other steps of the sum. And that sum. Null: there is none.
struct RowsOfTile {
  const Loop* rows = nullptr;
  const Loop* sum = nullptr;
};
[[nodiscard]] RowsOfTile rows_of(const Program& program, const Nest& nest, const Loop& lanes, const Loop& places);
/// The sums of a nest: the one that moves what is not a weight most is outermost.
[[nodiscard]] std::vector<const Loop*> order_of_sums(const Program& program, const Nest& nest);

/// The innermost of the sums that an index follows, from 1 on; 0: none.
[[nodiscard]] std::size_t rank_of(const IndexExpr& index, std::span<const Loop* const> sums);
/// Is there one access to the buffer in the program?
[[nodiscard]] bool is_read_once(const Program& program, BufferId buffer);

/// What is to lie in panels of a width: weights, and, if it is read again and again, what lanes would gather. Outer
/// dimensions, blocks of lanes, dimensions in the order of the sums, lanes.
struct Panels {
  std::vector<Pack> packs;
  bool gathers = false;  ///< Some load cannot lie so, and lanes would gather it.
};
[[nodiscard]] Panels panels_of(const Program& program, const Nest& nest, const Loop& lanes, std::int64_t width,
                               bool has_places);

/// Places of a tile, at most.
inline constexpr std::int64_t kMostPlaces = 16;

/// A program, and the steps that made it of another.
class NestScheduling {
 public:
  NestScheduling(OneShot before, const VectorUnit& unit) : unit_(unit), result_(std::move(before)) {}

  [[nodiscard]] const Program& program() const { return result_.program; }
  [[nodiscard]] const VectorUnit& unit() const { return unit_; }
  [[nodiscard]] OneShot take() && { return std::move(result_); }
  [[nodiscard]] const OneShot& so_far() const { return result_; }
  void go_on(OneShot with) { result_ = std::move(with); }

  bool apply(Transform transform);
  /// All or nothing.
  template <class Steps>
  bool attempt(const Steps& steps) {
    const OneShot before = result_;
    if (steps()) return true;
    result_ = before;
    return false;
  }
  [[nodiscard]] const Loop* loop_named(const LoopName& name) const;
  /// Of all loops.
  [[nodiscard]] std::set<std::string> names() const;
  /// Loops that are not in `before`, outermost first.
  [[nodiscard]] std::vector<LoopName> names_since(const std::set<std::string>& before) const;
  [[nodiscard]] std::string unused_name(const std::string& stem) const;

  /// Makes one loop of the lanes of a sum, where they are few, and the loop around them, where all but weights stays
  /// even: y[m, n, o] += x[m, k] * w[n, k, o] over o alone has as few lanes as o. Weights get the order of the result.
  bool fuse_lanes(const LoopName& root);
  /// The innermost sum in so many vectors of partial results; of these one vector, of that one number. False: it is
  /// shorter than two vectors, or gathers.
  bool schedule_row(const Nest& nest, std::int64_t most_vectors);
  /// Lanes alone; where they would gather, all that is across a vector's lanes in turn: so what is gathered is in the
  /// first cache when the next needs it.
  bool schedule_chain(const Nest& nest);
  /// Lanes for innermost loops whose iterations are independent and move what they store by 1.
  void vectorise_inner(const LoopName& root);
  /// A loop of one iteration around it, which owns its tile.
  bool split_whole(const LoopName& name) { return apply(Split{name, extent(*loop_named(name))}); }
  /// Loops of a nest, each alone in the one before: blocks, rows, places, lanes; then the sums.
  struct TileLoops {
    LoopName lanes;
    std::optional<LoopName> places = std::nullopt;
    std::optional<LoopName> rows = std::nullopt;  ///< Other places.
    std::vector<LoopName> sums;                   ///< For each tile, outermost first.
    std::vector<LoopName> outer_sums = {};        ///< For all blocks; what they have so far is kept between.
    std::vector<LoopName> blocks = {};            ///< Tiles.
    bool in_place = false;                        ///< They are kept where the result is, or in a buffer of its size.
    std::vector<LoopName> whole = {};             ///< Loops around, where there is such a buffer.
  };
  /// A tile of places, and of lanes in them, in registers.
  bool schedule_tile(const TileLoops& loops);

 private:
  /// Loops to be marked.
  struct TileParts {
    std::vector<LoopName> vectors, unrolled;
  };
  /// What is stored in `lanes` goes to a copy of what an iteration of `around` stores.
  bool write_in_copy(const LoopName& lanes, const LoopName& around, TileParts& parts);
  bool schedule_transposition(const Nest& nest, const Loop& lanes, const Loop& across);

  VectorUnit unit_;
  OneShot result_;
};

/// The program after fuse_lanes of all its nests.
[[nodiscard]] loop::Program with_fused_lanes(const loop::Program& program, const VectorUnit& unit);

}  // namespace rewright::schedule
