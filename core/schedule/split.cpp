// split l f:  l = f l/0 + l/1,   l/0 < ceil(E / f),  l/1 < f; fuse, its inverse. Where f does not divide E:
//
//   mask   if l < E { body }                  pad       what outlives an iteration in a condition, the rest in none
//   cut    the rest in a loop of its own      overlap   the last f in a loop of its own, storing what is new
//
// An overlapping tile computes again what the one before did, and does not store it: so no element is stored twice, and
// the body may be one that changes what it reads.
#include <rewright/loop/linear_index.h>

#include "schedule/extra_iterations.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

/// The axis is this index from now on.
Body with_index(const Body& body, const Axis& axis, const IndexExpr& index) {
  return substituted(body,
                     {.axis = [&](const Axis& used) { return used == axis ? std::optional(index) : std::nullopt; }});
}

class Splitting {
 public:
  Splitting(Program program, const Split& split, Loop loop, std::string note)
      : program_(std::move(program)),
        split_(split),
        loop_(std::move(loop)),
        note_(std::move(note)),
        copies_(program_) {}

  Body run(std::int64_t extent) {
    const std::int64_t factor = split_.factor, whole = extent / factor, rest = extent % factor;
    const IndexCondition needed{loop_.axis, IndexCondition::Relation::kLess, loop_.extent};
    if (rest == 0) return Body(1, nest(whole, loop_.body));
    if (split_.tail == Tail::kMask) return Body(1, nest(whole + 1, only(loop::Branch{{needed}, loop_.body})));
    if (split_.tail == Tail::kPad) return Body(1, nest(whole + 1, storing_where(program_, loop_, {needed})));
    Body parts;
    if (whole > 0) parts.push_back(nest(whole, loop_.body));
    if (split_.tail == Tail::kOverlap) {
      const IndexCondition is_new{whole * factor, IndexCondition::Relation::kLessEqual, loop_.axis};
      parts.push_back(tail(factor, extent - factor, storing_where(program_, loop_, {is_new})));
    } else {
      parts.push_back(tail(rest, whole * factor, loop_.body));
    }
    return parts;
  }
  /// Which iterations of the split loop are needed, of those that there are with tail=pad.
  [[nodiscard]] IndexCondition needed() const { return {index(), IndexCondition::Relation::kLess, loop_.extent}; }
  [[nodiscard]] const Axis& outer() const { return outer_; }
  [[nodiscard]] Program take() { return std::move(program_); }

 private:
  [[nodiscard]] IndexExpr index() const { return IndexExpr(outer_) * IndexExpr(split_.factor) + IndexExpr(inner_); }
  Statement nest(std::int64_t count, const Body& body) {
    Body inner = only(Loop{inner_, split_.factor, loop_.kind, with_index(body, loop_.axis, index())});
    return {Loop{outer_, count, loop_.kind, std::move(inner)}, note_};
  }
  /// `count` iterations from `from` on, as a loop of its own.
  Statement tail(std::int64_t count, std::int64_t from, const Body& body) {
    const Body copy =
        copies_.copy(only(Loop{loop_.axis, loop_.extent, loop_.kind, body}), copies_.free_step(only(loop_), 2));
    const Loop& loop = *copy[0].loop();
    return {
        Loop{loop.axis, count, loop.kind, with_index(loop.body, loop.axis, IndexExpr(loop.axis) + IndexExpr(from))}};
  }

  Program program_;
  const Split& split_;
  Loop loop_;
  std::string note_;
  Copies copies_;
  Axis outer_ = copies_.new_axis(extended(split_.loop, 0));
  Axis inner_ = copies_.new_axis(extended(split_.loop, 1));
};

}  // namespace

Outcome transformed(const Program& program, const Split& split) {
  const auto path = path_to(program, split.loop);
  if (!path) return gone(program, split.loop);
  const Loop& loop = loop_at(program, *path);
  const auto extent = loop.extent.number();
  const std::string name = to_string(split.loop);
  if (!extent)
    return Conflict{Conflict::Kind::kForm, "a loop of known extent", fmt::format("{}, whose extent is data", name)};
  if (loop.kind == loop::LoopKind::kVector)
    return Conflict{Conflict::Kind::kForm, "a loop that is not vectorised", name};
  if (split.factor < 1)
    return Conflict{Conflict::Kind::kForm, "a factor of at least 1", fmt::format("{}", split.factor)};
  if (split.tail == Tail::kDivide && *extent % split.factor != 0)
    return Conflict{Conflict::Kind::kForm,
                    fmt::format("a factor that divides the extent {} of {}, or another tail", *extent, name),
                    fmt::format("{}", split.factor)};
  if (split.tail == Tail::kOverlap && *extent < split.factor)
    return Conflict{Conflict::Kind::kForm, fmt::format("a factor of at most the extent {} of {}", *extent, name),
                    fmt::format("{}", split.factor)};
  const bool has_extra = (split.tail == Tail::kPad || split.tail == Tail::kOverlap) && *extent % split.factor != 0;
  if (has_extra)
    if (auto conflict = computed_index(program, loop)) return *std::move(conflict);
  for (const int part : {0, 1})
    if (path_to(program, extended(split.loop, part)))
      return Conflict{Conflict::Kind::kForm, fmt::format("names {0}/0 and {0}/1 that no loop has", name),
                      to_string(extended(split.loop, part))};
  Splitting splitting(program, split, loop, statement_at(program, *path).note());
  const Body parts = splitting.run(*extent);
  Program result = splitting.take();
  result.body = replaced(result.body, *path, parts);
  if (split.tail == Tail::kPad && has_extra)
    if (auto conflict = beyond(result, splitting.outer(), splitting.needed())) return *std::move(conflict);
  return result;
}

Outcome transformed(const Program& program, const Fuse& fuse) {
  const auto path = path_to(program, fuse.outer);
  if (!path) return gone(program, fuse.outer);
  if (!path_to(program, fuse.inner)) return gone(program, fuse.inner);
  const Loop& outer = loop_at(program, *path);
  const Loop* inner = outer.body.size() == 1 ? outer.body[0].loop() : nullptr;
  if (inner == nullptr || inner->axis.name != to_string(fuse.inner))
    return Conflict{Conflict::Kind::kForm, fmt::format("{} alone in {}", to_string(fuse.inner), to_string(fuse.outer)),
                    inner == nullptr ? fmt::format("{} statements", outer.body.size()) : inner->axis.name};
  if (inner->kind != outer.kind)
    return Conflict{Conflict::Kind::kForm, "loops of one kind",
                    fmt::format("{} and {}", name_of(outer.kind), name_of(inner->kind))};
  if (!outer.extent.number() || inner->extent.number().value_or(0) < 1)
    return Conflict{Conflict::Kind::kForm, "loops of known extents, the inner one at least 1", "another extent"};
  LoopName name = fuse.outer;
  name.parts.insert(name.parts.end(), fuse.inner.parts.begin(), fuse.inner.parts.end());
  const Axis both{unused_axis(program), to_string(name)};
  const IndexExpr count = inner->extent;
  Body body = with_index(inner->body, outer.axis, floor_divide(both, count));
  body = with_index(body, inner->axis, modulo(both, count));
  Program result = program;
  result.body = replaced(
      program.body, *path,
      only(Loop{both, outer.extent * count, outer.kind, std::move(body)}, statement_at(program, *path).note()));
  return result;
}

}  // namespace rewright::schedule
