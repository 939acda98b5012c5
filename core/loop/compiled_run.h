// A loop program run by compiled code, on the same numbers as by the interpreter.
#pragma once

#include <rewright/loop/target.h>

#include <cstring>
#include <vector>

#include "loop/interpreter.h"

namespace rewright::loop {

template <class Element>
std::vector<std::byte> bytes_of(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto element = static_cast<Element>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Element), &element, sizeof(Element));
  }
  return bytes;
}

template <class Element>
std::vector<double> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(Element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    values[i] = static_cast<double>(element);
  }
  return values;
}

inline std::vector<std::byte> bytes_of(ElementType type, const std::vector<double>& values) {
  switch (type) {
    case ElementType::kFloat32: return bytes_of<float>(values);
    case ElementType::kFloat64: return bytes_of<double>(values);
    case ElementType::kInt32: return bytes_of<std::int32_t>(values);
    case ElementType::kInt64: return bytes_of<std::int64_t>(values);
    case ElementType::kUint16: return bytes_of<std::uint16_t>(values);
    default: return bytes_of<bool>(values);
  }
}

inline std::vector<double> numbers_of(ElementType type, const std::vector<std::byte>& bytes) {
  switch (type) {
    case ElementType::kFloat32: return numbers_of<float>(bytes);
    case ElementType::kFloat64: return numbers_of<double>(bytes);
    case ElementType::kInt32: return numbers_of<std::int32_t>(bytes);
    case ElementType::kInt64: return numbers_of<std::int64_t>(bytes);
    case ElementType::kUint16: return numbers_of<std::uint16_t>(bytes);
    default: return numbers_of<bool>(bytes);
  }
}

/// `contents`: for each buffer its numbers, those of inputs and weights given; the others are filled.
inline Status run_compiled(const CompiledProgram& code, const Program& program,
                           std::vector<std::vector<double>>& contents) {
  std::vector<std::vector<std::byte>> memory;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    REWRIGHT_TRY(const std::int64_t count, element_count(program.buffers[b]));
    contents[b].resize(static_cast<std::size_t>(count));
    memory.push_back(bytes_of(program.buffers[b].element, contents[b]));
  }
  std::vector<std::byte*> places;
  for (auto& bytes : memory) places.push_back(bytes.data());
  REWRIGHT_CHECK(code.run(places));
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    contents[b] = numbers_of(program.buffers[b].element, memory[b]);
  }
  return {};
}

}  // namespace rewright::loop
