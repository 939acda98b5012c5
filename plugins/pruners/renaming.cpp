// Pruner `renaming`: of candidates that say the same, only the first stays.
//
// Two candidates say the same if one becomes the other by renaming inputs of equal shape and kind, reordering outputs,
// exchanging source and target, and reordering the operands of commutative operators (which matching does by itself).
// A candidate whose two sides differ in such an order alone is dropped too: no match could ever change anything.
//
// Cost    one canonical form a candidate: text of the candidate's size, times the renamings that uses of inputs leave.
// Source  Jia et al., TASO, SOSP 2019, section 4.1 ("input tensor renaming").
#include <rewright/graph/terms.h>
#include <rewright/plugin/plugin.h>
#include <rewright/rule/pruner.h>

#include <unordered_map>

namespace {
using namespace rewright;

class Session final : public PruneSession {
 public:
  std::optional<Removal> offer(const Candidate& candidate) override {
    bank_.clear();
    const std::vector<TermId> sources = bank_.outputs(candidate.source), targets = bank_.outputs(candidate.target);
    if (sources == targets) {
      return Removal{"", "both sides are the same, up to the order of operands of commutative operators"};
    }
    std::vector<TermPair> pairs;
    for (std::size_t i = 0; i < sources.size(); ++i) pairs.emplace_back(sources[i], targets[i]);
    const auto [first, fresh] = seen_.emplace(canonical_form(bank_, pairs, label), candidate.id);
    if (fresh) return std::nullopt;
    return Removal{first->second, "the same up to the names of inputs, the order of operands and the direction"};
  }

 private:
  static std::string label(const TensorTerm& input) {
    return fmt::format("{}{}", input.kind == InputKind::kWeight ? "w" : "x", input.shape);
  }
  TermBank bank_;
  std::unordered_map<std::string, std::string> seen_;  // Canonical form, id of the first.
};

class Renaming final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "renaming"; }
  [[nodiscard]] std::string summary() const override {
    return "Drops candidates that are equal up to names, operand order and direction";
  }
  [[nodiscard]] Result<std::unique_ptr<PruneSession>> start(const Options& options) const override {
    if (!options.empty()) {
      return make_error(ErrorCode::kUsage, "pruner renaming has no option '{}'", options.begin()->first);
    }
    return std::unique_ptr<PruneSession>(std::make_unique<Session>());
  }
};

}  // namespace

REWRIGHT_PLUGIN("pruner.renaming", "1.0.0", "Candidates that are equal up to renaming of inputs") {
  registry.add<Pruner>(std::make_unique<Renaming>());
}
