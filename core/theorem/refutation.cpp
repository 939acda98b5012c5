#include "theorem/refutation.h"

#include <algorithm>
#include <map>

namespace rewright::theorem {

namespace {

/// Unknowns are monomials, then one slack for each fact: slack = fact without its constant.
class FactTableau {
 public:
  explicit FactTableau(std::span<const Fact> facts) {
    std::map<Monomial, std::size_t> columns;
    for (const Fact& fact : facts) {
      for (const auto& [monomial, coefficient] : fact.value.terms()) {
        if (!monomial.empty()) columns.emplace(monomial, columns.size());
      }
    }
    columns_ = columns.size();
    rows_.assign(facts.size(), std::vector<Rational>(columns_));
    values_.assign(columns_ + facts.size(), 0);
    low_.resize(values_.size());
    high_.resize(values_.size());
    for (std::size_t f = 0; f < facts.size(); ++f) {
      for (const auto& [monomial, coefficient] : facts[f].value.terms()) {
        if (!monomial.empty()) rows_[f][columns.at(monomial)] = coefficient;
      }
      const std::int64_t bound = checked_multiply(facts[f].value.constant_term(), -1);
      low_[columns_ + f] = Rational(bound);
      if (facts[f].is_equality) high_[columns_ + f] = Rational(bound);
      basic_.push_back(columns_ + f);
    }
    for (std::size_t c = 0; c < columns_; ++c) free_.push_back(c);
  }

  std::optional<Combination> run(std::int64_t& pivots) {
    while (pivots > 0) {
      const std::optional<std::size_t> row = first_violation();
      if (!row) return std::nullopt;
      const bool too_low = low_[basic_[*row]] && values_[basic_[*row]] < *low_[basic_[*row]];
      const std::optional<std::size_t> column = entering(*row, too_low);
      if (!column) return conflict(*row, too_low);
      --pivots;
      pivot(*row, *column, too_low ? *low_[basic_[*row]] : *high_[basic_[*row]]);
    }
    return std::nullopt;
  }

 private:
  std::optional<std::size_t> first_violation() const {
    std::optional<std::size_t> first;
    for (std::size_t r = 0; r < basic_.size(); ++r) {
      const std::size_t unknown = basic_[r];
      const bool violates = (low_[unknown] && values_[unknown] < *low_[unknown]) ||
                            (high_[unknown] && values_[unknown] > *high_[unknown]);
      if (violates && (!first || unknown < basic_[*first])) first = r;
    }
    return first;
  }
  std::optional<std::size_t> entering(std::size_t row, bool too_low) const {
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < columns_; ++c) {
      const int sign = rows_[row][c].sign() * (too_low ? 1 : -1);
      const std::size_t unknown = free_[c];
      const bool can_move = (sign > 0 && (!high_[unknown] || values_[unknown] < *high_[unknown])) ||
                            (sign < 0 && (!low_[unknown] || values_[unknown] > *low_[unknown]));
      if (can_move && (!best || unknown < free_[*best])) best = c;
    }
    return best;
  }
  /// Every slack of the row lies at its bound, and the row's own beyond: the facts themselves, so weighted, add up to a
  /// negative number.
  Combination conflict(std::size_t row, bool too_low) const {
    const Rational side = too_low ? 1 : -1;
    Combination combination{{basic_[row] - columns_, side}};
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!rows_[row][c].is_zero()) combination.emplace_back(free_[c] - columns_, -(rows_[row][c] * side));
    }
    return combination;
  }
  void pivot(std::size_t row, std::size_t column, const Rational& target) {
    const Rational factor = rows_[row][column];
    const Rational step = (target - values_[basic_[row]]) / factor;
    values_[basic_[row]] = target;
    values_[free_[column]] = values_[free_[column]] + step;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (r != row && !rows_[r][column].is_zero()) values_[basic_[r]] = values_[basic_[r]] + rows_[r][column] * step;
    }
    std::vector<Rational>& pivoted = rows_[row];
    for (Rational& entry : pivoted) {
      if (!entry.is_zero()) entry = -(entry / factor);
    }
    pivoted[column] = Rational(1) / factor;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (r == row || rows_[r][column].is_zero()) continue;
      const Rational share = rows_[r][column];
      rows_[r][column] = 0;
      for (std::size_t c = 0; c < columns_; ++c) {
        if (!pivoted[c].is_zero()) rows_[r][c] = rows_[r][c] + share * pivoted[c];
      }
    }
    std::swap(basic_[row], free_[column]);
  }

  std::size_t columns_ = 0;
  std::vector<std::vector<Rational>> rows_;  ///< basic = sum of entry * free.
  std::vector<std::size_t> basic_, free_;    ///< Unknowns by row and by column.
  std::vector<Rational> values_;
  std::vector<std::optional<Rational>> low_, high_;
};

}  // namespace

std::optional<Combination> refute(std::span<const Fact> facts, std::int64_t& pivots) {
  for (std::size_t f = 0; f < facts.size(); ++f) {
    const auto constant = facts[f].value.constant();
    if (!constant || (facts[f].is_equality ? *constant == 0 : *constant >= 0)) continue;
    return Combination{{f, facts[f].is_equality ? Rational(-*constant) : Rational(1)}};
  }
  return FactTableau(facts).run(pivots);
}

bool is_refutation(std::span<const Fact> facts, const Combination& combination) {
  std::map<Monomial, Rational> sum;
  for (const auto& [place, weight] : combination) {
    if (place >= facts.size() || (!facts[place].is_equality && weight.sign() < 0)) return false;
    for (const auto& [monomial, coefficient] : facts[place].value.terms())
      sum[monomial] = sum[monomial] + weight * Rational(coefficient);
  }
  return std::ranges::all_of(
             sum,
             [](const auto& term) { return term.first.empty() ? term.second.sign() < 0 : term.second.is_zero(); }) &&
         sum.contains(Monomial{});
}

}  // namespace rewright::theorem
