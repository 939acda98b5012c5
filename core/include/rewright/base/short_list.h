// A list of few whole numbers, kept in place: it takes no memory of its own.
//
// Errors  std::length_error where one more does not fit, or a number does not fit T.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace rewright {

template <std::integral T, std::size_t Most>
class ShortList {
 public:
  using value_type = T;
  using const_iterator = const T*;

  ShortList() = default;
  ShortList(std::initializer_list<std::int64_t> numbers) : ShortList(numbers.begin(), numbers.end()) {}
  template <std::input_iterator Iterator>
  ShortList(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }

  template <std::integral Number>
  void push_back(Number number) {
    if (size_ == Most || !std::in_range<T>(number)) throw std::length_error("a list of few numbers");
    numbers_[size_++] = static_cast<T>(number);
  }

  [[nodiscard]] const T* begin() const { return numbers_.data(); }
  [[nodiscard]] const T* end() const { return numbers_.data() + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T operator[](std::size_t place) const { return numbers_[place]; }

  friend bool operator==(const ShortList& a, const ShortList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::strong_ordering operator<=>(const ShortList& a, const ShortList& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<T, Most> numbers_{};
  std::uint16_t size_ = 0;
};

}  // namespace rewright
