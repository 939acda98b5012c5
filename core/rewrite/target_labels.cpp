#include "rewrite/target_labels.h"

#include <rewright/operator/map_sizes.h>

#include <utility>

namespace rewright {
namespace {

/// The parameters with the sizes put in, one after the other.
Params with_sizes(const SymbolicParams& params, const std::vector<std::int64_t>& values) {
  auto next = values.begin();
  return map_sizes(params, [&](const SymbolicDim&) { return *next++; });
}

}  // namespace

TargetLabels::TargetLabels(NodePool& pool, const RuleSet& rules) : pool_(pool), rules_(rules) {
  for (const RuleProgram& program : rules.programs()) fixed_.emplace_back(program.target.size(), kNoId);
}

void TargetLabels::start(std::uint32_t program, const Binding& binding) {
  program_ = program;
  binding_ = &binding;
  slots_known_ = false;
}

std::optional<LabelId> TargetLabels::of(std::uint32_t target_node) {
  const RuleProgram& program = rules_.programs()[program_];
  const RuleProgram::TargetNode& target = program.target[target_node];
  if (target.fixed) {
    LabelId& label = fixed_[program_][target_node];
    if (label == kNoId) label = pool_.label_of(*target.op, *target.fixed);
    return label;
  }
  if (!slots_known_) program.read_sizes(pool_, *binding_, slots_), slots_known_ = true;
  key_.assign({static_cast<char32_t>(program_), static_cast<char32_t>(target_node)});
  values_.clear();
  for (const SizeCode& size : target.sizes) {
    const auto value = size.run(CheckedNumbers{}, slots_);
    if (!value) return std::nullopt;
    values_.push_back(*value);
    key_.push_back(static_cast<char32_t>(*value));
    key_.push_back(static_cast<char32_t>(static_cast<std::uint64_t>(*value) >> 32));
  }
  if (const auto known = sized_.find(key_); known != sized_.end()) return known->second;
  const LabelId label = pool_.label_of(*target.op, with_sizes(target.params, values_));
  sized_.emplace(key_, label);
  return label;
}

}  // namespace rewright
