// A rule in an e-graph: both sides as nodes, its sizes with all that the rule assumes of them.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <string>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/heads.h"
#include "egraph/sizes.h"

namespace rewright::egraph {

class REWRIGHT_API RuleGraph {
 public:
  RuleGraph(Heads& heads, Sizes& sizes, EGraph& graph) : heads_(heads), sizes_(sizes), graph_(graph) {}

  /// Fills the e-graph, which must be empty. Assumed are defined(source), defined(target), the precondition and `more`.
  /// Errors: kUnsupported where the sides differ in the number or the ranks of their outputs, or are defined nowhere.
  Status load(const Rule& rule, std::span<const Constraint> more = {});

  [[nodiscard]] std::span<const NodeId> source() const { return source_; }
  [[nodiscard]] std::span<const NodeId> target() const { return target_; }
  /// The names of the size variables, by number.
  [[nodiscard]] std::span<const SizeVar> names() const { return names_; }

 private:
  /// A tensor of the rule: where it comes from, with its sizes as they are written.
  struct Tensor {
    HeadId head = kNoId;
    std::uint32_t first_operand = 0, first_size = 0, first_dim = 0;
    std::uint16_t operands = 0, sizes = 0, rank = 0;
    NodeId node = kNoId;
  };
  [[nodiscard]] std::uint32_t variable(SizeVar name);
  [[nodiscard]] DimId dim(const SymbolicDim& dim);
  void add_inputs(const Rule& rule);
  Status add_side(const Rule& rule, const Pattern& side, std::vector<std::uint32_t>& outputs);
  void make_nodes();

  Heads& heads_;
  Sizes& sizes_;
  EGraph& graph_;
  std::vector<SizeVar> names_;
  std::vector<Tensor> tensors_;  ///< Inputs first, then the outputs of the nodes of both sides.
  std::vector<std::uint32_t> operand_pool_;
  std::vector<DimId> dim_pool_, slots_;
  std::vector<std::uint32_t> first_output_;  ///< By node of a side: its first tensor.
  std::vector<Condition> known_;
  std::vector<const SymbolicDim*> arguments_;
  std::vector<int> ranks_;
  std::vector<std::uint32_t> source_tensors_, target_tensors_;
  std::vector<NodeId> source_, target_;
  std::vector<NodeId> operands_;
  std::vector<DimId> node_sizes_, node_shape_;
};

}  // namespace rewright::egraph
