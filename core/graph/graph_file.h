// Graphs as files in the text form, with all that to_text() leaves out: the values of weights and what opaque nodes
// hold. Values that are too long for a line lie in a file beside it, NAME.weights.
//
//     model "..."                                            versions and functions that opaque nodes need
//     e = opaque "Einsum" "..."(x, y) -> (2, 4)              the node, a serialized NodeProto
//     w = weight (64, 64) "g.graph.weights" 0                see text_values.h
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <string>

namespace rewright {

class Registry;

/// Reads a file that a person wrote, or write_graph_file(). Errors: kNotFound, kIo, kParse: the file, the line, the
/// column; a file of weights that is missing, too short or not in the graph's folder.
[[nodiscard]] REWRIGHT_API Result<Graph> read_graph_file(const std::string& path, const Registry& registry);

/// Weights first, then the text, each under a temporary name and renamed. Returns the name of the file of weights, ""
/// if there is none. Errors: kIo.
[[nodiscard]] REWRIGHT_API Result<std::string> write_graph_file(const std::string& path, const Graph& graph);

}  // namespace rewright
