/// Drops a candidate f(a, b, ..) = f(a', b', ..) where each pair of operands that differ was a candidate by itself:
/// equal arguments, equal values, so that it says nothing new.
///
/// Only what one earlier candidate implies is dropped, since one has to be named: exactly one pair of operands differs,
/// and the candidate has one output. Candidates come smallest first, so the smaller one has been seen.
#include <rewright/graph/terms.h>
#include <rewright/plugin/plugin.h>
#include <rewright/rule/pruner.h>

#include <unordered_map>

namespace {
using namespace rewright;

/// One pass over all candidates, in their order.
class Session final : public PruneSession {
 public:
  std::optional<Removal> offer(const Candidate& candidate) override {
    TermBank bank;
    const std::vector<TermId> sources = bank.outputs(candidate.source), targets = bank.outputs(candidate.target);
    std::vector<TermPair> claim;
    for (std::size_t i = 0; i < sources.size(); ++i) claim.emplace_back(sources[i], targets[i]);
    if (claim.size() == 1) {
      std::optional<TermPair> inner = claim[0];
      while ((inner = the_differing_operands(bank, *inner))) {  // As deep as both sides are alike.
        const auto smaller = seen_.find(canonical_form(bank, std::vector{*inner}, label));
        if (smaller != seen_.end())
          return Removal{smaller->second, "the same function of two sides that are equal already"};
      }
    }
    seen_.emplace(canonical_form(bank, claim, label), candidate.id);
    return std::nullopt;  // It stays.
  }

 private:
  /// Where both are one function and differ in one operand: that operand of each.
  static std::optional<TermPair> the_differing_operands(const TermBank& bank, TermPair pair) {
    const TensorTerm &left = bank[pair.first], &right = bank[pair.second];
    if (left.is_input() || left.op != right.op || left.head != right.head || left.output != right.output) return {};
    if (left.operands.size() != right.operands.size()) return {};
    std::optional<TermPair> found;
    for (std::size_t i = 0; i < left.operands.size(); ++i) {
      if (left.operands[i] == right.operands[i]) continue;
      if (found) return {};
      found.emplace(left.operands[i], right.operands[i]);
    }
    return found;
  }
  /// Inputs of one kind and shape may be exchanged.
  static std::string label(const TensorTerm& input) { return fmt::format("{} {}", int(input.kind), input.shape); }

  std::unordered_map<std::string, std::string> seen_;  // Canonical form of one that stays, its id.
};

class Congruence final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "congruence"; }
  [[nodiscard]] std::string summary() const override {
    return "Drops candidates that apply one function to two sides of an earlier one";
  }
  [[nodiscard]] Result<std::unique_ptr<PruneSession>> start(const Options& options) const override {
    if (options.empty()) return std::unique_ptr<PruneSession>(std::make_unique<Session>());
    return make_error(ErrorCode::kUsage, "pruner congruence has no option '{}'; it has none", options.begin()->first);
  }
};
}  // namespace

REWRIGHT_PLUGIN("pruner.congruence", "1.0.0", "Candidates that follow by congruence") {
  registry.add<Pruner>(std::make_unique<Congruence>());
}
