// A weight of which most elements are 0, as what is left of it: the elements row by row, each with the place of what it
// is multiplied with. Sums run over these alone, a vector of places at a time, so that one element serves a register
// tile of results.
//
//   for o, i, j { a = 0; for c, s, t { a += x[c, i + s, j + t] * w[o, c, s, t] }; y[o, i, j] = f(a) }
//     ->   for i { for o { for j { a[j] = 0 }; for q < rows[o + 1] - rows[o] { for j {
//            a[j] += x[i W + j + places[rows[o] + q]] * values[rows[o] + q] } }; for j { y[o, i, j] = f(a[j]) } } }
//
// where W is the distance of lines in x; where lines are short, several at once, with what lies between them. Where
// these lines of all channels are more than the first cache holds, the elements lie, and are added to the sums, by
// blocks of channels. It follows from the definition by leaving out what is multiplied with 0: x must be finite there.
// Compressed sparse rows, with places of 16 bits where those of a block fit, or of 32; a vector over the image: Gibson,
// Compiler-centric across-stack deep learning acceleration, 2023, section 2.4.3.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compile/sparse_parts.h"
#include "schedule/vector_unit.h"

namespace rewright::compile {

/// A program over the arrays in place of a weight.
struct SparseProgram {
  loop::Program program;           ///< One nest is scheduled; others are as they were.
  std::vector<std::string> nests;  ///< The outermost loops of what it has become.
  /// By name of a buffer: those that stand for the weight, which is gone.
  std::vector<std::pair<std::string, SparsePart>> parts;
};

/// Nothing where no nest has the form: one sum of products of the weight and another buffer, no conditions, places
/// along which the other buffer is read one element after the other. `elements`: of the weight, those that are not 0.
[[nodiscard]] REWRIGHT_API std::optional<SparseProgram> with_sparse_weight(const loop::Program& program,
                                                                           BufferId weight, std::int64_t elements,
                                                                           const schedule::VectorUnit& unit);

}  // namespace rewright::compile
