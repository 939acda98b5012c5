#include "optimize/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "onnx/element.h"

namespace rewright {
namespace {

/// A binary floating-point format narrower than float64.
struct Format {
  int fraction;        ///< Bits.
  int least_exponent;  ///< Of normal numbers.
  double greatest;
};
constexpr Format kFloat16{10, -14, 65504.0};
constexpr Format kBFloat16{7, -126, 0x1.fep127};

/// To nearest, ties to even, by adding half of the last place that is kept to the bits; a carry into the exponent is
/// right by itself. Below the normal numbers by adding, and taking away, a number whose last place is theirs.
void round_numbers(const Format& format, std::span<Real> numbers) {
  const int dropped = 52 - format.fraction;
  const std::uint64_t half = (std::uint64_t{1} << (dropped - 1)) - 1, kept = ~((std::uint64_t{1} << dropped) - 1);
  const double least = std::ldexp(1.0, format.least_exponent);
  const double shift = std::ldexp(1.5, 52 + format.least_exponent - format.fraction);
  const double infinity = std::numeric_limits<double>::infinity();
  for (Real& number : numbers) {
    const double value = number.value, size = std::fabs(value);
    const auto bits = std::bit_cast<std::uint64_t>(size);
    const auto rounded = std::bit_cast<double>((bits + half + ((bits >> dropped) & 1)) & kept);
    const double small = (size + shift) - shift;
    double result = size < least ? small : rounded;
    result = result > format.greatest ? infinity : result;
    number.value = std::copysign(value != value ? value : result, value);
  }
}

template <class T>
std::vector<std::byte> write_all(std::span<const Real> numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const T value = static_cast<T>(numbers[i].value);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
void read_all(std::span<const std::byte> bytes, std::span<Real> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i].value = static_cast<double>(value);
  }
}

}  // namespace

double unit_roundoff(ElementType type) {
  switch (type) {
    case ElementType::kFloat64: return 0x1p-53;
    case ElementType::kFloat32: return 0x1p-24;
    case ElementType::kFloat16: return 0x1p-11;
    case ElementType::kBFloat16: return 0x1p-8;
    default: return 0;
  }
}

double least_error(ElementType type) {
  switch (type) {
    case ElementType::kFloat64: return 0x1p-1074;
    case ElementType::kFloat32: return 0x1p-150;
    case ElementType::kFloat16: return 0x1p-25;
    case ElementType::kBFloat16: return 0x1p-134;
    default: return 0;
  }
}

double greatest_number(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return 0x1.fffffep127;
    case ElementType::kFloat16: return 65504;
    case ElementType::kBFloat16: return 0x1.fep127;
    default: return std::numeric_limits<double>::max();
  }
}

void round_to(ElementType type, std::span<Real> numbers) {
  if (type == ElementType::kFloat16) return round_numbers(kFloat16, numbers);
  if (type == ElementType::kBFloat16) return round_numbers(kBFloat16, numbers);
  if (type != ElementType::kFloat32) return;
  for (Real& number : numbers) number.value = static_cast<double>(static_cast<float>(number.value));
}

std::vector<std::byte> to_bytes(ElementType type, std::span<const Real> numbers) {
  if (type == ElementType::kFloat32) return write_all<float>(numbers);
  if (type == ElementType::kFloat64) return write_all<double>(numbers);
  const std::size_t size = element_size(type);
  std::vector<std::byte> bytes(numbers.size() * size);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    model::write_element(type, numbers[i].value, bytes.data() + i * size);
  return bytes;
}

Result<std::vector<Real>> to_numbers(ElementType type, std::span<const std::byte> bytes, std::size_t count) {
  const std::size_t size = element_size(type);
  if (size == 0)
    return make_error(ErrorCode::kUnsupported, "a tensor of element type {} has no numbers", static_cast<int>(type));
  if (bytes.size() != count * size)
    return make_error(ErrorCode::kShape, "a tensor of {} elements has {} bytes, expected {}", count, bytes.size(),
                      count * size);
  std::vector<Real> numbers(count);
  if (type == ElementType::kFloat32) {
    read_all<float>(bytes, numbers);
  } else if (type == ElementType::kFloat64) {
    read_all<double>(bytes, numbers);
  } else {
    for (std::size_t i = 0; i < count; ++i) numbers[i].value = model::read_element(type, bytes.data() + i * size);
  }
  return numbers;
}

Result<std::vector<Real>> to_numbers(const ConstantData& constant) {
  const auto count = static_cast<std::size_t>(constant.type.shape.elements());
  if (const auto* number = std::get_if<double>(&constant.value)) {
    std::vector<Real> numbers(count, Real{*number});
    round_to(constant.type.element, numbers);
    return numbers;
  }
  return to_numbers(constant.type.element, std::get<std::vector<std::byte>>(constant.value), count);
}

}  // namespace rewright
