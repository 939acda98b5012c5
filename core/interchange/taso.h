// Rule files of TASO (taso.proto): read as candidates, written from rules.
//
// TASO's patterns have no shapes, and its proofs erase them. Reading finds ranks that the operators allow, solves size
// parameters as generalisation does, and takes what the file leaves open for what TASO does there:
//
//   split       at the point of the last concatenation along the axis
//   conv2d      in as many groups as the weight's channels fit into the image's, each convolution for itself: the rule
//   is
//               read with one group and with two in each convolution of the source, and those of the target follow
//   pool2d_avg  divides by the kernel's size
//   kernels     a conv2d with a kernel size asks it of its weight: a condition of the rule
//
// Ranks that nothing decides (x + y = y + x) are read as 2 and as 4; those of matrix products as 2.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interchange/taso_rule.h"

namespace rewright {

/// Errors: kParse where `bytes` are no RuleCollection, naming `file`.
[[nodiscard]] REWRIGHT_API Result<std::vector<TasoRule>> read_taso(const std::string& bytes, const std::string& file,
                                                                   const Registry& registry);

struct TasoFile {
  std::string bytes;
  std::size_t written = 0;
  std::map<std::string, std::size_t> left_out;  ///< What the format cannot say, and how many rules for it.
};
[[nodiscard]] REWRIGHT_API TasoFile write_taso(std::span<const Rule> rules);

}  // namespace rewright
