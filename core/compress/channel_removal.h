// Channels that go, with all that computes them and all that is computed from them alone. What is computed changes as
// if the next layers' weights were 0 there; if the channels are 0, nothing changes.
//
// Which  Those whose filters have the least mean magnitude: Li et al., Pruning filters for efficient convnets, ICLR'17.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include "compress/compression.h"

namespace rewright::compress {

/// Of each group of channels (channel_groups.h), or of all together, the share (rounded down) goes whose filters have
/// the least mean |w|; of equal ones the first. One channel of each group stays. Errors: kUsage, what `check` says,
/// where no channel can go.
[[nodiscard]] REWRIGHT_API Result<CompressedGraph> without_channels(const Graph& graph, const CompressOptions& options);

}  // namespace rewright::compress
