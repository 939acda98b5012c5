// Reads expressions of sizes.
#include <rewright/tensor/dim.h>

#include <algorithm>
#include <cmath>

#include "tensor/dim_bounds.h"

namespace rewright {

namespace {

constexpr double kLargest = 2'199'023'255'552;  // 2^41
constexpr std::size_t kMostTerms = 1000;
constexpr std::size_t kMostFactors = 64;

/// The sum of the sizes of an expression's numbers: no number of a sum or a product passes that of the weights.
double weight(const SymbolicDim& dim) {
  double sum = std::abs(static_cast<double>(dim.constant_term()));
  for (const SymbolicDim::Atom& atom : dim.atoms()) sum += std::abs(static_cast<double>(atom.coefficient));
  return sum;
}

std::size_t factors_of(const SymbolicDim& dim) {
  std::size_t most = 0;
  for (const SymbolicDim::Atom& atom : dim.atoms()) {
    const bool product = atom.kind == SymbolicDim::Atom::Kind::kProduct;
    most = std::max(most, product ? factors_of(*atom.left) + factors_of(*atom.right) : 1);
  }
  return most;
}

/// Recursive descent over  sum := product (('+'|'-') product)*,  product := unary ('*' unary)*,
/// unary := '-'* (number | name | '(' sum ')' | 'floor' '(' sum '/' number ')').
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Result<SymbolicDim> parse_all() {
    REWRIGHT_TRY(SymbolicDim dim, sum());
    skip_space();
    if (at_ != text_.size()) return unexpected("the end");
    return dim;
  }

 private:
  static constexpr int kMaxDepth = 200;

  Error unexpected(std::string_view wanted) const {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : std::string("the end");
    return make_error(ErrorCode::kParse, "size expression '{}': found {} at column {}, expected {}", text_, found,
                      at_ + 1, wanted);
  }
  Error too_large() const {
    return make_error(ErrorCode::kParse,
                      "size expression '{}': too large: numbers may reach 2^41, sums {} terms, products {} factors",
                      text_, kMostTerms, kMostFactors);
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<SymbolicDim> sum() {
    if (++depth_ > kMaxDepth) return unexpected(fmt::format("at most {} levels of parentheses", kMaxDepth));
    REWRIGHT_TRY(SymbolicDim total, product());
    while (true) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      REWRIGHT_TRY(const SymbolicDim next, product());
      if (!sum_fits(total, next)) return too_large();
      total = plus ? total + next : total - next;
    }
    --depth_;
    return total;
  }
  Result<SymbolicDim> product() {
    REWRIGHT_TRY(SymbolicDim total, unary());
    while (take('*')) {
      REWRIGHT_TRY(const SymbolicDim next, unary());
      if (!product_fits(total, next)) return too_large();
      total = total * next;
    }
    return total;
  }
  Result<std::int64_t> number() {
    skip_space();
    std::int64_t value = 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
          __builtin_add_overflow(value, std::int64_t{text_[at_] - '0'}, &value)) {
        return unexpected("a number below 2^63");
      }
      ++at_;
    }
    if (at_ == start) return unexpected("a number");
    return value;
  }
  Result<SymbolicDim> unary() {
    bool negative = false;
    while (take('-')) negative = !negative;
    REWRIGHT_TRY(SymbolicDim value, primary());
    return negative ? SymbolicDim(-1) * value : value;
  }
  Result<SymbolicDim> primary() {
    skip_space();
    if (at_ >= text_.size()) return unexpected("a size");
    if (text_[at_] >= '0' && text_[at_] <= '9') {
      REWRIGHT_TRY(const std::int64_t value, number());
      if (static_cast<double>(value) > kLargest) return too_large();
      return SymbolicDim(value);
    }
    if (take('(')) {
      REWRIGHT_TRY(SymbolicDim inner, sum());
      if (!take(')')) return unexpected("')'");
      return inner;
    }
    const auto in_name = [](char x) {
      return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || x == '_' || x == '.' || (x >= '0' && x <= '9');
    };
    const std::size_t start = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    if (at_ == start) return unexpected("a size");
    std::string name(text_.substr(start, at_ - start));
    if (name != "floor") return SymbolicDim::variable(SizeVar::read(name));
    if (!take('(')) return unexpected("'(' after floor");
    REWRIGHT_TRY(const SymbolicDim dividend, sum());
    if (!take('/')) return unexpected("'/' inside floor");
    REWRIGHT_TRY(const std::int64_t divisor, number());
    if (divisor <= 0) return unexpected("a positive divisor");
    if (!take(')')) return unexpected("')'");
    return floor_divide(dividend, divisor);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool sum_fits(const SymbolicDim& a, const SymbolicDim& b) {
  return weight(a) + weight(b) <= kLargest && a.atoms().size() + b.atoms().size() <= kMostTerms;
}

bool product_fits(const SymbolicDim& a, const SymbolicDim& b) {
  return weight(a) <= kLargest && weight(b) <= kLargest && weight(a) * weight(b) <= kLargest &&
         (a.atoms().size() + 1) * (b.atoms().size() + 1) <= kMostTerms && factors_of(a) + factors_of(b) <= kMostFactors;
}

Result<SymbolicDim> SymbolicDim::parse(std::string_view text) { return DimParser(text).parse_all(); }

}  // namespace rewright
