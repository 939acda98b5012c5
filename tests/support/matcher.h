// Finding where a rule's source occurs in a concrete graph.
//
// A pattern node matches an application of the same operator with the same parameters, with its operands matched in
// turn; the operands of a commutative operator match in either order. A pattern input matches any tensor of its rank,
// and the same one wherever the pattern names it. Size parameters are equations between sizes: they bind the size
// variables that are no sizes of inputs, and must hold for the rest. Then the precondition must hold of the sizes.
//
// Several outputs: every output matches a tensor of its own, wherever it lies, so parts of a pattern may be joined by
// shared inputs alone, or not at all. A match whose replacement would make the graph cyclic is none.
//
// A tensor inside the match that is used outside of it stays, with what computes it: the match is valid all the same,
// and whether doing the work twice pays is for the cost model to say. (TASO refuses such matches.)
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rewright {

/// A place where a rule applies: the ports bound to the rule's inputs and the graph's nodes for the source's nodes.
struct Match {
  std::size_t rule = 0;  ///< Position in the rule list.
  std::vector<Port> inputs;
  std::vector<NodeId> nodes;
  std::vector<std::pair<SizeVar, std::int64_t>> sizes;  ///< Size variables that are not sizes of inputs.
};

/// What matching asks of a graph: applications by operator, users by node. Borrows the graph.
class GraphIndex {
 public:
  explicit GraphIndex(const Graph& graph);

  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] std::span<const NodeId> applications(const Operator* op) const;
  /// Nodes with an operand that is an output of `node`; one that has several is there once.
  [[nodiscard]] std::span<const NodeId> users(NodeId node) const;

 private:
  const Graph* graph_;
  std::unordered_map<const Operator*, std::vector<NodeId>> by_operator_;
  std::vector<std::uint32_t> first_user_;
  std::vector<NodeId> users_;
};

/// The value of a size parameter's variable, or of an input's size: "x.0".
struct SizeVariable {
  SizeVar name;
  std::size_t input = 0;  ///< Of the rule; where `axis` is -1, a position in Match::sizes.
  int axis = -1;
};

/// A rule, prepared for matching and applying.
class CompiledRule {
 public:
  /// Errors: those of check_usable().
  [[nodiscard]] static Result<CompiledRule> compile(const Rule& rule);

  /// Appends every match, in an order that depends on the graph and the rule alone.
  void find(const GraphIndex& index, std::size_t rule_position, std::vector<Match>& matches) const;
  /// Sizes by name, at a match in `graph`. Borrows all three.
  [[nodiscard]] DimBinding binding(const Graph& graph, const Match& match) const;
  /// Could replacing the match make the graph cyclic?
  [[nodiscard]] bool makes_cycle(const Graph& graph, const Match& match) const;

  /// The source's output ports in the graph.
  [[nodiscard]] std::vector<Port> outputs(const Match& match) const;

 private:
  struct SizeEquation {
    std::size_t param;
    std::size_t element;
    SymbolicDim size;
  };
  struct SourceNode {
    const Operator* op;
    std::vector<BasicParamValue<SymbolicDim>> params;
    std::vector<Port> inputs;
    bool commutative;
    std::vector<SizeEquation> equations;  ///< Of sizes that are not plain numbers.
  };
  enum class From : std::uint8_t { kScan, kOperand, kUser };
  struct Step {
    std::size_t node;
    From from;
    std::size_t user = 0;  ///< kOperand: the pattern node of which it is an operand.
    std::size_t operand = 0;
    Port port = {};  ///< kUser: a port of the pattern that is bound by then.
  };
  struct Attempt;

  [[nodiscard]] std::vector<Step> plan(std::size_t start) const;
  [[nodiscard]] bool fits(const SourceNode& pattern, const Node& node) const;
  void extend(Attempt& attempt, std::size_t step) const;
  void try_node(Attempt& attempt, std::size_t step, NodeId candidate) const;
  [[nodiscard]] bool bind_operands(Attempt& attempt, std::size_t node, const Node& actual, bool swapped) const;
  [[nodiscard]] bool bind_sizes(const Graph& graph, Match& match) const;
  [[nodiscard]] bool wired_alike(const Attempt& attempt) const;
  void finish(Attempt& attempt) const;

  std::vector<int> input_ranks_;
  std::vector<SourceNode> source_;
  std::vector<Port> source_outputs_;
  std::vector<std::vector<bool>> target_needs_;  ///< By output, by rule input.
  std::vector<Constraint> precondition_;
  std::vector<SizeVariable> variables_;
  std::vector<SizeVar> free_;             ///< Names of Match::sizes.
  std::vector<std::vector<Step>> plans_;  ///< By the source node that matching starts from.
};

}  // namespace rewright
