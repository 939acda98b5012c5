// Drawings: Graphviz DOT of graphs and rules, and SVG of DOT.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/rule/rule.h>

#include <string>
#include <string_view>

namespace rewright {

/// Data flows downwards. Inputs are rounded boxes (weights grey), applications boxes with parameters and output shapes,
/// outputs are ellipses. Operands are numbered where there are several and their order counts; so are the outputs of
/// nodes that have several.
[[nodiscard]] REWRIGHT_API std::string to_dot(const Graph& graph);
/// Source and target side by side, an input in the same colour on both, sizes as expressions; name, precondition and
/// trust above.
[[nodiscard]] REWRIGHT_API std::string to_dot(const Rule& rule);

/// A string of DOT: backslashes and quotes escaped, line breaks kept, what is no printable UTF-8 replaced by '?'.
[[nodiscard]] REWRIGHT_API std::string dot_string(std::string_view text);

/// The drawing, by Graphviz's program `dot`. Errors: kNotFound where it is not installed; kInternal where it fails.
[[nodiscard]] REWRIGHT_API Result<std::string> render_svg(std::string_view dot);

}  // namespace rewright
