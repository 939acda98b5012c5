// What operators see of ONNX: <rewright/onnx/onnx.h>.
#include <rewright/onnx/onnx.h>

#include <array>
#include <cmath>
#include <cstring>

#include "onnx/element.h"
#include "tensor/real.h"

namespace rewright {
namespace {

template <class T>
const T* find(const OnnxNode& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

template <ElementType element>
double rounded(double number) {
  std::array<std::byte, sizeof(double)> bytes{};
  model::write_element(element, number, bytes.data());
  return model::read_element(element, bytes.data());
}

}  // namespace

OnnxWriter::~OnnxWriter() = default;

std::int64_t OnnxNode::integer(const std::string& attribute, std::int64_t otherwise) const {
  const auto* value = find<std::int64_t>(*this, attribute);
  return value ? *value : otherwise;
}

double OnnxNode::real(const std::string& attribute, double otherwise) const {
  const auto* value = find<double>(*this, attribute);
  const auto held = static_cast<float>(value ? *value : otherwise);
  return element == ElementType::kFloat64 ? static_cast<double>(held) : meant_by(held);
}

double meant_number(ElementType element, double number) {
  switch (element) {
    case ElementType::kFloat32: return meant_in({24, 0x1p-126, rounded<ElementType::kFloat32>}, number);
    case ElementType::kFloat16:  // Its greatest number is a bound, and would be 65500.
      return std::abs(number) == 65504 ? number : meant_in({11, 0x1p-14, rounded<ElementType::kFloat16>}, number);
    case ElementType::kBFloat16: return meant_in({8, 0x1p-126, rounded<ElementType::kBFloat16>}, number);
    default: return number;
  }
}

std::string OnnxNode::text(const std::string& attribute, std::string otherwise) const {
  const auto* value = find<std::string>(*this, attribute);
  return value ? *value : otherwise;
}

std::vector<std::int64_t> OnnxNode::integers(const std::string& attribute, std::vector<std::int64_t> otherwise) const {
  const auto* value = find<std::vector<std::int64_t>>(*this, attribute);
  return value ? *value : otherwise;
}

Result<std::vector<std::int64_t>> OnnxNode::constant_integers(std::size_t i) const {
  if (i >= constants.size() || constants[i] == nullptr) {
    return make_error(ErrorCode::kUnsupported, "{}: input {} is not known before the model runs", type, i);
  }
  const ConstantData& constant = *constants[i];
  const ElementType element = constant.type.element;
  if (element != ElementType::kInt64 && element != ElementType::kInt32) {
    return make_error(ErrorCode::kUnsupported, "{}: input {} is not of integers", type, i);
  }
  constexpr std::int64_t kLongest = 1 << 20;
  if (constant.type.shape.elements() > kLongest) {
    return make_error(ErrorCode::kUnsupported, "{}: input {} has {} elements", type, i, constant.type.shape.elements());
  }
  const std::vector<std::byte> bytes = model::bytes_of(constant);
  const std::size_t size = element_size(element);
  std::vector<std::int64_t> values(bytes.size() / size);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (element == ElementType::kInt64) {
      std::memcpy(&values[k], bytes.data() + k * size, size);
    } else {
      std::int32_t value = 0;
      std::memcpy(&value, bytes.data() + k * size, size);
      values[k] = value;
    }
  }
  return values;
}

Result<std::vector<double>> to_reals(const ConstantData& constant) {
  const ElementType element = constant.type.element;
  const std::size_t size = element_size(element);
  if (size == 0) {
    return make_error(ErrorCode::kUnsupported, "a constant of element type {} has no numbers",
                      static_cast<int>(element));
  }
  const std::int64_t count = constant.type.shape.elements();
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (count > kMost) {
    return make_error(ErrorCode::kBudget, "a constant of shape {} is too large to be computed with here",
                      constant.type.shape);
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  if (const auto* number = std::get_if<double>(&constant.value)) {
    std::fill(values.begin(), values.end(), *number);
    return values;
  }
  const auto& bytes = std::get<std::vector<std::byte>>(constant.value);
  if (bytes.size() != values.size() * size) {
    return make_error(ErrorCode::kShape, "a constant of shape {} has {} bytes, expected {}", constant.type.shape,
                      bytes.size(), values.size() * size);
  }
  model::decode(element, bytes, values);
  return values;
}

}  // namespace rewright
