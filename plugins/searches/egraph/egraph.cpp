/// Equality saturation over the program, then extraction.
///
///   repeat: find all matches in the e-graph, apply them, filter circles out
///   after each round choose greedily; at the end exactly, by an integer program that counts what is shared once
///
/// A step   one round.
/// Options  applications (10000): rounds end where the e-graph has more; matches (2000): of one rule in one round;
///          several (1): rounds in which rules of several outputs are used, since their matches multiply;
///          exact (1): choose exactly at the end; nodes (1000): of the integer program's search tree.
/// Source   Yang et al.: Equality Saturation for Tensor Graph Superoptimization (TENSAT), MLSys 2021.
#include <rewright/optimize/program_egraph.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <utility>

#include "extraction.h"

namespace {
using namespace rewright;
using namespace rewright::egraph_search;

class Run {
 public:
  Run(const SearchProblem& problem, ProgramEGraph& egraph, double start_us)
      : problem_(problem), egraph_(egraph), run_(problem, start_us) {}

  Result<SearchResult> run(ProgramEGraph::Limits limits, double rounds_of_several, bool exact,
                           const ExactLimits& exact_limits) {
    limits.keep_going = [this] { return keep_going(); };
    bool full = false;
    while (run_.step()) {
      const bool several = static_cast<double>(run_.steps()) <= rounds_of_several;
      REWRIGHT_TRY(const ProgramEGraph::Round round, egraph_.round(several, limits, [&] { return run_.candidate(); }));
      if (round.stopped) break;
      full = full || round.full || round.cut;
      selection_ = choose_greedily(egraph_);
      REWRIGHT_CHECK(offer(selection_));
      if (!round.changed || round.full) break;
    }
    std::string note;
    if (full) note = "egraph is not saturated: a limit (applications, matches) was reached";
    if (exact && !selection_.empty() && keep_going()) {
      REWRIGHT_CHECK(choose(exact_limits, note));
    }
    REWRIGHT_TRY(SearchResult result, run_.finish(std::move(path_)));
    result.stopped_early = result.stopped_early || was_stopped_;
    result.note = std::move(note);
    return result;
  }

 private:
  Status choose(const ExactLimits& limits, std::string& note) {
    REWRIGHT_TRY(const std::optional<ExactChoice> exact,
                 choose_exactly(egraph_, selection_, limits, [&] { return keep_going(); }));
    if (exact) {
      REWRIGHT_CHECK(offer(exact->selection));
    }
    if (was_stopped_) {
      note +=
          fmt::format("{}the integer program was stopped; its best so far counts", note.empty() ? "egraph: " : "; ");
    } else if (!exact || !exact->optimal)
      note += fmt::format("{}the integer program was not solved within {} nodes", note.empty() ? "egraph: " : "; ",
                          limits.nodes);
    return {};
  }

  /// Of what counts neither as a step nor as a candidate.
  bool keep_going() {
    was_stopped_ =
        was_stopped_ || (problem_.progress && !problem_.progress(run_.steps(), run_.candidates(), run_.best_us()));
    return !was_stopped_;
  }

  Status offer(const Selection& selection) {
    const auto graph = egraph_.graph(selection);
    if (!graph) return {};  // Nothing can be chosen: filtering has left a class without applications.
    REWRIGHT_TRY(const double cost_us, problem_.engine.cost_us(*graph));
    if (!run_.offer(SearchSpace::kStart, cost_us)) return {};
    REWRIGHT_TRY(path_, egraph_.path(selection, [this] { return keep_going(); }));
    return {};
  }

  const SearchProblem& problem_;
  ProgramEGraph& egraph_;
  SearchRun run_;
  Selection selection_;
  std::vector<RewriteStep> path_;
  bool was_stopped_ = false;
};

class EGraphSearch final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "egraph"; }
  [[nodiscard]] std::string summary() const override {
    return "Equality saturation, then greedy and exact extraction (TENSAT); a step is a round";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"applications", &applications_, 1, 1e7, "rounds end where the e-graph has more"},
            {"matches", &matches_, 1, 1e7, "of one rule, applied in one round"},
            {"several", &several_, 0, 1e6, "rounds in which rules of several outputs are used"},
            {"exact", &exact_, 0, 1, "1: choose by integer programming at the end; 0: greedily alone"},
            {"nodes", &nodes_, 1, 1e9, "of the integer program's search tree"}};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(ProgramEGraph egraph, ProgramEGraph::create(problem.engine, problem.start));
    REWRIGHT_TRY(const double start_us, problem.engine.cost_us(problem.start));
    return Run(problem, egraph, start_us)
        .run({static_cast<std::size_t>(applications_), static_cast<std::size_t>(matches_)}, several_, exact_ != 0,
             {static_cast<int>(nodes_)});
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<EGraphSearch>(*this); }

 private:
  double applications_ = 10'000;
  double matches_ = 2'000;
  double several_ = 1;
  double exact_ = 1;
  double nodes_ = 1'000;
};

}  // namespace

REWRIGHT_PLUGIN("search.egraph", "1.0.0", "Equality saturation over programs") {
  registry.add<SearchStrategy>(std::make_unique<EGraphSearch>());
}
