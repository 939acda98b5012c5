// Nests of one class: sums whose loops are followed alike by what they read and store. Sizes, strides and offsets,
// conditions, and what is made of the sum may differ; so a schedule of one can be carried over to another, by the
// places of its loops and buffers.
//
//   4 r 3 s: a[] += x[r0, r2 s1, r3 s2, s0] * w[r1, s0, s1, s2]; y[r0, r2, r3, r1]     a convolution
//
//   r, s   loops of results and of sums, outermost first; those that an index follows, dimension by dimension
//   w      a weight; x: another buffer; a: where the sum is kept, if not where the result is
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "schedule/nest.h"

namespace rewright::schedule {

struct SumNest {
  LoopName root;
  std::string kind;                   ///< Its class, as above.
  std::vector<LoopName> loops;        ///< Of results, then of sums.
  std::vector<std::int64_t> extents;  ///< Of these; 1 where that is no number.
  std::vector<std::string> buffers;   ///< Of the sum, of the result, then what the sum reads.
  [[nodiscard]] double iterations() const;
};
/// Nests of a program that sum, the longest first.
[[nodiscard]] REWRIGHT_API std::vector<SumNest> sum_nests(const Program& program);

/// Those steps of a schedule that are about one nest alone, as steps for another of its class. `taken`: names that new
/// buffers may not have; those that are given are added.
[[nodiscard]] REWRIGHT_API Schedule carried_over(const Schedule& schedule, const SumNest& from, const SumNest& to,
                                                 std::set<std::string>& taken);

}  // namespace rewright::schedule
