// Which tensors of a pool are equal: union-find, closed under congruence.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rewrite/node_pool.h"

namespace rewright {

class REWRIGHT_API TensorClasses {
 public:
  explicit TensorClasses(const NodePool& pool) : pool_(&pool) {}

  /// Takes in the nodes that the pool has got since.
  void grow();
  [[nodiscard]] std::uint32_t tensor(Port port) const { return first_[port.node.value] + port.output; }
  [[nodiscard]] Port port(std::uint32_t tensor) const { return ports_[tensor]; }
  [[nodiscard]] std::uint32_t find(std::uint32_t tensor) const {
    while (parent_[tensor] != tensor) tensor = parent_[tensor];
    return tensor;
  }
  [[nodiscard]] std::uint32_t find(Port port) const { return find(tensor(port)); }
  /// True where they were two. The older tensor stands for both.
  bool unite(Port a, Port b);

  /// Joins the outputs of equal applications of equal tensors, until there are no more; one of them stays.
  void close();
  /// False: an equal application stands for it, or it was filtered out.
  [[nodiscard]] bool is_alive(std::uint32_t node) const { return alive_[node]; }
  void filter_out(std::uint32_t node) { alive_[node] = false, filtered_[node] = true; }

  /// The applications that give a class, and the output by which they do. After close() those alone that are alive.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint32_t>> makers(std::uint32_t class_of) const {
    return makers_[class_of];
  }
  [[nodiscard]] std::uint32_t tensor_count() const { return static_cast<std::uint32_t>(parent_.size()); }
  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(first_.size()); }

 private:
  const NodePool* pool_;
  std::vector<std::uint32_t> first_;   ///< By node: its first tensor.
  std::vector<Port> ports_;            ///< By tensor.
  std::vector<std::uint32_t> parent_;  ///< By tensor.
  std::vector<bool> alive_;
  std::vector<bool> filtered_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> makers_;  ///< By tensor that stands for a class.
};

}  // namespace rewright
