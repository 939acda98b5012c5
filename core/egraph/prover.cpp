#include <rewright/egraph.h>

#include <algorithm>

#include "egraph/chain.h"
#include "egraph/goal.h"
#include "egraph/render.h"

namespace rewright {

using namespace egraph;

namespace {

enum class Outcome : std::uint8_t { kEqual, kSaturated, kLimit };

const char* reason_of(Outcome outcome) {
  return outcome == Outcome::kLimit ? "a limit of the e-graph was reached before both sides were equal"
                                    : "the axioms, applied to all there is, do not make both sides equal";
}

}  // namespace

struct EqualityProver::State {
  explicit State(std::span<const Axiom> axioms) : rewrites(axioms, heads) {
    graph.set_depth([this](HeadId head) { return rewrites.depth_of(head); });
  }

  Heads heads;
  Sizes sizes;
  EGraph graph;
  Rewrites rewrites;
  RuleGraph goal{heads, sizes, graph};
  Instances instances;
  Explainer explainer{graph, instances};
  Renderer renderer{heads, sizes, graph, instances};
  std::vector<Match> matches;
  SaturationStats stats;

  Status load(const Rule& rule, std::span<const Constraint> more) {
    sizes.clear();
    graph.clear();
    instances.clear();
    return goal.load(rule, more);
  }

  [[nodiscard]] bool equal() const {
    for (std::size_t k = 0; k < goal.source().size(); ++k) {
      if (graph.find(goal.source()[k]) != graph.find(goal.target()[k])) return false;
    }
    return true;
  }

  /// Axioms that stay among the operators of both sides come first; the others only where these lead nowhere.
  Outcome saturate(const SaturationLimits& limits, const Rewrites::MayAssume& may_assume) {
    stats = {};
    if (equal()) return Outcome::kEqual;
    Vocabulary vocabulary;
    for (egraph::NodeId node = 0; node < graph.size(); ++node) {
      if (!graph.is_input(node)) vocabulary.set(heads[graph.head(node)].operator_number);
    }
    const Outcome outcome = saturate_with(vocabulary, limits, may_assume);
    if (outcome != Outcome::kSaturated) return outcome;
    graph.touch_all();
    return saturate_with(Vocabulary().set(), limits, may_assume);
  }

  /// Applies axioms to nodes in the order in which these appear or change, until all outputs are equal.
  Outcome saturate_with(const Vocabulary& vocabulary, const SaturationLimits& limits,
                        const Rewrites::MayAssume& may_assume) {
    for (std::size_t next = 0; next < graph.touched().size(); ++next) {
      const egraph::NodeId node = graph.touched()[next];
      graph.take(node);
      if (graph.superfluous(node)) continue;
      matches.clear();
      rewrites.match(graph, sizes, vocabulary, node, matches);
      for (const egraph::Match& match : matches) {
        stats.nodes = graph.size();
        if (++stats.matches > limits.matches || stats.nodes > limits.nodes) return Outcome::kLimit;
        if (rewrites.apply(match, graph, sizes, instances, may_assume) != Rewrites::Applied::kMerged) continue;
        graph.rebuild();
        if (equal()) return Outcome::kEqual;
      }
    }
    return Outcome::kSaturated;
  }

  Result<EqualityProof> explain(const Rule& rule) {
    EqualityProof proof;
    renderer.begin(rule, goal.names());
    proof.certificate = "certificate 1\n";
    for (std::size_t k = 0; k < goal.source().size(); ++k) {
      const auto steps = explainer.explain(goal.source()[k], goal.target()[k]);
      if (!steps)
        return make_error(ErrorCode::kBudget, "output {} has a proof of more than {} steps", k, Explainer::kMostSteps);
      proof.steps += steps->size();
      renderer.append_output(k, *steps, proof.certificate);
    }
    proof.axioms.assign(renderer.axioms().begin(), renderer.axioms().end());
    return proof;
  }

  Result<EqualityProof> prove(const Rule& rule, const SaturationLimits& limits) {
    REWRIGHT_CHECK(load(rule, {}));
    const Outcome outcome = saturate(limits, nullptr);
    if (outcome == Outcome::kEqual) return explain(rule);
    if (limits.assume && !rule.example.empty()) {
      const SaturationStats without = stats;
      auto proof = prove_under_conditions(rule, limits);
      if (proof) return proof;
      stats = without;
    }
    return make_error(outcome == Outcome::kLimit ? ErrorCode::kBudget : ErrorCode::kNotFound, "{}", reason_of(outcome));
  }

  /// First with conditions taken for granted where they hold at the rule's example; then with those that the proof
  /// rests on as part of the precondition, each left out that is not needed.
  Result<EqualityProof> prove_under_conditions(const Rule& rule, const SaturationLimits& limits) {
    REWRIGHT_TRY(std::vector<Constraint> conditions, find_conditions(rule, limits));
    for (std::size_t i = conditions.size(); conditions.size() > 1 && i-- > 0;) {
      std::vector<Constraint> fewer = conditions;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      REWRIGHT_CHECK(load(rule, fewer));
      if (saturate(limits, nullptr) == Outcome::kEqual) conditions = std::move(fewer);
    }
    REWRIGHT_CHECK(load(rule, conditions));
    const Outcome outcome = saturate(limits, nullptr);
    if (outcome != Outcome::kEqual) return make_error(ErrorCode::kNotFound, "{}", reason_of(outcome));
    REWRIGHT_TRY(EqualityProof proof, explain(rule));
    proof.conditions = std::move(conditions);
    return proof;
  }

  Result<std::vector<Constraint>> find_conditions(const Rule& rule, const SaturationLimits& limits) {
    REWRIGHT_CHECK(load(rule, {}));
    const DimBinding example = bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes));
    const auto constraint_of = [&](const Condition& condition) {
      return Constraint{condition.kind, sizes.symbolic(condition.left, goal.names()),
                        sizes.symbolic(condition.right, goal.names())};
    };
    const Outcome outcome = saturate(
        limits, [&](const Condition& condition) { return constraint_of(condition).holds(example).value_or(false); });
    if (outcome != Outcome::kEqual) return make_error(ErrorCode::kNotFound, "{}", reason_of(outcome));
    std::vector<Constraint> conditions;
    for (std::size_t k = 0; k < goal.source().size(); ++k) {
      const auto steps = explainer.explain(goal.source()[k], goal.target()[k]);
      if (!steps) return make_error(ErrorCode::kBudget, "the proof has too many steps");
      for (const ChainStep& step : *steps) {
        const Instance& instance = instances.list[step.instance];
        for (std::uint32_t i = 0; i < instance.assumed_count; ++i) {
          Constraint condition = constraint_of(instances.assumed[instance.assumed + i]);
          if (std::ranges::find(conditions, condition) == conditions.end()) conditions.push_back(std::move(condition));
        }
      }
    }
    return conditions;
  }
};

EqualityProver::EqualityProver(std::span<const Axiom> axioms) : state_(std::make_unique<State>(axioms)) {}
EqualityProver::~EqualityProver() = default;
EqualityProver::EqualityProver(EqualityProver&&) noexcept = default;
EqualityProver& EqualityProver::operator=(EqualityProver&&) noexcept = default;

Result<EqualityProof> EqualityProver::prove(const Rule& rule, const SaturationLimits& limits) {
  return state_->prove(rule, limits);
}
const SaturationStats& EqualityProver::stats() const { return state_->stats; }

}  // namespace rewright
