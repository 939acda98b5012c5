// Axioms as theorems: both sides are the same number at every index, for all sizes and all values.
//
//   1  Both sides must be defined: the equations between sizes are solved by substitution (d | O is O = d q).
//   2  Both sides are expanded at free indices, from the operators' definitions (expansion.h).
//   3  What sizes and indices alone decide is decided, or is a case: both cases are proved.
//   4  The difference is cancelled (matching.h). What is left is split on the arguments of its maxima.
//
// What is proved: the equation over the real numbers, wherever both sides are defined; tensors' sizes are at least 1.
// Integer parameters (strides, axes, groups) and real ones are numbers: an axiom is proved at each combination of
// ranks and parameters that its audit tries (axiom/domain.h) and at some that are drawn, for all sizes each. An axiom
// that is false at other parameters alone is not found out. A rule has its numbers, and is proved at these.
//
// Errors  What is not proved is open, with what is left. Nothing is refuted here: `axioms check` does that.
// Source  Definitions at symbolic sizes: Arora et al., TensorRight (POPL 2025). Sums and matching: sums.h.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "theorem/sums.h"

namespace rewright::theorem {

struct ProofOptions {
  std::int64_t pivots = 2'000'000;  ///< Steps of linear arithmetic that one combination may take.
  int cases = 400;                  ///< Of one combination.
  std::size_t told = 0;             ///< So many cases of a proof are told.
};

/// A side once one more operator is replaced by its definition.
struct ProofStep {
  std::string op;  ///< Whose definition; empty: the side as it is.
  std::string value;
};

/// A case of a proof as people read it: what both sides are at one index, from their definitions.
struct ProofCase {
  std::vector<std::string> where;  ///< What tells the case from others: "i0 >= x.0".
  std::string left, right;         ///< Sums of products, which are equal to the names of bound variables.
  std::vector<ProofStep> left_steps = {}, right_steps = {};  ///< From outside to inside.
  std::string because = {};  ///< Why both are equal, a sentence; empty: by the cases that follow.
};

/// Of one combination of ranks and parameters.
struct InstanceProof {
  enum class Verdict : std::uint8_t { kProved, kOpen, kVacuous };
  Verdict verdict = Verdict::kOpen;
  std::string reason;  ///< kOpen: what is left, or why there is no way.
  int cases = 0;
  bool one_form = false;           ///< kProved: both sides have one normal form, up to names; nothing was matched.
  std::vector<std::string> index;  ///< Where something is told.
  std::vector<ProofCase> told;
  std::uint64_t queries = 0;  ///< Of linear arithmetic.
  LawsUsed laws;
};

[[nodiscard]] REWRIGHT_API InstanceProof prove(const TypedAxiom& axiom, const ProofOptions& options = {});

/// What the proof of each output of a rule says; nothing where one is not proved.
[[nodiscard]] REWRIGHT_API std::vector<InstanceProof> read_proof(const Rule& rule, std::size_t cases);

/// What a proof of it says, at the first ranks and parameters at which there is one; nothing where none is found.
struct AxiomReading {
  std::string at;                       ///< "ranks 2 2, a = 0".
  std::string setting;                  ///< The same for people: "x and y of rank 2, a = 0".
  std::string left, right;              ///< As terms: "matmul(x, ewadd(y, z))".
  std::vector<std::string> conditions;  ///< Where both sides are defined and the axiom claims it, "x.1 = y.0".
  InstanceProof proof;
};
[[nodiscard]] REWRIGHT_API std::optional<AxiomReading> read_proof(const Axiom& axiom, std::size_t cases);

/// For the checker to replay. Errors: why there is none. Its rules are fewer than the prover's.
[[nodiscard]] REWRIGHT_API Result<std::string> certificate_of(const TypedAxiom& axiom,
                                                              const ProofOptions& options = {});

struct AxiomProof {
  std::string name;
  bool proved = false;
  std::size_t instances = 0;  ///< Combinations of ranks and parameters at which both sides can be defined.
  std::size_t vacuous = 0;    ///< Of these, where no sizes meet the conditions.
  std::size_t open = 0;
  std::size_t shown = 0;      ///< Of these, those that are proved and met by some sizes.
  std::size_t certified = 0;  ///< Of those shown: with a certificate that the checker has taken.
  std::string uncertified;    ///< Of the first without: why there is none.
  std::string reason;         ///< Of the first that is open: the combination, and what is left.
  double seconds = 0;
  LawsUsed laws;

  /// Has each combination that is shown a certificate?
  [[nodiscard]] bool is_certified() const { return proved && certified == shown; }
};

struct AxiomProofOptions {
  ProofOptions instance;
  std::size_t drawn = 40;  ///< Combinations of parameters for each choice of ranks, out of all that :domain claims.
  std::uint64_t seed = 1;
  int threads = 1;
  bool certify = false;      ///< Each combination that is proved is proved again, with a certificate that is checked.
  bool stop_at_open = true;  ///< The others of an axiom are not tried.
  std::function<void(std::size_t done, std::size_t total)> progress;  ///< From one thread at a time.
  std::function<bool()> stop;
};

/// In order. Errors: a :domain that cannot be read.
[[nodiscard]] REWRIGHT_API Result<std::vector<AxiomProof>> prove(std::span<const Axiom> axioms,
                                                                 const AxiomProofOptions& options);

}  // namespace rewright::theorem
