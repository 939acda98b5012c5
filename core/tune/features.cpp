#include "tune/features.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "loop/bounds.h"
#include "schedule/nest.h"
#include "tune/before_runs.h"

namespace rewright::tune {
namespace {

using loop::Loop;
using loop::LoopKind;

constexpr std::size_t kLevels = 4;
constexpr std::int64_t kLine = 16;  ///< Elements.
constexpr double kUsable = 0.75;    ///< Of a cache: what is in use shares it with the rest.

/// Where a statement reads or writes.
struct Touched {
  BufferId buffer;
  std::span<const IndexExpr> at;
  std::vector<std::vector<std::int64_t>>
      moves;                        ///< By dimension, by loop: elements along it; the whole one where unknown.
  std::vector<std::int64_t> sizes;  ///< Of the buffer.
  double bytes = 4;                 ///< Of an element.
};

struct Counts {
  double operations = 0, calls = 0;
};

Counts count(const ValueExpr& value) {
  Counts counts;
  switch (value.kind()) {
    case ValueExpr::Kind::kAdd:
    case ValueExpr::Kind::kSubtract:
    case ValueExpr::Kind::kMultiply:
    case ValueExpr::Kind::kDivide:
    case ValueExpr::Kind::kMaximum:
    case ValueExpr::Kind::kMinimum: counts.operations = 1; break;
    case ValueExpr::Kind::kCall: counts.operations = counts.calls = 1; break;
    default: break;
  }
  for (const ValueExpr& operand : value.operands()) {
    const Counts more = count(operand);
    counts.operations += more.operations;
    counts.calls += more.calls;
  }
  return counts;
}

class Walk {
 public:
  Walk(const loop::Program& program, const Machine& machine, std::int64_t lanes)
      : program_(program), machine_(machine), lanes_(lanes) {}

  std::vector<std::vector<double>> run() {
    visit(program_.body);
    return std::move(rows_);
  }

 private:
  void visit(const loop::Body& body) {
    for (const loop::Statement& statement : body) {
      if (const Loop* loop = statement.loop()) loops_.push_back(loop);
      if (const loop::Store* store = statement.store()) add(*store);
      visit(loop::body_of(statement));
      if (statement.loop() != nullptr) loops_.pop_back();
    }
  }

  void add(const loop::Store& store) {
    double runs = 1, steps = 0, left = 1, code = 1, in_parallel = 1, tile = 1, vectors = 1, used = 1;
    for (const Loop* loop : loops_) {
      const auto extent = static_cast<double>(extent_of(*loop));
      runs *= extent;
      if (loop->kind == LoopKind::kParallel) in_parallel *= extent;
      if (loop->kind == LoopKind::kVector) {
        const double pieces = std::ceil(extent / static_cast<double>(lanes_));
        used = extent / (pieces * static_cast<double>(lanes_));
        vectors *= pieces;
        tile *= pieces;
        code *= std::min(pieces, 8.0);
      } else {
        vectors *= extent;
        if (loop->kind == LoopKind::kUnroll) {
          code *= extent;
        } else {
          left *= extent;
          steps += left;
        }
      }
      if (loop->kind == LoopKind::kUnroll && schedule::names_axis(store.at, loop->axis)) tile *= extent;
    }
    const bool is_update = store.kind != loop::StoreKind::kSet;
    Counts counts = count(store.value);
    if (is_update) counts.operations += 1;
    const bool is_product = is_update && store.value.kind() == ValueExpr::Kind::kMultiply;
    const auto loads = schedule::loads_in(store.value);
    double gathers = 0, broadcasts = 0, shuffles = 0, register_loads = 0;
    std::vector<Touched> touched = {touch(store.buffer, store.at)};
    if (apart_of(touched.back()) > 1) gathers += vectors;
    for (const ValueExpr& load : loads) {
      touched.push_back(touch(load.buffer(), load.indices()));
      const std::int64_t apart = apart_of(touched.back());
      if (is_shuffled(load)) shuffles += vectors;
      if (apart == 0) broadcasts += vectors;
      if (apart > 1) gathers += vectors;
      register_loads += vectors / reused_in_code(load.indices());
    }
    std::vector<double> row = {runs,
                               counts.operations * runs,
                               counts.calls * runs,
                               is_product ? runs : 0,
                               static_cast<double>(loads.size()) * vectors,
                               gathers,
                               broadcasts,
                               shuffles,
                               vectors,
                               used,
                               steps,
                               is_update ? tile : 0,
                               register_loads,
                               vectors / kept_in_registers(store.at),
                               code,
                               in_parallel,
                               bytes_from(touched, 0)};
    for (std::size_t level = 0; level < kLevels; ++level) row.push_back(traffic(touched, level));
    rows_.push_back(std::move(row));
  }

  /// How often the code of the innermost loop that is left names the same place: the compiler reads it once.
  [[nodiscard]] double reused_in_code(std::span<const IndexExpr> at) const {
    double times = 1;
    for (std::size_t l = loops_.size(); l-- > 0 && is_written_out(*loops_[l]);) {
      if (!schedule::names_axis(at, loops_[l]->axis)) times *= iterations(*loops_[l]);
    }
    return times;
  }
  /// How often a place is updated before another is, but for those beside it in the code of the innermost loop.
  [[nodiscard]] double kept_in_registers(std::span<const IndexExpr> at) const {
    double times = 1;
    for (std::size_t l = loops_.size(); l-- > 0;) {
      const bool moves = schedule::names_axis(at, loops_[l]->axis);
      if (moves && !is_written_out(*loops_[l])) break;
      if (!moves) times *= iterations(*loops_[l]);
    }
    return times;
  }
  /// Of vectors whole ones.
  [[nodiscard]] double iterations(const Loop& loop) const {
    const auto extent = static_cast<double>(extent_of(loop));
    return loop.kind == LoopKind::kVector ? std::ceil(extent / static_cast<double>(lanes_)) : extent;
  }
  static bool is_written_out(const Loop& loop) {
    return loop.kind == LoopKind::kVector || loop.kind == LoopKind::kUnroll;
  }

  Touched touch(BufferId buffer, std::span<const IndexExpr> at) const {
    Touched touched{buffer, at, {}, {}};
    for (std::size_t d = 0; d < at.size(); ++d) {
      touched.sizes.push_back(program_[buffer].sizes[d].number().value_or(1));
      auto& moves = touched.moves.emplace_back(loops_.size(), 0);
      const auto form = loop::linear(at[d]);
      for (std::size_t l = 0; l < loops_.size(); ++l) {
        const IndexExpr axis(loops_[l]->axis);
        if (!schedule::names_axis(at[d], loops_[l]->axis)) continue;
        const std::int64_t coefficient = form ? std::abs(form->coefficient(axis)) : 0;
        moves[l] = coefficient != 0 ? coefficient : 1;
      }
    }
    return touched;
  }
  /// Elements between neighbouring lanes; 0 where there are no lanes, or all are at one place.
  [[nodiscard]] std::int64_t apart_of(const Touched& touched) const {
    if (loops_.empty() || loops_.back()->kind != LoopKind::kVector) return 0;
    std::int64_t apart = 0, size = 1;
    for (std::size_t d = touched.sizes.size(); d-- > 0;) {
      apart += touched.moves[d].back() * size;
      size *= touched.sizes[d];
    }
    return apart;
  }
  /// Elements along a dimension; a line is read whole.
  [[nodiscard]] std::int64_t width(const Touched& touched, std::size_t d, std::size_t from) const {
    std::int64_t along = 1;
    for (std::size_t l = from; l < loops_.size(); ++l) along += touched.moves[d][l] * (extent_of(*loops_[l]) - 1);
    if (d + 1 == touched.sizes.size()) along = (along + kLine - 1) / kLine * kLine;
    return std::min(along, touched.sizes[d]);
  }
  [[nodiscard]] double bytes_from(const Touched& touched, std::size_t from) const {
    double elements = 1;
    for (std::size_t d = 0; d < touched.sizes.size(); ++d) elements *= static_cast<double>(width(touched, d, from));
    return elements * touched.bytes;
  }
  [[nodiscard]] double bytes_from(const std::vector<Touched>& touched, std::size_t from) const {
    double bytes = 0;
    for (const Touched& each : touched) bytes += bytes_from(each, from);
    return bytes;
  }
  /// Bytes that come from beyond a level: what the outermost loops whose data fit touch, as often as they are entered;
  /// of these what the next loop outside has not just left there.
  [[nodiscard]] double traffic(const std::vector<Touched>& touched, std::size_t level) const {
    if (level >= machine_.caches.size() || machine_.caches[level].level == 0) return 0;
    const double capacity = kUsable * static_cast<double>(machine_.caches[level].bytes);
    std::size_t from = 0;
    while (from < loops_.size() && bytes_from(touched, from) > capacity) ++from;
    double entered = 1;
    for (std::size_t l = 0; l < from; ++l) entered *= static_cast<double>(extent_of(*loops_[l]));
    double bytes = 0;
    for (const Touched& each : touched) bytes += entered * new_share(each, from) * bytes_from(each, from);
    return bytes;
  }
  /// Of what the loops from one on touch: what the last step of the loop before them did not, mean over its steps.
  [[nodiscard]] double new_share(const Touched& touched, std::size_t from) const {
    if (from == 0) return 1;
    double share = 0;
    for (std::size_t d = 0; d < touched.sizes.size(); ++d) {
      const std::int64_t move = touched.moves[d][from - 1];
      if (move == 0) continue;
      if (share > 0) return 1;  // Along two dimensions nothing is counted as shared.
      share = std::min(1.0, static_cast<double>(move) / static_cast<double>(width(touched, d, from)));
    }
    const auto steps = static_cast<double>(extent_of(*loops_[from - 1]));
    return (1 + (steps - 1) * share) / steps;
  }

  [[nodiscard]] std::int64_t extent_of(const Loop& loop) const { return loop::mean_extent(program_, loop); }

  const loop::Program& program_;
  const Machine& machine_;
  std::int64_t lanes_;
  /// Groups of fewer lanes than a vector has at one place each, such as floor(lane / 4).
  [[nodiscard]] bool is_shuffled(const ValueExpr& load) const {
    if (loops_.empty() || loops_.back()->kind != LoopKind::kVector) return false;
    return std::ranges::any_of(load.indices(), [&](const IndexExpr& index) { return is_shuffled(index); });
  }
  [[nodiscard]] bool is_shuffled(const IndexExpr& index) const {
    if (!schedule::names_axis(index, loops_.back()->axis)) return false;
    if (index.kind() == IndexExpr::Kind::kFloor) return index.operands()[1].number().value_or(1) % lanes_ != 0;
    return std::ranges::any_of(index.operands(), [&](const IndexExpr& part) { return is_shuffled(part); });
  }

  std::vector<const Loop*> loops_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace

std::vector<std::string> feature_columns() {
  return {"runs",     "operations",  "calls",         "multiply_adds", "loads",        "gathers",        "broadcasts",
          "shuffles", "vectors",     "lanes_used",    "steps",         "sums_in_tile", "register_loads", "stores",
          "code",     "in_parallel", "touched_bytes", "traffic_1",     "traffic_2",    "traffic_3",      "traffic_4"};
}

Features features_of(const loop::Program& scheduled, const Machine& machine, std::int64_t lanes) {
  const SplitProgram split = split_before_runs(scheduled);
  return {Walk(split.rest, machine, lanes).run()};
}

}  // namespace rewright::tune
