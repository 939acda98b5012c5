// Parts of schedules: taken out of them, and put together again.
//
//   stages   inline, compute-at, cache, cache-write, rfactor   where what is computed on the way is kept
//   tiles    split, fuse, reorder, distribute                  which iterations follow each other
//   lanes    vectorise, unroll, tensorise                      which run at once
//   layout   pack                                              how tensors lie in memory
//   threads  parallelise, serial                               which run on several cores
//
// Of a schedule that is put together each step says where it is from (schedule/transform.h). Steps of one origin keep
// their order where they are neighbours; else stages come first that need no loop that tiles make, then tiles, the
// other stages, lanes, layout and threads.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "schedule/schedule_space.h"

namespace rewright::schedule {

enum class Part : std::uint8_t { kStages, kTiles, kLanes, kLayout, kThreads };
inline constexpr std::array kParts = {Part::kStages, Part::kTiles, Part::kLanes, Part::kLayout, Part::kThreads};
/// "tiles".
[[nodiscard]] REWRIGHT_API const char* name_of(Part part);

/// A schedule, with knobs or without, of which some parts are taken.
struct Source {
  std::string name;  ///< One word: where its steps are from, those aside that say so themselves.
  Space space;
  std::vector<Part> parts;
};
/// Knobs come with the steps that name them. Errors: kUsage, a source has nothing of a part that is asked for, two have
/// a knob of one name, or a knob that is left is in a constraint with one that is not.
[[nodiscard]] REWRIGHT_API Result<Space> composed(std::span<const Source> sources);

}  // namespace rewright::schedule
