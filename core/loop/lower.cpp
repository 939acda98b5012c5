#include "loop/lower.h"

#include <rewright/loop/element_types.h>
#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "loop/accesses.h"
#include "loop/expression_walk.h"
#include "loop/reserved_words.h"
#include "loop/wrapping.h"

namespace rewright::loop {
namespace {

/// A value of more parts than this, shared ones counted as often as they are used, gets temporaries for what is shared.
constexpr double kLargeValue = 400;
constexpr double kWorthSharing = 8;

/// How a statement comes to be run: inside of which loops and conditions.
struct Level {
  Body body;
  std::vector<std::pair<ValueExpr, ValueExpr>> computed;  ///< Values that statements before this place have stored.
};

StoreKind update_of(ValueExpr::Reduction reduction) {
  switch (reduction) {
    case ValueExpr::Reduction::kSum: return StoreKind::kAdd;
    case ValueExpr::Reduction::kProduct: return StoreKind::kMultiply;
    case ValueExpr::Reduction::kMaximum: return StoreKind::kMaximum;
    case ValueExpr::Reduction::kMinimum: break;
  }
  return StoreKind::kMinimum;
}

ValueExpr start_of(ValueExpr::Reduction reduction) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case ValueExpr::Reduction::kSum: return ValueExpr::from_integer(0);
    case ValueExpr::Reduction::kProduct: return ValueExpr::from_integer(1);
    case ValueExpr::Reduction::kMaximum: return ValueExpr::from_double(-kInfinity);
    case ValueExpr::Reduction::kMinimum: break;
  }
  return ValueExpr::from_double(kInfinity);
}

/// The parts of a value, each as often as it is used, and which nodes are used more than once.
class SharedParts {
 public:
  double size(const ValueExpr& value) {
    if (const auto known = sizes_.find(value.address()); known != sizes_.end()) {
      shared_.insert(value.address());
      return known->second;
    }
    double size = 1;
    for (const ValueExpr& part : value.operands()) size += this->size(part);
    return sizes_.emplace(value.address(), size).first->second;
  }
  [[nodiscard]] bool is_worth_storing(const ValueExpr& value) const {
    return shared_.contains(value.address()) && sizes_.at(value.address()) >= kWorthSharing;
  }

 private:
  std::unordered_map<const ValueExpr::Node*, double> sizes_;
  std::set<const ValueExpr::Node*> shared_;
};

class Lowering {
 public:
  explicit Lowering(const Definition& definition) : definition_(definition) {}

  Result<Program> run() {
    for (const Buffer& buffer : definition_.buffers) {
      program_.buffers.push_back(buffer);
      program_.buffers.back().name = unused(buffer.name, buffer_names_);
    }
    for (std::span<const Stage> left = definition_.stages; !left.empty();) {
      const AxisRange* const serial = serial_axis(left.front());
      const auto others = std::ranges::find_if_not(left, [&](const Stage& stage) {
        const AxisRange* const other = serial_axis(stage);
        return serial != nullptr && other != nullptr && other->axis == serial->axis;
      });
      const std::size_t count = serial == nullptr ? 1 : static_cast<std::size_t>(others - left.begin());
      REWRIGHT_CHECK(serial == nullptr ? lower(left.front(), 0, program_.body) : recurrence(left.first(count)));
      left = left.subspan(count);
    }
    return std::move(program_);
  }

 private:
  /// A word that is not among `taken`, which it joins.
  static std::string unused(std::string_view wanted, std::set<std::string>& taken) {
    const std::string word = as_word(wanted);
    for (int i = 1;; ++i) {
      std::string name = i == 1 ? word : fmt::format("{}_{}", word, i);
      if (taken.insert(name).second) return name;
    }
  }
  [[nodiscard]] AxisRange entered(const AxisRange& range) {
    const std::string name = to_string(LoopName{{{stage_name_, as_word(range.axis.name), {}}}});
    const Axis axis{next_axis_++, unused_loop(name)};
    places_.insert_or_assign(range.axis.id, axis);
    const IndexExpr extent = index(range.extent);
    if (const auto number = extent.number(); number && *number > 0) ranges_[axis.id] = {0, *number - 1};
    return {axis, extent, range.is_serial};
  }
  std::string unused_loop(const std::string& wanted) {
    for (int i = 1;; ++i) {
      std::string name = i == 1 ? wanted : fmt::format("{}{}", wanted, i);
      if (loop_names_.insert(name).second) return name;
    }
  }

  // --- expressions ---------------------------------------------------------------------------------------------

  [[nodiscard]] AxisRanges ranges() const {
    return [this](const Axis& axis) {
      const auto at = ranges_.find(axis.id);
      return at == ranges_.end() ? std::nullopt : std::optional(at->second);
    };
  }
  [[nodiscard]] IndexExpr index(const IndexExpr& index) const {
    return simplified(substitute(index, parts_), ranges());
  }
  [[nodiscard]] std::vector<IndexExpr> indices(std::span<const IndexExpr> all) const {
    std::vector<IndexExpr> result;
    for (const IndexExpr& one : all) result.push_back(index(one));
    return result;
  }
  /// Without what always holds.
  [[nodiscard]] Guard guard(const Guard& guard) const {
    Guard result;
    for (const IndexCondition& condition : guard) {
      IndexCondition next{index(condition.left), condition.relation, index(condition.right)};
      if (decided(next) != true) result.push_back(std::move(next));
    }
    return result;
  }
  /// Nothing where it depends on the axes.
  [[nodiscard]] std::optional<bool> decided(const IndexCondition& condition) const {
    const auto margin = range_of(simplified(condition.right - condition.left, ranges()), ranges());
    if (!margin) return std::nullopt;
    const std::int64_t least = condition.relation == IndexCondition::Relation::kLess ? 1 : 0;
    if (margin->high < least) return false;
    if (condition.relation == IndexCondition::Relation::kEqual) {
      return margin->low > 0                         ? std::optional(false)
             : margin->high == 0 && margin->low == 0 ? std::optional(true)
                                                     : std::nullopt;
    }
    return margin->low >= least ? std::optional(true) : std::nullopt;
  }
  [[nodiscard]] bool never_holds(const Guard& guard) const {
    return std::ranges::any_of(guard, [this](const IndexCondition& next) { return decided(next) == false; });
  }

  // --- statements ----------------------------------------------------------------------------------------------

  /// Stages that begin with one serial axis, inside of its loop.
  Status recurrence(std::span<const Stage> stages) {
    stage_name_ = as_word(stages.front().name);
    const AxisRange around = entered(stages.front().axes.front());
    Loop loop{around.axis, around.extent, LoopKind::kSerial, {}};
    for (const Stage& stage : stages) REWRIGHT_CHECK(lower(stage, 1, loop.body));
    program_.body.emplace_back(std::move(loop));
    return {};
  }
  /// The stage's nest, without its first `outer` axes, which are loops around `body`.
  Status lower(const Stage& stage, std::size_t outer, Body& body) {
    const Buffer& target = program_[stage.target];
    if (stage.at.size() != target.sizes.size()) {
      return shape_error("stage {}: {} has {} sizes, its place {} indices", stage.name, target.name,
                         target.sizes.size(), stage.at.size());
    }
    stage_name_ = as_word(stage.name);
    std::vector<AxisRange> axes;
    for (const AxisRange& range : std::span(stage.axes).subspan(outer)) axes.push_back(entered(range));
    Level level;
    REWRIGHT_CHECK(store_stage(stage, level));
    Body nest = nested(axes, guard(stage.where), std::move(level.body));
    for (std::size_t i = 0; i < nest.size(); ++i) body.push_back(i == 0 ? noted(nest[i], stage) : nest[i]);
    return {};
  }
  [[nodiscard]] Statement noted(const Statement& statement, const Stage& stage) const {
    Definition alone{program_.buffers, {stage}};
    std::string note = to_string(alone);
    while (note.ends_with('\n')) note.pop_back();
    if (const Loop* loop = statement.loop()) return {*loop, note};
    if (const Branch* branch = statement.branch()) return {*branch, note};
    return {*statement.store(), note};
  }
  Status store_stage(const Stage& stage, Level& level) {
    Store store{stage.target, indices(stage.at), StoreKind::kSet, {}};
    if (stage.value.kind() == ValueExpr::Kind::kReduce) return reduce(stage.value, store, level);
    SharedParts shared;
    const bool large = shared.size(stage.value) > kLargeValue;
    shared_ = large ? &shared : nullptr;
    element_ = program_[stage.target].element;
    auto value = lowered(stage.value, {}, level);
    shared_ = nullptr;
    if (!value) return value.error();
    REWRIGHT_CHECK(check_element(stage, *value));
    store.value = *std::move(value);
    level.body.emplace_back(std::move(store));
    return {};
  }
  Status check_element(const Stage& stage, const ValueExpr& value) const {
    ElementTypes types(program_.buffers);
    const auto type = types.of(value);
    if (!type) return shape_error("stage {}: {}", stage.name, type.error().message);
    const Buffer& target = program_[stage.target];
    if (!*type || **type == target.element) return {};
    return shape_error("stage {}: {} has element type {}, its value {}", stage.name, target.name,
                       name_of(target.element), name_of(**type));
  }

  /// Loops around statements; each condition directly inside the innermost loop of which it has an axis.
  static Body nested(std::span<const AxisRange> axes, const Guard& guard, Body body) {
    std::vector<Guard> inside(axes.size() + 1);
    for (const IndexCondition& condition : guard) inside[depth_of(condition, axes)].push_back(condition);
    for (std::size_t d = axes.size() + 1; d-- > 0;) {
      if (!inside[d].empty()) body = {Statement(Branch{inside[d], std::move(body)})};
      if (d > 0) body = {Statement(Loop{axes[d - 1].axis, axes[d - 1].extent, LoopKind::kSerial, std::move(body)})};
    }
    return body;
  }
  static std::size_t depth_of(const IndexCondition& condition, std::span<const AxisRange> axes) {
    std::size_t depth = 0;
    for_each_index(Guard{condition}, [&](const IndexExpr& part) {
      for (std::size_t d = depth; d < axes.size(); ++d) {
        if (part.kind() == IndexExpr::Kind::kAxis && part.axis() == axes[d].axis) depth = d + 1;
      }
    });
    return depth;
  }

  /// store.buffer[store.at] = start; loops { store.buffer[store.at] op= body }
  Status reduce(const ValueExpr& value, const Store& store, Level& level) {
    Store start = store;
    start.value = start_of(value.reduction());
    level.body.emplace_back(std::move(start));
    std::vector<AxisRange> axes;
    for (const AxisRange& range : value.axes()) axes.push_back(entered(range));
    const Guard where = guard(value.guard());
    Level inner{{}, level.computed};
    Store update = store;
    update.kind = update_of(value.reduction());
    REWRIGHT_TRY(update.value, lowered(value.operands()[0], {}, inner));
    inner.body.emplace_back(std::move(update));
    std::ranges::move(nested(axes, where, std::move(inner.body)), std::back_inserter(level.body));
    return {};
  }

  /// A new temporary of one element.
  BufferId scalar(std::string_view stem, ElementType element) {
    program_.buffers.push_back(
        {unused(fmt::format("{}_{}", stage_name_, stem), buffer_names_), {}, element, BufferRole::kTemporary});
    return {static_cast<std::uint32_t>(program_.buffers.size() - 1)};
  }
  Result<ElementType> element_of(const ValueExpr& value) const {
    ElementTypes types(program_.buffers);
    REWRIGHT_TRY(const auto type, types.of(value));
    return type.value_or(element_);
  }

  /// The value without reductions: what they need is stored before. `when` holds wherever the value is needed.
  Result<ValueExpr> lowered(const ValueExpr& value, const Guard& when, Level& level) {
    for (const auto& [known, stored] : level.computed) {
      if (known == value) return stored;
    }
    if (value.kind() == ValueExpr::Kind::kReduce) return reduced(value, when, level);
    REWRIGHT_TRY(const ValueExpr result, with_parts(value, when, level));
    if (shared_ == nullptr || !when.empty() || !shared_->is_worth_storing(value)) return result;
    REWRIGHT_TRY(const ElementType element, element_of(result));
    const BufferId buffer = scalar("part", element);
    level.body.emplace_back(Store{buffer, {}, StoreKind::kSet, result});
    return level.computed.emplace_back(value, ValueExpr::load(buffer, {})).second;
  }
  Result<ValueExpr> reduced(const ValueExpr& value, const Guard& when, Level& level) {
    REWRIGHT_TRY(const ElementType element, element_of(value.operands()[0]));
    const BufferId buffer = scalar("acc", element);
    const ValueExpr load = ValueExpr::load(buffer, {});
    if (when.empty()) {
      REWRIGHT_CHECK(reduce(value, Store{buffer, {}, StoreKind::kSet, {}}, level));
      return level.computed.emplace_back(value, load).second;
    }
    Level inner{{}, level.computed};
    REWRIGHT_CHECK(reduce(value, Store{buffer, {}, StoreKind::kSet, {}}, inner));
    level.body.emplace_back(Branch{when, std::move(inner.body)});
    return load;
  }
  Result<ValueExpr> with_parts(const ValueExpr& value, const Guard& when, Level& level) {
    using Kind = ValueExpr::Kind;
    switch (value.kind()) {
      case Kind::kLoad: return ValueExpr::load(value.buffer(), indices(value.indices()));
      case Kind::kNumber: return value;
      case Kind::kIndex: return ValueExpr::index(index(value.indices()[0]));
      case Kind::kSelect: return selected(value, when, level);
      default: break;
    }
    std::vector<ValueExpr> parts;
    for (const ValueExpr& part : value.operands()) {
      REWRIGHT_TRY(ValueExpr next, lowered(part, when, level));
      parts.push_back(std::move(next));
    }
    return rebuilt(value, parts);
  }
  static ValueExpr rebuilt(const ValueExpr& value, std::span<const ValueExpr> parts) {
    switch (value.kind()) {
      case ValueExpr::Kind::kNot: return negation(parts[0]);
      case ValueExpr::Kind::kCast: return cast(value.element(), parts[0]);
      case ValueExpr::Kind::kCall: return apply(value.function(), parts[0]);
      default: return ValueExpr::binary(value.kind(), parts[0], parts[1]);
    }
  }
  /// Reductions in a branch are run where the condition on indices says so; other conditions do not hold them back.
  Result<ValueExpr> selected(const ValueExpr& value, const Guard& when, Level& level) {
    const auto parts = value.operands();
    const auto condition = guard_of(parts[0]);
    Guard then = when, otherwise = when;
    if (condition) {
      const Guard own = guard(*condition);
      then.insert(then.end(), own.begin(), own.end());
      if (own.empty()) return lowered(parts[1], when, level);
      if (never_holds(own)) return lowered(parts[2], when, level);
      const auto inverse = own.size() == 1 ? opposite(own[0]) : std::nullopt;
      if (inverse) otherwise.push_back(*inverse);
    }
    REWRIGHT_TRY(const ValueExpr a, lowered(parts[0], when, level));
    REWRIGHT_TRY(const ValueExpr b, lowered(parts[1], then, level));
    REWRIGHT_TRY(const ValueExpr c, lowered(parts[2], otherwise, level));
    return select(a, b, c);
  }
  const Definition& definition_;
  Program program_;
  std::set<std::string> buffer_names_, loop_names_;
  std::string stage_name_;
  std::uint32_t next_axis_ = 0;
  std::map<std::uint32_t, Axis> places_;        ///< By the definition's axes.
  std::map<std::uint32_t, IndexRange> ranges_;  ///< By the program's.
  Substitution parts_{.axis = [this](const Axis& axis) -> std::optional<IndexExpr> {
    const auto at = places_.find(axis.id);
    return at == places_.end() ? std::nullopt : std::optional(IndexExpr(at->second));
  }};
  SharedParts* shared_ = nullptr;
  ElementType element_ = ElementType::kFloat32;  ///< Of the store at hand.
};

// --- changes of a whole program --------------------------------------------------------------------------------

using ValueChange = std::function<ValueExpr(const ValueExpr&)>;

Body changed(const Body& body, const Substitution& parts, const ValueChange& value) {
  Body result;
  for (const Statement& statement : body) {
    if (const Loop* loop = statement.loop()) {
      result.emplace_back(
          Loop{loop->axis, substitute(loop->extent, parts), loop->kind, changed(loop->body, parts, value)},
          statement.note());
    } else if (const Branch* branch = statement.branch()) {
      result.emplace_back(Branch{substitute(branch->condition, parts), changed(branch->body, parts, value)},
                          statement.note());
    } else {
      Store store = *statement.store();
      for (IndexExpr& index : store.at) index = substitute(index, parts);
      store.value = value(substitute(store.value, parts));
      result.emplace_back(std::move(store), statement.note());
    }
  }
  return result;
}

/// Over integers: no quotient, and no number that is not whole.
ValueExpr mixed(const ValueExpr& value) {
  using Kind = ValueExpr::Kind;
  std::vector<ValueExpr> parts;
  for (const ValueExpr& part : value.operands()) parts.push_back(mixed(part));
  switch (value.kind()) {
    case Kind::kNumber:
      if (std::isinf(value.number())) return value;
      return ValueExpr::from_integer(Wrapping::from_double(value.number()).value);
    case Kind::kLoad:
    case Kind::kIndex: return value;
    case Kind::kDivide:
      return apply(Function::kExp,
                   parts[0] * ValueExpr::from_integer(40503) + parts[1] * ValueExpr::from_integer(30011));
    case Kind::kNot: return negation(parts[0]);
    case Kind::kCast:
      return is_floating(value.element()) ? cast(ElementType::kInt32, parts[0]) : cast(value.element(), parts[0]);
    case Kind::kCall: return apply(value.function(), parts[0]);
    case Kind::kSelect: return select(parts[0], parts[1], parts[2]);
    default: return ValueExpr::binary(value.kind(), parts[0], parts[1]);
  }
}

}  // namespace

Result<Program> lower(const Definition& definition) { return Lowering(definition).run(); }

Program specialised(const Program& program, const DimBinding& sizes) {
  const Substitution parts{.size = [&](const SymbolicDim& size) -> std::optional<SymbolicDim> {
    const auto number = size.evaluate(sizes);
    return number ? std::optional(SymbolicDim(*number)) : std::nullopt;
  }};
  Program result = program;
  for (Buffer& buffer : result.buffers) {
    for (IndexExpr& size : buffer.sizes) size = substitute(size, parts);
  }
  result.body = changed(program.body, parts, [](const ValueExpr& value) { return value; });
  return result;
}

Program over_wrapping_integers(const Program& program) {
  Program result = program;
  for (Buffer& buffer : result.buffers) {
    if (is_floating(buffer.element)) buffer.element = ElementType::kInt32;
  }
  result.body = changed(program.body, {}, mixed);
  return result;
}

}  // namespace rewright::loop
