// The points of some sketches of a program, as tuners see them.
#pragma once

#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/sketch.h"

namespace rewright::tune {

/// How orders of loops are shown to predictors.
enum class OrderFeatures : std::uint8_t {
  kCategory,  ///< One number for each order: 1 for the chosen one, 0 for others.
  kScores,    ///< One number for each loop: its place.
};

class REWRIGHT_API SketchSpace final : public TuningSpace {
 public:
  /// `sketches`: not empty.
  SketchSpace(loop::Program program, std::vector<schedule::Sketch> sketches, schedule::SketchOptions options,
              Machine machine, OrderFeatures orders = OrderFeatures::kCategory);

  [[nodiscard]] std::size_t sketch_count() const override { return sketches_.size(); }
  [[nodiscard]] std::span<const KnobInfo> knobs(std::size_t sketch) const override { return knobs_[sketch]; }
  [[nodiscard]] std::uint64_t size() const override;
  [[nodiscard]] bool applies(const Point& point) override;
  [[nodiscard]] Point canonical(const Point& point) override;
  [[nodiscard]] std::optional<Point> random(std::uint64_t seed) override;
  [[nodiscard]] std::vector<Estimate> predicted(std::span<const Point> points) override;

  [[nodiscard]] const std::vector<schedule::Sketch>& sketches() const { return sketches_; }
  /// Nothing where it does not apply, or its loops are more than code may have.
  [[nodiscard]] std::optional<schedule::OneShot> schedule_of(const Point& point) const;
  /// Of a scheduled program; `point` for its knobs.
  [[nodiscard]] Features features(const loop::Program& scheduled, const Point* point) const;
  /// What predicts from now on; null: nothing does, and all are expected to take one microsecond.
  void set_predictor(std::shared_ptr<const FittedPredictor> predictor) { predictor_ = std::move(predictor); }

 private:
  struct Known {
    std::optional<Point> first;  ///< Of its schedule; none: it does not apply.
    Features features = {};      ///< Of the first.
  };
  [[nodiscard]] const Known& known(const Point& point);

  loop::Program program_;
  std::vector<schedule::Sketch> sketches_;
  schedule::SketchOptions options_;
  Machine machine_;
  OrderFeatures orders_;
  std::vector<std::vector<KnobInfo>> knobs_;
  std::map<Point, Known> known_;
  std::map<std::string, Point> first_;  ///< By schedule, as a hash of its text.
  std::shared_ptr<const FittedPredictor> predictor_;
};

/// "2 0 3 1": the sketch, and its choices. parse_point: nothing where it is no such text.
[[nodiscard]] REWRIGHT_API std::string to_string(const Point& point);
[[nodiscard]] REWRIGHT_API std::optional<Point> parse_point(std::string_view text);

}  // namespace rewright::tune
