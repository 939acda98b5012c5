#include "loop/validator.h"

#include <rewright/loop/buffer_owners.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "loop/interpreter.h"
#include "loop/program_structure.h"
#include "loop/race_check.h"

namespace rewright::loop {
namespace {

bool is_given(const Buffer& buffer) { return buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight; }

/// How many statements run at least, where that is at most `most`: what is in branches counts as nothing.
std::int64_t least_steps(const Body& body, std::int64_t most) {
  std::int64_t steps = 0;
  for (const Statement& statement : body) {
    ++steps;
    if (const Loop* loop = statement.loop()) {
      const std::int64_t once = least_steps(loop->body, most), extent = loop->extent.number().value_or(0);
      steps += extent > 0 && once > most / extent ? most : once * extent;
    }
    if (steps > most) return steps;
  }
  return steps;
}

/// Walks the iterations; values are not computed. An index that depends on data is a range.
class IterationWalk {
 public:
  IterationWalk(const Program& program, std::int64_t steps)
      : program_(program), steps_left_(steps), owners_(owners(program)) {}

  Status run() {
    for (const Access& access : accesses(program_)) {
      if (!stays_inside(access, program_[access.buffer])) unproved_.insert(access.buffer.value);
    }
    for (const Buffer& buffer : program_.buffers) {
      const std::int64_t count = is_given(buffer) ? 0 : *element_count(buffer);
      if ((steps_left_ -= count) < 0) return too_long();
      elements_.emplace_back(static_cast<std::size_t>(count));
      auto& sizes = sizes_.emplace_back();
      for (const IndexExpr& size : buffer.sizes) sizes.push_back(*size.number());
    }
    if (least_steps(program_.body, steps_left_) > steps_left_) return too_long();
    run(program_.body);
    if (!error_) check_outputs();
    return error_ ? Status(*error_) : Status();
  }

 private:
  struct Element {
    std::int64_t epoch = -1;  ///< Of the owner's iteration that set it.
    bool set_before = false;  ///< In any epoch.
    RaceCheck::Touched touched;
  };

  static Error too_long() {
    return make_error(ErrorCode::kBudget, "the program is too large for its iterations to be walked one by one");
  }
  void fail_with(Error error) {
    if (!error_) error_ = std::move(error);
  }
  void fail_at(BufferId buffer, std::span<const IndexExpr> at, std::string_view what) {
    std::vector<std::string> places;
    for (const IndexExpr& index : at) {
      const auto range = evaluate(index);
      places.push_back(range.low == range.high ? std::to_string(range.low)
                                               : fmt::format("{}..{}", range.low, range.high));
    }
    std::string where;
    for (const Axis* axis : around_) {
      where += fmt::format("{}{} = {}", where.empty() ? ", at " : ", ", axis->name, axes_[axis->id]);
    }
    fail_with(shape_error("{}[{}] {}{}", program_[buffer].name, fmt::join(places, ", "), what, where));
  }

  // --- indices -------------------------------------------------------------------------------------------------

  IndexRange evaluate(const IndexExpr& index) {
    using Kind = IndexExpr::Kind;
    if (index.kind() == Kind::kNumber) return {*index.number(), *index.number()};
    if (index.kind() == Kind::kAxis) return {axes_[index.axis().id], axes_[index.axis().id]};
    const IndexRange a = evaluate(index.operands()[0]), b = evaluate(index.operands()[1]);
    if (index.kind() == Kind::kData) return {a.low, std::max(a.low, b.high - 1)};
    if (a.low == a.high && b.low == b.high) return exact(index.kind(), a.low, b.low);
    const auto range = rewright::range_of(index, [this](const Axis& axis) {
      return std::optional(IndexRange{axes_[axis.id], axes_[axis.id]});
    });
    if (!range) fail_with(shape_error("where an index lies cannot be told, as it depends on data"));
    return range.value_or(IndexRange{});
  }
  IndexRange exact(IndexExpr::Kind kind, std::int64_t a, std::int64_t b) {
    using Kind = IndexExpr::Kind;
    std::int64_t result = 0;
    switch (kind) {
      case Kind::kAdd: result = a + b; break;
      case Kind::kSubtract: result = a - b; break;
      case Kind::kMultiply: result = a * b; break;
      default:
        if (b <= 0) return fail_with(shape_error("an index is divided by {}", b)), IndexRange{};
        result = kind == Kind::kFloor ? floor_divide(a, b) : a - b * floor_divide(a, b);
    }
    return {result, result};
  }
  /// Nothing if it depends on data.
  std::optional<bool> holds(const Guard& guard) {
    std::optional<bool> all = true;
    for (const IndexCondition& condition : guard) {
      const IndexRange a = evaluate(condition.left), b = evaluate(condition.right);
      const auto one = compared(condition.relation, a, b);
      if (one == false) return false;
      if (!one) all = std::nullopt;
    }
    return all;
  }
  static std::optional<bool> compared(IndexCondition::Relation relation, IndexRange a, IndexRange b) {
    if (relation == IndexCondition::Relation::kEqual) {
      if (a.high < b.low || b.high < a.low) return false;
      return a.low == a.high && b == a ? std::optional(true) : std::nullopt;
    }
    const std::int64_t strict = relation == IndexCondition::Relation::kLess ? 1 : 0;
    if (a.high + strict <= b.low) return true;
    return a.low + strict > b.high ? std::optional(false) : std::nullopt;
  }

  // --- statements ----------------------------------------------------------------------------------------------

  void run(const Body& body) {
    for (const Statement& statement : body) {
      if (--steps_left_ < 0) fail_with(too_long());
      if (error_) return;
      if (const Loop* loop = statement.loop()) {
        run(*loop);
      } else if (const Branch* branch = statement.branch()) {
        if (holds(branch->condition) != false) run(branch->body);
      } else {
        run(*statement.store());
      }
    }
  }
  void run(const Loop& loop) {
    read_data(loop.extent);
    const std::int64_t extent = evaluate(loop.extent).high;
    const bool any_order = loop.kind == LoopKind::kParallel || loop.kind == LoopKind::kVector;
    if (axes_.size() <= loop.axis.id) {
      axes_.resize(loop.axis.id + 1);
      epochs_.resize(loop.axis.id + 1);
    }
    around_.push_back(&loop.axis);
    if (any_order) races_.enter_loop();
    for (std::int64_t i = 0; i < extent && !error_; ++i) {
      axes_[loop.axis.id] = i;
      epochs_[loop.axis.id] = ++iterations_;
      if (any_order) races_.set_iteration(i);
      run(loop.body);
    }
    if (any_order) races_.leave_loop();
    around_.pop_back();
  }
  void run(const Store& store) {
    read(store.value);
    for (const IndexExpr& index : store.at) read_data(index);
    Element* element = element_at(store.buffer, store.at);
    if (error_) return;
    if (element == nullptr) {
      if (store.kind == StoreKind::kSet) fail_at(store.buffer, store.at, "is set at a place that depends on data");
      if (races_.is_inside()) {
        fail_at(store.buffer, store.at, "is updated at a place that depends on data, by iterations of any order");
      }
      return;
    }
    const std::int64_t epoch = epoch_of(store.buffer);
    const bool is_set = element->epoch == epoch;
    if (store.kind != StoreKind::kSet && !is_set)
      return fail_at(store.buffer, store.at, "is updated before it was set");
    if (store.kind == StoreKind::kSet && element->set_before && program_[store.buffer].role == BufferRole::kOutput) {
      return fail_at(store.buffer, store.at, "is set twice");
    }
    if (!is_set) element->touched = {};
    element->epoch = epoch;
    element->set_before = true;
    if (!races_.write(element->touched)) {
      fail_at(store.buffer, store.at, "is touched by two iterations of a loop whose iterations have no order");
    }
  }

  /// What an element must have been set in to be read now.
  [[nodiscard]] std::int64_t epoch_of(BufferId buffer) const {
    const auto owner = owners_[buffer.value];
    return owner ? epochs_[*owner] : 0;
  }

  // --- values --------------------------------------------------------------------------------------------------

  void read(const ValueExpr& value) {
    if (error_) return;
    if (value.kind() == ValueExpr::Kind::kSelect) return read_select(value);
    for (const IndexExpr& index : value.indices()) read_data(index);
    if (value.kind() == ValueExpr::Kind::kLoad) read(value.buffer(), value.indices());
    for (const ValueExpr& part : value.operands()) read(part);
  }
  void read_select(const ValueExpr& value) {
    const auto parts = value.operands();
    read(parts[0]);
    const auto guard = guard_of(parts[0]);
    const auto known = guard ? holds(*guard) : std::nullopt;
    if (known != false) read(parts[1]);
    if (known != true) read(parts[2]);
  }
  void read_data(const IndexExpr& index) {
    if (index.kind() == IndexExpr::Kind::kData) read(index.buffer(), index.operands().subspan(2));
    for (const IndexExpr& part : index.operands()) read_data(part);
  }
  void read(BufferId buffer, std::span<const IndexExpr> at) {
    if (--steps_left_ < 0) return fail_with(too_long());
    if (is_given(program_[buffer])) {
      if (unproved_.contains(buffer.value)) place_of(buffer, at);
      return;
    }
    Element* element = element_at(buffer, at);
    if (error_ || element == nullptr) return;
    if (element->epoch != epoch_of(buffer)) return fail_at(buffer, at, "is read before it was set");
    if (!races_.read(element->touched)) {
      fail_at(buffer, at, "is touched by two iterations of a loop whose iterations have no order");
    }
  }

  /// The flat place; nothing if it depends on data or is an error.
  std::optional<std::size_t> place_of(BufferId buffer, std::span<const IndexExpr> at) {
    const auto& sizes = sizes_[buffer.value];
    std::int64_t place = 0;
    bool is_known = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const IndexRange range = evaluate(at[d]);
      if (error_) return std::nullopt;
      if (range.low < 0 || range.high >= sizes[d]) {
        fail_at(buffer, at, fmt::format("lies outside of [{}]", fmt::join(sizes, ", ")));
        return std::nullopt;
      }
      is_known &= range.low == range.high;
      place = place * sizes[d] + range.low;
    }
    return is_known ? std::optional(static_cast<std::size_t>(place)) : std::nullopt;
  }
  Element* element_at(BufferId buffer, std::span<const IndexExpr> at) {
    const auto place = place_of(buffer, at);
    return place ? &elements_[buffer.value][*place] : nullptr;
  }

  void check_outputs() {
    for (std::size_t b = 0; b < elements_.size(); ++b) {
      if (program_.buffers[b].role != BufferRole::kOutput) continue;
      const auto missing = std::ranges::find(elements_[b], false, &Element::set_before);
      if (missing == elements_[b].end()) continue;
      auto flat = missing - elements_[b].begin();
      std::vector<std::int64_t> at(sizes_[b].size());
      for (std::size_t d = at.size(); d-- > 0; flat /= sizes_[b][d]) at[d] = flat % sizes_[b][d];
      return fail_with(shape_error("{}[{}] is never set", program_.buffers[b].name, fmt::join(at, ", ")));
    }
  }

  const Program& program_;
  std::int64_t steps_left_;
  std::vector<std::optional<std::uint32_t>> owners_;
  std::set<std::uint32_t> unproved_;  ///< Buffers of which not every access was seen to stay inside.
  std::vector<std::vector<Element>> elements_;
  std::vector<std::vector<std::int64_t>> sizes_;
  std::vector<std::int64_t> axes_, epochs_;
  std::vector<const Axis*> around_;
  RaceCheck races_;
  std::int64_t iterations_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Status validate(const Program& program, std::int64_t steps) {
  REWRIGHT_CHECK(check_structure(program));
  return IterationWalk(program, steps).run();
}

}  // namespace rewright::loop
