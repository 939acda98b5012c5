#include "discover/axiom_rules.h"

#include <rewright/verify/derivation.h>

#include <algorithm>
#include <optional>
#include <set>

#include "discover/axiom_bindings.h"
#include "discover/equation.h"
#include "rule/usable.h"
#include "verify/rule_judge.h"

namespace rewright {
namespace {

constexpr int kRounds = 3;  // Rules that only other rules' targets ask for.

/// The step as a rule that a match binds all of. Nothing where its sides differ in the order of operands alone, or a
/// size stands in a sum and nowhere by itself.
std::optional<Rule> usable_rule(const TypedAxiom& typed, bool left_to_right, const Registry& registry) {
  const auto made = rule_of(typed, left_to_right);
  if (!made) return std::nullopt;
  auto read = parse_rule(to_text(*made), registry);
  if (!read || !check_usable(chain_form(*read))) return std::nullopt;
  read->certificate = made->certificate;
  return *std::move(read);
}

/// One axiom's way to rules.
struct Progress {
  bool was_met = false;  ///< A side fits the program somewhere.
  bool has_direction = false;
  bool is_cut_short = false;
  std::size_t rules = 0;
  std::string refusal;
};

class Maker {
 public:
  Maker(const AxiomSet& axioms, const Registry& registry, const AxiomRuleOptions& options)
      : axioms_(axioms.axioms()),
        options_(options),
        registry_(registry),
        judge_(axioms, registry, RuleJudge::Memory::kUsed, options.threads),
        progress_(axioms_.size()) {}

  Result<AxiomRules> run(const Graph& program) {
    uses_.add(program);
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t known = uses_.size(), first = rules_.size();
      for (std::size_t i = 0; i < axioms_.size(); ++i) REWRIGHT_CHECK(instantiate(i));
      for (std::size_t k = first; k < rules_.size(); ++k) uses_.add_target(rules_[k].second);
      if (uses_.size() == known) break;
    }
    REWRIGHT_CHECK(audit_used());
    return report();
  }

 private:
  Status instantiate(std::size_t i) {
    const Axiom& axiom = axioms_[i];
    for (const bool left_to_right : {true, false}) {
      REWRIGHT_TRY(const auto bindings,
                   bindings_at(axiom, left_to_right ? axiom.left : axiom.right, uses_, kMostInstances));
      if (bindings.size() == kMostInstances) progress_[i].is_cut_short = true;
      for (const AxiomRanks& ranks : axiom.ranks) {
        if (!has_ranks(axiom, ranks)) continue;
        for (const ParamBinding& binding : bindings) {
          const auto typed = specialise(axiom, ranks, binding);
          if (typed) add(i, *typed, left_to_right);
          if (!typed && typed.error().code == ErrorCode::kMismatch) refuse(i, typed.error().message);
        }
      }
    }
    return {};
  }
  /// The program has it where :domain does not claim it.
  void refuse(std::size_t i, const std::string& sentence) {
    progress_[i].was_met = true;
    if (progress_[i].refusal.empty()) progress_[i].refusal = sentence;
  }
  [[nodiscard]] bool has_ranks(const Axiom& axiom, const AxiomRanks& ranks) const {
    for (std::size_t v = 0; v < ranks.size(); ++v)
      if (axiom.variables[v].sort == AxiomSort::kTensor && !uses_.has_rank(ranks[v])) return false;
    return true;
  }

  void add(std::size_t i, const TypedAxiom& typed, bool left_to_right) {
    Progress& progress = progress_[i];
    progress.was_met = true;
    if (!(left_to_right ? typed.left_to_right : typed.right_to_left)) return;
    auto made = usable_rule(typed, left_to_right, registry_);
    if (!made) return;
    progress.has_direction = true;
    if (!ids_.insert(made->id).second) return;
    if (const Status proved = judge_.checker().check(*made, made->certificate); !proved) {
      if (progress.refusal.empty())
        progress.refusal = fmt::format("axiom {}: the step '{}' is not accepted: {}", typed.axiom->name, to_text(*made),
                                       proved.error().message);
      return;
    }
    made->trust = trust_by(made->certificate);
    made->name = fmt::format("{}{}-{}", typed.axiom->name, left_to_right ? "" : "-back", made->id.substr(0, 8));
    ++progress.rules;
    rules_.emplace_back(i, *std::move(made));
  }

  /// Takes the rules of axioms back that are false.
  Status audit_used() {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < axioms_.size(); ++i)
      if (progress_[i].rules > 0) used.push_back(i);
    for (std::size_t k = 0; k < used.size(); ++k) {
      if (options_.progress && !options_.progress(k, used.size()))
        return make_error(ErrorCode::kBudget, "stopped while axioms were audited");
      const Status stood = judge_.check_axiom(axioms_[used[k]]);
      if (stood) continue;
      progress_[used[k]].rules = 0;
      progress_[used[k]].refusal = stood.error().message;
    }
    return {};
  }

  AxiomRules report() {
    AxiomRules report;
    for (std::size_t i = 0; i < axioms_.size(); ++i) {
      const Progress& progress = progress_[i];
      if (!progress.refusal.empty()) report.refused.push_back(progress.refusal);
      if (progress.is_cut_short) report.cut_short.push_back(axioms_[i].name);
      if (progress.rules > 0) {
        ++report.used;
      } else if (progress.refusal.empty()) {
        if (progress.was_met && !progress.has_direction) {
          report.undirected.push_back(axioms_[i].name);
        } else {
          ++report.elsewhere;
        }
      }
    }
    std::ranges::stable_sort(rules_, {}, [](const auto& entry) { return entry.first; });
    for (auto& [i, rule] : rules_)
      if (progress_[i].rules > 0) report.rules.push_back(std::move(rule));
    return report;
  }

  std::span<const Axiom> axioms_;
  const AxiomRuleOptions& options_;
  const Registry& registry_;
  RuleJudge judge_;
  std::vector<Progress> progress_;
  ProgramUses uses_;
  std::vector<std::pair<std::size_t, Rule>> rules_;
  std::set<std::string> ids_;
};

}  // namespace

Result<AxiomRules> rules_of_axioms(const AxiomSet& axioms, const Graph& program, const Registry& registry,
                                   const AxiomRuleOptions& options) {
  return Maker(axioms, registry, options).run(program);
}

}  // namespace rewright
