#include "rewrite/pool_rewriter.h"

#include <algorithm>
#include <utility>

namespace rewright {

PoolRewriter::PoolRewriter(NodePool& pool, const RuleSet& rules) : pool_(pool), rules_(rules), labels_(pool, rules) {}

void PoolRewriter::add_mark(std::uint32_t task, std::uint8_t mark) {
  if (epoch_[task] != now_) epoch_[task] = now_, marks_[task] = 0;
  marks_[task] |= mark;
}

PoolRewriter::Outcome PoolRewriter::refuse(std::string reason) {
  refusal_ = fmt::format("rule {}: {}", rules_.rules()[program_->rule].name, reason);
  return Outcome::kRefused;
}

PoolRewriter::Outcome PoolRewriter::apply(std::span<const std::uint32_t> nodes, std::span<const Port> outputs,
                                          std::uint32_t program, const Binding& binding,
                                          std::vector<Port>& new_outputs) {
  program_ = &rules_.programs()[program];
  program_id_ = program;
  binding_ = &binding;
  start(nodes);
  new_outputs.clear();
  for (const Port port : outputs) {
    Place place;
    if (!resolve(port, place)) return Outcome::kCyclic;
    if (const Outcome outcome = make(place.task); outcome != Outcome::kDone) return outcome;
    new_outputs.push_back({{made(place.task)}, place.output});
  }
  return check_types();
}

/// Marks what is replaced, and what is computed from it.
void PoolRewriter::start(std::span<const std::uint32_t> nodes) {
  base_ = pool_.size();
  const std::size_t tasks = base_ + program_->target.size();
  if (epoch_.size() < tasks) epoch_.resize(tasks * 2, 0), marks_.resize(tasks * 2), made_.resize(tasks * 2);
  if (++now_ == 0) std::ranges::fill(epoch_, 0), now_ = 1;
  labels_.start(program_id_, *binding_);
  replaced_.clear();
  std::uint32_t first = kNoId;
  for (std::size_t i = 0; i < program_->source_outputs.size(); ++i) {
    replaced_.push_back(program_->output(*binding_, i));
    add_mark(replaced_.back().node.value, kReplaced);
    first = std::min(first, replaced_.back().node.value);
  }
  for (auto at = std::ranges::lower_bound(nodes, first); at != nodes.end(); ++at) {
    for (const Port port : pool_.operands(*at)) {
      const std::uint8_t of_operand = mark(port.node.value);
      if (of_operand == 0) continue;
      if ((of_operand & kAffected) != 0 || std::ranges::find(replaced_, port) != replaced_.end()) {
        add_mark(*at, kAffected);
        break;
      }
    }
  }
}

bool PoolRewriter::resolve(Port port, Place& place) const {
  const std::size_t input_count = program_->input_ranks.size();
  for (std::size_t hops = 0; hops <= replaced_.size(); ++hops) {
    place = {port.node.value, port.output};
    if ((mark(port.node.value) & kReplaced) == 0) return true;
    const auto at = std::ranges::find(replaced_, port);
    if (at == replaced_.end()) return true;
    const Port target = program_->target_outputs[static_cast<std::size_t>(at - replaced_.begin())];
    if (target.node.value >= input_count) {
      place = {base_ + target.node.value - static_cast<std::uint32_t>(input_count), target.output};
      return true;
    }
    port = binding_->inputs[target.node.value];
  }
  return false;
}

std::size_t PoolRewriter::operand_count(std::uint32_t task) const {
  return task >= base_ ? program_->target[task - base_].inputs.size() : pool_.operands(task).size();
}

bool PoolRewriter::operand(std::uint32_t task, std::size_t k, Place& place) const {
  if (task < base_) return resolve(pool_.operands(task)[k], place);
  const auto input_count = static_cast<std::uint32_t>(program_->input_ranks.size());
  const Port port = program_->target[task - base_].inputs[k];
  if (port.node.value < input_count) return resolve(binding_->inputs[port.node.value], place);
  place = {base_ + port.node.value - input_count, port.output};
  return true;
}

/// Depth first, with a stack of its own, so that deep graphs are no matter.
PoolRewriter::Outcome PoolRewriter::make(std::uint32_t wanted) {
  if (is_fixed(wanted) || (mark(wanted) & kDone) != 0) return Outcome::kDone;
  add_mark(wanted, kOpen);
  stack_.assign(1, {wanted, 0});
  while (!stack_.empty()) {
    auto& [task, next] = stack_.back();
    if (next == operand_count(task)) {
      if (const Outcome outcome = build(task); outcome != Outcome::kDone) return outcome;
      add_mark(task, kDone);
      stack_.pop_back();
      continue;
    }
    Place place;
    if (!operand(task, next, place)) return Outcome::kCyclic;
    ++next;
    const std::uint8_t known = mark(place.task);
    if (is_fixed(place.task) || (known & kDone) != 0) continue;
    if ((known & kOpen) != 0) return Outcome::kCyclic;
    add_mark(place.task, kOpen);
    stack_.emplace_back(place.task, 0);
  }
  return Outcome::kDone;
}

PoolRewriter::Outcome PoolRewriter::build(std::uint32_t task) {
  in_.clear();
  for (std::size_t k = 0; k < operand_count(task); ++k) {
    Place place;
    if (!operand(task, k, place)) return Outcome::kCyclic;
    in_.push_back({{made(place.task)}, place.output});
  }
  std::optional<std::uint32_t> node;
  if (task < base_) {
    node = pool_.add_like(task, in_);
  } else {
    const auto label = labels_.of(task - base_);
    if (!label)
      return refuse(fmt::format("a size of {} in its target is not determined by the match",
                                program_->target[task - base_].op->name()));
    node = pool_.add(*label, in_);
  }
  if (!node) return refuse(pool_.refusal());
  made_[task] = *node;
  return Outcome::kDone;
}

PoolRewriter::Outcome PoolRewriter::check_types() {
  for (const Port old : replaced_) {
    Place place;
    if (!resolve(old, place)) return Outcome::kCyclic;
    if (!is_fixed(place.task) && (mark(place.task) & kDone) == 0) continue;  // Nothing needs it.
    const TensorType& now = pool_.type_at(pool_.type({{made(place.task)}, place.output}));
    const TensorType& before = pool_.type_at(pool_.type(old));
    if (now.shape != before.shape)
      return refuse(fmt::format("replaces a tensor of shape {} by one of shape {}", before.shape, now.shape));
    if (now.element != before.element) return refuse("would change the element type of a tensor");
  }
  return Outcome::kDone;
}

// --- a change by itself ----------------------------------------------------------------------------------------

bool PoolRewriter::change(std::uint32_t program, const Binding& binding, Change& change) {
  program_ = &rules_.programs()[program];
  labels_.start(program, binding);
  replaced_.clear();
  for (std::size_t i = 0; i < program_->source_outputs.size(); ++i) replaced_.push_back(program_->output(binding, i));
  change.made.clear();
  if (!is_independent(binding) || !make_target(binding, change.made)) return false;
  const auto input_count = static_cast<std::uint32_t>(program_->input_ranks.size());
  change.replaced.clear();
  for (std::size_t i = 0; i < replaced_.size(); ++i) {
    const Port before = replaced_[i], target = program_->target_outputs[i];
    const Port after = target.node.value < input_count
                           ? binding.inputs[target.node.value]
                           : Port{{change.made[target.node.value - input_count]}, target.output};
    if (std::ranges::find(replaced_, after) != replaced_.end()) return false;
    if (pool_.type(before) != pool_.type(after) || pool_.kind(before) != pool_.kind(after)) return false;
    change.replaced.emplace_back(before, after);
  }
  return true;
}

/// What is computed from a replaced tensor has a greater id than it, and depends on weights alone only if that does.
bool PoolRewriter::is_independent(const Binding& binding) const {
  std::uint32_t first = kNoId;
  bool all_data = true;
  for (const Port port : replaced_) {
    first = std::min(first, port.node.value);
    all_data = all_data && pool_.kind(port) == InputKind::kData;
  }
  for (const Port port : binding.inputs)
    if (port.node.value >= first && !(all_data && pool_.kind(port) == InputKind::kWeight)) return false;
  for (const std::uint32_t node : binding.nodes)
    for (const Port port : pool_.operands(node))
      if (std::ranges::find(replaced_, port) != replaced_.end()) return false;
  return true;
}

bool PoolRewriter::make_target(const Binding& binding, std::vector<std::uint32_t>& made) {
  const auto input_count = static_cast<std::uint32_t>(program_->input_ranks.size());
  for (std::uint32_t i = 0; i < program_->target.size(); ++i) {
    const auto label = labels_.of(i);
    if (!label) return false;
    in_.clear();
    for (const Port port : program_->target[i].inputs)
      in_.push_back(port.node.value < input_count ? binding.inputs[port.node.value]
                                                  : Port{{made[port.node.value - input_count]}, port.output});
    const auto node = pool_.add(*label, in_);
    if (!node) return false;
    made.push_back(*node);
  }
  return true;
}

}  // namespace rewright
