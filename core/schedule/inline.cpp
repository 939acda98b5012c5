// inline t: the value of t[p] is computed where it is read; the nest that sets t goes.
//
//   for i { t[i] = v(i) }; ... t[p] ...     becomes     ... v(p) ...
//
// A split axis is found again: i = 4 i/0 + i/1 gives i/0 = floor(p / 4), i/1 = p mod 4.
#include <rewright/loop/buffer_owners.h>
#include <rewright/loop/element_types.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "loop/expression_walk.h"
#include "schedule/read_box.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

using loop::Access;
using loop::LinearIndex;
using loop::Store;

/// Loops that stand alone in each other, around one store.
struct SettingNest {
  LoopPath path;
  std::vector<const Loop*> loops;
  const Store* store = nullptr;
};

std::optional<LoopPath> path_to_store(const Body& body, BufferId buffer) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    const Store* store = body[i].store();
    if (store != nullptr && store->buffer == buffer) return LoopPath{i};
    if (auto inside = path_to_store(body_of(body[i]), buffer)) {
      inside->insert(inside->begin(), i);
      return inside;
    }
  }
  return std::nullopt;
}

/// How an element of t is found: of each dimension the place of a nest's axis, or what does not change in the nest.
class ElementPlaces {
 public:
  /// False where the indices of the store do not say of each axis of the nest which it is.
  bool solve(const SettingNest& nest, const std::vector<const Loop*>& around) {
    std::vector<const Loop*> loops = around;
    loops.insert(loops.end(), nest.loops.begin(), nest.loops.end());
    for (std::size_t d = 0; d < nest.store->at.size(); ++d) {
      const auto form = loop::linear(loop::simplified(nest.store->at[d], loop::ranges_of(loops)));
      if (!form || !solve_dimension(d, *form, nest.loops)) return false;
    }
    return std::ranges::all_of(nest.loops, [&](const Loop* loop) { return digits_.contains(loop->axis.id); });
  }
  /// Of the nest's axes, at one place.
  [[nodiscard]] std::map<std::uint32_t, IndexExpr> axes_at(std::span<const IndexExpr> at,
                                                           const loop::AxisRanges& ranges) const {
    std::map<std::uint32_t, IndexExpr> axes;
    for (const auto& [axis, digit] : digits_) {
      IndexExpr place = at[digit.dimension] - digit.first;
      if (digit.step > 1) place = floor_divide(place, digit.step);
      if (!digit.is_last) place = modulo(place, digit.count);
      axes.emplace(axis, loop::simplified(place, ranges));
    }
    return axes;
  }
  /// Does a read of this place read an element that the nest set: where a dimension has no axis of the nest, the same?
  [[nodiscard]] bool is_set_at(std::span<const IndexExpr> at, const loop::AxisRanges& ranges) const {
    return std::ranges::all_of(fixed_, [&](const auto& fixed) {
      return loop::simplified(at[fixed.first] - fixed.second, ranges).number() == 0;
    });
  }

 private:
  struct Digit {
    std::size_t dimension = 0;
    IndexExpr first;
    std::int64_t step = 1, count = 1;
    bool is_last = true;
  };
  bool solve_dimension(std::size_t d, const LinearIndex& form, const std::vector<const Loop*>& nest) {
    LinearIndex first{form.constant};
    std::vector<std::pair<std::int64_t, const Loop*>> steps;
    for (const auto& [atom, coefficient] : form.terms) {
      const auto own = atom.kind() != IndexExpr::Kind::kAxis
                           ? nest.end()
                           : std::ranges::find(nest, atom.axis().id, [](const Loop* l) { return l->axis.id; });
      if (own == nest.end()) {
        bool is_outside = true;
        loop::for_each_index(atom, [&](const IndexExpr& part) {
          is_outside &= part.kind() != IndexExpr::Kind::kData;
          is_outside &= part.kind() != IndexExpr::Kind::kAxis ||
                        std::ranges::find(nest, part.axis().id, [](const Loop* l) { return l->axis.id; }) == nest.end();
        });
        if (!is_outside) return false;
        first.add(atom, coefficient);
      } else {
        steps.emplace_back(coefficient, *own);
      }
    }
    if (steps.empty()) return fixed_.emplace_back(d, first.index()), true;
    std::ranges::sort(steps, {}, &std::pair<std::int64_t, const Loop*>::first);
    std::int64_t reached = 1;
    for (const auto& [step, loop] : steps) {
      const auto count = loop->extent.number();
      if (step != reached || !count || digits_.contains(loop->axis.id)) return false;
      reached *= *count;
      digits_.emplace(loop->axis.id, Digit{d, first.index(), step, *count, loop == steps.back().second});
    }
    return true;
  }

  std::map<std::uint32_t, Digit> digits_;
  std::vector<std::pair<std::size_t, IndexExpr>> fixed_;
};

/// Writes the nest's value in the place of each read.
class Inlining {
 public:
  Inlining(BufferId buffer, ValueExpr value, const ElementPlaces& places)
      : buffer_(buffer), value_(std::move(value)), places_(places) {}

  Body run(const Body& body) {
    Body result;
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        around_.push_back(loop);
        Body inside = run(loop->body);
        around_.pop_back();
        result.emplace_back(Loop{loop->axis, substitute(loop->extent, parts_), loop->kind, std::move(inside)},
                            statement.note());
      } else if (const loop::Branch* branch = statement.branch()) {
        result.emplace_back(loop::Branch{substitute(branch->condition, parts_), run(branch->body)}, statement.note());
      } else {
        result.push_back(substituted(statement, parts_));
      }
    }
    return result;
  }
  /// What it met that cannot be replaced; empty: nothing.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

 private:
  [[nodiscard]] ValueExpr value_at(std::span<const IndexExpr> at) {
    const loop::AxisRanges ranges = loop::ranges_of(around_);
    if (!places_.is_set_at(at, ranges)) obstacle_ = "a read of another element than an iteration sets";
    const auto axes = places_.axes_at(at, ranges);
    return substitute(value_, {.axis = [&](const Axis& axis) -> std::optional<IndexExpr> {
                                 const auto place = axes.find(axis.id);
                                 return place == axes.end() ? std::nullopt : std::optional(place->second);
                               },
                               .load = [&](const ValueExpr& load) -> std::optional<ValueExpr> {
                                 std::vector<IndexExpr> simple;
                                 for (const IndexExpr& index : load.indices())
                                   simple.push_back(loop::simplified(index, ranges));
                                 return ValueExpr::load(load.buffer(), std::move(simple));
                               }});
  }

  BufferId buffer_;
  ValueExpr value_;
  const ElementPlaces& places_;
  std::vector<const Loop*> around_;
  std::string obstacle_;
  Substitution parts_{.load = [this](const ValueExpr& load) -> std::optional<ValueExpr> {
                        if (load.buffer() != buffer_) return std::nullopt;
                        return value_at(load.indices());
                      },
                      .data = [this](const IndexExpr& data) -> std::optional<IndexExpr> {
                        if (data.buffer() == buffer_) obstacle_ = "an index that is read from it";
                        return std::nullopt;
                      }};
};

std::set<std::uint32_t> buffers_read(const ValueExpr& value) {
  std::set<std::uint32_t> read;
  loop::ValueWalk([&](const ValueExpr& part) {
    if (part.kind() == ValueExpr::Kind::kLoad) read.insert(part.buffer().value);
  })(value);
  loop::for_each_index(value, [&](const IndexExpr& part) {
    if (part.kind() == IndexExpr::Kind::kData) read.insert(part.buffer().value);
  });
  return read;
}

/// The nest that sets a temporary, from inside of the loop whose iterations own it. Conflicts: kForm.
std::variant<SettingNest, Conflict> setting_nest(const Program& program, BufferId buffer) {
  const std::string& name = program[buffer].name;
  const auto other = [&](std::string found) {
    return form(fmt::format("one nest that sets each element of the temporary {} by itself", name), std::move(found));
  };
  if (program[buffer].role != BufferRole::kTemporary) return other(fmt::format("{}, which is no temporary", name));
  std::size_t stores = 0, reads = 0;
  bool is_updated = false;
  for (const Access& access : accesses(program)) {
    if (access.buffer != buffer) continue;
    ++(access.is_write ? stores : reads);
    is_updated |= access.is_update;
  }
  if (is_updated) return other("updates, as of a reduction");
  if (stores != 1) return other(fmt::format("{} stores to it", stores));
  if (reads == 0) return other("no read of it");
  SettingNest nest{*path_to_store(program.body, buffer), {}, nullptr};
  const auto owner = loop::owners(program)[buffer.value];
  std::size_t depth = 0;
  for (std::size_t k = 1; owner && k < nest.path.size(); ++k) {
    const LoopPath above(nest.path.begin(), nest.path.begin() + static_cast<std::ptrdiff_t>(k));
    const Loop* loop = statement_at(program, above).loop();
    if (loop != nullptr && loop->axis.id == *owner) depth = k;
  }
  nest.path.resize(depth + 1);
  const Statement* statement = &statement_at(program, nest.path);
  while (statement->store() == nullptr) {
    if (statement->loop() == nullptr) return other("a condition around its store");
    nest.loops.push_back(statement->loop());
    if (body_of(*statement).size() != 1) return other("other statements in its loops (distribute takes these apart)");
    statement = &body_of(*statement)[0];
  }
  nest.store = statement->store();
  return nest;
}

/// A store behind the nest, in the iteration that it belongs to, to what its value reads.
std::optional<Conflict> overwritten(const Program& program, const SettingNest& nest,
                                    const std::vector<const Loop*>& around) {
  const std::set<std::uint32_t> read = buffers_read(nest.store->value);
  bool is_behind = false;
  for (const Access& access : accesses(program)) {
    const bool is_together =
        access.loops.size() >= around.size() && std::equal(around.begin(), around.end(), access.loops.begin());
    if (is_behind && is_together && access.is_write && read.contains(access.buffer.value)) {
      const std::string& name = program[nest.store->buffer].name;
      return Conflict{Conflict::Kind::kIllegal,
                      fmt::format("what the value of {} reads to stay until {} is read", name, name),
                      fmt::format("a later store to {}", program[access.buffer].name)};
    }
    is_behind |= access.is_write && access.buffer == nest.store->buffer;
  }
  return std::nullopt;
}

/// The program without a buffer that nothing uses.
Program without(const Program& program, BufferId buffer) {
  Program result;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b)
    if (b != buffer.value) result.buffers.push_back(program.buffers[b]);
  result.body = substituted(program.body, {.buffer = [&](BufferId id) {
                              return id.value > buffer.value ? std::optional(BufferId{id.value - 1}) : std::nullopt;
                            }});
  return result;
}

}  // namespace

Outcome transformed(const Program& program, const Inline& inlined) {
  const BufferId buffer = buffer_named(program, inlined.buffer);
  if (buffer.value == program.buffers.size()) return gone(program, inlined.buffer);
  const auto found = setting_nest(program, buffer);
  if (const auto* conflict = std::get_if<Conflict>(&found)) return *conflict;
  const auto& nest = std::get<SettingNest>(found);
  const ValueExpr& value = nest.store->value;
  ElementPlaces places;
  LoopPath owner = nest.path;
  owner.pop_back();
  if (!places.solve(nest, loops_to(program, owner)))
    return form(fmt::format("indices of {} that each axis of its nest is in, once", inlined.buffer), "others");
  if (buffers_read(value).contains(buffer.value))
    return form(fmt::format("elements of {} that do not depend on each other", inlined.buffer), "reads of it in it");
  if (auto conflict = overwritten(program, nest, loops_to(program, owner))) return *std::move(conflict);
  const auto type = loop::ElementTypes(program.buffers).of(value);
  if (!type || (!*type && value.kind() == ValueExpr::Kind::kNumber))
    return form("a value of a type", "a number without one");
  const bool is_typed = type->has_value();
  Inlining inlining(buffer, is_typed ? value : cast(program[buffer].element, value), places);
  Program result = program;
  result.body = inlining.run(replaced(program.body, nest.path, {}));
  if (!inlining.obstacle().empty())
    return form(fmt::format("reads of elements of {} that its nest sets", inlined.buffer), inlining.obstacle());
  return without(result, buffer);
}

}  // namespace rewright::schedule
