#include "optimize/noise_floor.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "optimize/rounding.h"

namespace rewright {
namespace {

constexpr std::size_t kExponents = 2048;
constexpr std::size_t kMostSamples = 2048;
constexpr std::size_t kEnoughSamples = 64;
constexpr std::size_t kFarthestBand = 3;
constexpr double kQuantile = 0.98;
constexpr double kMargin = 1.25;

/// Biased; 0 for zeros and subnormal numbers.
std::size_t exponent_of(double value) { return std::bit_cast<std::uint64_t>(value) >> 52 & (kExponents - 1); }

/// Errors of one binade: all of them, or a sample.
class Band {
 public:
  void add(double error) {
    ++count_;
    if (samples_.size() < kMostSamples) {
      samples_.push_back(error);
      return;
    }
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX; the high bits are used.
    const std::size_t place = (state_ >> 33) % count_;
    if (place < kMostSamples) samples_[place] = error;
  }
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }

 private:
  std::size_t count_ = 0;
  std::uint64_t state_ = 1;
  std::vector<double> samples_;
};

double floor_of(std::vector<double> errors) {
  const std::size_t count = errors.size();
  const auto place = static_cast<std::size_t>(kQuantile * static_cast<double>(count));
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(place), errors.end());
  return kMargin * errors[place] * (1 + 2 / std::sqrt(static_cast<double>(count)));
}

/// A binade's errors, and those of its neighbours while there are few.
std::vector<double> pooled(std::span<const Band> bands, std::size_t exponent) {
  std::vector<double> errors = bands[exponent].samples();
  for (std::size_t away = 1; away <= kFarthestBand && errors.size() < kEnoughSamples; ++away) {
    const auto take = [&](std::size_t other) {
      errors.insert(errors.end(), bands[other].samples().begin(), bands[other].samples().end());
    };
    if (exponent >= away) take(exponent - away);
    if (exponent + away < kExponents) take(exponent + away);
  }
  return errors;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Keeps the element that is furthest beyond its floor.
class Worst {
 public:
  explicit Worst(Deviation& deviation) : deviation_(deviation) {}
  void see(std::size_t place, double expected, double actual, double floor, bool beyond) {
    const double error = std::fabs(expected - actual);
    const double ratio = beyond && !std::isfinite(error) ? HUGE_VAL : error / std::max(floor, 1e-300);
    if (std::isfinite(error) && error > deviation_.greatest) {
      deviation_.greatest = error;
      deviation_.greatest_floor = floor;
    }
    if (beyond) ++deviation_.beyond;
    if (!(ratio > ratio_)) return;
    ratio_ = ratio;
    deviation_.place = place;
    deviation_.error = error;
    deviation_.floor = floor;
    deviation_.expected = expected;
    deviation_.actual = actual;
  }

 private:
  Deviation& deviation_;
  double ratio_ = 0;
};

}  // namespace

NoiseFloor::NoiseFloor(ElementType type)
    : by_exponent_(kExponents, 0),
      unit_roundoff_(unit_roundoff(type)),
      least_error_(least_error(type)),
      greatest_(greatest_number(type)) {}

NoiseFloor::NoiseFloor(ElementType type, std::span<const Real> exact, std::span<const std::span<const Real>> rounded)
    : NoiseFloor(type) {
  std::vector<Band> bands(kExponents);
  double sum = 0, count = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double value = exact[k].value;
    if (!std::isfinite(value)) continue;
    if (value != 0) sum += std::fabs(value), ++count;
    double error = -1;
    for (const std::span<const Real> numbers : rounded)
      if (std::isfinite(numbers[k].value)) error = std::max(error, std::fabs(numbers[k].value - value));
    if (error >= 0) bands[exponent_of(value)].add(error);
  }
  for (std::size_t exponent = 0; exponent < kExponents; ++exponent)
    if (!bands[exponent].samples().empty()) by_exponent_[exponent] = floor_of(pooled(bands, exponent));
  if (count == 0) return;
  by_exponent_[0] = std::max(by_exponent_[0], 0x1p-50 * sum / count);
  if (type != ElementType::kFloat64) return;
  unit_roundoff_ = 0x1p-46;
  for (double& floor : by_exponent_) floor = std::max(floor, by_exponent_[0]);
}

double NoiseFloor::at(double exact) const {
  return std::max({unit_roundoff_ * std::fabs(exact), least_error_, by_exponent_[exponent_of(exact)]});
}

Deviation compare(std::span<const Real> expected, std::span<const Real> actual, const NoiseFloor& floor,
                  double multiple, std::span<const Real> only_where) {
  Deviation deviation;
  Worst worst(deviation);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (!only_where.empty() && !std::isfinite(only_where[k].value)) continue;
    ++deviation.elements;
    const double a = expected[k].value, b = actual[k].value;
    if (is_same(a, b)) continue;
    const double allowed = std::isfinite(a) ? multiple * floor.at(a) : 0;
    const bool is_explained = std::isinf(b) && std::isfinite(a) && std::fabs(a) + allowed >= floor.greatest();
    worst.see(k, a, b, allowed, !is_explained && !(std::fabs(a - b) <= allowed));
  }
  return deviation;
}

Deviation compare_whole(std::span<const Real> expected, std::span<const Real> actual) {
  Deviation deviation{.elements = expected.size()};
  Worst worst(deviation);
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (!is_same(expected[k].value, actual[k].value)) worst.see(k, expected[k].value, actual[k].value, 0, true);
  return deviation;
}

}  // namespace rewright
