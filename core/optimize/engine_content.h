// What the spaces of one optimisation share.
#pragma once

#include <rewright/optimize/search.h>

#include <map>
#include <mutex>
#include <string>

#include "rewrite/node_pool.h"
#include "rewrite/rule_set.h"

namespace rewright {

struct SearchEngineContent {
  SearchEngineContent(std::vector<Rule> rule_list, GraphCost& graph_cost)
      : rules(std::move(rule_list)), cost(graph_cost) {}

  void refuse(std::size_t rule, const std::string& reason);

  RuleSet rules;
  GraphCost& cost;
  std::mutex refused_mutex;
  std::map<std::size_t, RefusedRule> refused;  ///< By rule.
};

}  // namespace rewright
