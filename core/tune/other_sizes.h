// What records of a kernel at other sizes say of the points of its space: transfer learning for predictors (Liu et al.,
// GPTune, 2021). Sketches and knobs of one kernel are the same at all sizes where its loops are long enough; a choice
// then is the same share of a knob.
#pragma once

#include <rewright/tune/predictor.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "store/schedule_records.h"
#include "tune/sketch_space.h"

namespace rewright::tune {

/// The space of a program, as that of the kernel itself is made.
using SpaceOf = std::function<Result<std::unique_ptr<SketchSpace>>(const loop::Program&)>;

/// Observations of points of `space`, one task for each size. `records`: of the kernel's structure, whatever their
/// sizes and outcome; those at `sizes` itself, and of kernels without a program, are left out. At most `most`, of the
/// nearest sizes first.
[[nodiscard]] std::vector<Observation> observations_of_other_sizes(std::span<const ScheduleRecord* const> records,
                                                                   const std::vector<std::int64_t>& sizes,
                                                                   const KernelPrograms& programs,
                                                                   const SketchSpace& space, const SpaceOf& space_of,
                                                                   std::size_t most);

/// A schedule's text in two: steps, and the point of its space, if it says one.
[[nodiscard]] std::pair<std::string, std::optional<Point>> steps_and_point(const std::string& text);
/// Nothing where the point is of another space.
[[nodiscard]] std::optional<schedule::OneShot> schedule_of_record(const SketchSpace& space, const Point& point,
                                                                  const std::string& steps);

/// The mark before a point.
inline constexpr std::string_view kPointMark = "# point ";

}  // namespace rewright::tune
