// The text form of graphs as files have it: with values, and with what opaque nodes hold. See graph_file.h.
#pragma once

#include <rewright/graph/graph.h>

#include <string>
#include <string_view>

#include "graph/text_values.h"

namespace rewright {

/// As to_text(), with values; those too long for a line are added to the file.
[[nodiscard]] std::string to_text(const Graph& graph, WeightFile& file);
/// As parse_graph(graph), with files that `read` reads.
[[nodiscard]] Result<Graph> parse_graph(std::string_view text, const Registry& registry, const WeightReader& read);

}  // namespace rewright
