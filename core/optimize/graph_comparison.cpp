#include "optimize/graph_comparison.h"

#include <algorithm>

namespace rewright {
namespace {

/// Of two nodes, each in its graph or as the pool has it.
std::uint64_t key_of(std::uint32_t left, bool left_whole, std::uint32_t right, bool right_whole) {
  return (std::uint64_t{left} << 34) | (std::uint64_t{right} << 2) | (left_whole ? 2U : 0U) | (right_whole ? 1U : 0U);
}

std::size_t slot_of(std::uint32_t node, bool whole) { return 2 * std::size_t{node} + (whole ? 1 : 0); }

}  // namespace

GraphComparison::Place GraphComparison::resolve(const Change& change, Place place) {
  if (place.whole) return place;
  if (place.port.node.value < change.first) return {place.port, true};
  for (const auto& [before, after] : change.replaced)
    if (before == place.port) return {after, true};
  return place;
}

GraphComparison::Place GraphComparison::operand(const Change& change, const Place& user, std::size_t k) const {
  return resolve(change, {pool_.operands(user.port.node.value)[k], user.whole});
}

GraphComparison::Answer GraphComparison::at_once(const Place& left, const Place& right) const {
  if (left.port.output != right.port.output) return Answer::kDifferent;
  const std::uint32_t a = left.port.node.value, b = right.port.node.value;
  if (left.whole && right.whole) return a == b ? Answer::kEqual : Answer::kDifferent;
  if (pool_.node(a).label != pool_.node(b).label || pool_.node(a).operand_count != pool_.node(b).operand_count)
    return Answer::kDifferent;
  if (known_equal(left, right)) return Answer::kEqual;
  return different_.contains(key_of(a, left.whole, b, right.whole)) ? Answer::kDifferent : Answer::kOpen;
}

bool GraphComparison::known_equal(const Place& left, const Place& right) const {
  const std::uint32_t a = left.port.node.value, b = right.port.node.value;
  const Partner& partner = partners_[slot_of(a, left.whole)];
  if (partner.when != now_) return false;
  if (partner.node == b && partner.whole == right.whole) return true;
  return more_equal_.contains(key_of(a, left.whole, b, right.whole));
}

void GraphComparison::keep_equal(const Place& left, const Place& right) {
  const std::uint32_t a = left.port.node.value, b = right.port.node.value;
  Partner& partner = partners_[slot_of(a, left.whole)];
  if (partner.when != now_) {
    partner = {now_, b, right.whole};
  } else {
    more_equal_.insert(key_of(a, left.whole, b, right.whole));
  }
}

bool GraphComparison::swap(Frame& frame) const {
  // Past the first two operands both of these were equal in this order, and the rest has one order.
  if (frame.swapped || frame.next > 2 || !pool_.is_commuting(frame.left.port.node.value)) return false;
  frame.swapped = true, frame.next = 0;
  return true;
}

/// With a stack of its own, so that deep graphs are no matter.
bool GraphComparison::equal_below(const Place& left, const Place& right) {
  const Answer known = at_once(left, right);
  if (known != Answer::kOpen) return known == Answer::kEqual;
  stack_.assign(1, {left, right});
  Answer answer = Answer::kOpen;  // Of the pair above the top frame that was asked for last.
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    const std::uint32_t a = frame.left.port.node.value, b = frame.right.port.node.value;
    if (answer == Answer::kDifferent && !swap(frame)) {
      different_.insert(key_of(a, frame.left.whole, b, frame.right.whole));
      stack_.pop_back();
      continue;
    }
    if (frame.next == pool_.node(a).operand_count) {
      keep_equal(frame.left, frame.right);
      answer = Answer::kEqual;
      stack_.pop_back();
      continue;
    }
    const std::uint32_t k = frame.next++;
    const Place below_left = operand(left_, frame.left, k);
    const Place below_right = operand(right_, frame.right, frame.swapped && k < 2 ? 1 - k : k);
    answer = at_once(below_left, below_right);
    if (answer == Answer::kOpen) stack_.push_back({below_left, below_right});
  }
  return answer == Answer::kEqual;
}

bool GraphComparison::equal(const Side& left, const Side& right) {
  if (left.outputs.size() != right.outputs.size()) return false;
  const auto change_of = [](const Side& side) {
    Change change{side.replaced};
    for (const auto& [before, after] : side.replaced) change.first = std::min(change.first, before.node.value);
    return change;
  };
  left_ = change_of(left), right_ = change_of(right);
  if (partners_.size() < 2 * std::size_t{pool_.size()}) partners_.resize(4 * std::size_t{pool_.size()});
  if (++now_ == 0) std::ranges::fill(partners_, Partner()), now_ = 1;
  more_equal_.clear(), different_.clear();
  for (std::size_t i = 0; i < left.outputs.size(); ++i)
    if (!equal_below(resolve(left_, {left.outputs[i], false}), resolve(right_, {right.outputs[i], false})))
      return false;
  return true;
}

}  // namespace rewright
