// What makers of schedules start from, and what they give.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/schedule/transform.h>

#include <cstdint>

namespace rewright::schedule {

/// What the code may count on.
struct VectorUnit {
  std::int64_t lanes = 8;                ///< float32 in a vector.
  std::int64_t registers = 16;           ///< Vectors.
  std::int64_t cache_bytes = 512 << 10;  ///< Of the second level.
};

/// All steps apply; `program` is what they make.
struct OneShot {
  Schedule steps;
  loop::Program program;
};

}  // namespace rewright::schedule
