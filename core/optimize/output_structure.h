// What an output is made of, as one number: equal for outputs that the same nodes compute of the same inputs and
// weights, whatever the names between. For outputs that nothing can compute here, to tell whether they were changed.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <vector>

namespace rewright {

/// One per output. Weights without a value count by their names, inputs too.
[[nodiscard]] REWRIGHT_API std::vector<std::uint64_t> output_structures(const Graph& graph);

}  // namespace rewright
