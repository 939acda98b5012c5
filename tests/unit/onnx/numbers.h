// Numbers as the bytes of tensors.
#pragma once

#include <rewright/graph/graph.h>

#include <span>
#include <vector>

#include "onnx/element.h"

namespace rewright::onnx_test {

inline std::vector<std::byte> encode(ElementType type, std::span<const double> numbers) {
  std::vector<std::byte> bytes(numbers.size() * element_size(type));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    model::write_element(type, numbers[i], bytes.data() + i * element_size(type));
  return bytes;
}

}  // namespace rewright::onnx_test
