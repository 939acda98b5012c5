#include "tune/instruction_set.h"

#include <algorithm>
#include <array>

#include "tune/this_machine.h"

namespace rewright::tune {
namespace {

const std::array kSets = {
    InstructionSet{"AVX-512",
                   "vectors-avx512",
                   {16, 32},
                   "avx512f,avx512vl,avx512dq,avx512bw,fma",
                   "__builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512vl\") && "
                   "__builtin_cpu_supports(\"avx512dq\") && __builtin_cpu_supports(\"avx512bw\")"},
    InstructionSet{"AVX2",
                   "vectors-avx2",
                   {8, 16},
                   "avx2,fma",
                   "__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\")"},
    InstructionSet{"", "vectors-portable", {4, 16}, "", ""},
};

}  // namespace

Result<const InstructionSet*> instruction_set(const std::string& dialect) {
  if (dialect == "c11") return nullptr;
  if (dialect == "vectors") {
    const auto here = described_machine().instructions;
    return &*std::ranges::find_if(kSets, [&](const InstructionSet& set) {
      return set.name.empty() || std::ranges::find(here, set.name) != here.end();
    });
  }
  const auto found = std::ranges::find(kSets, dialect, &InstructionSet::dialect);
  if (found != kSets.end()) return &*found;
  return make_error(ErrorCode::kUsage,
                    "there is no dialect '{}'; there are c11, vectors (as this processor has them), vectors-avx512, "
                    "vectors-avx2 and vectors-portable",
                    dialect);
}

}  // namespace rewright::tune
