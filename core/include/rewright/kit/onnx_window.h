// Windows (window.h) to and from the attributes of ONNX's Conv, MaxPool and AveragePool.
#pragma once

#include <rewright/kit/onnx_mapping.h>
#include <rewright/kit/window.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace rewright {

/// Copies an attribute, a list of numbers that are `usual` if it is left out; says whether it has the length of `to`
/// and numbers of `least` or more.
template <std::size_t kLength>
[[nodiscard]] bool copy_attribute(const OnnxNode& node, const char* name, std::int64_t usual, std::int64_t least,
                                  std::array<std::int64_t, kLength>& to) {
  return Window::copy(node.type, name, node.integers(name, std::vector<std::int64_t>(kLength, usual)), least, to)
      .has_value();
}

/// Strides, dilations and padding of `node`, for an input and a kernel of these sizes (height, width). Always the same
/// spelling for the same zeros: `same` before `valid` before `explicit`. Errors: kUnsupported.
[[nodiscard]] inline Result<Window> window_from_onnx(const OnnxNode& node, const std::array<std::int64_t, 2>& size,
                                                     const std::array<std::int64_t, 2>& kernel) {
  const auto refuse = [&node](std::string_view reason) {
    return unsupported("{} {}: {}", node.type, node.name, reason);
  };
  Window window;
  if (!copy_attribute(node, "strides", 1, 1, window.strides) ||
      !copy_attribute(node, "dilations", 1, 1, window.dilations) || !copy_attribute(node, "pads", 0, 0, window.pads)) {
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
/// The output of such a node, its first `operands` inputs over [N, C, L], by `read` of the one over images.
template <class Read>
[[nodiscard]] Result<std::vector<Port>> read_on_images(const OnnxNode& node, GraphBuilder& graph, std::size_t operands,
                                                       const Read& read) {
  OnnxNode on_images = on_images_of_height_one(node);
  for (std::size_t i = 0; i < operands; ++i) {
    const Shape x = graph.shape(*node.inputs[i]);
    REWRIGHT_TRY(on_images.inputs[i], reshaped(graph, *node.inputs[i], {x[0], x[1], 1, x[2]}));
  }
  REWRIGHT_TRY(const std::vector<Port> y, read(on_images));
  const Shape& shape = graph.shape(y[0]);
  return single(reshaped(graph, y[0], {shape[0], shape[1], shape[3]}));
}

/// The window as the parameters `strides`, `padding` and `pads`.
[[nodiscard]] inline std::vector<NamedParam> named_params(const Window& window) {
  return {{"strides", list_of(window.strides)},
          {"padding", static_cast<std::int64_t>(window.padding)},
          {"pads", list_of(window.pads)}};
}

/// The attributes kernel_shape, strides and pads.
[[nodiscard]] inline std::map<std::string, OnnxAttribute> onnx_attributes(const Window& window, std::int64_t height,
                                                                          std::int64_t width) {
  return {{"kernel_shape", std::vector<std::int64_t>{height, width}},
          {"strides", list_of(window.strides)},
          {"pads", window.explicit_pads(height, width)}};
}

}  // namespace rewright
