// Other ways to compute a convolution or an attention, by name, for single nodes of a graph: equations of
// axioms/algorithms.smt2, and kernels of the same node.
//
//   direct          channels first: a vector along a row of the image, weights as they are
//   packed          channels last: a vector of channels, weights in panels
//   im2col          one product of matrices: im2col_matmul(im2col(pad(x)), w), of one group
//   winograd-2, -4  of 3 x 3 taps, stride 1, one group, by tiles of 2 x 2 and 4 x 4 outputs:
//                   slice(winograd_output(broadcast_matmul(winograd_input(pad(x)), winograd_weight(w))))
//   sparse          direct, without what is multiplied with 0: of weights with more zeros than other numbers
//   sparse-im2col   both (compile/sparse_weights.h)
//   tiles           of a softmax's product with values: by tiles of keys (compile/attention_tiles.h)
//
// What depends on weights alone is computed before (known_weights.h). Results differ in their last digits: sums are
// taken in another order, and by the factors of Winograd's transforms some digits are lost (Lavin & Gray, CVPR 2016).
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/imported_model.h"

namespace rewright::compile {

/// What is asked of a kernel that multiplies with a weight.
struct WeightWish {
  enum class Layout : std::uint8_t { kAny, kChannelsFirst, kChannelsLast };
  Layout layout = Layout::kAny;               ///< Of images that it reads and writes.
  std::optional<std::int64_t> elements = {};  ///< Zeros are to be left out: so many others there are.
  friend bool operator==(const WeightWish&, const WeightWish&) = default;
};
using WeightWishes = std::map<Port, WeightWish>;

/// Weights that a model keeps in a file beside it, by name: what they are is read where it is asked.
using ExternalWeights = std::map<std::string, ExternalWeight>;
/// Names of algorithms, by names of nodes.
using Algorithms = std::map<std::string, std::string>;

[[nodiscard]] REWRIGHT_API const std::vector<std::string>& algorithm_names();

/// Elements that are not 0 of a weight of float32 numbers that is known; nothing for others.
[[nodiscard]] REWRIGHT_API std::optional<std::int64_t> nonzeros_of(const Graph& graph, Port port,
                                                                   const ExternalWeights& external = {});

/// Named applications that an algorithm fits.
[[nodiscard]] REWRIGHT_API std::vector<std::string> nodes_for(std::string_view algorithm, const Graph& graph,
                                                              const ExternalWeights& external = {});

/// Names of other nodes that are gone when a node is computed so.
[[nodiscard]] REWRIGHT_API std::vector<std::string> nodes_within(std::string_view algorithm, const Graph& graph,
                                                                 const std::string& name);

/// The graph with these nodes computed so. New nodes are called after the node, a slash and what they do, but the last,
/// which has its name. Errors: kUsage, a node that is not there, or that the algorithm does not fit; kNotFound, an
/// operator that is not loaded.
[[nodiscard]] REWRIGHT_API Result<Graph> with_algorithms(const Graph& graph, const Algorithms& algorithms,
                                                         const Registry& registry,
                                                         const ExternalWeights& external = {});

/// Of a graph made with the algorithms: what scheduled() is asked for, and what is to be stored, as a kernel that
/// joined what follows would be a convolution again.
[[nodiscard]] REWRIGHT_API WeightWishes weight_wishes(const Graph& graph, const Algorithms& algorithms,
                                                      const ExternalWeights& external = {});
[[nodiscard]] REWRIGHT_API std::set<Port> stored_windows(const Graph& graph);

}  // namespace rewright::compile
