#include "onnx/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace rewright::model {
namespace {

template <class T>
double read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void write(double number, std::byte* bytes) {
  const T value = static_cast<T>(number);
  std::memcpy(bytes, &value, sizeof value);
}

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// nearbyint rounds ties to even, and a fraction that rounds up to 2^11 carries into the exponent by itself.
std::uint16_t double_to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (size < std::ldexp(1.0, -14))
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::nearbyint(std::ldexp(size, 24))));
  const int exponent = std::ilogb(size);
  const int fraction = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent + 15) << 10) + (fraction - 1024)));
}

// The upper half of a binary32, rounded to nearest even. The double is rounded to odd on the way to binary32, so that
// rounding twice gives what rounding once would.
std::uint16_t double_to_bfloat(double value) {
  auto single = static_cast<float>(value);
  if (std::isnan(single)) return 0x7fc0;
  auto bits = std::bit_cast<std::uint32_t>(single);
  if (static_cast<double>(single) != value && !std::isinf(single) && (bits & 1) == 0) {
    const bool too_far = std::abs(static_cast<double>(single)) > std::abs(value);
    bits += too_far ? -1u : 1u;
  }
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

std::optional<ElementType> element_type(int data_type) {
  if ((data_type >= 1 && data_type <= 13) || data_type == 16) return static_cast<ElementType>(data_type);
  return std::nullopt;
}

double read_element(ElementType type, const std::byte* bytes) {
  switch (type) {
    case ElementType::kFloat32: return read<float>(bytes);
    case ElementType::kFloat64: return read<double>(bytes);
    case ElementType::kUint8:
    case ElementType::kBool: return read<std::uint8_t>(bytes);
    case ElementType::kInt8: return read<std::int8_t>(bytes);
    case ElementType::kUint16: return read<std::uint16_t>(bytes);
    case ElementType::kInt16: return read<std::int16_t>(bytes);
    case ElementType::kInt32: return read<std::int32_t>(bytes);
    case ElementType::kUint32: return read<std::uint32_t>(bytes);
    case ElementType::kInt64: return read<std::int64_t>(bytes);
    case ElementType::kUint64: return read<std::uint64_t>(bytes);
    case ElementType::kFloat16:
    case ElementType::kBFloat16: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes, sizeof bits);
      return type == ElementType::kFloat16 ? half_to_double(bits)
                                           : static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
    }
    case ElementType::kString:
    case ElementType::kUnknown: break;
  }
  fail("an element of a type without a number was read");
}

void write_element(ElementType type, double value, std::byte* bytes) {
  switch (type) {
    case ElementType::kFloat32: return write<float>(value, bytes);
    case ElementType::kFloat64: return write<double>(value, bytes);
    case ElementType::kBool: return write<std::uint8_t>(value != 0 ? 1 : 0, bytes);
    case ElementType::kUint8: return write<std::uint8_t>(value, bytes);
    case ElementType::kInt8: return write<std::int8_t>(value, bytes);
    case ElementType::kUint16: return write<std::uint16_t>(value, bytes);
    case ElementType::kInt16: return write<std::int16_t>(value, bytes);
    case ElementType::kInt32: return write<std::int32_t>(value, bytes);
    case ElementType::kUint32: return write<std::uint32_t>(value, bytes);
    case ElementType::kInt64: return write<std::int64_t>(value, bytes);
    case ElementType::kUint64: return write<std::uint64_t>(value, bytes);
    case ElementType::kFloat16:
    case ElementType::kBFloat16: {
      const std::uint16_t bits = type == ElementType::kFloat16 ? double_to_half(value) : double_to_bfloat(value);
      std::memcpy(bytes, &bits, sizeof bits);
      return;
    }
    case ElementType::kString:
    case ElementType::kUnknown: break;
  }
  fail("an element of a type without a number was written");
}

std::vector<std::byte> encode(ElementType type, std::span<const double> values) {
  const std::size_t size = element_size(type);
  std::vector<std::byte> bytes(values.size() * size);
  const auto write_all = [&](const auto& write_one) {
    for (std::size_t i = 0; i < values.size(); ++i) write_one(values[i], bytes.data() + i * size);
  };
  if (type == ElementType::kFloat32) {
    write_all(write<float>);
  } else {
    write_all([&](double value, std::byte* to) { write_element(type, value, to); });
  }
  return bytes;
}

void decode(ElementType type, std::span<const std::byte> bytes, std::span<double> values) {
  const std::size_t size = element_size(type);
  const auto read_all = [&](const auto& read_one) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = read_one(bytes.data() + i * size);
  };
  if (type == ElementType::kFloat32) {
    read_all(read<float>);
  } else {
    read_all([&](const std::byte* from) { return read_element(type, from); });
  }
}

ConstantData integers_of_shape(Shape shape, std::span<const std::int64_t> values) {
  const auto bytes = std::as_bytes(values);
  ConstantData constant;
  constant.type.shape = std::move(shape);
  constant.type.element = ElementType::kInt64;
  constant.value = std::vector<std::byte>(bytes.begin(), bytes.end());
  return constant;
}

std::vector<std::byte> bytes_of(const ConstantData& constant) {
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&constant.value)) return *bytes;
  const auto count = static_cast<std::size_t>(constant.type.shape.elements());
  const std::vector<double> one = {std::get<double>(constant.value)};
  const std::vector<std::byte> element = encode(constant.type.element, one);
  std::vector<std::byte> bytes(count * element.size());
  if (count == 0) return bytes;
  std::memcpy(bytes.data(), element.data(), element.size());
  for (std::size_t done = element.size(); done < bytes.size(); done *= 2)  // What is there, again.
    std::memcpy(bytes.data() + done, bytes.data(), std::min(done, bytes.size() - done));
  return bytes;
}

std::int64_t stored_bytes(const ConstantData& constant) {
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&constant.value)) {
    return static_cast<std::int64_t>(bytes->size());
  }
  return static_cast<std::int64_t>(sizeof(double));
}

}  // namespace rewright::model
