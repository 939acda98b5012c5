// What a class needs, whatever is chosen.
//
//   needs(c) = {c}  +  what is in  { union of needs(o) over the operands o of a }  for every application a that gives c
//
// Classes that nothing gives, or that only such applications give as take one of those, cannot be computed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rewright::egraph_search {

/// An application as far as this goes. Both without repeats.
struct Maker {
  std::vector<std::uint32_t> operands;
  std::vector<std::uint32_t> outputs;
};

class Needs {
 public:
  /// Time and memory grow with classes times classes / 64. The makers have no circles; if they had one, less would be
  /// said to be needed than is. Borrows nothing.
  Needs(std::span<const Maker> makers, std::size_t class_count, std::span<const std::uint32_t> outputs);

  /// Classes below the outputs, each after what it may be computed from.
  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }
  [[nodiscard]] bool can_be_computed(std::uint32_t of) const { return can_be_computed_[of]; }
  /// What it needs and nothing else that it needs does. Not itself. Of a class of order() that can be computed.
  [[nodiscard]] std::vector<std::uint32_t> nearest(std::uint32_t of) const;

 private:
  using Set = std::vector<std::uint64_t>;  ///< Bits, by position in order_.
  void put_in_order(std::span<const Maker> makers, std::span<const std::uint32_t> outputs);
  void collect(std::span<const Maker> makers);
  [[nodiscard]] Set of_application(const Maker& maker) const;

  std::vector<std::vector<std::uint32_t>> makers_of_;  ///< By class.
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> position_;  ///< By class, in order_.
  std::vector<bool> can_be_computed_;    ///< By class.
  std::vector<Set> needs_;               ///< By position.
};

}  // namespace rewright::egraph_search
