// Linear reasoning on sizes: what follows, and, just as much, what does not.
#include "rule/conditions.h"

#include <gtest/gtest.h>

#include <random>

namespace rewright {
namespace {

const std::vector<PatternInput> kInputs = {{"x", 3}, {"y", 3}};

std::vector<Constraint> parse(std::string_view text) {
  std::vector<Constraint> constraints;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    constraints.push_back(*Constraint::parse(part));
  }
  return constraints;
}

std::string to_text(const std::vector<Constraint>& constraints) {
  std::string text;
  for (const Constraint& constraint : constraints) text += (text.empty() ? "" : ", ") + to_string(constraint);
  return text;
}

struct Implication {
  const char* known;
  const char* goal;
  bool follows;
};

class ConditionsImply : public ::testing::TestWithParam<Implication> {};

TEST_P(ConditionsImply, AsExpected) {
  SizeSystem facts(size_order(kInputs));
  for (const Constraint& constraint : parse(GetParam().known)) facts.add(constraint);
  EXPECT_EQ(facts.implies(parse(GetParam().goal).front()), GetParam().follows)
      << GetParam().known << " |- " << GetParam().goal;
}

const Implication kImplications[] = {
    {"", "x.0 = x.0", true},
    {"", "x.0 = y.0", false},
    {"", "x.0 >= 1", true},
    {"", "x.0 >= 2", false},
    {"", "s >= 0", true},
    {"", "s >= 1", false},
    {"2*x.0 = 3*y.0", "2*x.0 >= y.0", true},
    {"", "x.0 + y.0 >= 2", true},
    {"", "x.0 >= y.0", false},
    {"", "x.0 + y.0 >= y.0", true},
    {"", "x.0 != 0", true},
    {"", "x.0 != 1", false},
    {"", "2 | 2*x.0 + 4", true},
    {"", "2 | x.0", false},
    {"x.0 = y.0, y.0 = y.1", "x.0 = y.1", true},
    {"x.0 = y.0 + 1, y.0 = x.1 + 1", "x.0 = x.1 + 2", true},
    {"x.0 = y.0", "x.0 = y.1", false},
    {"2*x.0 = 3*y.0", "4*x.0 = 6*y.0", true},
    {"2*x.0 = 3*y.0", "x.0 = y.0", false},
    {"2*x.0 = 3*y.0, 3*y.0 = 2*x.1", "x.0 = x.1", true},
    {"2*x.0 + 3*y.0 = 5*x.1, 2*x.0 - 3*y.0 = 5*x.2", "4*x.0 = 5*x.1 + 5*x.2", true},
    {"x.0 = y.0", "floor((x.0 + 1) / 2) = floor((y.0 + 1) / 2)", true},
    {"floor((x.0 + 1) / 2) = floor((y.0 + 1) / 2)", "x.0 = y.0", false},
    {"x.0*x.1 = y.0", "x.1*x.0 = y.0", true},
    {"x.0 = y.0, x.1 = y.1", "x.0*x.1 = y.0*y.1", true},
    {"x.0*x.1 = y.0*y.1", "x.0 = y.0", false},
    {"x.0 >= y.0", "x.0 + 1 >= y.0", true},
    {"x.0 >= y.0", "x.0 >= y.0 + 1", false},
    {"x.0 >= y.0, y.0 >= x.1", "x.0 >= x.1", true},
    {"x.0 >= 4", "x.0 >= 3", true},
    {"x.0 >= 4", "x.0 != 3", true},
    {"x.0 >= 4", "x.0 >= 5", false},
    {"x.0 != 3", "x.0 != 3", true},
    {"x.0 != y.0", "y.0 != x.0", true},
    {"4 | x.0", "2 | x.0", true},
    {"2 | x.0", "4 | x.0", false},
    {"2 | x.0", "4 | 2*x.0", true},
    {"6 | x.0 + y.0", "3 | 4*x.0 + y.0", true},
    {"2 | x.0, x.0 = y.0", "2 | y.0", true},
    {"x.0 = 3*y.0", "3 | x.0", true},
    {"2*x.0 = 3*y.0", "3 | 2*x.0", true},
    {"", "x.0*y.0 >= 1", true},
    {"", "floor((x.0 + 1) / 2) >= 1", true},
    {"", "floor((x.0 - 2) / 2) >= 0", false},
};

INSTANTIATE_TEST_SUITE_P(Cases, ConditionsImply, ::testing::ValuesIn(kImplications),
                         [](const auto& info) { return fmt::format("N{}", info.index); });

// Soundness against counting: what is said to follow holds for all sizes of 1 to 4 at which the facts hold.
TEST(Conditions, NeverImpliesWhatFailsSomewhere) {
  std::mt19937_64 random(5);
  const auto expression = [&] {
    SymbolicDim dim(static_cast<std::int64_t>(random() % 5) - 2);
    for (const char* name : {"x.0", "x.1", "y.0", "s"})
      dim = dim + SymbolicDim(static_cast<std::int64_t>(random() % 5) - 2) * SymbolicDim::variable(SizeVar::read(name));
    if (random() % 4 == 0) dim = dim + floor_divide(SymbolicDim::variable(SizeVar::read("x.0")) + SymbolicDim(1), 2);
    if (random() % 6 == 0)
      dim = dim + SymbolicDim::variable(SizeVar::read("x.1")) * SymbolicDim::variable(SizeVar::read("y.0"));
    return dim;
  };
  const auto constraint = [&]() -> Constraint {
    switch (random() % 4) {
      case 0: return {Constraint::Kind::kAtLeast, expression(), expression()};
      case 1:
        return {Constraint::Kind::kDivides, SymbolicDim(2 + static_cast<std::int64_t>(random() % 3)), expression()};
      case 2: return {Constraint::Kind::kNotEqual, expression(), expression()};
      default: return {Constraint::Kind::kEqual, expression(), expression()};
    }
  };
  int implied = 0;
  for (int round = 0; round < 3000; ++round) {
    SizeSystem facts(size_order(kInputs));
    std::vector<Constraint> known;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) known.push_back(constraint());
    for (const Constraint& fact : known) facts.add(fact);
    // A goal of its own, or a fact with something true added.
    Constraint goal = constraint();
    if (random() % 2 == 0) {
      goal = known[random() % known.size()];
      const SymbolicDim more = SymbolicDim::variable(SizeVar::read("y.0"));
      goal = {goal.kind, goal.kind == Constraint::Kind::kDivides ? goal.left : goal.left + more, goal.right + more};
      if (goal.kind == Constraint::Kind::kDivides) goal.right = goal.right - more;
    }
    const bool follows = facts.implies(goal);
    implied += follows ? 1 : 0;
    bool satisfiable = false;
    for (std::int64_t code = 0; code < 256; ++code) {
      const DimBinding sizes =
          bind_sizes(std::vector<std::pair<SizeVar, std::int64_t>>{{SizeVar::axis("x", 0), 1 + code % 4},
                                                                   {SizeVar::axis("x", 1), 1 + code / 4 % 4},
                                                                   {SizeVar::axis("y", 0), 1 + code / 16 % 4},
                                                                   {SizeVar::read("s"), code / 64}});
      const bool holds =
          std::all_of(known.begin(), known.end(), [&](const Constraint& fact) { return *fact.holds(sizes); });
      satisfiable = satisfiable || holds;
      if (follows && holds) {
        ASSERT_TRUE(*goal.holds(sizes)) << to_text(known) << " |- " << to_string(goal);
      }
    }
    if (facts.contradictory()) {
      ASSERT_FALSE(satisfiable) << to_text(known);
    }
  }
  EXPECT_GT(implied, 500);
}

std::string normal(std::string_view text) {
  return to_string(normal_form(*Constraint::parse(text), size_order(kInputs)));
}

TEST(NormalForm, IsOneForWhatSaysTheSame) {
  EXPECT_EQ(normal("y.0 = x.0"), "x.0 = y.0");
  EXPECT_EQ(normal("3 = x.0"), "x.0 = 3");
  EXPECT_EQ(normal("x.0 - y.0 = 0"), "x.0 = y.0");
  EXPECT_EQ(normal("2*y.0 = 2*x.0 + 4"), "x.0 + 2 = y.0");
  EXPECT_EQ(normal("x.0 <= y.0"), "y.0 >= x.0");
  EXPECT_EQ(normal("2*x.0 >= 3"), "x.0 >= 2");
  EXPECT_EQ(normal("3 | 4*x.0 + 5"), "3 | x.0 + 2");
  EXPECT_EQ(normal("5 != x.1"), "x.1 != 5");
  for (const SymbolicDim& divisor : {SymbolicDim(0), SymbolicDim::variable(SizeVar::read("y.0"))}) {
    const Constraint divides{Constraint::Kind::kDivides, divisor, SymbolicDim::variable(SizeVar::read("x.0"))};
    EXPECT_EQ(to_string(normal_form(divides, size_order(kInputs))), to_string(divides)) << "left as it is";
  }
}

std::string missing(std::string_view known, std::string_view wanted) {
  const auto open = missing_conditions(parse(known), parse(wanted), size_order(kInputs));
  return open ? to_text(*open) : open.error().message;
}

TEST(MissingConditions, AreWhatDoesNotFollow) {
  EXPECT_EQ(missing("x.0 = y.0", "y.0 = x.0"), "");
  EXPECT_EQ(missing("x.0 = y.0", "y.0 = y.1"), "x.0 = y.1");
  EXPECT_EQ(missing("", "x.0 = x.1, x.1 = x.2, x.0 = x.2"), "x.0 = x.1, x.0 = x.2");
  EXPECT_EQ(missing("", "x.1 = x.2, x.0 = x.2, x.0 = x.1"), "x.0 = x.1, x.0 = x.2");
  EXPECT_EQ(missing("", "x.0 >= 2, x.0 >= 4, x.0 >= 3"), "x.0 >= 4");
  EXPECT_EQ(missing("x.2 >= y.2", "x.2 + 1 >= y.2, 2 | x.0"), "2 | x.0");
  EXPECT_EQ(missing("", "x.0 = 3, x.0 >= 2"), "x.0 = 3");
  EXPECT_EQ(missing("x.0 = 2", "x.0 = 3"), "the conditions on sizes contradict each other");
  EXPECT_EQ(missing("x.0 = 2", "x.0 >= 3"), "the condition x.0 >= 3 can never hold beside the others");
}

}  // namespace
}  // namespace rewright
