// What a graph costs after one rewrite, worked out where the rewrite changes something.
//
// A node's share of a graph's cost is that of the kernel that it ends, less that of the kernel which the last operand
// in it would end alone: shares add up to the graph's cost, and one depends on what stands next to its node. Entries of
// nodes are changed in place, the change spreads to users as far as it matters, and a journal takes it back.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "optimize/pool_costs.h"
#include "rewrite/pool_rewriter.h"

namespace rewright {

/// For costs without layouts: those of a layout depend on the whole graph.
class REWRIGHT_API LocalCosts final : private PoolCosts {
 public:
  using PoolCosts::PoolCosts;

  /// Turns to the graph that consists of these nodes, ascending. Errors: of the cost model.
  [[nodiscard]] Status open(std::span<const std::uint32_t> nodes, std::span<const Port> outputs);
  /// The cost after the change; nothing where it is not local: applications become equal, splits or the uses of their
  /// parts change, something is not used, or very much uses it. Errors: of the cost model.
  [[nodiscard]] Result<std::optional<std::int64_t>> after(const PoolRewriter::Change& change);

 private:
  struct Entry {
    std::uint32_t node;
    OfNode of;
    std::int64_t share;
  };
  struct Uses {
    std::uint32_t node;
    std::uint32_t before;
  };

  void fit();
  void count_users(std::span<const std::uint32_t> nodes);
  [[nodiscard]] bool is_live(std::uint32_t node) const { return of_node_[node].graph == graph_; }
  OfNode& entry(std::uint32_t node);
  void take_back();
  [[nodiscard]] Result<std::optional<std::int64_t>> changed(const PoolRewriter::Change& change);
  void set_uses(std::uint32_t node, std::uint32_t uses);
  void add_node(std::uint32_t node);
  void remove_node(std::uint32_t node);
  [[nodiscard]] bool redirect(Port before, Port after);
  [[nodiscard]] bool uses_replaced(std::uint32_t node) const;
  [[nodiscard]] std::uint32_t uses_by(std::uint32_t user, Port port) const;
  template <class Visit>
  void visit_users(std::uint32_t node, const Visit& visit) const;
  [[nodiscard]] bool joins_equal() const;
  [[nodiscard]] bool touches_split(const PoolRewriter::Change& change);
  [[nodiscard]] bool are_equal(std::uint32_t a, std::uint32_t b) const;
  void spread_uses();
  [[nodiscard]] Status settle();
  [[nodiscard]] Result<std::int64_t> share_of(std::uint32_t node);

  __extension__ using Wide = __int128;  ///< Some hundred infinite costs may come together in one change.
  bool is_finite_ = false;
  Wide total_ = 0;
  std::vector<std::int64_t> share_;        ///< By node.
  std::vector<std::uint32_t> first_user_;  ///< By node.
  std::vector<std::uint32_t> user_count_;
  std::vector<std::uint32_t> users_;  ///< One that uses a node twice is there twice, one after the other.
  std::vector<Port> outputs_;
  // One change.
  std::vector<Entry> journal_;
  std::vector<Uses> touched_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> new_users_;  ///< Node, user.
  std::vector<std::uint32_t> redirected_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> dying_;
};

}  // namespace rewright
