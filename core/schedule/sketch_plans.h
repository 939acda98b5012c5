// Plans for one stage of a sketch, and the knobs that each has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/nest.h"
#include "schedule/vector_unit.h"

namespace rewright::schedule {

struct SketchOptions {
  VectorUnit unit;
  std::string structure = "SSRSRS";  ///< Errors of check_structure() otherwise.
  int threads = 1;                   ///< Above 1: outermost loops may run in parallel.
  /// What is made of a scheduled program before it runs; empty: nothing.
  std::function<loop::Program(const loop::Program&)> finish = {};
};
/// Errors: kUsage, it is no word of 2 to 5 S and 1 or 2 R that begins and ends with S.
[[nodiscard]] REWRIGHT_API Status check_structure(const std::string& structure);

/// What a knob of a sketch decides.
enum class SketchKnobKind : std::uint8_t { kTile, kLocation, kUnroll, kParallel, kOrder, kOther };

struct SketchKnob {
  std::string name;   ///< "y.j: vectors".
  std::string stage;  ///< "y".
  SketchKnobKind kind = SketchKnobKind::kOther;
  std::vector<std::int64_t> numbers = {};  ///< Its choices; none: the orders of so many loops.
  std::size_t loops = 0;
};
[[nodiscard]] REWRIGHT_API std::int64_t choice_count(const SketchKnob& knob);
/// The c-th order of 0, 1, ... count - 1, by their dictionary: what choice c of a knob of orders means.
[[nodiscard]] REWRIGHT_API std::vector<std::size_t> order_number(std::size_t count, std::int64_t choice);

/// How a stage is scheduled.
enum class StageForm : std::uint8_t {
  kInline,
  kPlain,
  kPartsInLanes,
  kPartsOutside,
  kTileInPlace,
  kTileInBlock,
  kTile,
  kReader,   ///< Some of its loops are around it and what it reads.
  kAtReader  ///< Computed in the loops of a reader, as much of it as is read there.
};
[[nodiscard]] REWRIGHT_API const char* name_of(StageForm form);

/// Knobs of a stage, by their place among its own.
struct PlanKnobs {
  std::vector<SketchKnob> knobs;
  std::optional<std::size_t> vectors;  ///< Elements of the register tile along the lanes; of partial sums.
  std::optional<std::size_t> rows;     ///< 0: none; the number of an outer loop, from 1 on.
  std::optional<std::size_t> places;   ///< Of the register tile along the rows.
  std::vector<std::vector<std::optional<std::size_t>>> blocks;  ///< By outer loop, then by level, S1 first.
  std::vector<std::optional<std::size_t>> sums;                 ///< By sum, in the order of the nest.
  std::optional<std::size_t> order;
  std::optional<std::size_t> panels;
  std::optional<std::size_t> unroll;
  std::optional<std::size_t> parallel;
  std::optional<std::size_t> depth, at_once;  ///< Of a reader: the loop, from 1 on, and iterations of it.
};
[[nodiscard]] PlanKnobs knobs_of(const loop::Program& program, const Nest& nest, const std::string& stage,
                                 StageForm form, const SketchOptions& options);

[[nodiscard]] inline bool is_tile(StageForm form) {
  return form == StageForm::kTile || form == StageForm::kTileInBlock || form == StageForm::kTileInPlace;
}
/// S that stand before the first R, and those between it and the last S.
struct TileLevels {
  std::size_t outer = 0, blocks = 0;
};
[[nodiscard]] TileLevels levels_of(const std::string& structure, StageForm form);

}  // namespace rewright::schedule
