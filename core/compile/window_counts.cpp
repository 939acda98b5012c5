#include "compile/window_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "schedule/nest.h"
#include "schedule/read_box.h"

namespace rewright::compile {
namespace {

using loop::Body;
using loop::Branch;
using loop::Loop;
using loop::Program;
using loop::Statement;
using loop::Store;
using loop::StoreKind;

/// for summed { if condition { n += 1 } }
struct WindowCount {
  std::vector<const Loop*> summed;
  Guard condition;
};

bool is_number(const ValueExpr& value, std::int64_t number) { return value == ValueExpr::from_integer(number); }

std::optional<WindowCount> count_at(const Statement& statement, BufferId counter) {
  WindowCount count;
  for (const Statement* at = &statement;; at = &loop::body_of(*at)[0]) {
    if (const Store* store = at->store()) {
      const bool is_count = store->buffer == counter && store->kind == StoreKind::kAdd && is_number(store->value, 1);
      return is_count && !count.summed.empty() ? std::optional(std::move(count)) : std::nullopt;
    }
    if (loop::body_of(*at).size() != 1) return std::nullopt;
    if (const Loop* loop = at->loop()) {
      if (!loop->extent.number()) return std::nullopt;
      count.summed.push_back(loop);
    } else {
      const Guard& more = at->branch()->condition;
      count.condition.insert(count.condition.end(), more.begin(), more.end());
    }
  }
}

/// One program's counts, one after the other.
class Counting {
 public:
  explicit Counting(const Program& program) : result_(program) {}

  Program run() {
    for (std::size_t root = 0; root < result_.body.size(); ++root) {
      while (const std::size_t added = separate(root)) root += added;
    }
    return std::move(result_);
  }

 private:
  /// Puts the first count in a nest before it. How many statements these are; 0: there is none.
  std::size_t separate(std::size_t root) {
    std::vector<const Loop*> outer;
    const Body* body = &result_.body;
    for (const Statement* at = &result_.body[root]; at->loop() != nullptr; at = &(*body)[0]) {
      if (!at->loop()->extent.number()) return 0;
      outer.push_back(at->loop());
      body = &at->loop()->body;
      if (body->size() != 1) break;
    }
    for (std::size_t s = 0; !outer.empty() && s + 1 < body->size(); ++s) {
      const Store* init = (*body)[s].store();
      if (init == nullptr || init->kind != StoreKind::kSet || !is_number(init->value, 0)) continue;
      const Buffer& buffer = result_[init->buffer];
      if (buffer.role != BufferRole::kTemporary || !buffer.sizes.empty()) continue;
      const auto count = count_at((*body)[s + 1], init->buffer);
      if (!count || is_stored_elsewhere(init->buffer)) continue;
      if (auto made = counted(*count, outer, init->buffer)) return put_before(root, outer, s, std::move(*made));
    }
    return 0;
  }
  /// But for the two stores of a count.
  [[nodiscard]] bool is_stored_elsewhere(BufferId buffer) const {
    std::size_t stores = 0;
    const std::function<void(const Body&)> visit = [&](const Body& body) {
      for (const Statement& statement : body) {
        visit(loop::body_of(statement));
        if (statement.store() != nullptr && statement.store()->buffer == buffer) ++stores;
      }
    };
    visit(result_.body);
    return stores != 2;
  }

  struct Made {
    Program program;  ///< With buffers for it.
    Body before;
    BufferId counter;    ///< n.
    ValueExpr in_place;  ///< Of n, in the nest.
  };
  std::optional<Made> counted(const WindowCount& count, const std::vector<const Loop*>& outer, BufferId counter) {
    Made made{result_, {}, counter, ValueExpr::from_integer(1)};
    schedule::Copies copies(made.program);
    std::vector<ValueExpr> factors;
    std::size_t placed = 0;
    for (const Loop* summed : count.summed) {
      Guard condition;
      for (const IndexCondition& each : count.condition)
        if (schedule::names_axis(each, summed->axis)) condition.push_back(each);
      placed += condition.size();
      if (condition.empty()) {
        factors.push_back(ValueExpr::from_integer(*summed->extent.number()));
        continue;
      }
      const bool is_alone = std::ranges::none_of(condition, [&](const IndexCondition& each) {
        return std::ranges::any_of(count.summed, [&](const Loop* other) {
          return other != summed && schedule::names_axis(each, other->axis);
        });
      });
      std::vector<const Loop*> followed;
      for (const Loop* loop : outer) {
        const bool is_named =
            std::ranges::any_of(condition, [&](const auto& each) { return schedule::names_axis(each, loop->axis); });
        if (is_named) followed.push_back(loop);
      }
      if (!is_alone || followed.empty()) return std::nullopt;
      factors.push_back(count_along(made, copies, *summed, condition, followed));
    }
    if (placed != count.condition.size() || factors.empty()) return std::nullopt;
    multiply(made, copies, factors, outer);
    return made;
  }
  BufferId add_buffer(Made& made, std::vector<IndexExpr> sizes) const {
    std::string name = made.program[made.counter].name + "_count";
    for (int i = 1; !schedule::is_free_name(made.program, name); ++i)
      name = fmt::format("{}_count{}", made.program[made.counter].name, i);
    made.program.buffers.push_back(
        {name, std::move(sizes), made.program[made.counter].element, BufferRole::kTemporary});
    return {static_cast<std::uint32_t>(made.program.buffers.size()) - 1};
  }
  static std::vector<Loop> loops_like(const std::vector<const Loop*>& followed, schedule::Copies& copies,
                                      const std::string& stage) {
    std::vector<Loop> loops;
    for (std::size_t d = 0; d < followed.size(); ++d)
      loops.push_back({copies.new_axis({{{stage, fmt::format("d{}", d)}}}), followed[d]->extent});
    return loops;
  }
  static Body nested(const std::vector<Loop>& loops, Body body) {
    for (std::size_t d = loops.size(); d-- > 0;)
      body = Body(1, Statement(Loop{loops[d].axis, loops[d].extent, loops[d].kind, std::move(body)}));
    return body;
  }
  static std::vector<IndexExpr> axes_of(const std::vector<Loop>& loops) {
    std::vector<IndexExpr> at;
    for (const Loop& loop : loops) at.emplace_back(loop.axis);
    return at;
  }
  static std::vector<IndexExpr> sizes_of(const std::vector<const Loop*>& loops) {
    std::vector<IndexExpr> sizes;
    for (const Loop* loop : loops) sizes.push_back(loop->extent);
    return sizes;
  }
  static std::vector<IndexExpr> axes_of(const std::vector<const Loop*>& loops) {
    std::vector<IndexExpr> at;
    for (const Loop* loop : loops) at.emplace_back(loop->axis);
    return at;
  }
  /// a[i] = sum(s, where condition, 1); what it is where it is used.
  ValueExpr count_along(Made& made, schedule::Copies& copies, const Loop& summed, const Guard& condition,
                        const std::vector<const Loop*>& followed) {
    const bool is_first = made.before.empty();
    const BufferId table = add_buffer(made, sizes_of(followed));
    const BufferId sum = is_first ? made.counter : add_buffer(made, {});
    const std::string& stage = made.program[table].name;
    const std::vector<Loop> loops = loops_like(followed, copies, stage);
    const Axis along = copies.new_axis({{{stage, "k"}}});
    const auto moved = [&](const Axis& axis) -> std::optional<IndexExpr> {
      if (axis == summed.axis) return IndexExpr(along);
      for (std::size_t d = 0; d < followed.size(); ++d)
        if (axis == followed[d]->axis) return IndexExpr(loops[d].axis);
      return std::nullopt;
    };
    const ValueExpr one = ValueExpr::from_integer(1), zero = ValueExpr::from_integer(0);
    Body inner = {Statement(Store{sum, {}, StoreKind::kAdd, one})};
    inner = {Statement(Branch{substitute(condition, {.axis = moved}), std::move(inner)})};
    const Body body = {Statement(Store{sum, {}, StoreKind::kSet, zero}),
                       Statement(Loop{along, summed.extent, loop::LoopKind::kSerial, std::move(inner)}),
                       Statement(Store{table, axes_of(loops), StoreKind::kSet, ValueExpr::load(sum, {})})};
    const Body nest = nested(loops, body);
    made.before.insert(made.before.end(), nest.begin(), nest.end());
    return ValueExpr::load(table, axes_of(followed));
  }
  /// n[i, j] = a[i] b[j].
  void multiply(Made& made, schedule::Copies& copies, const std::vector<ValueExpr>& factors,
                const std::vector<const Loop*>& outer) {
    ValueExpr product = factors[0];
    for (std::size_t f = 1; f < factors.size(); ++f) product = product * factors[f];
    std::vector<const Loop*> followed;
    for (const Loop* loop : outer) {
      const bool is_named = std::ranges::any_of(factors, [&](const ValueExpr& factor) {
        return factor.kind() == ValueExpr::Kind::kLoad && schedule::names_axis(factor.indices(), loop->axis);
      });
      if (is_named) followed.push_back(loop);
    }
    const BufferId table = add_buffer(made, sizes_of(followed));
    const std::vector<Loop> loops = loops_like(followed, copies, made.program[table].name);
    const auto moved = [&](const Axis& axis) -> std::optional<IndexExpr> {
      for (std::size_t d = 0; d < followed.size(); ++d)
        if (axis == followed[d]->axis) return IndexExpr(loops[d].axis);
      return std::nullopt;
    };
    const Body nest =
        nested(loops, {Statement(Store{table, axes_of(loops), StoreKind::kSet, substitute(product, {.axis = moved})})});
    made.before.insert(made.before.end(), nest.begin(), nest.end());
    made.in_place = ValueExpr::load(table, axes_of(followed));
  }

  /// Without the two statements at `s` of the innermost of the loops.
  std::size_t put_before(std::size_t root, const std::vector<const Loop*>& outer, std::size_t s, Made made) {
    Body body = outer.back()->body;
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(s), body.begin() + static_cast<std::ptrdiff_t>(s) + 2);
    body = schedule::substituted(body, {.load = [&](const ValueExpr& load) -> std::optional<ValueExpr> {
                                   if (load.buffer() != made.counter) return std::nullopt;
                                   return made.in_place;
                                 }});
    const std::string note = result_.body[root].note();
    std::vector<Loop> loops;
    for (const Loop* loop : outer) loops.push_back({loop->axis, loop->extent, loop->kind});
    body = nested(loops, std::move(body));
    made.program.body[root] = Statement(*body[0].loop(), note);
    made.program.body.insert(made.program.body.begin() + static_cast<std::ptrdiff_t>(root), made.before.begin(),
                             made.before.end());
    result_ = std::move(made.program);
    return made.before.size();
  }

  Program result_;
};

}  // namespace

Program with_window_counts(const Program& program) { return Counting(program).run(); }

}  // namespace rewright::compile
