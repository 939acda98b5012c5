// A graph for code: what is computed of weights alone is computed before.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>

#include "onnx/imported_model.h"

namespace rewright::compile {

/// `graph`, the model's own or one made of it, without applications on weights alone: their results are weights, computed in double precision and
/// rounded once. What would lose numbers by that, and what would take too long or too much room (onnx/fold.h), stays.
/// Weights that nothing uses any longer are gone. Errors: of weights that cannot be read; kBudget.
[[nodiscard]] REWRIGHT_API Result<Graph> with_known_weights(const Graph& graph, const ImportedModel& model);

}  // namespace rewright::compile
