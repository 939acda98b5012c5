// Which nodes of a graph run as one kernel.
//
// A node joins its producer where the two definitions say that nothing need be stored between them
// (loop/composition.h): the producer has one result, this node alone reads it, inlining leaves no buffer for it, and no
// stage has more sums than one had before. No operator is known by name.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/operator/definition.h>
#include <rewright/optimize/kernel.h>
#include <rewright/plugin/registry.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "compile/kernel_definition.h"

namespace rewright::compile {

/// One or more nodes, and what they compute as one.
struct Group {
  std::vector<NodeId> nodes;  ///< Each behind those whose outputs it takes, in the order of kernels' keys.
  Definition definition;
};

/// A graph's nodes in groups.
struct Groups {
  std::vector<Group> all;          ///< In the order of their last nodes.
  std::map<NodeId, Error> errors;  ///< Of nodes without loops.
};

/// What an operand of a node among `nodes` is to these.
[[nodiscard]] REWRIGHT_API Kernel::Source source_of(const std::vector<NodeId>& nodes, Port port);

/// Borrows the graph and the registry. It remembers what nodes compute as one: another choice of what is stored takes
/// little time.
class REWRIGHT_API Grouping {
 public:
  /// `registry` reads bodies of nodes; null: none is read.
  Grouping(const Graph& graph, const Registry* registry);

  /// Without the nodes `left_out`; a result in `stored` is in memory, even where its reader could join what makes it.
  /// Errors: kInternal.
  [[nodiscard]] Result<Groups> groups(const std::set<Port>& stored = {}, const std::set<NodeId>& left_out = {});
  /// Results whose reader, alone, can join what makes them, alone. Errors: kInternal.
  [[nodiscard]] Result<std::vector<Port>> joints();
  /// By application; where one is not, nothing.
  [[nodiscard]] std::optional<std::vector<ElementTypes>> element_types(std::span<const NodeId> nodes) const;

 private:
  [[nodiscard]] Result<Definition> definition(const std::vector<NodeId>& nodes);
  [[nodiscard]] Result<Group> group_of(NodeId id);
  /// Nothing where something would be stored between them.
  [[nodiscard]] Result<std::optional<Group>> joined(const Group& producer, const Group& consumer);
  [[nodiscard]] bool leads_to_one(Port port) const;
  void place(NodeId id, std::set<NodeId>& left, std::vector<NodeId>& placed) const;

  const Graph& graph_;
  const Registry* registry_;
  std::map<Port, int> uses_;
  std::map<std::vector<NodeId>, Result<Definition>> definitions_;
};

}  // namespace rewright::compile
