// Sketches: schedules of a whole program whose numbers are still free, derived from its loops by rules (Zheng et al.,
// Ansor, OSDI 2020).
//
// Each nest of the program is a stage. Rules look at stages from the last to the first, and each gives plans for one;
// a sketch has a plan for every stage.
//
// | rule   | where                                                 | plans                                          |
// |--------|-------------------------------------------------------|------------------------------------------------|
// | inline | no sum, no output, plain reads in order, nothing dear | computed where it is read; nothing else        |
// | parts  | sums are longer than results are many                 | partial sums: in lanes; outermost              |
// | tile   | what is read is read again (has_reuse)                | tiles at several levels, sums kept: where the  |
// |        |                                                       | result is, in a block of tiles, in registers   |
// | plain  | none of the above but parts                           | lanes, if it has them                          |
//
// Lanes    Before the rules, few lanes are fused with the loop around them (NestScheduling::fuse_lanes).
// Readers  Where the nests that read a stage are one, or are all computed in one, it can be computed there: some
//          iterations of a loop of that reader at a time. One sketch more has all of these so.
// Tiles  S0 S1 R0 S2 R1 S3, or another structure: loops of results (S) and of sums (R) in levels. The last S is a tile
//        in registers: some vectors wide, and some places of one other loop. Numbers are wishes: of a level of loops
//        the largest divisor is taken that is at most what is wished, so that every choice has a schedule; of the
//        register tile they are exact, and the rest is a nest of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule_space.h"
#include "schedule/sketch_plans.h"

namespace rewright::schedule {

struct StagePlan {
  LoopName root;      ///< Of its nest.
  std::string stage;  ///< What it stores.
  StageForm form = StageForm::kPlain;
  std::size_t first_knob = 0;
  std::size_t knob_count = 0;
  std::optional<LoopName> reader = std::nullopt;  ///< Of a stage at its reader: that one's root.
};

struct Sketch {
  std::vector<StagePlan> stages;              ///< In the order of the program.
  std::vector<SketchKnob> knobs = {};         ///< Of all of them.
  std::optional<Space> given = std::nullopt;  ///< Somebody's own, in place of plans.
};
/// "t0 inline; y tile in registers".
[[nodiscard]] REWRIGHT_API std::string to_string(const Sketch& sketch);

/// Sizes must be numbers. At least one.
[[nodiscard]] REWRIGHT_API std::vector<Sketch> sketches_of(const loop::Program& program, const SketchOptions& options);
/// A space that somebody wrote, as a sketch; what is given in it stays.
[[nodiscard]] REWRIGHT_API Sketch sketch_of(Space space);
/// The schedule of some choices, one for each knob. Nothing where it does not apply.
[[nodiscard]] REWRIGHT_API std::optional<OneShot> realised(const Sketch& sketch, const loop::Program& program,
                                                           const SketchOptions& options, const Choices& choices);

}  // namespace rewright::schedule
