// A graph as kernels: each a loop program over tensors of the graph.
//
// A node joins its producer where the two definitions say that nothing need be stored between them
// (loop/composition.h): the producer has one result, this node alone reads it, and inlining leaves no buffer for it. No
// operator is known by name.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/loop/loop_program.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/imported_model.h"

namespace rewright::compile {

/// A program and what its buffers are. Those that are no port's are temporaries of its own.
struct Kernel {
  std::string name;  ///< A word: "k3_conv2d_relu".
  loop::Program program;
  std::vector<std::optional<Port>> tensors;  ///< One for each buffer.
};

/// A node that has no loops, and why.
struct NotCompiled {
  std::string node;
  std::string reason;
};

struct Kernels {
  std::vector<Kernel> kernels;            ///< In an order in which what is read was written.
  std::vector<NotCompiled> not_compiled;  ///< Kernels are none where there is one.
};

/// `carried`: why nodes have no operator, as the import said it. `external`: weights whose values lie in files. Errors:
/// kInternal, a definition that cannot be lowered or is refused by the validator, with the node.
[[nodiscard]] REWRIGHT_API Result<Kernels> kernels_of(const Graph& graph, std::span<const CarriedNode> carried = {},
                                                      const std::map<std::string, ExternalWeight>& external = {});

}  // namespace rewright::compile
