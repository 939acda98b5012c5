#include "compile/border_zeros.h"

#include <rewright/loop/linear_index.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "schedule/nest_scheduling.h"
#include "schedule/read_box.h"

namespace rewright::compile {
namespace {

using loop::Body;
using loop::Loop;
using loop::LoopKind;
using loop::Program;
using loop::Statement;
using loop::Store;
using loop::StoreKind;
using schedule::LoopPath;
using schedule::ReadBox;

/// Of a stored buffer, along one of its dimensions.
struct Border {
  std::size_t dimension = 0;
  bool is_after = false;
  std::int64_t width = 1;
};
std::vector<std::int64_t> as_stored(const Storage& storage, const std::vector<std::int64_t>& by_dimension) {
  std::vector<std::int64_t> stored;
  for (const std::size_t d : storage.order) stored.push_back(by_dimension[d]);
  return stored;
}
std::vector<Border> borders_of(const Storage& storage) {
  const auto before = as_stored(storage, storage.before), after = as_stored(storage, storage.after);
  std::vector<Border> borders;
  for (std::size_t d = 0; d < before.size(); ++d)
    for (const bool is_after : {false, true})
      if (const std::int64_t width = is_after ? after[d] : before[d]; width > 0)
        borders.push_back({d, is_after, width});
  return borders;
}

std::string stage_of(const Buffer& buffer, const Border& border) {
  return fmt::format("{}_zeros{}{}", buffer.name, border.dimension, border.is_after ? "b" : "a");
}

/// Along dimensions before the border's: what is no border.
ReadBox inside(const Program& program, BufferId buffer, const Storage& storage, std::size_t dimensions) {
  const auto before = as_stored(storage, storage.before), after = as_stored(storage, storage.after);
  ReadBox box;
  for (std::size_t d = 0; d < dimensions; ++d)
    box.push_back({loop::LinearIndex{before[d]}, *program[buffer].sizes[d].number() - before[d] - after[d]});
  return box;
}
/// Zeros along the border, of a part of the dimensions before its own.
Body zeros_along(schedule::Copies& copies, const Program& program, BufferId buffer, const Border& border,
                 const ReadBox& part, bool has_lanes, const std::string& suffix = {}) {
  const auto& sizes = program[buffer].sizes;
  const std::int64_t size = *sizes[border.dimension].number();
  ReadBox box = part;
  box.push_back({loop::LinearIndex{border.is_after ? size - border.width : 0}, border.width});
  while (box.size() < sizes.size()) box.push_back({loop::LinearIndex{0}, *sizes[box.size()].number()});
  std::vector<Loop> loops = schedule::loops_over(copies, box, stage_of(program[buffer], border) + suffix, 'd');
  if (has_lanes && box.back().size > 1) loops.back().kind = LoopKind::kVector;
  return schedule::nested(
      loops, Store{buffer, schedule::places_in_buffer(loops, box), StoreKind::kSet, ValueExpr::from_integer(0)});
}

/// Where the zeros of a nest are to be: at the front of the loop at a path.
struct Place {
  LoopPath path;
  ReadBox part;            ///< Of the buffer that an iteration stores, along the first dimensions.
  std::int64_t count = 0;  ///< Elements of all iterations' parts.
};

/// The part that stores in the loop touch, of the first dimensions; nothing: they differ, or it is no box.
std::optional<ReadBox> part_of(const Program& program, const LoopPath& path, BufferId buffer, std::size_t lead,
                               std::size_t around) {
  std::optional<ReadBox> part;
  for (const loop::Access& access : schedule::accesses_in(program, path, buffer)) {
    if (!access.is_write) return std::nullopt;
    auto box = schedule::box_of(program, {access}, around);
    if (!std::holds_alternative<ReadBox>(box)) return std::nullopt;
    ReadBox own = std::get<ReadBox>(std::move(box));
    own.resize(lead);
    const auto is_same = [](const schedule::ReadExtent& a, const schedule::ReadExtent& b) {
      return a.first.index() == b.first.index() && a.size == b.size;
    };
    if (part && !std::ranges::equal(*part, own, is_same)) return std::nullopt;
    part = std::move(own);
  }
  return part;
}

std::int64_t elements_of(const ReadBox& box) {
  std::int64_t count = 1;
  for (const schedule::ReadExtent& extent : box) count *= extent.size;
  return count;
}

/// Of the nest at a place of the body the innermost loop whose iterations store disjoint parts; nothing: it has none.
std::optional<Place> place_in(const Program& program, std::size_t root, BufferId buffer, std::size_t lead) {
  LoopPath path = {root};
  const auto all = part_of(program, path, buffer, lead, 0);
  std::optional<Place> best;
  std::int64_t iterations = 1;
  const auto has_iterations = [](const Loop* loop) {
    return loop != nullptr && (loop->kind == LoopKind::kSerial || loop->kind == LoopKind::kParallel);
  };
  for (const Loop* loop = program.body[root].loop(); all && has_iterations(loop);
       loop = loop->body.size() == 1 ? loop->body[0].loop() : nullptr) {
    if (loop->extent.number().value_or(0) < 1) break;
    iterations *= schedule::extent(*loop);
    const auto part = part_of(program, path, buffer, lead, path.size());
    if (!part || iterations * elements_of(*part) != elements_of(*all)) break;
    best = Place{path, *part, elements_of(*all)};
    path.push_back(0);
  }
  return best;
}

/// Of each nest that stores the buffer; nothing: some parts are not disjoint.
std::optional<std::vector<Place>> places_of(const Program& program, BufferId buffer, std::size_t lead,
                                            std::int64_t elements) {
  std::vector<Place> places;
  for (std::size_t root = 0; root < program.body.size(); ++root) {
    if (schedule::accesses_in(program, {root}, buffer).empty()) continue;
    auto place = place_in(program, root, buffer, lead);
    if (!place) return std::nullopt;
    elements -= place->count;
    places.push_back(*std::move(place));
  }
  return elements == 0 ? std::optional(places) : std::nullopt;
}

/// The loop at a path begins with `front`.
Body with_front(const Program& program, const LoopPath& path, Body front) {
  const Loop& loop = schedule::loop_at(program, path);
  front.insert(front.end(), loop.body.begin(), loop.body.end());
  return schedule::replaced(program.body, path,
                            schedule::only(Loop{loop.axis, loop.extent, loop.kind, std::move(front)},
                                           schedule::statement_at(program, path).note()));
}

}  // namespace

Body zeros_around(Program& program, BufferId buffer, const Storage& storage) {
  schedule::Copies copies(program);
  Body all;
  for (const Border& border : borders_of(storage)) {
    const ReadBox part = inside(program, buffer, storage, border.dimension);
    const Body zeros = zeros_along(copies, program, buffer, border, part, false);
    all.insert(all.end(), zeros.begin(), zeros.end());
  }
  return all;
}

Program with_zeros_inside(Program program, BufferId buffer, const Storage& storage) {
  const std::vector<Border> borders = borders_of(storage);
  std::vector<std::string> stages;
  for (const Border& border : borders) stages.push_back(stage_of(program[buffer], border));
  const auto stage = [&](const Statement& statement) {  // Of zeros; the last and one: it is something else.
    const auto is_own = [&](const std::string& name) {
      return statement.loop() != nullptr && schedule::name_of_loop(*statement.loop()).parts[0].stage == name;
    };
    return static_cast<std::size_t>(std::ranges::find_if(stages, is_own) - stages.begin());
  };
  schedule::Copies copies(program);
  Body zeros = std::exchange(program.body, {});
  std::ranges::copy_if(zeros, std::back_inserter(program.body),
                       [&](const auto& s) { return stage(s) == stages.size(); });
  std::vector<std::pair<Place, std::size_t>> places;  // And what is at their front.
  for (std::size_t b = 0; b < borders.size(); ++b) {
    const ReadBox all = inside(program, buffer, storage, borders[b].dimension);
    const auto found = all.empty() ? std::nullopt : places_of(program, buffer, all.size(), elements_of(all));
    if (!found) continue;
    for (const Place& place : *found) places.emplace_back(place, b);
    std::erase_if(zeros, [&](const Statement& statement) { return stage(statement) == b; });
  }
  std::erase_if(zeros, [&](const Statement& statement) { return stage(statement) == stages.size(); });
  // Inner loops first: paths to outer ones stay.
  std::ranges::stable_sort(places, std::greater(), [](const auto& each) { return each.first.path.size(); });
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [place, b] = places[i];
    const Body front = zeros_along(copies, program, buffer, borders[b], place.part, true, fmt::format("_{}", i));
    program.body = with_front(program, place.path, front);
  }
  program.body.insert(program.body.begin(), zeros.begin(), zeros.end());
  return program;
}

}  // namespace rewright::compile
