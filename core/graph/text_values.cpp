#include "graph/text_values.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

namespace rewright {
namespace {

/// More numbers than these go to a file.
constexpr std::int64_t kMostOnALine = 16;
/// Fewer that are all the same are written as one number. More stay as they are: a model then repeats it, too.
constexpr std::int64_t kMostRepeated = std::int64_t{1} << 20;
/// Each value in a file begins at a multiple, so that it can be mapped into memory as any element type.
constexpr std::size_t kAlignment = 64;

bool ends_number(char c) { return c == ',' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// The token at the scanner's place, which stays.
std::string_view token_at(Scanner& scanner) {
  scanner.skip_space(false);
  const std::string_view rest = scanner.text().substr(scanner.position());
  std::size_t end = 0;
  while (end < rest.size() && !ends_number(rest[end])) ++end;
  return rest.substr(0, end);
}

template <class Number>
std::optional<Number> number_in(std::string_view token) {
  Number number{};
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (token.empty() || error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return number;
}

template <class Number>
Result<Number> read_number(Scanner& scanner) {
  const std::string_view token = token_at(scanner);
  const auto number = number_in<Number>(token);
  if (!number)
    return scanner.expected(std::is_integral_v<Number> ? "an integer that the element type holds" : "a number");
  scanner.set_position(scanner.position() + token.size());
  return *number;
}

/// Calls `work` with a number of the C++ type of the elements; nothing where a list is not how they are written.
template <class Work>
auto with_number_of(ElementType type, Work work) -> std::optional<decltype(work(0.0f))> {
  switch (type) {
    case ElementType::kFloat32: return work(0.0f);
    case ElementType::kFloat64: return work(0.0);
    case ElementType::kInt32: return work(std::int32_t{0});
    case ElementType::kInt64: return work(std::int64_t{0});
    case ElementType::kBool: return work(std::uint8_t{0});
    default: return std::nullopt;
  }
}

template <class Number>
std::string list_of(std::span<const std::byte> bytes) {
  std::string text = " [";
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
    Number number{};
    std::memcpy(&number, bytes.data() + at, sizeof number);
    text += fmt::format("{}{}", at == 0 ? "" : ", ", number);
  }
  return text + "]";
}

template <class Number>
Result<std::vector<std::byte>> read_list(Scanner& scanner, const TensorType& type) {
  const std::size_t start = scanner.position();
  std::vector<std::byte> bytes;
  REWRIGHT_CHECK(scanner.expect("[", "before the values of a weight"));
  if (!scanner.take("]")) {
    do {
      REWRIGHT_TRY(const Number number, read_number<Number>(scanner));
      const auto* const first = reinterpret_cast<const std::byte*>(&number);
      bytes.insert(bytes.end(), first, first + sizeof number);
    } while (scanner.take(","));
    REWRIGHT_CHECK(scanner.expect("]", "or ',' after a value"));
  }
  const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(Number));
  if (count == type.shape.elements()) return bytes;
  return scanner.error_at(
      start, ErrorCode::kParse,
      fmt::format("a weight of shape {} has {} values, and {} stand here", type.shape, type.shape.elements(), count));
}

/// The list, where it is short and reads back as the same bytes: numbers that are not all have several forms.
std::optional<std::string> list_that_reads_back(const ConstantData& value) {
  const auto* bytes = std::get_if<std::vector<std::byte>>(&value.value);
  if (bytes == nullptr || value.type.shape.elements() > kMostOnALine) return std::nullopt;
  const auto list = with_number_of(value.type.element, [&](auto zero) -> std::optional<std::string> {
    using Number = decltype(zero);
    std::string text = list_of<Number>(*bytes);
    Scanner scanner(text);
    const auto again = read_list<Number>(scanner, value.type);
    if (!again || *again != *bytes) return std::nullopt;
    return text;
  });
  return list ? *list : std::nullopt;
}

/// The number, where all elements are the same one.
std::optional<std::string> repeated_number(const ConstantData& value) {
  const auto* bytes = std::get_if<std::vector<std::byte>>(&value.value);
  if (bytes == nullptr || value.type.shape.elements() > kMostRepeated) return std::nullopt;
  const auto of_type = [&](auto number) -> std::optional<std::string> {
    const std::size_t size = sizeof number;
    if (bytes->size() < 2 * size || std::memcmp(bytes->data(), bytes->data() + size, bytes->size() - size) != 0)
      return std::nullopt;
    std::memcpy(&number, bytes->data(), size);
    return std::isfinite(number) ? std::optional(fmt::format(" {}", number)) : std::nullopt;
  };
  if (value.type.element == ElementType::kFloat32) return of_type(0.0f);
  if (value.type.element == ElementType::kFloat64) return of_type(0.0);
  return std::nullopt;
}

Result<std::vector<std::byte>> read_from_file(Scanner& scanner, const TensorType& type, const WeightReader& read) {
  const std::size_t start = scanner.position();
  REWRIGHT_TRY(const std::string file, scanner.name("the name of a file of weights, in quotes"));
  REWRIGHT_TRY(const std::int64_t offset, scanner.number("the offset of the weight in the file, in bytes"));
  const std::size_t size = element_size(type.element);
  if (size == 0)
    return scanner.error_at(start, ErrorCode::kParse,
                            fmt::format("{} have no fixed size in a file", name_of(type.element)));
  if (!read)
    return scanner.error_at(
        start, ErrorCode::kUsage,
        fmt::format("the weight lies in {}, and this text is read without its folder", in_quotes(file)));
  // A type has at most 2^62 elements of at most 8 bytes.
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(type.shape.elements()), size, &bytes))
    return scanner.error_at(start, ErrorCode::kParse, "this weight is larger than any file");
  auto content = read(file, static_cast<std::uint64_t>(offset), bytes);
  if (!content) return scanner.error_at(start, content.error().code, content.error().message);
  return content;
}

Result<std::vector<std::byte>> read_values(Scanner& scanner, const TensorType& type) {
  const auto bytes = with_number_of(type.element, [&](auto zero) { return read_list<decltype(zero)>(scanner, type); });
  if (bytes) return *bytes;
  return scanner.error_at(
      scanner.position(), ErrorCode::kParse,
      fmt::format("values of {} are not written in a line; one number that is repeated, or a file, can be",
                  name_of(type.element)));
}

}  // namespace

std::string text_of_value(const ConstantData& value, WeightFile& file) {
  if (const auto* number = std::get_if<double>(&value.value)) return fmt::format(" {}", *number);
  if (auto list = list_that_reads_back(value)) return *list;
  if (auto number = repeated_number(value)) return *number;
  const auto& bytes = std::get<std::vector<std::byte>>(value.value);
  file.bytes.resize((file.bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  const std::size_t offset = file.bytes.size();
  file.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return fmt::format(" {} {}", in_quotes(file.name), offset);
}

Result<std::shared_ptr<const ConstantData>> read_value(Scanner& scanner, const TensorType& type,
                                                       const WeightReader& read) {
  if (scanner.at_end()) return std::shared_ptr<const ConstantData>();
  const bool is_list = scanner.sees("[");
  if (!is_list && !scanner.sees("\"")) {
    if (element_size(type.element) == 0)
      return scanner.expected(fmt::format("the end of the line: {} are no numbers", name_of(type.element)));
    REWRIGHT_TRY(const double number, read_number<double>(scanner));
    return std::make_shared<const ConstantData>(ConstantData{type, number});
  }
  REWRIGHT_TRY(std::vector<std::byte> bytes,
               is_list ? read_values(scanner, type) : read_from_file(scanner, type, read));
  return std::make_shared<const ConstantData>(ConstantData{type, std::move(bytes)});
}

}  // namespace rewright
