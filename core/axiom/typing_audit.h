// The audit of an axiom at one combination of ranks and parameters.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "axiom/audit_types.h"
#include "axiom/evaluation.h"
#include "axiom/size_search.h"

namespace rewright {

/// A point at which both sides differ.
struct AuditPoint {
  enum class Algebra { kField, kExact, kReal } algebra;
  Draw draw;
  std::uint64_t seed;
};

struct AuditFailure {
  std::vector<std::int64_t> sizes;
  AuditPoint point;
  std::int64_t elements = std::numeric_limits<std::int64_t>::max();
};

/// One axiom at one combination of ranks and parameters.
class REWRIGHT_API TypingAudit {
 public:
  TypingAudit(const TypedAxiom& axiom, const ParamDomain& domain, const AuditOptions& options);
  ~TypingAudit();
  TypingAudit(const TypingAudit&) = delete;
  TypingAudit& operator=(const TypingAudit&) = delete;
  /// Compares at the domain's sizes, or an even part of them; adds to `result`. A failure ends it, and so does `stop`,
  /// which is asked now and then.
  std::optional<AuditFailure> run(AuditResult& result, const std::function<bool()>& stop);
  /// Compares at `count` of the sizes up to options.wide_dim, drawn with the seed; at fewer where there are few.
  std::optional<AuditFailure> run_wide(std::size_t count, AuditResult& result, const std::function<bool()>& stop);
  /// The same failure with sizes made smaller one by one as long as both sides still differ.
  AuditFailure shrunk(AuditFailure failure);
  /// The failing combination with the fewest elements among sizes up to max_dim.
  std::optional<AuditFailure> smallest(std::int64_t max_dim);
  /// Inputs of -1, 0 and 1 where such show it too. The typing alone where the sizes are such that nothing has a value.
  std::string describe(const AuditFailure& failure);

 private:
  static SizeDomain limited(const SizeDomain& sizes, std::int64_t max_dim);
  std::int64_t elements(const AuditPoint& point) const;
  template <class Scalar>
  bool differs(TermValues<Scalar>& values, std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed,
               bool& compared) {
    if (!values.run(sizes, draw, seed)) return false;
    compared |= values.defined();
    return !values.equal();
  }
  /// Over exact numbers, where the left side has any. One that is too large for them is no value: with numbers of many
  /// magnitudes it says nothing beside one that is not.
  bool exact_differs(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed, bool& compared);
  /// Over doubles: do both sides differ by more than what rounding each step otherwise changes? Values that are no
  /// numbers count where inputs are small, since nothing can overflow there.
  bool reals_differ(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed, bool& compared);
  std::optional<AuditPoint> wide_difference(std::span<const std::int64_t> sizes, std::uint64_t seed, std::size_t index,
                                            int rounds, bool& compared);
  std::optional<AuditPoint> difference_at(std::span<const std::int64_t> sizes, std::size_t index, int rounds,
                                          AuditResult& result);
  std::optional<AuditPoint> polynomial_difference(std::span<const std::int64_t> sizes, std::uint64_t seed,
                                                  bool& compared);
  std::optional<AuditPoint> ordered_difference(std::span<const std::int64_t> sizes, std::uint64_t seed,
                                               std::size_t index, int rounds, bool& compared);
  std::optional<AuditPoint> functional_difference(std::span<const std::int64_t> sizes, std::uint64_t seed,
                                                  std::size_t index, int rounds, bool& compared);
  const TypedAxiom& axiom_;
  const AuditOptions& options_;
  std::vector<Constraint> constraints_;
  std::vector<SizeVar> variables_;
  SizeDomain sizes_;
  SizeSearch search_;
  SizeSearch wide_search_;
  AxiomProgram program_;
  TermValues<Field> field_;
  TermValues<Exact> exact_;
  TermValues<Real> real_;
};

}  // namespace rewright
