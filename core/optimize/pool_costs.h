// What graphs of a pool cost: the sum over their kernels (see GraphCost), over whole numbers, so that it does not
// depend on the order in which it is made.
//
// Units   2^-30 us. A graph's cost is exact up to one unit for each of its kernels; from 2^61 units (36 minutes) on it
//         is as much as that, which GraphCost calls infinite.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimize/kernel_costs.h"
#include "optimize/kernel_layouts.h"
#include "rewrite/node_pool.h"

namespace rewright {

class REWRIGHT_API PoolCosts {
 public:
  static constexpr std::int64_t kMost = std::int64_t{1} << 61;

  /// Borrows both.
  PoolCosts(KernelCosts& kernels, NodePool& pool) : kernels_(kernels), pool_(pool) {}

  [[nodiscard]] static double to_us(std::int64_t units);
  [[nodiscard]] static double to_us_or_infinity(std::int64_t units);
  /// Of the graph that consists of these nodes, ascending. Errors: of the cost model.
  [[nodiscard]] Result<std::int64_t> of(std::span<const std::uint32_t> nodes, std::span<const Port> outputs);

  /// By node of the graph that of() was last asked about: the order that its outputs were given, by its position among
  /// orders_of_rank(). Only where layouts are chosen.
  [[nodiscard]] std::vector<std::uint8_t> chosen(std::span<const std::uint32_t> nodes) const;

  /// Standard deviation in us of the graph that of() was last asked about, without layouts: kernels that are equal vary
  /// together, others independently.
  [[nodiscard]] Result<double> spread_us(std::span<const std::uint32_t> nodes);

  /// Of one application by itself.
  [[nodiscard]] Result<std::int64_t> of_signature(SignatureId signature);

 protected:
  using Prefix = KernelCosts::Prefix;
  using ChainId = std::uint32_t;
  /// An application and those that it is one kernel with, as far as they come before it.
  struct Chain {
    ChainId before = kNoId;
    SignatureId signature = 0;
    std::uint32_t joined = 0;  ///< The operand that the one before gives.
    Prefix prefix = KernelCosts::kNoPrefix;
    std::int64_t cost = 0;
  };
  struct OfLabel {
    bool known = false;
    bool is_concat = false;
    bool is_split = false;
    std::vector<Prefix> extended;  ///< By prefix.
  };
  /// Of a node in the graph at hand.
  struct OfNode {
    std::uint32_t graph = 0;  ///< What is said is of that graph.
    std::uint32_t uses = 0;
    bool by_equal_concat = false;
    bool is_part_of_split = false;
    bool has_further_splits = false;
    bool is_absorbed = false;  ///< Its only user has it in its kernel.
    bool is_made = false;      ///< By a change: what is replaced is not replaced in its operands.
    ChainId chain = kNoId;
    std::uint32_t choice = kNoId;  ///< Its kernel, in the problem of layouts.
  };

  /// The kernel that a node ends, as far as the nodes before it know.
  struct Joined {
    ChainId chain = kNoId;
    std::uint32_t absorbed = kNoId;  ///< The operand's maker that is in it too.
  };

  /// An operand of a node, or what has taken its place; see LocalCosts.
  [[nodiscard]] Port current(std::uint32_t node, Port operand) const {
    if (of_node_[node].is_made) return operand;
    for (const auto& [before, after] : replaced_)
      if (operand == before) return after;
    return operand;
  }
  [[nodiscard]] const OfLabel& label(LabelId label);
  void count_uses(std::span<const std::uint32_t> nodes, std::span<const Port> outputs);
  [[nodiscard]] Result<Joined> join(std::uint32_t node);
  [[nodiscard]] bool may_join(std::uint32_t node, std::uint32_t operand) const;
  [[nodiscard]] Result<ChainId> chain(ChainId before, std::uint32_t joined, std::uint32_t node, Prefix prefix);
  template <class Ask>
  [[nodiscard]] auto with_kernel(const Chain& last, const Ask& ask) const;
  [[nodiscard]] bool is_opaque(const NodePool::Signature& signature) const;
  [[nodiscard]] Result<std::int64_t> of_node(std::uint32_t node);
  [[nodiscard]] Status ask_together(std::span<const std::uint32_t> nodes);
  [[nodiscard]] Result<std::int64_t> of_application(std::uint32_t node);
  [[nodiscard]] std::optional<SignatureId> application(std::uint32_t node);
  [[nodiscard]] bool is_part_of_concat(std::uint32_t node) const;
  void join_splits();
  void append_sizes(std::uint32_t split, std::vector<std::int64_t>& sizes) const;
  [[nodiscard]] SignatureId signature_of_joined(std::uint32_t split);
  void append_operands(std::uint32_t node, std::vector<Port>& ports) const;

  // Layouts.
  [[nodiscard]] Result<std::int64_t> with_layouts(std::span<const std::uint32_t> nodes, std::span<const Port> outputs);
  [[nodiscard]] bool ends_kernel(std::uint32_t node) const;
  [[nodiscard]] Status ask_in_order(std::uint32_t node);
  [[nodiscard]] Status choose_for(std::uint32_t node);
  [[nodiscard]] SignatureId gather_operands(std::uint32_t node);
  [[nodiscard]] Chain last_of(std::uint32_t node, SignatureId signature) const;
  [[nodiscard]] Result<const KernelLayouts*> layouts_of(std::uint32_t node, SignatureId signature);
  void append_outside(std::uint32_t node, std::vector<Port>& ports) const;
  [[nodiscard]] Status bring_into_order(Port port);

  KernelCosts& kernels_;
  NodePool& pool_;
  std::vector<std::int64_t> known_;  ///< By signature; -1: not asked for yet.
  std::vector<OfLabel> labels_;
  std::vector<Chain> chains_;
  std::unordered_map<std::uint64_t, ChainId> chain_ids_;
  std::vector<OfNode> of_node_;
  std::vector<std::pair<Port, Port>> replaced_;  ///< None for a graph as it is.
  std::uint32_t graph_ = 0;
  std::vector<Port> ports_;
  std::vector<std::pair<Port, std::uint32_t>> split_uses_;  ///< Parts of splits, and what uses them; ascending.
  Pbqp problem_;
  Pbqp::Choice choice_;
  std::unordered_map<std::uint64_t, KernelLayouts> layouts_;  ///< By chain or signature.
};

}  // namespace rewright
