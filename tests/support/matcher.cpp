#include "support/matcher.h"

#include <algorithm>
#include <limits>
#include <map>

#include "rule/usable.h"
#include "tensor/real.h"

namespace rewright {

// --- the graph -------------------------------------------------------------------------------------------------

GraphIndex::GraphIndex(const Graph& graph) : graph_(&graph) {
  const auto nodes = graph.nodes();
  std::vector<std::vector<NodeId>> users(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (const ApplicationNode* made = nodes[i].application()) by_operator_[made->op].push_back({i});
    for (Port operand : nodes[i].inputs) {
      auto& list = users[operand.node.value];
      if (list.empty() || list.back() != NodeId{i}) list.push_back({i});
    }
  }
  first_user_.push_back(0);
  for (const auto& list : users) {
    users_.insert(users_.end(), list.begin(), list.end());
    first_user_.push_back(static_cast<std::uint32_t>(users_.size()));
  }
}

std::span<const NodeId> GraphIndex::applications(const Operator* op) const {
  const auto found = by_operator_.find(op);
  if (found == by_operator_.end()) return {};
  return found->second;
}

std::span<const NodeId> GraphIndex::users(NodeId node) const {
  const std::uint32_t first = first_user_[node.value], last = first_user_[node.value + 1];
  return std::span(users_).subspan(first, last - first);
}

// --- compiling -------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kUnbound = std::numeric_limits<std::uint32_t>::max();

/// Which of the rule's inputs each node needs, then by output.
std::vector<std::vector<bool>> needs_of(const Pattern& side, std::size_t input_count) {
  std::vector<std::vector<bool>> of_port;
  for (std::size_t i = 0; i < input_count; ++i) {
    of_port.emplace_back(input_count, false);
    of_port.back()[i] = true;
  }
  for (const PatternNode& node : side.nodes) {
    std::vector<bool> needs(input_count, false);
    for (Port port : node.inputs)
      for (std::size_t i = 0; i < input_count; ++i) needs[i] = needs[i] || of_port[port.node.value][i];
    of_port.push_back(std::move(needs));
  }
  std::vector<std::vector<bool>> by_output;
  for (Port port : side.outputs) by_output.push_back(of_port[port.node.value]);
  return by_output;
}

}  // namespace

Result<CompiledRule> CompiledRule::compile(const Rule& rule) {
  REWRIGHT_CHECK(check_usable(rule));
  CompiledRule compiled;
  const std::size_t input_count = rule.inputs.size();
  for (const PatternInput& input : rule.inputs) compiled.input_ranks_.push_back(input.rank);
  for (std::size_t i = 0; i < input_count; ++i)
    for (int axis = 0; axis < rule.inputs[i].rank; ++axis)
      compiled.variables_.push_back({SizeVar::axis(rule.inputs[i].name, axis), i, axis});
  for (const SizeVar name : size_variables(rule.source)) {
    const auto known = std::ranges::find(compiled.variables_, name, &SizeVariable::name);
    if (known == compiled.variables_.end()) compiled.free_.push_back(name);
  }
  for (std::size_t i = 0; i < compiled.free_.size(); ++i) compiled.variables_.push_back({compiled.free_[i], i, -1});

  for (const PatternNode& node : rule.source.nodes) {
    SourceNode source{node.op, {}, node.inputs, node.op->info().commutative && node.inputs.size() >= 2, {}};
    for (std::size_t p = 0; p < node.params.size(); ++p) {
      source.params.push_back(node.params[p]);
      if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&node.params[p]))
        for (std::size_t e = 0; e < sizes->values.size(); ++e)
          if (!sizes->values[e].constant()) source.equations.push_back({p, e, sizes->values[e]});
    }
    compiled.source_.push_back(std::move(source));
  }
  compiled.source_outputs_ = rule.source.outputs;
  compiled.target_needs_ = needs_of(rule.target, input_count);
  compiled.precondition_ = rule.precondition;
  for (std::size_t start = 0; start < compiled.source_.size(); ++start) compiled.plans_.push_back(compiled.plan(start));
  return compiled;
}

std::vector<CompiledRule::Step> CompiledRule::plan(std::size_t start) const {
  const std::size_t input_count = input_ranks_.size();
  std::vector<Step> steps;
  std::vector<bool> matched(source_.size(), false), bound(input_count, false);
  const auto add = [&](Step step) {
    matched[step.node] = true;
    for (Port port : source_[step.node].inputs)
      if (port.node.value < input_count) bound[port.node.value] = true;
    steps.push_back(step);
  };
  const auto by_operand = [&]() -> std::optional<Step> {
    for (std::size_t user = 0; user < source_.size(); ++user) {
      if (!matched[user]) continue;
      for (std::size_t k = 0; k < source_[user].inputs.size(); ++k) {
        const Port port = source_[user].inputs[k];
        if (port.node.value >= input_count && !matched[port.node.value - input_count])
          return Step{port.node.value - input_count, From::kOperand, user, k, {}};
      }
    }
    return std::nullopt;
  };
  const auto by_user = [&]() -> std::optional<Step> {
    for (std::size_t node = 0; node < source_.size(); ++node) {
      if (matched[node]) continue;
      for (Port port : source_[node].inputs) {
        const std::uint32_t i = port.node.value;
        if (i < input_count ? bound[i] : matched[i - input_count]) return Step{node, From::kUser, 0, 0, port};
      }
    }
    return std::nullopt;
  };
  add({start, From::kScan, 0, 0, {}});
  while (steps.size() < source_.size()) {
    if (auto step = by_operand()) {
      add(*step);
    } else if (auto user = by_user()) {
      add(*user);
    } else {  // A part of its own. The last node left is an output: its operands follow.
      std::size_t last = source_.size();
      while (matched[last - 1]) --last;
      add({last - 1, From::kScan, 0, 0, {}});
    }
  }
  return steps;
}

// --- matching --------------------------------------------------------------------------------------------------

/// One search for matches; what is bound so far.
struct CompiledRule::Attempt {
  const GraphIndex& index;
  std::size_t rule;
  const std::vector<Step>& steps;
  std::vector<Match>& matches;
  std::vector<Port> inputs;        ///< By rule input; node kUnbound: none yet.
  std::vector<NodeId> nodes;       ///< By source node; kUnbound likewise.
  std::vector<bool> swapped;       ///< By source node: operands 0 and 1 exchanged.
  std::vector<std::size_t> trail;  ///< Inputs in the order in which they were bound.

  [[nodiscard]] bool is_bound(std::size_t input) const { return inputs[input].node.value != kUnbound; }
  void undo(std::size_t mark) {
    for (; trail.size() > mark; trail.pop_back()) inputs[trail.back()].node.value = kUnbound;
  }
};

bool CompiledRule::fits(const SourceNode& pattern, const Node& node) const {
  const ApplicationNode* made = node.application();
  if (!made || made->op != pattern.op || node.inputs.size() != pattern.inputs.size()) return false;
  for (std::size_t p = 0; p < pattern.params.size(); ++p) {
    const auto& expected = pattern.params[p];
    const ParamValue& actual = made->params[p];
    if (expected.index() != actual.index()) return false;
    switch (expected.index()) {
      case 0:
        if (std::get<0>(expected) != std::get<0>(actual)) return false;
        break;
      case 1:
        if (!is_same_real(std::get<1>(expected), std::get<1>(actual))) return false;
        break;
      case 2:
        if (std::get<2>(expected) != std::get<2>(actual)) return false;
        break;
      default: {
        const auto& sizes = std::get<3>(expected).values;
        const auto& numbers = std::get<3>(actual).values;
        if (sizes.size() != numbers.size()) return false;
        for (std::size_t e = 0; e < sizes.size(); ++e)
          if (const auto constant = sizes[e].constant(); constant && *constant != numbers[e]) return false;
      }
    }
  }
  return true;
}

bool CompiledRule::bind_operands(Attempt& attempt, std::size_t node, const Node& actual, bool swapped) const {
  const std::size_t input_count = input_ranks_.size();
  const SourceNode& pattern = source_[node];
  for (std::size_t k = 0; k < pattern.inputs.size(); ++k) {
    const Port expected = pattern.inputs[k];
    const Port operand = actual.inputs[swapped && k < 2 ? 1 - k : k];
    const std::size_t i = expected.node.value;
    if (i < input_count) {
      if (!attempt.is_bound(i)) {
        if (attempt.index.graph().shape(operand).rank() != input_ranks_[i]) return false;
        attempt.inputs[i] = operand;
        attempt.trail.push_back(i);
      } else if (attempt.inputs[i] != operand) {
        return false;
      }
      continue;
    }
    if (operand.output != expected.output) return false;
    const NodeId known = attempt.nodes[i - input_count];
    const ApplicationNode* made = attempt.index.graph().node(operand.node).application();
    if (known.value != kUnbound ? known != operand.node : !made || made->op != source_[i - input_count].op)
      return false;
  }
  return true;
}

void CompiledRule::try_node(Attempt& attempt, std::size_t step, NodeId candidate) const {
  const std::size_t position = attempt.steps[step].node;
  const SourceNode& pattern = source_[position];
  const Node& actual = attempt.index.graph().node(candidate);
  if (!fits(pattern, actual)) return;
  const bool symmetric =
      !pattern.commutative || pattern.inputs[0] == pattern.inputs[1] || actual.inputs[0] == actual.inputs[1];
  const std::size_t mark = attempt.trail.size();
  attempt.nodes[position] = candidate;
  for (const bool swapped : {false, true}) {
    if (swapped && symmetric) break;
    attempt.swapped[position] = swapped;
    if (bind_operands(attempt, position, actual, swapped)) extend(attempt, step + 1);
    attempt.undo(mark);
  }
  attempt.nodes[position].value = kUnbound;
}

void CompiledRule::extend(Attempt& attempt, std::size_t step) const {
  if (step == attempt.steps.size()) return finish(attempt);
  const Step& next = attempt.steps[step];
  const Graph& graph = attempt.index.graph();
  switch (next.from) {
    case From::kScan:
      for (NodeId candidate : attempt.index.applications(source_[next.node].op)) try_node(attempt, step, candidate);
      return;
    case From::kOperand: {
      const std::size_t k = attempt.swapped[next.user] && next.operand < 2 ? 1 - next.operand : next.operand;
      return try_node(attempt, step, graph.node(attempt.nodes[next.user]).inputs[k].node);
    }
    case From::kUser: {
      const std::size_t i = next.port.node.value;
      const NodeId of = i < input_ranks_.size() ? attempt.inputs[i].node : attempt.nodes[i - input_ranks_.size()];
      for (NodeId candidate : attempt.index.users(of)) try_node(attempt, step, candidate);
    }
  }
}

std::vector<Port> CompiledRule::outputs(const Match& match) const {
  std::vector<Port> ports;
  for (Port port : source_outputs_) ports.push_back({match.nodes[port.node.value - input_ranks_.size()], port.output});
  return ports;
}

/// Every use of a matched node is a use of the node that was matched: x + x is not a + b, though both operands were
/// possible for x before it was bound.
bool CompiledRule::wired_alike(const Attempt& attempt) const {
  const std::size_t input_count = input_ranks_.size();
  for (std::size_t i = 0; i < source_.size(); ++i) {
    const Node& actual = attempt.index.graph().node(attempt.nodes[i]);
    for (std::size_t k = 0; k < source_[i].inputs.size(); ++k) {
      const Port expected = source_[i].inputs[k];
      if (expected.node.value < input_count) continue;
      const Port operand = actual.inputs[attempt.swapped[i] && k < 2 ? 1 - k : k];
      if (operand != Port{attempt.nodes[expected.node.value - input_count], expected.output}) return false;
    }
  }
  return true;
}

void CompiledRule::finish(Attempt& attempt) const {
  if (!wired_alike(attempt)) return;
  const Graph& graph = attempt.index.graph();
  Match match{attempt.rule, attempt.inputs, attempt.nodes, {}};
  std::vector<Port> ports = outputs(match);
  for (std::size_t i = 1; i < ports.size(); ++i)
    if (std::find(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(i), ports[i]) !=
        ports.begin() + static_cast<std::ptrdiff_t>(i))
      return;
  for (Port input : match.inputs)
    for (std::int64_t size : graph.shape(input))
      if (size < 1) return;  // Conditions were derived for sizes of at least 1.
  if (!bind_sizes(graph, match)) return;
  if (!precondition_.empty()) {
    const DimBinding sizes = binding(graph, match);
    for (const Constraint& constraint : precondition_)
      if (!constraint.holds(sizes).value_or(false)) return;
  }
  if (ports.size() > 1 && makes_cycle(graph, match)) return;
  attempt.matches.push_back(std::move(match));
}

void CompiledRule::find(const GraphIndex& index, std::size_t rule_position, std::vector<Match>& matches) const {
  std::size_t start = 0, fewest = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < source_.size(); ++i) {
    const std::size_t count = index.applications(source_[i].op).size();
    if (count == 0) return;
    if (count <= fewest) fewest = count, start = i;
  }
  Attempt attempt{index, rule_position, plans_[start], matches, {}, {}, {}, {}};
  attempt.inputs.assign(input_ranks_.size(), Port{NodeId{kUnbound}, 0});
  attempt.nodes.assign(source_.size(), NodeId{kUnbound});
  attempt.swapped.assign(source_.size(), false);
  extend(attempt, 0);
}

// --- sizes -----------------------------------------------------------------------------------------------------

DimBinding CompiledRule::binding(const Graph& graph, const Match& match) const {
  return [this, &graph, &match](SizeVar name) -> std::optional<std::int64_t> {
    for (const SizeVariable& variable : variables_) {
      if (variable.name != name) continue;
      if (variable.axis >= 0) return graph.shape(match.inputs[variable.input])[variable.axis];
      for (const auto& [known, value] : match.sizes)
        if (known == name) return value;
    }
    return std::nullopt;
  };
}

namespace {

/// The one variable that is not bound, if the expression is linear in it: v in c + k*v = value.
std::optional<std::pair<SizeVar, std::int64_t>> solve(const SymbolicDim& size, std::int64_t value,
                                                      const DimBinding& binding) {
  std::optional<SizeVar> unknown;
  std::int64_t factor = 0;
  for (const SymbolicDim::Atom& atom : size.atoms()) {
    if (atom.kind != SymbolicDim::Atom::Kind::kVariable || binding(*atom.variable)) continue;
    if (unknown) return std::nullopt;
    unknown = atom.variable, factor = atom.coefficient;
  }
  if (!unknown) return std::nullopt;
  const auto rest = size.evaluate([&](SizeVar name) -> std::optional<std::int64_t> {
    if (name == *unknown) return 0;
    return binding(name);
  });
  if (!rest || (value - *rest) % factor != 0) return std::nullopt;
  return std::pair(*unknown, (value - *rest) / factor);
}

}  // namespace

bool CompiledRule::bind_sizes(const Graph& graph, Match& match) const {
  const DimBinding sizes = binding(graph, match);
  struct Open {
    const SymbolicDim* size;
    std::int64_t value;
  };
  std::vector<Open> open;
  for (std::size_t i = 0; i < source_.size(); ++i) {
    const Params& params = graph.node(match.nodes[i]).application()->params;
    for (const SizeEquation& equation : source_[i].equations)
      open.push_back({&equation.size, params.sizes(equation.param)[equation.element]});
  }
  // Each round binds at least one variable or is the last.
  for (bool bound = true; bound && match.sizes.size() < free_.size();) {
    bound = false;
    for (const Open& equation : open) {
      if (auto solution = solve(*equation.size, equation.value, sizes)) {
        match.sizes.push_back(std::move(*solution));
        bound = true;
      }
    }
  }
  return std::all_of(open.begin(), open.end(),
                     [&](const Open& equation) { return equation.size->evaluate(sizes) == equation.value; });
}

// --- cycles ----------------------------------------------------------------------------------------------------

bool CompiledRule::makes_cycle(const Graph& graph, const Match& match) const {
  // After the replacement output i is computed from the inputs that target_needs_ says, and everything else as before.
  // So walk back from each input to the outputs that it then depends on, and look for a circle among the outputs.
  const std::vector<Port> ports = outputs(match);
  std::uint32_t first = kUnbound;
  for (Port port : ports) first = std::min(first, port.node.value);
  if (std::all_of(match.inputs.begin(), match.inputs.end(), [&](Port port) { return port.node.value < first; }))
    return false;  // Nodes lie in topological order: no input depends on an output.

  const auto reached_from = [&](Port start) {
    std::vector<bool> outputs_reached(ports.size(), false), seen(graph.nodes().size(), false);
    std::vector<Port> open = {start};
    while (!open.empty()) {
      const Port port = open.back();
      open.pop_back();
      if (const auto at = std::find(ports.begin(), ports.end(), port); at != ports.end()) {
        outputs_reached[static_cast<std::size_t>(at - ports.begin())] = true;
        continue;
      }
      if (port.node.value < first || seen[port.node.value]) continue;
      seen[port.node.value] = true;
      for (Port operand : graph.node(port.node).inputs) open.push_back(operand);
    }
    return outputs_reached;
  };
  std::vector<std::vector<bool>> depends(ports.size(), std::vector<bool>(ports.size(), false));
  for (std::size_t i = 0; i < match.inputs.size(); ++i) {
    const std::vector<bool> reached = reached_from(match.inputs[i]);
    for (std::size_t from = 0; from < ports.size(); ++from)
      for (std::size_t to = 0; to < ports.size(); ++to)
        if (target_needs_[from][i] && reached[to]) depends[from][to] = true;
  }
  for (std::size_t via = 0; via < ports.size(); ++via)
    for (std::size_t from = 0; from < ports.size(); ++from)
      for (std::size_t to = 0; to < ports.size(); ++to)
        if (depends[from][via] && depends[via][to]) depends[from][to] = true;
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (depends[i][i]) return true;
  return false;
}

}  // namespace rewright
