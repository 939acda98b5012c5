// Substitution in expressions; affine forms of indices, and the intervals that they lie in.
#include <rewright/operator/expression.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace rewright {

// --- substitution ----------------------------------------------------------------------------------------------

namespace {

IndexExpr combine(IndexExpr::Kind kind, const IndexExpr& a, const IndexExpr& b) {
  switch (kind) {
    case IndexExpr::Kind::kAdd: return a + b;
    case IndexExpr::Kind::kSubtract: return a - b;
    case IndexExpr::Kind::kMultiply: return a * b;
    case IndexExpr::Kind::kFloor: return floor_divide(a, b);
    default: return modulo(a, b);
  }
}

BufferId replaced(BufferId buffer, const Substitution& parts) {
  return parts.buffer ? parts.buffer(buffer).value_or(buffer) : buffer;
}

std::vector<IndexExpr> substitute_all(std::span<const IndexExpr> indices, const Substitution& parts) {
  std::vector<IndexExpr> result;
  for (const IndexExpr& index : indices) result.push_back(substitute(index, parts));
  return result;
}

/// Replaces what is shared once.
class ValueSubstitution {
 public:
  explicit ValueSubstitution(const Substitution& parts) : parts_(parts) {}
  ValueExpr operator()(const ValueExpr& value) {
    if (const auto known = known_.find(value.address()); known != known_.end()) return known->second;
    return known_.emplace(value.address(), rebuilt(value)).first->second;
  }

 private:
  ValueExpr load(const ValueExpr& value) const {
    std::vector<IndexExpr> at = substitute_all(value.indices(), parts_);
    if (parts_.load) {
      if (auto other = parts_.load(ValueExpr::load(value.buffer(), at))) return *std::move(other);
    }
    return ValueExpr::load(replaced(value.buffer(), parts_), std::move(at));
  }
  ValueExpr reduction(const ValueExpr& value) {
    std::vector<AxisRange> axes(value.axes().begin(), value.axes().end());
    for (AxisRange& range : axes) {
      range.extent = substitute(range.extent, parts_);
      if (parts_.bound) range.axis = parts_.bound(range.axis).value_or(range.axis);
    }
    return ValueExpr::reduce(value.reduction(), std::move(axes), substitute(value.guard(), parts_),
                             (*this)(value.operands()[0]));
  }
  ValueExpr rebuilt(const ValueExpr& value) {
    using Kind = ValueExpr::Kind;
    const auto parts = value.operands();
    switch (value.kind()) {
      case Kind::kLoad: return load(value);
      case Kind::kNumber: return value;
      case Kind::kIndex: return ValueExpr::index(substitute(value.indices()[0], parts_));
      case Kind::kNot: return negation((*this)(parts[0]));
      case Kind::kCast: return cast(value.element(), (*this)(parts[0]));
      case Kind::kCall: return apply(value.function(), (*this)(parts[0]));
      case Kind::kSelect: return select((*this)(parts[0]), (*this)(parts[1]), (*this)(parts[2]));
      case Kind::kReduce: return reduction(value);
      default: return ValueExpr::binary(value.kind(), (*this)(parts[0]), (*this)(parts[1]));
    }
  }

  const Substitution& parts_;
  std::unordered_map<const ValueExpr::Node*, ValueExpr> known_;
};

}  // namespace

IndexExpr substitute(const IndexExpr& index, const Substitution& parts) {
  switch (index.kind()) {
    case IndexExpr::Kind::kNumber: return index;
    case IndexExpr::Kind::kSize: return parts.size ? parts.size(*index.size()).value_or(*index.size()) : index;
    case IndexExpr::Kind::kAxis: return parts.axis ? parts.axis(index.axis()).value_or(index) : index;
    case IndexExpr::Kind::kData: {
      std::vector<IndexExpr> all = substitute_all(index.operands(), parts);
      const std::vector<IndexExpr> at(all.begin() + 2, all.end());
      if (parts.data) {
        if (auto other = parts.data(IndexExpr::data(index.buffer(), at, all[0], all[1]))) return *std::move(other);
      }
      return IndexExpr::data(replaced(index.buffer(), parts), at, all[0], all[1]);
    }
    default: break;
  }
  return combine(index.kind(), substitute(index.operands()[0], parts), substitute(index.operands()[1], parts));
}

Guard substitute(const Guard& guard, const Substitution& parts) {
  Guard result;
  for (const IndexCondition& condition : guard) {
    result.push_back({substitute(condition.left, parts), condition.relation, substitute(condition.right, parts)});
  }
  return result;
}

ValueExpr substitute(const ValueExpr& value, const Substitution& parts) { return ValueSubstitution(parts)(value); }

// --- affine forms ----------------------------------------------------------------------------------------------

namespace {

const SymbolicDim kZero = 0;

/// a + factor * b
Affine plus(const Affine& a, const Affine& b, const SymbolicDim& factor) {
  Affine sum{a.constant + factor * b.constant, a.terms};
  for (const auto& [axis, coefficient] : b.terms) {
    const auto at = std::ranges::lower_bound(sum.terms, axis.id, {}, [](const auto& term) { return term.first.id; });
    if (at != sum.terms.end() && at->first == axis) {
      at->second = at->second + factor * coefficient;
    } else {
      sum.terms.insert(at, {axis, factor * coefficient});
    }
  }
  std::erase_if(sum.terms, [](const auto& term) { return term.second == kZero; });
  return sum;
}

std::optional<Affine> product(const Affine& a, const Affine& b) {
  if (a.terms.empty()) return plus({}, b, a.constant);
  if (b.terms.empty()) return plus({}, a, b.constant);
  return std::nullopt;
}

bool divides(std::int64_t divisor, const Affine& form) {
  const auto is_multiple = [divisor](const SymbolicDim& dim) {
    if (dim.constant_term() % divisor != 0) return false;
    return std::ranges::all_of(dim.atoms(), [&](const auto& atom) { return atom.coefficient % divisor == 0; });
  };
  return is_multiple(form.constant) &&
         std::ranges::all_of(form.terms, [&](const auto& term) { return is_multiple(term.second); });
}

/// The quotient, where the division leaves nothing.
std::optional<Affine> quotient(const Affine& form, const IndexExpr& divisor) {
  const auto n = divisor.number();
  if (!n || *n <= 0 || !divides(*n, form)) return std::nullopt;
  Affine result{floor_divide(form.constant, *n), form.terms};
  for (auto& [axis, coefficient] : result.terms) coefficient = floor_divide(coefficient, *n);
  return result;
}

}  // namespace

SymbolicDim Affine::coefficient(std::uint32_t axis) const {
  for (const auto& [own, coefficient] : terms) {
    if (own.id == axis) return coefficient;
  }
  return 0;
}

IndexExpr Affine::index() const {
  IndexExpr sum = 0;
  for (const auto& [axis, coefficient] : terms) sum = sum + IndexExpr(axis) * IndexExpr(coefficient);
  return sum + IndexExpr(constant);
}

std::optional<Affine> affine(const IndexExpr& index) {
  if (const auto size = index.size()) return Affine{*size, {}};
  if (index.kind() == IndexExpr::Kind::kAxis) return Affine{0, {{index.axis(), 1}}};
  if (index.kind() == IndexExpr::Kind::kData) return std::nullopt;
  const auto a = affine(index.operands()[0]), b = affine(index.operands()[1]);
  if (!a || !b) return std::nullopt;
  switch (index.kind()) {
    case IndexExpr::Kind::kAdd: return plus(*a, *b, 1);
    case IndexExpr::Kind::kSubtract: return plus(*a, *b, -1);
    case IndexExpr::Kind::kMultiply: return product(*a, *b);
    case IndexExpr::Kind::kFloor: return quotient(*a, index.operands()[1]);
    default: return quotient(*a, index.operands()[1]) ? std::optional(Affine{}) : std::nullopt;
  }
}

// --- intervals -------------------------------------------------------------------------------------------------

namespace {

constexpr Int128 kGreatestBound = Int128{1} << 62;

using AxisRanges = std::function<std::optional<IndexRange>(const Axis&)>;

std::optional<IndexRange> range_between(Int128 low, Int128 high) {
  if (low < -kGreatestBound || high > kGreatestBound) return std::nullopt;
  return IndexRange{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

std::optional<IndexRange> product(const IndexRange& a, const IndexRange& b) {
  const auto [low, high] = std::ranges::minmax(
      std::array{Int128{a.low} * b.low, Int128{a.low} * b.high, Int128{a.high} * b.low, Int128{a.high} * b.high});
  return range_between(low, high);
}

/// The divisor is one number, at least 1.
std::optional<IndexRange> divided(const IndexRange& a, const IndexRange& by, bool remainder) {
  if (by.low != by.high || by.low <= 0) return std::nullopt;
  const IndexRange floor{floor_divide(a.low, by.low), floor_divide(a.high, by.low)};
  if (!remainder) return floor;
  if (floor.low != floor.high) return IndexRange{0, by.low - 1};
  return IndexRange{a.low - floor.low * by.low, a.high - floor.low * by.low};
}

std::optional<IndexRange> combine(IndexExpr::Kind kind, const IndexRange& a, const IndexRange& b) {
  switch (kind) {
    case IndexExpr::Kind::kAdd: return range_between(Int128{a.low} + b.low, Int128{a.high} + b.high);
    case IndexExpr::Kind::kSubtract: return range_between(Int128{a.low} - b.high, Int128{a.high} - b.low);
    case IndexExpr::Kind::kMultiply: return product(a, b);
    default: return divided(a, b, kind == IndexExpr::Kind::kModulo);
  }
}

std::optional<IndexRange> range_by_parts(const IndexExpr& index, const AxisRanges& axes, const DimBinding& sizes) {
  const auto parts = index.operands();
  const auto a = range_of(parts[0], axes, sizes), b = range_of(parts[1], axes, sizes);
  if (!a || !b) return std::nullopt;
  if (index.kind() == IndexExpr::Kind::kData) return range_between(a->low, Int128{b->high} - 1);
  return combine(index.kind(), *a, *b);
}

std::optional<IndexRange> range_of_size(const SymbolicDim& size, const DimBinding& sizes) {
  const auto number = size.constant() ? size.constant() : sizes ? size.evaluate(sizes) : std::nullopt;
  return number ? std::optional(IndexRange{*number, *number}) : std::nullopt;
}

std::optional<IndexRange> range_of_affine(const Affine& form, const AxisRanges& axes, const DimBinding& sizes) {
  auto sum = range_of_size(form.constant, sizes);
  for (const auto& [axis, coefficient] : form.terms) {
    const auto range = axes(axis), factor = range_of_size(coefficient, sizes);
    const auto term = range && factor ? product(*range, *factor) : std::nullopt;
    if (!sum || !term) return std::nullopt;
    sum = combine(IndexExpr::Kind::kAdd, *sum, *term);
  }
  return sum;
}

}  // namespace

std::optional<IndexRange> range_of(const IndexExpr& index, const AxisRanges& axes, const DimBinding& sizes) {
  if (const auto form = affine(index)) return range_of_affine(*form, axes, sizes);
  return range_by_parts(index, axes, sizes);
}

}  // namespace rewright
