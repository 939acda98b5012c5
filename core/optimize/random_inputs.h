// Seeded random tensors: what two graphs are run on to be compared. The same on every machine.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "optimize/input_source.h"

namespace rewright {

/// A seed for the tensor of that name.
[[nodiscard]] std::uint64_t seed_of(const std::string& name, std::uint64_t seed);

/// A weight of that name that keeps a deep network's numbers in range: variance of about 1 / fan-in; vectors, which may
/// be variances or scales, in [0.5, 1.5). `type` is one of numbers.
[[nodiscard]] ConstantData random_weight(const std::string& name, const TensorType& type, std::uint64_t seed);

/// How inputs are drawn.
struct InputDraw {
  int trial = 0;           ///< Chooses among the distributions that the input's use suggests, and is part of the seed.
  double scale = 1;        ///< Of numbers with a fraction that come from a distribution.
  bool infinite = false;   ///< One of sixteen of those numbers is an infinity.
  bool leave_out = false;  ///< Inputs that no numbers can be drawn for are left out, not an error.
};

/// A value for every input that is given at each run: as `given`, else as its use in the graph suggests. Errors:
/// kUnsupported, an input that no numbers can be drawn for.
[[nodiscard]] REWRIGHT_API Result<std::vector<RuntimeTensor>> random_inputs(const Graph& graph, std::uint64_t seed,
                                                                            const GivenInputs& given = {},
                                                                            const InputDraw& draw = {});

}  // namespace rewright
