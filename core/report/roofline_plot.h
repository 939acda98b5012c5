// Kernels under the roofs of a machine: operations a second over operations a byte, both by their logarithm.
//
//   roof(x) = min(peak, x * bandwidth), for memory and for each cache
//
// Source  Williams, Waterman & Patterson, Roofline, CACM 2009.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tune/machine.h>

#include <span>
#include <string>

namespace rewright {

struct RooflineKernel {
  std::string name;
  double us = 0;
  double operations = 0;  ///< Of values; a multiply-add is 2.
  double bytes = 0;       ///< Of tensors that it reads and writes, each once.
};

/// "" where no kernel computes anything, or the machine was not measured. Numbers beside the points are places in the
/// list, from 1; `numbered` of them have one.
[[nodiscard]] REWRIGHT_API std::string roofline_html(std::span<const RooflineKernel> kernels,
                                                     const tune::Machine& machine, int threads,
                                                     std::size_t numbered = 8);

}  // namespace rewright
