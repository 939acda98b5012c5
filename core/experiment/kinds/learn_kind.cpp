// Kind "learn": a cost learned from measured kernels, asked about others.
//
//   data        files of measured kernels (learn/data_set.h)
//   predictor, options, base ("roofline"; "": none)
//   without     columns that the predictor does not see
//   split       program, group, size, operator, row
//   share       of the training that is used, chosen by a hash; 1: all of it
//   from        files of kernels measured on another device: what is learned of them is the base
//   draw        how the training is chosen: "" all of the share; "spread" and "random": 500 by a hash, then 500 more,
//   those
//               with the greatest spread, or by a hash
//   seed, label
//
// Rows  row = "fold": name, kernels, error, tau, roofline_error, roofline_tau, outside
//       row = "sum":  medians of these, worst_by_roofline (the greatest error by the roofline's), spread_ratio,
//       within_10,
//                     ceiling (of measuring again), sum_by_measured (predicted by measured time of all kernels, the
//                     fold that is furthest off), training (kernels, the median)
//
// Kind "order": schedules of kernels, put in order by what was learned from those of others.
//
//   data        a file of measured programs (learn/program_data.h)
//   predictor, options, seed, label
//
// Rows  row = "sum": kernels, tau, pairs, best_of_1, best_of_5, random_of_5
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sha256.h"
#include "experiment/kind.h"
#include "learn/accuracy.h"
#include "learn/program_data.h"

namespace rewright::experiment {
namespace {

using learn::FoldReport;
using learn::Recipe;

struct LearnAsked {
  std::vector<std::string> data;
  std::vector<std::string> from;
  std::string split, label, draw;
  Recipe recipe;
  double share = 1;
};

/// 0 to kHashes - 1, of the text and the seed alone.
constexpr std::size_t kHashes = 10'000;
std::size_t hash_of(const std::string& text, std::uint64_t seed) {
  return static_cast<std::size_t>(std::stoul(sha256(fmt::format("{} {}", seed, text)).substr(0, 8), nullptr, 16)) %
         kHashes;
}

/// The same samples for the same share, whatever else there is.
void take_share(std::vector<learn::Fold>& folds, const learn::DataSet& data, double share) {
  for (learn::Fold& fold : folds) {
    std::erase_if(fold.training, [&](std::size_t s) {
      return static_cast<double>(hash_of(data.samples[s].kernel, 0)) >= share * static_cast<double>(kHashes);
    });
  }
}

constexpr std::size_t kDrawn = 500;

/// The first by a hash, then as many more.
Status draw(std::vector<learn::Fold>& folds, const learn::DataSet& data, const LearnAsked& asked,
            const Registry& registry) {
  for (learn::Fold& fold : folds) {
    std::ranges::stable_sort(fold.training, {},
                             [&](std::size_t s) { return hash_of(data.samples[s].kernel, asked.recipe.seed); });
    if (fold.training.size() <= 2 * kDrawn) continue;
    std::vector<std::size_t> rest(fold.training.begin() + kDrawn, fold.training.end());
    if (asked.draw == "spread") {
      REWRIGHT_TRY(const auto model, learn::fit(data, std::span(fold.training).first(kDrawn), asked.recipe, registry));
      std::vector<double> unsure(data.samples.size());
      for (const std::size_t s : rest) {
        const Estimate estimate = model.predictor->predict({&data.samples[s].features, 1}).front();
        unsure[s] = estimate.spread / estimate.us;
      }
      std::ranges::stable_sort(rest, std::greater(), [&](std::size_t s) { return unsure[s]; });
    }
    fold.training.resize(kDrawn);
    fold.training.insert(fold.training.end(), rest.begin(), rest.begin() + kDrawn);
  }
  return {};
}

double sum_by_measured(const FoldReport& fold) {
  double measured = 0, predicted = 0;
  for (std::size_t i = 0; i < fold.measured.size(); ++i) {
    measured += fold.measured[i];
    predicted += fold.predicted[i].us;
  }
  return predicted / measured;
}

Result<Outcome> learn_and_ask(const LearnAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(const learn::DataSet data, learn::read_data(asked.data, "", *lab.registry));
  REWRIGHT_TRY(auto folds, learn::split(data, asked.split));
  if (asked.share < 1) take_share(folds, data, asked.share);
  if (!asked.draw.empty()) REWRIGHT_CHECK(draw(folds, data, asked, *lab.registry));
  Recipe recipe = asked.recipe;
  if (!asked.from.empty()) {
    REWRIGHT_TRY(const learn::DataSet other, learn::read_data(asked.from, "", *lab.registry));
    std::vector<std::size_t> all(other.samples.size());
    std::iota(all.begin(), all.end(), 0);
    REWRIGHT_TRY(learn::LearnedModel model, learn::fit(other, all, recipe, *lab.registry));
    recipe.elsewhere = std::make_shared<const learn::LearnedModel>(std::move(model));
  }
  REWRIGHT_TRY(const auto reports, learn::evaluate(data, folds, recipe, *lab.registry, [&](std::size_t done) {
                 lab.show(asked.label, static_cast<double>(done) / static_cast<double>(folds.size()));
                 return !lab.stopped();
               }));
  Outcome outcome;
  double worst = 0, furthest = 1;
  std::vector<double> training;
  for (const FoldReport& fold : reports) {
    worst = std::max(worst, fold.model.error / fold.base.error);
    const double sum = sum_by_measured(fold);
    if (std::abs(std::log(sum)) > std::abs(std::log(furthest))) furthest = sum;
    training.push_back(static_cast<double>(fold.training));
    outcome.rows.push_back({{"row", "fold"},
                            {"label", asked.label},
                            {"name", fold.name},
                            {"kernels", fold.model.kernels},
                            {"error", 100 * fold.model.error},
                            {"tau", fold.model.tau},
                            {"roofline_error", 100 * fold.base.error},
                            {"roofline_tau", fold.base.tau},
                            {"outside", 100 * fold.outside}});
  }
  std::ranges::sort(training);
  const learn::Accuracy model = learn::median_of(reports, &FoldReport::model);
  const learn::Accuracy base = learn::median_of(reports, &FoldReport::base);
  outcome.rows.push_back({{"row", "sum"},
                          {"label", asked.label},
                          {"kernels", model.kernels},
                          {"error", 100 * model.error},
                          {"tau", model.tau},
                          {"roofline_error", 100 * base.error},
                          {"roofline_tau", base.tau},
                          {"worst_by_roofline", worst},
                          {"spread_ratio", model.spread_ratio},
                          {"within_10", 100 * model.within_10},
                          {"ceiling", 100 * learn::noise_of(data, learn::kJudgedUs).mean},
                          {"sum_by_measured", furthest},
                          {"training", training[training.size() / 2]}});
  return outcome;
}

Result<Outcome> learn_and_order(const LearnAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(const learn::ProgramData data, learn::read_programs(asked.data.front()));
  REWRIGHT_TRY(const learn::OrderAccuracy found,
               learn::evaluate_order(data, asked.recipe, *lab.registry, [&](std::size_t done) {
                 lab.show(asked.label, static_cast<double>(done) / 5);
                 return !lab.stopped();
               }));
  Outcome outcome;
  outcome.rows.push_back({{"row", "sum"},
                          {"label", asked.label},
                          {"kernels", found.kernels},
                          {"tau", found.tau},
                          {"pairs", found.pairs},
                          {"best_of_1", 100 * found.best_of_1},
                          {"best_of_5", 100 * found.best_of_5},
                          {"random_of_5", 100 * found.random_of_5}});
  return outcome;
}

}  // namespace

Result<Job> learn_job(Parameters& parameters, const Lab&) {
  LearnAsked asked;
  REWRIGHT_TRY(asked.data, parameters.files("data"));
  REWRIGHT_TRY(asked.from, parameters.files("from"));
  REWRIGHT_TRY(asked.recipe.predictor, parameters.text("predictor"));
  REWRIGHT_TRY(asked.recipe.options, parameters.options("options"));
  REWRIGHT_TRY(asked.recipe.base, parameters.text("base", asked.recipe.base));
  REWRIGHT_TRY(asked.recipe.without, parameters.texts("without"));
  REWRIGHT_TRY(asked.split, parameters.text("split", "program"));
  REWRIGHT_TRY(asked.draw, parameters.text("draw", ""));
  if (asked.draw != "" && asked.draw != "spread" && asked.draw != "random")
    return parameters.error("draw", fmt::format("'draw' is '{}'; there are: spread, random", asked.draw));
  REWRIGHT_TRY(asked.share, parameters.number("share", 0, 1, 1));
  REWRIGHT_TRY(const std::int64_t seed, parameters.integer("seed", 0, 1'000'000, 1));
  asked.recipe.seed = static_cast<std::uint64_t>(seed);
  REWRIGHT_TRY(asked.label, parameters.text("label", asked.recipe.predictor));
  return Job{[asked](const Lab& place) { return learn_and_ask(asked, place); }};
}

Result<Job> order_job(Parameters& parameters, const Lab&) {
  LearnAsked asked;
  REWRIGHT_TRY(const std::string data, parameters.file("data"));
  asked.data = {data};
  REWRIGHT_TRY(asked.recipe.predictor, parameters.text("predictor"));
  REWRIGHT_TRY(asked.recipe.options, parameters.options("options"));
  REWRIGHT_TRY(const std::int64_t seed, parameters.integer("seed", 0, 1'000'000, 1));
  asked.recipe.seed = static_cast<std::uint64_t>(seed);
  REWRIGHT_TRY(asked.label, parameters.text("label", asked.recipe.predictor));
  Job job{[asked](const Lab& place) { return learn_and_order(asked, place); }};
  job.measures = asked.recipe.predictor == "roofline";  // The roofs are this machine's.
  return job;
}

}  // namespace rewright::experiment
