// What this machine can do at most, measured once and kept in the user's cache folder.
//
//   peak       2 * lanes * multiply-adds a second, of one core, by vectors of the widest kind that the processor has
//   dot peak   the same of dot products of bfloat16 and int8 by vectors of AVX-512; tiles (AMX) are not counted
//   bandwidth  bytes read a second, of one core, out of a buffer that fits each cache, and one that fits none
//
// Units: GFLOP/s and GB/s of 10^9; sizes in bytes. Both are greatest values: noise only makes them smaller.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/tune/machine.h>

#include <string>
#include <vector>

namespace rewright::tune {

/// Of products of a narrow type that are summed in 32 bits: two operations each.
struct DotPeak {
  std::string element;       ///< "bfloat16", "int8".
  std::string instructions;  ///< That do it: "AVX512_BF16".
  double gops = 0;           ///< Of one core, in 10^9 operations a second. 0: the processor has no such instructions.
};
/// "int8: 945.1 GOP/s by AVX512_VNNI", "bfloat16: none, as this processor has no AVX512_BF16".
[[nodiscard]] REWRIGHT_API std::string to_string(const DotPeak& peak);

/// What plugins are told of a machine, and more.
struct MeasuredMachine : Machine {
  std::vector<DotPeak> dot_peaks;
};

/// Without measuring: peaks and bandwidths are 0.
[[nodiscard]] REWRIGHT_API Machine described_machine();
/// Out of the cache folder if it is there, else measured, which takes about three seconds; `again`: measured in any
/// case, as a virtual machine may run faster or slower than it did. Errors: no compiler, a cache folder that cannot be
/// written.
[[nodiscard]] REWRIGHT_API Result<MeasuredMachine> measured_machine(bool again = false);

/// More than this share of the peak is a fault of measuring.
inline constexpr double kMostOfPeak = 1.03;

}  // namespace rewright::tune
