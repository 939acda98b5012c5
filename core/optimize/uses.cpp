#include "optimize/uses.h"

#include <algorithm>

namespace rewright {

std::vector<UseRecord> uses_of(const SearchResult& result, const UseRecord& run) {
  std::vector<UseRecord> uses;
  for (const RewriteStep& step : result.path) {
    auto use = std::ranges::find(uses, step.rule_id, &UseRecord::rule);
    if (use == uses.end()) {
      use = uses.insert(uses.end(), run);
      use->rule = step.rule_id;
      use->times = 0;
      use->gain_us = 0;
      use->model_before_us = result.cost_before_us;
      use->model_after_us = result.cost_after_us;
    }
    ++use->times;
    use->gain_us += step.cost_before_us - step.cost_after_us;
  }
  return uses;
}

Status record_uses(const std::string& store, const std::vector<UseRecord>& uses) {
  if (uses.empty()) return {};
  REWRIGHT_TRY(const auto opened, Store::open(store, Store::Mode::kWrite));
  return opened->database().transaction([&]() -> Status {
    REWRIGHT_TRY(SqlStatement known, opened->database().prepare("SELECT 1 FROM rules WHERE id = ?"));
    for (const UseRecord& use : uses) {
      REWRIGHT_TRY(const bool holds, known.query(use.rule));
      if (holds) REWRIGHT_CHECK(opened->add(use));
    }
    return {};
  });
}

}  // namespace rewright
