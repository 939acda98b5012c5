// The sides of an assertion, read into terms.
#pragma once

#include <rewright/axiom/axiom.h>

#include <map>
#include <span>

#include "axiom/reader_scope.h"

namespace rewright {

/// Turns the two sides of one assertion into terms.
class AxiomBuilder {
 public:
  AxiomBuilder(const Scope& scope, Axiom& axiom) : scope_(scope), axiom_(axiom) {}
  Status add_variables(const SExpr& list);
  /// The position of the term in axiom.terms.
  [[nodiscard]] Result<std::uint32_t> term(const SExpr& e);
  [[nodiscard]] Result<SymbolicDim> integer(const SExpr& e) const;
  [[nodiscard]] const AxiomVariable* find_variable(std::string_view name) const;

 private:
  [[nodiscard]] Result<SymbolicDim> arithmetic(const SExpr& e) const;
  [[nodiscard]] Result<SymbolicDim> dim(const SExpr& e) const;
  [[nodiscard]] Result<AxiomParam> list_param(const SExpr& e) const;
  [[nodiscard]] Result<AxiomParam> choice_param(const ParamSpec& spec, const SExpr& e) const;
  [[nodiscard]] Result<AxiomParam> real_param(const SExpr& e) const;
  [[nodiscard]] Result<AxiomParam> param(const ParamSpec& spec, const SExpr& e) const;
  [[nodiscard]] Result<std::uint32_t> application(const SExpr& at, const std::string& function,
                                                  std::span<const SExpr> arguments);
  const Scope& scope_;
  Axiom& axiom_;
  std::map<std::string, std::uint32_t, std::less<>> variable_term_;
};

}  // namespace rewright
