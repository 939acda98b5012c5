// reorder: a loop that carries a dependence stays outside of those that were inside of it; of sums and the like the
// order does not matter. parallelise, vectorise: no dependence at all.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "schedule/forbidding.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

using loop::LoopKind;

constexpr std::int64_t kMostUnrolled = 64;

/// Loops of which each stands alone in the one before, from the outermost of `names` to the innermost.
std::vector<const Loop*> nest_of(const Loop& outermost, const std::vector<std::string>& names) {
  std::vector<const Loop*> nest = {&outermost};
  const auto is_named = [&](const Loop* loop) { return std::ranges::find(names, loop->axis.name) != names.end(); };
  std::size_t found = 1, length = 1;
  while (nest.back()->body.size() == 1 && nest.back()->body[0].loop() != nullptr) {
    nest.push_back(nest.back()->body[0].loop());
    if (is_named(nest.back())) ++found, length = nest.size();
  }
  nest.resize(length);
  return found == names.size() ? nest : std::vector<const Loop*>();
}

/// The nest in its new order, by positions in the old one: those that are named change places among themselves.
std::vector<std::size_t> order_of(const std::vector<const Loop*>& nest, const std::vector<std::string>& names) {
  std::vector<std::size_t> order;
  std::size_t next = 0;
  for (std::size_t k = 0; k < nest.size(); ++k) {
    const bool is_named = std::ranges::find(names, nest[k]->axis.name) != names.end();
    if (!is_named) order.push_back(k);
    if (is_named)
      order.push_back(static_cast<std::size_t>(
          std::ranges::find(nest, names[next++], [](const Loop* loop) { return loop->axis.name; }) - nest.begin()));
  }
  return order;
}

bool has_loops(const Body& body) {
  return std::ranges::any_of(body, [](const Statement& s) { return s.loop() != nullptr || has_loops(body_of(s)); });
}

/// The outermost of them.
std::optional<LoopPath> outermost(const Program& program, const std::vector<LoopName>& names) {
  std::optional<LoopPath> least;
  for (const LoopName& name : names) {
    const auto path = path_to(program, name);
    if (!least || path->size() < least->size()) least = path;
  }
  return least;
}

}  // namespace

Outcome transformed(const Program& program, const Reorder& reorder) {
  std::vector<std::string> names;
  for (const LoopName& name : reorder.loops) {
    if (!path_to(program, name)) return gone(program, name);
    names.push_back(to_string(name));
  }
  const std::string needed =
      fmt::format("a nest of the loops {}, each alone in the one around it", fmt::join(names, ", "));
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    return Conflict{Conflict::Kind::kForm, "different loops", fmt::format("{}", fmt::join(names, ", "))};
  const LoopPath path = *outermost(program, reorder.loops);
  const std::vector<const Loop*> nest = nest_of(loop_at(program, path), names);
  if (nest.empty())
    return Conflict{Conflict::Kind::kForm, needed, "other statements between them (distribute takes these apart)"};
  for (const Loop* loop : nest)
    if (!loop->extent.number())
      return Conflict{Conflict::Kind::kForm, "loops of known extents",
                      fmt::format("{}, whose extent is data", loop->axis.name)};
  const std::vector<std::size_t> order = order_of(nest, names);
  std::vector<std::size_t> place(nest.size());
  for (std::size_t k = 0; k < nest.size(); ++k) place[order[k]] = k;
  // Some loop inside of it is to be around it.
  const auto is_turned = [&](const Loop& loop) {
    const auto carrier = static_cast<std::size_t>(std::ranges::find(nest, &loop) - nest.begin());
    for (std::size_t k = carrier + 1; k < nest.size(); ++k)
      if (place[k] < place[carrier]) return true;
    return false;
  };
  const auto forbids = [](const loop::Dependence& dependence) { return !dependence.is_reduction; };
  if (auto conflict = forbidding(program, "iterations that may change places", is_turned, forbids))
    return *std::move(conflict);
  Body body = nest.back()->body;
  for (std::size_t k = nest.size(); k-- > 0;) {
    const Loop& loop = *nest[order[k]];
    body = only(Loop{loop.axis, loop.extent, loop.kind, std::move(body)});
  }
  Program result = program;
  result.body = replaced(program.body, path, body);
  return result;
}

Outcome transformed(const Program& program, const Mark& mark) {
  const auto path = path_to(program, mark.loop);
  if (!path) return gone(program, mark.loop);
  const Loop& loop = loop_at(program, *path);
  const bool has_no_order = mark.kind == LoopKind::kParallel || mark.kind == LoopKind::kVector;
  if (mark.kind == LoopKind::kVector && has_loops(loop.body))
    return Conflict{Conflict::Kind::kForm, "a loop without loops in it", fmt::format("loops in {}", loop.axis.name)};
  if (mark.kind == LoopKind::kVector && !loop.extent.number())
    return Conflict{Conflict::Kind::kForm, "a loop of known extent",
                    fmt::format("{}, whose extent is data", loop.axis.name)};
  if (mark.kind == LoopKind::kUnroll && loop.extent.number().value_or(kMostUnrolled + 1) > kMostUnrolled)
    return Conflict{Conflict::Kind::kForm, fmt::format("a loop of at most {} iterations", kMostUnrolled),
                    loop.axis.name};
  if (has_no_order) {
    const auto is_it = [&](const Loop& each) { return &each == &loop; };
    if (auto conflict = forbidding(program, "iterations that do not depend on each other", is_it))
      return *std::move(conflict);
  }
  Program result = program;
  result.body = replaced(program.body, *path, only(Loop{loop.axis, loop.extent, mark.kind, loop.body}));
  return result;
}

}  // namespace rewright::schedule
