// By how much the hash of a graph grows with that of each of its tensors.
//
// Hashes are linear (core/rewrite/node_pool.h): g(tensor) = sum over its uses of s(user, position) * g(user), where
// g(user) is the sum over the tensors that the user gives, and the graph's outputs count as uses. So where tensors r
// are replaced by tensors t, none computed from another, the hash grows by the sum of g(r) * (h(t) - h(r)).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/scalar.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rewrite/node_pool.h"

namespace rewright {

class REWRIGHT_API HashSlopes {
 public:
  /// Borrows the pool.
  explicit HashSlopes(const NodePool& pool) : pool_(pool) {}

  /// Turns to the graph that consists of these nodes, ascending.
  void open(std::span<const std::uint32_t> nodes, std::span<const Port> outputs);
  /// The hash after the tensors are replaced; see above.
  [[nodiscard]] Field after(std::span<const std::pair<Port, Port>> replaced) const;

 private:
  const NodePool& pool_;
  std::vector<std::uint32_t> first_;  ///< By node: of its tensors.
  std::vector<Field> slopes_;         ///< By tensor.
  Field hash_;
};

}  // namespace rewright
