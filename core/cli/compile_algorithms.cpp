// rewright compile --algorithms: by which algorithm a node is computed is decided among the others
//
// The model is built with each algorithm in turn, for all nodes that it fits. A node takes the one with which its
// kernels were fastest there. What comes of that is timed as a whole beside the others.
#include <algorithm>
#include <map>

#include "cli/compile_ways.h"
#include "cli/interrupt.h"
#include "compile/node_algorithms.h"

namespace rewright::cli {
namespace {

const std::string kUsual = "usual";

/// Of the kernels that a node has become, and of those that it has joined. What has no name, as it makes or takes a
/// copy, is for the next that has one.
double node_us(const compile::CompileReport& report, const std::string& name) {
  double us = 0, before = 0;
  for (const compile::KernelTime& time : report.profile) {
    before += time.us;
    if (time.result.empty()) continue;
    if (std::ranges::find(time.nodes, name) != time.nodes.end() || time.result.starts_with(name + "/")) us += before;
    before = 0;
  }
  return us;
}

}  // namespace

Result<Compiled> computed_in_several_ways(const Settings& settings, const CompileArguments& arguments,
                                          Workplace& workplace) {
  REWRIGHT_TRY(const auto ways, SeveralWays::of(settings, arguments, workplace));
  const Graph& graph = ways->graph();
  const auto add = [&](const std::string& name, const compile::Algorithms& algorithms) {
    return ways->add(name, [&](compile::CompileOptions& options) { options.algorithms = algorithms; });
  };
  REWRIGHT_CHECK(add(kUsual, {}));
  const compile::CompileReport usual = ways->last();
  if (!usual.equal()) return Compiled{usual};
  std::vector<std::string> names = arguments.algorithms;
  if (std::ranges::find(names, "all") != names.end()) names = compile::algorithm_names();
  std::map<std::string, NodeAlgorithm> nodes;
  std::vector<std::string> refused;
  for (const std::string& name : names) {
    compile::Algorithms all;
    for (const std::string& node : compile::nodes_for(name, graph)) all[node] = name;
    if (all.empty() || interrupted()) continue;
    REWRIGHT_CHECK(add(name, all));
    const compile::CompileReport& report = ways->last();
    if (!report.equal()) {
      refused.push_back(name);
      continue;
    }
    for (const auto& [node, algorithm] : all) {
      NodeAlgorithm& best = nodes.try_emplace(node).first->second;
      if (best.node.empty()) {
        best.node = node;
        best.algorithm = kUsual;
        best.us = best.usual_us = node_us(usual, node);
      }
      const double us = node_us(report, node);
      if (us < best.us) best.us = us, best.algorithm = name;
    }
  }
  compile::Algorithms chosen;
  for (const auto& [node, best] : nodes) {
    if (best.algorithm != kUsual) chosen[node] = best.algorithm;
  }
  if (!chosen.empty() && !interrupted()) REWRIGHT_CHECK(add("chosen", chosen));
  REWRIGHT_TRY(Compiled compiled, fastest(std::move(*ways).take(), workplace));
  compiled.algorithms.emplace();
  compiled.algorithms->refused = std::move(refused);
  for (auto& [node, best] : nodes) compiled.algorithms->nodes.push_back(std::move(best));
  return compiled;
}

}  // namespace rewright::cli
