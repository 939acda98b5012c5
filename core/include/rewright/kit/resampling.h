// What ONNX's Resize and Upsample do along each axis: output i is a sum of weights times input elements.
//
//     position(i) = i / scale                        asymmetric, and Upsample
//                 = (i + 1/2) / scale - 1/2          half_pixel
//                 = i * (size - 1) / (outputs - 1)   align_corners
//
// nearest takes the element that position(i) is rounded to, linear two neighbours, cubic four; beyond the ends the last
// element is repeated. Positions are float32, as in runtimes, so that ties are rounded alike.
//
// Source  ONNX operator Resize, opsets 10 to 19; Keys, Cubic convolution interpolation (1981).
#pragma once

#include <rewright/kit/onnx_mapping.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// By output position: which element, and how much of it.
struct ResamplingTap {
  std::vector<std::int64_t> indices;
  std::vector<double> weights = {};
};

/// Numbers as a weight of the element type of `like`. Errors: kUnsupported unless that is float32 or float64.
[[nodiscard]] inline Result<Port> weights_like(GraphBuilder& graph, Port like, const Shape& shape,
                                               std::span<const double> numbers) {
  const ElementType element = graph.type(like).element;
  if (element != ElementType::kFloat32 && element != ElementType::kFloat64)
    return unsupported("weights in half precision");
  std::vector<std::byte> bytes;
  const auto append = [&bytes](const auto& number) {
    const auto raw = std::as_bytes(std::span(&number, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  for (const double number : numbers) {
    if (element == ElementType::kFloat64) append(number);
    if (element == ElementType::kFloat32) append(static_cast<float>(number));
  }
  return graph.constant({{shape, element}, std::move(bytes)});
}

class Resampling {
 public:
  /// Errors: kUnsupported: sizes that the model computes, antialiasing, crops, and aligned corners where size *
  /// scale is no whole number, for there the specification and runtimes differ.
  [[nodiscard]] static Result<Resampling> read(const OnnxNode& node, const Shape& shape) {
    Resampling resampling(shape);
    resampling.mode_ = node.text("mode", "nearest");
    const bool has_coordinates = node.type == "Resize" && node.opset >= 11;
    resampling.coordinates_ =
        has_coordinates ? node.text("coordinate_transformation_mode", "half_pixel") : "asymmetric";
    resampling.rounding_ = has_coordinates ? node.text("nearest_mode", "round_prefer_floor") : "floor";
    resampling.cubic_ = node.real("cubic_coeff_a", -0.75);
    if (node.integer("antialias", 0) != 0 || node.integer("exclude_outside", 0) != 0)
      return unsupported("{} with antialias or exclude_outside", node.type);
    if (node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
      return unsupported("{} that keeps the aspect ratio", node.type);
    if (!is_one_of(resampling.mode_, {"nearest", "linear", "cubic"}) ||
        !is_one_of(resampling.rounding_, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) ||
        !is_one_of(resampling.coordinates_, {"asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"}))
      return unsupported("{}: mode {}, coordinates {}", node.type, resampling.mode_, resampling.coordinates_);
    REWRIGHT_CHECK(resampling.read_sizes(node));
    return resampling;
  }

  /// Along an axis. None: it stays as it is.
  [[nodiscard]] std::vector<ResamplingTap> taps(int axis) const {
    const Along& along = along_[static_cast<std::size_t>(axis)];
    if (along.outputs == along.size && along.scale == 1) return {};
    if (mode_ == "nearest") {
      ResamplingTap tap;
      for (std::int64_t i = 0; i < along.outputs; ++i)
        tap.indices.push_back(std::clamp<std::int64_t>(rounded(position(along, i)), 0, along.size - 1));
      return {std::move(tap)};
    }
    return weighted(along, mode_ == "linear" ? 2 : 4);
  }

 private:
  struct Along {
    std::int64_t size, outputs;
    float scale;
  };
  static constexpr std::int64_t kMostOutputs = 1 << 20;

  explicit Resampling(const Shape& shape) {
    for (const std::int64_t size : shape) along_.push_back({size, size, 1});
  }
  static bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  }

  /// Upsample: scales, an attribute before opset 9. Resize: scales, or from opset 11 on sizes.
  Status read_sizes(const OnnxNode& node) {
    const bool is_old = node.type == "Upsample" || node.opset < 11;
    const std::size_t scales_at = is_old ? 1 : 2;
    std::vector<double> scales;
    if (const auto found = node.attributes.find("scales"); found != node.attributes.end()) {
      if (const auto* given = std::get_if<std::vector<double>>(&found->second)) scales = *given;
    } else if (node.has_input(scales_at)) {
      if (!node.constants[scales_at]) return unsupported("{}: scales are computed by the model", node.type);
      REWRIGHT_TRY(scales, to_reals(*node.constants[scales_at]));
    }
    std::vector<std::int64_t> sizes, axes;
    if (scales.empty() && !is_old) {
      REWRIGHT_TRY(sizes, node.constant_integers(3));
    }
    for (std::int64_t axis = 0; axis < std::ssize(along_); ++axis) axes.push_back(axis);
    REWRIGHT_TRY(axes, axes_from_front(node.integers("axes", std::move(axes)), static_cast<int>(along_.size())));
    if (scales.size() + sizes.size() != axes.size())
      return unsupported("{}: {} scales and {} sizes for {} axes", node.type, scales.size(), sizes.size(), axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      Along& along = along_[static_cast<std::size_t>(axes[i])];
      const auto size = static_cast<float>(along.size);
      along.scale = scales.empty() ? static_cast<float>(sizes[i]) / size : static_cast<float>(scales[i]);
      along.outputs = scales.empty() ? sizes[i] : static_cast<std::int64_t>(std::floor(size * along.scale));
      if (along.size < 1 || !(along.scale > 0) || along.outputs < 1 || along.outputs > kMostOutputs)
        return unsupported("{} of {} to {} elements", node.type, along.size, along.outputs);
      // The specification's data divide by size * scale - 1, runtimes by its floor less 1.
      if (!scales.empty() && coordinates_ == "align_corners" && size * along.scale != static_cast<float>(along.outputs))
        return unsupported("{} of aligned corners by {}, which makes no whole number of {} elements", node.type,
                           along.scale, along.size);
    }
    return {};
  }

  [[nodiscard]] float position(const Along& along, std::int64_t output) const {
    const auto at = static_cast<float>(output);
    if (coordinates_ == "asymmetric") return at / along.scale;
    if (coordinates_ == "align_corners")
      return along.outputs == 1 ? 0 : at * static_cast<float>(along.size - 1) / static_cast<float>(along.outputs - 1);
    if (coordinates_ == "pytorch_half_pixel" && along.outputs == 1) return 0;
    return (at + 0.5F) / along.scale - 0.5F;
  }
  [[nodiscard]] std::int64_t rounded(float position) const {
    if (rounding_ == "floor") return static_cast<std::int64_t>(std::floor(position));
    if (rounding_ == "ceil") return static_cast<std::int64_t>(std::ceil(position));
    const bool is_tie = position - std::floor(position) == 0.5F;
    if (!is_tie) return std::llround(position);
    return static_cast<std::int64_t>(rounding_ == "round_prefer_ceil" ? std::ceil(position) : std::floor(position));
  }

  [[nodiscard]] std::vector<ResamplingTap> weighted(const Along& along, std::int64_t count) const {
    std::vector<ResamplingTap> taps(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < along.outputs; ++i) {
      float at = position(along, i);
      if (count == 2) at = std::clamp(at, 0.0F, static_cast<float>(along.size - 1));
      const auto first = static_cast<std::int64_t>(std::floor(at));
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t index = first + k - (count / 2 - 1);
        ResamplingTap& tap = taps[static_cast<std::size_t>(k)];
        tap.indices.push_back(std::clamp<std::int64_t>(index, 0, along.size - 1));
        const double distance = std::abs(static_cast<double>(at) - static_cast<double>(index));
        tap.weights.push_back(count == 2 ? 1 - distance : cubic_weight(distance));
      }
    }
    return taps;
  }
  [[nodiscard]] double cubic_weight(double d) const {
    const double a = cubic_;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  }

  std::string mode_, coordinates_, rounding_;
  double cubic_ = 0;
  std::vector<Along> along_;
};

}  // namespace rewright
