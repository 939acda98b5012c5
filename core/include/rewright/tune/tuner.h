// Tuners: plugins that propose which points of a space of schedules to measure next.
//
// A space has sketches: schedules with knobs. A point is a sketch and a choice for each of its knobs. A tuner proposes
// points, is told what they took, and proposes others; it never measures. What it proposes depends on the space, the
// seed and what it was told alone, so that a search that was broken off goes on from its records.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/options.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/estimate.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

namespace tune {

/// What a knob decides; some kinds are worth changing more often than others.
enum class KnobKind : std::uint8_t { kTile, kLocation, kUnroll, kParallel, kOrder, kOther };

struct KnobInfo {
  std::string name;
  std::string stage;  ///< The buffer whose loops it is about.
  KnobKind kind = KnobKind::kOther;
  std::vector<std::int64_t> numbers = {};  ///< Of its choices, rising; none where it has orders of loops.
  std::size_t loops = 0;                   ///< kOrder: how many; choice c is the c-th permutation.
  std::int64_t choices = 1;
};

struct Point {
  std::size_t sketch = 0;
  std::vector<std::int64_t> choices = {};  ///< Of each knob, from 0 on.
  friend auto operator<=>(const Point&, const Point&) = default;
};

struct MeasuredPoint {
  Point point;
  double us = std::numeric_limits<double>::infinity();  ///< Infinite where it did not run, or was wrong.
};

/// The space as a tuner sees it. For one thread at a time.
class REWRIGHT_API TuningSpace {
 public:
  virtual ~TuningSpace();
  [[nodiscard]] virtual std::size_t sketch_count() const = 0;
  [[nodiscard]] virtual std::span<const KnobInfo> knobs(std::size_t sketch) const = 0;
  /// Points, counted without asking whether they apply; at most 2^62.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Does its schedule apply to the program?
  [[nodiscard]] virtual bool applies(const Point& point) = 0;
  /// Points of one schedule are one: the first of them that was asked about; a point that does not apply is itself.
  [[nodiscard]] virtual Point canonical(const Point& point) = 0;
  /// A canonical one that applies, the same for the same seed and questions before; nothing where none was met.
  [[nodiscard]] virtual std::optional<Point> random(std::uint64_t seed) = 0;
  /// What the predictor expects of each, which may be good for their order alone; infinite where one does not apply.
  [[nodiscard]] virtual std::vector<Estimate> predicted(std::span<const Point> points) = 0;
};

/// A search that goes on.
class REWRIGHT_API TunerRun {
 public:
  virtual ~TunerRun();
  /// Up to `most` points to measure, none of which it was told of; none: there are no others that it would try.
  [[nodiscard]] virtual std::vector<Point> propose(std::size_t most) = 0;
  /// What points took, its own and others: in any number, before the first proposal and after each.
  virtual void learn(std::span<const MeasuredPoint> measured) = 0;
};

}  // namespace tune

class Tuner;
template <>
inline constexpr std::uint32_t kAbiVersion<Tuner> = 1;

class REWRIGHT_API Tuner {
 public:
  virtual ~Tuner();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// `space` must outlive the run. Errors: an unknown option, or a value out of range.
  [[nodiscard]] virtual Result<std::unique_ptr<tune::TunerRun>> start(tune::TuningSpace& space, std::uint64_t seed,
                                                                      const Options& options) const = 0;
};

}  // namespace rewright
