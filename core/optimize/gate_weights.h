// What a model's weights say about the inputs that it must be compared on.
#pragma once

#include <rewright/graph/graph.h>

#include <set>
#include <string>

namespace rewright {

/// A model that multiplies by a tiny number is meant for inputs that are as large: 1 / |c| for the least such number c;
/// 1 where no factor is tiny.
[[nodiscard]] double scale_of_factors(const Graph& graph);
/// Does a weight hold an infinity? Large ones are not looked at.
[[nodiscard]] bool has_infinities(const Graph& graph);
/// Names of weights that repeat one number and that operators alone use.
[[nodiscard]] std::set<std::string> uniform_weights(const Graph& graph);

}  // namespace rewright
