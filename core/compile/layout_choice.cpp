#include "compile/layout_choice.h"

#include <algorithm>

#include "optimize/pbqp.h"

namespace rewright::compile {
namespace {

/// How a tensor is made, and whether a copy has it the other way.
struct TensorOption {
  bool is_last;
  bool has_both;
  [[nodiscard]] bool gives(bool last) const { return has_both || is_last == last; }
};
static_assert((std::size_t{1} << kFreeTensors) <= Pbqp::kMostStates);
constexpr TensorOption kTensorOptions[] = {{false, false}, {true, false}, {false, true}, {true, true}};

std::vector<std::vector<bool>> kernel_options(const LayoutProblem::Kernel& kernel) {
  const std::size_t count = kernel.reads.size() + kernel.writes.size();
  const bool is_free = count <= kFreeTensors;
  std::vector<std::vector<bool>> options;
  for (std::size_t bits = 0; bits < std::size_t{1} << (is_free ? count : 2); ++bits) {
    std::vector<bool>& option = options.emplace_back();
    for (std::size_t t = 0; t < count; ++t)
      option.push_back((bits >> (is_free ? t : t < kernel.reads.size() ? 0 : 1) & 1) != 0);
  }
  return options;
}

Pbqp::Own barred() {
  Pbqp::Own costs;
  costs.fill(Pbqp::kBarred);
  return costs;
}
std::int64_t picoseconds(double us) { return static_cast<std::int64_t>(std::min(us * 1e6, 1e15)); }

}  // namespace

std::vector<std::vector<bool>> choose_layouts(const LayoutProblem& problem) {
  Pbqp pbqp;
  std::vector<bool> is_written(problem.tensors);
  for (const auto& kernel : problem.kernels)
    for (const std::size_t t : kernel.writes) is_written[t] = true;
  for (std::size_t t = 0; t < problem.tensors; ++t) {
    Pbqp::Own costs = barred();
    for (std::size_t i = 0; i < std::size(kTensorOptions); ++i) {
      const TensorOption& option = kTensorOptions[i];
      if (!is_written[t] && option.is_last) continue;
      if (problem.must_be_first[t] && !option.gives(false)) continue;
      costs[i] = option.has_both ? picoseconds(problem.copy_cost(t, !option.is_last)) : 0;
    }
    pbqp.add(costs);
  }
  std::vector<std::vector<std::vector<bool>>> options;
  for (std::size_t k = 0; k < problem.kernels.size(); ++k) {
    const LayoutProblem::Kernel& kernel = problem.kernels[k];
    const auto& own = options.emplace_back(kernel_options(kernel));
    Pbqp::Own costs = barred();
    for (std::size_t j = 0; j < own.size(); ++j) costs[j] = picoseconds(problem.kernel_cost(k, own[j]));
    const std::uint32_t node = pbqp.add(costs);
    for (std::size_t i = 0; i < kernel.reads.size() + kernel.writes.size(); ++i) {
      const bool is_read = i < kernel.reads.size();
      const std::size_t t = is_read ? kernel.reads[i] : kernel.writes[i - kernel.reads.size()];
      Pbqp::Pair pair = {};
      for (std::size_t made = 0; made < std::size(kTensorOptions); ++made) {
        const TensorOption& option = kTensorOptions[made];
        for (std::size_t j = 0; j < own.size(); ++j)
          if (is_read ? !option.gives(own[j][i]) : option.is_last != own[j][i]) pair[made][j] = Pbqp::kBarred;
      }
      pbqp.join(static_cast<std::uint32_t>(t), node, pair);
    }
  }
  const Pbqp::Choice choice = pbqp.solve();
  std::vector<std::vector<bool>> chosen;
  for (std::size_t k = 0; k < options.size(); ++k)
    chosen.push_back(options[k][choice.cost < Pbqp::kBarred ? choice.states[problem.tensors + k] : 0]);
  return chosen;
}

}  // namespace rewright::compile
