// rewright compile --fuse: what is fused is searched, and the best choices are timed as wholes
#include <filesystem>
#include <map>

#include "cli/compile_ways.h"
#include "cli/interrupt.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "compile/fusion_search.h"
#include "compile/known_weights.h"
#include "learn/data_set.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

/// What is fused: how it is searched, and where the kernels' times go.
struct FusionAsked {
  compile::FusionOptions search;
  std::string data;  ///< A file of measured kernels; may be empty.
};
/// Taken out of what is left for the cost model.
Result<FusionAsked> take_fusion_options(Options& options) {
  FusionAsked asked;
  std::int64_t best = 3, seed = 1;
  struct Number {
    const char* name;
    std::int64_t* place;
    std::int64_t least, most;
  };
  const Number numbers[] = {
      {"moves", &asked.search.moves, 1, 1'000'000}, {"best", &best, 1, 100}, {"seed", &seed, 0, 1'000'000'000}};
  for (const Number& number : numbers) {
    const auto found = options.extract(number.name);
    if (found.empty()) continue;
    const auto* value = std::get_if<std::int64_t>(&found.mapped());
    if (value == nullptr || *value < number.least || *value > number.most)
      return make_error(ErrorCode::kUsage, "--fuse-option {} is a number from {} to {}", number.name, number.least,
                        number.most);
    *number.place = *value;
  }
  asked.search.best = static_cast<std::size_t>(best);
  asked.search.seed = static_cast<std::uint64_t>(seed);
  std::string start = "usual";
  for (const auto& [name, place] : {std::pair("start", &start), std::pair("data", &asked.data)}) {
    const auto found = options.extract(name);
    if (found.empty()) continue;
    const auto* value = std::get_if<std::string>(&found.mapped());
    if (value == nullptr) return make_error(ErrorCode::kUsage, "--fuse-option {} is a text", name);
    *place = *value;
  }
  if (start != "usual" && start != "random")
    return make_error(ErrorCode::kUsage, "--fuse-option start is '{}'; there are: usual, random", start);
  asked.search.from_random = start == "random";
  return asked;
}

/// The usual choice, and others: drawn, or the best by cost.
Result<compile::FusionReport> choose_fusions(const CompileArguments& arguments, const Graph& graph,
                                             const Registry& registry, const Options& options,
                                             compile::FusionOptions search, StepLine& line) {
  if (arguments.fuse == "random") {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "--fuse random has no option '{}'; there are: best, seed, data",
                        options.begin()->first);
    return compile::random_fusions(graph, registry, search.best, search.seed);
  }
  REWRIGHT_TRY(const CostModel* model, registry.get<CostModel>(arguments.fuse));
  const auto costs = model->clone();
  REWRIGHT_CHECK(costs->configure(options, registry));
  search.goes_on = [&](std::int64_t moves) {
    if (moves % 50 == 0) line.begin(fmt::format("search what is fused, move {} of {}", moves, search.moves));
    return !interrupted();
  };
  return compile::search_fusion(graph, registry, *costs, search);
}

/// Kernels as they ran among the others.
Status keep_times(const std::string& file, const CompileArguments& arguments,
                  const std::vector<compile::WayToCompile>& ways) {
  std::map<std::string, std::vector<double>> us;
  for (const compile::WayToCompile& way : ways) {
    for (const compile::KernelTime& time : way.report.profile) {
      if (!time.key.empty() && time.us > 0) us[time.key].push_back(time.us);
    }
  }
  return learn::append_data(file, fmt::format("compiled|c {}, in its network, {}", arguments.dialect, processor_name()),
                            fs::path(arguments.model).stem().string(), us);
}

}  // namespace

Result<Compiled> fused_in_several_ways(const Settings& settings, const CompileArguments& arguments,
                                       Workplace& workplace) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const auto tools, tools_of(arguments, registry));
  REWRIGHT_TRY(Options options, read_options(arguments.fuse_options, "--fuse-option"));
  REWRIGHT_TRY(const FusionAsked asked, take_fusion_options(options));
  if (!asked.data.empty()) REWRIGHT_CHECK(keep_times(asked.data, arguments, {}));  // Can it be written?
  REWRIGHT_TRY(const std::string records, records_of(arguments));
  REWRIGHT_TRY(Version version, read_version(arguments));
  REWRIGHT_CHECK(
      prepare(settings, arguments, registry, *tools.runtime, records, workplace.built() + "/optimised.onnx", version));
  StepLine line(settings.quiet);
  line.begin("search what is fused");
  const ImportedModel& model = version.opened->start();
  REWRIGHT_TRY(const Graph graph, compile::with_known_weights(model.graph, model));
  REWRIGHT_TRY(compile::FusionReport found, choose_fusions(arguments, graph, registry, options, asked.search, line));
  std::vector<compile::FusionChoice> choices = {found.usual};
  choices.insert(choices.end(), found.best.begin(), found.best.end());
  std::vector<compile::WayToCompile> ways;
  for (std::size_t i = 0; i < choices.size() && !interrupted(); ++i) {
    const std::string name = i == 0 ? "usual" : fmt::format("{}", i);
    REWRIGHT_TRY(const Folders folders, folders_for(name, workplace));
    compile::CompileOptions one = options_of(arguments, folders, line);
    one.measure = true;
    one.stored = choices[i].stored;
    if (!records.empty()) {
      REWRIGHT_TRY(one.records, ScheduleRecords::read(records));
    }
    const compile::OpenedVersion opened{&*version.opened};
    REWRIGHT_TRY(compile::CompileReport report,
                 compile::compile_model({&opened, 1}, *tools.target, *tools.runtime, one));
    report.rewrites = version.rewrites;
    if (!report.not_compiled.empty()) return Compiled{std::move(report)};
    ways.push_back({name, std::move(report)});
  }
  if (!asked.data.empty()) REWRIGHT_CHECK(keep_times(asked.data, arguments, ways));
  REWRIGHT_TRY(Compiled compiled, fastest(std::move(ways), workplace));
  compiled.fusion = std::move(found);
  return compiled;
}

}  // namespace rewright::cli
