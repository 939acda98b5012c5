// A graph node by node again, with other constants and other parameters.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>

#include <map>
#include <memory>
#include <vector>

namespace rewright::compress {

struct Replacements {
  std::map<NodeId, std::shared_ptr<const ConstantData>> constants;  ///< By node of a weight.
  std::map<NodeId, Params> params;                                  ///< By node of an application.
};

struct Rebuilt {
  Graph graph;
  std::vector<NodeId> now;  ///< By node of the original.
};

/// Names stay. Errors: kShape where the operands of an application do not fit.
[[nodiscard]] Result<Rebuilt> rebuild(const Graph& graph, const Replacements& replacements);

}  // namespace rewright::compress
