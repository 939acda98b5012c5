#include "rewrite/rule_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace rewright {
namespace {

/// The source nodes and rule inputs below a node, itself included.
void collect(const RuleProgram& program, std::uint32_t node, std::set<std::uint32_t>& nodes,
             std::set<std::uint32_t>& inputs) {
  if (!nodes.insert(node).second) return;
  for (const Port port : program.source[node].inputs) {
    const auto input_count = static_cast<std::uint32_t>(program.input_ranks.size());
    if (port.node.value < input_count) {
      inputs.insert(port.node.value);
    } else {
      collect(program, port.node.value - input_count, nodes, inputs);
    }
  }
}

/// The one variable of an expression that is not known yet, if the expression is linear in it.
std::optional<std::pair<SizeVar, std::int64_t>> unknown_in(const SymbolicDim& size, const std::set<SizeVar>& known) {
  std::optional<std::pair<SizeVar, std::int64_t>> unknown;
  for (const SymbolicDim::Atom& atom : size.atoms()) {
    if (atom.kind == SymbolicDim::Atom::Kind::kVariable) {
      if (known.contains(*atom.variable)) continue;
      if (unknown) return std::nullopt;
      unknown.emplace(*atom.variable, atom.coefficient);
      continue;
    }
    for (const auto& part : {atom.left, atom.right}) {
      if (part == nullptr) continue;
      for (const SizeVar name : part->variables())
        if (!known.contains(name)) return std::nullopt;
    }
  }
  return unknown;
}

}  // namespace

RuleProgram RuleProgram::compile(const Rule& rule, std::size_t position) {
  RuleProgram program;
  program.rule = position;
  for (const PatternInput& input : rule.inputs) program.input_ranks.push_back(input.rank);
  program.source = rule.source.nodes;
  program.source_outputs = rule.source.outputs;
  program.compile_sizes(rule);
  program.find_parts();
  return program;
}

void RuleProgram::compile_sizes(const Rule& rule) {
  std::map<SizeVar, std::uint32_t> slots;
  for (const PatternInput& input : rule.inputs) {
    first_slot.push_back(slot_count);
    for (int axis = 0; axis < input.rank; ++axis) slots[SizeVar::axis(input.name, axis)] = slot_count++;
  }
  std::set<SizeVar> known;
  for (const auto& [name, slot] : slots) known.insert(name);
  std::vector<std::pair<Equation, SymbolicDim>> open;
  for (std::uint32_t n = 0; n < rule.source.nodes.size(); ++n) {
    const SymbolicParams& params = rule.source.nodes[n].params;
    for (std::uint32_t p = 0; p < params.size(); ++p) {
      const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&params[p]);
      if (sizes == nullptr) continue;
      for (std::uint32_t e = 0; e < sizes->values.size(); ++e) {
        if (sizes->values[e].constant()) continue;
        open.emplace_back(Equation{n, p, e, {}}, sizes->values[e]);
        for (const SizeVar name : sizes->values[e].variables())
          if (slots.try_emplace(name, slot_count).second) ++slot_count, ++free_count;
      }
    }
  }
  const SlotOf slot_of = [&](SizeVar name) -> std::optional<std::uint32_t> {
    const auto found = slots.find(name);
    if (found == slots.end()) return std::nullopt;
    return found->second;
  };
  for (auto& [equation, size] : open) {
    equation.size = *SizeCode::compile(size, slot_of);
    equations.push_back(equation);
  }
  for (bool bound = true; bound && solutions.size() < free_count;) {  // Each round binds a variable or is the last.
    bound = false;
    for (std::uint32_t i = 0; i < open.size(); ++i) {
      const auto unknown = unknown_in(open[i].second, known);
      if (!unknown) continue;
      solutions.push_back({i, slots[unknown->first], unknown->second});
      known.insert(unknown->first);
      bound = true;
    }
  }
  for (const Constraint& constraint : rule.precondition) {
    if (constraint.decided().value_or(false)) continue;
    precondition.push_back(*ConstraintCode::compile(constraint, slot_of));
  }
  compile_target(rule, slot_of);
}

void RuleProgram::compile_target(const Rule& rule, const SlotOf& slot_of) {
  for (const PatternNode& node : rule.target.nodes) {
    TargetNode made{node.op, evaluate(node.params, [](SizeVar) { return std::nullopt; }), node.params, {}, node.inputs};
    for (const auto& value : node.params.values())
      if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value))
        for (const SymbolicDim& size : list->values) made.sizes.push_back(*SizeCode::compile(size, slot_of));
    target.push_back(std::move(made));
  }
  target_outputs = rule.target.outputs;
}

void RuleProgram::find_parts() {
  const auto input_count = static_cast<std::uint32_t>(input_ranks.size());
  std::set<std::uint32_t> inner;  // Below another node.
  for (const PatternNode& node : source)
    for (const Port port : node.inputs)
      if (port.node.value >= input_count) inner.insert(port.node.value - input_count);
  std::vector<Part> open;
  for (std::uint32_t root = 0; root < source.size(); ++root) {
    if (inner.contains(root)) continue;
    std::set<std::uint32_t> nodes, inputs;
    collect(*this, root, nodes, inputs);
    open.push_back({root, kNoId, {inputs.begin(), inputs.end()}});
  }
  // Each part after one that it shares an input with, where there is one.
  std::set<std::uint32_t> bound;
  while (!open.empty()) {
    auto next = open.begin();
    for (auto part = open.begin(); part != open.end() && next->joined_by == kNoId; ++part) {
      const auto shared = std::ranges::find_if(part->inputs, [&](std::uint32_t i) { return bound.contains(i); });
      if (shared == part->inputs.end()) continue;
      part->joined_by = *shared;
      next = part;
    }
    bound.insert(next->inputs.begin(), next->inputs.end());
    parts.push_back(*next);
    open.erase(next);
  }
}

// --- at a match ------------------------------------------------------------------------------------------------

bool RuleProgram::admits(const NodePool& pool, Binding& binding, std::vector<std::int64_t>& slots) const {
  for (std::size_t i = 1; i < source_outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (output(binding, i) == output(binding, j)) return false;
  slots.assign(slot_count, 0);
  for (std::size_t i = 0; i < input_ranks.size(); ++i) {
    std::uint32_t slot = first_slot[i];
    for (const std::int64_t size : pool.shape(binding.inputs[i])) {
      if (size < 1) return false;  // Conditions were derived for sizes of at least 1.
      slots[slot++] = size;
    }
  }
  const auto value_of = [&](const Equation& equation) {
    return pool.label(binding.nodes[equation.node]).params.sizes(equation.param)[equation.element];
  };
  if (solutions.size() < free_count) return false;
  for (const Solution& solution : solutions) {
    const auto rest = equations[solution.equation].size.run(CheckedNumbers{}, slots);
    const std::int64_t value = value_of(equations[solution.equation]);
    if (!rest || (value - *rest) % solution.factor != 0) return false;
    slots[solution.slot] = (value - *rest) / solution.factor;
  }
  for (const Equation& equation : equations)
    if (equation.size.run(CheckedNumbers{}, slots) != value_of(equation)) return false;
  for (const ConstraintCode& constraint : precondition)
    if (!constraint.holds(slots)) return false;
  binding.free_sizes.assign(slots.end() - free_count, slots.end());
  return true;
}

void RuleProgram::read_sizes(const NodePool& pool, const Binding& binding, std::vector<std::int64_t>& slots) const {
  slots.resize(slot_count);
  for (std::size_t i = 0; i < input_ranks.size(); ++i)
    std::ranges::copy(pool.shape(binding.inputs[i]), slots.begin() + first_slot[i]);
  std::ranges::copy(binding.free_sizes, slots.end() - free_count);
}

}  // namespace rewright
