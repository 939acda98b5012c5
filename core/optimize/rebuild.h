// A graph made anew, node by node, with some of its nodes made otherwise.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>

#include <functional>
#include <memory>
#include <vector>

namespace rewright {

/// Makes an application of the old graph in the new one from its new operands; gives as many ports as it had.
using RemakeApplication = std::function<Result<std::vector<Port>>(GraphBuilder&, NodeId, std::vector<Port>)>;
/// Gives the new value of an input.
using RemakeConstant = std::function<Result<std::shared_ptr<const ConstantData>>(const Node&)>;

/// Empty functions copy. Inputs and outputs keep their order and names; opaque nodes are copied.
[[nodiscard]] Result<Graph> rebuild(const Graph& graph, const RemakeApplication& application,
                                    const RemakeConstant& constant = {});

}  // namespace rewright
