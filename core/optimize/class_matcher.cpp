#include "optimize/class_matcher.h"

#include <algorithm>
#include <utility>

namespace rewright {

const std::vector<std::uint32_t>& ClassMatcher::demands(std::uint32_t node) {
  const auto [entry, is_new] = demands_.try_emplace(pool_.node(node).signature);
  const NodePool::Label& label = pool_.label(node);
  if (is_new && label.op != nullptr)
    entry->second = rules_.met_by(*label.op, label.params, pool_.operands(node).size());
  return entry->second;
}

/// Asks each 256th time: some thousands of times a second.
bool ClassMatcher::goes_on() {
  if (++asked_ % 256 == 0 && *keep_going_ && !(*keep_going_)()) stopped_ = true;
  return !stopped_;
}

void ClassMatcher::walk(std::uint32_t at, std::uint32_t depth) {
  if (!goes_on()) return;
  const RuleSet::Place& place = rules_.place(at);
  for (const RuleSet::Leaf& leaf : place.leaves) take(leaf);
  if (depth == places_.classes.size()) return;
  const std::uint32_t here = places_.classes[depth];
  places_.applications[depth] = kNoId;
  const auto rank = static_cast<std::uint32_t>(pool_.shape(classes_.port(here)).rank());
  for (const RuleSet::Branch& branch : place.tensors)
    if (branch.key == rank) walk(branch.next, depth + 1);
  for (const RuleSet::Branch& branch : place.repeated) {
    if (places_.classes[branch.key] != here) continue;
    places_.applications[depth] = places_.applications[branch.key];
    walk(branch.next, depth + 1);
  }
  for (const RuleSet::Branch& branch : place.siblings) {
    const std::uint32_t node = places_.applications[branch.key];
    if (branch.output >= pool_.signature(node).out.size() || classes_.find(Port{{node}, branch.output}) != here)
      continue;
    places_.applications[depth] = node;
    walk(branch.next, depth + 1);
  }
  if (place.operators.empty()) return;
  for (const auto& [node, output] : classes_.makers(here)) follow(place, depth, node, output);
}

void ClassMatcher::follow(const RuleSet::Place& place, std::uint32_t depth, std::uint32_t node, std::uint32_t output) {
  const std::size_t size = places_.classes.size();
  for (const std::uint32_t demand : demands(node)) {
    const auto branch = std::ranges::partition_point(place.operators, [&](const RuleSet::Branch& other) {
      return std::pair(other.key, other.output) < std::pair(demand, output);
    });
    if (branch == place.operators.end() || branch->key != demand || branch->output != output) continue;
    for (const Port port : pool_.operands(node)) places_.classes.push_back(classes_.find(port));
    places_.applications.resize(places_.classes.size(), kNoId);
    places_.applications[depth] = node;
    walk(branch->next, depth + 1);
    places_.classes.resize(size);
    places_.applications.resize(size);
  }
}

void ClassMatcher::take(const RuleSet::Leaf& leaf) {
  const RuleProgram& program = rules_.programs()[leaf.program];
  if (program.parts.size() > 1 && !several_) return;
  auto& found = found_[leaf.program][leaf.part];
  if (found.size() >= most_) {
    cut_ = true;
    return;
  }
  for (const std::uint32_t place : leaf.swapped) {
    const auto operands = pool_.operands(places_.applications[place]);
    if (classes_.find(operands[0]) == classes_.find(operands[1])) return;
  }
  Binding binding;
  binding.inputs.assign(program.input_ranks.size(), Port{{kNoId}, 0});
  binding.nodes.assign(program.source.size(), kNoId);
  for (const auto& [input, place] : leaf.inputs) binding.inputs[input] = classes_.port(places_.classes[place]);
  for (const auto& [node, place] : leaf.nodes) binding.nodes[node] = places_.applications[place];
  found.push_back(std::move(binding));
}

void ClassMatcher::keep(std::uint32_t program, Binding binding, std::vector<ClassMatch>& matches) {
  const RuleProgram& rule = rules_.programs()[program];
  for (std::size_t i = 1; i < rule.source_outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (classes_.find(rule.output(binding, i)) == classes_.find(rule.output(binding, j))) return;
  if (!rule.admits(pool_, binding, slots_)) return;
  ++kept_;
  matches.push_back({program, std::move(binding)});
}

void ClassMatcher::join(std::uint32_t program, std::size_t part, Binding& bound, std::vector<ClassMatch>& matches) {
  const RuleProgram& rule = rules_.programs()[program];
  if (!goes_on()) return;
  if (kept_ >= most_) {
    cut_ = true;
    return;
  }
  if (part == rule.parts.size()) return keep(program, bound, matches);
  const auto try_one = [&](const Binding& other) {
    for (std::size_t k = 0; k < other.inputs.size(); ++k)
      if (other.inputs[k].node.value != kNoId && bound.inputs[k].node.value != kNoId &&
          other.inputs[k] != bound.inputs[k])
        return;
    for (std::size_t k = 0; k < other.nodes.size(); ++k)
      if (other.nodes[k] != kNoId && bound.nodes[k] != kNoId && other.nodes[k] != bound.nodes[k]) return;
    const Binding before = bound;
    for (std::size_t k = 0; k < other.inputs.size(); ++k)
      if (other.inputs[k].node.value != kNoId) bound.inputs[k] = other.inputs[k];
    for (std::size_t k = 0; k < other.nodes.size(); ++k)
      if (other.nodes[k] != kNoId) bound.nodes[k] = other.nodes[k];
    join(program, part + 1, bound, matches);
    bound = before;
  };
  const std::vector<Binding>& others = found_[program][part];
  const std::uint32_t joined_by = rule.parts[part].joined_by;
  if (joined_by == kNoId) {
    for (const Binding& other : others) try_one(other);
    return;
  }
  const auto [first, last] = by_input_[part].equal_range(classes_.tensor(bound.inputs[joined_by]));
  for (auto at = first; at != last; ++at) try_one(others[at->second]);
}

std::optional<std::vector<ClassMatcher::ClassMatch>> ClassMatcher::find(bool several, std::size_t most,
                                                                        const std::function<bool()>& keep_going,
                                                                        bool& cut) {
  several_ = several, most_ = most, cut_ = false, stopped_ = false;
  keep_going_ = &keep_going;
  found_.clear();
  for (const RuleProgram& program : rules_.programs()) found_.emplace_back(program.parts.size());
  for (std::uint32_t node = 0; node < classes_.node_count(); ++node) {
    if (!classes_.is_alive(node) || pool_.label(node).op == nullptr) continue;
    places_.classes.assign(1, classes_.find(Port{{node}, 0}));
    places_.applications.assign(1, kNoId);
    follow(rules_.place(0), 0, node, 0);
  }
  std::vector<ClassMatch> matches;
  for (std::uint32_t program = 0; program < found_.size(); ++program) {
    const RuleProgram& rule = rules_.programs()[program];
    by_input_.assign(rule.parts.size(), {});
    for (std::size_t part = 0; part < rule.parts.size(); ++part)
      if (rule.parts[part].joined_by != kNoId)
        for (std::size_t i = 0; i < found_[program][part].size(); ++i)
          by_input_[part].emplace(classes_.tensor(found_[program][part][i].inputs[rule.parts[part].joined_by]), i);
    kept_ = 0;
    Binding bound;
    bound.inputs.assign(rule.input_ranks.size(), Port{{kNoId}, 0});
    bound.nodes.assign(rule.source.size(), kNoId);
    if (std::ranges::none_of(found_[program], [](const auto& list) { return list.empty(); }))
      join(program, 0, bound, matches);
  }
  found_.clear();
  cut = cut_;
  if (stopped_) return std::nullopt;
  return matches;
}

}  // namespace rewright
