// Names of tensors in nodes that hold graphs of their own (If, Loop, Scan): which names of the surrounding graph they
// use, and how to give those other names.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace rewright::model {

/// Calls `visit` with each graph in the node's attributes, not with those inside these.
void for_each_subgraph(const NodeProto& node, const std::function<void(const GraphProto&)>& visit);

/// Names that the node's graphs use and do not define, in order of first use, each once.
[[nodiscard]] std::vector<std::string> captures(const NodeProto& node);
/// Every name that the node's graphs define.
[[nodiscard]] REWRIGHT_API std::vector<std::string> inner_names(const NodeProto& node);
/// Gives captured names others, at every depth; names that a graph defines itself stay.
void rename_captures(NodeProto& node, const std::map<std::string, std::string>& renamed);

}  // namespace rewright::model
