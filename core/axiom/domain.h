// What an audit tries: the values of the variables that stand for parameters, and the sizes of kernels.
//
// An axiom's :domain comes first (axiom/claim.h). Where it names no values, they are
//
//                  kTaso (Jia et al., SOSP 2019)   kSmall                     kNightly
//   strides        1, 2 along each axis            [1,1] [2,1] [2,2] [1,3]    1, 2, 3 along each axis
//   kernels        1, 3 along each axis            1 .. max_dim               1 .. 5 along each axis
//   padding        same, valid                     same, valid, explicit      same, valid, explicit
//   pads           none                            none, and two that differ  none, SAME_UPPER's, SAME_LOWER's, others
//   dilations      1                               [1,1] [2,1]                1, 2 along each axis
//   groups         1, 2                            1, 2                       1, 2, 3
//   activation     none, relu                      every                      every
//
// and for axes, permutations, lists of sizes and every other choice the same in all three.
//
// Besides, wide_binding() draws from all that is claimed: groups to 6, strides to 4, kernels to 7, pads to 3, exponents
// -4 to 6, reals from 1e-6 to 1e6 of both signs, permutations and lists of any length that a rank allows.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/mixing.h>

#include <map>
#include <string>
#include <vector>

#include "axiom/claim.h"
#include "axiom/size_search.h"

namespace rewright {

enum class AuditDomain : std::uint8_t { kTaso, kSmall, kNightly };

/// A variable that stands for a parameter, or for one element of a parameter that is a list.
struct ParamVariable {
  std::string name;
  const ParamSpec* spec = nullptr;
  bool is_element = false;
};

/// The values that each variable of the audit may take.
struct ParamDomain {
  std::vector<std::pair<std::string, std::vector<ParamValue>>> params;  ///< By parameter variable.
  SizeDomain sizes;                                                     ///< By size ("w.2"), as :domain gives them.
  AxiomClaim claim;
  std::vector<ParamVariable> variables;  ///< As in `params`.
  int max_rank = 2;                      ///< The greatest of the axiom's, 2 at least.
};

/// Errors: a :domain that cannot be read, naming file and line; a variable that stands for no parameter.
[[nodiscard]] REWRIGHT_API Result<ParamDomain> domain_of(const Axiom& axiom, AuditDomain domain);

/// Every combination of the parameters' values, the last variable changing fastest.
[[nodiscard]] std::vector<ParamBinding> bindings_of(const ParamDomain& domain);

/// One value for each parameter variable out of all that is claimed, or, one time in three, out of those that the
/// domain tries. Relations between variables are not looked at.
[[nodiscard]] ParamBinding wide_binding(const ParamDomain& domain, Random& random);

/// The values that sizes of kernels take: :domain's, and the domain's own for axes 2 and 3 of the weights of
/// convolutions and of what becomes one by elementwise operators, concatenation, splits and enlarging.
[[nodiscard]] SizeDomain size_domain_of(const TypedAxiom& axiom, const ParamDomain& written, AuditDomain domain);

}  // namespace rewright
