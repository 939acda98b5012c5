// Finds what a theorem's certificate says (<rewright/verify/theorem_certificate.h>): combinations of facts by the
// simplex of refutation.h, maps of variables by unification. Nothing here is trusted.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/verify/theorem_certificate.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "theorem/polynomial.h"
#include "theorem/symbols.h"

namespace rewright::theorem {

class REWRIGHT_API Certifier final : public certified::Oracle {
 public:
  explicit Certifier(std::int64_t pivots = 1'000'000) : pivots_(pivots) {}

  std::optional<std::vector<certified::FactUse>> refutation(const std::vector<certified::Symbol>& symbols,
                                                            const std::vector<certified::Fact>& facts) override;
  certified::Groups groups(const std::vector<certified::Symbol>& symbols, const std::vector<certified::Term>& terms,
                           certified::Trial& trial) override;
  std::optional<certified::Cover> cover(const std::vector<certified::Symbol>& symbols, const certified::Branch& branch,
                                        const std::vector<certified::Branch>& others, certified::Trial& trial) override;
  std::optional<std::vector<certified::FactUse>> combination(const std::vector<certified::Fact>& facts) override;

 private:
  /// Pairs of indices that should be equal, and in whose variables.
  struct Pairing {
    std::vector<std::pair<Polynomial, Polynomial>> equations;
    std::vector<Symbol> unknown;
    std::vector<std::size_t> factors;  ///< Of the outermost terms: which of the second is beside each of the first.
  };
  using Visit = std::function<bool(const Pairing&)>;

  void mirror(const std::vector<certified::Symbol>& symbols);
  [[nodiscard]] std::optional<certified::Member> member_for(const certified::Term& first, const certified::Term& term,
                                                            std::size_t place, certified::Trial& trial);
  [[nodiscard]] bool pair_factors(std::span<const certified::Factor> a, const std::vector<certified::Factor>& b,
                                  const Pairing& so_far, bool outermost, const Visit& visit);
  [[nodiscard]] bool pair_factor(const certified::Factor& a, const certified::Factor& b, const Pairing& so_far,
                                 const Visit& visit);
  [[nodiscard]] bool pair_terms(std::span<const certified::Term> a, const std::vector<certified::Term>& b,
                                const std::vector<bool>& used, const Pairing& so_far, const Visit& visit);
  [[nodiscard]] bool pair_branches(std::span<const certified::Branch> a, std::span<const certified::Branch> b,
                                   const Pairing& so_far, const Visit& visit);
  [[nodiscard]] SymbolMap solved(const std::vector<std::pair<Polynomial, Polynomial>>& equations,
                                 const std::vector<Symbol>& unknown) const;
  [[nodiscard]] std::optional<Polynomial> put(const Polynomial& p, const SymbolMap& map) const;

  std::int64_t pivots_;
  std::vector<certified::Symbol> mirrored_;  ///< Those that symbols_ has.
  SymbolTable symbols_;
  std::map<std::vector<Fact>, std::optional<std::vector<certified::FactUse>>> known_;  ///< Answers, by facts.
  int steps_ = 0;
};

}  // namespace rewright::theorem
