// What each kind of plugin promises, as tests that anyone can run on a plugin of their own (`rewright plugins test`).
//
// A contract is one promise; checking it gives what was looked at, or the first breach that was found, with the
// smallest example at hand. Checks are deterministic: seeds are fixed. A plugin may crash or loop in a check, so that a
// program runs each in a process of its own (isolation.h).
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <functional>
#include <string>
#include <vector>

namespace rewright::contract {

struct Outcome {
  enum class State { kKept, kBroken, kSkipped };
  State state = State::kKept;
  std::string detail;  ///< One sentence: what was looked at; where it was broken; why it could not be checked.

  [[nodiscard]] static Outcome kept(std::string detail) { return {State::kKept, std::move(detail)}; }
  [[nodiscard]] static Outcome broken(std::string detail) { return {State::kBroken, std::move(detail)}; }
  [[nodiscard]] static Outcome skipped(std::string detail) { return {State::kSkipped, std::move(detail)}; }
};

struct Contract {
  std::string name;  ///< "means the same over every algebra".
  std::function<Outcome()> check;
  std::string advice = {};  ///< For who broke it: where the promise stands, and what usually breaks it.
};

/// `registry` holds the object and what it is tried with (operators, a runtime); both must outlive the contracts.
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const Operator& op, const Registry& registry);
/// `axioms` are what the verifier is asked with; beyond what the contracts are about it needs those of the library's
/// operators.
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const Verifier& verifier, const Registry& registry,
                                                              const AxiomSet& axioms);
/// `axioms` are what the reference campaign's candidates are proved from.
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const Pruner& pruner, const Registry& registry,
                                                              const AxiomSet& axioms);
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const SearchStrategy& search, const Registry& registry);
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const CostModel& cost, const Registry& registry);
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const Target& target);
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const Tuner& tuner);
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const Predictor& predictor);
[[nodiscard]] REWRIGHT_API std::vector<Contract> contracts_of(const Generator& generator);

}  // namespace rewright::contract
