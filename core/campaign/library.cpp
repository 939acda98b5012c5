#include "campaign/library.h"

#include <rewright/egraph/prover.h>
#include <rewright/rule/pruner.h>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "campaign/generality.h"

namespace rewright {
namespace {

constexpr std::size_t kSmall = 8;             ///< Applications of both sides.
constexpr std::size_t kRoundsOfPatience = 8;  ///< Times the usual limits for a rule that would come back otherwise.

struct DroppedRule {
  ProvedRule proved;
  std::string pruner;
  RuleRemoval removal;
};

// Applications of one side, a shared one counted as often as it is used. Capped, since sharing can double them.
std::size_t tree_size(const Rule& rule, const Pattern& side) {
  constexpr std::size_t kMost = 1'000'000;
  std::vector<std::size_t> sizes;
  const auto of = [&](Port port) {
    return port.node.value < rule.inputs.size() ? 0 : sizes[port.node.value - rule.inputs.size()];
  };
  for (const PatternNode& node : side.nodes) {
    std::size_t size = 1;
    for (const Port operand : node.inputs) size = std::min(kMost, size + of(operand));
    sizes.push_back(size);
  }
  std::size_t all = 0;
  for (const Port output : side.outputs) all = std::min(kMost, all + of(output));
  return all;
}

using SortKey = std::tuple<std::size_t, std::size_t, std::size_t, bool, std::string>;  // As comes_before() says.
SortKey sort_key(const Rule& rule) {
  const std::size_t source = tree_size(rule, rule.source), target = tree_size(rule, rule.target);
  return {source + target, ~rule.inputs.size(), rule.precondition.size(), target > source, rule.id};
}

template <class Element, class RuleOf>
void sort_rules(std::vector<Element>& elements, RuleOf rule_of) {
  std::vector<std::pair<SortKey, std::size_t>> keys;
  for (std::size_t i = 0; i < elements.size(); ++i) keys.emplace_back(sort_key(rule_of(elements[i])), i);
  std::ranges::sort(keys);
  std::vector<Element> sorted;
  for (const auto& [key, i] : keys) sorted.push_back(std::move(elements[i]));
  elements = std::move(sorted);
}

class Builder {
 public:
  Builder(Run& run, std::vector<ProvedRule> proved) : run_(run), kept_(std::move(proved)) {}

  Status build() {
    sort_rules(kept_, [](const ProvedRule& proved) -> const Rule& { return proved.rule; });
    if (std::ranges::none_of(run_.config.pruners, &PluginUse::on_rules)) return {};
    REWRIGHT_CHECK(apply_pruners());
    if (run_.config.generalise) {
      REWRIGHT_CHECK(generalise());
      REWRIGHT_CHECK(apply_pruners());
    }
    REWRIGHT_CHECK(settle());
    REWRIGHT_CHECK(replay());
    return add_converses();
  }

  Result<Library> take() {
    Library library;
    std::set<DerivationUse> forward;
    for (const ProvedRule& proved : kept_) forward.insert({proved.rule.id, false});
    for (const auto& [rule, converse] : directions_) forward.insert({rule, true});
    for (const DroppedRule& dropped : dropped_) {
      if (!dropped.proved.goal) continue;  // A general form that is not needed after all.
      DerivationRecord record{*dropped.proved.goal,
                              dropped.proved.rule.id,
                              dropped.pruner,
                              dropped.removal.by,
                              dropped.removal.reason,
                              0,
                              true,
                              dropped.removal.derivation,
                              {}};
      REWRIGHT_TRY(const std::vector<DerivationUse> uses, uses_of(record.certificate));
      for (const DerivationUse& use : uses) {
        record.forward = record.forward && forward.contains(use);
        if (record.rules.empty() || record.rules.back() != use.rule) record.rules.push_back(use.rule);
      }
      record.steps = std::ranges::count(record.certificate, '@');
      library.derivations.push_back(std::move(record));
    }
    std::ranges::sort(library.derivations, {}, &DerivationRecord::goal);
    library.rules = std::move(kept_);
    return library;
  }

 private:
  RulePassOptions pass_options() {
    RulePassOptions options;
    options.threads = run_.options.threads;
    options.stop = [this] { return run_.should_stop(); };
    options.progress = [this](std::size_t done, std::size_t total) {
      run_.progress.report(
          {.phase = "library",
           .unit = "rules",
           .done = done,
           .fraction = static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, total))});
    };
    return options;
  }
  DeriveOptions derive_options() {
    const RulePassOptions pass = pass_options();
    DeriveOptions options;
    options.threads = pass.threads;
    options.stop = pass.stop;
    options.progress = pass.progress;
    return options;
  }
  std::vector<Rule> kept_rules() const {
    std::vector<Rule> rules;
    for (const ProvedRule& proved : kept_) rules.push_back(proved.rule);
    return rules;
  }

  Status apply_pruners() {
    for (const PluginUse& use : run_.config.pruners) {
      if (!use.on_rules) continue;
      REWRIGHT_TRY(const Pruner* pruner, run_.registry.get<Pruner>(use.name));
      REWRIGHT_CHECK(apply(*pruner, use));
    }
    return {};
  }

  /// Adds the more general forms of the rules that are kept, and of small ones that were dropped: these follow from
  /// rules that may be more special than their own general forms.
  Status generalise() {
    std::vector<Rule> rules = kept_rules();
    for (const DroppedRule& dropped : dropped_) {
      const Rule& rule = dropped.proved.rule;
      if (tree_size(rule, rule.source) + tree_size(rule, rule.target) <= kSmall) rules.push_back(rule);
    }
    std::vector<std::optional<Rule>> found(rules.size());
    tbb::enumerable_thread_specific<EqualityProver> provers([this] { return EqualityProver(run_.axioms.axioms()); });
    tbb::task_arena(run_.options.threads).execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rules.size(), 4), [&](const auto& range) {
        if (run_.should_stop()) return;
        EqualityProver& prover = provers.local();
        for (std::size_t i = range.begin(); i < range.end(); ++i) found[i] = general_form(rules[i], prover);
      });
    });
    if (run_.should_stop()) return make_error(ErrorCode::kBudget, "stopped");
    std::set<std::string> known = kept_ids();
    for (const DroppedRule& dropped : dropped_) known.insert(dropped.proved.rule.id);
    RuleJudge judge(run_.axioms, run_.registry);
    add_general_forms(kept_, std::move(found), std::move(known), judge,
                      [this](const std::string& line) { run_.log.write(line); });
    sort_rules(kept_, [](const ProvedRule& proved) -> const Rule& { return proved.rule; });
    return {};
  }
  static std::optional<Rule> general_form(const Rule& rule, EqualityProver& prover) {
    SaturationLimits limits;
    limits.nodes = 800;
    limits.matches = 8'000;
    limits.assume = false;
    auto general = more_general(rule, [&](const Rule& form) { return prover.prove(form, limits).has_value(); });
    if (!general) return std::nullopt;
    auto proof = prover.prove(*general, limits);
    if (!proof) return std::nullopt;
    general->certificate = std::move(proof->certificate);
    general->trust = trust_by(general->certificate);
    return general;
  }

  Status apply(const Pruner& pruner, const PluginUse& use) {
    REWRIGHT_TRY(const auto session, pruner.start_on_rules(use.options));
    const std::vector<Rule> rules = kept_rules();
    REWRIGHT_TRY(auto removals, session->prune(rules, run_.registry, pass_options()));
    if (removals.size() != rules.size())
      return make_error(ErrorCode::kPlugin, "pruner {} gave {} answers for {} rules; it must give one each", use.name,
                        removals.size(), rules.size());
    std::vector<ProvedRule> left;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (removals[i]) {
        dropped_.push_back({std::move(kept_[i]), use.name, *std::move(removals[i])});
      } else {
        left.push_back(std::move(kept_[i]));
      }
    }
    kept_ = std::move(left);
    run_.log.write(fmt::format("library: {} rules after pruner {}", kept_.size(), use.name));
    return {};
  }

  /// Derivations that name rules which were dropped later are replaced by others from what is left.
  Status settle() {
    std::vector<std::size_t> open;
    const std::set<std::string> ids = kept_ids();
    for (std::size_t i = 0; i < dropped_.size(); ++i) {
      REWRIGHT_TRY(const auto uses, uses_of(dropped_[i].removal.derivation));
      if (!std::ranges::all_of(uses, [&](const DerivationUse& use) { return ids.contains(use.rule); }))
        open.push_back(i);
    }
    REWRIGHT_CHECK(derive_again(open, kept_rules(), {}));
    DeriveOptions patient = derive_options();
    patient.limits.nodes *= kRoundsOfPatience;
    patient.limits.matches *= kRoundsOfPatience;
    REWRIGHT_CHECK(derive_again(open, kept_rules(), patient.limits));
    std::set<std::size_t> back;
    std::vector<Rule> library = kept_rules();
    while (!open.empty()) {
      const Rule& rule = dropped_[open.front()].proved.rule;
      run_.log.write(fmt::format("library: rule {} comes back, since no derivation is found", rule.id));
      back.insert(open.front());
      library.push_back(rule);
      open.erase(open.begin());
      REWRIGHT_CHECK(derive_again(open, library, {}));
    }
    take_back(back);
    return {};
  }
  std::set<std::string> kept_ids() const {
    std::set<std::string> ids;
    for (const ProvedRule& proved : kept_) ids.insert(proved.rule.id);
    return ids;
  }
  Status derive_again(std::vector<std::size_t>& open, const std::vector<Rule>& library,
                      const SaturationLimits& limits) {
    if (open.empty()) return {};
    std::vector<Rule> rules;
    for (const std::size_t i : open) rules.push_back(dropped_[i].proved.rule);
    DeriveOptions options = derive_options();
    options.limits = limits;
    REWRIGHT_TRY(auto derivations, derive_all(rules, library, run_.registry, options));
    std::vector<std::size_t> left;
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (derivations[k]) {
        dropped_[open[k]].removal.derivation = std::move(derivations[k]->certificate);
      } else {
        left.push_back(open[k]);
      }
    }
    open = std::move(left);
    return {};
  }

  /// Every derivation, by the checker.
  Status replay() {
    const std::vector<Rule> library = kept_rules();
    REWRIGHT_CHECK(DerivationChecker::over(library, run_.registry));
    tbb::enumerable_thread_specific<DerivationChecker> checkers(
        [&] { return *DerivationChecker::over(library, run_.registry); });
    std::vector<Status> replayed(dropped_.size());
    tbb::task_arena(run_.options.threads).execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, dropped_.size(), 16), [&](const auto& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i)
          replayed[i] = checkers.local().check(dropped_[i].proved.rule, dropped_[i].removal.derivation);
      });
    });
    std::set<std::size_t> back;
    for (std::size_t i = 0; i < dropped_.size(); ++i) {
      if (replayed[i]) continue;
      run_.log.write(fmt::format("library: rule {} comes back, since its derivation is rejected: {}",
                                 dropped_[i].proved.rule.id, replayed[i].error().message));
      back.insert(i);
    }
    take_back(back);
    return {};
  }

  /// DroppedRule rules become rules of the library again.
  void take_back(const std::set<std::size_t>& back) {
    if (back.empty()) return;
    std::vector<DroppedRule> left;
    for (std::size_t i = 0; i < dropped_.size(); ++i) {
      if (back.contains(i)) {
        kept_.push_back(std::move(dropped_[i].proved));
      } else {
        left.push_back(std::move(dropped_[i]));
      }
    }
    dropped_ = std::move(left);
    sort_rules(kept_, [](const ProvedRule& proved) -> const Rule& { return proved.rule; });
  }

  /// After each rule the one that leads back, with its own proof or its equation's read backwards.
  Status add_converses() {
    std::map<std::string, std::size_t> by_id;
    for (std::size_t i = 0; i < dropped_.size(); ++i) by_id.emplace(dropped_[i].proved.rule.id, i);
    std::set<std::string> ids = kept_ids();
    std::set<std::size_t> back;
    RuleJudge judge(run_.axioms, run_.registry);
    std::vector<ProvedRule> both;
    for (ProvedRule& proved : kept_) {
      both.push_back(std::move(proved));
      const Rule& rule = both.back().rule;
      auto turned = converse(rule);
      if (!turned) continue;
      const std::string id = turned->id;
      const auto known = by_id.find(id);
      if (known == by_id.end()) {
        if (ids.contains(id) || !adopt_proof(*turned, rule, judge)) continue;
      }
      directions_.emplace(rule.id, id);
      if (!ids.insert(id).second) continue;
      if (known != by_id.end()) {
        back.insert(known->second);
        both.push_back(dropped_[known->second].proved);
      } else {
        both.push_back({*std::move(turned), both.back().goal});
      }
    }
    kept_ = std::move(both);
    std::vector<DroppedRule> left;
    for (std::size_t i = 0; i < dropped_.size(); ++i) {
      if (!back.contains(i)) left.push_back(std::move(dropped_[i]));
    }
    dropped_ = std::move(left);
    return {};
  }
  static bool adopt_proof(Rule& turned, const Rule& rule, RuleJudge& judge) {
    turned.trust = rule.trust;
    if (rule.certificate.empty()) return true;
    auto certificate = reversed_certificate(rule.certificate);
    if (!certificate || !judge.prove(turned, *certificate)) return false;
    turned.certificate = *std::move(certificate);
    return true;
  }

  Run& run_;
  std::vector<ProvedRule> kept_;
  std::vector<DroppedRule> dropped_;
  std::map<std::string, std::string> directions_;  ///< A rule of an equation, and the one that leads back.
};

}  // namespace

bool comes_before(const Rule& a, const Rule& b) { return sort_key(a) < sort_key(b); }

void add_general_forms(std::vector<ProvedRule>& rules, std::vector<std::optional<Rule>> forms,
                       std::set<std::string> known, RuleJudge& judge,
                       const std::function<void(const std::string&)>& log) {
  std::size_t count = 0;
  for (std::optional<Rule>& form : forms) {
    if (!form || !known.insert(form->id).second) continue;
    if (const Status proved = judge.prove(*form, form->certificate); !proved) {
      log(fmt::format("library: a general form is left out, since its proof is rejected: {}: {}", to_text(*form),
                      proved.error().message));
      continue;
    }
    rules.push_back({*std::move(form), std::nullopt});
    ++count;
  }
  log(fmt::format("library: {} rules have a more general form", count));
}

Result<std::optional<Library>> build_library(Run& run, std::vector<ProvedRule> proved) {
  Builder builder(run, std::move(proved));
  const Status status = builder.build();
  if (run.stopped_by != nullptr) return std::optional<Library>();
  if (!status) return status.error();
  REWRIGHT_TRY(Library library, builder.take());
  return std::optional(std::move(library));
}

}  // namespace rewright
