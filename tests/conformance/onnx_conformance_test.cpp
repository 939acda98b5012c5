// The operators compute what ONNX's own test data expects: each model that operators can read completely is evaluated
// in double precision, and once more by ONNX Runtime after it was exported. The others are counted, with the reason.
#include <rewright/kit/onnx_mapping.h>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compile/kernels.h"
#include "conformance/onnx_cases.h"
#include "loop/interpreter.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "support/operators.h"

namespace rewright::testing {
namespace {

namespace fs = std::filesystem;

/// How many of the data's cases (ONNX 1.12) are computed by operators; more is progress, fewer is a loss.
constexpr std::size_t kLeastCases = 490;
constexpr std::size_t kLeastCompiledCases = 607;  ///< With nodes that graphs carry and loops compute.

constexpr std::string_view kBitsAsIntegers = "test_cast_BFLOAT16_to_FLOAT";

/// Operators with an ONNX counterpart that no case of the test data reaches, and why.
const std::map<std::string, std::string> kWithoutCase = {
    {"broadcast_matmul", "the data's products have equal batches (matmul) or none (Gemm)"}};

/// numpy.allclose as ONNX's own backend test uses it (rtol 1e-3, atol 1e-7). Here atol is 1e-6: expected values were
/// computed in single precision, where a sum that cancels is off by some 1e-7 times its terms.
bool close(double expected, double actual) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) return true;
  return std::abs(expected - actual) <= 1e-6 + 1e-3 * std::abs(expected);
}

std::string difference(const RuntimeTensor& expected, const Shape& shape, const std::vector<double>& actual) {
  if (shape != expected.type.shape) return fmt::format("shape {}, expected {}", shape, expected.type.shape);
  const auto numbers = to_reals({expected.type, expected.bytes});
  if (!numbers) return numbers.error().message;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!close((*numbers)[i], actual[i]))
      return fmt::format("output {}: element {} is {}, expected {}", expected.name, i, actual[i], (*numbers)[i]);
  }
  return {};
}

/// A case, imported so that no node is left to a runtime; or the reason why there is none.
struct Imported {
  OnnxCase data;
  ImportedModel model;
};

/// A node of the graph that no operator read; null if there is none. Carried nodes whose results nothing needs, such
/// as those that computed a known shape, are in the list of carried nodes and not in the graph.
const CarriedNode* left_to_a_runtime(const ImportedModel& model) {
  for (const Node& node : model.graph.nodes()) {
    if (!node.opaque()) continue;
    const auto found = std::ranges::find(model.carried, node.opaque()->type, &CarriedNode::type);
    return found == model.carried.end() ? &model.carried.front() : &*found;
  }
  return nullptr;
}

enum class Carried { kRefused, kTaken };

Result<Imported> import_completely(const OnnxCase& original, Carried carried) {
  Error reason;
  for (const Frozen which : {Frozen::kIntegers, Frozen::kAllButFirst}) {
    OnnxCase data = frozen(original, which);
    const ImportOptions options{.dimensions = data.dimensions, .file = data.name, .directory = {}};
    auto model = import_model(std::as_bytes(std::span(data.model)), loaded(), options);
    if (!model) {
      reason = model.error();
    } else if (const auto* node = left_to_a_runtime(*model); node != nullptr && carried == Carried::kRefused) {
      reason = unsupported("{}: {}", node->type, node->reason);
    } else {
      return Imported{std::move(data), *std::move(model)};
    }
  }
  return reason;
}

/// What the graph's inputs hold.
Result<std::vector<Tensor<Real>>> input_values(const Imported& imported) {
  const Graph& graph = imported.model.graph;
  std::vector<Tensor<Real>> values;
  for (const NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    const auto given = std::ranges::find(imported.data.inputs, node.name, &RuntimeTensor::name);
    if (given == imported.data.inputs.end() && !node.constant()) return unsupported("input {} has no value", node.name);
    const auto numbers = node.constant() ? to_reals(*node.constant()) : to_reals({given->type, given->bytes});
    if (!numbers) return numbers.error();
    Tensor<Real>& tensor = values.emplace_back(node.constant() ? node.constant()->type.shape : given->type.shape);
    for (std::size_t i = 0; i < numbers->size(); ++i) tensor.values()[i].value = (*numbers)[i];
  }
  return values;
}

/// Empty if every output is as expected.
Result<std::string> difference_when_evaluated(const Imported& imported) {
  REWRIGHT_TRY(const auto values, input_values(imported));
  REWRIGHT_TRY(const auto outputs, evaluate<Real>(imported.model.graph, values));
  if (outputs.size() != imported.data.outputs.size()) return fmt::format("{} outputs", outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::vector<double> actual;
    for (const Real& value : outputs[i].values()) actual.push_back(value.value);
    auto found = difference(imported.data.outputs[i], outputs[i].shape(), actual);
    if (!found.empty()) return found;
  }
  return std::string();
}

/// Runs a call's program; `tensors`: what the ports hold.
Status interpret_call(const compile::KernelCall& call, const loop::Program& program,
                      std::map<Port, std::vector<Real>>& tensors) {
  loop::Contents<Real> contents(program.buffers.size());
  for (std::size_t b = 0; b < contents.size(); ++b) {
    const BufferRole role = program.buffers[b].role;
    if (role == BufferRole::kInput || role == BufferRole::kWeight) contents[b] = tensors.at(*call.tensors[b]);
  }
  REWRIGHT_CHECK(loop::interpret<Real>(program, contents));
  for (std::size_t b = 0; b < contents.size(); ++b) {
    if (program.buffers[b].role == BufferRole::kOutput) tensors[*call.tensors[b]] = std::move(contents[b]);
  }
  return {};
}

/// The same by the loop programs of the graph's kernels.
Result<std::string> difference_when_interpreted(const Imported& imported) {
  const Graph& graph = imported.model.graph;
  REWRIGHT_TRY(const compile::Kernels kernels, compile::kernels_of(graph));
  if (!kernels.not_compiled.empty())
    return unsupported("{}: {}", kernels.not_compiled[0].node, kernels.not_compiled[0].reason);
  REWRIGHT_TRY(const auto values, input_values(imported));
  std::map<Port, std::vector<Real>> tensors;
  for (std::size_t i = 0; i < values.size(); ++i)
    tensors[{graph.inputs()[i], 0}] = {values[i].values().begin(), values[i].values().end()};
  for (const compile::KernelCall& call : kernels.calls) {
    if (const auto status = interpret_call(call, kernels.program(call), tensors); !status)
      return kernels.functions[call.function].name + ": " + status.error().message;
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    std::vector<double> actual;
    for (const Real& value : tensors.at(graph.outputs()[i])) actual.push_back(value.value);
    auto found = difference(imported.data.outputs[i], graph.shape(graph.outputs()[i]), actual);
    if (!found.empty()) return found;
  }
  return std::string();
}

Result<std::string> difference_when_run(const Runtime& runtime, const std::string& model, const OnnxCase& data) {
  REWRIGHT_TRY(const auto session, runtime.load(std::as_bytes(std::span(model)), {}));
  REWRIGHT_TRY(const auto outputs, session->run(data.inputs));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    REWRIGHT_TRY(const auto actual, to_reals({outputs[i].type, outputs[i].bytes}));
    auto found = difference(data.outputs[i], outputs[i].type.shape, actual);
    if (!found.empty()) return found;
  }
  return std::string();
}

Result<std::string> difference_when_exported(const Runtime& runtime, const Imported& imported) {
  REWRIGHT_TRY(const std::string model, export_model(imported.model.graph, imported.model, {.keep_original = false}));
  return difference_when_run(runtime, model, imported.data);
}

/// What came of all cases; printed at the end.
struct Summary {
  std::size_t cases = 0, computed = 0, equal = 0;
  std::map<std::string, std::set<std::string>> skipped;  ///< By reason: the cases.
  std::map<std::string, std::size_t> unread;             ///< ONNX types that no operator reads: the cases.
  std::map<std::string, std::size_t> cases_of;           ///< By operator.

  /// Equal reasons are counted together.
  void skip(const std::string& name, const std::string& reason) {
    const std::size_t type_end = reason.find(": no operator reads it");
    if (type_end == std::string::npos) {
      skipped[reason].insert(name);
    } else {
      skipped["no operator reads the node's type"].insert(name);
      ++unread[reason.substr(0, type_end)];
    }
  }

  void print(const char* what) const {
    fmt::print("{}: {} cases, {} computed, {} equal, {} skipped\n", what, cases, computed, equal, cases - computed);
    std::vector<std::pair<std::string, std::set<std::string>>> reasons(skipped.begin(), skipped.end());
    std::ranges::stable_sort(reasons, std::greater(), [](const auto& reason) { return reason.second.size(); });
    for (const auto& [reason, names] : reasons) {
      const bool few = names.size() <= 2;
      fmt::print("  {:4} {}{}\n", names.size(), reason, few ? fmt::format("  ({})", fmt::join(names, ", ")) : "");
    }
    std::string types;
    for (const auto& [type, count] : unread) types += fmt::format(" {} {}", type, count);
    fmt::print("       types that no operator reads:{}\n", types);
  }
};

/// Hands every case of the data to `judge`; without those of which operators cannot read all, where `carried` says so.
template <class Judge>
Summary judge_all(Judge judge, Carried carried = Carried::kRefused) {
  Summary summary;
  std::vector<fs::path> folders;
  for (const char* group : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    for (const auto& entry : fs::directory_iterator(onnx_test_data() / group)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    const auto name = folder.filename().string();
    if (name == kBitsAsIntegers) {
      summary.skip(name, "its input holds the bits of bfloat16 as integers");
      continue;
    }
    const auto cases = read_cases(folder);
    if (!cases) summary.skip(name, cases.error().message);
    summary.cases += cases ? cases->size() : 1;
    for (const OnnxCase& original : cases ? *cases : std::vector<OnnxCase>{}) {
      const auto imported = import_completely(original, carried);
      const Result<std::string> found = imported ? judge(*imported) : imported.error();
      if (!found) {
        summary.skip(name, found.error().message);
        continue;
      }
      ++summary.computed;
      summary.equal += found->empty();
      EXPECT_EQ(*found, "") << original.name;
      for (const Node& node : imported->model.graph.nodes()) {
        if (const auto* made = node.application()) ++summary.cases_of[made->op->name()];
      }
    }
  }
  return summary;
}

class OnnxTestData : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::is_directory(onnx_test_data()))
        << onnx_test_data() << " is missing: install libonnx-testdata, or name its data in REWRIGHT_ONNX_TESTDATA";
  }
};

TEST_F(OnnxTestData, IsWhatOperatorsCompute) {
  const Summary summary = judge_all(difference_when_evaluated);
  summary.print("Evaluated in double precision");
  EXPECT_GE(summary.computed, kLeastCases);
  EXPECT_EQ(summary.equal, summary.computed);
  for (const Operator* op : loaded().all<Operator>()) {
    if (op->info().onnx.empty()) continue;
    EXPECT_NE(summary.cases_of.contains(op->name()), kWithoutCase.contains(op->name()))
        << op->name() << " is used by " << (summary.cases_of.contains(op->name()) ? "a" : "no") << " case";
  }
}

TEST_F(OnnxTestData, IsWhatTheInterpreterOfLoopProgramsComputes) {
  const Summary summary = judge_all(difference_when_interpreted);
  summary.print("Interpreted as loop programs");
  EXPECT_GE(summary.computed, kLeastCases);
  EXPECT_EQ(summary.equal, summary.computed);
}

TEST_F(OnnxTestData, IsWhatCompiledCComputes) {
  const Runtime* native = loaded().find<Runtime>("native");
  ASSERT_NE(native, nullptr);
  if (const auto version = native->version(); !version) GTEST_SKIP() << version.error().message;
  const Summary summary = judge_all(
      [&](const Imported& imported) { return difference_when_run(*native, imported.data.model, imported.data); },
      Carried::kTaken);
  summary.print("Compiled to C");
  EXPECT_GE(summary.computed, kLeastCompiledCases);
  EXPECT_EQ(summary.equal, summary.computed);
}

TEST_F(OnnxTestData, IsWhatOnnxRuntimeComputesFromWhatOperatorsExport) {
  const Runtime* runtime = loaded().find<Runtime>("onnxruntime");
  if (runtime == nullptr) GTEST_SKIP() << "the plugin runtimes/onnxruntime is not built";
  if (const auto version = runtime->version(); !version) GTEST_SKIP() << version.error().message;
  const Summary summary =
      judge_all([runtime](const Imported& imported) { return difference_when_exported(*runtime, imported); });
  summary.print("Exported and run by ONNX Runtime");
  EXPECT_GE(summary.computed, kLeastCases);
  EXPECT_EQ(summary.equal, summary.computed);
}

}  // namespace
}  // namespace rewright::testing
