// The classes of the rules that ship, held against single precision: an evaluation of its own, over terms, of what both
// sides compute.
#include "rule/rule_class.h"

#include <rewright/tensor/term_program.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <random>

#include "campaign/rule_source.h"
#include "unit/rule/rules.h"
#include "unit/verify/rules.h"

namespace rewright {
namespace {

/// Single precision, each operation rounded by itself.
struct Single {
  float value = 0;
  static Single from_integer(std::int64_t n) { return {static_cast<float>(n)}; }
  static Single from_double(double x) { return {static_cast<float>(x)}; }
  friend Single operator+(Single a, Single b) { return {a.value + b.value}; }
  friend Single operator-(Single a, Single b) { return {a.value - b.value}; }
  friend Single operator*(Single a, Single b) { return {a.value * b.value}; }
  friend Single operator/(Single a, Single b) { return {a.value / b.value}; }
  friend Single max(Single a, Single b) { return {std::fmax(a.value, b.value)}; }
  friend Single apply(Function function, Single x) {
    return {static_cast<float>(apply(function, Real{x.value}).value)};
  }
};

const std::vector<Rule>& library() {
  static const std::vector<Rule> kRules = [] {
    std::vector<Rule> all;
    for (const char* name : {"library", "networks", "constants"}) {
      auto rules =
          read_rule_source(fmt::format("{}/experiments/library/{}.rules", REWRIGHT_SOURCE_DIR, name), test::plugins());
      if (!rules) fail(rules.error().message);
      for (Rule& rule : *rules) all.push_back(std::move(rule));
    }
    return all;
  }();
  return kRules;
}

Result<TermProgram> program_of(const Graph& graph) {
  std::vector<Tensor<Term>> inputs;
  std::uint32_t next = 0;
  for (const NodeId id : graph.inputs()) {
    inputs.emplace_back(graph.node(id).outputs[0].shape);
    for (Term& term : inputs.back().values()) term = Term::variable(next++);
  }
  REWRIGHT_TRY(const auto outputs, evaluate<Term>(graph, inputs));
  std::vector<Term> terms;
  for (const auto& output : outputs) terms.insert(terms.end(), output.values().begin(), output.values().end());
  return TermProgram(terms);
}

struct Agreement {
  int numbers = 0;
  int differ = 0;
};

/// Both sides at sizes of the rule's own, on numbers of magnitudes from 2^-100 to 2^100 and on ordinary ones.
Agreement agreement(const Rule& rule, std::mt19937_64& random) {
  Agreement found;
  const auto sizes = testing::sample(rule, testing::domain(rule, true), random);
  if (!sizes) return found;
  const DimBinding extra = bind_sizes(sizes->extra);
  const auto source = instantiate(rule.inputs, rule.source, sizes->shapes, extra);
  const auto target = instantiate(rule.inputs, rule.target, sizes->shapes, extra);
  if (!source || !target) return found;
  const auto a = program_of(*source), b = program_of(*target);
  for (const int spread : {1, 30, 100}) {
    std::vector<float> numbers;
    const auto number = [&](std::uint32_t variable) {
      while (numbers.size() <= variable) {
        const float mantissa = 1 + static_cast<float>(random() >> 41) * 0x1p-23F;
        const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
        numbers.push_back(std::ldexp(random() % 2 == 0 ? mantissa : -mantissa, exponent));
      }
      return Single{numbers[variable]};
    };
    const auto left = a->run<Single>(number), right = b->run<Single>(number);
    for (std::size_t i = 0; i < left.size(); ++i) {
      ++found.numbers;
      const bool both_no_numbers = std::isnan(left[i].value) && std::isnan(right[i].value);
      if (left[i].value != right[i].value && !both_no_numbers) ++found.differ;
    }
  }
  return found;
}

TEST(RuleClassesOfTheLibrary, AreFoundInWellUnderASecond) {
  const auto begin = std::chrono::steady_clock::now();
  std::map<std::string, int> counts;
  for (const Rule& rule : library()) ++counts[std::string(name_of(classify(rule)))];
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (const auto& [name, count] : counts) RecordProperty(name, count);
  EXPECT_LT(seconds.count(), 10) << "a fraction of a second where nothing else runs";
  EXPECT_GT(counts["exact"], 100);
  EXPECT_GT(counts["reassociating"], 100);
  EXPECT_EQ(counts["range-changing"], 0) << "no rule that ships is a law of exp, log or quotients";
}

TEST(RuleClassesOfTheLibrary, ExactRulesGiveTheSameSinglesAndSomeOthersDoNot) {
  std::mt19937_64 random(7);
  int tried = 0, others_that_differ = 0;
  for (const Rule& rule : library()) {
    const RuleClass rule_class = classify(rule);
    EXPECT_EQ(is_range_changing(rule), rule_class == RuleClass::kRangeChanging) << to_text(rule);
    const Agreement found = agreement(rule, random);
    if (rule_class == RuleClass::kExact) {
      EXPECT_EQ(found.differ, 0) << to_text(rule) << "\n" << found.numbers << " numbers";
      tried += found.numbers > 0;
    } else {
      others_that_differ += found.differ > 0;
    }
  }
  EXPECT_GT(tried, 100);
  EXPECT_GT(others_that_differ, 100);
}

}  // namespace
}  // namespace rewright
