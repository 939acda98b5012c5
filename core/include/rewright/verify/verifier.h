// Verifiers: plugins that decide whether a rule holds.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/budget.h>
#include <rewright/base/options.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rewright {

class AxiomSet;

/// Is source = target for all shapes at which both are defined?
struct Goal {
  const Rule& rule;
  const AxiomSet& axioms;
  Budget budget;
};

enum class VerdictKind : std::uint8_t { kProved, kRefuted, kUnknown };
[[nodiscard]] REWRIGHT_API const char* name_of(VerdictKind kind);

struct Verdict {
  VerdictKind kind = VerdictKind::kUnknown;
  std::string reason;                  ///< One sentence. Unknown: why. Proved: how. Refuted: where the sides differ.
  std::string counterexample;          ///< Refuted: shapes, input values, the two different output values.
  std::string certificate;             ///< Proved: what the independent checker replays; empty: the solver's word only.
  std::vector<Constraint> conditions;  ///< Proved: beyond defined(source) and defined(target).
  std::vector<std::string> axioms;     ///< Proved: names of the axioms used, where the backend tells.
  double seconds = 0;                  ///< That it took, or 0. A circumstance: nothing may depend on it.
};

class Verifier;
template <>
inline constexpr std::uint32_t kAbiVersion<Verifier> = 6;

class REWRIGHT_API Verifier {
 public:
  virtual ~Verifier();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// Can it answer Proved (Refuted)?
  [[nodiscard]] virtual bool proves() const = 0;
  [[nodiscard]] virtual bool refutes() const = 0;
  /// Errors: an unknown option, a value out of range.
  virtual Status configure(const Options& options) = 0;
  /// One verdict per goal, in order. Called from one thread at a time per object. An Error means that the backend
  /// itself failed (a solver that cannot be started); an exhausted budget is Unknown.
  [[nodiscard]] virtual Result<std::vector<Verdict>> verify(std::span<const Goal> goals) = 0;
  /// A fresh, unconfigured object of the same kind: one per thread.
  [[nodiscard]] virtual std::unique_ptr<Verifier> clone() const = 0;
  /// Can a proof come with conditions of its own (Verdict::conditions)? Then it is asked about refuted rules too, which
  /// may hold where a condition is met.
  [[nodiscard]] virtual bool finds_conditions() const { return false; }
  /// Does no answer depend on what the object was asked before? Then it may serve one chunk of goals after another.
  [[nodiscard]] virtual bool reusable() const { return false; }
};

}  // namespace rewright
