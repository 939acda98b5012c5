// A graph as calls of kernels over its tensors, each of a group of nodes (compile/grouping.h). Equal kernels, by key
// and element types, share one function.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>
#include <rewright/schedule/transform.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compile/sparse_parts.h"
#include "onnx/imported_model.h"

namespace rewright::compile {

/// Larger programs are not walked iteration by iteration when they are validated.
inline constexpr std::int64_t kWalkedSteps = 200'000;

/// How a function has a weight: as it is, its elements at other places (schedule/transform.h, pack), or a part of what
/// is left of it without zeros.
struct WeightForm {
  std::vector<schedule::LayoutPart> parts = {};
  std::optional<SparsePart> sparse = {};
  [[nodiscard]] bool is_plain() const { return parts.empty() && !sparse; }
  friend bool operator==(const WeightForm&, const WeightForm&) = default;
};

/// One kernel of the graph.
struct KernelCall {
  std::size_t function = 0;
  std::vector<std::optional<Port>> tensors;  ///< By buffer of the function; none: a temporary of its own.
  std::vector<WeightForm> forms = {};        ///< By buffer, or empty: how the function has a weight.
  std::string key = {};  ///< Of its operators (optimize/cost_key.h); empty: it is of a carried node, or copies.
};

/// A node that has no loops, and why.
struct NotCompiled {
  std::string node;
  std::string reason;
};

struct Kernels {
  std::vector<loop::NamedProgram> functions;  ///< Called after operators and the key: "conv2d_relu_5f0c3a9be1d2".
  std::vector<KernelCall> calls;              ///< In an order in which what is read was written.
  std::vector<NotCompiled> not_compiled;      ///< There is no call where there is one.
  int threads = 1;                            ///< That parallel loops are for.

  [[nodiscard]] const loop::Program& program(const KernelCall& call) const { return functions[call.function].program; }
};

/// `carried`: why nodes have no operator, as the import said it. `external`: weights whose values lie in files.
/// `registry` reads bodies of nodes; null: none is read. `stored`: results that are in memory, even where their reader
/// could join what makes them. Errors: kInternal, a definition that cannot be lowered or is refused by the validator,
/// with the node.
[[nodiscard]] REWRIGHT_API Result<Kernels> kernels_of(const Graph& graph, std::span<const CarriedNode> carried = {},
                                                      const std::map<std::string, ExternalWeight>& external = {},
                                                      const Registry* registry = nullptr,
                                                      const std::set<Port>& stored = {});

}  // namespace rewright::compile
