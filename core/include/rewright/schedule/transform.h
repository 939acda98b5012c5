// Transforms of loop programs as data, and schedules: lists of them. They change how a program runs, never what it
// computes.
//
//   schedule  := step ((";" | newline) step)*                 "#" and the rest of a line: a comment
//   step      := "from" name                                  where the steps that follow were taken from
//              | transform ["or" ("fail" | "skip" | "retarget")]
//   transform := "split" loop factor ["tail=" ("divide" | "mask" | "cut" | "pad" | "overlap")]
//              | "fuse" loop loop | "reorder" loop loop+ | "distribute" loop
//              | "serial" loop | "parallelise" loop | "vectorise" loop | "unroll" loop
//              | ("cache" | "cache-write" | "compute-at") buffer loop name
//              | "rfactor" loop name | "inline" buffer | "tensorise" loop ("outer-product" | "products")
//              | "pack" buffer name (dim | dim "/" factor | dim "%" factor)* ["pad"]
//
//   split c.j 16 tail=cut; reorder c.i c.k c.j/0 c.j/1; vectorise c.j/1
//
// | transform       | what it does                                                  | needs                          |
// |-----------------|---------------------------------------------------------------|--------------------------------|
// | split l f       | l = f l/0 + l/1                                               | f divides the extent (divide)  |
// |   tail=mask     | the same, inside of "if l < extent"                           |                                |
// |   tail=cut      | the rest in a loop of its own, l/2 (or a free number)         |                                |
// |   tail=pad      | as mask, with the condition around what outlives an iteration | the rest stays inside          |
// |   tail=overlap  | as cut, but l/2 has f iterations and stores what is new       | f is at most the extent        |
// | fuse a b        | one loop a&b over both                                        | b alone in a, of its kind      |
// | reorder a b ... | these loops of one nest in this order                         | no dependence is turned round  |
// | distribute l    | a loop for each statement in l; the largest keeps the name    | none of them needs a later one |
// | parallelise l   | iterations in any order, on threads                           | no dependence between them     |
// | vectorise l     | iterations in any order, as lanes                             | the same; no loop in l         |
// | unroll l        | iterations written one after the other                        | a number of at most 64         |
// | cache x l t     | what an iteration of l reads of x is copied to t first        | x is not written in l; affine  |
// | cache-write     | what it stores of x goes to t, and to x at its end            | one box; set first, or updated |
// | compute-at      | as cache, but computed; loops that made x may go              | one nest makes x, before l     |
// | rfactor l t     | updates in l go to t, an element for each iteration of l      | l only updates one place       |
// |                 | the parts are combined where the whole sum ends               |                                |
// | inline t        | its value is computed where t is read; its loops go           | one nest sets t, no reduction  |
// | pack b t p ...  | p = 1/F 0 1%F: t[j / F, k, j mod F] = b[k, j] in place of b;  | b is no output; F divides      |
// |                 | of an input or a weight a copy, made first                    | its size, or pad               |
// | tensorise l ... | the loops in l become a register tile: lanes and, around    | l holds nothing but these loops|
// |                 | them, registers; l is a step of its sum, a and b read alike  | and updates one tile c so      |
// |   outer-product | for i { for j { c[i, j] += a[i] * b[j] } }                  | i is at most 64                |
// |   products      | for j { c[j] += a[j] * b[j] }                               |                                |
//
// Unroll-and-jam is split i 4; reorder ... i/1 innermost; unroll i/1.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rewright::schedule {

using loop::LoopName;

enum class Tail : std::uint8_t { kDivide, kMask, kCut, kPad, kOverlap };

struct Split {
  LoopName loop;
  std::int64_t factor = 1;
  Tail tail = Tail::kDivide;
  friend bool operator==(const Split&, const Split&) = default;
};
struct Fuse {
  LoopName outer, inner;
  friend bool operator==(const Fuse&, const Fuse&) = default;
};
struct Reorder {
  std::vector<LoopName> loops;
  friend bool operator==(const Reorder&, const Reorder&) = default;
};
struct Distribute {
  LoopName loop;
  friend bool operator==(const Distribute&, const Distribute&) = default;
};
struct Mark {
  LoopName loop;
  loop::LoopKind kind = loop::LoopKind::kSerial;
  friend bool operator==(const Mark&, const Mark&) = default;
};
struct Cache {
  std::string buffer;
  LoopName loop;
  std::string name;
  friend bool operator==(const Cache&, const Cache&) = default;
};
struct CacheWrite {
  std::string buffer;
  LoopName loop;
  std::string name;
  friend bool operator==(const CacheWrite&, const CacheWrite&) = default;
};
struct ReductionFactor {
  LoopName loop;
  std::string name;
  friend bool operator==(const ReductionFactor&, const ReductionFactor&) = default;
};
struct Inline {
  std::string buffer;
  friend bool operator==(const Inline&, const Inline&) = default;
};
/// One dimension of a layout: a dimension of the buffer, or its number of blocks, or what is inside of one.
struct LayoutPart {
  enum class Kind : std::uint8_t { kWhole, kBlock, kInBlock };
  std::size_t dimension = 0;
  Kind kind = Kind::kWhole;
  std::int64_t factor = 1;
  friend bool operator==(const LayoutPart&, const LayoutPart&) = default;
};
struct Pack {
  std::string buffer;
  std::string name;
  std::vector<LayoutPart> parts;
  bool pads = false;  ///< Elements beyond the buffer's are 0.
  friend bool operator==(const Pack&, const Pack&) = default;
};
struct ComputeAt {
  std::string buffer;
  LoopName loop;
  std::string name;
  friend bool operator==(const ComputeAt&, const ComputeAt&) = default;
};
/// Register tiles that targets with vectors know.
enum class RegisterTile : std::uint8_t { kOuterProduct, kProducts };
struct Tensorise {
  LoopName loop;
  RegisterTile tile = RegisterTile::kOuterProduct;
  friend bool operator==(const Tensorise&, const Tensorise&) = default;
};
using Transform = std::variant<Split, Fuse, Reorder, Distribute, Mark, Cache, CacheWrite, ReductionFactor, Inline, Pack,
                               ComputeAt, Tensorise>;

/// What to do where a transform cannot be applied: to end there, to go on without it, or to take the loop that has come
/// of the one that is gone.
enum class OnConflict : std::uint8_t { kFail, kSkip, kRetarget };

struct Step {
  Transform transform;
  OnConflict on_conflict = OnConflict::kFail;
  friend bool operator==(const Step&, const Step&) = default;
};
using Schedule = std::vector<Step>;

[[nodiscard]] REWRIGHT_API std::string to_string(const Transform& transform);
/// A step a line.
[[nodiscard]] REWRIGHT_API std::string to_string(const Schedule& schedule);
/// Errors: kParse, "LINE: what is wrong".
[[nodiscard]] REWRIGHT_API Result<Schedule> parse_schedule(std::string_view text);

}  // namespace rewright::schedule
