// How much simplifying a model may change.
#pragma once

#include <cstdint>

namespace rewright {

enum class SimplifyLevel : std::uint8_t {
  kExact,    ///< Only what computes the same to the last bit.
  kSums,     ///< Also what is right of real numbers, and leaves factors in weights as they are.
  kWeights,  ///< Also with weights that are multiplied before the run.
};

}  // namespace rewright
