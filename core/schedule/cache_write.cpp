// cache-write c l t: what one iteration of l writes of c, a box of it, goes to t, and from there to c at the end.
//
//   every element is set first           t[d] = v ...; c[first + d] = t[d]
//   elements are read or updated first   t[d] = c[first + d]; t[d] += v ...; c[first + d] = t[d]
//   an output is updated alone           t[d] = 0; t[d] += v ...; c[first + d] += t[d]
//
// An output is not copied back after it was set, as each of its elements is set once: it gets the sum of what is new.
#include <rewright/loop/buffer_owners.h>

#include <algorithm>

#include "loop/dependences.h"
#include "schedule/forbidding.h"
#include "schedule/partial_results.h"
#include "schedule/read_box.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

using loop::Access;
using loop::Store;
using loop::StoreKind;

/// What the copy holds when the iteration starts, and how it goes back.
struct Exchange {
  enum class Start : std::uint8_t { kUnset, kOld, kNeutral };
  Start start = Start::kUnset;
  StoreKind back = StoreKind::kSet;
};

bool is_set(const Access& access) { return access.is_write && !access.is_update; }

/// Does the first access set every element of the box before another access touches it?
bool is_set_first(const Program& program, const std::vector<Access>& all, std::size_t around) {
  const Access& first = all.front();
  if (!is_set(first) || !covers_box(first, around)) return false;
  const auto is_first = [&](const Access& access) {
    return access.buffer == first.buffer && is_set(access) && access.loops == first.loops && access.at == first.at;
  };
  const auto is_inside = [&](const Loop& loop) {
    return static_cast<std::size_t>(std::ranges::find(first.loops, &loop) - first.loops.begin()) >= around;
  };
  return std::ranges::none_of(dependences(program, is_inside), [&](const loop::Dependence& dependence) {
    return is_first(dependence.first) || is_first(dependence.second);
  });
}

std::variant<Exchange, Conflict> exchange(const Program& program, const std::vector<Access>& all, const Loop& loop,
                                          std::size_t around) {
  const Buffer& buffer = program[all.front().buffer];
  const std::string needed = fmt::format(
      "a part of {} that an iteration of {} sets before all else, or whose elements it reads or updates "
      "without setting them",
      buffer.name, loop.axis.name);
  if (is_set_first(program, all, around)) return Exchange{};
  if (std::ranges::any_of(all, is_set)) return form(needed, "elements that are set later, or only some of them");
  if (std::ranges::none_of(all, [&](const Access& access) { return covers_box(access, around); }))
    return form(needed, "elements of the box around them that may not be set");
  if (buffer.role == BufferRole::kTemporary) return Exchange{Exchange::Start::kOld, StoreKind::kSet};
  const auto kind = only_update(loop.body, all.front().buffer);
  if (!kind || !std::ranges::all_of(all, &Access::is_update))
    return form(fmt::format("one kind of update alone, as {} is an output, whose elements are set once", buffer.name),
                "reads or other updates");
  return Exchange{Exchange::Start::kNeutral, *kind};
}

/// Parallel and vector loops whose iterations touch the same elements of two buffers.
std::optional<Conflict> shared_by_iterations(const Program& program, BufferId buffer, BufferId copy) {
  const auto has_no_order = [](const Loop& each) {
    return each.kind == loop::LoopKind::kParallel || each.kind == loop::LoopKind::kVector;
  };
  const auto forbids = [&](const loop::Dependence& dependence) {
    return dependence.first.buffer == buffer || dependence.first.buffer == copy;
  };
  return forbidding(program, "boxes that are apart, of iterations that have no order", has_no_order, forbids);
}

}  // namespace

Outcome transformed(const Program& program, const CacheWrite& cache) {
  const auto path = path_to(program, cache.loop);
  if (!path) return gone(program, cache.loop);
  const Loop& loop = loop_at(program, *path);
  const auto found = copied_buffer(program, cache.buffer, loop, cache.name);
  if (const auto* conflict = std::get_if<Conflict>(&found)) return *conflict;
  const auto buffer = std::get<BufferId>(found);
  const std::vector<Access> all = accesses_in(program, *path, buffer);
  const std::size_t around = loops_to(program, *path).size();
  if (std::ranges::none_of(all, &Access::is_write))
    return form(fmt::format("stores to {} in {}", cache.buffer, loop.axis.name), "none");
  if (owner_is_inside(program, *path, buffer))
    return form(fmt::format("a buffer that outlives an iteration of {}", loop.axis.name), cache.buffer);
  const auto touched = box_of(program, all, around);
  if (const auto* conflict = std::get_if<Conflict>(&touched)) return *conflict;
  const auto& box = std::get<ReadBox>(touched);
  const auto how = exchange(program, all, loop, around);
  if (const auto* conflict = std::get_if<Conflict>(&how)) return *conflict;
  const auto& [start, back] = std::get<Exchange>(how);

  const BufferId copy = buffer_named(program, cache.name);
  Program result = with_copy(program, buffer, box, cache.name);
  Copies copies(result);
  Body body;
  if (start != Exchange::Start::kUnset) {
    const std::vector<Loop> over = loops_over(copies, box, cache.name, 'i');
    const ValueExpr value =
        start == Exchange::Start::kOld ? ValueExpr::load(buffer, places_in_buffer(over, box)) : neutral(back);
    body = nested(over, Store{copy, places_in_copy(over), StoreKind::kSet, value});
  }
  for (Statement& statement : in_copy(loop.body, buffer, copy, box)) body.push_back(std::move(statement));
  const std::vector<Loop> over = loops_over(copies, box, cache.name, 'd');
  for (Statement& statement :
       nested(over, Store{buffer, places_in_buffer(over, box), back, ValueExpr::load(copy, places_in_copy(over))}))
    body.push_back(std::move(statement));
  result.body = replaced(program.body, *path, only(Loop{loop.axis, loop.extent, loop.kind, std::move(body)}));
  if (auto conflict = shared_by_iterations(result, buffer, copy)) return *std::move(conflict);
  return result;
}

}  // namespace rewright::schedule
