/// Drops a candidate whose two sides are written alike: it says nothing.
#include <rewright/graph/graph.h>
#include <rewright/rule/pruner.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

/// One pass over all candidates, in their order. It may remember what it has seen.
class Session final : public PruneSession {
 public:
  std::optional<Removal> offer(const Candidate& candidate) override {
    if (to_text(candidate.source) != to_text(candidate.target)) return std::nullopt;  // It stays.
    // `by` names the candidate that makes this one superfluous; none does.
    return Removal{.by = "", .reason = "both sides are written alike"};
  }
};

class @Name@ final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "@name@"; }
  [[nodiscard]] std::string summary() const override { return "Drops candidates whose sides are written alike"; }
  [[nodiscard]] Result<std::unique_ptr<PruneSession>> start(const Options& options) const override {
    if (options.empty()) return std::unique_ptr<PruneSession>(std::make_unique<Session>());
    return make_error(ErrorCode::kUsage, "pruner @name@ has no option '{}'; it has none", options.begin()->first);
  }
};
}  // namespace

REWRIGHT_PLUGIN("pruner.@name@", "0.1.0", "Candidates whose sides are written alike") {
  registry.add<Pruner>(std::make_unique<@Name@>());
}
