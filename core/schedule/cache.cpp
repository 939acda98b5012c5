// cache x l t: what one iteration of l reads of x, a box of it, is copied to t first, and read from there.
//
//   t[d0, d1, ...] = x[first0 + d0, first1 + d1, ...]     first: what does not change inside of l
#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <set>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "loop/reserved_words.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

using loop::Access;
using loop::LinearIndex;

/// Of one dimension: index = first + something in 0 .. size - 1.
struct Extent {
  LinearIndex first;
  std::int64_t size = 1;
};

std::optional<Extent> extent_of(const IndexExpr& index, const std::vector<const Loop*>& loops, std::size_t inside) {
  const auto axes = loop::ranges_of(loops);
  const auto form = loop::linear(loop::simplified(index, axes));
  if (!form) return std::nullopt;
  LinearIndex inner{0};
  Extent extent{{form->constant}};
  for (const auto& [atom, coefficient] : form->terms) {
    if (atom.kind() != IndexExpr::Kind::kAxis) return std::nullopt;
    const auto at = std::ranges::find(loops, atom.axis().id, [](const Loop* l) { return l->axis.id; });
    (static_cast<std::size_t>(at - loops.begin()) < inside ? extent.first : inner).add(atom, coefficient);
  }
  const auto range = range_of(inner, axes);
  if (!range) return std::nullopt;
  extent.first.constant += range->low;
  extent.size = range->high - range->low + 1;
  return extent;
}

/// index - first
IndexExpr behind(const IndexExpr& index, const LinearIndex& first) {
  const auto form = loop::linear(index);
  const auto difference = form ? combined(*form, first, -1) : std::nullopt;
  return difference ? difference->index() : index - first.index();
}

Conflict form(std::string needed, std::string found) {
  return {Conflict::Kind::kForm, std::move(needed), std::move(found)};
}

}  // namespace

Outcome transformed(const Program& program, const Cache& cache) {
  const auto path = path_to(program, cache.loop);
  if (!path) return gone(program, cache.loop);
  const Loop& loop = loop_at(program, *path);
  const auto named = std::ranges::find(program.buffers, cache.buffer, &Buffer::name);
  if (named == program.buffers.end())
    return Conflict{Conflict::Kind::kGone, "a buffer " + cache.buffer, "none of that name"};
  const BufferId buffer{static_cast<std::uint32_t>(named - program.buffers.begin())};
  if (loop::as_word(cache.name) != cache.name ||
      std::ranges::find(program.buffers, cache.name, &Buffer::name) != program.buffers.end())
    return form("a word that is no buffer's name", cache.name);
  if (loop.kind == loop::LoopKind::kVector) return form("a loop that is not vectorised", loop.axis.name);

  std::optional<std::vector<Extent>> box;
  for (const Access& access : accesses(program)) {
    if (access.buffer != buffer) continue;
    const auto at = std::ranges::find(access.loops, &loop);
    if (at == access.loops.end()) continue;
    if (access.is_write)
      return form(fmt::format("{} not to be written in {}", cache.buffer, loop.axis.name), "a store to it");
    std::vector<Extent> own;
    for (const IndexExpr& index : access.at) {
      const auto extent = extent_of(index, access.loops, static_cast<std::size_t>(at - access.loops.begin()) + 1);
      if (!extent) return form("indices that are sums of axes", "another index of " + cache.buffer);
      own.push_back(*extent);
    }
    Access unconditional = access;
    unconditional.when.clear();
    if (!loop::stays_inside(unconditional, *named))
      return form("reads that lie inside without a condition", "conditions around them");
    const auto differs = [](const Extent& a, const Extent& b) {
      return !(a.first.index() == b.first.index()) || a.size != b.size;
    };
    for (std::size_t d = 0; box && d < own.size(); ++d)
      if (differs((*box)[d], own[d])) return form("one part of " + cache.buffer + " that all of them read", "several");
    box = std::move(own);
  }
  if (!box) return form(fmt::format("reads of {} in {}", cache.buffer, loop.axis.name), "none");

  Program result = program;
  Copies copies(result);
  const BufferId copy{static_cast<std::uint32_t>(result.buffers.size())};
  Buffer made{cache.name, {}, named->element, BufferRole::kTemporary};
  std::vector<IndexExpr> from, to;
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < box->size(); ++d) {
    made.sizes.emplace_back((*box)[d].size);
    axes.push_back(copies.new_axis({{{cache.name, fmt::format("d{}", d)}}}));
    to.emplace_back(axes.back());
    from.push_back((*box)[d].first.index() + IndexExpr(axes.back()));
  }
  result.buffers.push_back(made);
  Body fill = only(loop::Store{copy, to, loop::StoreKind::kSet, ValueExpr::load(buffer, from)});
  for (std::size_t d = box->size(); d-- > 0;)
    fill = only(Loop{axes[d], made.sizes[d], loop::LoopKind::kSerial, std::move(fill)});
  const Substitution reads{.load = [&](const ValueExpr& load) -> std::optional<ValueExpr> {
    if (load.buffer() != buffer) return std::nullopt;
    std::vector<IndexExpr> at;
    for (std::size_t d = 0; d < box->size(); ++d) at.push_back(behind(load.indices()[d], (*box)[d].first));
    return ValueExpr::load(copy, std::move(at));
  }};
  const Body changed = substituted(loop.body, reads);
  fill.insert(fill.end(), changed.begin(), changed.end());
  result.body = replaced(result.body, *path, only(Loop{loop.axis, loop.extent, loop.kind, std::move(fill)}));
  return result;
}

}  // namespace rewright::schedule
