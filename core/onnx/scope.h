// Names of tensors in nodes that hold graphs of their own (If, Loop, Scan): which names of the surrounding graph they
// use, and how to give those other names.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace rewright::model {

/// Calls `visit` with each graph in the node's attributes, not with those inside these.
void for_each_subgraph(const NodeProto& node, const std::function<void(const GraphProto&)>& visit);

/// Names that the graph uses and does not define, in order of first use, each once.
[[nodiscard]] std::vector<std::string> captures(const GraphProto& graph);
/// The same of all the node's graphs.
[[nodiscard]] std::vector<std::string> captures(const NodeProto& node);
/// Every name that the graph and graphs inside it define.
[[nodiscard]] std::vector<std::string> inner_names(const GraphProto& graph);
/// The same with the names of nodes.
[[nodiscard]] std::set<std::string> all_names(const GraphProto& graph);
/// Every name that the node's graphs define.
[[nodiscard]] REWRIGHT_API std::vector<std::string> inner_names(const NodeProto& node);
/// Gives captured names others, at every depth; names that a graph defines itself stay.
void rename_captures(NodeProto& node, const std::map<std::string, std::string>& renamed);

}  // namespace rewright::model
