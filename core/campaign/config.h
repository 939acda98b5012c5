// The campaign file: what is enumerated, pruned and verified, and where the result goes. The format is described in
// core/campaign/README.md.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/verifier.h>

#include <cstdint>
#include <string>
#include <vector>

#include "enumerate/enumeration_config.h"
#include "verify/apart.h"

namespace rewright {

/// A pruner or verifier, as the campaign file asks for it.
struct PluginUse {
  std::string name;
  Options options;
  bool on_rules = false;  ///< A pruner of proved rules.
};

/// An axiom file, or one of rules: as the campaign file names it, and where it lies.
struct AxiomFile {
  std::string name;
  std::string path;
};

struct CampaignConfig {
  std::string file;
  std::string name;
  EnumerationConfig enumeration;  ///< Without the number of threads, which no result depends on.
  std::vector<PluginUse> pruners;
  bool generalise = false;  ///< The library also takes more general forms of its rules, as far as they are proved.
  std::vector<PluginUse> verifiers;
  std::vector<AxiomFile> axioms;
  std::vector<AxiomFile> rules;  ///< Files of rules with proofs that go into the library, too.
  Budget budget;                 ///< Of each verifier, for each rule.
  bool cross_check = false;      ///< Every verifier judges every rule, so that contradictions come to light.
  Isolation isolation;           ///< Which verifiers run in processes of their own, and what of their crashes.
  Trust trust = Trust::kSolver;  ///< What the library's rules must rest on, at least.
  std::string store;             ///< The folder; empty if the file names none.
};

/// Errors: "FILE:LINE:COLUMN: SENTENCE" for whatever is wrong: TOML, an unknown key, type, operator, parameter, plugin
/// or option, a value out of range.
[[nodiscard]] REWRIGHT_API Result<CampaignConfig> load_campaign(const std::string& file, const Registry& registry);

/// Everything of the configuration that a result depends on, as JSON in one fixed form.
[[nodiscard]] REWRIGHT_API std::string resolved_text(const CampaignConfig& config);
/// The pruners in what resolved_text wrote, in order, without their options.
[[nodiscard]] REWRIGHT_API std::vector<PluginUse> pruners_of(const std::string& resolved);

}  // namespace rewright
