#include "compress/axis_ties.h"

#include <rewright/loop/linear_index.h>

#include <boost/pending/disjoint_sets.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace rewright::compress {
namespace {

using Kind = ValueExpr::Kind;
using Extents = std::map<std::uint32_t, std::int64_t>;

void collect_extents(const ValueExpr& value, std::set<const ValueExpr::Node*>& seen, Extents& extents) {
  if (!seen.insert(value.address()).second) return;
  if (value.kind() == Kind::kReduce)
    for (const AxisRange& range : value.axes()) extents[range.axis.id] = range.extent.number().value_or(-1);
  for (const ValueExpr& part : value.operands()) collect_extents(part, seen, extents);
}

void collect_axes(const IndexExpr& index, std::set<std::uint32_t>& axes) {
  if (index.kind() == IndexExpr::Kind::kAxis) axes.insert(index.axis().id);
  for (const IndexExpr& part : index.operands()) collect_axes(part, axes);
}

loop::AxisRanges ranges_in(const Extents& extents) {
  return [&extents](const Axis& axis) -> std::optional<IndexRange> {
    const auto found = extents.find(axis.id);
    if (found == extents.end() || found->second < 1) return std::nullopt;
    return IndexRange{0, found->second - 1};
  };
}

/// A product of loads and numbers; `axes`: those by which it loads.
bool is_product(const ValueExpr& value, std::set<std::uint32_t>& axes) {
  if (value.kind() == Kind::kNumber || (value.kind() == Kind::kIndex && value.indices()[0].number())) return true;
  if (value.kind() == Kind::kLoad) {
    for (const IndexExpr& index : value.indices()) collect_axes(index, axes);
    return true;
  }
  if (value.kind() != Kind::kMultiply && value.kind() != Kind::kCast) return false;
  return std::ranges::all_of(value.operands(), [&](const ValueExpr& part) { return is_product(part, axes); });
}

class TieFinder {
 public:
  explicit TieFinder(const Definition& definition)
      : definition_(definition), extents_(extents_of(definition)), sets_(count(definition, extents_)) {
    std::size_t next = 0;
    for (const Buffer& buffer : definition.buffers) {
      first_.push_back(next);
      next += buffer.sizes.size();
    }
    for (const auto& [axis, extent] : extents_) axes_[axis] = next++;
    pinned_.assign(next, false);
  }

  AxisTies run() {
    for (const Stage& stage : definition_.stages) {
      if (const AxisRange* serial = serial_axis(stage)) pin_axis(serial->axis.id);
      for (std::size_t d = 0; d < stage.at.size(); ++d) add_index(stage.target, d, stage.at[d]);
      add_guard(stage.where);
      add_value(stage.value);
    }
    return classes();
  }

 private:
  static std::size_t count(const Definition& definition, const Extents& extents) {
    std::size_t places = extents.size();
    for (const Buffer& buffer : definition.buffers) places += buffer.sizes.size();
    return places;
  }
  void pin_axis(std::uint32_t axis) {
    const auto found = axes_.find(axis);
    if (found != axes_.end() && extents_.at(axis) != 1) pinned_[found->second] = true;
  }
  void pin_axes(const IndexExpr& index) {
    std::set<std::uint32_t> axes;
    collect_axes(index, axes);
    for (const std::uint32_t axis : axes) pin_axis(axis);
  }
  void add_guard(const Guard& guard) {
    for (const IndexCondition& condition : guard) {
      pin_axes(condition.left);
      pin_axes(condition.right);
    }
  }

  void add_value(const ValueExpr& value) {
    if (!seen_.insert(value.address()).second) return;
    if (value.kind() == Kind::kLoad)
      for (std::size_t d = 0; d < value.indices().size(); ++d) add_index(value.buffer(), d, value.indices()[d]);
    if (value.kind() == Kind::kIndex) pin_axes(value.indices()[0]);
    if (value.kind() == Kind::kReduce) {
      add_guard(value.guard());
      std::set<std::uint32_t> axes;
      const bool may_leave_out =
          value.reduction() == ValueExpr::Reduction::kSum && is_product(value.operands()[0], axes);
      for (const AxisRange& range : value.axes())
        if (!may_leave_out || !axes.contains(range.axis.id)) pin_axis(range.axis.id);
    }
    for (const ValueExpr& part : value.operands()) add_value(part);
  }

  void add_index(BufferId buffer, std::size_t dimension, const IndexExpr& index) {
    const std::size_t place = first_[buffer.value] + dimension;
    const auto size = definition_[buffer].sizes[dimension].number();
    if (size == 1) return;
    const IndexExpr at = simplified(index, extents_);
    if (const auto axis = size ? axis_of(at, *size) : std::nullopt) {
      sets_.union_set(place, axes_.at(*axis));
      return;
    }
    pinned_[place] = true;
    if (!is_within_block(at)) pin_axes(at);
  }
  /// The axis that `at` is, or whose blocks it counts, or counts the blocks of.
  std::optional<std::uint32_t> axis_of(const IndexExpr& at, std::int64_t size) {
    if (at.kind() == IndexExpr::Kind::kAxis && extents_.at(at.axis().id) == size) return at.axis().id;
    if (at.kind() == IndexExpr::Kind::kFloor && at.operands()[0].kind() == IndexExpr::Kind::kAxis) {
      const std::uint32_t axis = at.operands()[0].axis().id;
      const auto block = at.operands()[1].number();
      return block && extents_.at(axis) == size * *block ? std::optional(axis) : std::nullopt;
    }
    const auto form = loop::linear(at);
    if (!form || form->constant != 0) return std::nullopt;
    for (const auto& [atom, block] : form->terms) {
      if (atom.kind() != IndexExpr::Kind::kAxis || extents_.at(atom.axis().id) * block != size) continue;
      const IndexExpr rest = at - IndexExpr(block) * IndexExpr(atom);
      const auto range = range_of(simplified(rest, extents_), ranges_in(extents_));
      if (!range || range->low < 0 || range->high >= block) continue;
      std::set<std::uint32_t> others;
      collect_axes(rest, others);
      others.erase(atom.axis().id);
      for (const std::uint32_t other : others) pin_axis(other);
      return atom.axis().id;
    }
    return std::nullopt;
  }
  /// axis mod m, or floor(axis / k) mod m: the same in every block of k m positions.
  bool is_within_block(const IndexExpr& at) {
    if (at.kind() != IndexExpr::Kind::kModulo) return false;
    const auto modulus = at.operands()[1].number();
    IndexExpr inner = at.operands()[0];
    std::optional<std::int64_t> step = 1;
    if (inner.kind() == IndexExpr::Kind::kFloor) {
      step = inner.operands()[1].number();
      inner = IndexExpr(inner.operands()[0]);
    }
    if (!modulus || !step || inner.kind() != IndexExpr::Kind::kAxis) return false;
    blocks_.emplace_back(inner.axis().id, *modulus * *step);
    return true;
  }

  AxisTies classes() {
    std::map<std::size_t, std::size_t> numbers;
    AxisTies ties;
    const auto enter = [&](std::size_t place, std::int64_t size) {
      const auto [found, is_new] = numbers.try_emplace(sets_.find_set(place), numbers.size());
      if (is_new) {
        ties.pinned.push_back(false);
        ties.channels.push_back(std::numeric_limits<std::int64_t>::max());
      }
      if (pinned_[place] || size < 1) ties.pinned[found->second] = true;
      ties.channels[found->second] = std::min(ties.channels[found->second], size);
      return found->second;
    };
    for (std::size_t b = 0; b < definition_.buffers.size(); ++b) {
      std::vector<std::size_t>& own = ties.of_buffer.emplace_back();
      const auto& sizes = definition_.buffers[b].sizes;
      for (std::size_t d = 0; d < sizes.size(); ++d)
        own.push_back(enter(first_[b] + d, sizes[d].number().value_or(-1)));
    }
    for (const auto& [axis, place] : axes_) ties.of_axis[axis] = enter(place, extents_.at(axis));
    for (const auto& [axis, block] : blocks_) {
      const std::size_t number = ties.of_axis.at(axis);
      const std::int64_t channels = ties.channels[number];
      if (channels < 1 || extents_.at(axis) / channels % block != 0) ties.pinned[number] = true;
    }
    return ties;
  }

  const Definition& definition_;
  Extents extents_;
  boost::disjoint_sets_with_storage<> sets_;
  std::vector<std::size_t> first_;             ///< Of a buffer's dimensions, among the places.
  std::map<std::uint32_t, std::size_t> axes_;  ///< Places of axes.
  std::vector<bool> pinned_;
  std::set<const ValueExpr::Node*> seen_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> blocks_;
};

}  // namespace

std::map<std::uint32_t, std::int64_t> extents_of(const Definition& definition) {
  Extents extents;
  std::set<const ValueExpr::Node*> seen;
  for (const Stage& stage : definition.stages) {
    for (const AxisRange& range : stage.axes) extents[range.axis.id] = range.extent.number().value_or(-1);
    collect_extents(stage.value, seen, extents);
  }
  return extents;
}

IndexExpr simplified(const IndexExpr& index, const Extents& extents) {
  const Substitution zeros{.axis = [&](const Axis& axis) -> std::optional<IndexExpr> {
    const auto found = extents.find(axis.id);
    return found != extents.end() && found->second == 1 ? std::optional<IndexExpr>(0) : std::nullopt;
  }};
  return loop::simplified(substitute(index, zeros), ranges_in(extents));
}

AxisTies axis_ties(const Definition& definition) { return TieFinder(definition).run(); }

}  // namespace rewright::compress
