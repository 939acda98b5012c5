// Suggestions: axioms for what evaluation cannot refute and no verifier can prove.
//
// The open goals of a store, output by output, are equations. The smallest one that does not follow from the axioms and
// what is suggested so far is generalised to a law (law.h) and suggested; so on until every equation follows or is
// found false. In the end what no goal needs beside the others is taken back, so that none is superfluous; and where a
// law of another equation says more than a suggestion, which follows from it, it is suggested in its place.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "discover/entailment.h"
#include "discover/law.h"
#include "store/store.h"

namespace rewright {

struct Suggestion {
  Axiom axiom;
  std::uint64_t combinations = 0;  ///< At which both sides were compared.
  std::size_t goals = 0;           ///< Open goals with the equation it was made of; 0: what an operator declares.
  std::string from;                ///< That equation, as a rule.
};

struct Suggestions {
  std::vector<Suggestion> axioms;
  std::size_t open = 0;                ///< Goals that were open.
  std::size_t follow = 0;              ///< Of these, that follow from the axioms and the suggestions.
  std::vector<std::string> refuted;    ///< Equations that the audit found false, with the counterexample.
  std::vector<std::string> unsettled;  ///< Goals that still do not follow.
  bool stopped = false;                ///< Before that was known; of the axioms some may be needless.
};

struct SuggestOptions {
  LawOptions law;  ///< With what stops the whole work.
  /// The goals that are proved are asked again, and no others: for when an axiom has been taken away.
  bool ask_all = false;
  std::size_t most = 64;  ///< Suggestions.
  /// The smallest equations, that are looked at for a law that says more than a suggestion; the others among them only
  /// if what they say of any tensors, at their own parameters, is not known yet.
  std::size_t looks = 32, long_looks = 12;
  std::function<void(const std::string& what, std::size_t done, std::size_t total)> progress;
};

/// Errors: a goal that cannot be read; a verifier that fails.
[[nodiscard]] REWRIGHT_API Result<Suggestions> suggest_axioms(Store& store, const AxiomSet& axioms,
                                                              const Registry& registry, const Entailment& entailment,
                                                              const SuggestOptions& options = {});

/// The axioms and those of a text, for asking what follows from both.
[[nodiscard]] REWRIGHT_API Result<AxiomSet> with_suggestions(const AxiomSet& axioms,
                                                             std::span<const Suggestion> suggestions,
                                                             const Registry& registry);

}  // namespace rewright
