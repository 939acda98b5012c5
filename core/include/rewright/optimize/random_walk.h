// Random walks over graphs, for strategies that take one move after the other.
#pragma once

#include <rewright/base/mixing.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/search.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace rewright {

/// A walk from graph to graph by moves that are drawn at random. It keeps the way to where it is and to the best, and
/// little else: once much has piled up it goes on in a fresh space.
class REWRIGHT_API RandomWalk {
 public:
  /// Nodes of a space, some hundred bytes each, after which the walk goes on in a fresh one.
  static constexpr std::size_t kMostNodes = 1'000'000;
  /// Borrows the problem.
  [[nodiscard]] static Result<RandomWalk> begin(const SearchProblem& problem, std::size_t most_nodes = kMostNodes);

  [[nodiscard]] SearchRun& run() { return *run_; }
  [[nodiscard]] double cost_us() const { return space_->cost_us(at_); }
  /// Draws a move, each with the same chance, and takes it if `accept` says so of its graph's cost. False where no rule
  /// matches.
  [[nodiscard]] Result<bool> propose(Random& random, const std::function<bool(double)>& accept);
  /// Goes back to the best so far.
  Status back_to_best();
  Status back_to_start() { return open(problem_->start, {}); }
  [[nodiscard]] Result<SearchResult> finish();

 private:
  RandomWalk(const SearchProblem& problem, std::size_t most_nodes) : problem_(&problem), most_nodes_(most_nodes) {}
  Status open(Graph start, std::vector<RewriteStep> way);
  Status take(std::size_t move);
  [[nodiscard]] Result<std::vector<RewriteStep>> way_to(SearchSpace::State state) const;

  const SearchProblem* problem_;
  std::size_t most_nodes_;
  std::unique_ptr<SearchRun> run_;
  std::unique_ptr<Graph> start_;  ///< Of the space.
  std::vector<RewriteStep> way_;  ///< To the space's start.
  std::unique_ptr<SearchSpace> space_;
  SearchSpace::State at_ = SearchSpace::kStart;
  std::size_t length_ = 0;  ///< Of the way to where the walk is.
  bool best_is_here_ = true;
  SearchSpace::State best_ = SearchSpace::kStart;  ///< Where it is here.
  std::size_t best_length_ = 0;
  std::vector<RewriteStep> best_way_;  ///< Where it is not.
};

}  // namespace rewright
