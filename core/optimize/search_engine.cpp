#include <rewright/optimize/search.h>

#include <utility>

#include "optimize/engine_content.h"
#include "optimize/search_space.h"

namespace rewright {

SearchEngine::SearchEngine(std::vector<Rule> rules, GraphCost& cost)
    : content_(std::make_unique<SearchEngineContent>(std::move(rules), cost)) {}
SearchEngine::~SearchEngine() = default;

std::span<const Rule> SearchEngine::rules() const { return content_->rules.rules(); }

std::vector<std::string> SearchEngine::unusable() const {
  std::vector<std::string> sentences;
  for (const RuleSet::Unusable& rule : content_->rules.unusable()) sentences.push_back(rule.reason);
  return sentences;
}

std::vector<RefusedRule> SearchEngine::refused() const {
  const std::scoped_lock lock(content_->refused_mutex);
  std::vector<RefusedRule> list;
  for (const auto& [rule, refused] : content_->refused) list.push_back(refused);
  return list;
}

Result<double> SearchEngine::cost_us(const Graph& graph) { return content_->cost.cost_us(graph); }

Result<std::unique_ptr<SearchSpace>> SearchEngine::open(const Graph& start) {
  auto content = std::make_unique<SearchSpace::Content>(*content_, start);
  REWRIGHT_CHECK(content->enter_start());
  return std::unique_ptr<SearchSpace>(new SearchSpace(std::move(content)));
}

}  // namespace rewright
