// Windows (window.h) to and from the attributes of ONNX's Conv, MaxPool and AveragePool on [N, C, H, W].
#pragma once

#include <rewright/kit/onnx_mapping.h>
#include <rewright/kit/window.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace rewright {

/// Strides, dilations and padding of `node`, for an input and a kernel of these sizes (height, width). Always the same
/// spelling for the same zeros: `same` before `valid` before `explicit`. Errors: kUnsupported.
[[nodiscard]] inline Result<Window> window_from_onnx(const OnnxNode& node, const std::array<std::int64_t, 2>& size,
                                                     const std::array<std::int64_t, 2>& kernel) {
  const auto refuse = [&node](std::string_view reason) {
    return unsupported("{} {}: {}", node.type, node.name, reason);
  };
  Window window;
  if (!Window::copy(node.type, "strides", node.integers("strides", {1, 1}), 1, window.strides) ||
      !Window::copy(node.type, "dilations", node.integers("dilations", {1, 1}), 1, window.dilations) ||
      !Window::copy(node.type, "pads", node.integers("pads", {0, 0, 0, 0}), 0, window.pads)) {
    return refuse("only two strides and dilations of at least 1 and four pads of at least 0 are handled");
  }
  if (!std::all_of(kernel.begin(), kernel.end(), [](auto k) { return 1 <= k && k <= kMaxWindowParameter; })) {
    return refuse("the kernel is empty or too large");
  }
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const bool upper = automatic == "SAME_UPPER";
  if (automatic == "VALID") {
    window.pads = {0, 0, 0, 0};
  } else if (upper || automatic == "SAME_LOWER") {
    for (std::size_t a = 0; a < 2; ++a) {
      const std::int64_t outputs = (size[a] + window.strides[a] - 1) / window.strides[a];
      const std::int64_t extent = (kernel[a] - 1) * window.dilations[a] + 1;
      const std::int64_t zeros = std::max<std::int64_t>((outputs - 1) * window.strides[a] + extent - size[a], 0);
      window.pads[a] = upper ? zeros / 2 : zeros - zeros / 2;
      window.pads[a + 2] = zeros - window.pads[a];
    }
  } else if (automatic != "NOTSET") {
    return refuse("auto_pad is '" + automatic + "', which is none of ONNX's names");
  }
  const std::array<std::int64_t, 4> pads = window.pads;
  window.padding = Padding::kSame;
  if (std::ranges::equal(window.explicit_pads(kernel[0], kernel[1]), pads)) {
    window.pads = {0, 0, 0, 0};
  } else {
    window.padding = pads == std::array<std::int64_t, 4>{} ? Padding::kValid : Padding::kExplicit;
  }
  return window;
}

/// A node with a window over [N, C, L] as one over images of height 1, [N, C, 1, L].
[[nodiscard]] inline OnnxNode on_images_of_height_one(OnnxNode node) {
  const auto raise = [&node](const char* name, std::int64_t first, std::size_t count) {
    const auto found = node.attributes.find(name);
    auto* const numbers =
        found == node.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->second);
    if (numbers == nullptr || numbers->size() != count) return;
    for (std::size_t k = count; k-- > 0;) numbers->insert(numbers->begin() + static_cast<std::ptrdiff_t>(k), first);
  };
  for (const char* name : {"kernel_shape", "strides", "dilations"}) raise(name, 1, 1);
  raise("output_padding", 0, 1);
  raise("output_shape", 1, 1);
  raise("pads", 0, 2);
  return node;
}
/// [N, C, L] as [N, C, 1, L], and back.
[[nodiscard]] inline Shape with_height_one(const Shape& shape) { return {shape[0], shape[1], 1, shape[2]}; }
[[nodiscard]] inline Shape without_height(const Shape& shape) { return {shape[0], shape[1], shape[3]}; }

/// The pooling of a MaxPool or AveragePool of `shape`. Errors: kUnsupported.
[[nodiscard]] inline Result<Pooling> pooling_from_onnx(const OnnxNode& node, const Shape& shape) {
  const auto refuse = [&node](std::string_view reason) {
    return unsupported("{} {}: {}", node.type, node.name, reason);
  };
  Pooling pooling;
  if (shape.rank() != 4) return refuse("only tensors of rank 4 (N, C, H, W) are handled");
  if (node.output_count != 1) return refuse("the second output (indices) is not handled");
  if (!Window::copy(node.type, "kernel_shape", node.integers("kernel_shape", {}), 1, pooling.kernel)) {
    return refuse("kernel_shape is not two integers of at least 1");
  }
  REWRIGHT_TRY(pooling.window, window_from_onnx(node, {shape[2], shape[3]}, pooling.kernel));
  if (pooling.window.dilations != std::array<std::int64_t, 2>{1, 1}) return refuse("dilations are not handled");
  if (!pooling.never_empty()) return refuse("pads as large as the kernel are not handled");
  for (int a = 0; node.integer("ceil_mode", 0) != 0 && a < 2; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const std::int64_t k = pooling.kernel[axis], zeros = pooling.window.before(a, k) + pooling.window.after(a, k);
    if ((shape[2 + a] + zeros - k) % pooling.window.strides[axis] != 0) {
      return refuse("ceil_mode is not handled where it gives another size than floor");
    }
  }
  return pooling;
}

/// The window as the parameters `strides`, `padding` and `pads`.
[[nodiscard]] inline std::vector<NamedParam> named_params(const Window& window) {
  return {{"strides", std::vector<std::int64_t>(window.strides.begin(), window.strides.end())},
          {"padding", static_cast<std::int64_t>(window.padding)},
          {"pads", std::vector<std::int64_t>(window.pads.begin(), window.pads.end())}};
}

/// The same and `kernel`.
[[nodiscard]] inline std::vector<NamedParam> named_params(const Pooling& pooling) {
  std::vector<NamedParam> params = named_params(pooling.window);
  params.push_back({"kernel", std::vector<std::int64_t>(pooling.kernel.begin(), pooling.kernel.end())});
  return params;
}

/// The attributes kernel_shape, strides and pads.
[[nodiscard]] inline std::map<std::string, OnnxAttribute> onnx_attributes(const Window& window, std::int64_t height,
                                                                          std::int64_t width) {
  return {{"kernel_shape", std::vector<std::int64_t>{height, width}},
          {"strides", std::vector<std::int64_t>(window.strides.begin(), window.strides.end())},
          {"pads", window.explicit_pads(height, width)}};
}

}  // namespace rewright
