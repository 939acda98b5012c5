// How far a comparison of times can be trusted: a model against itself, or against another one, again and again.
//
//   rewright_bench_comparison MODEL.onnx [OTHER.onnx] [--times N] [--seconds S] [--confidence P]
//
// Each comparison is one of `rewright optimize`; where both models are the same, every gain and every loss that it
// claims is false. RESULTS-search.md says what it found.
#include <rewright/plugin/registry.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>

#include "base/files.h"
#include "onnx/import.h"
#include "optimize/comparison.h"

namespace {
using namespace rewright;

struct Settings {
  std::string before, after;
  int times = 10;
  double seconds = 3;
  double confidence = 0.95;
};

Result<int> run(const Settings& settings) {
  Registry registry;
  REWRIGHT_CHECK(registry.load_default());
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>("onnxruntime"));
  REWRIGHT_TRY(const ImportedModel model, import_model_file(settings.before, registry));
  REWRIGHT_TRY(const std::string before, read_file(settings.before));
  REWRIGHT_TRY(const std::string after, read_file(settings.after.empty() ? settings.before : settings.after));
  int faster = 0, slower = 0, rounds = 0;
  for (int i = 0; i < settings.times; ++i) {
    REWRIGHT_TRY(const TimeComparison times,
                 compare_times(*runtime, model.graph, before, after,
                               {.seconds = settings.seconds, .confidence = settings.confidence}));
    std::printf("%.1f us, %.1f us, %.4fx (%.4f to %.4f), %d rounds\n", times.before.median_us, times.after.median_us,
                times.gain.median, times.gain.low, times.gain.high, times.rounds);
    std::fflush(stdout);
    faster += times.faster() ? 1 : 0;
    slower += times.slower() ? 1 : 0;
    rounds += times.rounds;
  }
  std::printf("of %d comparisons %d claim a gain and %d a loss; %.1f rounds each\n", settings.times, faster, slower,
              static_cast<double>(rounds) / settings.times);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares the times of two models again and again");
  Settings settings;
  app.add_option("before", settings.before, "ONNX model")->required();
  app.add_option("after", settings.after, "Another; default: the same");
  app.add_option("--times", settings.times, "Comparisons")->capture_default_str();
  app.add_option("--seconds", settings.seconds, "For each")->capture_default_str();
  app.add_option("--confidence", settings.confidence, "Of a claim")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Result<int> status = run(settings);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? *status : 1;
}
