// The scalar algebras: each obeys its laws, and all agree where they are all exact.
#include <rewright/tensor/scalar.h>
#include <rewright/tensor/tensor.h>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace rewright {
namespace {

Field random_field(std::mt19937_64& random) { return Field::from_residue(random() % Field::kPrime); }

TEST(Field, ObeysTheLawsOfAField) {
  std::mt19937_64 random(1);
  const Field one = Field::from_integer(1);
  for (int round = 0; round < 2000; ++round) {
    const Field a = random_field(random), b = random_field(random), c = random_field(random);
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ((a * b) * c, a * (b * c));
    ASSERT_EQ(a * b, b * a);
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_EQ((a - b) + b, a);
    if (!(b == Field())) {
      ASSERT_EQ(a / b * b, a);
    }
    ASSERT_EQ(a * one, a);
  }
}

TEST(Field, ReducesAtItsEdges) {
  const Field largest = Field::from_residue(Field::kPrime - 1);
  EXPECT_EQ(largest + Field::from_integer(1), Field());
  EXPECT_EQ(largest, Field::from_integer(-1));
  EXPECT_EQ(largest * largest, Field::from_integer(1));
  EXPECT_EQ(Field::from_integer(std::numeric_limits<std::int64_t>::min()).residue(), Field::kPrime - 4);
  EXPECT_EQ(Field() - Field::from_integer(1), largest);
}

TEST(Field, OrdersLikeTheFractionsItStandsFor) {
  const auto fraction = [](std::int64_t n, std::int64_t d) { return Field::from_integer(n) / Field::from_integer(d); };
  EXPECT_EQ(relu(fraction(1, 9)), fraction(1, 9));
  EXPECT_EQ(relu(fraction(-1, 9)), Field());
  EXPECT_EQ(max(fraction(1, 2), fraction(-7, 81)), fraction(1, 2));
  EXPECT_EQ(max(fraction(100'000'000'001, 6561), fraction(100'000'000'000, 6561)), fraction(100'000'000'001, 6561));
  EXPECT_EQ(relu(fraction(-1, 2) + fraction(1, 4)), Field());
}

TEST(Field, OrdersLikeTheIntegersItStandsFor) {
  for (const std::int64_t a : {-1000, -1, 0, 1, 1000}) {
    for (const std::int64_t b : {-1000, -1, 0, 1, 1000}) {
      EXPECT_EQ(max(Field::from_integer(a), Field::from_integer(b)), Field::from_integer(std::max(a, b)));
    }
    EXPECT_EQ(relu(Field::from_integer(a)), Field::from_integer(std::max<std::int64_t>(a, 0)));
  }
}

TEST(Field, DividingByZeroEqualsItselfAndNothingElse) {
  const Field zero, one = Field::from_integer(1);
  EXPECT_EQ(one / zero, one / zero);
  EXPECT_FALSE(one / zero == one);
  EXPECT_FALSE(one / zero == zero);
}

TEST(Field, TakesDoublesAsTheNumbersThatTheyMean) {
  EXPECT_EQ(Field::from_double(0.75) * Field::from_integer(4), Field::from_integer(3));
  EXPECT_EQ(Field::from_double(-1e15), Field::from_integer(-1'000'000'000'000'000));
  EXPECT_EQ(Field::from_double(0.1) * Field::from_integer(10), Field::from_integer(1));
  EXPECT_EQ(Field::from_double(1.0 / 6) * Field::from_integer(6), Field::from_integer(1));
}

TEST(Exact, IsExactOrUndefined) {
  const Exact third = Exact::ratio(1, 3);
  EXPECT_EQ(third + third + third, Exact::from_integer(1));
  EXPECT_EQ(to_string(Exact::ratio(6, -8)), "-3/4");
  EXPECT_FALSE((Exact::from_integer(1) / Exact()).defined());
  const Exact big = Exact::from_integer(std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE((big + big).defined());
  EXPECT_FALSE((big * big + Exact::from_integer(1)).defined());
  EXPECT_EQ(big / big, Exact::from_integer(1));
  EXPECT_EQ(max(Exact::ratio(-1, 3), Exact::ratio(-1, 2)), third - third - third);
  EXPECT_FALSE(apply(Function::kExp, Exact::from_integer(1)).defined());
  EXPECT_EQ(apply(Function::kExp, Exact()), Exact::from_integer(1));
}

/// A random expression of small numbers, computed in the algebra asked for.
template <class Scalar>
Scalar expression(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Scalar> stack;
  for (int i = 0; i < 4; ++i) stack.push_back(Scalar::from_integer(static_cast<std::int64_t>(random() % 9) - 4));
  for (int i = 0; i < 8; ++i) {
    const Scalar a = stack[random() % stack.size()];
    const Scalar b = stack[random() % stack.size()];
    switch (random() % 5) {
      case 0: stack.push_back(a + b); break;
      case 1: stack.push_back(a - b); break;
      case 2: stack.push_back(a * b); break;
      case 3: stack.push_back(max(a, b)); break;
      default: stack.push_back(relu(a));
    }
  }
  return stack.back();
}

TEST(Algebras, AgreeOnIntegerArithmeticAndOrder) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Exact exact = expression<Exact>(seed);
    if (!exact.defined() || std::abs(exact.numerator()) > (std::int64_t{1} << 50)) continue;
    ASSERT_EQ(expression<Field>(seed).to_signed(), exact.numerator()) << "seed " << seed;
    ASSERT_EQ(expression<Real>(seed).value, static_cast<double>(exact.numerator())) << "seed " << seed;
    const std::function<Exact(std::uint32_t)> none = [](std::uint32_t) { return Exact::undefined(); };
    ASSERT_EQ(expression<Term>(seed).evaluate(none), exact) << "seed " << seed;
  }
}

TEST(Term, SubstitutesAndPrints) {
  const Term x = Term::variable(0), y = Term::variable(1);
  const Term term = relu(x * y + Term::from_integer(2)) / Term::from_integer(3);
  EXPECT_EQ(term.to_string(), "(/ (max (+ (* v0 v1) 2) 0) 3)");
  const std::function<Exact(std::uint32_t)> values = [](std::uint32_t i) {
    return Exact::from_integer(i == 0 ? 3 : 5);
  };
  EXPECT_EQ(term.evaluate(values), Exact::ratio(17, 3));
  EXPECT_EQ((x + Term()).to_string(), "v0");
  EXPECT_EQ((x * Term()).to_string(), "0");
  EXPECT_TRUE(x * y == x * y);
  EXPECT_FALSE(x * y == y * x) << "equal as written, not as values";
}

TEST(Term, FunctionsAreNamedAndComparedAsWritten) {
  const Term x = Term::variable(0), y = Term::variable(1);
  std::string names;
  for (const Function function :
       {Function::kExp, Function::kLog, Function::kSqrt, Function::kTanh, Function::kSigmoid, Function::kErf})
    names.append(apply(function, x - y).to_string());
  EXPECT_EQ(names, "(exp (- v0 v1))(log (- v0 v1))(sqrt (- v0 v1))(tanh (- v0 v1))(sigmoid (- v0 v1))(erf (- v0 v1))");
  EXPECT_TRUE(apply(Function::kLog, x) == apply(Function::kLog, x));
  EXPECT_FALSE(apply(Function::kLog, x) == apply(Function::kLog, y));
  EXPECT_FALSE(apply(Function::kLog, x) == apply(Function::kExp, x));
  EXPECT_EQ(apply(Function::kLog, x).kind(), Term::Kind::kFunction);
}

TEST(Term, NumbersThatAreNotExactAreComparedAndPrintedAsDoubles) {
  const Term a = Term::from_double(1e300), b = Term::from_double(2e300);
  EXPECT_TRUE(a == Term::from_double(1e300));
  EXPECT_FALSE(a == b);
  EXPECT_TRUE(Term::from_double(0.5) == Term::from_integer(1) / Term::from_integer(2));
  EXPECT_EQ(a.to_string(), "1e+300");
  const std::function<Real(std::uint32_t)> none = [](std::uint32_t) { return Real{}; };
  EXPECT_EQ((a + b).evaluate(none).value, 3e300);
}

TEST(Functions, AreExactOnlyWhereTheirValueIsAFraction) {
  const Exact zero, one = Exact::from_integer(1), half = Exact::ratio(1, 2);
  struct Case {
    Function function;
    Exact at_zero, at_one;
  };
  const Exact none = Exact::undefined();
  for (const Case& known :
       {Case{Function::kExp, one, none}, Case{Function::kLog, none, zero}, Case{Function::kSqrt, zero, one},
        Case{Function::kTanh, zero, none}, Case{Function::kSigmoid, half, none}, Case{Function::kErf, zero, none}}) {
    for (const auto& [argument, value] : {std::pair(zero, known.at_zero), std::pair(one, known.at_one)}) {
      const Exact result = apply(known.function, argument);
      EXPECT_EQ(to_string(result), to_string(value));
      if (!value.defined()) continue;
      const Real real = apply(known.function, Real{static_cast<double>(argument.numerator())});
      EXPECT_DOUBLE_EQ(real.value, static_cast<double>(value.numerator()) / static_cast<double>(value.denominator()));
    }
  }
  EXPECT_FALSE(apply(Function::kExp, none).defined());
}

TEST(Tensor, IndexesRowMajor) {
  Tensor<Real> tensor(Shape{2, 3, 4});
  for (std::size_t i = 0; i < tensor.values().size(); ++i) tensor.values()[i].value = static_cast<double>(i);
  const auto view = tensor.view();
  EXPECT_EQ(view(1, 2, 3).value, 23);
  EXPECT_EQ(view(0, 1, 0).value, 4);
  const std::int64_t index[] = {1, 0, 2};
  EXPECT_EQ(view.at(index).value, 14);
  double previous = -1;
  for_each_index(tensor.shape(), [&](std::span<const std::int64_t> at) {
    EXPECT_EQ(view.at(at).value, previous + 1);
    previous = view.at(at).value;
  });
  EXPECT_EQ(previous, 23);
  int scalars = 0;
  for_each_index(Shape{}, [&](std::span<const std::int64_t>) { ++scalars; });
  EXPECT_EQ(scalars, 1);
  for_each_index(Shape{3, 0}, [&](std::span<const std::int64_t>) { FAIL(); });
}

}  // namespace
}  // namespace rewright
