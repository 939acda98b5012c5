#include "compile/algorithm_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace rewright::compile {
namespace {

const std::string kUsualWay = "usual";

/// Of the kernels that a node has become, and of those that it has joined. What has no name, as it makes or takes a
/// copy, is for the next that has one.
double node_us(const CompileReport& report, const std::string& name) {
  double us = 0, before = 0;
  for (const KernelTime& time : report.profile) {
    before += time.us;
    if (time.result.empty()) continue;
    if (std::ranges::find(time.nodes, name) != time.nodes.end() || time.result.starts_with(name + "/")) us += before;
    before = 0;
  }
  return us;
}

Status check_algorithm(const std::string& name) {
  const auto& known = algorithm_names();
  if (std::ranges::find(known, name) != known.end()) return {};
  return make_error(ErrorCode::kNotFound, "there is no algorithm '{}'; there are: {}", name, fmt::join(known, ", "));
}

}  // namespace

Result<AlgorithmChoice> choose_algorithms(const ImportedModel& model, std::vector<std::string> names,
                                          const CompileWay& compile) {
  if (std::ranges::find(names, "all") != names.end()) names = algorithm_names();
  for (const std::string& name : names) REWRIGHT_CHECK(check_algorithm(name));
  AlgorithmChoice choice;
  REWRIGHT_TRY(const CompileReport* first, compile(kUsualWay, {}));
  if (first == nullptr || !first->equal()) return choice;
  const CompileReport usual = *first;  // The next way may move it.
  std::map<std::string, NodeAlgorithm> nodes;
  for (const std::string& name : names) {
    Algorithms all;
    for (const std::string& node : nodes_for(name, model.graph, model.external)) all[node] = name;
    if (all.empty()) continue;
    REWRIGHT_TRY(const CompileReport* report, compile(name, all));
    if (report == nullptr) return choice;
    if (!report->equal()) {
      choice.refused.push_back(name);
      continue;
    }
    for (const auto& [node, algorithm] : all) {
      NodeAlgorithm& best = nodes.try_emplace(node).first->second;
      if (best.node.empty()) {
        best.node = node;
        best.algorithm = kUsualWay;
        best.usual_us = node_us(usual, node);
        for (const std::string& other : nodes_within(name, model.graph, node)) best.usual_us += node_us(usual, other);
        best.us = best.usual_us;
      }
      const double us = node_us(*report, node);
      if (us < best.us) best.us = us, best.algorithm = name;
    }
  }
  Algorithms chosen;
  for (const auto& [node, best] : nodes) {
    if (best.algorithm != kUsualWay) chosen[node] = best.algorithm;
  }
  if (!chosen.empty()) REWRIGHT_CHECK(compile("chosen", chosen));
  for (auto& [node, best] : nodes) choice.nodes.push_back(std::move(best));
  return choice;
}

Result<Algorithms> algorithm_of_all(const std::string& algorithm, const ImportedModel& model, const std::string& file) {
  Algorithms algorithms;
  if (algorithm.empty()) return algorithms;
  REWRIGHT_CHECK(check_algorithm(algorithm));
  for (const std::string& node : nodes_for(algorithm, model.graph, model.external)) algorithms[node] = algorithm;
  if (algorithms.empty())
    return make_error(ErrorCode::kUsage, "the algorithm {} fits no node of '{}'; choose another one", algorithm, file);
  return algorithms;
}

}  // namespace rewright::compile
