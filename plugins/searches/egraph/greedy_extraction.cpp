#include <limits>

#include "extraction.h"

namespace rewright::egraph_search {

Selection choose_greedily(const ProgramEGraph& egraph) {
  const auto choices = egraph.choices();
  std::vector<double> cost(egraph.class_count(), std::numeric_limits<double>::infinity());
  Selection selection(egraph.class_count(), -1);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      double total = choices[i].cost_us;
      for (const ProgramEGraph::Class operand : choices[i].operands) total += cost[operand];
      for (const ProgramEGraph::Class given : choices[i].outputs) {
        if (!cheaper(total, cost[given]) && !(selection[given] < 0 && total < cost[given])) continue;
        cost[given] = total;
        selection[given] = static_cast<std::int32_t>(i);
        changed = true;
      }
    }
  }
  return selection;
}

}  // namespace rewright::egraph_search
