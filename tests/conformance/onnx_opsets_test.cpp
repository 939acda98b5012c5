// The ONNX project's own test data in the forms of other opsets: each model that ONNX Runtime computes as expected is
// converted to opset 17 and to 24 and back to its own, and gives what is expected each time. What cannot be converted
// is counted, with the reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "conformance/onnx_cases.h"
#include "support/converted_model.h"
#include "support/operators.h"

namespace rewright::testing {
namespace {

namespace fs = std::filesystem;

/// Conversions there and back (ONNX 1.12) by opset; more is progress, fewer is a loss.
const std::map<std::int64_t, std::size_t> kLeastConversions = {{9, 1166},  {11, 1368}, {13, 874}, {17, 1796},
                                                               {18, 1894}, {21, 1894}, {24, 1890}};

bool close(double expected, double actual) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) return true;
  return std::abs(expected - actual) <= 1e-5 + 1e-3 * std::abs(expected);
}

/// Empty where the model gives what the case expects.
std::string difference(const Runtime& runtime, const OnnxCase& example, const std::string& model) {
  const auto session = runtime.load(std::as_bytes(std::span(model)), {});
  if (!session) return session.error().message;
  const auto outputs = (*session)->run(example.inputs);
  if (!outputs) return outputs.error().message;
  for (std::size_t i = 0; i < std::min(outputs->size(), example.outputs.size()); ++i) {
    const RuntimeTensor &expected = example.outputs[i], &actual = (*outputs)[i];
    if (expected.type != actual.type) return fmt::format("output {} is of another type", i);
    const auto wanted = to_reals({expected.type, expected.bytes}), numbers = to_reals({actual.type, actual.bytes});
    if (!wanted || !numbers) {
      if (expected.bytes != actual.bytes) return fmt::format("output {} has other bytes", i);
      continue;
    }
    for (std::size_t k = 0; k < numbers->size(); ++k)
      if (!close((*wanted)[k], (*numbers)[k]))
        return fmt::format("output {}: element {} is {}, expected {}", i, k, (*numbers)[k], (*wanted)[k]);
  }
  return {};
}

struct Summary {
  std::size_t cases = 0, run = 0, conversions = 0;
  std::map<std::string, std::set<std::string>> refused;  ///< By sentence, without the node's name: the cases.

  void refuse(const std::string& name, const std::string& sentence) {
    const std::size_t type = sentence.find(" (");
    refused[type == std::string::npos ? sentence : sentence.substr(type + 1)].insert(name);
  }
  void print(std::string_view what) const {
    fmt::print("{}: {} cases, {} that ONNX Runtime computes, {} conversions\n", what, cases, run, conversions);
    for (const auto& [sentence, names] : refused)
      fmt::print("  {:4} {} ({}{})\n", names.size(), sentence, *names.begin(), names.size() > 1 ? ", ..." : "");
  }
};

/// One case in the form of `to` and back. Conversions that change nothing are not counted.
void judge(const Runtime& runtime, const OnnxCase& example, std::int64_t to, Summary& summary) {
  model::ModelProto original;
  original.ParseFromString(example.model);
  const std::int64_t own = model::opset_of(original);
  if (own == 0 || own == to) return;
  const auto there = converted(original, to);
  if (!there) return summary.refuse(example.name, fmt::format("to {}: {}", to, there.error().message));
  const std::string found = difference(runtime, example, there->SerializeAsString());
  if (found.find("Could not find an implementation") != std::string::npos) return summary.refuse(example.name, found);
  ++summary.conversions;
  EXPECT_EQ(found, "") << example.name << " in opset " << to << "\n" << there->DebugString().substr(0, 3000);
  const auto back = converted(*there, own);
  if (!back) return summary.refuse(example.name, fmt::format("back from {}: {}", to, back.error().message));
  ++summary.conversions;
  EXPECT_EQ(difference(runtime, example, back->SerializeAsString()), "")
      << example.name << " back in opset " << own << " from " << to << "\n"
      << back->DebugString().substr(0, 3000);
}

class OnnxTestDataConverted : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(OnnxTestDataConverted, IsWhatOnnxRuntimeComputes) {
  ASSERT_TRUE(fs::is_directory(onnx_test_data())) << onnx_test_data() << " is missing: install libonnx-testdata";
  const Runtime* runtime = loaded().find<Runtime>("onnxruntime");
  if (runtime == nullptr) GTEST_SKIP() << "the plugin runtimes/onnxruntime is not built";
  if (const auto version = runtime->version(); !version) GTEST_SKIP() << version.error().message;
  Summary summary;
  std::vector<fs::path> folders;
  for (const char* group : {"node", "simple", "pytorch-converted", "pytorch-operator"})
    for (const auto& entry : fs::directory_iterator(onnx_test_data() / group)) folders.push_back(entry.path());
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    const auto cases = read_cases(folder);
    for (const OnnxCase& whole : cases ? *cases : std::vector<OnnxCase>{}) {
      const OnnxCase example =
          frozen(whole, Frozen::kIntegers);  // Axes and sizes are in the model, as they are mostly.
      ++summary.cases;
      if (!difference(*runtime, example, example.model).empty()) continue;
      ++summary.run;
      judge(*runtime, example, GetParam(), summary);
    }
  }
  summary.print(fmt::format("To opset {} and back", GetParam()));
  EXPECT_GE(summary.conversions, kLeastConversions.at(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Opsets, OnnxTestDataConverted, ::testing::Values(9, 11, 13, 17, 18, 21, 24),
                         [](const auto& info) { return fmt::format("Opset{}", info.param); });

}  // namespace
}  // namespace rewright::testing
