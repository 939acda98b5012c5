// From two graphs of numbers to a rule over all sizes.
//
// Every input size becomes a variable and every entry of a size list another. The shape rules of both sides and the
// equality of their outputs give equations between them; solved, they say what the entries of the size lists must be.
// An entry of the source that they leave open stays a variable, which a match binds.
//
// Example  split[axis=0, sizes=[2, 3]](concat[axis=0](x, y)) = x, y at x (2, 4), y (3, 4): the outputs give s0 = x.0
// and
//          s1 = y.0; the rule is split[axis=0, sizes=[x.0, y.0]](concat[axis=0](x, y)) => x, y, whose source is defined
//          where x.1 = y.1 and whose target asks for nothing more.
#include <rewright/operator/map_sizes.h>
#include <rewright/rule/rule.h>

#include <algorithm>
#include <set>

#include "rule/canonical.h"
#include "rule/conditions.h"
#include "rule/identifier.h"

namespace rewright {

namespace {

struct SizeVariable {
  SizeVar name;
  std::int64_t example = 0;
  const Operator* op = nullptr;
};

// A graph as a pattern over inputs in the same order, with variables for all entries of size lists.
struct Lifted {
  Pattern pattern;
  std::vector<SizeVariable> variables;
};

SymbolicParams lift(const Operator& op, const Params& params, std::string_view prefix,
                    std::vector<SizeVariable>& variables) {
  return map_sizes(params, [&](std::int64_t size) {
    variables.push_back({SizeVar::read(fmt::format("{}{}", prefix, variables.size())), size, &op});
    return SymbolicDim::variable(variables.back().name);
  });
}

Result<Lifted> lift(const Graph& graph, std::string_view prefix) {
  Lifted lifted;
  std::vector<std::uint32_t> number(graph.nodes().size());
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    number[graph.inputs()[i].value] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.is_input()) {
      if (node.constant())
        return make_error(ErrorCode::kUnsupported,
                          "input {} has a fixed value, and a rule holds for all values; make it"
                          " an input without one, or an operator for constants",
                          node.name);
      continue;
    }
    if (const OpaqueNode* opaque = node.opaque())
      return make_error(ErrorCode::kUnsupported, "node {} ({}) is carried as it is: no operator says what it means",
                        node.name, opaque->type);
    const auto& [op, params] = *node.application();
    PatternNode made{op, lift(*op, params, prefix, lifted.variables), {}};
    for (const Port port : node.inputs) made.inputs.push_back({NodeId{number[port.node.value]}, port.output});
    number[i] = static_cast<std::uint32_t>(graph.inputs().size() + lifted.pattern.nodes.size());
    lifted.pattern.nodes.push_back(std::move(made));
  }
  for (const Port port : graph.outputs())
    lifted.pattern.outputs.push_back({NodeId{number[port.node.value]}, port.output});
  return lifted;
}

Status check_same_signature(const Graph& source, const Graph& target) {
  if (source.inputs().size() != target.inputs().size())
    return make_error(ErrorCode::kMismatch, "the source has {} inputs and the target has {}; a rule needs one list",
                      source.inputs().size(), target.inputs().size());
  for (std::size_t i = 0; i < source.inputs().size(); ++i) {
    const Port port{source.inputs()[i], 0}, other{target.inputs()[i], 0};
    if (source.shape(port) != target.shape(other))
      return make_error(ErrorCode::kMismatch, "input {} ({}) has shape {} in the source and {} in the target", i,
                        source.node(port.node).name, source.shape(port), target.shape(other));
  }
  if (source.outputs().size() != target.outputs().size())
    return make_error(ErrorCode::kMismatch,
                      "the source has {} outputs and the target has {}; a rule needs equally many",
                      source.outputs().size(), target.outputs().size());
  for (std::size_t i = 0; i < source.outputs().size(); ++i) {
    if (source.shape(source.outputs()[i]) != target.shape(target.outputs()[i]))
      return make_error(ErrorCode::kMismatch, "output {} has shape {} in the source and {} in the target", i,
                        source.shape(source.outputs()[i]), target.shape(target.outputs()[i]));
  }
  return {};
}

// Inputs that the source uses, in the order of first use; the others are dropped from both sides.
Status keep_used_inputs(Rule& rule, const Graph& source) {
  const std::size_t count = source.inputs().size();
  const std::vector<std::size_t> used = input_order(rule.source, count);
  std::vector<std::size_t> position(count, 0);
  for (std::size_t i = 0; i < used.size(); ++i) position[used[i]] = i;
  for (const std::size_t input : input_order(rule.target, count)) {
    if (std::find(used.begin(), used.end(), input) == used.end())
      return make_error(ErrorCode::kUnsupported,
                        "the target uses input {}, which the source does not use: no match could"
                        " bind it",
                        source.node(source.inputs()[input]).name);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Shape& shape = source.shape({source.inputs()[used[i]], 0});
    rule.inputs.push_back({fmt::format("x{}", i), shape.rank()});
    rule.example.push_back(shape);
  }
  rule.source = arrange(rule.source, position, used.size());
  rule.target = arrange(rule.target, position, used.size());
  return {};
}

// The solution of one size variable, or an error that names it.
class Solution {
 public:
  static Result<Solution> of(const Rule& rule, std::span<const SizeVariable> source,
                             std::span<const SizeVariable> target, FreeSizes free) {
    std::vector<SizeVar> names;
    for (const auto variables : {source, target}) {
      for (const SizeVariable& variable : variables) names.push_back(variable.name);
    }
    Solution solution{SizeSystem(size_order(rule.inputs, names))};
    REWRIGHT_CHECK(solution.add_equations(rule));
    if (free == FreeSizes::kNumber) solution.fix(source, target);
    for (const SizeVariable& variable : source) solution.solve_source(variable);
    for (const SizeVariable& variable : target) REWRIGHT_CHECK(solution.solve_target(variable, target));
    return solution;
  }

  [[nodiscard]] SizeReplacement replacement() const {
    return [this](SizeVar name) -> std::optional<SymbolicDim> {
      const auto found = values_.find(name);
      if (found == values_.end()) return std::nullopt;
      return found->second;
    };
  }

 private:
  explicit Solution(SizeSystem facts) : facts_(std::move(facts)) {}

  Status add_equations(const Rule& rule) {
    REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule.inputs, rule.source));
    REWRIGHT_TRY(const PatternShapes target, infer_shapes(rule.inputs, rule.target));
    for (const auto* shapes : {&source, &target}) {
      for (const Constraint& constraint : shapes->defined) {
        if (constraint.kind == Constraint::Kind::kEqual) facts_.add(constraint);
      }
    }
    for (std::size_t i = 0; i < rule.source.outputs.size(); ++i) {
      const Port s = rule.source.outputs[i], t = rule.target.outputs[i];
      const SymbolicShape& left = source.of_node[s.node.value][s.output];
      const SymbolicShape& right = target.of_node[t.node.value][t.output];
      for (int axis = 0; axis < std::min(left.rank(), right.rank()); ++axis)
        facts_.add({Constraint::Kind::kEqual, left[axis], right[axis]});
    }
    return {};
  }

  // Gives each variable that does not follow from the inputs' sizes its number, in order.
  void fix(std::span<const SizeVariable> source, std::span<const SizeVariable> target) {
    for (const auto variables : {source, target}) {
      for (const SizeVariable& variable : variables) {
        const SymbolicDim symbol = SymbolicDim::variable(variable.name);
        const auto names = facts_.normalise(symbol).variables();
        if (!std::all_of(names.begin(), names.end(), is_input_size))
          facts_.add({Constraint::Kind::kEqual, symbol, variable.example});
      }
    }
  }

  // Put in for where it is a size of the inputs, or the same as an earlier variable; else a match binds it.
  void solve_source(const SizeVariable& variable) {
    const SymbolicDim value = facts_.normalise(SymbolicDim::variable(variable.name));
    const auto names = value.variables();
    const bool of_inputs = std::all_of(names.begin(), names.end(), is_input_size);
    const bool solved = value.variable() != std::optional(variable.name);
    if (solved && (of_inputs || value.variable()))
      values_.emplace(variable.name, value);
    else
      bound_by_match_.push_back(variable.name);
  }

  Status solve_target(const SizeVariable& variable, std::span<const SizeVariable> target) {
    SymbolicDim value = facts_.normalise(SymbolicDim::variable(variable.name));
    for (const SizeVar name : value.variables()) {
      const bool open =
          std::any_of(target.begin(), target.end(), [&](const auto& other) { return other.name == name; });
      if (open)
        return make_error(ErrorCode::kUnsupported,
                          "the target's {} has a size ({} here) that follows neither from the"
                          " inputs' sizes nor from the source",
                          variable.op->name(), variable.example);
    }
    for (const SizeVar name : bound_by_match_) {
      if (facts_.normalise(SymbolicDim::variable(name)) == value) value = SymbolicDim::variable(name);
    }
    values_.emplace(variable.name, std::move(value));
    return {};
  }

  static bool is_input_size(SizeVar size) { return size.is_axis(); }

  SizeSystem facts_;
  std::map<SizeVar, SymbolicDim> values_;
  std::vector<SizeVar> bound_by_match_;
};

void put_in(Pattern& pattern, const SizeReplacement& replace) {
  for (PatternNode& node : pattern.nodes) node.params = substitute(node.params, replace);
}

// The names that the graph's inputs have, made fit for the text form.
std::vector<std::string> readable_names(const Rule& rule, const Pattern& lifted_source, const Graph& source) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const std::size_t input : input_order(lifted_source, source.inputs().size())) {
    const std::string wish = identifier(source.node(source.inputs()[input]).name);
    std::string name = wish;
    for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", wish, n);
    names.push_back(name);
  }
  names.resize(rule.inputs.size());
  return names;
}

bool one_output_each(const Graph& graph) {
  return std::all_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const Node& node) { return node.outputs.size() == 1; });
}

Status check_example(const Rule& rule) {
  const DimBinding sizes = bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes));
  for (const Constraint& constraint : rule.precondition) {
    if (constraint.holds(sizes) != std::optional(true))
      return make_error(ErrorCode::kInternal,
                        "rule {}: the condition {} does not hold at the shapes that the rule was"
                        " made from; a shape rule differs between numbers and symbols",
                        rule.name, to_string(constraint));
  }
  for (const Pattern* side : {&rule.source, &rule.target}) {
    const auto graph = instantiate(rule.inputs, *side, rule.example, bind_sizes(rule.example_sizes));
    if (!graph)
      return make_error(ErrorCode::kInternal,
                        "rule {}: one side cannot be built at the shapes that the rule was made"
                        " from: {}",
                        rule.name, graph.error().message);
  }
  return {};
}

}  // namespace

Result<Rule> generalise(const Graph& source, const Graph& target, FreeSizes free) {
  REWRIGHT_CHECK(check_same_signature(source, target));
  REWRIGHT_TRY(const Lifted left, lift(source, "s"));
  REWRIGHT_TRY(const Lifted right, lift(target, "t"));

  Rule rule;
  rule.source = left.pattern;
  rule.target = right.pattern;
  REWRIGHT_CHECK(keep_used_inputs(rule, source));
  {
    REWRIGHT_TRY(const Solution solution, Solution::of(rule, left.variables, right.variables, free));
    put_in(rule.source, solution.replacement());
    put_in(rule.target, solution.replacement());
  }
  for (const SizeVar name : match_variables(rule)) {
    const auto variable =
        std::find_if(left.variables.begin(), left.variables.end(), [&](const auto& v) { return v.name == name; });
    if (variable != left.variables.end()) rule.example_sizes.emplace_back(name, variable->example);
  }
  REWRIGHT_TRY(rule.precondition, open_conditions(rule));

  rule = canonical(rule);
  rule.id = id_of_canonical(rule, one_output_each(source) && one_output_each(target));
  rule.name = rule_name(rule);
  REWRIGHT_CHECK(check_example(rule));
  return rename(rule, readable_names(rule, left.pattern, source));
}

}  // namespace rewright
