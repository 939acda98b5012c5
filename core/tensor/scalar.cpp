// The scalar algebras' arithmetic.
#include <rewright/base/mixing.h>
#include <rewright/base/result.h>
#include <rewright/tensor/scalar.h>
#include <rewright/tensor/term_program.h>

#include <bit>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensor/real.h"

namespace rewright {

const char* name_of(Function function) {
  switch (function) {
    case Function::kExp: return "exp";
    case Function::kLog: return "log";
    case Function::kSqrt: return "sqrt";
    case Function::kTanh: return "tanh";
    case Function::kSigmoid: return "sigmoid";
    case Function::kErf: break;
  }
  return "erf";
}

namespace {

/// A keyed pseudo-random function on 64-bit words, of two rounds.
std::uint64_t keyed_bits(std::uint64_t key, std::uint64_t word) {
  return avalanche(mix(word) ^ (key * 0xd1342543de82ef95ULL + 0x2545f4914f6cdd1dULL));
}

// Keys beyond the Functions' own.
constexpr std::uint64_t kInverseOfZeroKey = 0x100;
constexpr std::uint64_t kNotFiniteKey = 0x101;

Field random_field(std::uint64_t key, std::uint64_t word) {
  return Field::from_residue(keyed_bits(key, word) % Field::kPrime);
}

std::uint64_t magnitude(int n) { return static_cast<std::uint64_t>(std::abs(n)); }

Field power(Field base, std::uint64_t exponent) {
  Field result = Field::from_integer(1);
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result * base;
    base = base * base;
  }
  return result;
}

}  // namespace

// --- Field -----------------------------------------------------------------------------------------------------

Field Field::from_double(double value) {
  if (!std::isfinite(value)) return random_field(kNotFiniteKey, std::bit_cast<std::uint64_t>(value));
  const RealMeaning meaning = meaning_of(value);
  Field numerator = from_integer(meaning.numerator), denominator = from_integer(meaning.denominator);
  Field& scaled = meaning.ten < 0 ? denominator : numerator;
  scaled = scaled * power(from_integer(10), magnitude(meaning.ten));
  numerator = numerator * power(from_integer(2), magnitude(meaning.two));
  return denominator == from_integer(1) ? numerator : numerator / denominator;
}

Field Field::inverse() const {
  if (residue_ == 0) return random_field(kInverseOfZeroKey, 0);
  return power(*this, kPrime - 2);  // Fermat's little theorem.
}

Field apply(Function function, Field argument) {
  return random_field(static_cast<std::uint64_t>(function), argument.residue());
}

// --- Exact -----------------------------------------------------------------------------------------------------

namespace {

Int128 gcd128(Int128 a, Int128 b) {
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

bool fits_64(Int128 n) { return n == static_cast<std::int64_t>(n); }

/// The smallest 64-bit integer is no value: its negative is none.
bool is_value(std::int64_t n) { return n != std::numeric_limits<std::int64_t>::min(); }

}  // namespace

Exact Exact::from_integer(std::int64_t n) {
  if (!is_value(n)) return undefined();
  Exact value;
  value.numerator_ = n;
  return value;
}

Exact Exact::undefined() {
  Exact value;
  value.denominator_ = 0;
  return value;
}

Exact Exact::ratio(Int128 numerator, Int128 denominator) {
  if (denominator == 0) return undefined();
  if (denominator == 1 && fits_64(numerator)) return from_integer(static_cast<std::int64_t>(numerator));
  const bool small = fits_64(numerator) && fits_64(denominator);  // Division of 128 bits is several times slower.
  const Int128 divisor =
      small && is_value(static_cast<std::int64_t>(numerator)) && is_value(static_cast<std::int64_t>(denominator))
          ? std::gcd(static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator))
          : gcd128(numerator, denominator);
  numerator /= divisor;
  denominator /= divisor;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  constexpr Int128 kLimit = std::numeric_limits<std::int64_t>::max();
  if (numerator > kLimit || numerator < -kLimit || denominator > kLimit) return undefined();
  Exact value;
  value.numerator_ = static_cast<std::int64_t>(numerator);
  value.denominator_ = static_cast<std::int64_t>(denominator);
  return value;
}

Exact Exact::from_double(double value) {
  if (!std::isfinite(value)) return undefined();
  const RealMeaning meaning = meaning_of(value);
  constexpr int kMostTens = 37;  // A numerator has 17 digits, and what is reduced fits 128 bits.
  if (meaning.two > 0 || meaning.ten > kMostTens - 17 || meaning.ten < -kMostTens) return undefined();
  Int128 scale = 1;
  for (int i = 0; i < std::abs(meaning.ten); ++i) scale *= 10;
  return meaning.ten < 0 ? ratio(meaning.numerator, scale) : ratio(meaning.numerator * scale, meaning.denominator);
}

Exact operator+(Exact a, Exact b) {
  if (std::int64_t sum = 0; a.denominator_ == 1 && b.denominator_ == 1 &&
                            !__builtin_add_overflow(a.numerator_, b.numerator_, &sum) && is_value(sum)) {
    a.numerator_ = sum;
    return a;
  }
  if (!a.defined() || !b.defined()) return Exact::undefined();
  return Exact::ratio(
      static_cast<Int128>(a.numerator_) * b.denominator_ + static_cast<Int128>(b.numerator_) * a.denominator_,
      static_cast<Int128>(a.denominator_) * b.denominator_);
}

Exact operator-(Exact a, Exact b) {
  b.numerator_ = -b.numerator_;
  return a + b;
}

Exact operator*(Exact a, Exact b) {
  if (std::int64_t product = 0; a.denominator_ == 1 && b.denominator_ == 1 &&
                                !__builtin_mul_overflow(a.numerator_, b.numerator_, &product) && is_value(product)) {
    a.numerator_ = product;
    return a;
  }
  if (!a.defined() || !b.defined()) return Exact::undefined();
  return Exact::ratio(static_cast<Int128>(a.numerator_) * b.numerator_,
                      static_cast<Int128>(a.denominator_) * b.denominator_);
}

Exact operator/(Exact a, Exact b) {
  if (!a.defined() || !b.defined()) return Exact::undefined();
  return Exact::ratio(static_cast<Int128>(a.numerator_) * b.denominator_,
                      static_cast<Int128>(a.denominator_) * b.numerator_);
}

Exact max(Exact a, Exact b) {
  if (!a.defined() || !b.defined()) return Exact::undefined();
  const Int128 left = static_cast<Int128>(a.numerator_) * b.denominator_;
  const Int128 right = static_cast<Int128>(b.numerator_) * a.denominator_;
  return left < right ? b : a;
}

Exact apply(Function function, Exact argument) {
  if (!argument.defined()) return argument;
  const bool zero = argument == Exact();
  const bool one = argument == Exact::from_integer(1);
  switch (function) {
    case Function::kExp: return zero ? Exact::from_integer(1) : Exact::undefined();
    case Function::kLog: return one ? Exact() : Exact::undefined();
    case Function::kSqrt: return zero || one ? argument : Exact::undefined();
    case Function::kTanh:
    case Function::kErf: return zero ? Exact() : Exact::undefined();
    case Function::kSigmoid: break;
  }
  return zero ? Exact::ratio(1, 2) : Exact::undefined();
}

std::string to_string(Exact value) {
  if (!value.defined()) return "undefined";
  if (value.denominator() == 1) return std::to_string(value.numerator());
  return fmt::format("{}/{}", value.numerator(), value.denominator());
}

// --- Real ------------------------------------------------------------------------------------------------------

Real apply(Function function, Real argument) {
  const double x = argument.value;
  switch (function) {
    case Function::kExp: return {std::exp(x)};
    case Function::kLog: return {std::log(x)};
    case Function::kSqrt: return {std::sqrt(x)};
    case Function::kTanh: return {std::tanh(x)};
    case Function::kSigmoid: return {x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x))};
    case Function::kErf: break;
  }
  return {std::erf(x)};
}

// --- Term ------------------------------------------------------------------------------------------------------

struct Term::Node {
  Kind kind = Kind::kNumber;
  Exact number;
  double real = 0;  ///< The number where it is not exact.
  std::uint32_t variable = 0;
  Function function = Function::kExp;
  std::shared_ptr<const Node> left;
  std::shared_ptr<const Node> right;

  static const Node* of(const Term& term) { return term.node_.get(); }

  [[nodiscard]] bool is_exact() const { return kind == Kind::kNumber && number.defined(); }
  [[nodiscard]] bool is(std::int64_t n) const { return is_exact() && number == Exact::from_integer(n); }
};

Term::Term() : Term(from_integer(0)) {}

Term Term::from_integer(std::int64_t n) {
  Node node;
  node.number = Exact::from_integer(n);
  node.real = static_cast<double>(n);
  return Term(std::make_shared<const Node>(std::move(node)));
}

Term Term::from_double(double value) {
  Node node;
  node.number = Exact::from_double(value);
  node.real = value;
  return Term(std::make_shared<const Node>(std::move(node)));
}

Term Term::variable(std::uint32_t index) {
  Node node;
  node.kind = Kind::kVariable;
  node.variable = index;
  return Term(std::make_shared<const Node>(std::move(node)));
}

Term::Kind Term::kind() const { return node_->kind; }

namespace {

Exact fold(Term::Kind kind, Exact a, Exact b) {
  switch (kind) {
    case Term::Kind::kAdd: return a + b;
    case Term::Kind::kSubtract: return a - b;
    case Term::Kind::kMultiply: return a * b;
    case Term::Kind::kDivide: return a / b;
    default: return max(a, b);  // Other kinds have not two operands.
  }
}

}  // namespace

Term Term::make(Kind kind, const Term& a, const Term& b) {
  if (a.node_->is_exact() && b.node_->is_exact()) {
    if (const Exact folded = fold(kind, a.node_->number, b.node_->number); folded.defined()) {
      Node node;
      node.number = folded;
      node.real = static_cast<double>(folded.numerator()) / static_cast<double>(folded.denominator());
      return Term(std::make_shared<const Node>(std::move(node)));
    }
  }
  if (kind == Kind::kAdd && a.node_->is(0)) return b;
  if ((kind == Kind::kAdd || kind == Kind::kSubtract) && b.node_->is(0)) return a;
  if (kind == Kind::kMultiply && (a.node_->is(0) || b.node_->is(0))) return Term();
  if (kind == Kind::kMultiply && a.node_->is(1)) return b;
  if ((kind == Kind::kMultiply || kind == Kind::kDivide) && b.node_->is(1)) return a;
  Node node;
  node.kind = kind;
  node.left = a.node_;
  node.right = b.node_;
  return Term(std::make_shared<const Node>(std::move(node)));
}

Term operator+(const Term& a, const Term& b) { return Term::make(Term::Kind::kAdd, a, b); }
Term operator-(const Term& a, const Term& b) { return Term::make(Term::Kind::kSubtract, a, b); }
Term operator*(const Term& a, const Term& b) { return Term::make(Term::Kind::kMultiply, a, b); }
Term operator/(const Term& a, const Term& b) { return Term::make(Term::Kind::kDivide, a, b); }
Term max(const Term& a, const Term& b) { return Term::make(Term::Kind::kMax, a, b); }

Term apply(Function function, const Term& argument) {
  Term::Node node;
  node.kind = Term::Kind::kFunction;
  node.function = function;
  node.left = argument.node_;
  return Term(std::make_shared<const Term::Node>(std::move(node)));
}

namespace {

/// Equal in all but the operands.
bool equal_heads(const Term::Node& x, const Term::Node& y) {
  if (x.kind != y.kind) return false;
  switch (x.kind) {
    case Term::Kind::kNumber: return x.number == y.number && (x.number.defined() || x.real == y.real);
    case Term::Kind::kVariable: return x.variable == y.variable;
    case Term::Kind::kFunction: return x.function == y.function;
    default: return true;
  }
}

}  // namespace

/// Each pair of nodes once: terms share what they are made of.
bool operator==(const Term& a, const Term& b) {
  using Pair = std::pair<const Term::Node*, const Term::Node*>;
  std::vector<Pair> open = {{a.node_.get(), b.node_.get()}};
  std::set<Pair> known;
  while (!open.empty()) {
    const auto [x, y] = open.back();
    open.pop_back();
    if (x == y || (x->left != nullptr && !known.emplace(x, y).second)) continue;
    if (!equal_heads(*x, *y)) return false;
    if (x->left != nullptr) open.emplace_back(x->left.get(), y->left.get());
    if (x->right != nullptr) open.emplace_back(x->right.get(), y->right.get());
  }
  return true;
}

namespace {

/// Prefix form. A term that would be long, as it has parts in many places, is written with names for these:
/// "t1 = (+ v0 v0); t2 = (* t1 t1); (+ t2 t2)".
class TermPrinter {
 public:
  explicit TermPrinter(const TermProgram& program) : steps_(program.steps().begin(), program.steps().end()) {
    std::vector<std::size_t> sizes, uses(steps_.size(), 0);
    for (const TermStep& step : steps_) {
      std::size_t size = 1;
      for (const std::uint32_t operand : operands_of(step)) size += sizes[operand], ++uses[operand];
      sizes.push_back(std::min(size, kLong));
    }
    const bool is_long = sizes.back() == kLong;
    for (std::size_t at = 0; at < steps_.size(); ++at) add(steps_[at], is_long && uses[at] > 1);
  }
  [[nodiscard]] std::string text() const { return named_ + texts_.back(); }

 private:
  static constexpr std::size_t kLong = 4096;

  static std::vector<std::uint32_t> operands_of(const TermStep& step) {
    switch (step.kind) {
      case Term::Kind::kNumber:
      case Term::Kind::kVariable: return {};
      case Term::Kind::kFunction: return {step.left};
      default: return {step.left, step.right};
    }
  }
  void add(const TermStep& step, bool is_shared) {
    std::string text = written(step);
    if (is_shared && !operands_of(step).empty()) {
      const std::string name = fmt::format("t{}", ++names_);
      named_ += fmt::format("{} = {}; ", name, text);
      text = name;
    }
    texts_.push_back(std::move(text));
  }
  [[nodiscard]] std::string written(const TermStep& step) const {
    const auto binary = [&](const char* sign) {
      return fmt::format("({} {} {})", sign, texts_[step.left], texts_[step.right]);
    };
    switch (step.kind) {
      case Term::Kind::kNumber: return step.number.defined() ? to_string(step.number) : fmt::format("{}", step.real);
      case Term::Kind::kVariable: return fmt::format("v{}", step.variable);
      case Term::Kind::kAdd: return binary("+");
      case Term::Kind::kSubtract: return binary("-");
      case Term::Kind::kMultiply: return binary("*");
      case Term::Kind::kDivide: return binary("/");
      case Term::Kind::kMax: return binary("max");
      case Term::Kind::kFunction: break;
    }
    return fmt::format("({} {})", name_of(step.function), texts_[step.left]);
  }

  std::vector<TermStep> steps_;
  std::vector<std::string> texts_;
  std::string named_;
  int names_ = 0;
};

}  // namespace

template <class Scalar>
Scalar Term::evaluate(const std::function<Scalar(std::uint32_t)>& variable) const {
  return TermProgram(std::span(this, 1)).run<Scalar>(variable)[0];
}

template REWRIGHT_API Field Term::evaluate(const std::function<Field(std::uint32_t)>&) const;
template REWRIGHT_API Exact Term::evaluate(const std::function<Exact(std::uint32_t)>&) const;
template REWRIGHT_API Real Term::evaluate(const std::function<Real(std::uint32_t)>&) const;

std::string Term::to_string() const { return TermPrinter(TermProgram(std::span(this, 1))).text(); }

// --- Programs --------------------------------------------------------------------------------------------------

namespace {

/// Appends the steps of one term after another; a node that was met before is not made again.
class StepWriter {
 public:
  explicit StepWriter(std::vector<TermStep>& steps) : steps_(steps) {}

  std::uint32_t write(const Term::Node* root) {
    std::vector<const Term::Node*> open = {root};  // Depth first, without recursion: sums are deep.
    while (!open.empty()) {
      const Term::Node* node = open.back();
      const std::size_t before = open.size();
      for (const Term::Node* operand : {node->left.get(), node->right.get()}) {
        if (operand != nullptr && !known_.contains(operand)) open.push_back(operand);
      }
      if (open.size() > before) continue;
      open.pop_back();
      if (!known_.contains(node)) append(*node);
    }
    return known_.at(root);
  }

 private:
  void append(const Term::Node& node) {
    known_.emplace(&node, static_cast<std::uint32_t>(steps_.size()));
    const auto position = [&](const std::shared_ptr<const Term::Node>& operand) {
      return operand == nullptr ? 0 : known_.at(operand.get());
    };
    steps_.push_back(
        {node.kind, position(node.left), position(node.right), node.number, node.real, node.variable, node.function});
  }

  std::vector<TermStep>& steps_;
  std::unordered_map<const Term::Node*, std::uint32_t> known_;
};

}  // namespace

TermProgram::TermProgram(std::span<const Term> terms) {
  StepWriter writer(steps_);
  for (const Term& term : terms) results_.push_back(writer.write(Term::Node::of(term)));
}

}  // namespace rewright
