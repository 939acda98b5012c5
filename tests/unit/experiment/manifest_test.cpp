// Manifests: what is wrong is said with file and line, before anything is run.
#include "experiment/manifest.h"

#include <gmock/gmock.h>

#include "unit/experiment/scratch.h"

namespace rewright::testing {
namespace {

using experiment::Json;
using experiment::load_manifest;
using experiment::units_of;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

/// What is said of the counting experiment with one thing written otherwise.
std::string error_of(const std::string& what, const std::string& by) {
  const Experiments folder;
  const auto manifest = load_manifest(folder.write("counting", replaced(kCounting, what, by)));
  if (manifest) return "no error";
  const std::string& text = manifest.error().message;
  return text.substr(text.find("experiment.toml"));
}

TEST(Manifest, UnitsAreAllCombinationsOfWhatIsSwept) {
  const Experiments folder;
  const auto manifest = load_manifest(folder.write(
      "swept", replaced(kCounting, "mark = [\"#\", \"//\"]", "mark = [\"#\", \"//\"]\nextension = [\".a\", \".b\"]")));
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->name, "swept");
  const auto units = units_of(*manifest, false);
  ASSERT_EQ(units.size(), 4U);
  EXPECT_EQ(units[1].parameters.at("mark"), "#");
  EXPECT_EQ(units[1].parameters.at("extension"), ".b");
  EXPECT_EQ(units[1].parameters.at("files"), Json({"a.txt", "b.txt"}));
  EXPECT_EQ(units_of(*manifest, true).size(), 2U) << "quick has one mark";
}

TEST(Manifest, ARunLeftOutOfQuickRunsHasNoUnitsThere) {
  const Experiments folder;
  const auto manifest =
      load_manifest(folder.write("counting", replaced(kCounting, "each = { mark = [\"#\"] }", "skip = true")));
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(units_of(*manifest, true).size(), 0U);
  EXPECT_EQ(units_of(*manifest, false).size(), 2U);
}

TEST(Manifest, SaysWhereItIsWrong) {
  EXPECT_EQ(error_of("minutes = 0.1", "minutes = \"few\""),
            "experiment.toml:5:11: 'minutes' must be a number, not the text \"few\"");
  EXPECT_THAT(error_of("criterion = \"at most three\"", "criterium = \"at most three\""),
              HasSubstr("experiment.toml:22:13: a claim has no key 'criterium'; did you mean 'criterion'?"));
  EXPECT_THAT(error_of("ours = { run = \"lines\"", "ours = { run = \"liness\""),
              EndsWith("there is no run 'liness'; there are: lines"));
  EXPECT_THAT(error_of("at_most = 3\n", ""), HasSubstr("the claim 'few' needs 'ours', and 'at_least' or 'at_most'"));
  EXPECT_THAT(error_of("id = \"many\"", "id = \"few\""), EndsWith("two claims have the id 'few'"));
  EXPECT_THAT(error_of("kind = \"bars\"", "kind = \"pie\""), EndsWith("'kind' is 'pie'; there are: lines, bars, heat"));
  EXPECT_THAT(error_of("mark = [\"#\", \"//\"]", "mark = \"#\""),
              EndsWith("'mark' must be a list of the values to go through, not the text \"#\""));
  EXPECT_THAT(error_of("[[runs]]", "[[rums]]"), HasSubstr("'runs'"));
  EXPECT_THAT(error_of("title = \"Lines\"", "title = \"Lines"), HasSubstr("experiment.toml:3:"));
}

TEST(Manifest, EveryExperimentOfThisTreeCanBePlanned) {
  const auto manifests = experiment::load_manifests(REWRIGHT_SOURCE_DIR "/experiments");
  ASSERT_TRUE(manifests) << manifests.error().message;
  EXPECT_GE(manifests->size(), 2U);
  const Experiments scratch;
  for (const experiment::Manifest& manifest : *manifests) {
    for (const bool quick : {false, true}) {
      experiment::RunExperiment options = scratch.options(manifest.name);
      options.quick = quick;
      options.lab.stop = [] { return true; };  // All parameters are looked at before that.
      const auto outcome = experiment::run_experiment(manifest, options);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_TRUE(outcome->stopped || units_of(manifest, quick).empty());
    }
    EXPECT_TRUE(std::filesystem::is_regular_file(manifest.folder + "/README.md")) << manifest.name << " has no page";
  }
}

}  // namespace
}  // namespace rewright::testing
