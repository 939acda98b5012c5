// Where the interfaces' virtual tables live, and the words for their enumerations.
#include <rewright/loop/target.h>
#include <rewright/onnx/onnx.h>
#include <rewright/onnx/runtime.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>
#include <rewright/rule/pruner.h>
#include <rewright/rule/rule.h>
#include <rewright/tune/generator.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>
#include <rewright/verify/verifier.h>

namespace rewright {

Verifier::~Verifier() = default;
PruneSession::~PruneSession() = default;
RulePruneSession::~RulePruneSession() = default;
Pruner::~Pruner() = default;
Result<std::unique_ptr<PruneSession>> Pruner::start(const Options&) const {
  return make_error(ErrorCode::kUnsupported, "pruner {} works on rules, not on candidates", name());
}
Result<std::unique_ptr<RulePruneSession>> Pruner::start_on_rules(const Options&) const {
  return make_error(ErrorCode::kUnsupported, "pruner {} works on candidates, not on rules", name());
}
CostModel::~CostModel() = default;
Result<double> CostModel::kernel_us(const Kernel& kernel) {
  double sum = 0;
  for (const Application& application : kernel.applications) {
    REWRIGHT_TRY(const double us, cost_us(application));
    sum += us;
  }
  return sum;
}
Result<std::vector<Estimate>> CostModel::estimates(std::span<const Kernel> kernels) {
  std::vector<Estimate> all;
  for (const Kernel& kernel : kernels) {
    const bool is_one = kernel.applications.size() == 1;
    REWRIGHT_TRY(all.emplace_back().us, is_one ? cost_us(kernel.applications[0]) : kernel_us(kernel));
  }
  return all;
}
Result<double> CostModel::opaque_us(const OpaqueApplication& node) {
  return make_error(ErrorCode::kUnsupported, "cost model {} says nothing of {}", name(), node.type);
}
CostCache::~CostCache() = default;
SearchStrategy::~SearchStrategy() = default;
Target::~Target() = default;
Result<std::unique_ptr<loop::CompiledProgram>> Target::compile_scheduled(const loop::Program&,
                                                                         const std::vector<schedule::Step>&,
                                                                         const loop::TargetOptions&) const {
  return make_error(ErrorCode::kUnsupported,
                    "target {} has no transforms of its own; apply the schedule first, and compile what it makes",
                    name());
}
tune::FittedPredictor::~FittedPredictor() = default;
Predictor::~Predictor() = default;
Result<tune::Network> tune::FittedPredictor::network() const {
  return make_error(ErrorCode::kUnsupported, "what this predictor learns cannot be kept in a file");
}
Result<std::unique_ptr<tune::FittedPredictor>> Predictor::load(const tune::Network&,
                                                               const tune::PredictorSetting&) const {
  return make_error(ErrorCode::kUnsupported, "what predictor {} learns cannot be kept in a file", name());
}
Generator::~Generator() = default;
std::vector<std::string> Generator::notes(const loop::Program&, const tune::Machine&) const { return {}; }
tune::TuningSpace::~TuningSpace() = default;
tune::TunerRun::~TunerRun() = default;
Tuner::~Tuner() = default;
loop::CompiledProgram::~CompiledProgram() = default;
RuntimeSession::~RuntimeSession() = default;
Runtime::~Runtime() = default;
Result<std::string> Runtime::optimised(std::span<const std::byte>, const LoadOptions&) const {
  return make_error(ErrorCode::kUnsupported, "runtime '{}' does not show what its optimisations make of a model",
                    name());
}

const char* name_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kProved: return "proved";
    case VerdictKind::kRefuted: return "refuted";
    case VerdictKind::kUnknown: break;
  }
  return "unknown";
}

}  // namespace rewright
