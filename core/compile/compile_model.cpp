#include "compile/compile_model.h"

#include <rewright/base/command.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "onnx/element.h"
#include "optimize/random_inputs.h"

namespace rewright::compile {
namespace {

constexpr double kTolerance = 1e-4;
constexpr std::uint64_t kSeeds[] = {1, 2};
constexpr int kTrials = 8;

/// The artefact in a folder of its own, built.
class BuiltArtefact {
 public:
  static Result<BuiltArtefact> build(const Artefact& artefact, const Graph& graph, int seconds) {
    REWRIGHT_TRY(TemporaryFolder folder, TemporaryFolder::make());
    REWRIGHT_CHECK(write_artefact(artefact, folder.path()));
    const std::string base = folder.path() + "/";
    REWRIGHT_CHECK(run_c_compiler(
        {"-std=c11", "-O3", "-o", base + "run", base + "main.c", base + artefact.name + ".c", "-lm"}, seconds));
    return BuiltArtefact(std::move(folder), artefact, graph);
  }

  /// Outputs by name; `repeats` > 0: `least_us` is the least time of a run.
  Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs, int seconds, int repeats,
                                         double& least_us) const {
    std::vector<std::string> words = {path("run")};
    if (repeats > 0) words.insert(words.end(), {"-n", std::to_string(repeats)});
    words.push_back(path(artefact_->name + ".weights"));
    for (std::size_t i = 0; i < artefact_->inputs.size(); ++i) {
      const auto given = std::ranges::find(inputs, artefact_->inputs[i].name, &RuntimeTensor::name);
      if (given == inputs.end()) return make_error(ErrorCode::kInternal, "no input {}", artefact_->inputs[i].name);
      words.push_back(path(fmt::format("in{}", i)));
      const auto* bytes = reinterpret_cast<const char*>(given->bytes.data());
      REWRIGHT_CHECK(write_file(words.back(), {bytes, given->bytes.size()}));
    }
    for (std::size_t i = 0; i < artefact_->outputs.size(); ++i) words.push_back(path(fmt::format("out{}", i)));
    REWRIGHT_TRY(const CommandOutcome outcome, run_command(words, seconds));
    if (outcome.timed_out)
      return make_error(ErrorCode::kUnsupported, "the compiled model took more than {} s", seconds);
    if (outcome.exit_code != 0) {
      return make_error(ErrorCode::kInternal, "the compiled model failed (exit code {}): {}", outcome.exit_code,
                        outcome.first_error_line());
    }
    least_us = std::atof(outcome.text.c_str());
    return read_outputs();
  }

 private:
  BuiltArtefact(TemporaryFolder folder, const Artefact& artefact, const Graph& graph)
      : folder_(std::move(folder)), artefact_(&artefact), graph_(&graph) {}
  [[nodiscard]] std::string path(const std::string& file) const { return folder_.path() + "/" + file; }
  [[nodiscard]] Result<std::vector<RuntimeTensor>> read_outputs() const {
    std::vector<RuntimeTensor> outputs;
    for (std::size_t i = 0; i < artefact_->outputs.size(); ++i) {
      REWRIGHT_TRY(const std::string text, read_file(path(fmt::format("out{}", i))));
      RuntimeTensor tensor{artefact_->outputs[i].name, graph_->type(artefact_->outputs[i].port), {}};
      tensor.bytes.resize(text.size());
      std::memcpy(tensor.bytes.data(), text.data(), text.size());
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

  TemporaryFolder folder_;
  const Artefact* artefact_;
  const Graph* graph_;
};

std::vector<double> numbers_of(const RuntimeTensor& tensor) {
  const std::size_t size = element_size(tensor.type.element);
  std::vector<double> numbers;
  for (std::size_t at = 0; at + size <= tensor.bytes.size(); at += size) {
    numbers.push_back(model::read_element(tensor.type.element, tensor.bytes.data() + at));
  }
  return numbers;
}

/// What is wrong with the comparison of one output goes into the report.
void compare(const RuntimeTensor& expected, const RuntimeTensor& found, CompileReport& report) {
  const std::vector<double> a = numbers_of(expected), b = numbers_of(found);
  if (a.size() != b.size()) {
    report.equal = false;
    report.reason = fmt::format("output {} has {} elements; expected {}", found.name, b.size(), a.size());
    return;
  }
  double greatest = 0;
  for (const double x : a) greatest = std::max(greatest, std::abs(x));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) {
      report.comparable = false;
      report.reason = fmt::format("output {} is not finite on random inputs", expected.name);
      return;
    }
    const double error = std::abs(a[i] - b[i]);
    report.max_abs_error = std::max(report.max_abs_error, error);
    if (error <= kTolerance * greatest + 1e-7) continue;
    if (report.equal)
      report.reason = fmt::format("element {} of output {} is {}; expected {}", i, found.name, b[i], a[i]);
    report.equal = false;
  }
}

/// Of two inputs of one distribution. True: some output differs between them.
Result<bool> compare_draws(const BuiltArtefact& built, RuntimeSession& session, const Graph& graph,
                           const GivenInputs& given, int trial, int seconds, CompileReport& report) {
  std::vector<RuntimeTensor> before;
  bool varies = false;
  for (const std::uint64_t seed : kSeeds) {
    double ignored = 0;
    REWRIGHT_TRY(const auto inputs, random_inputs(graph, seed, given, {.trial = trial}));
    REWRIGHT_TRY(const auto expected, session.run(inputs));
    REWRIGHT_TRY(const auto found, built.run(inputs, seconds, 0, ignored));
    for (const RuntimeTensor& output : found) {
      const auto same = std::ranges::find(expected, output.name, &RuntimeTensor::name);
      if (same == expected.end())
        return make_error(ErrorCode::kInternal, "the runtime gives no output {}", output.name);
      compare(*same, output, report);
    }
    for (std::size_t i = 0; i < before.size(); ++i) varies |= before[i].bytes != expected[i].bytes;
    before = expected;
  }
  return varies;
}

/// By one distribution after another, until an output varies.
Status compare_runs(const BuiltArtefact& built, RuntimeSession& session, const Graph& graph, const GivenInputs& given,
                    int seconds, CompileReport& report) {
  const bool has_inputs = std::ranges::any_of(graph.inputs(), [&](NodeId id) { return graph.node(id).is_data(); });
  bool varies = false;
  report.equal = true;
  for (int trial = 0; trial < kTrials && report.equal && report.comparable && !varies; ++trial) {
    REWRIGHT_TRY(varies, compare_draws(built, session, graph, given, trial, seconds, report));
    varies |= !has_inputs;
  }
  if (report.equal && report.comparable && !varies) {
    report.comparable = false;
    report.reason = "no output varies with the inputs; give other ones with --input";
  }
  report.equal &= report.comparable;
  return {};
}

Status measure(const BuiltArtefact& built, RuntimeSession& session, const Graph& graph, const GivenInputs& given,
               int seconds, CompileReport& report) {
  REWRIGHT_TRY(const auto inputs, random_inputs(graph, kSeeds[0], given));
  double us = 0;
  REWRIGHT_CHECK(built.run(inputs, seconds, 1, us));
  const int repeats = static_cast<int>(std::clamp(2e6 / std::max(us, 1.0), 3.0, 10'000.0));
  REWRIGHT_CHECK(built.run(inputs, seconds, repeats, us));
  REWRIGHT_TRY(const RunTimes times, session.measure(inputs, 5, 100'000));
  report.ours_us = us;
  report.runtime_us = times.least_us;
  return {};
}

}  // namespace

Result<CompileReport> compile_model(const OpenedModel& model, const Target& target, const Runtime& runtime,
                                    const CompileOptions& options) {
  const auto begin = [&](const char* step) {
    if (options.begins) options.begins(step);
  };
  CompileReport report;
  const Graph& graph = model.start().graph;
  begin("make loops");
  REWRIGHT_TRY(const Kernels kernels, kernels_of(graph, model.start().carried));
  report.not_compiled = kernels.not_compiled;
  report.kernels = kernels.kernels.size();
  if (!report.not_compiled.empty()) return report;
  REWRIGHT_TRY(report.artefact, make_artefact(options.name, graph, kernels, target));
  begin("compile");
  REWRIGHT_TRY(const BuiltArtefact built, BuiltArtefact::build(report.artefact, graph, options.seconds));
  begin("compare");
  const std::string& original = model.source->bytes;
  const std::span bytes(reinterpret_cast<const std::byte*>(original.data()), original.size());
  REWRIGHT_TRY(const auto session, runtime.load(bytes, {.directory = model.source->directory}));
  const GivenInputs& given = model.source->inputs;
  REWRIGHT_CHECK(compare_runs(built, *session, graph, given, options.seconds, report));
  if (!options.measure) return report;
  begin("measure");
  REWRIGHT_CHECK(measure(built, *session, graph, given, options.seconds, report));
  return report;
}

}  // namespace rewright::compile
