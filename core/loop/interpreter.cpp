#include "loop/interpreter.h"

#include <rewright/loop/element_types.h>

#include <fmt/ranges.h>

#include <optional>

#include "loop/algebra.h"

namespace rewright::loop {
namespace {

enum class Cell : std::uint8_t { kUnset, kSet, kLowest, kHighest };

template <class Scalar>
constexpr bool kHasInfinity = std::is_same_v<Scalar, Real> || std::is_same_v<Scalar, Wrapping>;

template <class Scalar>
class Interpreter {
 public:
  Interpreter(const Program& program, Contents<Scalar>& contents)
      : program_(program), contents_(contents), types_(program.buffers) {}

  Status run() {
    REWRIGHT_CHECK(prepare());
    run(program_.body);
    return error_ ? Status(*error_) : Status();
  }

 private:
  Status prepare() {
    if (contents_.size() != program_.buffers.size()) fail("interpret: a vector for each buffer is needed");
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      REWRIGHT_TRY(const std::int64_t count, element_count(buffer));
      const auto size = static_cast<std::size_t>(count);
      const bool given = buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight;
      if (given && contents_[b].size() != size) {
        return shape_error("buffer {} has {} elements, but {} were given", buffer.name, count, contents_[b].size());
      }
      if (!given) contents_[b].assign(size, Scalar());
      cells_.emplace_back(size, given ? Cell::kSet : Cell::kUnset);
      auto& sizes = sizes_.emplace_back();
      for (const IndexExpr& extent : buffer.sizes) sizes.push_back(*extent.number());
    }
    return {};
  }

  // --- statements ----------------------------------------------------------------------------------------------

  void run(const Body& body) {
    for (const Statement& statement : body) {
      if (error_) return;
      if (const Loop* loop = statement.loop()) {
        run(*loop);
      } else if (const Branch* branch = statement.branch()) {
        if (holds(branch->condition)) run(branch->body);
      } else {
        run(*statement.store());
      }
    }
  }
  void run(const Loop& loop) {
    const std::int64_t extent = evaluate(loop.extent);
    if (axes_.size() <= loop.axis.id) axes_.resize(loop.axis.id + 1);
    around_.push_back(&loop.axis);
    for (std::int64_t i = 0; i < extent && !error_; ++i) {
      axes_[loop.axis.id] = i;
      run(loop.body);
    }
    around_.pop_back();
  }
  void run(const Store& store) {
    const auto at = flat(store.buffer, store.at);
    const Scalar value = evaluate(store.value);
    if (error_) return;
    const std::size_t b = store.buffer.value;
    Scalar& element = contents_[b][at];
    Cell& cell = cells_[b][at];
    if (store.kind == StoreKind::kSet) {
      element = value;
      cell = cell_of(store.value);
    } else if (cell == Cell::kUnset) {
      fail_at(store.buffer, store.at, "is updated before it was set");
    } else {
      const Cell neutral = store.kind == StoreKind::kMaximum ? Cell::kLowest : Cell::kHighest;
      const bool has_order = store.kind == StoreKind::kMaximum || store.kind == StoreKind::kMinimum;
      if (has_order && cell_of(store.value) == neutral) return;
      element = updated(store.kind, cell, element, value);
      cell = Cell::kSet;
    }
  }
  /// Of an infinite number, or of a copy of an element that was set to one.
  Cell cell_of(const ValueExpr& value) {
    if constexpr (kHasInfinity<Scalar>) return Cell::kSet;
    if (value.kind() == ValueExpr::Kind::kLoad)
      return cells_[value.buffer().value][flat(value.buffer(), value.indices())];
    if (value.kind() != ValueExpr::Kind::kNumber || !std::isinf(value.number())) return Cell::kSet;
    return value.number() < 0 ? Cell::kLowest : Cell::kHighest;
  }
  static Scalar updated(StoreKind kind, Cell cell, const Scalar& old, const Scalar& value) {
    switch (kind) {
      case StoreKind::kAdd: return old + value;
      case StoreKind::kMultiply: return old * value;
      case StoreKind::kMaximum: return cell == Cell::kLowest ? value : max(old, value);
      default: return cell == Cell::kHighest ? value : is_less(value, old) ? value : old;
    }
  }

  // --- indices -------------------------------------------------------------------------------------------------

  std::int64_t evaluate(const IndexExpr& index) {
    using Kind = IndexExpr::Kind;
    if (index.kind() == Kind::kNumber) return *index.number();
    if (index.kind() == Kind::kAxis) return axes_[index.axis().id];
    if (index.kind() == Kind::kSize) return fail_with(shape_error("size {} has no number", to_string(*index.size())));
    if (index.kind() == Kind::kData) return read_data(index);
    const std::int64_t a = evaluate(index.operands()[0]), b = evaluate(index.operands()[1]);
    switch (index.kind()) {
      case Kind::kAdd: return a + b;
      case Kind::kSubtract: return a - b;
      case Kind::kMultiply: return a * b;
      default: break;
    }
    if (b <= 0) return fail_with(shape_error("an index is divided by {}{}", b, where()));
    const std::int64_t quotient = floor_divide(a, b);
    return index.kind() == Kind::kFloor ? quotient : a - quotient * b;
  }
  std::int64_t read_data(const IndexExpr& index) {
    const auto parts = index.operands();
    const std::int64_t low = evaluate(parts[0]), high = evaluate(parts[1]);
    const Scalar element = load(index.buffer(), parts.subspan(2));
    if (error_) return 0;
    const auto number = whole_number(element);
    if (number && low <= *number && *number < high) return *number;
    const std::string found = number ? std::to_string(*number) : "no integer";
    return fail_at(index.buffer(), parts.subspan(2), fmt::format("is {}; expected {} to {}", found, low, high - 1));
  }
  bool holds(const Guard& guard) {
    for (const IndexCondition& condition : guard) {
      const std::int64_t left = evaluate(condition.left), right = evaluate(condition.right);
      const bool holds = condition.relation == IndexCondition::Relation::kEqual  ? left == right
                         : condition.relation == IndexCondition::Relation::kLess ? left < right
                                                                                 : left <= right;
      if (!holds) return false;
    }
    return true;
  }
  std::size_t flat(BufferId buffer, std::span<const IndexExpr> at) {
    const auto& sizes = sizes_[buffer.value];
    if (at.size() != sizes.size()) {
      fail_at(buffer, at, fmt::format("has {} indices; expected {}", at.size(), sizes.size()));
      return 0;
    }
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t i = evaluate(at[d]);
      if (error_) return 0;
      if (i < 0 || i >= sizes[d]) {
        fail_at(buffer, at, fmt::format("lies outside of [{}]", fmt::join(sizes, ", ")));
        return 0;
      }
      place = place * sizes[d] + i;
    }
    return static_cast<std::size_t>(place);
  }

  // --- values --------------------------------------------------------------------------------------------------

  Scalar load(BufferId buffer, std::span<const IndexExpr> at) {
    const std::size_t place = flat(buffer, at);
    if (error_) return {};
    const Cell cell = cells_[buffer.value][place];
    if (cell == Cell::kUnset) fail_at(buffer, at, "is read before it was written");
    if (cell == Cell::kLowest) return Scalar::from_double(-INFINITY);
    return cell == Cell::kHighest ? Scalar::from_double(INFINITY) : contents_[buffer.value][place];
  }
  static Scalar truth(bool holds) { return Scalar::from_integer(holds ? 1 : 0); }
  bool is_true(const ValueExpr& value) { return !(evaluate(value) == Scalar()); }

  Scalar evaluate(const ValueExpr& value) {
    using Kind = ValueExpr::Kind;
    const auto parts = value.operands();
    switch (value.kind()) {
      case Kind::kLoad: return load(value.buffer(), value.indices());
      case Kind::kNumber: return Scalar::from_double(value.number());
      case Kind::kIndex: return Scalar::from_integer(evaluate(value.indices()[0]));
      case Kind::kAnd: return truth(is_true(parts[0]) && is_true(parts[1]));
      case Kind::kOr: return truth(is_true(parts[0]) || is_true(parts[1]));
      case Kind::kNot: return truth(!is_true(parts[0]));
      case Kind::kSelect: return evaluate(parts[is_true(parts[0]) ? 1 : 2]);
      case Kind::kCall: return apply(value.function(), evaluate(parts[0]));
      case Kind::kCast: return converted(value.element(), evaluate(parts[0]));
      case Kind::kReduce: return fail("interpret: a reduction inside a loop program"), Scalar();
      default: return combined(value, evaluate(parts[0]), evaluate(parts[1]));
    }
  }
  static Scalar converted(ElementType type, const Scalar& value) {
    if (type == ElementType::kBool) return truth(!(value == Scalar()));
    return is_floating(type) ? value : truncated(value);
  }
  Scalar combined(const ValueExpr& value, const Scalar& a, const Scalar& b) {
    using Kind = ValueExpr::Kind;
    switch (value.kind()) {
      case Kind::kAdd: return a + b;
      case Kind::kSubtract: return a - b;
      case Kind::kMultiply: return a * b;
      case Kind::kDivide: return is_whole(value) ? whole_quotient(a, b) : a / b;
      case Kind::kModulo: return remainder(a, b);
      case Kind::kMaximum: return max(a, b);
      case Kind::kMinimum: return is_less(b, a) ? b : a;
      case Kind::kEqual: return truth(a == b);
      case Kind::kLess: return truth(is_less(a, b));
      default: return truth(is_less(a, b) || a == b);
    }
  }
  bool is_whole(const ValueExpr& value) {
    const auto type = types_.of(value);
    return type && *type && !is_floating(**type);
  }

  // --- errors --------------------------------------------------------------------------------------------------

  std::int64_t fail_with(Error error) {
    if (!error_) error_ = std::move(error);
    return 0;
  }
  std::int64_t fail_at(BufferId buffer, std::span<const IndexExpr> at, std::string_view what) {
    if (error_) return 0;
    std::vector<std::int64_t> places;
    for (const IndexExpr& index : at) places.push_back(evaluate(index));
    return fail_with(shape_error("{}[{}] {}{}", program_[buffer].name, fmt::join(places, ", "), what, where()));
  }
  [[nodiscard]] std::string where() const {
    std::string text;
    for (const Axis* axis : around_) {
      text += fmt::format("{}{} = {}", text.empty() ? ", at " : ", ", axis->name, axes_[axis->id]);
    }
    return text;
  }

  const Program& program_;
  Contents<Scalar>& contents_;
  ElementTypes types_;
  std::vector<std::vector<Cell>> cells_;
  std::vector<std::vector<std::int64_t>> sizes_;
  std::vector<std::int64_t> axes_;
  std::vector<const Axis*> around_;
  std::optional<Error> error_;
};

}  // namespace

template <class Scalar>
Status interpret(const Program& program, Contents<Scalar>& contents) {
  return Interpreter<Scalar>(program, contents).run();
}

template REWRIGHT_API Status interpret<Field>(const Program&, Contents<Field>&);
template REWRIGHT_API Status interpret<Exact>(const Program&, Contents<Exact>&);
template REWRIGHT_API Status interpret<Real>(const Program&, Contents<Real>&);
template REWRIGHT_API Status interpret<Wrapping>(const Program&, Contents<Wrapping>&);

Result<std::int64_t> element_count(const Buffer& buffer) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t count = 1;
  for (const IndexExpr& size : buffer.sizes) {
    const auto number = size.number();
    if (!number) return shape_error("buffer {}: a size is a symbol; give it a number first", buffer.name);
    if (*number < 0) return shape_error("buffer {}: a size is {}", buffer.name, *number);
    if (*number > 0 && count > kMost / *number) return shape_error("buffer {} has over 2^40 elements", buffer.name);
    count *= *number;
  }
  return count;
}

}  // namespace rewright::loop
