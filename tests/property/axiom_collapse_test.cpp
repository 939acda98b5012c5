// Consistency by collapse: our axioms make nothing equal that differs; a false one among them is found out through the
// terms of the others, and named.
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "discover/collapse.h"

namespace rewright {
namespace {

const Registry& registry() {
  static const Registry kRegistry = [] {
    Registry registry;
    if (auto status = registry.load_default(); !status) fail(status.error().message);
    return registry;
  }();
  return kRegistry;
}

AxiomSet load(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back(fmt::format("{}/axioms/{}.smt2", REWRIGHT_SOURCE_DIR, name));
  auto set = load_axioms(files, registry());
  if (!set) fail(set.error().message);
  return *std::move(set);
}
const AxiomSet& ours() {
  static const AxiomSet kOurs = load({"elementwise", "layout", "linear_algebra", "convolution"});
  return kOurs;
}

TEST(AxiomCollapse, OursMakeNothingEqualThatDiffers) {
  const AxiomSet all = load({"elementwise", "layout", "linear_algebra", "convolution", "activation", "reshape",
                             "broadcast", "normalisation", "constants"});
  CollapseOptions options;
  options.instances = 1;
  options.composed = 200;
  options.sizes = 1;
  options.threads = 2;
  const auto report = check_collapse(all.axioms(), all.axioms(), options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->goals, all.axioms().size());
  EXPECT_GT(report->pairs, 10 * report->goals) << "too few terms are made equal to say anything";
  for (const Collapse& collapse : report->found)
    ADD_FAILURE() << collapse.axiom << "\n" << collapse.values << "\n" << collapse.chain;
}

class PlantedAxiom : public testing::TestWithParam<const char*> {};

TEST_P(PlantedAxiom, IsFoundOutThroughTheTermsOfTheOthers) {
  const AxiomSet rejected = load({"rejected"});
  const auto planted = std::ranges::find(rejected.axioms(), std::string(GetParam()), &Axiom::name);
  ASSERT_NE(planted, rejected.axioms().end());
  std::vector<Axiom> with(ours().axioms().begin(), ours().axioms().end());
  with.push_back(*planted);
  CollapseOptions options;
  options.instances = 2;
  options.composed = 100;
  options.sizes = 2;
  const auto report = check_collapse(with, ours().axioms(), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_FALSE(report->found.empty());
  for (const Collapse& collapse : report->found) {
    EXPECT_EQ(collapse.axiom, GetParam()) << collapse.chain;
    EXPECT_THAT(collapse.values, testing::HasSubstr(" = "));
    EXPECT_NE(collapse.left, collapse.right);
  }
}
INSTANTIATE_TEST_SUITE_P(Rejected, PlantedAxiom,
                         testing::Values("relu-of-smul", "relu-over-ewadd", "concat-commutes", "smul-twice",
                                         "conv-drops-product", "conv-of-channel-concats-grouped"));

TEST(AxiomCollapse, SaysTheSameOnAnyNumberOfThreads) {
  const AxiomSet rejected = load({"rejected"});
  std::vector<Axiom> with(ours().axioms().begin(), ours().axioms().end());
  with.push_back(*std::ranges::find(rejected.axioms(), std::string("concat-commutes"), &Axiom::name));
  const auto text = [&](int threads) {
    CollapseOptions options;
    options.instances = 1;
    options.composed = 50;
    options.sizes = 1;
    options.threads = threads;
    const auto report = check_collapse(with, ours().axioms(), options);
    if (!report) fail(report.error().message);
    std::string all = fmt::format("{} {} {}", report->goals, report->nodes, report->pairs);
    for (const Collapse& collapse : report->found) all += collapse.goal + collapse.values + collapse.chain;
    return all;
  };
  EXPECT_EQ(text(1), text(3));
}

}  // namespace
}  // namespace rewright
