// The gallery: a static site of the rules of a store or a file, to be read from the disk, without a network.
//
//   index.html    search and filters over all rules     rules.txt   all rules as text
//   rules/ID.html one rule: both sides drawn, its condition, verdicts, proof, what it derives, where it paid
//   axioms.html, axioms/NAME.html                       summary.html
//   assets/, data/                                      style sheet, script, what the index searches
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "store/store.h"

namespace rewright {

struct GalleryOptions {
  int threads = 1;                                                    ///< No file depends on it.
  std::function<void(std::size_t done, std::size_t total)> progress;  ///< Pages; from one thread at a time.
  std::function<bool()> stop;                                         ///< True ends the work with kBudget.
};

struct GalleryReport {
  std::size_t rules = 0;
  std::size_t proofs = 0;  ///< Shown step by step.
  std::size_t axioms = 0;
  std::size_t bytes = 0;
  bool drawn = false;  ///< False: Graphviz is not installed, and rules are shown as text.
};

/// Makes `folder`, all of it or nothing; a gallery that is there already is replaced once the new one is whole. Errors:
/// kUsage where something else is there; kBudget where the disk is full; the store cannot be read.
[[nodiscard]] REWRIGHT_API Result<GalleryReport> write_gallery(Store& store, const Registry& registry,
                                                               const std::string& folder,
                                                               const GalleryOptions& options = {});
/// Rules of a file, which were judged (campaign/rule_source.h), and the axioms on which their proofs rest.
struct GalleryRules {
  std::string name;
  std::vector<Rule> rules;
  std::vector<std::string> axiom_files;
};
[[nodiscard]] REWRIGHT_API Result<GalleryReport> write_gallery(const GalleryRules& rules, const Registry& registry,
                                                               const std::string& folder,
                                                               const GalleryOptions& options = {});

}  // namespace rewright
