// Windows that slide over the two last axes of [N, C, H, W]: what convolution and pooling (pooling.h) have in common.
//
// A kernel of k taps, `dilation` apart, has the extent e = (k - 1) * dilation + 1. Output position o looks at the input
// positions o * stride - before + tap * dilation; those outside [0, size) are padding. With zeros before and after:
//
//   same      floor((e - 1) / 2), ceil((e - 1) / 2)   floor((size - 1) / stride) + 1 outputs
//   valid     0, 0                                    floor((size - e) / stride) + 1 outputs, size >= e
//   explicit  as given                                floor((size + before + after - e) / stride) + 1 outputs
//
// `same` depends neither on the input's size nor on the stride: ONNX's SAME_UPPER and SAME_LOWER do.
#pragma once

#include <rewright/base/result.h>
#include <rewright/kit/param_specs.h>
#include <rewright/operator/params.h>
#include <rewright/operator/window_axis.h>
#include <rewright/tensor/dim.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// Of an array that a window has, as a parameter has it.
[[nodiscard]] inline std::vector<std::int64_t> list_of(std::span<const std::int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

enum class Padding : std::uint8_t { kSame, kValid, kExplicit };

/// Parameters of this size and more are refused, so that no product of two overflows.
inline constexpr std::int64_t kMaxWindowParameter = (std::int64_t{1} << 31) - 1;

/// Strides, padding and dilations of a window, as an operator's parameters give them.
struct Window {
  std::array<std::int64_t, 2> strides = {1, 1};
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::array<std::int64_t, 4> pads = {0, 0, 0, 0};  ///< Top, left, bottom, right; 0 unless explicit.
  Padding padding = Padding::kSame;

  /// The specs of `strides`, `padding` and `pads`, to be listed in this order, and `more`.
  [[nodiscard]] static std::vector<ParamSpec> specs(const std::vector<ParamSpec>& more = {}) {
    std::vector<ParamSpec> specs = {integers_param("strides", {1, 1}),
                                    choice_param("padding", {"same", "valid", "explicit"}),
                                    integers_param("pads", {0, 0, 0, 0})};
    specs.insert(specs.end(), more.begin(), more.end());
    return specs;
  }

  /// Reads those three, of which `strides` is parameter `at`. Errors: kShape, wrong lengths or values.
  template <class Dim>
  [[nodiscard]] static Result<Window> read(std::string_view op, const BasicParams<Dim>& params, std::size_t at) {
    Window window;
    REWRIGHT_CHECK(copy(op, "strides", params.integers(at), 1, window.strides));
    window.padding = static_cast<Padding>(params.choice(at + 1));
    REWRIGHT_CHECK(copy(op, "pads", params.integers(at + 2), 0, window.pads));
    if (window.padding != Padding::kExplicit && window.pads != std::array<std::int64_t, 4>{}) {
      return shape_error("{}: pads [{}] are given, which needs padding=explicit", op, fmt::join(window.pads, ", "));
    }
    return window;
  }

  /// Copies a list parameter. Errors: kShape unless it has the length of `to` and values of `least` or more.
  template <std::size_t kLength>
  [[nodiscard]] static Status copy(std::string_view op, std::string_view name, const std::vector<std::int64_t>& from,
                                   std::int64_t least, std::array<std::int64_t, kLength>& to) {
    const auto fits = [least](std::int64_t value) { return least <= value && value <= kMaxWindowParameter; };
    if (from.size() != kLength || !std::all_of(from.begin(), from.end(), fits)) {
      return shape_error("{}: {} is [{}], expected {} integers of at least {} (and below 2^31)", op, name,
                         fmt::join(from, ", "), kLength, least);
    }
    std::copy(from.begin(), from.end(), to.begin());
    return {};
  }

  /// Zeros before the input along `axis` (0: height, 1: width), and after it.
  template <class Dim>
  [[nodiscard]] Dim before(int axis, const Dim& kernel) const {
    return padding == Padding::kSame ? floor_divide(extent(axis, kernel) - Dim(1), 2)
                                     : Dim(pads[static_cast<std::size_t>(axis)]);
  }
  [[nodiscard]] std::int64_t after(int axis, std::int64_t kernel) const {
    return padding == Padding::kSame ? extent(axis, kernel) / 2 : pads[static_cast<std::size_t>(axis) + 2];
  }
  /// The four pads that mean the same, explicitly.
  [[nodiscard]] std::vector<std::int64_t> explicit_pads(std::int64_t height, std::int64_t width) const {
    return {before(0, height), before(1, width), after(0, height), after(1, width)};
  }

  /// The number of output positions along `axis`; what must hold for it goes to `where`.
  template <class Dim>
  [[nodiscard]] Dim output_size(int axis, const Dim& size, const Dim& kernel, Constraints<Dim>& where) const {
    const auto a = static_cast<std::size_t>(axis);
    where.at_least(kernel, Dim(1), "kernel size");
    const bool kept = strides[a] == 1 && known(kernel) == 1 && pads[a] + pads[a + 2] == 0;
    if (strides[a] == 1 && (padding == Padding::kSame || kept)) return size;
    if (padding == Padding::kSame) return floor_divide(size - Dim(1), strides[a]) + Dim(1);
    const Dim padded = size + Dim(pads[a] + pads[a + 2]);
    const Dim extent = (kernel - Dim(1)) * Dim(dilations[a]) + Dim(1);
    where.at_least(padded, extent, "input size with padding, against the kernel's extent");
    return strides[a] == 1 ? padded - extent + Dim(1) : floor_divide(padded - extent, strides[a]) + Dim(1);
  }

  template <class Dim>
  [[nodiscard]] BasicWindowAxis<Dim> axis(int axis, const Dim& size, const Dim& kernel) const {
    const auto a = static_cast<std::size_t>(axis);
    return {size, kernel, strides[a], dilations[a], before(axis, kernel)};
  }

 private:
  template <class Dim>
  [[nodiscard]] Dim extent(int axis, const Dim& kernel) const {
    return (kernel - Dim(1)) * Dim(dilations[static_cast<std::size_t>(axis)]) + Dim(1);
  }
};

}  // namespace rewright
