// How the options of rewright optimize are read: the sentences for those that are wrong.
#include "cli/optimize_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rewright::cli {
namespace {

using testing::HasSubstr;

TEST(OptimizeArguments, SizesAreReadByName) {
  const auto dims = read_dims({"batch=4", "x.0=0"});
  ASSERT_TRUE(dims);
  EXPECT_EQ(dims->at("batch"), 4);
  EXPECT_EQ(dims->at("x.0"), 0);
  EXPECT_THAT(read_dims({"batch"}).error().message, HasSubstr("--dim wants NAME=VALUE, not 'batch'"));
  EXPECT_THAT(read_dims({"=4"}).error().message, HasSubstr("NAME=VALUE"));
  for (const char* wrong : {"batch=-1", "batch=4.5", "batch=four", "batch="})
    EXPECT_THAT(read_dims({wrong}).error().message, HasSubstr("is no size")) << wrong;
}

TEST(OptimizeArguments, InputsAreNumbersOrFiles) {
  const auto inputs = read_inputs({"x=1,2.5,-3", "n=128"});
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->size(), 2u);
  EXPECT_THAT(read_inputs({"x=/there/is/no/such.pb"}).error().message, HasSubstr("/there/is/no/such.pb"));
  EXPECT_THAT(read_inputs({"x"}).error().message, HasSubstr("--input wants NAME=VALUE"));
}

TEST(OptimizeArguments, OutputsAreCheckedBeforeAnythingIsDone) {
  OptimizeArguments arguments;
  arguments.output = "/there/is/no/folder/out.onnx";
  EXPECT_THAT(check_outputs(arguments).error().message, HasSubstr("there is no folder '/there/is/no/folder'"));
  arguments.output = testing::TempDir();
  EXPECT_THAT(check_outputs(arguments).error().message, HasSubstr("is a folder"));
  arguments.output = testing::TempDir() + "rewright_out.onnx";
  EXPECT_TRUE(check_outputs(arguments));
  arguments.report = testing::TempDir() + "rewright_report_file";
  std::ofstream(arguments.report) << "x";
  EXPECT_THAT(check_outputs(arguments).error().message, HasSubstr("a folder is wanted"));
  std::filesystem::remove(arguments.report);
}

TEST(OptimizeArguments, RulesThatAreNotProvedAreRefusedUnlessAskedFor) {
  Registry registry;
  ASSERT_TRUE(registry.load_default());
  const std::string file = testing::TempDir() + "rewright_arguments.rules";
  std::ofstream(file) << "(x:2) relu(relu(x)) => relu(x)\n";
  OptimizeArguments arguments;
  arguments.rules = {file};
  EXPECT_THAT(read_rules(arguments, registry, {}, true).error().message, HasSubstr("none of the rules is proved"));
  arguments.trust = "none";
  EXPECT_EQ(read_rules(arguments, registry, {}, true)->size(), 1u);
  arguments.trust = "blind";
  EXPECT_THAT(read_rules(arguments, registry, {}, true).error().message, HasSubstr("'blind'"));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace rewright::cli
