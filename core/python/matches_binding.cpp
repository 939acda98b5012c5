// rewright.matches, rewright.apply: single steps of rewriting.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "python/bindings.h"
#include "rewrite/rule_matches.h"

namespace rewright::python {
namespace {

using SharedGraph = std::shared_ptr<OwnedGraph>;

/// A match of a rule in a graph, which it keeps alive.
struct Match {
  std::shared_ptr<const OwnedRule> rule;
  SharedGraph graph;
  RuleMatch match;
};

std::vector<Match> matches_of(const OwnedRule& rule, const SharedGraph& graph) {
  const auto kept = std::make_shared<const OwnedRule>(rule);
  std::vector<Match> matches;
  for (RuleMatch& match : value_of(find_matches(rule.rule, graph->graph)))
    matches.push_back({kept, graph, std::move(match)});
  return matches;
}

OwnedGraph apply(const OwnedRule& rule, const SharedGraph& graph, const Match& match) {
  return {graph->plugins, value_of(apply_match(rule.rule, graph->graph, match.match)), nullptr};
}

}  // namespace

void bind_matches(py::module_& module) {
  py::class_<Match>(module, "Match", "A place in a graph where a rule applies.")
      .def_property_readonly(
          "nodes",
          [](const Match& match) {
            std::vector<NodeHandle> nodes;
            for (const NodeId id : match.match.nodes) nodes.push_back({match.graph, id});
            return nodes;
          },
          "The graph's nodes that the rule's source stands for, in the source's order.")
      .def_property_readonly(
          "inputs",
          [](const Match& match) {
            std::map<std::string, TensorHandle> inputs;
            for (std::size_t i = 0; i < match.match.inputs.size(); ++i)
              inputs.emplace(match.rule->rule.inputs[i].name,
                             TensorHandle{match.match.inputs[i], match.graph->graph.type(match.match.inputs[i])});
            return inputs;
          },
          "The graph's tensors, by the names of the rule's inputs.")
      .def("__eq__",
           [](const Match& a, const Match& b) {
             return a.graph == b.graph && a.rule->rule.id == b.rule->rule.id && a.match == b.match;
           })
      .def("__repr__", [](const Match& match) {
        std::vector<std::uint32_t> nodes;
        for (const NodeId id : match.match.nodes) nodes.push_back(id.value);
        return fmt::format("<rewright.Match of {} at nodes {}>", match.rule->rule.name, fmt::join(nodes, ", "));
      });

  module.def(
      "matches", &matches_of, py::arg("rule"), py::arg("graph"),
      "Every place where the rule can be applied, in an order that depends on both alone. The rule and the graph "
      "are of the same plugins. Raises Error ('unsupported') for a rule that never matches, and says why.");
  module.def("apply", &apply, py::arg("rule"), py::arg("graph"), py::arg("match"),
             "The graph with the match replaced by the rule's target; the graph itself stays. Nothing is compared: a "
             "rule that is wrong gives a graph that is. Raises Error ('mismatch') for a match of another graph.");
}

}  // namespace rewright::python
