// How a tensor lies in memory between kernels: its dimensions in an order of their own, and rows of 0 around it.
//
//   t[p(i) + before] = b[i],   0 elsewhere
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rewright::compile {

struct Storage {
  std::vector<std::size_t> order;           ///< The tensor's dimensions, outermost first.
  std::vector<std::int64_t> before, after;  ///< Zeros, by the tensor's dimension.
  friend bool operator==(const Storage&, const Storage&) = default;
};
[[nodiscard]] std::string to_string(const Storage& storage);

}  // namespace rewright::compile
