// cache x l t: what one iteration of l reads of x, a box of it, is copied to t first, and read from there.
// compute-at x l t: it is not copied but computed, by the loops that compute x; those go, if nothing else reads x.
#include <rewright/loop/buffer_owners.h>

#include <algorithm>
#include <map>
#include <set>

#include "loop/accesses.h"
#include "schedule/read_box.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

using loop::Access;

/// Statements in front of what the loop does.
Body with_front(const Program& program, const LoopPath& path, Body front, const Body& rest) {
  const Loop& loop = loop_at(program, path);
  front.insert(front.end(), rest.begin(), rest.end());
  return replaced(program.body, path, only(Loop{loop.axis, loop.extent, loop.kind, std::move(front)}));
}

/// The nest that computes all of a temporary and nothing else that lasts: a loop for each axis, each alone in the one
/// before.
std::variant<std::vector<const Loop*>, Conflict> producer_of(const Program& program, BufferId buffer,
                                                             const Loop& reader) {
  const std::string& name = program[buffer].name;
  const auto other = [&](std::string found) {
    return form(fmt::format("one nest that computes {} before {}, a loop for each of its axes", name, reader.axis.name),
                std::move(found));
  };
  if (program[buffer].role != BufferRole::kTemporary) return other(fmt::format("{}, which is no temporary", name));
  const std::vector<Access> all = accesses(program);
  const auto writes = [&](const Access& access) { return access.buffer == buffer && access.is_write; };
  const auto first = std::ranges::find_if(all, writes);
  if (first == all.end() || first->loops.empty()) return other("none");
  std::vector<const Loop*> nest = {first->loops.front()};
  while (nest.size() < program[buffer].sizes.size()) {
    const Body& body = nest.back()->body;
    if (body.size() != 1 || body[0].loop() == nullptr) return other("other statements between its loops");
    nest.push_back(body[0].loop());
  }
  for (std::size_t d = 0; d < program[buffer].sizes.size(); ++d)
    if (nest[d]->extent.number() != program[buffer].sizes[d].number()) return other("a part of it");

  const auto owners = loop::owners(program);
  const auto is_inside = [&](const Access& access) {
    return !access.loops.empty() && access.loops.front() == nest.front();
  };
  std::set<std::uint32_t> read;
  bool is_read_behind = false;
  for (const Access& access : all) {
    const bool is_reader = std::ranges::find(access.loops, &reader) != access.loops.end();
    if (!is_inside(access)) {
      if (writes(access)) return other("several");
      if (access.is_write && read.contains(access.buffer.value))
        return other(fmt::format("a later store to {}, which it reads", program[access.buffer].name));
      is_read_behind |= is_reader && !read.empty();
      continue;
    }
    if (is_reader) return other("the nest itself");
    read.insert(access.buffer.value);
    const auto owner = owners[access.buffer.value];
    const bool is_own =
        owner && std::ranges::any_of(access.loops, [&](const Loop* loop) { return loop->axis.id == *owner; });
    if (access.buffer != buffer && access.is_write && !is_own)
      return other(fmt::format("one that computes {} too", program[access.buffer].name));
    for (std::size_t d = 0; access.buffer == buffer && d < access.at.size(); ++d)
      if (!(access.at[d] == IndexExpr(nest[d]->axis))) return other("stores in another order");
  }
  if (!is_read_behind) return other("one behind it");
  return nest;
}

/// The nest that computes a buffer, over the box alone and into a buffer of the box's sizes.
class BoxOfNest {
 public:
  BoxOfNest(BufferId buffer, BufferId copy, const ReadBox& box) : buffer_(buffer), copy_(copy), box_(box) {}
  [[nodiscard]] Body run(const Body& nest) {
    if (at_.size() == box_.size()) return moved(nest);
    const Loop& loop = *nest[0].loop();
    const ReadExtent& extent = box_[at_.size()];
    at_.emplace_back(loop.axis);
    places_.emplace(loop.axis.id, extent.first.index() + IndexExpr(loop.axis));
    return only(Loop{loop.axis, extent.size, loop.kind, run(loop.body)}, nest[0].note());
  }

 private:
  [[nodiscard]] Body moved(const Body& body) const {
    Body result;
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        result.emplace_back(Loop{loop->axis, substitute(loop->extent, parts_), loop->kind, moved(loop->body)});
      } else if (const loop::Branch* branch = statement.branch()) {
        result.emplace_back(loop::Branch{substitute(branch->condition, parts_), moved(branch->body)});
      } else {
        loop::Store store = *statement.store();
        for (IndexExpr& index : store.at) index = substitute(index, parts_);
        if (store.buffer == buffer_) store.buffer = copy_, store.at = at_;
        store.value = substitute(store.value, parts_);
        result.emplace_back(std::move(store));
      }
    }
    return result;
  }

  BufferId buffer_, copy_;
  const ReadBox& box_;
  std::vector<IndexExpr> at_;
  std::map<std::uint32_t, IndexExpr> places_;  ///< Of the nest's axes: where the box has them.
  Substitution parts_{.axis = [this](const Axis& axis) -> std::optional<IndexExpr> {
                        const auto place = places_.find(axis.id);
                        return place == places_.end() ? std::nullopt : std::optional(place->second);
                      },
                      .load = [this](const ValueExpr& load) -> std::optional<ValueExpr> {
                        if (load.buffer() != buffer_) return std::nullopt;
                        return ValueExpr::load(copy_, at_);
                      }};
};

}  // namespace

Outcome transformed(const Program& program, const Cache& cache) {
  const auto path = path_to(program, cache.loop);
  if (!path) return gone(program, cache.loop);
  const Loop& loop = loop_at(program, *path);
  const auto found = read_box(program, cache.buffer, *path, cache.name);
  if (const auto* conflict = std::get_if<Conflict>(&found)) return *conflict;
  const auto& box = std::get<ReadBox>(found);
  const BufferId buffer = buffer_named(program, cache.buffer), copy = buffer_named(program, cache.name);
  Program result = with_copy(program, buffer, box, cache.name);
  Copies copies(result);
  const std::vector<Loop> over = loops_over(copies, box, cache.name, 'd');
  Body fill = nested(over, loop::Store{copy, places_in_copy(over), loop::StoreKind::kSet,
                                       ValueExpr::load(buffer, places_in_buffer(over, box))});
  result.body = with_front(program, *path, std::move(fill), in_copy(loop.body, buffer, copy, box));
  return result;
}

Outcome transformed(const Program& program, const ComputeAt& compute) {
  const auto path = path_to(program, compute.loop);
  if (!path) return gone(program, compute.loop);
  const Loop& loop = loop_at(program, *path);
  const auto found = read_box(program, compute.buffer, *path, compute.name);
  if (const auto* conflict = std::get_if<Conflict>(&found)) return *conflict;
  const auto& box = std::get<ReadBox>(found);
  const BufferId buffer = buffer_named(program, compute.buffer), copy = buffer_named(program, compute.name);
  const auto producer = producer_of(program, buffer, loop);
  if (const auto* conflict = std::get_if<Conflict>(&producer)) return *conflict;
  const Loop& outermost = *std::get<std::vector<const Loop*>>(producer).front();

  Program result = with_copy(program, buffer, box, compute.name);
  Copies copies(result);
  Body nest = copies.copy(only(outermost), copies.free_step(only(outermost), 0));
  nest = BoxOfNest(buffer, copy, box).run(nest);
  result.body = with_front(program, *path, std::move(nest), in_copy(loop.body, buffer, copy, box));
  const auto reads = [&](const Access& access) {
    return access.buffer == buffer && (access.loops.empty() || access.loops.front()->axis.id != outermost.axis.id);
  };
  if (std::ranges::none_of(accesses(result), reads))
    std::erase_if(result.body, [&](const Statement& statement) {
      return statement.loop() != nullptr && statement.loop()->axis == outermost.axis;
    });
  return result;
}

}  // namespace rewright::schedule
