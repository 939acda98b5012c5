// Channels of a graph that can only go together: axes of tensors, tied through all that computes with them.
//
//   y = relu(batch_norm(conv(x, v), s, b, m, d)) + z;  u = conv(y, w)     { v.0 y.1 s.0 b.0 m.0 d.0 z.1 w.1 }
//
// An operator ties axes of its operands and results as its definition says (axis_ties.h), if it can be applied to one
// channel less (resized.h). Whatever else meets an axis pins it: the model's inputs and outputs, nodes without a
// definition, weights without a value.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compress/layers.h"

namespace rewright::compress {

/// A layer's weight that has the filters of a group's channels, along this axis of its.
struct Filters {
  std::size_t layer = 0;
  std::size_t axis = 0;
};

struct ChannelGroup {
  std::int64_t channels = 0;
  std::vector<Filters> filters;  ///< At least one.
  std::string pinned;            ///< Why its channels stay: a phrase; empty where they can go.
};

inline constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

struct ChannelGroups {
  std::vector<ChannelGroup> groups;
  std::map<Port, std::vector<std::size_t>> of;  ///< By axis: the group, or kNoGroup.
};

[[nodiscard]] REWRIGHT_API ChannelGroups channel_groups(const Graph& graph, const Definitions& definitions,
                                                        const std::vector<Layer>& layers);

}  // namespace rewright::compress
