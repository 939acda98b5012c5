// What a cost model is asked about a node that no operator knows.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>

#include <string>
#include <vector>

namespace rewright {

struct OpaqueQuestion {
  std::vector<TensorType> in;
  std::vector<TensorType> out;
  std::string model;                  ///< The node as a model of its own, operands that are known being its weights.
  std::vector<RuntimeTensor> inputs;  ///< One for each of the others.
  std::string key;                    ///< For caches.
};

/// The branches of an If, the body of a Loop or a Scan.
[[nodiscard]] bool has_graphs(const OpaqueNode& node);

/// `runs`: with the model and its inputs. Errors: kUnsupported where the node cannot be a model of its own.
[[nodiscard]] Result<OpaqueQuestion> opaque_question(const Graph& graph, NodeId node, bool runs);

}  // namespace rewright
