#include "tune/other_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "tune/nearest_record.h"

namespace rewright::tune {
namespace {

/// Have the points of both the same form?
bool is_alike(const SketchSpace& a, const SketchSpace& b) {
  if (a.sketch_count() != b.sketch_count()) return false;
  for (std::size_t s = 0; s < a.sketch_count(); ++s)
    if (a.knobs(s).size() != b.knobs(s).size()) return false;
  return true;
}

}  // namespace

std::pair<std::string, std::optional<Point>> steps_and_point(const std::string& text) {
  const std::size_t at = text.rfind(kPointMark);
  if (at == std::string::npos) return {text, std::nullopt};
  std::string_view rest = std::string_view(text).substr(at + kPointMark.size());
  rest = rest.substr(0, rest.find('\n'));
  return {text.substr(0, at), parse_point(rest)};
}

std::optional<schedule::OneShot> schedule_of_record(const SketchSpace& space, const Point& point,
                                                    const std::string& steps) {
  if (point.sketch >= space.sketch_count() || point.choices.size() != space.knobs(point.sketch).size())
    return std::nullopt;
  const auto knobs = space.knobs(point.sketch);
  for (std::size_t k = 0; k < knobs.size(); ++k)
    if (point.choices[k] >= knobs[k].choices) return std::nullopt;
  auto scheduled = space.schedule_of(point);
  if (!scheduled || to_string(scheduled->steps) != steps) return std::nullopt;
  return scheduled;
}

std::vector<Observation> observations_of_other_sizes(std::span<const ScheduleRecord* const> records,
                                                     const std::vector<std::int64_t>& sizes,
                                                     const KernelPrograms& programs, const SketchSpace& space,
                                                     const SpaceOf& space_of, std::size_t most) {
  std::map<std::pair<double, std::vector<std::int64_t>>, std::vector<const ScheduleRecord*>> by_sizes;
  for (const ScheduleRecord* record : records) {
    if (record->sizes.size() == sizes.size() && record->sizes != sizes)
      by_sizes[{distance_of_sizes(record->sizes, sizes), record->sizes}].push_back(record);
  }
  std::vector<Observation> observations;
  for (const auto& [size, of_size] : by_sizes) {
    const auto text = programs.find({of_size.front()->structure, size.second});
    const auto program = text == programs.end() ? std::nullopt : std::optional(loop::parse_program(text->second));
    if (!program || !*program) continue;
    const auto other = space_of(**program);
    if (!other || !is_alike(**other, space)) continue;
    const std::string task = fmt::format("{} {}", of_size.front()->structure, fmt::join(size.second, ","));
    for (const ScheduleRecord* record : of_size) {
      if (observations.size() == most) return observations;
      const auto [steps, point] = steps_and_point(record->schedule);
      const auto scheduled = point ? schedule_of_record(**other, *point, steps) : std::nullopt;
      if (!scheduled) continue;
      const double us = record->outcome == "ok" ? record->least_us() : std::numeric_limits<double>::infinity();
      observations.push_back({(*other)->features(scheduled->program, &*point), us, task});
    }
  }
  return observations;
}

}  // namespace rewright::tune
