// How high classes of tensors lie: higher than all that they are computed from, by any application.
//
// A class is computed from lower ones alone, so that "is a computed from b?" is answered at once where a lies no
// higher, and a search for b turns back where it gets below it. Levels only rise while classes are joined; what lies
// above is lifted with them.
//
// Source  Pearce, Kelly: A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, JEA 11, 2006 (the idea).
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <vector>

#include "optimize/tensor_classes.h"
#include "rewrite/node_pool.h"

namespace rewright {

class REWRIGHT_API ClassLevels {
 public:
  /// Borrows both.
  ClassLevels(const NodePool& pool, const TensorClasses& classes) : pool_(pool), classes_(classes) {}

  /// For the classes as they are; there must be no circle.
  void rebuild();
  /// Takes in the nodes that the classes have got since.
  void grow();
  /// Two classes are one since.
  void united(std::uint32_t one, std::uint32_t other);

  /// False: the class `from` is certainly not computed from the class `to`. Both stand for their classes.
  [[nodiscard]] bool may_reach(std::uint32_t from, std::uint32_t to) const {
    return !known_ || level_[from] > level_[to];
  }
  /// False where joining has closed a circle: nothing is ruled out until rebuild().
  [[nodiscard]] bool known() const { return known_; }

 private:
  void add(std::uint32_t node);
  void settle(std::uint32_t node);
  void lift_above(std::uint32_t of_class);

  const NodePool& pool_;
  const TensorClasses& classes_;
  bool known_ = true;
  std::uint32_t node_count_ = 0;
  std::vector<std::uint32_t> level_;               ///< By tensor that stands for a class.
  std::vector<std::vector<std::uint32_t>> users_;  ///< Likewise: nodes that take it.
  std::vector<std::uint32_t> open_;
};

}  // namespace rewright
