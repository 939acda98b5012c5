// Straight-line programs of terms, run over algebras that the tree does not know.
#include <rewright/tensor/term_program.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace rewright {
namespace {

/// An algebra of one's own: the degree of a polynomial in its variables.
struct Degree {
  int value = 0;
  static Degree from_integer(std::int64_t) { return {}; }
  static Degree from_double(double) { return {}; }
  friend Degree operator+(Degree a, Degree b) { return {std::max(a.value, b.value)}; }
  friend Degree operator-(Degree a, Degree b) { return a + b; }
  friend Degree operator*(Degree a, Degree b) { return {a.value + b.value}; }
  friend Degree operator/(Degree a, Degree b) { return {a.value - b.value}; }
  friend Degree max(Degree a, Degree b) { return a + b; }
  friend Degree apply(Function, Degree a) { return {a.value == 0 ? 0 : 1000}; }
};

const Term x = Term::variable(0);
const Term y = Term::variable(1);

TEST(TermProgram, RunsOverAnAlgebraOfOnesOwn) {
  const std::array terms = {x * x * y + x, Term::from_integer(7), apply(Function::kExp, y)};
  std::vector<int> degrees;
  for (const Degree degree : TermProgram(terms).run<Degree>([](std::uint32_t) { return Degree{1}; }))
    degrees.push_back(degree.value);
  EXPECT_THAT(degrees, testing::ElementsAre(3, 0, 1000));
}

TEST(TermProgram, ComputesWhatTheTermsSay) {
  const auto value = [](std::uint32_t i) { return Exact::ratio(i == 0 ? 3 : -2, 5); };
  const std::array terms = {relu(x * y + Term::from_integer(2)) / Term::from_integer(3), max(x, y) - y,
                            x + Term::from_double(0.1), Term::from_double(1.0 / 3) * y};
  const TermProgram program(terms);
  const std::vector<Exact> values = program.run<Exact>(value);
  ASSERT_EQ(values.size(), terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) EXPECT_EQ(values[i], terms[i].evaluate<Exact>(value)) << i;
  const auto real = [](std::uint32_t i) { return Real{i == 0 ? 0.6 : -0.4}; };
  const std::vector<Real> reals = program.run<Real>(real);
  for (std::size_t i = 0; i < terms.size(); ++i) EXPECT_EQ(reals[i], terms[i].evaluate<Real>(real)) << i;
}

TEST(TermProgram, SharedTermsAreOneStep) {
  Term power = x;
  for (int i = 0; i < 20; ++i) power = power * power;  // x^(2^20): a million factors, 20 steps.
  const TermProgram program(std::array{power, power + x});
  EXPECT_EQ(program.steps().size(), 22u);
  EXPECT_EQ(program.results()[0] + 1, program.results()[1]);
}

TEST(TermProgram, TakesDeepTermsWithoutRecursion) {
  Term sum = x;
  for (int i = 0; i < 10'000; ++i) sum += y;
  const TermProgram program(std::array{sum});
  EXPECT_EQ(program.run<Exact>([](std::uint32_t) { return Exact::from_integer(1); })[0], Exact::from_integer(10'001));
}

}  // namespace
}  // namespace rewright
