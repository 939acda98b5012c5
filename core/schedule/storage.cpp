#include "schedule/storage.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <optional>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "schedule/loop_tree.h"
#include "schedule/places.h"
#include "schedule/read_box.h"

namespace rewright::schedule {
namespace {

using loop::Branch;
using loop::Store;
using loop::StoreKind;

std::vector<std::int64_t> sizes_of(const Buffer& buffer) {
  std::vector<std::int64_t> sizes;
  for (const IndexExpr& size : buffer.sizes) sizes.push_back(*size.number());
  return sizes;
}

std::pair<std::int64_t, std::int64_t> border_at(const Storage& storage, std::size_t dimension) {
  const std::size_t at = dimension - 2;
  return dimension >= 2 && at < storage.border.size() ? storage.border[at] : std::pair<std::int64_t, std::int64_t>();
}

std::vector<IndexExpr> place_in(const Storage& storage, std::span<const IndexExpr> at, const loop::AxisRanges& ranges) {
  std::vector<IndexExpr> place(at.begin(), at.end());
  for (std::size_t d = 2; d < place.size(); ++d) {
    place[d] = loop::simplified(place[d] + IndexExpr(border_at(storage, d).first), ranges);
  }
  if (storage.block == 1) return place;
  place.push_back(loop::simplified(modulo(at[1], storage.block), ranges));
  place[1] = loop::simplified(floor_divide(at[1], storage.block), ranges);
  return place;
}

/// Sets what surrounds the tensor, in its stored form: a nest for each side of each dimension.
Body zeroed_border(Program& program, BufferId buffer, const std::vector<std::int64_t>& inner, const Storage& storage) {
  Body body;
  Copies copies(program);
  const std::vector<std::int64_t> sizes = stored_sizes(inner, storage);
  int nest = 0;
  for (std::size_t d = 2; d < inner.size(); ++d) {
    const auto [before, behind] = border_at(storage, d);
    for (const bool is_behind : {false, true}) {
      const std::int64_t thickness = is_behind ? behind : before;
      if (thickness == 0) continue;
      ReadBox box;
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        // Dimensions before d have their own nests: only what is inside of them is left.
        const bool is_inside = k >= 2 && k < d;
        const std::int64_t first = is_inside             ? border_at(storage, k).first
                                   : k == d && is_behind ? before + inner[d]
                                                         : 0;
        box.push_back({loop::LinearIndex{first}, is_inside ? inner[k] : k == d ? thickness : sizes[k]});
      }
      const std::vector<Loop> over =
          loops_over(copies, box, fmt::format("{}_edge{}", program[buffer].name, nest++), 'd');
      const Body made = nested(over, Store{buffer, places_in_buffer(over, box), StoreKind::kSet, ValueExpr()});
      body.insert(body.end(), made.begin(), made.end());
    }
  }
  return body;
}

/// Takes conditions away; see without_edges().
class EdgeRemoval {
 public:
  explicit EdgeRemoval(const Program& program) : program_(program), border_(program.buffers.size()) {}

  Unguarded run() {
    Unguarded result{program_, {}};
    result.program.body = run(program_.body);
    for (std::size_t b = 0; b < border_.size(); ++b) {
      Storage& storage = result.storage.emplace_back();
      if (border_[b].empty()) continue;
      storage.border = border_[b];
    }
    return result;
  }

 private:
  Body run(const Body& body) {
    Body result;
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        around_.push_back(loop);
        result.emplace_back(Loop{loop->axis, loop->extent, loop->kind, run(loop->body)}, statement.note());
        around_.pop_back();
      } else if (const Branch* branch = statement.branch()) {
        Guard left;
        for (const IndexCondition& condition : branch->condition) {
          if (!is_edge(condition, branch->body)) left.push_back(condition);
        }
        const Body inside = run(branch->body);
        if (left.empty()) {
          result.insert(result.end(), inside.begin(), inside.end());
        } else {
          result.emplace_back(Branch{left, inside}, statement.note());
        }
      } else {
        result.push_back(statement);
      }
    }
    return result;
  }

  /// Notes the border that stands for the condition, if one does.
  bool is_edge(const IndexCondition& condition, const Body& body) {
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      if (buffer.role != BufferRole::kInput || buffer.sizes.size() < 3) continue;
      for (std::size_t d = 2; d < buffer.sizes.size(); ++d) {
        const bool is_low =
            condition.relation == IndexCondition::Relation::kLessEqual && condition.left == IndexExpr(0);
        const bool is_high =
            condition.relation == IndexCondition::Relation::kLess && condition.right == buffer.sizes[d];
        if (!is_low && !is_high) continue;
        const IndexExpr& index = is_low ? condition.right : condition.left;
        std::vector<const Loop*> loops = around_;
        if (!annuls(body, BufferId{static_cast<std::uint32_t>(b)}, d, index)) continue;
        const auto form = loop::linear(index);
        const auto range = form ? loop::range_of(*form, loop::ranges_of(loops)) : std::nullopt;
        if (!range) continue;
        auto& border = border_[b];
        border.resize(buffer.sizes.size() - 2);
        border[d - 2].first = std::max(border[d - 2].first, -range->low);
        border[d - 2].second = std::max(border[d - 2].second, range->high - *buffer.sizes[d].number() + 1);
        return true;
      }
    }
    return false;
  }
  /// Is each statement += of a product with buffer[.., index at d, ..], and with nothing else of the buffer?
  bool annuls(const Body& body, BufferId buffer, std::size_t d, const IndexExpr& index) const {
    return std::ranges::all_of(body, [&](const Statement& statement) {
      const Store* store = statement.store();
      if (store == nullptr) return annuls(body_of(statement), buffer, d, index);
      if (store->kind != StoreKind::kAdd || store->value.kind() != ValueExpr::Kind::kMultiply) return false;
      return std::ranges::any_of(store->value.operands(), [&](const ValueExpr& factor) {
        return factor.kind() == ValueExpr::Kind::kLoad && factor.buffer() == buffer && factor.indices()[d] == index;
      });
    });
  }

  const Program& program_;
  std::vector<const Loop*> around_;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> border_;  ///< By buffer.
};

}  // namespace

bool Storage::is_plain() const {
  return block == 1 &&
         std::ranges::all_of(border, [](const auto& side) { return side.first == 0 && side.second == 0; });
}

Storage with_border(Storage storage, const Storage& other) {
  storage.border.resize(std::max(storage.border.size(), other.border.size()));
  for (std::size_t i = 0; i < other.border.size(); ++i) {
    storage.border[i].first = std::max(storage.border[i].first, other.border[i].first);
    storage.border[i].second = std::max(storage.border[i].second, other.border[i].second);
  }
  return storage;
}

std::vector<std::int64_t> stored_sizes(const std::vector<std::int64_t>& sizes, const Storage& storage) {
  std::vector<std::int64_t> result = sizes;
  for (std::size_t d = 2; d < sizes.size(); ++d) {
    const auto [before, behind] = border_at(storage, d);
    result[d] += before + behind;
  }
  if (storage.block == 1) return result;
  result[1] = sizes[1] / storage.block;
  result.push_back(storage.block);
  return result;
}

Program stored(const Program& program, BufferId buffer, const Storage& storage) {
  if (storage.is_plain()) return program;
  Program result = program;
  const std::vector<std::int64_t> inner = sizes_of(program[buffer]);
  const std::vector<std::int64_t> sizes = stored_sizes(inner, storage);
  result.buffers[buffer.value].sizes.assign(sizes.begin(), sizes.end());
  result.body = with_places(
      program.body, buffer, buffer,
      [&](std::span<const IndexExpr> at, const loop::AxisRanges& ranges) { return place_in(storage, at, ranges); });
  if (program[buffer].role != BufferRole::kOutput) return result;
  Body body = zeroed_border(result, buffer, inner, storage);
  body.insert(body.end(), result.body.begin(), result.body.end());
  result.body = std::move(body);
  return result;
}

Program restored(const std::vector<std::int64_t>& sizes, ElementType element, const Storage& from, const Storage& to) {
  Program program;
  const std::vector<IndexExpr> extents(sizes.begin(), sizes.end());
  program.buffers = {{"x", extents, element, BufferRole::kInput}, {"y", extents, element, BufferRole::kOutput}};
  Copies copies(program);
  std::vector<Loop> loops;
  std::vector<IndexExpr> at;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    loops.push_back({copies.new_axis({{{"y", fmt::format("i{}", d)}}}), sizes[d]});
    at.emplace_back(loops.back().axis);
  }
  program.body = nested(loops, Store{BufferId{1}, at, StoreKind::kSet, ValueExpr::load(BufferId{0}, at)});
  return stored(stored(program, BufferId{0}, from), BufferId{1}, to);
}

Unguarded without_edges(const Program& program) { return EdgeRemoval(program).run(); }

}  // namespace rewright::schedule
