// Are two graphs of a pool the same after a change to each, without making either?
//
// Both are walked down from their outputs side by side. Below the first tensor that a change replaces a graph is as it
// lies in the pool, and so is what a change puts in; there, tensors are equal exactly if they are the same ports
// (core/rewrite/node_pool.h). So the work is what lies above what is replaced, and nothing is hashed or copied.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rewrite/node_pool.h"
#include "rewrite/pool_rewriter.h"

namespace rewright {

class REWRIGHT_API GraphComparison {
 public:
  /// Borrows the pool.
  explicit GraphComparison(const NodePool& pool) : pool_(pool) {}

  struct Side {
    std::span<const Port> outputs;
    std::span<const std::pair<Port, Port>> replaced;  ///< As PoolRewriter::change says; none: the graph as it is.
  };
  [[nodiscard]] bool equal(const Side& left, const Side& right);

 private:
  /// A tensor; `whole`: with all below it as the pool has it.
  struct Place {
    Port port;
    bool whole = false;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Change {
    std::span<const std::pair<Port, Port>> replaced;
    std::uint32_t first = kNoId;  ///< Nothing is replaced below this node.
  };
  /// Two nodes that are equal if their operands are.
  struct Frame {
    Place left, right;
    std::uint32_t next = 0;
    bool swapped = false;
  };
  enum class Answer : std::uint8_t { kEqual, kDifferent, kOpen };

  [[nodiscard]] static Place resolve(const Change& change, Place place);
  [[nodiscard]] Place operand(const Change& change, const Place& user, std::size_t k) const;
  [[nodiscard]] Answer at_once(const Place& left, const Place& right) const;
  [[nodiscard]] bool equal_below(const Place& left, const Place& right);
  /// The frame's operands differ: true where there is another order to try.
  [[nodiscard]] bool swap(Frame& frame) const;
  [[nodiscard]] bool known_equal(const Place& left, const Place& right) const;
  void keep_equal(const Place& left, const Place& right);

  const NodePool& pool_;
  Change left_, right_;
  /// What a node was found to be equal to; by node, in its graph and as the pool has it.
  struct Partner {
    std::uint32_t when = 0;
    std::uint32_t node = 0;
    bool whole = false;
  };
  std::vector<Partner> partners_;
  std::uint32_t now_ = 0;
  std::unordered_set<std::uint64_t> more_equal_;  ///< Where it has several.
  std::unordered_set<std::uint64_t> different_;
  std::vector<Frame> stack_;
};

}  // namespace rewright
