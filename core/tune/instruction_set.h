// What an artefact may count on: the dialect of C, the vectors that it has, and how both the compiler and the code that
// runs are asked for them.
#pragma once

#include <rewright/base/result.h>

#include <string>

#include "schedule/one_shot.h"

namespace rewright::tune {

struct InstructionSet {
  std::string name;     ///< "AVX2", for readers; empty: nothing that not every processor has.
  std::string dialect;  ///< Of the target.
  schedule::VectorUnit unit;
  std::string features;  ///< As GCC's attribute `target` lists them.
  std::string test;      ///< A C expression that is true where the processor has them.
};

/// "c11": no vectors and no schedules, null. "vectors": the widest that this processor has. Errors: kUsage, no such
/// dialect.
[[nodiscard]] REWRIGHT_API Result<const InstructionSet*> instruction_set(const std::string& dialect);

}  // namespace rewright::tune
