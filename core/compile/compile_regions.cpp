#include "compile/compile_regions.h"

#include <rewright/base/command.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "compile/binding_texts.h"
#include "compile/model_regions.h"
#include "onnx/proto.h"
#include "optimize/equivalence.h"

namespace rewright::compile {
namespace {

constexpr std::size_t kFewestNodes = 2, kMostRegions = 32;
constexpr double kSecondsOfRegion = 1;
constexpr const char* kLibraries = "REWRIGHT_ONNXRUNTIME_OPERATORS";

/// The runtime has the library's operators as long as this lives.
class WithOperators {
 public:
  explicit WithOperators(const std::string& library) {
    if (const char* const before = std::getenv(kLibraries)) before_ = before;
    ::setenv(kLibraries, before_.empty() ? library.c_str() : (before_ + ":" + library).c_str(), 1);
  }
  ~WithOperators() {
    if (before_.empty()) {
      ::unsetenv(kLibraries);
    } else {
      ::setenv(kLibraries, before_.c_str(), 1);
    }
  }
  WithOperators(const WithOperators&) = delete;
  WithOperators& operator=(const WithOperators&) = delete;

 private:
  std::string before_;
};

class RegionCompiler {
 public:
  RegionCompiler(const OpenedModel& model, const std::string& start, const Target& target, const Runtime& runtime,
                 const RegionOptions& options)
      : model_(model), start_(start), target_(target), runtime_(runtime), options_(options) {}

  Result<RegionsReport> run() {
    REWRIGHT_CHECK(begin("find regions"));
    REWRIGHT_CHECK(count_nodes());
    std::map<std::string, TensorType> inputs;
    const Graph& graph = model_.imported.graph;
    for (const NodeId id : graph.inputs())
      if (graph.node(id).is_data()) inputs[graph.node(id).name] = graph.type({id, 0});
    REWRIGHT_TRY(regions_, regions_of(start_, inputs, model_.source->directory, *model_.registry));
    std::erase_if(regions_, [](const ModelRegion& region) { return region.nodes.size() < kFewestNodes; });
    if (regions_.size() > kMostRegions) regions_.resize(kMostRegions);
    for (const ModelRegion& region : regions_) {
      REWRIGHT_CHECK(try_region(region));
    }
    if (kept_.empty()) return std::move(report_);
    REWRIGHT_TRY(const std::string assembled, with_operators(start_, kept_));
    REWRIGHT_CHECK(begin("write"));
    REWRIGHT_CHECK(write(assembled));
    REWRIGHT_CHECK(begin("compare"));
    const WithOperators with(library());
    REWRIGHT_TRY(report_.equivalence, compare(assembled));
    if (!report_.equivalence.equal()) return std::move(report_);
    REWRIGHT_CHECK(begin("measure"));
    ComparisonOptions comparison;
    comparison.seconds = options_.seconds;
    comparison.directory = model_.source->directory;
    comparison.inputs = model_.source->inputs;
    REWRIGHT_TRY(report_.times, compare_times(runtime_, graph, model_.source->bytes, assembled, comparison));
    return std::move(report_);
  }

 private:
  [[nodiscard]] Status begin(const std::string& step) const {
    if (!options_.compile.goes_on || options_.compile.goes_on(step)) return {};
    return make_error(ErrorCode::kBudget, "stopped before it came to {}", step);
  }
  [[nodiscard]] std::string library() const {
    return options_.compile.folder + "/lib" + options_.compile.name + "_ort.so";
  }

  Status count_nodes() {
    REWRIGHT_TRY(const model::ModelProto proto, model::parse_model(std::as_bytes(std::span(start_)), "the model"));
    for (const auto& tensor : proto.graph().initializer())
      if (tensor.data_location() == model::TensorProto::EXTERNAL)
        return make_error(ErrorCode::kUnsupported,
                          "{}: weight '{}' lies in another file, and --regions writes weights into the model; put them "
                          "into it first",
                          model_.source->file, tensor.name());
    report_.nodes = static_cast<std::size_t>(std::ranges::count_if(
        proto.graph().node(), [](const model::NodeProto& node) { return node.op_type() != "Constant"; }));
    return {};
  }

  Status try_region(const ModelRegion& region) {
    RegionReport& report = report_.regions.emplace_back();
    report.nodes = region.nodes.size();
    const std::string name = fmt::format("{}_{}", options_.compile.name, artefacts_.size());
    const std::string folder = fmt::format("{}/region{}", options_.compile.built, report_.regions.size());
    for (const char* part : {"/made", "/built"}) std::filesystem::create_directories(folder + part);
    REWRIGHT_CHECK(write_file(folder + "/region.onnx", region.model));
    const ModelSource source{region.model, "a region of " + model_.source->file, model_.source->directory};
    auto opened = open_model(source, *model_.registry, &runtime_);
    if (!opened) return leave(report, opened.error().message);
    CompileOptions options = options_.compile;
    options.name = name;
    options.folder = folder + "/made";
    options.built = folder + "/built";
    options.measure = false;
    const auto step_of_region = [&, number = report_.regions.size()](const std::string& step) {
      return fmt::format("region {} of {}: {}", number, regions_.size(), step);
    };
    options.goes_on = [&](const std::string& step) { return bool(begin(step_of_region(step))); };
    if (options_.schedules) {
      REWRIGHT_TRY(options.records, options_.schedules(folder + "/region.onnx"));
    }
    const OpenedVersion version{&*opened};
    auto compiled = compile_model({&version, 1}, target_, runtime_, options);
    if (!compiled && compiled.error().code == ErrorCode::kBudget) return compiled.error();
    if (!compiled) return leave(report, compiled.error().message);
    if (!compiled->not_compiled.empty()) return leave(report, compiled->not_compiled.front().reason);
    report.found = compiled->versions.front();
    const Equivalence& equivalence = report.found.equivalence;
    if (!equivalence.equal()) return leave(report, equivalence.difference + equivalence.reason);
    REWRIGHT_CHECK(begin(step_of_region("measure")));
    REWRIGHT_TRY(const bool is_faster, measure(compiled->artefact, *opened, options.folder, report.found));
    if (!is_faster) return leave(report, "not faster");
    report.name = name;
    artefacts_.push_back(std::move(compiled->artefact));
    kept_.push_back({&region, name});
    return {};
  }
  /// The region in the runtime, as it is and as an operator: is that faster?
  Result<bool> measure(const Artefact& artefact, const OpenedModel& region, const std::string& folder,
                       VersionReport& found) const {
    const std::string object = fmt::format("{}/lib{}_ort.so", folder, artefact.name);
    std::vector<std::string> sources = artefact.sources;
    sources.push_back(artefact.name + "_ort.c");
    REWRIGHT_CHECK(build(object, artefact.flags, folder, sources, {}));
    const WithOperators with(object);
    ComparisonOptions comparison;
    comparison.seconds = kSecondsOfRegion;
    comparison.directory = model_.source->directory;
    REWRIGHT_TRY(const TimeComparison times, compare_times(runtime_, region.start().graph, region.source->bytes,
                                                           artefact.files.at(artefact.name + ".onnx"), comparison));
    found.ours_us = times.after.median_us;
    found.runtime_us = times.before.median_us;
    return times.gain.median > 1 && !times.slower();
  }
  /// A shared object of these files.
  [[nodiscard]] Status build(const std::string& object, std::vector<std::string> words, const std::string& folder,
                             const std::vector<std::string>& sources, const std::vector<std::string>& defined) const {
    words.insert(words.end(), defined.begin(), defined.end());
    words.insert(words.end(), {"-fPIC", "-shared", "-o", object});
    for (const std::string& source : sources) words.push_back(folder + "/" + source);
    words.insert(words.end(), {"-lm", "-ldl"});
    REWRIGHT_CHECK(run_c_compiler(words, options_.compile.seconds));
    return {};
  }
  static Status leave(RegionReport& report, std::string reason) {
    report.reason = std::move(reason);
    return {};
  }

  /// Kept regions, the model, the library of operators and what it was made of.
  Status write(const std::string& assembled) const {
    const std::string &folder = options_.compile.folder, &name = options_.compile.name;
    std::vector<std::string> sources = {name + "_ort.c"}, flags;
    std::string declared, added;
    for (const Artefact& artefact : artefacts_) {
      std::vector<std::string> files = artefact.sources;
      files.push_back(artefact.name + "_ort.c");
      sources.insert(sources.end(), files.begin(), files.end());
      files.push_back(artefact.name + ".h");
      for (const std::string& file : files) REWRIGHT_CHECK(write_file(folder + "/" + file, artefact.files.at(file)));
      if (!artefact.weights.empty())
        REWRIGHT_CHECK(
            write_weights(artefact.weights, artefact.weight_bytes, folder + "/" + artefact.name + ".weights"));
      for (const std::string& flag : artefact.flags)
        if (std::ranges::find(flags, flag) == flags.end()) flags.push_back(flag);
      declared += fmt::format("status {}_add_to(const void *table, void *domain);\n", artefact.name);
      added += fmt::format("  TRY({}_add_to(table, domain))\n", artefact.name);
    }
    REWRIGHT_CHECK(write_file(folder + "/" + name + ".onnx", assembled));
    REWRIGHT_CHECK(write_file(folder + "/" + sources.front(),
                              fmt::format(kOperatorsText, fmt::arg("declared", declared), fmt::arg("added", added))));
    REWRIGHT_CHECK(
        write_file(folder + "/Makefile",
                   fmt::format("CFLAGS ?= {0}\nlib{1}_ort.so: {2}\n\t$(CC) $(CFLAGS) -DREWRIGHT_PART -fPIC -shared -o "
                               "$@ {2} -lm -ldl\n",
                               fmt::join(flags, " "), name, fmt::join(sources, " "))));
    return build(library(), flags, folder, sources, {"-DREWRIGHT_PART"});
  }

  [[nodiscard]] Result<Equivalence> compare(const std::string& assembled) const {
    EquivalenceOptions options;
    options.runtime = &runtime_;
    options.original_model = model_.source->bytes;
    options.directory = model_.source->directory;
    options.registry = model_.registry;
    options.external = &model_.imported.external;
    options.inputs = model_.source->inputs;
    options.draws_weights = false;
    const GateCase single{to_text(model_.sizes.front()), &model_.imported.graph};
    REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create({&single, 1}, std::move(options)));
    return gate.check(model_.start().graph, assembled);
  }

  const OpenedModel& model_;
  const std::string& start_;
  const Target& target_;
  const Runtime& runtime_;
  const RegionOptions& options_;
  std::vector<ModelRegion> regions_;
  std::vector<RegionOperator> kept_;
  std::vector<Artefact> artefacts_;  ///< Of those.
  RegionsReport report_;
};

}  // namespace

std::size_t RegionsReport::kept() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(regions, [](const RegionReport& region) { return region.reason.empty(); }));
}

std::size_t RegionsReport::kept_nodes() const {
  std::size_t count = 0;
  for (const RegionReport& region : regions) count += region.reason.empty() ? region.nodes : 0;
  return count;
}

Result<RegionsReport> compile_regions(const OpenedModel& model, const std::string& start, const Target& target,
                                      const Runtime& runtime, const RegionOptions& options) {
  return RegionCompiler(model, start, target, runtime, options).run();
}

}  // namespace rewright::compile
