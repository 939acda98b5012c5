// Traits and arithmetic of a definition, by one walk over each of its values; what is shared is visited once.
#include "operator/properties.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "operator/reindexed.h"

namespace rewright {
namespace {

using Kind = ValueExpr::Kind;

/// A value as a polynomial in the operands.
struct Degrees {
  bool is_zero = false;
  bool is_linear = true;             ///< In each of `operands` by itself, and in no other.
  std::set<std::uint32_t> operands;  ///< None: a number, whatever the operands hold.

  [[nodiscard]] bool is_number() const { return is_linear && operands.empty(); }
  friend bool operator==(const Degrees&, const Degrees&) = default;
};

const Degrees kNotLinear{false, false, {}};

/// Of a + b, and of what is one of the two.
Degrees either_of(const Degrees& a, const Degrees& b) {
  if (a.is_zero) return b;
  if (b.is_zero) return a;
  return a.is_linear && b.is_linear && a.operands == b.operands ? a : kNotLinear;
}

Degrees product_of(const Degrees& a, const Degrees& b) {
  if (a.is_zero) return a;
  if (b.is_zero) return b;
  Degrees product = a;
  for (const std::uint32_t operand : b.operands)
    if (!product.operands.insert(operand).second) return kNotLinear;
  return a.is_linear && b.is_linear ? product : kNotLinear;
}

class TraitsWalk {
 public:
  explicit TraitsWalk(const Definition& definition) : definition_(definition), of_(definition.buffers.size()) {
    for (Degrees& degrees : of_) degrees.is_zero = true;
    std::uint32_t inputs = 0;
    for (std::size_t b = 0; b < definition.buffers.size(); ++b)
      if (definition.buffers[b].role == BufferRole::kInput) of_[b] = {false, true, {inputs++}};
    bool has_recurrences = false;
    for (const Stage& stage : definition.stages) has_recurrences |= serial_axis(stage) != nullptr;
    // What a recurrence reads may be of a higher degree than was known: again, until nothing changes.
    while (walk(inputs) && has_recurrences) known_.clear();
    traits_.multilinear = is_multilinear_ && inputs > 0;
  }
  [[nodiscard]] Traits traits() const { return traits_; }

 private:
  /// Has a buffer's degree changed?
  bool walk(std::uint32_t inputs) {
    bool changed = false;
    for (const Stage& stage : definition_.stages) {
      const Degrees value = degrees(stage.value);
      Degrees& whole = of_[stage.target.value];
      const Degrees next = either_of(whole, value);
      changed |= next != whole;
      whole = next;
      is_multilinear_ = is_multilinear_ && (definition_[stage.target].role != BufferRole::kOutput || value.is_zero ||
                                            (value.is_linear && value.operands.size() == inputs));
    }
    return changed;
  }
  Degrees degrees(const ValueExpr& value) {
    if (const auto known = known_.find(value.address()); known != known_.end()) return known->second;
    return known_.emplace(value.address(), computed(value)).first->second;
  }
  /// Of what is a number if all its parts are.
  Degrees other(const ValueExpr& value, bool Traits::*uses) {
    bool is_number = true;
    for (const ValueExpr& part : value.operands()) is_number = degrees(part).is_number() && is_number;
    if (!is_number && uses != nullptr) traits_.*uses = true;
    return is_number ? Degrees{} : kNotLinear;
  }
  Degrees computed(const ValueExpr& value) {
    const auto part = [&](std::size_t k) { return degrees(value.operands()[k]); };
    switch (value.kind()) {
      case Kind::kLoad: {
        const auto is_data = [&](const IndexExpr& index) { return reads_operand(index); };
        return std::ranges::any_of(value.indices(), is_data) ? kNotLinear : of_[value.buffer().value];
      }
      case Kind::kNumber: return {};
      case Kind::kIndex: return {.is_zero = value.indices()[0].number() == 0, .operands = {}};
      case Kind::kAdd:
      case Kind::kSubtract: return either_of(part(0), part(1));
      case Kind::kMultiply: return product_of(part(0), part(1));
      case Kind::kDivide: return part(1).is_number() ? part(0) : (part(0), kNotLinear);
      case Kind::kSelect: {
        const Degrees condition = part(0), chosen = either_of(part(1), part(2));
        return condition.is_number() ? chosen : kNotLinear;
      }
      case Kind::kReduce:
        if (value.reduction() == ValueExpr::Reduction::kSum) return part(0);
        return other(value, value.reduction() == ValueExpr::Reduction::kProduct ? nullptr : &Traits::uses_order);
      case Kind::kCall: return other(value, &Traits::uses_functions);
      case Kind::kMaximum:
      case Kind::kMinimum:
      case Kind::kEqual:
      case Kind::kLess:
      case Kind::kLessEqual: return other(value, &Traits::uses_order);
      default: return other(value, nullptr);
    }
  }
  /// A table that no operand is in is no data.
  [[nodiscard]] bool reads_operand(const IndexExpr& index) const {
    return (index.kind() == IndexExpr::Kind::kData && !of_[index.buffer().value].is_number()) ||
           std::ranges::any_of(index.operands(), [this](const IndexExpr& part) { return reads_operand(part); });
  }

  const Definition& definition_;
  std::vector<Degrees> of_;  ///< By buffer.
  std::unordered_map<const ValueExpr::Node*, Degrees> known_;
  bool is_multilinear_ = true;
  Traits traits_;
};

std::optional<double> points(std::span<const AxisRange> axes) {
  double count = 1;
  for (const AxisRange& range : axes) {
    if (!range.extent.number()) return std::nullopt;
    count *= static_cast<double>(*range.extent.number());
  }
  return count;
}

class ArithmeticWalk {
 public:
  std::optional<double> operations(const ValueExpr& value) {
    if (!seen_.insert(value.address()).second) return 0;  // Computed once, used again.
    double count = counts(value) ? 1 : 0;
    for (const ValueExpr& part : value.operands()) {
      const auto of_part = operations(part);
      if (!of_part) return std::nullopt;
      count += *of_part;
    }
    if (value.kind() != Kind::kReduce) return count;
    const auto times = points(value.axes());
    return times ? std::optional(count * *times) : std::nullopt;
  }

 private:
  static bool counts(const ValueExpr& value) {
    switch (value.kind()) {
      case Kind::kLoad:
      case Kind::kNumber:
      case Kind::kIndex:
      case Kind::kCast:
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kNot: return false;
      case Kind::kSelect: return counts(value.operands()[0]);  // By an index: what is read, not computed.
      case Kind::kReduce: return true;
      default:
        return std::ranges::any_of(value.operands(), [](const ValueExpr& part) { return part.kind() != Kind::kIndex; });
    }
  }
  std::set<const ValueExpr::Node*> seen_;
};

}  // namespace

Traits traits_of(const Definition& definition) { return TraitsWalk(definition).traits(); }

bool keeps_order(const Definition& definition) {
  if (definition.buffers.size() != 2 || definition.stages.size() != 1) return false;
  const Stage& stage = definition.stages[0];
  if (stage.value.kind() != Kind::kLoad || definition[stage.value.buffer()].role != BufferRole::kInput) return false;
  const std::vector<IndexExpr>& from = definition[stage.target].sizes;
  const std::vector<IndexExpr>& to = definition[stage.value.buffer()].sizes;
  std::vector<IndexExpr> all;
  for (const AxisRange& range : stage.axes) all.emplace_back(range.axis);
  if (stage.at != all) return false;
  const std::vector<IndexExpr> place = from == to ? all : reindexed(all, from, to);
  return std::ranges::equal(place, stage.value.indices());
}

std::optional<double> operations_of(const Definition& definition) {
  double count = 0;
  for (const Stage& stage : definition.stages) {
    const auto each = ArithmeticWalk().operations(stage.value), times = points(stage.axes);
    if (!each || !times) return std::nullopt;
    count += *each * *times;
  }
  return count;
}

}  // namespace rewright
