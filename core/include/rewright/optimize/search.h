// Search strategies: plugins that walk the graphs which the rules reach, towards a cheaper one.
//
// A search opens a SearchSpace on the graph that it starts from, looks at graphs one rewrite away, enters those that
// it wants to go on from, and keeps account in a SearchRun, which knows the budgets and the best so far.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/options.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/optimize/cost.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// One step from the original towards the result.
struct RewriteStep {
  std::string rule_id;
  std::string rule_name;
  double cost_before_us = 0;
  double cost_after_us = 0;
  Graph graph;  ///< After the step.
};

/// When a search found something better.
struct CurvePoint {
  std::uint64_t steps = 0;
  std::uint64_t candidates = 0;
  double seconds = 0;  ///< Since the search began; the one thing here that differs from run to run.
  double best_us = 0;
};

/// A rule that matched and yet could not be applied: its precondition says less than its target needs.
struct RefusedRule {
  std::string name;
  std::uint64_t times = 0;
  std::string reason;  ///< Of the first time.
};

class ProgramEGraph;
class Registry;
struct SearchEngineContent;

/// The graphs that the rules reach from one graph, as far as a search has entered them. For one thread at a time.
class REWRIGHT_API SearchSpace {
 public:
  using State = std::uint32_t;  ///< A graph that was entered.
  static constexpr State kStart = 0;
  /// What lies behind a move.
  struct Look {
    bool possible = false;  ///< False: the match would make the graph cyclic, or is refused.
    bool known = false;     ///< Only where new graphs are asked for: it was seen before.
    double cost_us = 0;
  };

  ~SearchSpace();
  [[nodiscard]] double cost_us(State state) const;
  /// Where rules match in the graph, in one fixed order.
  [[nodiscard]] std::size_t move_count(State state);
  /// The position of the move's rule among SearchEngine::rules().
  [[nodiscard]] std::size_t rule_of(State state, std::size_t move) const;

  /// Errors: of the cost model.
  [[nodiscard]] Result<Look> look(State from, std::size_t move);
  /// The same, and remembers the graph: two that differ in names, in node order or in the order of a commutative
  /// operator's operands only are one. A graph is known only if it was compared with the one seen before, in full.
  [[nodiscard]] Result<Look> look_for_new(State from, std::size_t move);
  /// Nothing where the move is not possible.
  [[nodiscard]] Result<std::optional<State>> enter(State from, std::size_t move);

  [[nodiscard]] Result<Graph> graph(State state) const;
  /// The rewrites from the start to the state; a graph that comes twice on the way is come by once.
  [[nodiscard]] Result<std::vector<RewriteStep>> path(State state) const;
  /// How much is kept: nodes of all graphs, those that graphs share once.
  [[nodiscard]] std::size_t node_count() const;

 private:
  friend class SearchEngine;
  struct Content;
  explicit SearchSpace(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

/// What all spaces of an optimisation share: rules, costs, an account of refused matches. For several threads.
class REWRIGHT_API SearchEngine {
 public:
  /// `cost` must outlive the engine.
  SearchEngine(std::vector<Rule> rules, GraphCost& cost);
  ~SearchEngine();

  [[nodiscard]] std::span<const Rule> rules() const;
  /// Sentences: rules that can never be applied.
  [[nodiscard]] std::vector<std::string> unusable() const;
  [[nodiscard]] std::vector<RefusedRule> refused() const;

  /// `start` must outlive the space. Errors: of the cost model.
  [[nodiscard]] Result<std::unique_ptr<SearchSpace>> open(const Graph& start);
  [[nodiscard]] Result<double> cost_us(const Graph& graph);

 private:
  friend class SearchSpace;
  friend class ProgramEGraph;
  std::unique_ptr<SearchEngineContent> content_;
};

struct SearchProblem {
  const Graph& start;
  SearchEngine& engine;
  std::uint64_t steps = 1000;    ///< At most; what a step is, the strategy says.
  std::uint64_t candidates = 0;  ///< Graphs looked at, at most; 0: any number.
  std::uint64_t seed = 1;
  int threads = 1;  ///< No result depends on it.
  /// Called at each step and now and then with (steps done, candidates seen, best cost); false ends the search early.
  std::function<bool(std::uint64_t, std::uint64_t, double)> progress = {};
  const Registry* registry = nullptr;  ///< For strategies that use others; null: there are none.
  /// A result that is not cheaper is of no use, and may be given as if nothing was found.
  double worthless_us = std::numeric_limits<double>::infinity();
};

struct SearchResult {
  Graph best;
  double cost_before_us = 0;
  double cost_after_us = 0;
  std::vector<RewriteStep> path;  ///< From the start to `best`.
  std::vector<CurvePoint> curve;  ///< The first is the start.
  std::uint64_t steps = 0;
  std::uint64_t candidates = 0;  ///< Graphs made by applying a rule.
  bool stopped_early = false;
  std::string note;  ///< What a person should know: a limit that was reached, a part that was not searched.
};

/// One search's account: budgets, the best so far, its curve.
class REWRIGHT_API SearchRun {
 public:
  /// Borrows the problem.
  explicit SearchRun(const SearchProblem& problem, double start_us);
  ~SearchRun();

  /// Begins a step; false: there is none left, or the search was stopped.
  [[nodiscard]] bool step();
  /// Counts a graph that was looked at; false: it was the last, or the search was stopped.
  [[nodiscard]] bool candidate();
  /// True where the state is the best so far. Costs that differ by less than the sum's rounding are equal.
  bool offer(SearchSpace::State state, double cost_us);
  /// Can anything be done yet?
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] double best_us() const { return best_us_; }
  /// Is the best worth the way to it?
  [[nodiscard]] bool is_useful() const { return best_us_ < problem_.worthless_us; }
  [[nodiscard]] SearchSpace::State best() const { return best_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }

  /// The result, with the path to the best in `space`.
  [[nodiscard]] Result<SearchResult> finish(const SearchSpace& space);
  /// The same where the path to the best was kept otherwise.
  [[nodiscard]] Result<SearchResult> finish(std::vector<RewriteStep> path);

 private:
  bool report();

  const SearchProblem& problem_;
  std::uint64_t steps_ = 0;
  std::uint64_t candidates_ = 0;
  double best_us_;
  SearchSpace::State best_ = SearchSpace::kStart;
  bool over_ = false;
  bool stopped_ = false;
  std::vector<CurvePoint> curve_;
  std::int64_t began_ns_;
};

/// Is the first cost lower, and not by rounding alone?
[[nodiscard]] constexpr bool cheaper(double a_us, double b_us) { return a_us < b_us - 1e-7; }

using SearchPart = std::function<Result<SearchResult>(const SearchProblem& part, std::size_t position)>;
/// Runs `starts.size()` searches on the problem's threads, each with its share of the budgets and a seed of its own.
/// `sum_costs`: they are parts of one graph, so that their best costs add up; otherwise the least counts.
[[nodiscard]] REWRIGHT_API Result<std::vector<SearchResult>> search_side_by_side(const SearchProblem& problem,
                                                                                 std::span<const Graph* const> starts,
                                                                                 bool sum_costs,
                                                                                 const SearchPart& search);

/// Of several searches from one start: the cheapest result, the first of equal ones. Steps and candidates are those of
/// all, and the curve is what it would be had they run one after the other.
[[nodiscard]] REWRIGHT_API SearchResult best_of(std::vector<SearchResult> results);

/// A number that a strategy can be told; yes and no are 1 and 0.
struct SearchOption {
  std::string name;
  double* value;  ///< Of the strategy; holds the default at first.
  double least;
  double most;
  std::string meaning;
};

class SearchStrategy;
template <>
inline constexpr std::uint32_t kAbiVersion<SearchStrategy> = 7;

class REWRIGHT_API SearchStrategy {
 public:
  virtual ~SearchStrategy();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  [[nodiscard]] virtual std::vector<SearchOption> options() { return {}; }
  /// Errors: an option that is none of options(), no number, a number out of range.
  Status configure(const Options& options);
  /// Deterministic for one problem and seed. The result is never dearer than the start.
  [[nodiscard]] virtual Result<SearchResult> run(const SearchProblem& problem) = 0;
  /// A strategy of the same settings.
  [[nodiscard]] virtual std::unique_ptr<SearchStrategy> clone() const = 0;
};

}  // namespace rewright
