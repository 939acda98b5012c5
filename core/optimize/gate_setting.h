// On what a gate compares two models: which sizes, and which inputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "optimize/random_inputs.h"

namespace rewright {

struct GateSetting {
  std::size_t case_index = 0;
  InputDraw draw;
  std::string words;  ///< Of the inputs, beyond the first ones: "inputs times 1024".
};

/// The most important first: inputs as they are used, at each of the sizes; 2^10 times as large; drawn otherwise;
/// `large` times as large, if it is above 1; 2^-10 times as large; zeros; and some infinite, if so.
[[nodiscard]] std::vector<GateSetting> gate_settings(std::size_t cases, int trials, bool infinite, double large = 1);

/// The same with inputs a quarter as large, for an original that overflows; their scale stays above 1 or it is 0.
[[nodiscard]] GateSetting with_smaller_inputs(GateSetting setting);

}  // namespace rewright
