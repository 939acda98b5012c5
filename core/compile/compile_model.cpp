#include "compile/compile_model.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>

#include "base/files.h"
#include "base/process_memory.h"
#include "compile/artefact_session.h"
#include "compile/known_weights.h"
#include "compile/network_tasks.h"
#include "compile/scheduled_kernels.h"
#include "onnx/defaults.h"
#include "onnx/element.h"
#include "onnx/proto.h"
#include "optimize/equivalence.h"
#include "optimize/random_inputs.h"
#include "tune/instruction_set.h"
#include "tune/this_machine.h"

namespace rewright::compile {
namespace {

constexpr std::string_view kWords = "compiled code beside ";
constexpr double kMeasuredUs = 400'000;
constexpr int kMeasurements = 6;  // The fewest whose extremes are a 95 % interval of the median.

/// Outputs by the inputs' bytes.
using KnownRuns = std::map<std::string, std::vector<RuntimeTensor>>;

/// Of values that the model has for inputs and that are not given. Each run is kept: the gate asks for it twice, with
/// and without the runtime's optimisations.
class RememberingSession final : public RuntimeSession {
 public:
  RememberingSession(ArtefactSession& session, const std::vector<RuntimeTensor>& defaults, KnownRuns& known)
      : session_(session), defaults_(defaults), known_(known) {}
  Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) override {
    std::string key;
    for (const RuntimeTensor& input : inputs) {
      key += content_hash({reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size()});
    }
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    std::vector<RuntimeTensor> all(inputs.begin(), inputs.end());
    all.insert(all.end(), defaults_.begin(), defaults_.end());  // Where both are there the first counts.
    REWRIGHT_TRY(auto outputs, session_.run(all));
    return known_.emplace(std::move(key), std::move(outputs)).first->second;
  }
  Result<RunTimes> measure(std::span<const RuntimeTensor> inputs, int repetitions, double batch_us) override {
    return session_.measure(inputs, repetitions, batch_us);
  }

 private:
  ArtefactSession& session_;
  const std::vector<RuntimeTensor>& defaults_;
  KnownRuns& known_;
};

/// A runtime, to the gate: it runs models as the given one does, and the artefact as what stands for it.
class BesideRuntime final : public Runtime {
 public:
  BesideRuntime(const Runtime& runtime, ArtefactSession& session, std::vector<RuntimeTensor> defaults,
                const std::string& candidate)
      : runtime_(runtime), session_(session), defaults_(std::move(defaults)), candidate_(candidate) {}
  [[nodiscard]] std::string name() const override { return runtime_.name(); }
  [[nodiscard]] std::string summary() const override { return runtime_.summary(); }
  [[nodiscard]] Result<std::string> version() const override {
    REWRIGHT_TRY(const std::string version, runtime_.version());
    return std::string(kWords) + version;
  }
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                                             const LoadOptions& options) const override {
    if (std::ranges::equal(model, std::as_bytes(std::span(candidate_)))) {
      return std::unique_ptr<RuntimeSession>(new RememberingSession(session_, defaults_, known_));
    }
    auto session = runtime_.load(model, options);
    if (!session && trouble_.empty()) trouble_ = session.error().message;
    return session;
  }
  [[nodiscard]] bool has_run() const { return !known_.empty(); }
  /// Why some model could not be loaded; may be empty.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  const Runtime& runtime_;
  ArtefactSession& session_;
  std::vector<RuntimeTensor> defaults_;
  const std::string& candidate_;
  mutable KnownRuns known_;
  mutable std::string trouble_;
};

/// What the gate takes for the model of the compiled graph: all of that but the graph, and a mark that no model has.
std::string stand_in(const ImportedModel& compiled) {
  model::ModelProto mark;
  auto& property = *mark.add_metadata_props();
  property.set_key("rewright.compiled");
  return compiled.skeleton + mark.SerializeAsString();
}

/// Of the original, not of what is compared with it.
std::string without_words(std::string sentence) {
  for (std::size_t at = 0; (at = sentence.find(kWords)) != std::string::npos;) sentence.erase(at, kWords.size());
  return sentence;
}

Result<std::vector<RuntimeTensor>> default_tensors(const OpenedModel& model) {
  REWRIGHT_TRY(const auto defaults, default_inputs(model.source->bytes, model.source->directory));
  std::vector<RuntimeTensor> tensors;
  for (const auto& [name, value] : defaults) tensors.push_back({name, value.type, model::bytes_of(value)});
  return tensors;
}

Result<Equivalence> compare(const OpenedModel& model, ArtefactSession& session, const Runtime& runtime) {
  const std::string candidate = stand_in(model.start());
  REWRIGHT_TRY(auto defaults, default_tensors(model));
  const BesideRuntime beside(runtime, session, std::move(defaults), candidate);
  EquivalenceOptions options;
  options.runtime = &beside;
  options.original_model = model.source->bytes;
  options.directory = model.source->directory;
  options.registry = model.registry;
  options.external = &model.imported.external;
  options.inputs = model.source->inputs;
  options.draws_weights = false;
  const GateCase single{to_text(model.sizes.front()), &model.imported.graph};
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create({&single, 1}, std::move(options)));
  REWRIGHT_TRY(Equivalence found, gate.check(model.start().graph, candidate));
  found.reason = without_words(std::move(found.reason));
  if (found.equal() && !beside.has_run()) {
    REWRIGHT_TRY(const std::string version, runtime.version());
    found.verdict = GateVerdict::kNotComparable;
    found.reason = fmt::format("{} does not run the original{}{}", version, beside.trouble().empty() ? "" : ": ",
                               beside.trouble());
  }
  return found;
}

/// What code is made of.
Result<Graph> made_graph(const OpenedModel& model, const Algorithms& algorithms) {
  const ImportedModel& start = model.start();
  if (algorithms.empty()) return with_known_weights(start.graph, start);
  REWRIGHT_TRY(const Graph graph, with_algorithms(start.graph, algorithms, *model.registry, start.external));
  return with_known_weights(graph, start);
}

/// Kernels of one version's graph, scheduled. `ids`: of their programs, by the names of their functions.
Result<Kernels> kernels_of_version(const Graph& graph, const OpenedModel& model, const Target& target,
                                   const tune::InstructionSet* instructions, const CompileOptions& options,
                                   std::map<std::string, std::string>& ids) {
  const ImportedModel& compiled = model.start();
  std::set<Port> stored = stored_windows(graph);
  stored.insert(options.stored.begin(), options.stored.end());
  REWRIGHT_TRY(Kernels kernels, kernels_of(graph, compiled.carried, compiled.external, model.registry, stored));
  if (instructions == nullptr || !kernels.not_compiled.empty()) return kernels;
  const ScheduleChoice recorded = best_recorded(
      options.records,
      {.machine = tune::described_machine().fingerprint, .target = target.name(), .dialect = options.dialect},
      options.ranks);
  std::vector<std::string> asked;  // In the order of the functions that come of them.
  REWRIGHT_TRY(Kernels made, scheduled(
                                 graph, kernels, instructions->unit, options.threads,
                                 [&](const loop::Program& program) {
                                   asked.push_back(program_id(program));
                                   return recorded(program);
                                 },
                                 weight_wishes(graph, options.algorithms, compiled.external)));
  for (std::size_t f = 0; f < std::min(asked.size(), made.functions.size()); ++f)
    ids[made.functions[f].name] = asked[f];
  return made;
}

/// Of the chosen version of the session.
Status measure(const OpenedModel& model, ArtefactSession& session, const Runtime& runtime, int threads,
               VersionReport& report) {
  REWRIGHT_TRY(const auto inputs, random_inputs(model.start().graph, 1, model.source->inputs));
  const std::string& original = model.source->bytes;
  REWRIGHT_TRY(const auto theirs, runtime.load(std::as_bytes(std::span(original)),
                                               {.directory = model.source->directory, .threads = threads}));
  std::vector<double> turns;
  for (int i = 0; i < kMeasurements; ++i) {  // In turn: what slows this machine down slows both.
    REWRIGHT_TRY(const RunTimes ours, session.measure(inputs, 1, kMeasuredUs));
    REWRIGHT_TRY(const RunTimes times, theirs->measure(inputs, 1, kMeasuredUs));
    report.ours_us = std::min(report.ours_us.value_or(ours.least_us), ours.least_us);
    report.runtime_us = std::min(report.runtime_us.value_or(times.least_us), times.least_us);
    turns.push_back(times.least_us / ours.least_us);
  }
  report.turns = spread_of_median(std::move(turns));
  return {};
}

/// Times of kernels, and what the code has in memory.
Status profile(const OpenedModel& model, const Graph& graph, const Kernels& kernels, ArtefactSession& session,
               CompileReport& report) {
  REWRIGHT_TRY(const auto inputs, random_inputs(graph, 1, model.source->inputs));
  const int repeats =
      static_cast<int>(std::clamp(kMeasuredUs / std::max(*report.versions.front().ours_us, 1.0), 1.0, 1e5));
  REWRIGHT_TRY(const auto measured, session.profile(inputs, repeats));
  REWRIGHT_TRY(const tune::Machine machine, tune::measured_machine());
  report.profile = kernel_profile(graph, kernels, measured.us, machine);
  if (measured.peak_bytes > 0) report.ours_peak_bytes = measured.peak_bytes;
  return {};
}

/// What a run of the original adds to this process: the model as it was loaded, and the most of a second run.
Status measure_memory(const OpenedModel& model, const Runtime& runtime, int threads, CompileReport& report) {
  REWRIGHT_TRY(const auto inputs, random_inputs(model.start().graph, 1, model.source->inputs));
  if (!restart_peak_memory()) return {};
  const std::uint64_t before = resident_bytes();
  REWRIGHT_TRY(const auto session, runtime.load(std::as_bytes(std::span(model.source->bytes)),
                                                {.directory = model.source->directory, .threads = threads}));
  for (int run = 0; run < 2; ++run) {
    if (run > 0 && !restart_peak_memory()) return {};
    REWRIGHT_TRY(const auto outputs, session->run(inputs));
  }
  const std::uint64_t peak = peak_memory_bytes();
  report.runtime_peak_bytes = peak > before ? static_cast<std::int64_t>(peak - before) : 0;
  return {};
}

}  // namespace

bool CompileReport::equal() const {
  return !versions.empty() &&
         std::ranges::all_of(versions, [](const VersionReport& version) { return version.equivalence.equal(); });
}

const VersionReport& CompileReport::worst() const {
  return *std::ranges::min_element(versions, {}, [](const VersionReport& version) {
    if (!version.equivalence.equal()) return -1.0;
    return version.ours_us ? version.runtime_by_ours() : 0.0;
  });
}

Status time_in_turn(std::span<WayToCompile> ways, const std::function<bool()>& goes_on) {
  std::vector<std::vector<double>> us(ways.size());
  const bool all = std::ranges::all_of(ways, [](const WayToCompile& way) { return bool{way.report.time_again}; });
  for (int turn = 0; all && turn < kMeasurements && goes_on(); ++turn) {
    for (std::size_t w = 0; w < ways.size(); ++w) {
      REWRIGHT_TRY(us[w].emplace_back(), ways[w].report.time_again());
    }
  }
  for (std::size_t w = 0; w < ways.size(); ++w) {
    WayToCompile& way = ways[w];
    way.us = us[w].empty() ? *way.report.worst().ours_us : std::ranges::min(us[w]);
    way.gain.median = ways.front().us / way.us;
    if (us[w].size() < 2) continue;
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < us[w].size(); ++turn) ratios.push_back(us.front()[turn] / us[w][turn]);
    way.gain = spread_of_median(std::move(ratios));
  }
  return {};
}

Result<CompileReport> compile_model(std::span<const OpenedVersion> versions, const Target& target,
                                    const Runtime& runtime, const CompileOptions& options) {
  const auto begin = [&](const std::string& step) -> Status {
    if (!options.goes_on || options.goes_on(step)) return {};
    return make_error(ErrorCode::kBudget, "stopped before it came to {}", step);
  };
  const auto begin_version = [&](const char* step, std::size_t i) {
    return begin(versions.size() == 1 ? step : fmt::format("{} version {} of {}", step, i + 1, versions.size()));
  };
  CompileReport report;
  REWRIGHT_TRY(const tune::InstructionSet* instructions, tune::instruction_set(options.dialect));
  std::deque<Graph> graphs;
  std::vector<Kernels> kernels;
  std::map<std::string, std::string> ids;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    REWRIGHT_CHECK(begin_version(instructions == nullptr ? "make loops" : "schedule", i));
    const OpenedModel& model = *versions[i].model;
    REWRIGHT_TRY(Graph graph, made_graph(model, options.algorithms));
    graphs.push_back(std::move(graph));
    REWRIGHT_TRY(kernels.emplace_back(), kernels_of_version(graphs.back(), model, target, instructions, options, ids));
    report.not_compiled = kernels.back().not_compiled;
    if (!report.not_compiled.empty()) return report;
  }
  std::vector<ModelVersion> models;
  for (std::size_t i = 0; i < versions.size(); ++i)
    models.push_back({&graphs[i], &versions[i].model->start().external, &kernels[i], versions[i].sizes});
  REWRIGHT_TRY(report.artefact, make_artefact(options.name, models, target, instructions));
  REWRIGHT_CHECK(begin("write"));
  REWRIGHT_CHECK(write_artefact(report.artefact, options.folder));
  REWRIGHT_CHECK(begin("compile"));
  REWRIGHT_TRY(std::shared_ptr<ArtefactSession> session,
               ArtefactSession::build(report.artefact, options.folder, options.built, options.seconds));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    REWRIGHT_CHECK(begin_version("compare", i));
    session->choose(i);
    VersionReport& version = report.versions.emplace_back(versions[i].sizes, kernels[i].calls.size());
    REWRIGHT_TRY(version.equivalence, compare(*versions[i].model, *session, runtime));
    if (!version.equivalence.equal()) return report;
  }
  if (!options.measure) return report;
  const auto start = std::chrono::steady_clock::now();
  report.threads = options.threads;
  REWRIGHT_TRY(report.runtime, runtime.version());
  for (std::size_t i = 0; i < versions.size(); ++i) {
    REWRIGHT_CHECK(begin_version("measure", i));
    session->choose(i);
    REWRIGHT_CHECK(measure(*versions[i].model, *session, runtime, options.threads, report.versions[i]));
  }
  const auto end = [&] {
    report.measuring_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report);
  };
  if (versions.size() > 1 || !versions.front().sizes.empty()) return end();
  REWRIGHT_CHECK(begin("measure kernels"));
  REWRIGHT_TRY(const auto inputs, random_inputs(graphs.front(), 1, versions.front().model->source->inputs));
  report.time_again = [session, inputs]() -> Result<double> {
    REWRIGHT_TRY(const RunTimes times, session->measure(inputs, 1, kMeasuredUs));
    return times.least_us;
  };
  REWRIGHT_CHECK(profile(*versions.front().model, graphs.front(), kernels.front(), *session, report));
  for (KernelTime& time : report.profile) time.program = ids[time.kernel];
  REWRIGHT_CHECK(measure_memory(*versions.front().model, runtime, options.threads, report));
  if (options.beside == nullptr) return end();
  report.beside = options.beside->device();
  REWRIGHT_CHECK(begin("measure " + report.beside));
  if (const auto us = GraphCost(*options.beside, nullptr).cost_us(graphs.front())) report.beside_us = *us;
  return end();
}

}  // namespace rewright::compile
