/// Monte-Carlo tree search (UCT) over rewrites.
///
///   descend from the start by the child of greatest  reward + explore * sqrt(ln(visits of parent) / visits)
///   until a node that may have another child (children <= widen * sqrt(visits)) and has untried moves;
///   try untried moves, in a random order, until one leads to a graph not seen before: the new child;
///   its reward is the best of its own cost and that of `glances` random neighbours, and counts for all its ancestors
///
/// The reward of a cost is  (start - cost) / (start - best so far),  at least 0 for what is no dearer than the start; a
/// node's is the greatest below it: one good graph matters, not the average.
///
/// A step   one descent, with one new graph.
/// Options  explore (0.3), widen (2), glances (8).
/// Source   Kocsis, Szepesvari: Bandit Based Monte-Carlo Planning, ECML 2006; Coulom, progressive widening, 2007.
#include <rewright/base/mixing.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace {
using namespace rewright;

/// Nodes of graphs kept after which no new ones are made.
constexpr std::size_t kMostNodes = 8'000'000;

struct TreeNode {
  SearchSpace::State state = SearchSpace::kStart;
  std::size_t parent = 0;
  double visits = 0;
  double least_us = 0;  ///< In or below the node.
  bool exhausted = false;
  std::vector<std::uint32_t> untried;  ///< Moves, in reverse order.
  bool ordered = false;
  std::vector<std::size_t> children;
};

class Tree {
 public:
  Tree(const SearchProblem& problem, SearchSpace& space, double explore, double widen, int glances)
      : space_(space),
        run_(problem, space.cost_us(SearchSpace::kStart)),
        random_(problem.seed),
        explore_(explore),
        widen_(widen),
        glances_(glances),
        start_us_(run_.best_us()) {}

  Result<SearchResult> search() {
    nodes_.push_back({SearchSpace::kStart, 0, 1, start_us_, false, {}, false, {}});
    while (!nodes_[0].exhausted && space_.node_count() < kMostNodes && run_.step()) {
      REWRIGHT_CHECK(descend());
    }
    const bool full = space_.node_count() >= kMostNodes;
    REWRIGHT_TRY(SearchResult result, run_.finish(space_));
    if (full) result.note = "mcts ended before its steps were done: its tree has reached the most it may keep";
    return result;
  }

 private:
  [[nodiscard]] double reward(double cost_us) const {
    const double range = start_us_ - run_.best_us();
    return range > 0 ? (start_us_ - cost_us) / range : (start_us_ - cost_us) / std::max(start_us_, 1e-9);
  }

  Status descend() {
    std::size_t at = 0;
    while (true) {
      order_moves(at);
      const TreeNode& node = nodes_[at];
      const bool widens = static_cast<double>(node.children.size()) <= widen_ * std::sqrt(node.visits);
      if (!node.untried.empty() && (widens || node.children.empty())) {
        REWRIGHT_TRY(const bool grown, expand(at));
        if (grown) return {};
      }
      const std::size_t next = favourite(at);
      if (next == at) {  // Nothing below it is left.
        if (nodes_[at].untried.empty()) nodes_[at].exhausted = true;
        visit(at);
        return {};
      }
      at = next;
    }
  }

  void order_moves(std::size_t at) {
    if (nodes_[at].ordered) return;
    nodes_[at].ordered = true;
    auto& moves = nodes_[at].untried;
    moves.resize(space_.move_count(nodes_[at].state));
    std::iota(moves.begin(), moves.end(), 0U);
    for (std::size_t i = moves.size(); i > 1; --i) std::swap(moves[i - 1], moves[random_.below(i)]);
  }

  /// Tries moves until one leads to a new graph; false where none does.
  Result<bool> expand(std::size_t at) {
    while (!nodes_[at].untried.empty() && !run_.over()) {
      const std::size_t move = nodes_[at].untried.back();
      nodes_[at].untried.pop_back();
      REWRIGHT_TRY(const SearchSpace::Look look, space_.look_for_new(nodes_[at].state, move));
      if (!look.possible) continue;
      static_cast<void>(run_.candidate());
      if (look.known) continue;
      REWRIGHT_TRY(const auto state, space_.enter(nodes_[at].state, move));
      run_.offer(*state, look.cost_us);
      REWRIGHT_TRY(const double least_us, glance_around(*state, look.cost_us));
      nodes_.push_back({*state, at, 0, least_us, false, {}, false, {}});
      nodes_[at].children.push_back(nodes_.size() - 1);
      visit(nodes_.size() - 1);
      return true;
    }
    return run_.over();
  }

  /// The least cost of the graph and of some of its neighbours, which are entered where they are the best so far.
  Result<double> glance_around(SearchSpace::State state, double least_us) {
    const std::size_t moves = space_.move_count(state);
    for (int i = 0; i < glances_ && moves > 0 && !run_.over(); ++i) {
      const std::size_t move = random_.below(moves);
      REWRIGHT_TRY(const SearchSpace::Look look, space_.look(state, move));
      if (!look.possible) continue;
      static_cast<void>(run_.candidate());
      least_us = std::min(least_us, look.cost_us);
      if (!cheaper(look.cost_us, run_.best_us())) continue;
      REWRIGHT_TRY(const auto better, space_.enter(state, move));
      run_.offer(*better, look.cost_us);
    }
    return least_us;
  }

  /// The child to go on with; the node itself where there is none.
  [[nodiscard]] std::size_t favourite(std::size_t at) {
    std::size_t best = at;
    double best_score = -std::numeric_limits<double>::infinity();
    bool all_exhausted = nodes_[at].untried.empty();
    for (const std::size_t child : nodes_[at].children) {
      const TreeNode& node = nodes_[child];
      if (node.exhausted) continue;
      all_exhausted = false;
      const double score =
          reward(node.least_us) + explore_ * std::sqrt(std::log(nodes_[at].visits + 1) / std::max(node.visits, 1.0));
      if (score > best_score) best = child, best_score = score;
    }
    nodes_[at].exhausted = all_exhausted;
    return best;
  }

  void visit(std::size_t from) {
    const double least_us = nodes_[from].least_us;
    for (std::size_t at = from;; at = nodes_[at].parent) {
      nodes_[at].visits += 1;
      nodes_[at].least_us = std::min(nodes_[at].least_us, least_us);
      if (at == 0) return;
    }
  }

  SearchSpace& space_;
  SearchRun run_;
  Random random_;
  double explore_;
  double widen_;
  int glances_;
  double start_us_;
  std::vector<TreeNode> nodes_;
};

class Mcts final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "mcts"; }
  [[nodiscard]] std::string summary() const override {
    return "Monte-Carlo tree search (UCT); a step makes one new graph and glances at its neighbours";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"explore", &explore_, 0, 1e6, "weight of what was seldom visited"},
            {"widen", &widen_, 1e-3, 1e6, "children of a node, times the root of its visits"},
            {"glances", &glances_, 0, 1e6, "random neighbours of a new graph that are looked at"}};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(const auto space, problem.engine.open(problem.start));
    return Tree(problem, *space, explore_, widen_, static_cast<int>(glances_)).search();
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Mcts>(*this); }

 private:
  double explore_ = 0.3;
  double widen_ = 2;
  double glances_ = 8;
};

}  // namespace

REWRIGHT_PLUGIN("search.mcts", "1.0.0", "Monte-Carlo tree search") {
  registry.add<SearchStrategy>(std::make_unique<Mcts>());
}
