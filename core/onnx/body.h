// A rewritten body back in the node that it is from.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <string>

#include "onnx/import.h"

namespace rewright {

/// The serialized NodeProto `node`, with the graph of `written`, a model that export_model gave of `body`, in its
/// attribute. Inputs and outputs are as they were; what is used from outside is no tensor of the graph. Errors:
/// kUnsupported where the body needs another opset than the model has.
[[nodiscard]] REWRIGHT_API Result<std::string> with_body(const std::string& node, const ImportedBody& body,
                                                         const std::string& written);
/// What a graph's opaque node stands for once a body in it was rewritten: the node that was `before` is `now`. It takes
/// what it used to take, less what its graphs no longer use. Errors: kInternal.
[[nodiscard]] REWRIGHT_API Result<Graph> with_node(const Graph& graph, const std::string& before,
                                                   const std::string& now);

/// How many nodes there are in the model, bodies that are read with it or not, and those that are carried.
struct Reading {
  std::size_t nodes = 0;
  std::size_t bodies = 0;   ///< That are read.
  std::size_t untyped = 0;  ///< With an output whose type or sizes are not known; not in branches that are not taken.
  std::vector<CarriedNode> carried;
};
[[nodiscard]] REWRIGHT_API Reading reading_of(const ImportedModel& model);

}  // namespace rewright
