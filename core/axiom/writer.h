// Axioms as SMT-LIB 2.6, as the reader takes them (axioms/README.md).
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <span>
#include <string>

namespace rewright {

/// (assert (! (forall ...) :named ... )), with every attribute that is not empty. Errors: kUnsupported where a size is
/// a quotient or a number infinite, which the language of axioms has not.
[[nodiscard]] REWRIGHT_API Result<std::string> to_smt(const Axiom& axiom);
/// A whole file: the logic, sorts, functions and choices that the axioms name, then the axioms.
[[nodiscard]] REWRIGHT_API Result<std::string> to_smt(std::span<const Axiom> axioms);

}  // namespace rewright
