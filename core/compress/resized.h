// An operator applied to tensors of other sizes: with which parameters does it say the same?
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <optional>
#include <span>
#include <vector>

#include "compress/axis_ties.h"

namespace rewright::compress {

/// An application, its tensors and what follows from its definition.
struct DefinedApplication {
  ApplicationNode application;
  std::vector<Shape> inputs, outputs;
  Definition definition;
  AxisTies ties;
};
/// Nothing where the node is no application, or its definition cannot be had.
[[nodiscard]] REWRIGHT_API std::optional<DefinedApplication> defined_application(const Graph& graph, const Node& node);

/// Those with which the operator's definition at the new sizes is that at the old ones, with other extents of the axes
/// that are tied to what has another size: the groups of a depthwise convolution, the sizes of a reshape. Nothing where
/// there are none: a mean over the axis divides by another number.
[[nodiscard]] REWRIGHT_API std::optional<Params> resized(const DefinedApplication& before,
                                                         std::span<const Shape> inputs, std::span<const Shape> outputs);

}  // namespace rewright::compress
