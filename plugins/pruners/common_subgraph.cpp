// Pruner `common_subgraph`: drops a candidate that follows from a smaller one by a part that both sides share.
//
// Both sides may share a part
//   below   f(g(x)) = h(g(x)) follows from f(t) = h(t), t any tensor;
//   above   g(f(x)) = g(h(x)) follows from f(x) = h(x);
//   beside  (f(x), g(x)) = (h(x), g(x)) follows from f(x) = h(x).
// A candidate is dropped only if some chain of such steps leads to a candidate that was offered before (up to names,
// operand order, direction). TASO drops it in any case, which loses relu(relu(x)) = relu(x): what the shared relu
// leaves over is relu(t) = t, which is false. Since the candidates are offered smallest first, a smaller one that holds
// has been offered, unless its inputs were not in the campaign.
//
// Inputs are compared by rank: the candidates found at one choice of shapes stand for all. Only where a size parameter
// (a split point, say) occurs, shapes have to be equal too, since there the sizes decide what the candidate says.
//
// The removal names the smaller candidate; a campaign takes it back if that one turns out not to be provable.
//
// Cost    steps tried: at most 512 a candidate, each with one canonical form.
// Source  Jia et al., TASO, SOSP 2019, section 4.2 ("common subgraphs").
#include <rewright/graph/terms.h>
#include <rewright/plugin/plugin.h>
#include <rewright/rule/pruner.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace {
using namespace rewright;

using Pairs = std::vector<TermPair>;

constexpr std::size_t kMostSteps = 512;

bool has_sizes(const TensorTerm& term) {
  if (term.is_input()) return false;
  const auto& specs = term.op->info().params;
  return std::any_of(specs.begin(), specs.end(), [](const ParamSpec& spec) { return spec.kind == ParamKind::kSizes; });
}

std::vector<TermId> roots_of(const Pairs& pairs) {
  std::vector<TermId> roots;
  for (const auto& [left, right] : pairs) roots.insert(roots.end(), {left, right});
  return roots;
}

std::string form_of(const TermBank& bank, const Pairs& pairs) {
  const std::vector<TermId> terms = bank.below(roots_of(pairs));
  const bool exact = std::any_of(terms.begin(), terms.end(), [&](TermId id) { return has_sizes(bank[id]); });
  return canonical_form(bank, pairs, [&](const TensorTerm& input) {
    return exact ? to_string(input.shape) : fmt::format("{}", input.shape.rank());
  });
}

// Without outputs that are the same on both sides, and without repetitions.
Pairs simplified(Pairs pairs) {
  std::erase_if(pairs, [](const TermPair& pair) { return pair.first == pair.second; });
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

// What is left when pair `at` loses the operator that both of its sides end in.
std::vector<Pairs> without_top(const TermBank& bank, const Pairs& pairs, std::size_t at) {
  const TensorTerm &left = bank[pairs[at].first], &right = bank[pairs[at].second];
  if (left.is_input() || right.is_input() || left.head != right.head || left.output != right.output ||
      left.operands.size() != right.operands.size()) {
    return {};
  }
  Pairs others = pairs;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<TermId> order = right.operands;
  std::vector<Pairs> results;
  for (int way = 0; way < (left.op->info().commutative && order.size() >= 2 ? 2 : 1); ++way) {
    Pairs reduced = others;
    for (std::size_t i = 0; i < order.size(); ++i) reduced.emplace_back(left.operands[i], order[i]);
    results.push_back(std::move(reduced));
    if (order.size() >= 2) std::swap(order[0], order[1]);
  }
  return results;
}

// Terms with an operator that occur on both sides.
std::vector<TermId> shared_terms(const TermBank& bank, const Pairs& pairs) {
  std::vector<TermId> lefts, rights;
  for (const auto& [left, right] : pairs) {
    lefts.push_back(left);
    rights.push_back(right);
  }
  const std::vector<TermId> below_left = bank.below(lefts), below_right = bank.below(rights);
  std::vector<TermId> shared;
  std::set_intersection(below_left.begin(), below_left.end(), below_right.begin(), below_right.end(),
                        std::back_inserter(shared));
  std::erase_if(shared, [&](TermId id) { return bank[id].is_input(); });
  return shared;
}

// Everything that one step makes of the pairs.
std::vector<Pairs> steps(TermBank& bank, const Pairs& pairs) {
  std::vector<Pairs> results;
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    for (Pairs& reduced : without_top(bank, pairs, at)) results.push_back(simplified(std::move(reduced)));
  }
  for (const TermId shared : shared_terms(bank, pairs)) {
    const TermId fresh = bank.input(fmt::format("shared {}", shared.value), bank[shared].shape, InputKind::kData);
    Pairs reduced = pairs;
    for (auto& [left, right] : reduced) {
      left = bank.replace(left, shared, fresh);
      right = bank.replace(right, shared, fresh);
    }
    results.push_back(simplified(std::move(reduced)));
  }
  return results;
}

class Session final : public PruneSession {
 public:
  std::optional<Removal> offer(const Candidate& candidate) override {
    bank_.clear();
    const std::vector<TermId> sources = bank_.outputs(candidate.source), targets = bank_.outputs(candidate.target);
    Pairs pairs;
    for (std::size_t i = 0; i < sources.size(); ++i) pairs.emplace_back(sources[i], targets[i]);
    const Pairs start = simplified(pairs);
    if (start.empty()) {
      return Removal{"", "both sides are the same, up to the order of operands of commutative operators"};
    }
    std::optional<Removal> removal = reduce(start, form_of(bank_, pairs));
    offered_.emplace(form_of(bank_, pairs), candidate.id);
    return removal;
  }

 private:
  // Breadth first through all chains of steps.
  std::optional<Removal> reduce(const Pairs& start, std::string own_form) {
    std::unordered_set<std::string> visited = {std::move(own_form)};
    std::deque<Pairs> open = {start};
    for (std::size_t tried = 0; !open.empty() && tried < kMostSteps; ++tried) {
      const Pairs pairs = std::move(open.front());
      open.pop_front();
      std::string form = form_of(bank_, pairs);
      const bool fresh = visited.insert(form).second;
      if (fresh) {
        if (const auto known = offered_.find(form); known != offered_.end()) {
          return Removal{known->second, "follows from the other candidate by a part that both sides share"};
        }
      }
      if (!fresh && tried > 0) continue;
      for (Pairs& reduced : steps(bank_, pairs)) {
        if (!reduced.empty()) open.push_back(std::move(reduced));
      }
    }
    return std::nullopt;
  }

  TermBank bank_;
  std::unordered_map<std::string, std::string> offered_;  // Canonical form, id of the first.
};

class CommonSubgraph final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "common_subgraph"; }
  [[nodiscard]] std::string summary() const override {
    return "Drops candidates that follow from a smaller one by a part that both sides share";
  }
  [[nodiscard]] Result<std::unique_ptr<PruneSession>> start(const Options& options) const override {
    if (!options.empty()) {
      return make_error(ErrorCode::kUsage, "pruner common_subgraph has no option '{}'", options.begin()->first);
    }
    return std::unique_ptr<PruneSession>(std::make_unique<Session>());
  }
};

}  // namespace

REWRIGHT_PLUGIN("pruner.common_subgraph", "1.0.0", "Candidates that a part shared by both sides makes superfluous") {
  registry.add<Pruner>(std::make_unique<CommonSubgraph>());
}
