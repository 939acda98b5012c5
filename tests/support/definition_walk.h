// A definition's values by walking its expressions, element by element: what lowering is held against. Shares only the
// algebras with core/loop.
#pragma once

#include <rewright/operator/expression.h>

#include <cmath>
#include <map>
#include <vector>

#include "loop/algebra.h"
#include "loop/interpreter.h"

namespace test_support {

using namespace rewright;

template <class Scalar>
class DefinitionWalk {
 public:
  /// `contents` as for interpret.
  DefinitionWalk(const Definition& definition, loop::Contents<Scalar>& contents)
      : definition_(definition), contents_(contents) {}

  void run() {
    for (std::size_t b = 0; b < definition_.buffers.size(); ++b) {
      std::int64_t count = 1;
      for (const IndexExpr& size : definition_.buffers[b].sizes) count *= *size.number();
      contents_[b].resize(static_cast<std::size_t>(count));
    }
    const auto& stages = definition_.stages;
    for (std::size_t first = 0, end = 0; first < stages.size(); first = end) {
      const AxisRange* const serial = serial_axis(stages[first]);
      for (end = first + 1; end < stages.size() && serial != nullptr && serial_axis(stages[end]) != nullptr &&
                            serial_axis(stages[end])->axis == serial->axis;)
        ++end;
      const auto run = [&] {
        for (std::size_t s = first; s < end; ++s) walk(stages[s], serial == nullptr ? 0 : 1);
      };
      if (serial == nullptr) {
        run();
      } else {
        over({serial, 1}, 0, run);
      }
    }
  }

 private:
  void walk(const Stage& stage, std::size_t outer) {
    over(stage.axes, outer, [&] {
      if (holds(stage.where)) element(stage.target, stage.at) = value(stage.value);
    });
  }
  template <class Visit>
  void over(std::span<const AxisRange> axes, std::size_t at, const Visit& visit) {
    if (at == axes.size()) return visit();
    const std::int64_t extent = index(axes[at].extent);
    for (std::int64_t i = 0; i < extent; ++i) {
      places_[axes[at].axis.id] = i;
      over(axes, at + 1, visit);
    }
  }
  Scalar& element(BufferId buffer, std::span<const IndexExpr> at) {
    std::int64_t flat = 0;
    const auto& sizes = definition_[buffer].sizes;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t place = index(at[d]);
      if (place < 0 || place >= *sizes[d].number()) fail("the definition reads or writes outside of a buffer");
      flat = flat * *sizes[d].number() + place;
    }
    return contents_[buffer.value][static_cast<std::size_t>(flat)];
  }
  std::int64_t index(const IndexExpr& i) {
    using Kind = IndexExpr::Kind;
    const auto parts = i.operands();
    switch (i.kind()) {
      case Kind::kNumber: return *i.number();
      case Kind::kAxis: return places_.at(i.axis().id);
      case Kind::kAdd: return index(parts[0]) + index(parts[1]);
      case Kind::kSubtract: return index(parts[0]) - index(parts[1]);
      case Kind::kMultiply: return index(parts[0]) * index(parts[1]);
      case Kind::kFloor: return floor_divide(index(parts[0]), index(parts[1]));
      case Kind::kModulo: return index(parts[0]) - index(parts[1]) * floor_divide(index(parts[0]), index(parts[1]));
      case Kind::kData: return *loop::whole_number(element(i.buffer(), parts.subspan(2)));
      default: fail("a size without a number");
    }
  }
  bool holds(const Guard& guard) {
    for (const IndexCondition& c : guard) {
      const std::int64_t a = index(c.left), b = index(c.right);
      if (c.relation == IndexCondition::Relation::kEqual  ? a != b
          : c.relation == IndexCondition::Relation::kLess ? a >= b
                                                          : a > b) {
        return false;
      }
    }
    return true;
  }
  bool is_true(const ValueExpr& v) { return !(value(v) == Scalar()); }
  static Scalar truth(bool b) { return Scalar::from_integer(b ? 1 : 0); }
  Scalar reduction(const ValueExpr& v) {
    using Reduction = ValueExpr::Reduction;
    const Reduction kind = v.reduction();
    bool first = kind == Reduction::kMaximum || kind == Reduction::kMinimum;
    Scalar result = kind == Reduction::kSum ? Scalar()
                    : kind == Reduction::kProduct
                        ? Scalar::from_integer(1)
                        : Scalar::from_double(kind == Reduction::kMaximum ? -INFINITY : INFINITY);
    over(v.axes(), 0, [&] {
      if (!holds(v.guard())) return;
      const Scalar next = value(v.operands()[0]);
      if (kind == Reduction::kSum) result = result + next;
      if (kind == Reduction::kProduct) result = result * next;
      if (kind == Reduction::kMaximum) result = first ? next : max(result, next);
      if (kind == Reduction::kMinimum) result = first || loop::is_less(next, result) ? next : result;
      first = false;
    });
    return result;
  }
  Scalar value(const ValueExpr& v) {
    using Kind = ValueExpr::Kind;
    const auto p = v.operands();
    switch (v.kind()) {
      case Kind::kLoad: return element(v.buffer(), v.indices());
      case Kind::kNumber: return Scalar::from_double(v.number());
      case Kind::kIndex: return Scalar::from_integer(index(v.indices()[0]));
      case Kind::kAdd: return value(p[0]) + value(p[1]);
      case Kind::kSubtract: return value(p[0]) - value(p[1]);
      case Kind::kMultiply: return value(p[0]) * value(p[1]);
      case Kind::kDivide: return value(p[0]) / value(p[1]);
      case Kind::kModulo: return loop::remainder(value(p[0]), value(p[1]));
      case Kind::kMaximum: return max(value(p[0]), value(p[1]));
      case Kind::kMinimum: {
        const Scalar a = value(p[0]), b = value(p[1]);
        return loop::is_less(b, a) ? b : a;
      }
      case Kind::kEqual: return truth(value(p[0]) == value(p[1]));
      case Kind::kLess: return truth(loop::is_less(value(p[0]), value(p[1])));
      case Kind::kLessEqual: {
        const Scalar a = value(p[0]), b = value(p[1]);
        return truth(loop::is_less(a, b) || a == b);
      }
      case Kind::kAnd: return truth(is_true(p[0]) && is_true(p[1]));
      case Kind::kOr: return truth(is_true(p[0]) || is_true(p[1]));
      case Kind::kNot: return truth(!is_true(p[0]));
      case Kind::kCast: return value(p[0]);  // Of the types that the tests cast between.
      case Kind::kCall: return apply(v.function(), value(p[0]));
      case Kind::kSelect: return is_true(p[0]) ? value(p[1]) : value(p[2]);
      case Kind::kReduce: return reduction(v);
    }
    return {};
  }

  const Definition& definition_;
  loop::Contents<Scalar>& contents_;
  std::map<std::uint32_t, std::int64_t> places_;
};

}  // namespace test_support
