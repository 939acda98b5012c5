// Where an axiom is claimed besides its :ranks and :condition: what :domain says, read once for the audit, for provers
// and for the checker of certificates.
//
//   :domain "g 1 2; k 1..7; u any -1.0 0.5; v 0.. 0.5; u <= v; s _1.._4; w.2 1 3"
//
//   g 1 2           the parameter variable g is 1 or 2
//   k 1..7          between both, ends included; either may be left out ("0.."). Of a list: every element
//   u any -1.0 0.5  any value at all; the audit tries these besides its own
//   u <= v          a relation of two parameter variables that are numbers, or of one and a number; < >= > = != too
//   s _1.._4        a list of 1 to 4 sizes
//   w.2 1 3         the size of a tensor variable along an axis
//
// A variable that :domain does not name may have any value. The audit draws from all that is claimed (axiom/domain.h);
// a use outside is no use of the axiom: specialise() and the checker refuse it. X02: clip(u, v, x) = x with
// "u -1000000.0; v 1000000.0" says nothing of clip(-1, 1, x).
//
// Source: SMT-LIB 2.6 has no such attribute; this one is ours.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rewright {

/// low <= value <= high; without a bound where there is none.
struct ClaimRange {
  std::optional<double> low, high;
};

/// What :domain says of one parameter variable, or of one size.
struct ClaimEntry {
  std::string name;
  bool any = false;  ///< Claimed at every value; `values` are what the audit tries first.
  std::vector<ParamValue> values;
  std::vector<ClaimRange> ranges;
};

struct ClaimRelation {
  enum class Kind : std::uint8_t { kLess, kAtMost, kEqual, kNotEqual, kAtLeast, kMore };
  std::string left;
  Kind kind = Kind::kEqual;
  std::variant<std::string, double> right;
};

struct AxiomClaim {
  std::vector<ClaimEntry> params;  ///< Of parameter variables.
  std::vector<ClaimEntry> sizes;   ///< Of Int variables that are sizes, and of "w.2".
  std::vector<ClaimRelation> relations;

  [[nodiscard]] const ClaimEntry* param(std::string_view name) const;
};

/// Errors: kParse, with file, line, axiom and word.
[[nodiscard]] REWRIGHT_API Result<AxiomClaim> read_claim(const Axiom& axiom);

/// Values of parameter variables at which the axiom is claimed; those that `binding` lacks are not looked at.
/// Errors: kMismatch, naming file, line, axiom, variable, value and :domain.
Status check_claim(const Axiom& axiom, const AxiomClaim& claim, const ParamBinding& binding);

/// What the claim says of sizes, over "w.2" and Int variables. A list of sizes is a product: w.2 in {1, 3} is
/// (w.2 - 1) * (w.2 - 3) = 0.
[[nodiscard]] std::vector<Constraint> size_constraints(const AxiomClaim& claim);

/// The parameter that a variable stands for in the axiom's first application that names it, one that is no list of
/// sizes before one that is; null if there is none.
[[nodiscard]] const ParamSpec* spec_of(const Axiom& axiom, const std::string& variable);

}  // namespace rewright
