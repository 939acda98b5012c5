// How long a learned cost takes to say what one kernel costs: features and prediction, asked one by one.
//
//   rewright_bench_learned [DATA.kernels] [--members N]
//
// Of an ensemble fitted to the data. RESULTS-learned.md says what it found.
#include <rewright/optimize/cost_key.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "learn/data_set.h"
#include "learn/fit.h"

namespace {
using namespace rewright;

Result<int> run(const std::string& file, std::int64_t members) {
  Registry registry;
  REWRIGHT_CHECK(registry.load_default());
  REWRIGHT_TRY(const learn::DataSet data, learn::read_data({file}, "", registry));
  std::vector<OwnedKernel> kernels;
  for (const learn::Sample& sample : data.samples) {
    REWRIGHT_TRY(kernels.emplace_back(), from_key(sample.kernel, registry));
  }
  std::vector<std::size_t> all(data.samples.size());
  std::iota(all.begin(), all.end(), 0);
  fmt::print("{} kernels, ensembles of {}\n", all.size(), members);
  for (const char* predictor : {"trees", "graph", "sequence"}) {
    learn::Recipe recipe{.predictor = predictor, .base = "roofline"};
    recipe.options[std::string(predictor) == "trees" ? "models" : "members"] = members;
    if (std::string(predictor) != "trees") recipe.options["epochs"] = std::int64_t{1};  // As fast as after many.
    REWRIGHT_TRY(const learn::LearnedModel model, learn::fit(data, all, recipe, registry));
    double least_us = 0;
    for (int pass = 0; pass < 5; ++pass) {
      const auto start = std::chrono::steady_clock::now();
      for (const OwnedKernel& owned : kernels) {
        const Kernel kernel = owned.kernel();
        if (!(model.estimates({&kernel, 1}).front().us > 0)) return make_error(ErrorCode::kInternal, "no estimate");
      }
      const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
                        static_cast<double>(kernels.size());
      if (pass == 1 || us < least_us) least_us = us;
    }
    fmt::print("{:10} {:8.1f} us a kernel\n", predictor, least_us);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How long a learned cost takes for a kernel");
  std::string file = std::string(REWRIGHT_SOURCE_DIR) + "/experiments/learn/onnxruntime.kernels";
  std::int64_t members = 5;
  app.add_option("DATA", file, "Measured kernels");
  app.add_option("--members", members, "Of the ensemble");
  CLI11_PARSE(app, argc, argv);
  const auto done = run(file, members);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
