// One function for each kind of page; each gives the page's whole text.
#pragma once

#include <rewright/verify/certificate.h>

#include <cstddef>
#include <string>
#include <vector>

#include "report/gallery/drawings.h"
#include "report/gallery/gallery_site.h"
#include "theorem/theorem_prover.h"

namespace rewright::gallery {

/// "18,323".
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "1.2 ms", "35 us".
[[nodiscard]] std::string microseconds(double us);

/// The steps of a proof: each term with the part that the last step made and the part that the next one takes marked.
[[nodiscard]] std::string proof_html(const std::vector<ProofChain>& chains, const AxiomsByName& axioms);

struct RulePageInput {
  std::size_t position = 0;
  const Drawing* drawing = nullptr;  ///< Null: Graphviz is not installed.
  std::vector<ProofChain> proof;
  std::vector<theorem::InstanceProof> readings;  ///< From definitions: of each output.
  std::string proof_missing;                     ///< Why there is none to show.
};
[[nodiscard]] std::string rule_page(const Site& site, const RulePageInput& input);

[[nodiscard]] std::string index_page(const Site& site);
/// What the index searches: a script that defines REWRIGHT.
[[nodiscard]] std::string index_data(const Site& site);
[[nodiscard]] std::string axioms_page(const Site& site);
[[nodiscard]] std::string axiom_page(const Site& site, const SiteAxiom& axiom);
[[nodiscard]] std::string summary_page(const Site& site);

/// Where the page of a rule is, from the top of the site.
[[nodiscard]] std::string rule_file(const RuleText& rule);
[[nodiscard]] std::string axiom_file(const std::string& name);

}  // namespace rewright::gallery
