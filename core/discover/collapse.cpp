#include "discover/collapse.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "discover/class_values.h"
#include "discover/compose.h"
#include "discover/entailment.h"
#include "egraph/chain.h"
#include "egraph/goal.h"
#include "egraph/render.h"

namespace rewright {
namespace {

using namespace egraph;

/// What one goal came to.
struct Outcome {
  std::size_t nodes = 0;
  std::size_t pairs = 0;
  bool nowhere = false;
  std::vector<Collapse> found;
};

/// The axioms as rewrites, and one e-graph that goal after goal is put into.
class GoalCheck {
 public:
  GoalCheck(std::span<const Axiom> axioms, const CollapseOptions& options) : options_(options), rewrites_(heads_) {
    for (const Axiom& axiom : axioms) rewrites_.add(axiom);
    graph_.set_depth([this](HeadId head) { return rewrites_.depth_of(head); });
  }

  Outcome check(const Rule& goal, std::size_t number) {
    Outcome outcome;
    sizes_.clear();
    graph_.clear();
    instances_.clear();
    if (!goal_.load(goal)) return outcome;
    saturate();
    outcome.nodes = graph_.size();
    const auto places = sizes_to_try(goal, goal_.names(), options_.sizes);
    outcome.nowhere = places.empty();
    const GraphView view{heads_, sizes_, graph_, goal_.names()};
    for (const SizeAssignment& place : places) {
      ClassValues values(view, place, options_.seed + number);
      outcome.pairs += values.pairs();
      if (const auto pair = values.differing()) {
        outcome.found.push_back(explain(goal, values, *pair, place));
        break;
      }
    }
    return outcome;
  }

 private:
  void saturate() {
    std::size_t matches = 0;
    Rewrites::Wanted all;
    all.vocabulary.set();
    for (std::size_t next = 0; next < graph_.touched().size(); ++next) {
      const egraph::NodeId node = graph_.touched()[next];
      graph_.take(node);
      if (graph_.superfluous(node)) continue;
      matches_.clear();
      rewrites_.match(graph_, sizes_, all, node, matches_);
      for (const Match& match : matches_) {
        if (++matches > options_.matches || graph_.size() > options_.nodes) return;
        if (rewrites_.apply(match, graph_, sizes_, instances_) == Rewrites::Applied::kMerged) graph_.rebuild();
      }
    }
  }

  Collapse explain(const Rule& goal, const ClassValues& values, std::pair<egraph::NodeId, egraph::NodeId> pair,
                   const SizeAssignment& place) {
    Collapse collapse;
    collapse.goal = to_text(goal);
    renderer_.begin(goal, goal_.names());
    collapse.left = renderer_.term(pair.first);
    collapse.right = renderer_.term(pair.second);
    for (const auto& [name, size] : place)
      collapse.values += fmt::format("{}{} = {}", collapse.values.empty() ? "" : ", ", name.text(), size);
    collapse.values += ": " + values.difference(pair);
    if (const auto steps = explainer_.explain(pair.first, pair.second))
      renderer_.append_output(0, *steps, collapse.chain);
    const auto guilty =
        std::ranges::find_if(instances_.list, [&](const Instance& instance) { return is_guilty(instance, values); });
    if (guilty != instances_.list.end()) collapse.axiom = guilty->use->axiom->name;
    return collapse;
  }

  /// Does it merge what differs, though all that it rests on agrees? The first merge of what differs is such a one.
  bool is_guilty(const Instance& instance, const ClassValues& values) const {
    const auto root = [&](const Side& side, std::uint32_t first) { return node_of(instance, side.root, first); };
    return !values.agree(root(*instance.use->from, instance.from), root(*instance.use->to, instance.to)) &&
           rests_on_equals(instance, *instance.use->from, instance.from, values) &&
           rests_on_equals(instance, *instance.use->to, instance.to, values);
  }
  bool rests_on_equals(const Instance& instance, const Side& side, std::uint32_t first,
                       const ClassValues& values) const {
    for (std::size_t i = 0; i < side.applications.size(); ++i) {
      const auto operands = graph_.operands(instances_.nodes[first + i]);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (!values.agree(operands[k], node_of(instance, side.applications[i].operands[k], first))) return false;
      }
    }
    return true;
  }
  egraph::NodeId node_of(const Instance& instance, const Ref& ref, std::uint32_t first) const {
    return instances_.nodes[(ref.is_variable ? instance.variables : first) + ref.index];
  }

  const CollapseOptions& options_;
  Heads heads_;
  Sizes sizes_;
  EGraph graph_;
  Rewrites rewrites_;
  RuleGraph goal_{heads_, sizes_, graph_};
  Instances instances_;
  Explainer explainer_{graph_, instances_};
  Renderer renderer_{heads_, sizes_, graph_, instances_};
  std::vector<Match> matches_;
};

Result<std::vector<Rule>> goals_of(std::span<const Axiom> seeds, const CollapseOptions& options) {
  std::vector<Rule> goals;
  for (const Axiom& axiom : seeds) {
    REWRIGHT_TRY(std::vector<Rule> instances, instances_of(axiom, options.instances));
    std::ranges::move(instances, std::back_inserter(goals));
  }
  std::vector<Rule> composed = composed_rules(goals, options.composed, options.seed);
  std::ranges::move(composed, std::back_inserter(goals));
  return goals;
}

}  // namespace

Result<CollapseReport> check_collapse(std::span<const Axiom> axioms, std::span<const Axiom> seeds,
                                      const CollapseOptions& options) {
  REWRIGHT_TRY(const std::vector<Rule> goals, goals_of(seeds, options));
  constexpr std::size_t kChunk = 128;
  std::vector<Outcome> outcomes(goals.size());
  std::mutex mutex;
  std::size_t done = 0;
  oneapi::tbb::task_arena arena(std::max(options.threads, 1));
  arena.execute([&] {
    oneapi::tbb::parallel_for(std::size_t{0}, (goals.size() + kChunk - 1) / kChunk, [&](std::size_t chunk) {
      GoalCheck one(axioms, options);
      const std::size_t end = std::min(goals.size(), (chunk + 1) * kChunk);
      for (std::size_t i = chunk * kChunk; i < end; ++i) outcomes[i] = one.check(goals[i], i);
      const std::scoped_lock lock(mutex);
      done += end - chunk * kChunk;
      if (options.progress) options.progress(done, goals.size());
    });
  });
  CollapseReport report;
  report.goals = goals.size();
  std::set<std::string> blamed;
  for (Outcome& outcome : outcomes) {
    report.nodes += outcome.nodes;
    report.pairs += outcome.pairs;
    report.nowhere += outcome.nowhere;
    for (Collapse& collapse : outcome.found) {
      if (blamed.insert(collapse.axiom).second) report.found.push_back(std::move(collapse));
    }
  }
  return report;
}

}  // namespace rewright
