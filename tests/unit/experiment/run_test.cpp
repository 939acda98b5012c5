// Running: nothing is done twice, nothing that was done is lost, what cannot be done here is said.
#include "experiment/run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "onnx/export.h"
#include "unit/experiment/scratch.h"

namespace rewright::testing {
namespace {

using experiment::Answer;
using experiment::Findings;
using experiment::findings_of;
using experiment::load_manifest;
using experiment::Manifest;
using experiment::run_experiment;
using experiment::RunExperiment;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Manifest counting(const Experiments& folder) {
  auto manifest = load_manifest(write_counting(folder));
  EXPECT_TRUE(manifest) << manifest.error().message;
  return *manifest;
}

Findings found(const Manifest& manifest, const experiment::RunOutcome& outcome, bool quick = false) {
  auto findings = findings_of(manifest, outcome.results, quick, outcome.missing);
  EXPECT_TRUE(findings) << findings.error().message;
  return *findings;
}

TEST(Run, JudgesEveryClaim) {
  const Experiments folder;
  const Manifest manifest = counting(folder);
  const auto outcome = run_experiment(manifest, folder.options("counting"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->done, 2U);
  const Findings findings = found(manifest, *outcome);
  ASSERT_EQ(findings.claims.size(), 3U);
  EXPECT_EQ(findings.claims[0].verdict(), "reproduced");
  EXPECT_EQ(findings.claims[0].ours, "3") << "a.txt has two lines, b.txt one: '//' is no comment there";
  EXPECT_EQ(findings.claims[1].verdict(), "not reproduced");
  EXPECT_TRUE(findings.claims[1].unexpected);
  EXPECT_EQ(findings.claims[2].verdict(), "not comparable here, because nobody here reads it");
  EXPECT_FALSE(findings.all_claims_hold());
}

TEST(Run, DoesNothingTwice) {
  const Experiments folder;
  const Manifest manifest = counting(folder);
  RunExperiment options = folder.options("counting");
  options.quick = true;
  EXPECT_EQ(run_experiment(manifest, options)->done, 1U);
  options.quick = false;
  const auto again = run_experiment(manifest, options);
  EXPECT_EQ(again->known, 1U) << "the quick unit has the parameters of one of the full ones";
  EXPECT_EQ(again->done, 1U);
  EXPECT_EQ(run_experiment(manifest, options)->done, 0U);
  options.fresh = true;
  EXPECT_EQ(run_experiment(manifest, options)->done, 2U);
}

TEST(Run, DoesAgainWhatRestsOnAFileThatChanged) {
  const Experiments folder;
  const Manifest manifest = counting(folder);
  const RunExperiment options = folder.options("counting");
  ASSERT_TRUE(run_experiment(manifest, options));
  folder.write("counting", "four\nfive\n", "b.txt");
  const auto again = run_experiment(manifest, options);
  EXPECT_EQ(again->done, 2U);
  EXPECT_EQ(found(manifest, *again).claims[0].ours, "4");
  EXPECT_EQ(again->results.units.size(), 2U) << "the old ones are gone";
}

TEST(Run, WhatAnotherBuildDidCountsWithTheSameFilesAlone) {
  const Experiments folder;
  const Manifest manifest = counting(folder);
  RunExperiment options = folder.options("counting");
  ASSERT_TRUE(run_experiment(manifest, options));
  options.any_build = true;
  EXPECT_EQ(run_experiment(manifest, options)->done, 0U);
  folder.write("counting", "four\nfive\n", "b.txt");
  EXPECT_EQ(run_experiment(manifest, options)->done, 2U);
}

/// Two searches for schedules; of the first there is a record, of another machine and day.
constexpr const char* kSearching = R"toml(
[experiment]
title = "Searching"
question = "How fast?"
minutes = 0.1
[[runs]]
name = "one"
kind = "tune"
kernel = "(a:8x8, b:8x8) matmul(a, b)"
trials = 4
[runs.quick]
trials = 1
[[runs]]
name = "two"
kind = "tune"
kernel = "(a:8x8, b:8x8) matmul(a, b)"
trials = 5
[runs.quick]
skip = true
[[runs]]
name = "lines"
kind = "lines"
files = ["a.txt"]
mark = "#"
[[claims]]
id = "fast"
claim = "It is fast"
source = "a paper"
paper = "1 us"
ours = { run = "one", field = "best_us" }
at_most = 1
criterion = "at most 1 us"
quick = "one trial is no search"
[[claims]]
id = "faster"
claim = "It is faster"
source = "a paper"
paper = "1 us"
ours = { run = "two", field = "best_us" }
at_most = 1
criterion = "at most 1 us"
quick = "it takes an hour"
[[claims]]
id = "short"
claim = "It is short"
source = "a paper"
paper = "1"
ours = { run = "lines", field = "lines", where = { row = "sum" } }
at_most = 0
criterion = "no line"
quick = { at_most = 5, criterion = "at most five lines" }
)toml";

Manifest searching(const Experiments& folder) {
  folder.write("searching", "one\n", "a.txt");
  auto manifest = load_manifest(folder.write("searching", kSearching));
  EXPECT_TRUE(manifest) << manifest.error().message;
  experiment::ResultFile records;
  records.settings.push_back(
      {{"record", "setting"}, {"id", "there"}, {"build", "old"}, {"machine", {{"processor", "slow"}}}});
  experiment::UnitResult unit;
  unit.run = "one";
  unit.kind = "tune";
  unit.key = "key";
  unit.setting = "there";
  unit.date = "2020-02-02T20:20:02Z";
  unit.parameters = {{"trials", 4}, {"kernel", "(a:8x8, b:8x8) matmul(a, b)"}};
  unit.rows.push_back({{"row", "sum"}, {"best_us", 7}});
  records.units.push_back(unit);
  folder.write("results/searching", "", "results.jsonl");
  EXPECT_TRUE(write_results(experiment::records_folder(*manifest) + "/results.jsonl", records));
  return *manifest;
}

TEST(Run, MeasuresNothingFromRecords) {
  const Experiments folder;
  const Manifest manifest = searching(folder);
  RunExperiment options = folder.options("elsewhere");
  options.from_records = true;
  const auto outcome = run_experiment(manifest, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->recorded, 1U);
  EXPECT_EQ(outcome->done, 1U) << "lines are counted, not taken from anywhere";
  const Findings findings = found(manifest, *outcome);
  EXPECT_EQ(findings.claims[0].ours, "7");
  EXPECT_EQ(findings.claims[0].verdict(), "not reproduced");
  EXPECT_THAT(findings.claims[1].verdict(),
              HasSubstr("has no record of it, and nothing is measured with --from-records"));
  EXPECT_EQ(findings.claims[2].verdict(), "not reproduced");
  EXPECT_EQ(findings.settings.size(), 2U) << "the record's machine is named, too";
  const auto again = run_experiment(manifest, options);
  EXPECT_EQ(again->recorded, 0U);
  EXPECT_EQ(again->known, 2U);
}

TEST(Run, WhatWasComputedFromTheSameFilesIsTakenFromRecords) {
  const Experiments folder;
  const Manifest manifest = counting(folder);
  RunExperiment options = folder.options("counting");
  options.folder = experiment::records_folder(manifest);
  auto records = run_experiment(manifest, options)->results;
  ASSERT_EQ(records.units.size(), 2U);
  for (experiment::UnitResult& unit : records.units)
    for (auto& row : unit.rows) row["lines"] = 50;
  ASSERT_TRUE(write_results(options.folder + "/results.jsonl", records));
  options.folder = (folder.path() / "elsewhere").string();
  options.from_records = true;
  const auto taken = run_experiment(manifest, options);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->recorded, 2U);
  EXPECT_EQ(taken->done, 0U);
  EXPECT_EQ(found(manifest, *taken).claims[0].ours, "50") << "as the records say";
  EXPECT_EQ(run_experiment(manifest, options)->known, 2U);
  options.fresh = true;
  const auto computed = run_experiment(manifest, options);
  EXPECT_EQ(computed->done, 2U);
  EXPECT_EQ(found(manifest, *computed).claims[0].ours, "3") << "counted again";
  options.fresh = false;
  folder.write("counting", "four\nfive\n", "b.txt");
  const auto changed = run_experiment(manifest, options);
  EXPECT_EQ(changed->recorded, 0U) << "the records are of other files";
  EXPECT_EQ(changed->done, 2U);
  EXPECT_EQ(found(manifest, *changed).claims[0].ours, "4");
}

TEST(Run, AQuickOneIsJudgedByItsOwnFormOrByRecords) {
  const Experiments folder;
  const Manifest manifest = searching(folder);
  const auto records = experiment::read_results(experiment::records_folder(manifest) + "/results.jsonl");
  ASSERT_TRUE(records) << records.error().message;
  experiment::ResultFile results;
  experiment::UnitResult lines;
  lines.run = "lines";
  lines.kind = "lines";
  lines.parameters = {{"files", {"a.txt"}}, {"mark", "#"}};
  lines.rows.push_back({{"row", "sum"}, {"lines", 3}});
  results.units.push_back(lines);
  const auto findings = findings_of(manifest, results, true, {}, &*records);
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_EQ(findings->claims[0].verdict(),
            "not reproduced in the records of 2020-02-02, because one trial is no search");
  EXPECT_EQ(findings->claims[1].verdict(), "not run, because it takes an hour") << "the records lack it";
  EXPECT_EQ(findings->claims[2].verdict(), "reproduced") << "3 is at most 5";
  EXPECT_EQ(findings->claims[2].claim->criterion, "at most five lines");
  EXPECT_TRUE(findings->all_claims_hold()) << "what a record says is no answer of this run";
  EXPECT_EQ(findings_of(manifest, results, true)->claims[0].verdict(), "not run, because one trial is no search");
}

TEST(Run, KeepsWhatWasDoneWhenItIsStopped) {
  const Experiments folder;
  const Manifest manifest = counting(folder);
  RunExperiment options = folder.options("counting");
  int asked = 0;
  options.lab.stop = [&] { return ++asked > 1; };
  const auto stopped = run_experiment(manifest, options);
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->stopped);
  EXPECT_EQ(stopped->done, 1U);
  const Findings findings = found(manifest, *stopped);
  EXPECT_EQ(findings.claims[0].verdict(), "not run, because 1 unit of the run 'lines' is still to be done");
  options.lab.stop = {};
  const auto rest = run_experiment(manifest, options);
  EXPECT_EQ(rest->known, 1U);
  EXPECT_EQ(rest->done, 1U);
  EXPECT_FALSE(rest->stopped);
}

TEST(Run, RefusesParametersThatItDoesNotKnowBeforeItStarts) {
  const Experiments folder;
  std::string text = kCounting;
  text.replace(text.find("extension ="), 9, "extention");
  folder.write("counting", "one\n", "a.txt");
  folder.write("counting", "one\n", "b.txt");
  const auto manifest = load_manifest(folder.write("counting", text));
  ASSERT_TRUE(manifest);
  const auto outcome = run_experiment(*manifest, folder.options("counting"));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message,
              HasSubstr("experiment.toml:10: a run of this kind has no key 'extention'; did you mean 'extension'?"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "results"));
}

TEST(Run, NamesAFileThatIsNotThere) {
  const Experiments folder;
  const auto manifest = load_manifest(folder.write("counting", kCounting));
  const auto outcome = run_experiment(*manifest, folder.options("counting"));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("experiment.toml:9: 'files' names 'a.txt', and there is no file"));
}

std::string grouped_convolution(int stride) {
  const auto graph = parse_graph(fmt::format("x = input (1, 8, 6, 6)\nw = weight (8, 2, 3, 3)\n"
                                             "a = conv2d[strides=[{0}, {0}], groups=4](x, w)\noutput a\n",
                                             stride),
                                 loaded());
  EXPECT_TRUE(graph) << graph.error().message;
  return *export_model(*graph);
}

Manifest merging(const Experiments& folder, const std::string& model,
                 const std::string& cost = R"(cost_options = { device = "v100_groups_apart" })") {
  auto manifest = load_manifest(folder.write("merging", fmt::format(R"(
[experiment]
title = "Merging"
question = "Are groups merged?"
minutes = 0.1
[[runs]]
name = "merging"
kind = "optimize"
model = "{}"
rules = ["{}/experiments/library/networks.rules"]
{}
search = "greedy"
price = ["flops"]
[[claims]]
id = "merged"
claim = "They are"
source = "a paper"
paper = "yes"
ours = {{ run = "merging", field = "rewrites", where = {{ row = "sum" }} }}
unit = "yes"
at_least = 1
criterion = "one rewrite"
[[claims]]
id = "priced"
claim = "A device that runs groups together gains nothing by it"
source = "a paper"
paper = "yes"
ours = {{ run = "merging", field = "gain", where = {{ row = "price", by = "flops" }} }}
at_most = 1
criterion = "no gain"
)",
                                                                    model, REWRIGHT_SOURCE_DIR, cost)));
  EXPECT_TRUE(manifest) << manifest.error().message;
  return *std::move(manifest);
}

// The rule that the library spells out has strides of 1; its family has those of the model.
TEST(Run, OptimisesWithTheMembersOfFamiliesThatAModelAsksFor) {
  const Experiments folder;
  folder.write("merging", grouped_convolution(2), "strided.onnx");
  const Manifest manifest = merging(folder, "strided.onnx");
  const auto outcome = run_experiment(manifest, folder.options("merging"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(found(manifest, *outcome).claims[0].verdict(), "reproduced");
  EXPECT_EQ(found(manifest, *outcome).claims[0].ours, "yes");
  EXPECT_EQ(found(manifest, *outcome).claims[1].verdict(), "reproduced");
}

TEST(Run, OptimisesAModelAgainThatChanged) {
  const Experiments folder;
  for (const auto& [model, place] : {std::pair("strided.onnx", "merging"), std::pair("known", ".")}) {
    const std::string file = std::filesystem::path(model).stem().string() + ".onnx";
    folder.write(place, grouped_convolution(2), file);
    const Manifest manifest = merging(folder, model);
    const auto first = run_experiment(manifest, folder.options("merging"));
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->done, 1U);
    EXPECT_EQ(run_experiment(manifest, folder.options("merging"))->done, 0U);
    folder.write(place, grouped_convolution(1), file);
    EXPECT_EQ(run_experiment(manifest, folder.options("merging"))->done, 1U) << model;
  }
}

constexpr const char* kProgram = R"(
[experiment]
title = "A program"
question = "What does it print?"
minutes = 0.1
[[runs]]
name = "counts"
kind = "program"
program = "counter.sh"
arguments = ["it's", "$WORK"]
pattern = 'level (\d+): ([0-9,.]+)'
fields = ["level", "graphs"]
[[claims]]
id = "most"
claim = "It counts far"
source = "a paper"
paper = "1,000"
ours = { run = "counts", field = "graphs", where = { level = 2 } }
at_least = 1000
at_most = 1000
criterion = "1,000"
)";

TEST(Run, ReadsTheFiguresThatAProgramPrints) {
  const Experiments folder;
  const auto manifest = load_manifest(folder.write("program", kProgram));
  ASSERT_TRUE(manifest) << manifest.error().message;
  const auto without = run_experiment(*manifest, folder.options("program"));
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_THAT(found(*manifest, *without).claims[0].verdict(),
              HasSubstr("not comparable here, because the benchmark 'counter.sh' is not built"));
  EXPECT_TRUE(found(*manifest, *without).all_claims_hold()) << "what cannot be compared is not a negative answer";

  const std::string program = folder.write(".",
                                           "#!/bin/sh\n[ \"$1\" = \"it's\" ] && [ -d \"$2\" ] || exit 1\n"
                                           "echo 'level 1: 12'; echo 'level 2: 1,000'\n",
                                           "counter.sh");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto with = run_experiment(*manifest, folder.options("program"));
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(found(*manifest, *with).claims[0].verdict(), "reproduced");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "results/program/work")) << "its work folder is gone";
  EXPECT_EQ(run_experiment(*manifest, folder.options("program"))->done, 0U);
  std::ofstream(program, std::ios::app) << "echo 'level 2: 7'\n";
  EXPECT_EQ(run_experiment(*manifest, folder.options("program"))->done, 1U) << "another program";
}

TEST(Run, AProgramThatFailsOrPrintsNoFiguresIsNamed) {
  const Experiments folder;
  const auto manifest = load_manifest(folder.write("program", kProgram));
  ASSERT_TRUE(manifest) << manifest.error().message;
  const auto error_of = [&](const std::string& script) {
    const std::string program = folder.write(".", "#!/bin/sh\n" + script, "counter.sh");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto outcome = run_experiment(*manifest, folder.options("program"));
    return outcome ? "no error" : outcome.error().message;
  };
  EXPECT_THAT(error_of("echo 'no memory is left' >&2; echo bye; exit 3\n"),
              ::testing::AllOf(HasSubstr("experiment program, counts: '"), EndsWith("' failed: no memory is left")));
  EXPECT_THAT(error_of("echo nothing\n"), EndsWith("fits the pattern level (\\d+): ([0-9,.]+)"));
}

TEST(Run, AnOptionThatIsAFileIsRelativeToTheManifest) {
  const Experiments folder;
  folder.write("merging", grouped_convolution(2), "strided.onnx");
  const auto error_of = [&] {
    const Manifest manifest = merging(folder, "strided.onnx", R"(cost = "database"
cost_options = { file = "costs.db" })");
    const auto outcome = run_experiment(manifest, folder.options("merging"));
    return outcome ? "no error" : outcome.error().message;
  };
  const std::string file = (folder.path() / "merging/costs.db").string();
  EXPECT_THAT(error_of(), HasSubstr(fmt::format("'cost_options' names 'costs.db', and there is no file '{}'", file)));
  folder.write("merging", "no database", "costs.db");
  EXPECT_THAT(error_of(), HasSubstr(file));
}

TEST(Run, ADamagedResultFileIsNamedWithItsLine) {
  const Experiments folder;
  const Manifest manifest = counting(folder);
  const RunExperiment options = folder.options("counting");
  ASSERT_TRUE(run_experiment(manifest, options));
  std::ofstream(options.folder + "/results.jsonl", std::ios::app) << "{\"record\": \"unit\"}\n";
  const auto outcome = run_experiment(manifest, options);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("results.jsonl:4: this is no line of an experiment's results"));
}

}  // namespace
}  // namespace rewright::testing
