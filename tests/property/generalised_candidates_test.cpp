// What enumeration finds at one set of shapes, made into rules over all shapes: every pair of equal graphs of up to two
// operators, in both directions.
#include <algorithm>
#include <map>

#include "enumerate/enumerator.h"
#include "unit/rule/rules.h"

namespace rewright::testing {
namespace {

EnumerationConfig config() {
  EnumerationConfig config;
  for (const std::string_view text : {"ewadd", "ewmul", "matmul", "relu", "transpose", "concat", "concat[axis=1]",
                                      "smul", "conv2d", "conv2d[activation=relu]", "conv2d[strides=[2, 2]]",
                                      "constant_identity[sizes=[4, 4]]", "constant_one[sizes=[2, 4]]"}) {
    const Call made = call(text);
    config.operators.push_back({made.op, made.params});
  }
  for (const std::int64_t axis : {0, 1})
    config.operators.push_back({&operator_named("split"), Params({axis, SizeList<std::int64_t>{}})});
  config.inputs = {{"a", {2, 4}}, {"b", {2, 4}},       {"c", {4, 4}},       {"d", {4, 4}},
                   {"k", {}},     {"x", {2, 4, 5, 5}}, {"y", {2, 4, 5, 5}}, {"w", {4, 4, 3, 3}, InputKind::kWeight}};
  return config;
}

// Rules by id.
const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> kRules = [] {
    std::map<std::string, Rule> rules;
    const auto report = enumerate(config(), [&](Candidate candidate) -> Status {
      for (const bool turned : {false, true}) {
        auto made =
            generalise(turned ? candidate.target : candidate.source, turned ? candidate.source : candidate.target);
        if (made) rules.emplace(made->id, *std::move(made));
      }
      return {};
    });
    if (!report) fail(report.error().message);
    return rules;
  }();
  return kRules;
}

TEST(GeneralisedCandidates, AreMany) { EXPECT_GT(rules().size(), 150u); }

TEST(GeneralisedCandidates, HaveATextThatReadsBack) {
  for (const auto& [id, made] : rules()) {
    const Rule again = rule(to_text(made));
    EXPECT_EQ(again.id, id) << to_text(made) << "\n" << to_text(again);
    EXPECT_EQ(to_text(again), to_text(made));
  }
}

// The precondition is exact: where the source is defined, it says whether the target is, with the same shapes.
TEST(GeneralisedCandidates, PreconditionSaysWhereTheTargetIsDefined) {
  std::mt19937_64 random(1);
  int outside = 0;
  for (const auto& [id, made] : rules()) {
    for (int i = 0; i < 8; ++i) {
      const auto sizes = sample(made, domain(made, i % 2 == 0), random);
      ASSERT_TRUE(sizes) << to_text(made);
      const DimBinding binding = bind_sizes(made.inputs, sizes->shapes, bind_sizes(sizes->extra));
      const bool inside =
          std::ranges::all_of(made.precondition, [&](const Constraint& c) { return *c.holds(binding); });
      const auto source = instantiate(made.inputs, made.source, sizes->shapes, bind_sizes(sizes->extra));
      const auto target = instantiate(made.inputs, made.target, sizes->shapes, bind_sizes(sizes->extra));
      ASSERT_TRUE(source) << to_text(made) << source.error().message;
      bool agree = target.has_value();
      for (std::size_t o = 0; agree && o < source->outputs().size(); ++o)
        agree = source->shape(source->outputs()[o]) == target->shape(target->outputs()[o]);
      EXPECT_EQ(agree, inside) << to_text(made);
      outside += inside ? 0 : 1;
    }
  }
  EXPECT_GT(outside, 20);
}

// None of these operators means something else at another size, so what is equal at one set of shapes is equal at all,
// split points apart: one that the equations leave open may have been where a concatenation joined.
TEST(GeneralisedCandidates, AreEqualInsideThePrecondition) {
  std::mt19937_64 random(2);
  for (const auto& [id, made] : rules()) {
    for (int i = 0; i < 4; ++i) {
      const auto sizes = sample(made, domain(made, true), random, 4);
      ASSERT_TRUE(sizes) << to_text(made);
      if (!sizes->extra.empty()) break;
      const auto in = values(sizes->shapes, random);
      const auto source = outputs(made, made.source, *sizes, in), target = outputs(made, made.target, *sizes, in);
      ASSERT_TRUE(source && target) << to_text(made);
      EXPECT_TRUE(equal(*source, *target)) << to_text(made);
    }
  }
}

}  // namespace
}  // namespace rewright::testing
