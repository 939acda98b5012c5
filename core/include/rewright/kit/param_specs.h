// Parameters that many operators have: their specs, as describe() lists them,
//     .params = {integers_param("strides", {1, 1}), choice_param("keepdims", {"no", "yes"})}
// and what shape() asks of an axis.
#pragma once

#include <rewright/base/result.h>
#include <rewright/operator/params.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

[[nodiscard]] inline ParamSpec integer_param(std::string name, std::int64_t usual) {
  return {.name = std::move(name), .default_value = usual};
}
[[nodiscard]] inline ParamSpec integers_param(std::string name, std::vector<std::int64_t> usual) {
  return {.name = std::move(name), .kind = ParamKind::kInts, .default_value = std::move(usual)};
}
[[nodiscard]] inline ParamSpec sizes_param(std::string name, std::vector<std::int64_t> usual) {
  return {
      .name = std::move(name), .kind = ParamKind::kSizes, .default_value = SizeList<std::int64_t>{std::move(usual)}};
}
[[nodiscard]] inline ParamSpec real_param(std::string name, double usual) {
  return {.name = std::move(name), .kind = ParamKind::kReal, .default_value = usual};
}
/// `usual` is the position of a choice.
[[nodiscard]] inline ParamSpec choice_param(std::string name, std::vector<std::string> choices,
                                            std::int64_t usual = 0) {
  return {.name = std::move(name), .kind = ParamKind::kChoice, .default_value = usual, .choices = std::move(choices)};
}
[[nodiscard]] inline ParamSpec required_param(std::string name, ParamKind kind) {
  return {.name = std::move(name), .kind = kind, .required = true};
}

/// Errors: kShape if a tensor of that rank does not have the axis.
[[nodiscard]] inline Result<int> checked_axis(std::string_view op, std::int64_t axis, int rank) {
  if (axis < 0 || axis >= rank) return shape_error("{}: there is no axis {} in a tensor of rank {}", op, axis, rank);
  return static_cast<int>(axis);
}

}  // namespace rewright
