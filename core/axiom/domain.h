// What an audit tries: the values of the variables that stand for parameters, and the sizes of kernels.
//
// An axiom's :domain comes first ("g 1 2; k [3,3]; p same valid; w.2 1 3": a parameter variable or a size of a tensor
// variable, then its values). Where it says nothing, the values are
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
#pragma once

#include <rewright/axiom.h>

#include <map>
#include <string>
#include <vector>

#include "axiom/size_search.h"

namespace rewright {

enum class AuditDomain : std::uint8_t { kTaso, kSmall, kNightly };

/// The values that each variable of the audit may take.
struct ParamDomain {
  std::vector<std::pair<std::string, std::vector<ParamValue>>> params;  ///< By parameter variable.
  SizeDomain sizes;                                                     ///< By size ("w.2"), as :domain gives them.
};

/// Errors: a :domain that cannot be read, naming file and line; a variable that stands for no parameter.
[[nodiscard]] REWRIGHT_API Result<ParamDomain> domain_of(const Axiom& axiom, AuditDomain domain);

/// Every combination of the parameters' values, the last variable changing fastest.
[[nodiscard]] std::vector<ParamBinding> bindings_of(const ParamDomain& domain);

/// The parameter that a variable stands for in the axiom's first application that names it, one that is no list of
/// sizes before one that is; null if there is none.
[[nodiscard]] const ParamSpec* spec_of(const Axiom& axiom, const std::string& variable);

/// The values that sizes of kernels take: :domain's, and the domain's own for axes 2 and 3 of the weights of
/// convolutions and of what becomes one by elementwise operators, concatenation, splits and enlarging.
[[nodiscard]] SizeDomain size_domain_of(const TypedAxiom& axiom, const ParamDomain& written, AuditDomain domain);

}  // namespace rewright
