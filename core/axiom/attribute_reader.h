// The attributes of an assertion: :named, :ranks, :condition, :source, :needs, :domain (axioms/README.md).
#pragma once

#include <rewright/axiom/axiom.h>

#include <span>

#include "axiom/reader_scope.h"
#include "axiom/term_reader.h"

namespace rewright {

/// Sets what `attributes`, keys and values in turn, say of the axiom.
Status read_attributes(const Scope& scope, const AxiomBuilder& builder, std::span<const SExpr> attributes,
                       Axiom& axiom);
/// Is everything there that must be? An axiom without tensors gets its one combination of no ranks.
Status check_attributes(const Scope& scope, const SExpr& at, Axiom& axiom);

}  // namespace rewright
