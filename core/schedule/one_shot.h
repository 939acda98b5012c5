// A schedule without a search: by what the loops of a program say, for a processor's vectors.
//
// | nest                        | what comes of it                                                                  |
// |-----------------------------|-----------------------------------------------------------------------------------|
// | sums of products            | a tile of registers: lanes along the axis that is last in the result, and rows    |
// |                             | along one that one factor has alone; weights packed in the order they are read    |
// | a reduction of a row        | partial results in lanes, which are combined at its end                           |
// | any other                   | lanes along the axis that is last in the result                                   |
//
// An axis that the layout of a buffer (storage.h) divides into blocks is split like these. What a transform refuses
// runs as it was.
#pragma once

#include <rewright/base/result.h>
#include <rewright/loop/loop_program.h>
#include <rewright/schedule/transform.h>

#include <optional>
#include <string_view>

namespace rewright::schedule {

/// Of a processor.
struct VectorUnit {
  int lanes = 8;       ///< Of float32.
  int registers = 16;  ///< Vectors.
};

/// Of a dialect of target c with vectors: vectors, vectors-avx512 ...; nothing for others.
[[nodiscard]] REWRIGHT_API std::optional<VectorUnit> vector_unit(std::string_view dialect);

/// Of a program as it was lowered, perhaps stored otherwise. May be empty.
[[nodiscard]] REWRIGHT_API Schedule one_shot(const loop::Program& program, const VectorUnit& unit);

}  // namespace rewright::schedule
