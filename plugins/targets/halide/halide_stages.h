// A loop program as definitions of Halide's functions, and the loops of each: what a schedule changes.
//
//   store y[i, j] = v      in loops i, j       a function's first definition, over i and j
//   store y[i, j] += v     in loops i, j, k    a later one, over i, j and a reduction over k
//   store acc[] = v        in loops i, j       acc is a function of i and j, computed inside of j
//
// Halide computes all of a definition before the next one begins: a function's definitions share no loops of its own.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/schedule/transform.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rewright::halide {

struct StageLoop {
  std::string name;
  std::int64_t extent = 1;
  loop::LoopKind kind = loop::LoopKind::kSerial;
};

/// A split, or two loops that were fused: whole = outer, inner.
struct Relation {
  bool is_split = true;
  std::string outer, inner, whole;
  std::int64_t factor = 1;
  schedule::Tail tail = schedule::Tail::kDivide;
};

/// A loop of the program as it was lowered.
struct StageAxis {
  std::string name;
  Axis axis;
  std::int64_t extent = 1;
};

struct Function {
  std::string name;
  BufferId buffer;
  std::vector<std::int64_t> sizes;
  /// The loops around that own the buffer: the function's first dimensions.
  std::vector<Axis> owners = {};
  bool is_inlined = false;
  /// A copy of the buffer, for this function alone.
  std::optional<std::size_t> only_reader = {};
};

struct Stage {
  std::size_t function = 0;
  bool is_update = false;
  loop::Store store;
  Guard where = {};
  std::vector<Axis> places = {};  ///< For each dimension of the function.
  std::vector<StageAxis> axes = {};
  std::vector<StageLoop> loops = {};
  std::vector<Relation> relations = {};
  std::optional<std::size_t> copied = {};  ///< The function of which it is a copy, its value in place of the store's.

  /// The loop's place in `loops`.
  [[nodiscard]] std::optional<std::size_t> place_of(const std::string& loop) const;
};

struct Stages {
  std::vector<Function> functions;
  std::vector<Stage> stages;  ///< In an order in which what is read was computed.

  [[nodiscard]] std::optional<std::size_t> function_of(BufferId buffer) const;
  /// Functions that a stage reads, those that inlined ones read among them.
  [[nodiscard]] std::set<std::size_t> read_by(const Stage& stage) const;
  /// How many loops around the function are those of what reads it.
  [[nodiscard]] std::size_t depth(const loop::Program& program, std::size_t function) const;
};

void collect_loads(const ValueExpr& value, std::set<std::uint32_t>& buffers);

/// Errors: kUnsupported, the store that is no definition of Halide's.
[[nodiscard]] Result<Stages> stages_of(const loop::Program& program);

}  // namespace rewright::halide
