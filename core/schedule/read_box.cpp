#include "schedule/read_box.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "loop/reserved_words.h"
#include "schedule/places.h"

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

bool is_one_place(const Loop& loop) { return loop.extent.number() == 1; }

}  // namespace

BufferId buffer_named(const Program& program, const std::string& name) {
  const auto named = std::ranges::find(program.buffers, name, &Buffer::name);
  return {static_cast<std::uint32_t>(named - program.buffers.begin())};
}

bool is_free_name(const Program& program, const std::string& name) {
  const auto is_stage = [&](const std::string& text) {
    const LoopName loop_name = *loop::parse_loop_name(text);
    return std::ranges::find(loop_name.parts, name, &LoopName::Part::stage) != loop_name.parts.end();
  };
  return loop::as_word(name) == name && buffer_named(program, name).value == program.buffers.size() &&
         std::ranges::none_of(loop_names(program), is_stage);
}

std::variant<BufferId, Conflict> copied_buffer(const Program& program, const std::string& buffer, const Loop& loop,
                                               const std::string& name) {
  const BufferId id = buffer_named(program, buffer);
  if (id.value == program.buffers.size()) return gone(program, buffer);
  if (!is_free_name(program, name)) return form("a word that is no buffer's name and no stage's", name);
  if (loop.kind == loop::LoopKind::kVector) return form("a loop that is not vectorised", loop.axis.name);
  return id;
}

std::vector<const Loop*> loops_to(const Program& program, const LoopPath& path) {
  std::vector<const Loop*> loops;
  const Body* body = &program.body;
  for (const std::size_t position : path) {
    const Statement& statement = (*body)[position];
    if (statement.loop() != nullptr) loops.push_back(statement.loop());
    body = &body_of(statement);
  }
  return loops;
}

std::vector<Access> accesses_in(const Program& program, const LoopPath& path, BufferId buffer) {
  const std::vector<const Loop*> around = loops_to(program, path);
  Program inside = program;
  inside.body = around.back()->body;
  std::vector<Access> found;
  for (Access& access : accesses(inside)) {
    if (access.buffer != buffer) continue;
    access.loops.insert(access.loops.begin(), around.begin(), around.end());
    found.push_back(std::move(access));
  }
  return found;
}

std::variant<ReadBox, Conflict> box_of(const Program& program, const std::vector<Access>& accesses,
                                       std::size_t around) {
  std::optional<ReadBox> box;
  for (const Access& access : accesses) {
    const Buffer& buffer = program[access.buffer];
    ReadBox own;
    for (const IndexExpr& index : access.at) {
      const auto extent = extent_of(index, access.loops, around);
      if (!extent) return form("indices that are sums of axes", "another index of " + buffer.name);
      own.push_back(*extent);
    }
    Access unconditional = access;
    unconditional.when.clear();
    if (!loop::stays_inside(unconditional, buffer))
      return form("accesses that lie inside without a condition", "conditions around them");
    const auto differs = [](const ReadExtent& a, const ReadExtent& b) {
      return !(a.first.index() == b.first.index()) || a.size != b.size;
    };
    for (std::size_t d = 0; box && d < own.size(); ++d)
      if (differs((*box)[d], own[d])) return form("one part of " + buffer.name + " that is touched", "several");
    box = std::move(own);
  }
  return *std::move(box);
}

bool covers_box(const Access& access, std::size_t around) {
  if (!access.when.empty()) return false;
  const std::span<const Loop* const> inside = std::span(access.loops).subspan(around);
  const auto axes = loop::ranges_of(access.loops);
  std::set<std::uint32_t> used;
  for (const Loop* loop : inside)
    if (loop->extent.number().value_or(0) < 1) return false;
  for (const IndexExpr& index : access.at) {
    const auto form = loop::linear(loop::simplified(index, axes));
    if (!form) return false;
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // Size of the step, and the number of places.
    for (const auto& [atom, coefficient] : form->terms) {
      if (atom.kind() != IndexExpr::Kind::kAxis) return false;
      const auto own = std::ranges::find(inside, atom.axis().id, [](const Loop* loop) { return loop->axis.id; });
      if (own == inside.end()) continue;
      if (!used.insert(atom.axis().id).second) return false;
      steps.emplace_back(std::abs(coefficient), *(*own)->extent.number());
    }
    std::ranges::sort(steps);
    std::int64_t reached = 1;  // All of 0 .. reached - 1 are places.
    for (const auto& [step, count] : steps) {
      if (step > reached) return false;
      reached += step * (count - 1);
    }
  }
  return true;
}

std::variant<ReadBox, Conflict> read_box(const Program& program, const std::string& buffer, const LoopPath& path,
                                         const std::string& name) {
  const Loop& loop = loop_at(program, path);
  const auto id = copied_buffer(program, buffer, loop, name);
  if (const auto* conflict = std::get_if<Conflict>(&id)) return *conflict;
  const std::vector<Access> all = accesses_in(program, path, std::get<BufferId>(id));
  if (std::ranges::any_of(all, &Access::is_write))
    return form(fmt::format("{} not to be written in {}", buffer, loop.axis.name), "a store to it");
  if (all.empty()) return form(fmt::format("reads of {} in {}", buffer, loop.axis.name), "none");
  return box_of(program, all, loops_to(program, path).size());
}

Program with_copy(const Program& program, BufferId of, const ReadBox& box, const std::string& name) {
  Program result = program;
  Buffer made{name, {}, program[of].element, BufferRole::kTemporary};
  for (const ReadExtent& extent : box) made.sizes.emplace_back(extent.size);
  result.buffers.push_back(std::move(made));
  return result;
}

std::vector<IndexExpr> places_in_box(std::span<const IndexExpr> at, const ReadBox& box) {
  std::vector<IndexExpr> places;
  for (std::size_t d = 0; d < box.size(); ++d) places.push_back(behind(at[d], box[d].first));
  return places;
}

Body in_copy(const Body& body, BufferId buffer, BufferId copy, const ReadBox& box) {
  return with_places(body, buffer, copy,
                     [&](std::span<const IndexExpr> at, const loop::AxisRanges&) { return places_in_box(at, box); });
}

std::vector<Loop> loops_over(Copies& copies, const ReadBox& box, const std::string& name, char stem) {
  std::vector<Loop> loops;
  for (std::size_t d = 0; d < box.size(); ++d)
    loops.push_back({copies.new_axis({{{name, fmt::format("{}{}", stem, d)}}}), box[d].size});
  return loops;
}

Body nested(const std::vector<Loop>& loops, Statement::Content statement) {
  Body body = only(std::move(statement));
  for (std::size_t d = loops.size(); d-- > 0;)
    if (!is_one_place(loops[d])) body = only(Loop{loops[d].axis, loops[d].extent, loops[d].kind, std::move(body)});
  return body;
}

std::vector<IndexExpr> places_in_copy(const std::vector<Loop>& loops) {
  std::vector<IndexExpr> places;
  for (const Loop& loop : loops) places.push_back(is_one_place(loop) ? IndexExpr(0) : IndexExpr(loop.axis));
  return places;
}

std::vector<IndexExpr> places_in_buffer(const std::vector<Loop>& loops, const ReadBox& box) {
  std::vector<IndexExpr> places = places_in_copy(loops);
  for (std::size_t d = 0; d < box.size(); ++d) places[d] = box[d].first.index() + places[d];
  return places;
}

}  // namespace rewright::schedule
