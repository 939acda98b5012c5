// Definitions of ONNX nodes that graphs do not compute with: on integers and truth values, between element types, by
// places that data says. No rule speaks of them; loops are made of them all the same.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/operator/expression.h>

namespace rewright::compile {

/// Of an opaque node: its operands are the inputs, in order. Errors: kUnsupported, with the reason.
[[nodiscard]] REWRIGHT_API Result<Definition> node_definition(const Graph& graph, const Node& node);

}  // namespace rewright::compile
