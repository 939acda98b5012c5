// TASO's generator itself, on its own space: which substitutions it finds, to be held against ours.
//
// Every order of making a graph of up to n operators is visited, depth first; the first graph of each list of outputs
// is kept, every later one is paired with it, and a pair is a substitution unless
//   - both graphs apply the same operator to the same inputs (to none, if it is a constant),
//   - their last operators are the same and differ in one operand at most, or
//   - both use inputs out of order;
// of two substitutions one of which is the other with inputs renamed, the more general one stays.
// Source  the program published with Jia et al., SOSP 2019: src/generator/generator.cc, restated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/taso_file.h"

namespace rewright::test {

struct TasoSubstitutions {
  std::uint64_t sequences = 0;                       ///< Visited, the empty one included.
  std::size_t found = 0;                             ///< Before the more special ones are taken out.
  std::vector<rewright::testing::taso::Entry> kept;  ///< In the order in which they are found.
};

[[nodiscard]] TasoSubstitutions generate_as_taso(std::size_t max_operators);

}  // namespace rewright::test
