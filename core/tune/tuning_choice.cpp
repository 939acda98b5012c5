#include "tune/tuning_choice.h"

#include <rewright/loop/target.h>

#include "tune/instruction_set.h"
#include "tune/this_machine.h"

namespace rewright::tune {

Result<schedule::SketchOptions> sketch_options(const TuningChoice& choice) {
  REWRIGHT_TRY(const InstructionSet* set, instruction_set(choice.dialect));
  if (set == nullptr) {
    return make_error(ErrorCode::kUsage, "code of dialect {} has no vectors to schedule for; vectors has",
                      choice.dialect);
  }
  REWRIGHT_CHECK(schedule::check_structure(choice.structure));
  return schedule::SketchOptions{set->unit, choice.structure};
}

Result<TuningSetting> tuning_setting(const TuningChoice& choice, const Registry& registry) {
  TuningSetting setting;
  setting.measure.dialect = choice.dialect;
  setting.measure.policy = choice.policy == "cold" ? CachePolicy::kCold : CachePolicy::kHot;
  setting.measure.batch_us = 100;
  if (choice.is_patient) setting.measure.race = kNoRace;
  setting.seed = choice.seed;
  constexpr std::uint64_t kBatch = 8, kBatchOfBayes = 4;
  setting.batch = choice.batch != 0 ? choice.batch : choice.tuner == "bayes" ? kBatchOfBayes : kBatch;
  setting.orders = choice.orders == "scores" ? OrderFeatures::kScores : OrderFeatures::kCategory;
  REWRIGHT_TRY(setting.sketches, sketch_options(choice));
  for (const std::string& name : choice.generators) {
    REWRIGHT_TRY(setting.generators.emplace_back(), registry.get<Generator>(name));
  }
  REWRIGHT_TRY(setting.tuner, registry.get<Tuner>(choice.tuner));
  setting.tuner_options = choice.tuner_options;
  setting.predictor_options = choice.predictor_options;
  if (choice.predictor != "none") {
    setting.prior = registry.find<Predictor>("roofline");
    const std::string usual = choice.tuner == "bayes" ? "process" : "trees";
    if (!choice.predictor.empty()) {
      REWRIGHT_TRY(setting.predictor, registry.get<Predictor>(choice.predictor));
    } else if (setting.predictor = registry.find<Predictor>(usual); setting.predictor == nullptr) {
      setting.predictor = setting.prior;  // Its library is not there.
    }
  }
  REWRIGHT_TRY(const Target* target, registry.get<Target>(setting.measure.target));
  REWRIGHT_TRY(setting.target_version, target->version());
  REWRIGHT_TRY(setting.plugin, Measurer::plugin_of(registry, setting.measure.target));
  REWRIGHT_TRY(setting.machine, measured_machine());
  return setting;
}

}  // namespace rewright::tune
