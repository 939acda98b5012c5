// Layers: applications that add up products with a constant, as convolutions and products of matrices do.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compress/resized.h"

namespace rewright::compress {

/// By node of a graph; nothing where there is no definition.
using Definitions = std::vector<std::optional<DefinedApplication>>;
[[nodiscard]] REWRIGHT_API Definitions definitions_of(const Graph& graph);

/// What a model calls the nodes that applications were read from.
using NodeNames = std::map<NodeId, std::string>;

struct Layer {
  std::string name;  ///< Of the node; of its weight where that has none.
  NodeId node;
  std::size_t operand = 0;  ///< Of the node: what it multiplies by.
  NodeId weight;  ///< The constant, float32 and of two or more dimensions, that the operand is or is moved from.
  std::string weight_name;
  std::vector<std::size_t> axes;  ///< Of the weight, by axis of the operand; empty where they do not correspond.
};
/// In the order of the graph. A weight of several layers occurs several times.
[[nodiscard]] REWRIGHT_API std::vector<Layer> layers_of(const Graph& graph, const Definitions& definitions,
                                                        const NodeNames& names = {});

/// The numbers of a floating-point constant.
[[nodiscard]] std::vector<double> numbers_of(const ConstantData& constant);

}  // namespace rewright::compress
