// Commands where something is missing or fails that a healthy installation has: what they say of it.
#include "cli/commands.h"

#include <rewright/onnx/runtime.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/own_files.h"
#include "cli/program.h"
#include "support/true_rules.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kNoMemory = REWRIGHT_BUILD_DIR "/tests/plugins/cli/no_memory.so";

struct Outcome {
  int exit = 0;
  std::string out;
  std::string err;
};

Outcome run(void (*add)(Program&), std::vector<std::string> arguments) {
  Program program;
  add(program);
  arguments.insert(arguments.begin(), "rewright");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit = program.run(static_cast<int>(argv.size()), argv.data());
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(OptimizeCommand, SaysWhatItDidWhenTheMemoryEnded) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("rewright-no-memory-{}", getpid());
  fs::create_directories(folder);
  const auto bytes = to_model(rewright::testing::read_graph("x = input (2, 2)\na = relu(x)\noutput a\n"));
  ASSERT_TRUE(bytes) << bytes.error().message;
  const std::string model = folder / "model.onnx";
  std::ofstream(model, std::ios::binary) << std::string_view(reinterpret_cast<const char*>(bytes->data()),
                                                             bytes->size());
  const Outcome outcome =
      run(add_optimize, {"optimize", model, "-o", folder / "out.onnx", "--cost", "no-memory", "--plugin", kNoMemory});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_EQ(outcome.err,
            fmt::format("rewright: out of memory while searching '{}': give the machine more, or the model smaller "
                        "sizes (--dim), or the search less to do (--candidates, --region-size)\n",
                        model));
  EXPECT_FALSE(fs::exists(folder / "out.onnx"));
  fs::remove_all(folder);
}

TEST(PluginsCommand, NamesTheContractThatAPluginBreaks) {
  const Outcome outcome = run(add_plugins, {"plugins", "test", kNoMemory});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cost no-memory"), HasSubstr("BROKEN"), HasSubstr(" broken\n"),
                                 HasSubstr("cost no-memory, \"gives every application a time\": see cost.h: cost_us; "
                                           "usual cause: ")));
}

TEST(OwnFiles, ThatAreMissingAreNamed) {
  const Roots nowhere = {"/no/such/folder"};
  EXPECT_EQ(own_axioms(nowhere).error().message,
            "the program's own axiom files were not found; name some with --axioms FILE...");
  EXPECT_EQ(own_libraries(nowhere).error().message,
            "the program's own library of rules was not found; name a store or a file with --rules");
  EXPECT_EQ(own_data(nowhere).error().message,
            "the experiments that came with the program were not found; install it again");
  EXPECT_EQ(own_templates(nowhere).error().message,
            "the templates that came with the program were not found; install it again");
}

}  // namespace
}  // namespace rewright::cli
