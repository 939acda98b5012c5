// What compression is asked for, and what it did. It changes what a model computes, so that it runs only when asked.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compress/layers.h"

namespace rewright::compress {

enum class Scope : std::uint8_t {
  kLayer,  ///< The share of each layer.
  kModel,  ///< The share of all layers together.
};

struct CompressOptions {
  double share = 0.5;  ///< Of what goes, between 0 and 1.
  Scope scope = Scope::kLayer;
  std::vector<std::string> keep = {};  ///< Layers that stay as they are, by the name of the node or of its weight.
  NodeNames names = {};                ///< Of nodes that have none in the graph.
};

struct Amounts {
  std::int64_t numbers = 0;   ///< In floating-point constants.
  std::int64_t nonzeros = 0;  ///< Of these.
  double multiply_adds = 0;   ///< Of the layers, without those by a 0 of the weight.
};

/// A weight, by the first layer that multiplies by it.
struct LayerChange {
  std::string name;  ///< Of the layer.
  std::string op;
  Shape before, after;  ///< Of the weight.
  std::int64_t nonzeros_before = 0, nonzeros_after = 0;
};

/// Channels that stay, with the first reason for it.
struct UntouchedChannels {
  std::vector<std::string> layers;  ///< That make them.
  std::string reason;
};

struct CompressedGraph {
  Graph graph;
  std::vector<NodeId> now;  ///< By node of the original.
  std::vector<LayerChange> layers;
  Amounts before, after;
  std::vector<UntouchedChannels> untouched = {};
};

/// Names of layers that no layer has. Errors: kUsage, with the nearest that there is. kUsage also for a share that is
/// not between 0 and 1.
[[nodiscard]] Status check(const CompressOptions& options, const std::vector<Layer>& layers);
[[nodiscard]] bool is_kept(const Layer& layer, const CompressOptions& options);

/// The part `share` of `count`, rounded down.
[[nodiscard]] std::int64_t part_of(std::int64_t count, double share);

/// Fills in all that is counted. `now`: by node of `before`.
[[nodiscard]] CompressedGraph with_amounts(const Graph& before, Graph after, std::vector<NodeId> now,
                                           const std::vector<Layer>& layers);

}  // namespace rewright::compress
