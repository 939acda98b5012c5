#include "loop/bounds.h"

#include <algorithm>

namespace rewright::loop {
namespace {

/// What a condition says to be at least 0.
void add_forms(const IndexCondition& condition, std::vector<LinearIndex>& forms) {
  using Relation = IndexCondition::Relation;
  const auto left = linear(condition.left), right = linear(condition.right);
  if (!left || !right) return;
  auto margin = combined(*right, *left, -1);
  const auto opposite = combined(*left, *right, -1);
  if (!margin || !opposite) return;
  if (condition.relation == Relation::kLess) --margin->constant;
  forms.push_back(*std::move(margin));
  if (condition.relation == Relation::kEqual) forms.push_back(*opposite);
}

bool is_at_least_zero(const std::optional<LinearIndex>& form, const AxisRanges& axes) {
  const auto range = form ? range_of(*form, axes) : std::nullopt;
  return range && range->low >= 0;
}

}  // namespace

AxisRanges ranges_of(std::span<const Loop* const> loops) {
  return [loops](const Axis& axis) -> std::optional<IndexRange> {
    const auto own = std::ranges::find(loops, axis.id, [](const Loop* loop) { return loop->axis.id; });
    if (own == loops.end()) return std::nullopt;
    const auto around = loops.first(static_cast<std::size_t>(own - loops.begin()));
    const auto extent = rewright::range_of((*own)->extent, ranges_of(around));
    return extent ? std::optional(IndexRange{0, std::max<std::int64_t>(extent->high - 1, 0)}) : std::nullopt;
  };
}

std::int64_t mean_extent(const Program& program, const Loop& loop) {
  using Kind = IndexExpr::Kind;
  if (const auto number = loop.extent.number()) return std::max<std::int64_t>(1, *number);
  if (loop.extent.kind() != Kind::kSubtract) return 1;
  const IndexExpr &end = loop.extent.operands()[0], &start = loop.extent.operands()[1];
  if (end.kind() != Kind::kData || start.kind() != Kind::kData || end.buffer() != start.buffer()) return 1;
  const auto high = end.operands()[1].number();
  const auto count = program[end.buffer()].sizes.size() == 1 ? program[end.buffer()].sizes[0].number() : std::nullopt;
  return high && count.value_or(0) > 1 ? std::max<std::int64_t>(1, (*high - 1) / (*count - 1)) : 1;
}

bool follows(const LinearIndex& at_least_zero, const Guard& known, const AxisRanges& axes) {
  if (is_at_least_zero(at_least_zero, axes)) return true;
  std::vector<LinearIndex> forms;
  for (const IndexCondition& condition : known) add_forms(condition, forms);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto rest = combined(at_least_zero, forms[i], -1);
    if (is_at_least_zero(rest, axes)) return true;
    for (std::size_t j = i + 1; rest && j < forms.size(); ++j) {
      if (is_at_least_zero(combined(*rest, forms[j], -1), axes)) return true;
    }
  }
  return false;
}

bool stays_inside(const Access& access, const Buffer& buffer) {
  const AxisRanges axes = ranges_of(access.loops);
  Guard known = access.when;
  for (const Loop* loop : access.loops)
    if (!loop->extent.number()) known.push_back({loop->axis, IndexCondition::Relation::kLess, loop->extent});
  for (std::size_t d = 0; d < access.at.size(); ++d) {
    const auto place = linear(simplified(access.at[d], axes)), size = linear(buffer.sizes[d]);
    if (!place || !size || !follows(*place, known, axes)) return false;
    auto above = combined(*size, *place, -1);
    if (!above) return false;
    --above->constant;
    if (!follows(*above, known, axes)) return false;
  }
  return true;
}

}  // namespace rewright::loop
