// Small random definitions, correct by construction: every read is inside its buffer, every element written once.
#pragma once

#include <rewright/base/mixing.h>
#include <rewright/operator/expression.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

using namespace rewright;

class RandomDefinition {
 public:
  /// Sizes are at most `most`.
  explicit RandomDefinition(std::uint64_t seed, std::int64_t most = 4) : random_(seed), most_(most) {}

  Definition make() {
    const std::size_t inputs = 1 + random_.below(3), stages = 1 + random_.below(3);
    for (std::size_t i = 0; i < inputs; ++i) add_buffer("x" + std::to_string(i), sizes(), BufferRole::kInput);
    for (std::size_t i = 0; i < stages; ++i) {
      const bool last = i + 1 == stages;
      const BufferId target = add_buffer((last ? "y" : "t") + std::to_string(i), sizes(),
                                         last || random_.one_in(4) ? BufferRole::kOutput : BufferRole::kTemporary);
      written_ = target.value;
      if (!add_recurrence(target)) add_stages(target);
    }
    return std::move(definition_);
  }

 private:
  BufferId add_buffer(std::string name, std::vector<IndexExpr> sizes, BufferRole role) {
    definition_.buffers.push_back({std::move(name), std::move(sizes), ElementType::kFloat32, role});
    return {static_cast<std::uint32_t>(definition_.buffers.size() - 1)};
  }
  std::vector<IndexExpr> sizes() {
    std::vector<IndexExpr> sizes;
    for (std::size_t rank = random_.below(4); rank > 0; --rank) sizes.emplace_back(random_.between(1, most_));
    return sizes;
  }
  AxisRange new_axis(std::int64_t extent, char stem) {
    const Axis axis{next_axis_, std::string(1, stem) + std::to_string(next_axis_)};
    ++next_axis_;
    extents_.push_back(extent);
    return {axis, extent};
  }

  /// All of the target at once, or in two parts along its first axis.
  void add_stages(BufferId target) {
    const auto& all = definition_[target].sizes;
    const std::int64_t first = all.empty() ? 1 : *all[0].number();
    const std::int64_t cut = first > 1 && random_.one_in(3) ? random_.between(1, first - 1) : 0;
    if (cut > 0) add_stage(target, 0, cut);
    add_stage(target, cut, first - cut);
  }
  void add_stage(BufferId target, std::int64_t from, std::int64_t count) {
    Stage stage{definition_[target].name + (from > 0 ? "b" : ""), target};
    scope_.clear();
    const auto& all = definition_[target].sizes;
    for (std::size_t d = 0; d < all.size(); ++d) {
      stage.axes.push_back(new_axis(d == 0 ? count : *all[d].number(), 'i'));
      stage.at.push_back(IndexExpr(stage.axes.back().axis) + (d == 0 ? from : 0));
      scope_.push_back(stage.axes.back().axis);
    }
    stage.value = value(3);
    definition_.stages.push_back(std::move(stage));
  }

  /// Row 0, and then row t + 1 from row t in turn, with or without a stage between. False: it is to be written
  /// otherwise.
  bool add_recurrence(BufferId target) {
    const std::vector<IndexExpr> all = definition_[target].sizes;
    if (all.empty() || *all[0].number() < 2 || !random_.one_in(3)) return false;
    const std::string name = definition_[target].name;
    add_row(name, target, {}, 0);
    AxisRange serial = new_axis(*all[0].number() - 1, 't');
    serial.is_serial = true;
    const IndexExpr row(serial.axis);
    own_ = {{target, row}};
    if (random_.one_in(2)) {
      std::vector<IndexExpr> sizes = all;
      sizes[0] = *all[0].number() - 1;
      const BufferId between = add_buffer(name + "m", sizes, BufferRole::kTemporary);
      add_row(name + "m", between, serial, row);
      own_.push_back({between, row});
    }
    add_row(name + "r", target, serial, row + 1);
    own_.clear();
    return true;
  }
  void add_row(const std::string& name, BufferId target, std::optional<AxisRange> serial, const IndexExpr& row) {
    Stage stage{name, target};
    scope_.clear();
    if (serial) {
      stage.axes.push_back(*serial);
      scope_.push_back(serial->axis);
    }
    stage.at.push_back(row);
    const std::vector<IndexExpr> all = definition_[target].sizes;
    for (std::size_t d = 1; d < all.size(); ++d) {
      stage.axes.push_back(new_axis(*all[d].number(), 'i'));
      stage.at.emplace_back(stage.axes.back().axis);
      scope_.push_back(stage.axes.back().axis);
    }
    stage.value = value(3);
    definition_.stages.push_back(std::move(stage));
  }

  // --- indices -------------------------------------------------------------------------------------------------

  IndexExpr affine_index() {
    IndexExpr sum = random_.between(-1, 2);
    for (std::size_t i = random_.below(3); i > 0 && !scope_.empty(); --i) {
      sum = sum + IndexExpr(random_.pick(scope_)) * random_.between(1, 3);
    }
    return sum;
  }
  /// Inside of 0 .. size - 1, by a condition on it if need be.
  IndexExpr place(std::int64_t size, Guard& needed) {
    if (!scope_.empty() && random_.one_in(2)) {
      const Axis& axis = random_.pick(scope_);
      if (extents_[axis.id] <= size) return axis;
    }
    if (random_.one_in(3)) return modulo(affine_index(), size);
    if (random_.one_in(4)) return modulo(floor_divide(affine_index(), 1 + random_.between(1, 2)), size);
    const IndexExpr index = affine_index();
    for (const IndexCondition& condition : within(0, index, size)) needed.push_back(condition);
    return index;
  }

  // --- values --------------------------------------------------------------------------------------------------

  static ValueExpr holds(const Guard& guard) {
    ValueExpr all;
    for (std::size_t i = 0; i < guard.size(); ++i) {
      const auto kind =
          guard[i].relation == IndexCondition::Relation::kLess ? ValueExpr::Kind::kLess : ValueExpr::Kind::kLessEqual;
      const ValueExpr one = ValueExpr::binary(kind, ValueExpr::index(guard[i].left), ValueExpr::index(guard[i].right));
      all = i == 0 ? one : both(all, one);
    }
    return all;
  }
  ValueExpr load(Guard& needed) {
    if (!own_.empty() && random_.one_in(2)) {
      const auto& [buffer, row] = random_.pick(own_);
      std::vector<IndexExpr> at = {row};
      const std::vector<IndexExpr> sizes = definition_[buffer].sizes;
      for (std::size_t d = 1; d < sizes.size(); ++d) at.push_back(place(*sizes[d].number(), needed));
      return ValueExpr::load(buffer, std::move(at));
    }
    const BufferId buffer{static_cast<std::uint32_t>(random_.below(written_))};
    std::vector<IndexExpr> at;
    for (const IndexExpr& size : definition_[buffer].sizes) at.push_back(place(*size.number(), needed));
    return ValueExpr::load(buffer, std::move(at));
  }
  ValueExpr guarded_load() {
    Guard needed;
    const ValueExpr read = load(needed);
    return needed.empty() ? read : select(holds(needed), read, leaf());
  }
  ValueExpr leaf() {
    switch (random_.below(4)) {
      case 0: return ValueExpr::from_double(0.5);
      case 1: return ValueExpr::from_integer(random_.between(-3, 3));
      case 2: return ValueExpr::index(affine_index());
      default: return ValueExpr::from_double(1.0 / 3);
    }
  }
  ValueExpr reduction(int depth) {
    const std::vector<Axis> outside = scope_;
    std::vector<AxisRange> axes;
    for (std::size_t i = 1 + random_.below(2); i > 0; --i) axes.push_back(new_axis(random_.between(0, 3), 'k'));
    for (const AxisRange& range : axes) scope_.push_back(range.axis);
    Guard where;
    const ValueExpr body = load(where) * value(depth - 1);
    scope_ = outside;
    return ValueExpr::reduce(static_cast<ValueExpr::Reduction>(random_.below(4)), std::move(axes), where, body);
  }
  ValueExpr comparison(int depth) {
    const ValueExpr a = value(depth - 1), b = value(depth - 1);
    const ValueExpr one = random_.one_in(2) ? less(a, b) : less_equal(a, b);
    return random_.one_in(3) ? negation(one) : random_.one_in(3) ? either(one, equal(a, b)) : one;
  }
  ValueExpr value(int depth) {
    if (depth == 0) return random_.one_in(3) ? leaf() : guarded_load();
    switch (random_.below(12)) {
      case 0: return value(depth - 1) + value(depth - 1);
      case 1: return value(depth - 1) - value(depth - 1);
      case 2: return value(depth - 1) * value(depth - 1);
      case 3: return value(depth - 1) / value(depth - 1);
      case 4: return max(value(depth - 1), value(depth - 1));
      case 5: return min(value(depth - 1), value(depth - 1));
      case 6: return apply(static_cast<Function>(random_.below(6)), value(depth - 1));
      case 7: return select(comparison(depth), value(depth - 1), value(depth - 1));
      case 8: {
        const ValueExpr shared = value(depth - 1);
        return shared * shared + shared;
      }
      case 9: return guarded_load();
      default: return reduction(depth);
    }
  }

  Random random_;
  std::int64_t most_;
  Definition definition_;
  std::vector<std::pair<BufferId, IndexExpr>> own_;  ///< In a recurrence: rows that may be read.
  std::size_t written_ = 0;                          ///< Buffers before this one may be read.
  std::uint32_t next_axis_ = 0;
  std::vector<std::int64_t> extents_;
  std::vector<Axis> scope_;
};

/// Values for a definition's inputs; the other vectors are empty.
template <class Scalar>
std::vector<std::vector<Scalar>> random_contents(std::span<const Buffer> buffers, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<Scalar>> contents(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].role != BufferRole::kInput && buffers[b].role != BufferRole::kWeight) continue;
    std::int64_t count = 1;
    for (const IndexExpr& size : buffers[b].sizes) count *= *size.number();
    for (std::int64_t i = 0; i < count; ++i) contents[b].push_back(Scalar::from_integer(random.between(-9, 9)));
  }
  return contents;
}

}  // namespace test_support
