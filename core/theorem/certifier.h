// Finds what a theorem's certificate says (<rewright/verify/theorem_certificate.h>): combinations of facts by
// named_facts.h, maps of variables by unification. Nothing here is trusted.
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
#include "theorem/witnesses.h"

namespace rewright::theorem {

class REWRIGHT_API Certifier final : public certified::Oracle {
 public:
  explicit Certifier(std::int64_t pivots = 1'000'000) : pivots_(pivots), witnesses_(symbols_) {}

  std::optional<std::vector<certified::FactUse>> refutation(const std::vector<certified::Symbol>& symbols,
                                                            const std::vector<certified::Fact>& facts) override;
  certified::Groups groups(const std::vector<certified::Symbol>& symbols, const std::vector<certified::Fact>& facts,
                           const std::vector<certified::Term>& terms, certified::Trial& trial) override;
  std::optional<certified::Cover> cover(const std::vector<certified::Symbol>& symbols,
                                        const std::vector<certified::Fact>& facts, const certified::Branch& branch,
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
  void mirror(const std::vector<certified::Fact>& facts);
  /// A number for the facts that were mirrored last.
  [[nodiscard]] std::uint32_t state();
  [[nodiscard]] certified::Groups found_groups(const std::vector<certified::Symbol>& symbols,
                                               const std::vector<certified::Term>& terms, certified::Trial& trial);
  [[nodiscard]] std::optional<certified::Cover> found_cover(const std::vector<certified::Symbol>& symbols,
                                                            const certified::Branch& branch,
                                                            const std::vector<certified::Branch>& others,
                                                            certified::Trial& trial);
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
                                 const std::vector<Symbol>& unknown);
  [[nodiscard]] std::optional<Polynomial> put(const Polynomial& p, const SymbolMap& map) const;

  std::int64_t pivots_;
  using Answer = std::optional<std::vector<certified::FactUse>>;
  std::vector<certified::Symbol> mirrored_;  ///< Those that symbols_ has.
  SymbolTable symbols_;
  std::vector<certified::Fact> asked_;  ///< The facts of the last question,
  std::vector<Fact> given_;             ///< the same,
  Witnesses witnesses_;                 ///< where they hold,
  std::vector<std::uint32_t> states_;   ///< and a number for each list of facts that there was, up to here.
  std::map<std::pair<std::uint32_t, Fact>, std::uint32_t> state_after_;
  // Answers, by state and by what was asked. What a trial found is asked again where it is taken.
  std::map<std::uint32_t, Answer> known_;
  std::map<std::string, certified::Groups> known_groups_;
  std::map<std::string, std::optional<certified::Cover>> known_covers_;
  int steps_ = 0;
};

}  // namespace rewright::theorem
