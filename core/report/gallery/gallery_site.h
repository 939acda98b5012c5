// All that the pages of a gallery show, read from a store once.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/gallery.h"
#include "store/statistics.h"
#include "store/store.h"

namespace rewright::gallery {

/// A candidate that led to a rule.
struct FoundAs {
  CandidateRecord candidate;
  bool reversed = false;        ///< The candidate's target is the rule's source.
  bool numbers = false;         ///< Sizes that nothing determines stayed numbers.
  std::int64_t stands_for = 0;  ///< Candidates that pruners removed for this one.
  std::string pruner;           ///< It was itself removed, by this one, and came back.
};

/// A proved rule that the library does without.
struct Derived {
  std::string id;
  std::string text;
  std::string pruner;
  std::string reason;
  std::int64_t steps = 0;
  bool forward = false;  ///< Rules are used from source to target only.
};

struct SiteRule {
  RuleText text;
  Rule rule;
  std::vector<VerdictRecord> verdicts;
  std::vector<UseRecord> uses;  ///< The greatest gain first.
  std::vector<FoundAs> found;
  std::vector<std::string> campaigns;  ///< That found it, of a merged store; else empty.
  std::vector<std::string> axioms;     ///< Its proof's, sorted.
  std::vector<std::size_t> derives;    ///< Positions in Site::derived.
  double gain_us = 0;                  ///< Of all uses.
  std::string proved_by;               ///< The verifier.
};

struct SiteAxiom {
  std::string name;
  const Axiom* axiom = nullptr;    ///< Null where its file is not there any more.
  std::vector<std::size_t> rules;  ///< Positions in Site::rules.
};

using AxiomsByName = std::map<std::string, SiteAxiom>;

struct Site {
  std::string name;                    ///< The campaign's, or the file's.
  std::string store;                   ///< Empty: a file of rules, with which come no verdicts, uses and candidates.
  std::vector<SiteRule> rules;         ///< The most interesting first (rule/rule_interest.h).
  std::vector<std::string> operators;  ///< That occur, sorted.
  AxiomsByName axioms;                 ///< By name: those that some proof needs.
  std::vector<Derived> derived;
  AxiomSet axiom_set;
  std::string axioms_missing;  ///< Why the axioms could not be read, a sentence; or "".
  RuleStatistics statistics;
};

/// Errors: the store cannot be read; an operator that is not loaded.
[[nodiscard]] Result<Site> read_site(Store& store, const Registry& registry);
/// Of rules that were judged.
[[nodiscard]] Site site_of(const GalleryRules& rules, const Registry& registry);

/// The operators of both sides, sorted, each once.
[[nodiscard]] std::vector<std::string> operators_of(const RuleText& rule);

}  // namespace rewright::gallery
