#include <rewright/tune/kernel_tuner.h>

#include <chrono>

#include "tune/tuning_choice.h"

namespace rewright::tune {

struct KernelTuner::State {
  const Registry& registry;
  KernelBudget budget;
  ScheduleRecords records;
  std::vector<ScheduleRecord> known;
  TuningSetting setting = {};
  double spent = 0;
};

KernelTuner::KernelTuner(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelTuner::~KernelTuner() = default;

Result<std::unique_ptr<KernelTuner>> KernelTuner::start(const std::string& records, const std::string& policy,
                                                        const KernelBudget& budget, const Registry& registry) {
  REWRIGHT_TRY(ScheduleRecords opened, ScheduleRecords::open(records));
  REWRIGHT_TRY(std::vector<ScheduleRecord> known, ScheduleRecords::read(records));
  auto state = std::make_unique<State>(State{registry, budget, std::move(opened), std::move(known)});
  TuningChoice choice;
  choice.policy = policy;
  REWRIGHT_TRY(state->setting, tuning_setting(choice, registry));
  state->setting.records = &state->records;
  return std::unique_ptr<KernelTuner>(new KernelTuner(std::move(state)));
}

Result<bool> KernelTuner::tune(const Kernel& kernel) {
  if (state_->spent >= state_->budget.seconds) return false;
  REWRIGHT_TRY(TuningTask task, kernel_task(kernel, state_->registry));
  const auto begin = std::chrono::steady_clock::now();
  REWRIGHT_TRY(const auto tuning, TaskTuning::start(std::move(task), state_->setting, state_->known));
  REWRIGHT_CHECK(tuning->run(state_->budget.trials));
  state_->spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return true;
}

}  // namespace rewright::tune
