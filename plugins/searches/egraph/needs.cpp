#include "needs.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace rewright::egraph_search {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

void insert(std::vector<std::uint64_t>& set, std::size_t bit) { set[bit / 64] |= std::uint64_t{1} << (bit % 64); }

}  // namespace

Needs::Needs(std::span<const Maker> makers, std::size_t class_count, std::span<const std::uint32_t> outputs)
    : makers_of_(class_count), position_(class_count, kNowhere), can_be_computed_(class_count, false) {
  for (std::uint32_t i = 0; i < makers.size(); ++i)
    for (const std::uint32_t given : makers[i].outputs) makers_of_[given].push_back(i);
  put_in_order(makers, outputs);
  collect(makers);
}

/// Depth first from the outputs.
void Needs::put_in_order(std::span<const Maker> makers, std::span<const std::uint32_t> outputs) {
  struct Frame {
    std::uint32_t of;
    std::size_t maker = 0, operand = 0;
  };
  std::vector<bool> is_met(position_.size(), false);
  std::vector<Frame> frames;
  for (const std::uint32_t output : outputs) {
    if (is_met[output]) continue;
    is_met[output] = true;
    frames.push_back({output});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const auto& given_by = makers_of_[frame.of];
      if (frame.maker == given_by.size()) {
        position_[frame.of] = static_cast<std::uint32_t>(order_.size());
        order_.push_back(frame.of);
        frames.pop_back();
      } else if (const auto& operands = makers[given_by[frame.maker]].operands; frame.operand == operands.size()) {
        ++frame.maker, frame.operand = 0;
      } else if (const std::uint32_t next = operands[frame.operand++]; !is_met[next]) {
        is_met[next] = true;
        frames.push_back({next});
      }
    }
  }
}

/// Empty where it cannot be applied.
Needs::Set Needs::of_application(const Maker& maker) const {
  Set all((order_.size() + 63) / 64, 0);
  for (const std::uint32_t operand : maker.operands) {
    if (!can_be_computed_[operand]) return {};
    const Set& set = needs_[position_[operand]];
    for (std::size_t i = 0; i < set.size(); ++i) all[i] |= set[i];
  }
  return all;
}

void Needs::collect(std::span<const Maker> makers) {
  needs_.resize(order_.size());
  for (std::size_t position = 0; position < order_.size(); ++position) {
    const std::uint32_t of = order_[position];
    Set& common = needs_[position];
    for (const std::uint32_t maker : makers_of_[of]) {
      const Set all = of_application(makers[maker]);
      if (all.empty()) continue;
      if (!can_be_computed_[of]) common = all;
      for (std::size_t i = 0; i < all.size(); ++i) common[i] &= all[i];
      can_be_computed_[of] = true;
    }
    if (can_be_computed_[of]) insert(common, position);
  }
}

std::vector<std::uint32_t> Needs::nearest(std::uint32_t of) const {
  const std::uint32_t own = position_[of];
  Set rest = needs_[own];
  std::vector<std::uint32_t> nearest;
  for (std::size_t word = own / 64 + 1; word-- > 0;) {
    while (rest[word] != 0) {
      const std::size_t bit = word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(rest[word]));
      if (bit != own) {
        nearest.push_back(order_[bit]);
        const Set& covered = needs_[bit];
        for (std::size_t i = 0; i <= word; ++i) rest[i] &= ~covered[i];
      }
      rest[word] &= ~(std::uint64_t{1} << (bit % 64));
    }
  }
  return nearest;
}

}  // namespace rewright::egraph_search
