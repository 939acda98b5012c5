#include <rewright/base/mixing.h>
#include <rewright/optimize/random_walk.h>

#include <algorithm>
#include <utility>

namespace rewright {
namespace {

/// Rewrites beyond the best's, after which the walk goes back to it; and from the start, as each holds a graph.
constexpr std::size_t kLongestWay = 1'000, kMostRewrites = 4'000;

}  // namespace

Result<RandomWalk> RandomWalk::begin(const SearchProblem& problem, std::size_t most_nodes) {
  RandomWalk walk(problem, most_nodes);
  REWRIGHT_CHECK(walk.open(problem.start, {}));
  walk.run_ = std::make_unique<SearchRun>(problem, walk.cost_us());
  return walk;
}

Status RandomWalk::open(Graph start, std::vector<RewriteStep> way) {
  if (space_ != nullptr && best_is_here_) {
    REWRIGHT_TRY(best_way_, way_to(best_));
    best_is_here_ = false;
  }
  auto held = std::make_unique<Graph>(std::move(start));
  REWRIGHT_TRY(space_, problem_->engine.open(*held));
  start_ = std::move(held);
  way_ = std::move(way);
  at_ = SearchSpace::kStart;
  length_ = way_.size();
  return {};
}

Result<bool> RandomWalk::propose(Random& random, const std::function<bool(double)>& accept) {
  const std::size_t moves = space_->move_count(at_);
  if (moves == 0) return false;
  const std::size_t move = random.below(moves);
  REWRIGHT_TRY(const SearchSpace::Look look, space_->look(at_, move));
  if (!look.possible) return true;
  static_cast<void>(run_->candidate());
  if (accept(look.cost_us)) {
    REWRIGHT_CHECK(take(move));
  }
  return true;
}

Status RandomWalk::take(std::size_t move) {
  REWRIGHT_TRY(const auto state, space_->enter(at_, move));
  at_ = *state;
  ++length_;
  if (run_->offer(at_, cost_us())) best_is_here_ = true, best_ = at_, best_length_ = length_;
  if (length_ > std::min(best_length_ + kLongestWay, kMostRewrites)) return back_to_best();
  if (space_->node_count() < most_nodes_) return {};
  REWRIGHT_TRY(std::vector<RewriteStep> way, way_to(at_));
  REWRIGHT_TRY(Graph graph, space_->graph(at_));
  return open(std::move(graph), std::move(way));
}

Status RandomWalk::back_to_best() {
  if (best_is_here_) {
    at_ = best_;
    length_ = best_length_;
    return {};
  }
  return open(best_way_.empty() ? problem_->start : best_way_.back().graph, best_way_);
}

Result<std::vector<RewriteStep>> RandomWalk::way_to(SearchSpace::State state) const {
  std::vector<RewriteStep> way = way_;
  REWRIGHT_TRY(std::vector<RewriteStep> here, space_->path(state));
  for (RewriteStep& step : here) way.push_back(std::move(step));
  return way;
}

Result<SearchResult> RandomWalk::finish() {
  if (!run_->is_useful()) return run_->finish(std::vector<RewriteStep>());
  if (best_is_here_) {
    REWRIGHT_TRY(best_way_, way_to(best_));
  }
  return run_->finish(std::move(best_way_));
}

}  // namespace rewright
