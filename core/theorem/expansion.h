// From applications of operators to values at an index: what the definitions say (operator/expression.h), put into each
// other. There is no second writing of an operator's meaning.
//
//   relu(matmul(x, w)) at (i, j)     max{sum(k) [0 <= k] [k < x.1] x[i, k] w[k, j]; 0}
//
// Trusted of a definition is what its room promises: each element of a buffer is written by one stage, once; what is
// read where its guards hold was written. Errors: Unsupported for recurrences and what is no real number.
#pragma once

#include <rewright/axiom/axiom.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "theorem/sums.h"

namespace rewright::theorem {

/// Sizes by name, as polynomials over the sizes that stay free.
using SizeValues = std::map<SizeVar, Polynomial>;

/// Errors: Unsupported for a size without a value.
[[nodiscard]] Polynomial value_of(const SymbolicDim& dim, const SizeValues& sizes, Context& context);

class Expansion {
 public:
  /// Operands come before applications.
  Expansion(std::span<const TypedTerm> terms, const SizeValues& sizes, Sums& sums);

  /// The element of a term at an index.
  [[nodiscard]] Sum element(std::uint32_t term, const std::vector<Polynomial>& at);

 private:
  using Places = std::map<std::uint32_t, Polynomial>;  ///< Axes by id.
  using Guards = std::vector<Fact>;
  /// Conditions as lists of guards, of which exactly one list holds.
  struct Cases {
    std::vector<Guards> yes, no;
  };
  /// One application's definition, while it is put in.
  struct Application {
    std::uint32_t term = 0;
    const Definition* definition = nullptr;
  };

  [[nodiscard]] const Definition& definition_of(std::uint32_t term);
  [[nodiscard]] Sum read(const Application& of, BufferId buffer, const std::vector<Polynomial>& at);
  [[nodiscard]] Sum stage_value(const Application& of, const Stage& stage, const std::vector<Polynomial>& at,
                                bool is_sole);
  [[nodiscard]] Sum value(const Application& of, const ValueExpr& expression, const Places& places);
  [[nodiscard]] Sum greatest(const Application& of, const ValueExpr& expression, const Places& places, bool least);
  [[nodiscard]] Sum reduction(const Application& of, const ValueExpr& expression, const Places& places);
  [[nodiscard]] Polynomial index(const Application& of, const IndexExpr& expression, const Places& places);
  [[nodiscard]] Polynomial whole_number(const Application& of, const ValueExpr& expression, const Places& places);
  [[nodiscard]] Fact condition(const Application& of, const IndexCondition& condition, const Places& places);
  [[nodiscard]] Cases cases(const Application& of, const ValueExpr& expression, const Places& places);
  /// [guards] * make(), which runs where they hold.
  template <class Make>
  [[nodiscard]] Sum where(const Guards& guards, const Make& make);

  std::span<const TypedTerm> terms_;
  const SizeValues& sizes_;
  Sums& sums_;
  Context& context_;
  std::map<std::uint32_t, Definition> definitions_;
};

}  // namespace rewright::theorem
