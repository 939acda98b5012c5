// What a node of a graph, or all of a graph, computes: its operator's definition, or one of the node's own.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/operator/expression.h>
#include <rewright/plugin/registry.h>

#include "compile/kernel_definition.h"

namespace rewright::compile {

/// Numbers are those of the first operand that is none of truth values, or else of the result.
[[nodiscard]] ElementTypes element_types_of(const Graph& graph, const Node& node);

/// `registry` reads the node's bodies; null: none is read. Errors: kUnsupported, with the reason.
[[nodiscard]] Result<Definition> definition_of_node(const Graph& graph, NodeId id, const Registry* registry);

/// Inputs are the graph's data inputs, outputs its outputs, each a buffer of its own; weights are numbers in it. Errors
/// also: kUnsupported, weights of many different values.
[[nodiscard]] Result<Definition> definition_of_graph(const Graph& graph, const Registry* registry);

}  // namespace rewright::compile
