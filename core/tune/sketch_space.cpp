#include "tune/sketch_space.h"

#include <rewright/base/mixing.h>

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "tune/features.h"

namespace rewright::tune {
namespace {

constexpr int kMostDraws = 4000;
constexpr std::uint64_t kMostPoints = std::uint64_t{1} << 62;
constexpr std::int64_t kMostStatements = 2000;  ///< As they stand in code, loops that are unrolled written out.

KnobKind kind_of(schedule::SketchKnobKind kind) {
  switch (kind) {
    case schedule::SketchKnobKind::kTile: return KnobKind::kTile;
    case schedule::SketchKnobKind::kLocation: return KnobKind::kLocation;
    case schedule::SketchKnobKind::kUnroll: return KnobKind::kUnroll;
    case schedule::SketchKnobKind::kParallel: return KnobKind::kParallel;
    case schedule::SketchKnobKind::kOrder: return KnobKind::kOrder;
    case schedule::SketchKnobKind::kOther: break;
  }
  return KnobKind::kOther;
}

std::int64_t statements_in_code(const loop::Body& body, std::int64_t lanes) {
  std::int64_t count = 0;
  for (const loop::Statement& statement : body) {
    std::int64_t times = 1;
    if (const loop::Loop* loop = statement.loop()) {
      const std::int64_t extent = loop->extent.number().value_or(1);
      if (loop->kind == loop::LoopKind::kUnroll) times = extent;
      if (loop->kind == loop::LoopKind::kVector) times = std::min<std::int64_t>(8, (extent + lanes - 1) / lanes);
    }
    count += statement.store() != nullptr ? 1 : times * statements_in_code(loop::body_of(statement), lanes);
  }
  return count;
}

}  // namespace

SketchSpace::SketchSpace(loop::Program program, std::vector<schedule::Sketch> sketches, schedule::SketchOptions options,
                         Machine machine, OrderFeatures orders)
    : program_(std::move(program)),
      sketches_(std::move(sketches)),
      options_(std::move(options)),
      machine_(std::move(machine)),
      orders_(orders) {
  for (const schedule::Sketch& sketch : sketches_) {
    auto& knobs = knobs_.emplace_back();
    for (const schedule::SketchKnob& knob : sketch.knobs)
      knobs.push_back({knob.name, knob.stage, kind_of(knob.kind), knob.numbers, knob.loops, choice_count(knob)});
  }
}

std::uint64_t SketchSpace::size() const {
  std::uint64_t all = 0;
  for (const auto& knobs : knobs_) {
    std::uint64_t points = 1;
    for (const KnobInfo& knob : knobs) {
      const auto choices = static_cast<std::uint64_t>(knob.choices);
      points = points > kMostPoints / choices ? kMostPoints : points * choices;
    }
    all = std::min(kMostPoints, all + points);
  }
  return all;
}

std::optional<schedule::OneShot> SketchSpace::schedule_of(const Point& point) const {
  auto made = realised(sketches_[point.sketch], program_, options_, point.choices);
  if (made && statements_in_code(made->program.body, options_.unit.lanes) > kMostStatements) return std::nullopt;
  return made;
}

Features SketchSpace::features(const loop::Program& scheduled, const Point* point) const {
  Features features = features_of(scheduled, machine_, options_.unit.lanes);
  if (point == nullptr) return features;
  // One place for each sketch, then the knobs of all sketches: those of others are 0.
  features.knobs.assign(sketches_.size(), 0);
  features.knobs[point->sketch] = 1;
  for (std::size_t s = 0; s < sketches_.size(); ++s) {
    for (std::size_t k = 0; k < knobs_[s].size(); ++k) {
      const KnobInfo& knob = knobs_[s][k];
      const bool is_chosen = s == point->sketch;
      const std::int64_t choice = is_chosen ? point->choices[k] : 0;
      if (!knob.numbers.empty()) {
        const double most = static_cast<double>(std::max<std::int64_t>(1, knob.choices - 1));
        features.knobs.push_back(static_cast<double>(choice) / most);
        continue;
      }
      const auto count = orders_ == OrderFeatures::kScores ? knob.loops : static_cast<std::size_t>(knob.choices);
      const std::size_t first = features.knobs.size();
      features.knobs.resize(first + count, 0);
      if (!is_chosen) continue;
      if (orders_ == OrderFeatures::kCategory) {
        features.knobs[first + static_cast<std::size_t>(choice)] = 1;
        continue;
      }
      const auto places = schedule::order_number(knob.loops, choice);
      for (std::size_t i = 0; i < count; ++i)
        features.knobs[first + i] = static_cast<double>(places[i]) / static_cast<double>(count - 1);
    }
  }
  return features;
}

const SketchSpace::Known& SketchSpace::known(const Point& point) {
  const auto [at, is_new] = known_.try_emplace(point);
  if (!is_new) return at->second;
  const auto made = schedule_of(point);
  if (!made) return at->second;
  const auto first = first_.try_emplace(content_hash(to_string(made->steps)), point).first;
  at->second.first = first->second;
  if (first->second == point) at->second.features = features(made->program, &point);
  return at->second;
}

bool SketchSpace::applies(const Point& point) { return known(point).first.has_value(); }

Point SketchSpace::canonical(const Point& point) { return known(point).first.value_or(point); }

std::optional<Point> SketchSpace::random(std::uint64_t seed) {
  Random random(mix(seed));
  Point point;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    point.sketch = random.below(sketches_.size());
    point.choices.clear();
    for (const KnobInfo& knob : knobs_[point.sketch])
      point.choices.push_back(static_cast<std::int64_t>(random.below(static_cast<std::size_t>(knob.choices))));
    if (applies(point)) return canonical(point);
  }
  return std::nullopt;
}

std::vector<Estimate> SketchSpace::predicted(std::span<const Point> points) {
  std::vector<Estimate> all(points.size(), {std::numeric_limits<double>::infinity(), 0});
  std::vector<Features> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& first = known(points[i]).first;
    if (!first) continue;
    asked.push_back(known(*first).features);
    places.push_back(i);
  }
  if (asked.empty()) return all;
  std::vector<Estimate> found(asked.size(), {1, 0});
  if (predictor_) found = predictor_->predict(asked);
  for (std::size_t i = 0; i < found.size(); ++i) all[places[i]] = found[i];
  return all;
}

std::string to_string(const Point& point) {
  std::string text = fmt::format("{}", point.sketch);
  for (const std::int64_t choice : point.choices) text += fmt::format(" {}", choice);
  return text;
}

std::optional<Point> parse_point(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    while (at != end && *at == ' ') ++at;
    if (at == end) break;
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return std::nullopt;
    numbers.push_back(number);
    at = next;
  }
  if (numbers.empty()) return std::nullopt;
  return Point{static_cast<std::size_t>(numbers[0]), {numbers.begin() + 1, numbers.end()}};
}

}  // namespace rewright::tune
