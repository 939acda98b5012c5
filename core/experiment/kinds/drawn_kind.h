// Drawings of a graph before and after.
#pragma once

#include <rewright/graph/graph.h>

#include <string>

#include "experiment/kind.h"

namespace rewright::experiment {

/// Adds NAME-before and NAME-after, with what has no counterpart on the other side marked; of graphs of more than
/// `most` applications what lies around it. Nothing where Graphviz is not installed. Errors: it fails.
Status draw_both(const std::string& name, const Graph& before, const Graph& after, std::size_t most, Outcome& outcome);

}  // namespace rewright::experiment
