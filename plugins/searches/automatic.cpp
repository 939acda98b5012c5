/// A portfolio: several searches take turns, each with a slice of looks that doubles, until none finds more.
///
///   best = start
///   repeat: each member searches from the start and, where that is another graph, from the best so far
///           best = the cheapest of all that was found; the slice doubles, and with it the share of who found it
///   until `patience` rounds in a row found nothing better and `least` graphs were looked at, or every member came to
///   its end; one that came to its end from the start does not begin there again
///
/// No strategy is good on all graphs: steepest descent stops at the first plateau, a queue fills with graphs of equal
/// cost, an e-graph grows past its limits. What one finds is where the others go on.
///
/// A step   one round.
/// Options  slice (1000): graphs that a member looks at in the first round, and at least as many as there are moves at
///          the start; patience (2): rounds without gain after which the search ends, once it looked at least (400000)
///          graphs; as many times fewer as the start has more than 100 operators.
/// Order    Members have one order and slices are counted in graphs, so that the result depends neither on threads nor
///          on time.
/// Source   Huberman, Lukose, Hogg: An Economics Approach to Hard Computational Problems, Science 275, 1997
/// (portfolios);
///          Luby, Sinclair, Zuckerman: Optimal Speedup of Las Vegas Algorithms, 1993 (slices that grow).
#include <rewright/base/mixing.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace {
using namespace rewright;

/// A strategy of the portfolio, and how much of a slice it gets: an e-graph takes far longer for a match than a walk
/// for a look.
struct Member {
  const char* name;
  double share;
  Options options = {};
};

std::vector<Member> members() {
  return {{"greedy", 64},  // It ends by itself, soon.
          {"backtracking", 1},  {"beam", 1},
          {"mcts", 0.5},        {"sampling", 0.5},
          {"annealing", 0.25}, {"egraph", 0.25, {{"exact", std::int64_t{0}}, {"applications", std::int64_t{4000}}}}};
}

/// A member on a graph.
struct Part {
  std::unique_ptr<SearchStrategy> strategy;
  std::size_t member;
  bool from_best;  ///< Or from the start.
  std::uint64_t candidates;
};

class Run {
 public:
  explicit Run(const SearchProblem& problem) : problem_(problem) {}

  Result<SearchResult> run(double slice, int patience, double least) {
    REWRIGHT_CHECK(begin(slice));
    const auto operators = static_cast<double>(problem_.start.operator_count());
    least *= std::min(1.0, kFewOperators / std::max(operators, 1.0));
    int without_gain = 0;
    while ((without_gain < patience || static_cast<double>(result_.candidates) < least) && goes_on()) {
      const double before_us = result_.cost_after_us;
      const std::uint64_t before = result_.candidates;
      REWRIGHT_TRY(const bool all_ended, round());
      ++result_.steps;
      const bool has_gained = cheaper(result_.cost_after_us, before_us);
      without_gain = has_gained ? 0 : without_gain + 1;
      if (result_.candidates == before || (all_ended && !has_gained)) break;
      slice_ *= 2;
    }
    return std::move(result_);
  }

 private:
  Status begin(double slice) {
    REWRIGHT_TRY(const auto space, problem_.engine.open(problem_.start));
    result_.best = problem_.start;
    result_.cost_before_us = result_.cost_after_us = space->cost_us(SearchSpace::kStart);
    result_.curve = {{0, 0, 0, result_.cost_before_us}};
    slice_ = std::max(slice, static_cast<double>(space->move_count(SearchSpace::kStart)));
    for (Member& member : members()) {
      const SearchStrategy* known =
          problem_.registry == nullptr ? nullptr : problem_.registry->find<SearchStrategy>(member.name);
      if (known == nullptr) continue;
      members_.push_back(std::move(member));
    }
    if (members_.empty())
      return make_error(
          ErrorCode::kNotFound,
          "search auto has no other search to use: none of greedy, backtracking, beam, mcts, annealing, sampling and "
          "egraph is loaded");
    has_ended_.assign(members_.size(), false);
    weight_.assign(members_.size(), 1);
    return {};
  }

  [[nodiscard]] bool goes_on() const {
    return !result_.stopped_early && result_.steps < problem_.steps &&
           (problem_.candidates == 0 || result_.candidates < problem_.candidates);
  }

  [[nodiscard]] Result<std::vector<Part>> parts() const {
    std::vector<Part> parts;
    for (const bool from_best : {false, true}) {
      if (from_best && result_.path.empty()) break;
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (!from_best && has_ended_[i]) continue;
        REWRIGHT_TRY(const SearchStrategy* known, problem_.registry->get<SearchStrategy>(members_[i].name));
        const double candidates = slice_ * members_[i].share * weight_[i];
        Part part{known->clone(), i, from_best, static_cast<std::uint64_t>(candidates) + 1};
        REWRIGHT_CHECK(part.strategy->configure(members_[i].options));
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }

  /// True where every member came to its end before that of its slice.
  Result<bool> round() {
    REWRIGHT_TRY(std::vector<Part> all, parts());
    limit(all);
    const Graph best = result_.best;
    const std::vector<RewriteStep> path = result_.path;
    std::vector<const Graph*> starts;
    for (const Part& part : all) starts.push_back(part.from_best ? &best : &problem_.start);
    const SearchProblem batch = batch_problem();
    const auto search = [&](const SearchProblem& given, std::size_t i) {
      SearchProblem part = given;
      part.steps = part.candidates = all[i].candidates;  // Walks whose moves are all refused look at nothing.
      return all[i].strategy->run(part);
    };
    REWRIGHT_TRY(std::vector<SearchResult> found, search_side_by_side(batch, starts, false, search));
    bool all_ended = true;
    std::vector<double> reached_us(members_.size(), result_.cost_after_us);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool has_ended = found[i].candidates < all[i].candidates && found[i].steps < all[i].candidates;
      all_ended = all_ended && has_ended;
      if (!all[i].from_best) has_ended_[all[i].member] = has_ended;
      double& reached = reached_us[all[i].member];
      reached = std::min(reached, found[i].cost_after_us);
      take(std::move(found[i]), all[i].from_best ? path : std::vector<RewriteStep>());
    }
    reward(reached_us);
    return all_ended;
  }

  /// Who found the cheapest graph of a round looks at twice as many in the next, the others at fewer; unless it came to
  /// its end, and finds no more with twice as many.
  void reward(const std::vector<double>& reached_us) {
    const auto [best, worst] = std::ranges::minmax(reached_us);
    if (!cheaper(best, worst)) return;
    const auto is_best_one = [&](std::size_t i) { return !cheaper(best, reached_us[i]); };
    bool goes_on = false;
    for (std::size_t i = 0; i < weight_.size(); ++i) goes_on = goes_on || (is_best_one(i) && !has_ended_[i]);
    if (!goes_on) return;
    for (std::size_t i = 0; i < weight_.size(); ++i) {
      const bool is_best = is_best_one(i);
      weight_[i] = is_best ? std::min(kMostWeight, 2 * weight_[i]) : std::max(kLeastWeight, weight_[i] / 2);
    }
  }

  /// To an equal share at most of what is left of the candidates, so that a member that asks for many leaves the others
  /// theirs.
  void limit(std::vector<Part>& all) const {
    if (problem_.candidates == 0) return;
    std::uint64_t left = problem_.candidates - result_.candidates;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].candidates =
          std::min(all[i].candidates, std::max<std::uint64_t>(left / (all.size() - i), left > 0 ? 1 : 0));
      left -= all[i].candidates;
    }
    std::erase_if(all, [](const Part& part) { return part.candidates == 0; });
  }

  [[nodiscard]] SearchProblem batch_problem() const {
    SearchProblem batch = problem_;
    batch.steps = kUnlimited;
    batch.candidates = 0;
    batch.seed = mix(problem_.seed + result_.steps);
    batch.worthless_us = result_.cost_after_us;
    if (problem_.progress) {
      batch.progress = [this](std::uint64_t, std::uint64_t candidates, double best_us) {
        return problem_.progress(result_.steps, result_.candidates + candidates,
                                 std::min(best_us, result_.cost_after_us));
      };
    }
    return batch;
  }

  /// `path`: from the problem's start to the graph that the part began with.
  void take(SearchResult&& found, std::vector<RewriteStep> path) {
    for (CurvePoint point : found.curve) {
      if (!cheaper(point.best_us, result_.curve.back().best_us)) continue;
      point.steps = result_.steps, point.candidates += result_.candidates, point.seconds += seconds_;
      result_.curve.push_back(point);
    }
    if (!found.curve.empty()) seconds_ += found.curve.back().seconds;
    result_.candidates += found.candidates;
    result_.stopped_early = result_.stopped_early || found.stopped_early;
    if (!cheaper(found.cost_after_us, result_.cost_after_us)) return;
    result_.cost_after_us = found.cost_after_us;
    result_.path = std::move(path);
    for (RewriteStep& step : found.path) result_.path.push_back(std::move(step));
    result_.best = std::move(found.best);
  }

  static constexpr double kMostWeight = 4, kLeastWeight = 0.25;
  static constexpr double kFewOperators = 100;
  static constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;
  const SearchProblem& problem_;
  std::vector<Member> members_;
  std::vector<bool> has_ended_;  ///< From the start: by member.
  std::vector<double> weight_;   ///< By member: what its share is multiplied by.
  SearchResult result_;
  double slice_ = 0;
  double seconds_ = 0;
};

class Automatic final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "auto"; }
  [[nodiscard]] std::string summary() const override {
    return "The other searches in turn, with slices that double, until none finds more; a step is a round";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"slice", &slice_, 1, 1e9, "graphs that each search looks at in the first round"},
            {"patience", &patience_, 1, 1e3, "rounds without gain after which the search ends"},
            {"least", &least_, 0, 1e12, "graphs that it looks at before that, fewer from 100 operators on"}};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    return Run(problem).run(slice_, static_cast<int>(patience_), least_);
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Automatic>(*this); }

 private:
  double slice_ = 1'000;
  double patience_ = 2;
  double least_ = 400'000;
};

}  // namespace

REWRIGHT_PLUGIN("search.auto", "1.0.0", "A portfolio of the other searches") {
  registry.add<SearchStrategy>(std::make_unique<Automatic>());
}
