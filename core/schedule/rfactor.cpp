// rfactor l t: a sum over l becomes one for each iteration of l, and the sum of these.
//
//   for r { for l { for e { c[p(e)] += v } } }     becomes
//   t[l, d] = 0;   for r { for l { for e { t[l, p(e) - first] += v } } };   c[first + d] += t[l, d]
//
// r is the outermost loop over which the same sum goes on, so that parts are combined once. The same for * max min.
#include <rewright/loop/buffer_owners.h>

#include <algorithm>

#include "schedule/partial_results.h"
#include "schedule/places.h"
#include "schedule/read_box.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

using loop::Access;
using loop::Store;

/// The buffer that iterations of the loop at a path update, and do not touch otherwise, at a place that is the same for
/// all of them. Conflicts: kForm, there is none, or more than one.
std::variant<BufferId, Conflict> summed_in(const Program& program, const LoopPath& path) {
  const Loop& loop = loop_at(program, path);
  const std::string needed = fmt::format("one place that iterations of {} update by += * max min", loop.axis.name);
  std::optional<BufferId> found;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const std::vector<Access> all = accesses_in(program, path, {b});
    if (all.size() != 1 || !all[0].is_update || uses_axis(all[0].at, loop.axis)) continue;
    if (owner_is_inside(program, path, {b})) continue;
    if (found) return form(needed, fmt::format("{} and {}", program[*found].name, program.buffers[b].name));
    found = BufferId{b};
  }
  if (!found) return form(needed, "none that they do not set or read too");
  return *found;
}

/// The outermost loop, at the path or around it, over which the sum goes on.
LoopPath whole_sum(const Program& program, LoopPath path, BufferId buffer) {
  LoopPath whole = path;
  const Access update = accesses_in(program, path, buffer).front();
  const auto owner = loop::owners(program)[buffer.value];
  while (path.size() > 1) {
    path.pop_back();
    const Loop* loop = statement_at(program, path).loop();
    if (loop == nullptr || loop->axis.id == owner || loop->extent.number().value_or(0) < 1) break;
    if (accesses_in(program, path, buffer).size() != 1) break;
    if (!uses_axis(update.at, loop->axis)) whole = path;
  }
  return whole;
}

}  // namespace

Outcome transformed(const Program& program, const ReductionFactor& factor) {
  const auto path = path_to(program, factor.loop);
  if (!path) return gone(program, factor.loop);
  const Loop& loop = loop_at(program, *path);
  const auto extent = loop.extent.number();
  if (!extent || *extent < 1)
    return form("a loop of a known extent, at least 1", fmt::format("{}, of another", loop.axis.name));
  const auto found = summed_in(program, *path);
  if (const auto* conflict = std::get_if<Conflict>(&found)) return *conflict;
  const auto buffer = std::get<BufferId>(found);
  const auto named = copied_buffer(program, program[buffer].name, loop, factor.name);
  if (const auto* conflict = std::get_if<Conflict>(&named)) return *conflict;

  const LoopPath whole = whole_sum(program, *path, buffer);
  const std::vector<Access> updates = accesses_in(program, whole, buffer);
  const std::size_t around = loops_to(program, whole).size() - 1;
  const auto touched = box_of(program, updates, around);
  if (const auto* conflict = std::get_if<Conflict>(&touched)) return *conflict;
  const auto& box = std::get<ReadBox>(touched);
  if (!covers_box(updates.front(), around))
    return form(fmt::format("every element of a box of {} to be updated", program[buffer].name),
                "some that may not be, such as those for which a condition does not hold");

  ReadBox partial = box;
  partial.insert(partial.begin(), {loop::LinearIndex{0}, *extent});
  const loop::StoreKind kind = *only_update(loop.body, buffer);
  const BufferId copy = buffer_named(program, factor.name);
  Program result = with_copy(program, buffer, partial, factor.name);
  Copies copies(result);
  const std::vector<Loop> start = loops_over(copies, partial, factor.name, 'i');
  Body body = nested(start, Store{copy, places_in_copy(start), loop::StoreKind::kSet, neutral(kind)});
  const auto in_part = [&](std::span<const IndexExpr> at, const loop::AxisRanges&) {
    std::vector<IndexExpr> places = places_in_box(at, box);
    places.insert(places.begin(), IndexExpr(loop.axis));
    return places;
  };
  body.push_back(with_places(Body(1, statement_at(program, whole)), buffer, copy, in_part)[0]);
  const std::vector<Loop> over = loops_over(copies, partial, factor.name, 'd');
  const std::vector<Loop> over_box(over.begin() + 1, over.end());
  body.push_back(nested(
      over, Store{buffer, places_in_buffer(over_box, box), kind, ValueExpr::load(copy, places_in_copy(over))})[0]);
  result.body = replaced(program.body, whole, body);
  return result;
}

}  // namespace rewright::schedule
