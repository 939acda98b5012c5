#include "schedule/read_box.h"

#include <algorithm>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "loop/reserved_words.h"

namespace rewright::schedule {
namespace {

using loop::Access;
using loop::LinearIndex;

std::optional<ReadExtent> extent_of(const IndexExpr& index, const std::vector<const Loop*>& loops, std::size_t inside) {
  const auto axes = loop::ranges_of(loops);
  const auto form = loop::linear(loop::simplified(index, axes));
  if (!form) return std::nullopt;
  LinearIndex inner{0};
  ReadExtent extent{{form->constant}};
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

}  // namespace

BufferId buffer_named(const Program& program, const std::string& name) {
  const auto named = std::ranges::find(program.buffers, name, &Buffer::name);
  return {static_cast<std::uint32_t>(named - program.buffers.begin())};
}

std::variant<ReadBox, Conflict> read_box(const Program& program, const std::string& buffer, const Loop& loop,
                                         const std::string& name) {
  const BufferId id = buffer_named(program, buffer);
  if (id.value == program.buffers.size())
    return Conflict{Conflict::Kind::kGone, "a buffer " + buffer, "none of that name"};
  if (loop::as_word(name) != name || buffer_named(program, name).value != program.buffers.size())
    return form("a word that is no buffer's name", name);
  if (loop.kind == loop::LoopKind::kVector) return form("a loop that is not vectorised", loop.axis.name);
  std::optional<ReadBox> box;
  for (const Access& access : accesses(program)) {
    if (access.buffer != id) continue;
    const auto at = std::ranges::find(access.loops, &loop);
    if (at == access.loops.end()) continue;
    if (access.is_write)
      return form(fmt::format("{} not to be written in {}", buffer, loop.axis.name), "a store to it");
    ReadBox own;
    for (const IndexExpr& index : access.at) {
      const auto extent = extent_of(index, access.loops, static_cast<std::size_t>(at - access.loops.begin()) + 1);
      if (!extent) return form("indices that are sums of axes", "another index of " + buffer);
      own.push_back(*extent);
    }
    Access unconditional = access;
    unconditional.when.clear();
    if (!loop::stays_inside(unconditional, program[id]))
      return form("reads that lie inside without a condition", "conditions around them");
    const auto differs = [](const ReadExtent& a, const ReadExtent& b) {
      return !(a.first.index() == b.first.index()) || a.size != b.size;
    };
    for (std::size_t d = 0; box && d < own.size(); ++d)
      if (differs((*box)[d], own[d])) return form("one part of " + buffer + " that all of them read", "several");
    box = std::move(own);
  }
  if (!box) return form(fmt::format("reads of {} in {}", buffer, loop.axis.name), "none");
  return *std::move(box);
}

Body reading_copy(const Body& body, BufferId buffer, BufferId copy, const ReadBox& box) {
  return substituted(body, {.load = [&](const ValueExpr& load) -> std::optional<ValueExpr> {
                       if (load.buffer() != buffer) return std::nullopt;
                       std::vector<IndexExpr> at;
                       for (std::size_t d = 0; d < box.size(); ++d)
                         at.push_back(behind(load.indices()[d], box[d].first));
                       return ValueExpr::load(copy, std::move(at));
                     }});
}

}  // namespace rewright::schedule
