// What operators write to ONNX: a runtime computes the same from it, and so do the operators that read it back.
#include "contract/operator_models.h"

namespace rewright::contract {

namespace {

constexpr std::string_view kByMeaning = "by its meaning";

std::vector<double> by_meaning(const Application& application, const std::vector<Tensor<Real>>& in) {
  std::vector<double> values;
  for (const Real& value : run(application, in)) values.push_back(value.value);
  return values;
}

}  // namespace

Breach runtime_differs(const Application& application, const Registry& registry, const Runtime& runtime, Random& random,
                       bool& counts) {
  const auto model = model_of(application, registry, counts);
  if (!model) return model.error().message;
  if (!*model) return std::nullopt;
  const std::vector<Tensor<Real>> in = random_reals(application, random);
  const auto found = run_in(runtime, **model, in);
  if (!found) return "the runtime refuses what it writes to ONNX: " + found.error().message;
  return differ(by_meaning(application, in), *found, "in the runtime", kByMeaning);
}

Breach does_not_come_back(const Application& application, const Registry& registry, Random& random, bool& counts) {
  const auto model = model_of(application, registry, counts);
  if (!model) return model.error().message;
  if (!*model) return std::nullopt;
  const std::vector<Tensor<Real>> in = random_reals(application, random);
  const auto found = run_read(**model, registry, in);
  if (!found) return "what it writes to ONNX cannot be read back: " + found.error().message;
  if (!*found) {
    counts = false;
    return std::nullopt;
  }
  return differ(by_meaning(application, in), **found, "read back from ONNX", kByMeaning);
}

}  // namespace rewright::contract
