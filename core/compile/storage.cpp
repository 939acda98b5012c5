#include "compile/storage.h"

#include <rewright/loop/linear_index.h>

#include <fmt/ranges.h>

#include <algorithm>

#include "compile/border_zeros.h"
#include "loop/bounds.h"
#include "schedule/nest.h"
#include "schedule/places.h"
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

/// Loads of the buffer that make what the store adds 0 where they are 0.
std::vector<ValueExpr> factors(const ValueExpr& value, BufferId buffer) {
  if (value.kind() == ValueExpr::Kind::kLoad && value.buffer() == buffer) return {value};
  if (value.kind() != ValueExpr::Kind::kMultiply) return {};
  std::vector<ValueExpr> all;
  for (const ValueExpr& part : value.operands()) {
    const auto more = factors(part, buffer);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// Of all loads in what the store adds; none where 0 is not what an addition beyond the buffer must give.
std::vector<ValueExpr> neutral_loads(const Store& store, BufferId buffer, bool is_positive) {
  if (store.kind == StoreKind::kAdd) return factors(store.value, buffer);
  if (store.kind == StoreKind::kMaximum && is_positive && store.value.kind() == ValueExpr::Kind::kLoad)
    return factors(store.value, buffer);
  return {};
}

/// The only store below, if there is one.
const Store* only_store(const Body& body) {
  if (body.size() != 1) return nullptr;
  return body[0].store() != nullptr ? body[0].store() : only_store(loop::body_of(body[0]));
}

/// Is the condition that an index of the load is inside of its buffer?
bool keeps_inside(const IndexCondition& condition, const ValueExpr& load, const Buffer& buffer) {
  const auto left = loop::linear(condition.left), right = loop::linear(condition.right);
  if (!left || !right || condition.relation == IndexCondition::Relation::kEqual) return false;
  auto needed = loop::combined(*right, *left, -1);  // Needed: at least 0, or 1.
  if (!needed) return false;
  if (condition.relation == IndexCondition::Relation::kLess) needed->constant -= 1;
  const auto is_zero = [](const std::optional<loop::LinearIndex>& form) {
    return form && form->terms.empty() && form->constant == 0;
  };
  for (std::size_t d = 0; d < buffer.sizes.size(); ++d) {
    const auto at = loop::linear(load.indices()[d]);
    if (!at) continue;
    if (is_zero(loop::combined(*needed, *at, -1))) return true;  // 0 <= at
    auto beyond = loop::combined(loop::LinearIndex{*buffer.sizes[d].number() - 1}, *at, -1);
    if (beyond && is_zero(loop::combined(*needed, *beyond, -1))) return true;  // at <= size - 1
  }
  return false;
}

class Walk {
 public:
  Walk(const Program& program, BufferId buffer, bool is_positive)
      : program_(program), buffer_(buffer), is_positive_(is_positive) {}

  Halo halo() {
    const std::size_t rank = program_[buffer_].sizes.size();
    halo_ = {std::vector<std::int64_t>(rank), std::vector<std::int64_t>(rank)};
    (void)without_conditions(program_.body);
    return std::move(halo_);
  }
  Body without_conditions(const Body& body) {
    Body result;
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        around_.push_back(loop);
        result.emplace_back(Loop{loop->axis, loop->extent, loop->kind, without_conditions(loop->body)},
                            statement.note());
        around_.pop_back();
      } else if (const Branch* branch = statement.branch()) {
        Guard left = needed(*branch);
        Body inner = without_conditions(branch->body);
        if (left.empty())
          result.insert(result.end(), inner.begin(), inner.end());
        else
          result.emplace_back(Branch{std::move(left), std::move(inner)}, statement.note());
      } else {
        result.push_back(statement);
      }
    }
    return result;
  }

 private:
  /// The conditions that stay.
  Guard needed(const Branch& branch) {
    const Store* store = only_store(branch.body);
    if (store == nullptr) return branch.condition;
    const auto loads = neutral_loads(*store, buffer_, is_positive_);
    Guard left;
    for (const IndexCondition& condition : branch.condition) {
      const bool is_kept = std::ranges::none_of(
          loads, [&](const ValueExpr& load) { return keeps_inside(condition, load, program_[buffer_]); });
      if (is_kept) left.push_back(condition);
    }
    if (left.size() == branch.condition.size()) return left;
    for (const ValueExpr& load : loads) widen(load, *store, branch.body);
    return left;
  }
  void widen(const ValueExpr& load, const Store&, const Body& body) {
    std::vector<const Loop*> loops = around_;
    for (const Body* inner = &body; inner->size() == 1 && (*inner)[0].store() == nullptr;
         inner = &loop::body_of((*inner)[0])) {
      if ((*inner)[0].loop() != nullptr) loops.push_back((*inner)[0].loop());
    }
    for (std::size_t d = 0; d < halo_.before.size(); ++d) {
      const auto range = range_of(load.indices()[d], loop::ranges_of(loops));
      if (!range) continue;
      halo_.before[d] = std::max(halo_.before[d], -range->low);
      halo_.after[d] = std::max(halo_.after[d], range->high - *program_[buffer_].sizes[d].number() + 1);
    }
  }

  const Program& program_;
  BufferId buffer_;
  bool is_positive_;
  Halo halo_;
  std::vector<const Loop*> around_;
};

}  // namespace

std::string to_string(const Storage& storage) {
  return fmt::format("{}+{}+{}", fmt::join(storage.order, ","), fmt::join(storage.before, ","),
                     fmt::join(storage.after, ","));
}

Halo halo_of(const Program& program, BufferId buffer, bool is_positive) {
  return Walk(program, buffer, is_positive).halo();
}

Program with_storage(const Program& program, BufferId buffer, const Storage& storage, bool is_positive) {
  Program result = program;
  result.body = Walk(program, buffer, is_positive).without_conditions(program.body);
  std::vector<IndexExpr> sizes;
  for (const std::size_t d : storage.order)
    sizes.emplace_back(*program[buffer].sizes[d].number() + storage.before[d] + storage.after[d]);
  result.buffers[buffer.value].sizes = std::move(sizes);
  result.body = schedule::with_places(
      result.body, buffer, buffer, [&](std::span<const IndexExpr> at, const loop::AxisRanges& ranges) {
        std::vector<IndexExpr> places;
        for (const std::size_t d : storage.order)
          places.push_back(loop::simplified(at[d] + IndexExpr(storage.before[d]), ranges));
        return places;
      });
  if (program[buffer].role != BufferRole::kOutput) return result;
  Body front = zeros_around(result, buffer, storage);
  front.insert(front.end(), result.body.begin(), result.body.end());
  result.body = std::move(front);
  return result;
}

}  // namespace rewright::compile
