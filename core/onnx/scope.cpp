#include "onnx/scope.h"

#include <algorithm>

namespace rewright::model {
namespace {

std::vector<std::string> defined_in(const GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const auto& tensor : graph.initializer()) names.push_back(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.push_back(tensor.values().name());
  for (const NodeProto& node : graph.node()) names.insert(names.end(), node.output().begin(), node.output().end());
  return names;
}

/// What `graph` uses and neither it nor `bound` defines goes to `visit`.
void visit_free(const GraphProto& graph, const std::function<void(const std::string&)>& visit) {
  const std::vector<std::string> names = defined_in(graph);
  const std::set<std::string> defined(names.begin(), names.end());
  const auto use = [&](const std::string& name) {
    if (!name.empty() && !defined.contains(name)) visit(name);
  };
  for (const NodeProto& node : graph.node()) {
    for (const std::string& input : node.input()) use(input);
    for_each_subgraph(node, [&](const GraphProto& inner) { visit_free(inner, use); });
  }
  for (const auto& output : graph.output()) use(output.name());
}

void rename_free(GraphProto& graph, std::map<std::string, std::string> renamed) {
  for (const std::string& name : defined_in(graph)) renamed.erase(name);
  if (renamed.empty()) return;
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      if (const auto found = renamed.find(input); found != renamed.end()) input = found->second;
    }
    rename_captures(node, renamed);
  }
  for (auto& output : *graph.mutable_output()) {
    if (const auto found = renamed.find(output.name()); found != renamed.end()) output.set_name(found->second);
  }
}

void collect_inner(const GraphProto& graph, std::vector<std::string>& names) {
  const std::vector<std::string> own = defined_in(graph);
  names.insert(names.end(), own.begin(), own.end());
  for (const NodeProto& node : graph.node()) {
    for_each_subgraph(node, [&](const GraphProto& inner) { collect_inner(inner, names); });
  }
}

}  // namespace

void for_each_subgraph(const NodeProto& node, const std::function<void(const GraphProto&)>& visit) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const GraphProto& graph : attribute.graphs()) visit(graph);
  }
}

std::vector<std::string> captures(const GraphProto& graph) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  visit_free(graph, [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  });
  return names;
}

std::vector<std::string> captures(const NodeProto& node) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for_each_subgraph(node, [&](const GraphProto& graph) {
    for (std::string& name : captures(graph))
      if (seen.insert(name).second) names.push_back(std::move(name));
  });
  return names;
}

std::vector<std::string> inner_names(const GraphProto& graph) {
  std::vector<std::string> names;
  collect_inner(graph, names);
  return names;
}

std::set<std::string> all_names(const GraphProto& graph) {
  const std::vector<std::string> tensors = inner_names(graph);
  std::set<std::string> names(tensors.begin(), tensors.end());
  const std::function<void(const GraphProto&)> add_nodes = [&](const GraphProto& inner) {
    for (const NodeProto& node : inner.node()) {
      names.insert(node.name());
      for_each_subgraph(node, add_nodes);
    }
  };
  add_nodes(graph);
  return names;
}

std::vector<std::string> inner_names(const NodeProto& node) {
  std::vector<std::string> names;
  for_each_subgraph(node, [&](const GraphProto& graph) { collect_inner(graph, names); });
  return names;
}

void rename_captures(NodeProto& node, const std::map<std::string, std::string>& renamed) {
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) rename_free(*attribute.mutable_g(), renamed);
    for (GraphProto& graph : *attribute.mutable_graphs()) rename_free(graph, renamed);
  }
}

}  // namespace rewright::model
