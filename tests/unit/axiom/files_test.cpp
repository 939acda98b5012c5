// The axiom files of this tree: both solvers read them, every axiom holds, every rejected one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <set>

#include "axiom/any_function.h"
#include "axiom/audit.h"
#include "axiom/lemmas.h"
#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

std::string run(const std::string& command) {
  std::string output;
  std::array<char, 4096> buffer{};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe)) output += buffer.data();
  const int status = pipe ? pclose(pipe) : -1;
  return output + (status == 0 ? "" : "\nexit status not 0");
}

class EveryFile : public testing::TestWithParam<std::string> {};

TEST_P(EveryFile, IsReadByZ3AndCvc5AsItIs) {
  for (const char* solver : {"z3 ", "cvc5 --lang=smt2 "}) {
    const std::string output = run(solver + GetParam());
    EXPECT_EQ(output.find("rror"), std::string::npos) << solver << output;
    EXPECT_EQ(output.find("not 0"), std::string::npos) << solver << output;
  }
}

std::vector<std::string> all_files() {
  auto files = test::axiom_files();
  files.push_back(test::axiom_file("rejected.smt2"));
  return files;
}
std::string stem(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}
INSTANTIATE_TEST_SUITE_P(Axioms, EveryFile, testing::ValuesIn(all_files()), stem);

class GoodFile : public testing::TestWithParam<std::string> {};

TEST_P(GoodFile, HoldsOnItsWholeDomainOfSmallShapes) {
  AuditOptions options;
  options.max_dim = 4;
  options.max_sizes = 15;
  options.max_typings = 120;
  const AxiomSet set = test::load({GetParam()});
  ASSERT_FALSE(set.axioms().empty());
  for (const Axiom& axiom : set.axioms()) {
    const auto result = audit(axiom, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->holds) << axiom.name << "\n" << result->counterexample;
    EXPECT_GT(result->combinations + result->drawn, 0u) << axiom.name << " was compared nowhere";
  }
}
INSTANTIATE_TEST_SUITE_P(Axioms, GoodFile, testing::ValuesIn(test::axiom_files()), stem);

TEST(RejectedAxioms, EachHasACounterexampleInEveryDomain) {
  const AxiomSet set = test::load({test::axiom_file("rejected.smt2")});
  EXPECT_GE(set.axioms().size(), 18u);
  for (const AuditDomain domain : {AuditDomain::kTaso, AuditDomain::kSmall, AuditDomain::kNightly}) {
    AuditOptions options;
    options.domain = domain;
    options.max_dim = 4;
    options.max_sizes = 60;
    const auto results = audit(set.axioms(), options);
    ASSERT_TRUE(results) << results.error().message;
    for (const AuditResult& result : *results) {
      EXPECT_FALSE(result.holds) << result.name << " holds on " << result.combinations << " combinations";
      EXPECT_THAT(result.counterexample, testing::HasSubstr("left ")) << result.name;
    }
  }
}

TEST(Axioms, SpeakOfEveryOperator) {
  std::set<std::string> spoken;
  for (const Axiom& axiom : test::axioms().axioms()) {
    for (const AxiomTerm& term : axiom.terms) {
      if (term.op) spoken.insert(term.op->name());
    }
  }
  for (const Operator* op : test::operators().all<Operator>())
    EXPECT_TRUE(spoken.contains(op->name())) << "no axiom speaks of " << op->name();
}

TEST(Axioms, NameOtherAxiomsAsWhatALemmaFollowsFrom) {
  std::set<std::string> names;
  for (const Axiom& axiom : test::axioms().axioms()) names.insert(axiom.name);
  int lemmas = 0;
  for (const Axiom& axiom : test::axioms().axioms()) {
    for (const std::string& premise : lemma_premises(axiom)) {
      EXPECT_TRUE(names.contains(premise)) << axiom.name << " is said to follow from " << premise;
      EXPECT_NE(premise, axiom.name);
      ++lemmas;
    }
  }
  EXPECT_GT(lemmas, 40);
}

// A law of every function in relu's place passes the audit with tanh and with negation there; one that says it needs
// the real relu fails for one of them.
TEST(Axioms, SayWhetherTheyNeedTheRealRelu) {
  AuditOptions options;
  options.max_sizes = 10;
  options.max_typings = 40;
  int any = 0, real = 0;
  for (const Axiom& axiom : test::axioms().axioms()) {
    const auto others = with_other_functions(axiom, test::operators());
    if (others.empty() || axiom.needs == "real-functions") continue;
    const bool holds = std::ranges::all_of(others, [&](const Axiom& other) { return audit(other, options)->holds; });
    // x + tanh x grows and x - x is 0, so that these two cannot tell; x - 2x could.
    if (axiom.name == "maximum-of-sum-with-own-relu") continue;
    EXPECT_EQ(holds, axiom.needs.empty()) << axiom.name;
    ++(axiom.needs.empty() ? any : real);
  }
  EXPECT_GT(any, 5);
  EXPECT_GT(real, 20);
}

// One source of sameness for all: what relu and the other functions of one element commute with.
TEST(Axioms, SayOfEveryFunctionOfOneElementWhatItCommutesWith) {
  for (const char* function : {"abs", "neg", "exp", "log", "sqrt", "erf", "sigmoid", "tanh", "softplus", "leaky-relu",
                               "elu", "hard-sigmoid", "clip", "power", "relu"}) {
    for (const char* form :
         {"{}-of-concat", "split-first-of-{}", "split-second-of-{}", "transpose-of-{}", "reshape-of-{}"})
      EXPECT_EQ(test::axiom(fmt::format(fmt::runtime(form), function)).file.ends_with(".smt2"), true);
  }
}

}  // namespace
}  // namespace rewright
