// Linear reasoning on sizes: what follows, what does not, and which sizes solve a system.
#include <rewright/tensor/linear.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rewright {
namespace {

Constraint constraint(std::string_view text) {
  auto parsed = Constraint::parse(text);
  if (!parsed) fail(parsed.error().message);
  return *std::move(parsed);
}
bool implies(std::initializer_list<std::string_view> known, std::string_view wanted) {
  std::vector<Constraint> constraints;
  for (const auto text : known) constraints.push_back(constraint(text));
  return SizeSystem(constraints).implies(constraint(wanted));
}

TEST(SizeSystem, ChainsEqualities) {
  EXPECT_TRUE(implies({"x.0 = y.0", "y.0 = z.0"}, "z.0 = x.0"));
  EXPECT_TRUE(implies({"x.0 + y.0 = z.0 + w.0", "x.0 = z.0"}, "y.0 = w.0"));
  EXPECT_FALSE(implies({"x.0 + y.0 = z.0 + w.0"}, "y.0 = w.0"));
}
TEST(SizeSystem, SeesThroughQuotients) {
  EXPECT_TRUE(implies({"x.0 = y.0"}, "floor((x.0 - 1) / 2) = floor((y.0 - 1) / 2)"));
  EXPECT_FALSE(implies({"floor((x.0 - 1) / 2) = floor((y.0 - 1) / 2)"}, "x.0 = y.0"));
}
TEST(SizeSystem, WeakensBoundsAndDivisibility) {
  EXPECT_TRUE(implies({"x.0 >= 3"}, "x.0 >= 2"));
  EXPECT_FALSE(implies({"x.0 >= 2"}, "x.0 >= 3"));
  EXPECT_TRUE(implies({"x.0 >= y.0 + 1"}, "x.0 != y.0"));
  EXPECT_TRUE(implies({"4 | x.0"}, "2 | x.0 + 6"));
  EXPECT_FALSE(implies({"2 | x.0"}, "4 | x.0"));
}
TEST(SizeSystem, KnowsThatTensorsInRulesAreNotEmpty) {
  const SizeSystem of_rule{SizeOrder(SizeOrder::Least::kOneInTensors)};
  EXPECT_TRUE(of_rule.implies(constraint("x.0 >= 1")));
  EXPECT_FALSE(of_rule.implies(constraint("s0 >= 1")));
  EXPECT_TRUE(of_rule.implies(constraint("s0 >= 0")));
  EXPECT_FALSE(implies({}, "x.0 >= 1"));
}
// What is put in for a size has the size's own bound: y.0 is n - x.0 here.
TEST(SizeSystem, KeepsTheBoundOfASizeThatItSolvesFor) {
  SizeSystem system{SizeOrder(SizeOrder::Least::kOneInTensors)};
  system.add(constraint("n = x.0 + y.0"));
  EXPECT_TRUE(system.solved().contains(SizeVar::axis("y", 0)));
  EXPECT_TRUE(system.implies(constraint("n - x.0 >= 1")));
  EXPECT_TRUE(system.implies(constraint("n >= 2")));
  EXPECT_FALSE(system.implies(constraint("n - x.0 >= 2")));
  EXPECT_FALSE(system.implies(constraint("n >= 3")));
}
TEST(SizeSystem, AddsBounds) {
  EXPECT_TRUE(implies({"x.0 >= y.0", "y.0 >= z.0"}, "x.0 >= z.0"));
  EXPECT_TRUE(implies({"2*x.0 = 3*y.0"}, "2*x.0 >= y.0"));
  EXPECT_TRUE(implies({"2*x.0 = 3*y.0", "3*y.0 = 2*z.0"}, "x.0 = z.0"));
}
// A quotient of at least 2, to the 62nd power and beyond: 2^62 is the greatest power of two that is a size.
TEST(SizeSystem, BoundsNothingByWhatOverflows) {
  const SizeSystem system{SizeOrder(SizeOrder::Least::kOneInTensors)};
  const SymbolicDim x = SymbolicDim::variable(SizeVar::read("x.0"));
  const SymbolicDim two = floor_divide(
      3 * (x + SymbolicDim::variable(SizeVar::read("x.1")) + SymbolicDim::variable(SizeVar::read("x.2"))), 4);
  const auto power = [&](int exponent) {
    SymbolicDim product = two;
    for (int i = 1; i < exponent; ++i) product = product * two;
    return product;
  };
  const auto at_least = [&](const SymbolicDim& size, std::int64_t bound) {
    return system.implies({Constraint::Kind::kAtLeast, size, SymbolicDim(bound)});
  };
  const std::int64_t great = std::int64_t{1} << 39;
  EXPECT_TRUE(at_least(two, 2));
  EXPECT_FALSE(at_least(two, 3));
  EXPECT_TRUE(at_least(power(39), great));
  EXPECT_FALSE(at_least(power(39), great + 1));
  EXPECT_TRUE(at_least(power(62), great));
  EXPECT_FALSE(at_least(power(64), 1)) << "2^64";
  EXPECT_TRUE(at_least(power(64), 0));
  EXPECT_FALSE(at_least(SymbolicDim(great) * power(24), 1)) << "2^39 * 2^24";
  EXPECT_FALSE(at_least(power(62) + power(61) + power(61) * x, 0)) << "2^62 + 2^61 + 2^61";
}
TEST(SizeSystem, ImpliesNothingFromNothing) { EXPECT_FALSE(implies({}, "x.0 = y.0")); }

// Whatever is implied holds at every solution: 400 random systems over three sizes, sizes up to 4.
TEST(SizeSystem, IsSound) {
  std::uint64_t state = 7;
  const auto next = [&state](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % below;
  };
  const std::vector<SizeVar> names = {SizeVar::read("a"), SizeVar::read("b"), SizeVar::read("c")};
  const auto random_dim = [&] {
    SymbolicDim dim(static_cast<std::int64_t>(next(3)) - 1);
    for (const auto& name : names)
      dim = dim + SymbolicDim(static_cast<std::int64_t>(next(4)) - 1) * SymbolicDim::variable(name);
    return next(5) == 0 ? floor_divide(dim, 2) : dim;
  };
  const auto random_constraint = [&] {
    if (next(5) == 0) return Constraint{Constraint::Kind::kDivides, 2, random_dim()};
    return Constraint{static_cast<Constraint::Kind>(next(3)), random_dim(), random_dim()};
  };
  int implied = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<Constraint> known = {random_constraint(), random_constraint()};
    const Constraint wanted = random_constraint();
    if (!SizeSystem(known).implies(wanted)) continue;
    ++implied;
    for_each_solution(names, known, 0, 4, [&](const SizeAssignment& sizes) {
      const auto holds = wanted.holds([&](SizeVar name) { return std::optional(sizes.at(name)); });
      EXPECT_TRUE(holds.value_or(false)) << to_string(known[0]) << ", " << to_string(known[1]) << " => "
                                         << to_string(wanted);
      return true;
    });
  }
  EXPECT_GT(implied, 10);
}

TEST(Solutions, AreAllThatMeetTheConstraints) {
  const SizeVar x0 = SizeVar::axis("x", 0), x1 = SizeVar::axis("x", 1), y0 = SizeVar::axis("y", 0);
  const std::vector<Constraint> constraints = {constraint("x.0 = 2*y.0"), constraint("x.1 >= x.0")};
  std::vector<std::string> found;
  for_each_solution(std::vector{x0, x1, y0}, constraints, 1, 4, [&](const SizeAssignment& s) {
    found.push_back(fmt::format("{} {} {}", s.at(x0), s.at(x1), s.at(y0)));
    return true;
  });
  EXPECT_THAT(found, testing::UnorderedElementsAre("2 2 1", "2 3 1", "2 4 1", "4 4 2"));
}

}  // namespace
}  // namespace rewright
