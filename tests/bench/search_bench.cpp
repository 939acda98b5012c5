// How fast a search goes: candidates a second on one model, with costs that are known beforehand.
//
//   rewright_bench_search MODEL.onnx [--rules SOURCE] [--search NAME] [--steps N] [--regions N] [--threads N]
//
// The search runs twice; the second run, for which all costs are known, is the one that is timed. RESULTS-search.md
// says what it found.
#include <rewright/optimize/search.h>

#include <CLI/CLI.hpp>
#include <sys/resource.h>

#include <ctime>
#include <string>
#include <vector>

#include "campaign/rule_source.h"
#include "onnx/import.h"
#include "optimize/optimizer.h"

namespace {
using namespace rewright;

struct Settings {
  std::string model;
  std::string rules = std::string(REWRIGHT_SOURCE_DIR) + "/experiments/library/library.rules";
  std::string search = "backtracking";
  std::vector<std::string> options;
  std::string cost = "flops";
  std::uint64_t steps = 1000;
  std::uint64_t candidates = 0;
  std::uint64_t seed = 1;
  std::size_t regions = 0;
  int threads = 1;
};

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Result<int> run(const Settings& settings) {
  Registry registry;
  REWRIGHT_CHECK(registry.load_default());
  REWRIGHT_TRY(const std::vector<Rule> rules, read_rule_source(settings.rules, registry));
  REWRIGHT_TRY(const ImportedModel model, import_model_file(settings.model, registry));
  REWRIGHT_TRY(const CostModel* price, registry.get<CostModel>(settings.cost));
  const auto prices = price->clone();
  REWRIGHT_CHECK(prices->configure({}, registry));
  GraphCost cost(*prices, nullptr);
  REWRIGHT_TRY(const SearchStrategy* named, registry.get<SearchStrategy>(settings.search));
  const auto search = named->clone();
  Options options;
  for (const std::string& text : settings.options) {
    const std::size_t equals = text.find('=');
    options[text.substr(0, equals)] = std::stod(text.substr(equals + 1));
  }
  REWRIGHT_CHECK(search->configure(options));
  OptimizeOptions optimize_options;
  optimize_options.steps = settings.steps;
  optimize_options.candidates = settings.candidates;
  optimize_options.seed = settings.seed;
  optimize_options.registry = &registry;
  optimize_options.threads = settings.threads;
  optimize_options.region_size = settings.regions;
  fmt::print("{}: {} operators, {} rules, {}\n", settings.model, model.graph.operator_count(), rules.size(),
             settings.search);
  for (const bool timed : {false, true}) {
    const std::clock_t began = std::clock();
    REWRIGHT_TRY(const OptimizeReport report, optimize(model.graph, rules, *search, cost, optimize_options));
    if (!timed) continue;
    const double cpu_s = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    fmt::print(
        "{} steps, {} candidates, {:.2f} s, {:.2f} CPU s, {:.0f} candidates a CPU second, cost {:.1f} -> {:.1f} us, "
        "{} rewrites, peak {:.0f} MiB\n",
        report.search.steps, report.search.candidates, report.seconds, cpu_s,
        static_cast<double>(report.search.candidates) / cpu_s, report.search.cost_before_us,
        report.search.cost_after_us, report.search.path.size(), peak_mib());
    if (!report.search.note.empty()) fmt::print("note: {}\n", report.search.note);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Candidates a second of a search");
  app.add_option("MODEL", settings.model)->required();
  app.add_option("--rules", settings.rules);
  app.add_option("--search", settings.search);
  app.add_option("--search-option", settings.options)->expected(1)->take_all();
  app.add_option("--cost", settings.cost);
  app.add_option("--steps", settings.steps);
  app.add_option("--candidates", settings.candidates);
  app.add_option("--seed", settings.seed);
  app.add_option("--regions", settings.regions);
  app.add_option("--threads", settings.threads);
  CLI11_PARSE(app, argc, argv);
  const auto result = run(settings);
  if (!result) fmt::print(stderr, "{}\n", result.error().message);
  return result ? 0 : 2;
}
