// Weights that nothing uses.
#pragma once

#include <rewright/graph/graph.h>

namespace rewright::model {

/// The graph without weights that no application and no output uses: what a node was read into its parameters from
/// (the shape given to Reshape), or what an operator made before it turned a node down. Data inputs stay.
[[nodiscard]] Result<Graph> without_unused_weights(const Graph& graph);

}  // namespace rewright::model
