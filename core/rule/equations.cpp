// Rules as equations, in the form that provers and checkers know: axioms.
#include <rewright/verify/derivation.h>

#include <algorithm>
#include <map>

#include "rule/canonical.h"
#include "rule/conditions.h"
#include "rule/usable.h"

namespace rewright {
namespace {

constexpr std::string_view kCommutes = "commutes.";

AxiomParam param_of(const BasicParamValue<SymbolicDim>& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return SymbolicDim(*number);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value)) return sizes->values;
  const auto& numbers = std::get<std::vector<std::int64_t>>(value);
  return std::vector<SymbolicDim>(numbers.begin(), numbers.end());
}

/// The equation of one output; variables are those that its sides or the conditions mention.
class EquationBuilder {
 public:
  EquationBuilder(const Rule& rule, const std::vector<Constraint>& conditions) : rule_(rule) {
    axiom_.condition = conditions;
  }

  Axiom build(std::size_t output) {
    axiom_.name = fmt::format("{}.{}", rule_.id, output);
    axiom_.source = "rule " + rule_.id;
    axiom_.left = term_of(rule_.source, rule_.source.outputs[output], made_left_);
    axiom_.right = term_of(rule_.target, rule_.target.outputs[output], made_right_);
    project_conditions();
    for (const Constraint& condition : axiom_.condition) {
      mention(condition.left);
      mention(condition.right);
    }
    AxiomRanks ranks;
    for (const AxiomVariable& variable : axiom_.variables) {
      const auto input = std::ranges::find(rule_.inputs, variable.name, &PatternInput::name);
      ranks.push_back(input == rule_.inputs.end() ? 0 : input->rank);
    }
    axiom_.ranks = {std::move(ranks)};
    return std::move(axiom_);
  }

 private:
  using Made = std::map<Port, std::uint32_t>;

  /// Is it a size that a use of this equation binds?
  [[nodiscard]] bool is_bound(SizeVar size) const {
    return std::ranges::find(axiom_.variables, size.tensor(), &AxiomVariable::name) != axiom_.variables.end();
  }
  [[nodiscard]] bool is_bound(const SymbolicDim& dim) const {
    return std::ranges::all_of(dim.variables(), [this](SizeVar size) { return is_bound(size); });
  }

  /// Inputs of other outputs may be anything that meets the conditions, so all that is asked is that there is such a
  /// thing: their sizes are solved for, and what solves them must be a size. Conditions that cannot be put so stay.
  void project_conditions() {
    const auto bound = [this](const Constraint& one) { return is_bound(one.left) && is_bound(one.right); };
    if (std::ranges::all_of(axiom_.condition, bound)) return;
    const SizeSystem system(axiom_.condition, order_of_bound_first());
    std::vector<Constraint> conditions, open;
    for (const Constraint& condition : axiom_.condition) {
      const Constraint left{condition.kind, system.normalise(condition.left), system.normalise(condition.right)};
      if (left.decided() != std::optional(true)) (bound(left) ? conditions : open).push_back(left);
    }
    for (const auto& [name, value] : system.solved()) {
      const Constraint is_size{Constraint::Kind::kAtLeast, value, system.order().least(name)};
      if (is_bound(name)) {
        const Constraint equation{Constraint::Kind::kEqual, SymbolicDim::variable(name), value};
        (bound(equation) ? conditions : open).push_back(equation);
      } else if (!SizeSystem(system.order()).implies(is_size)) {
        (bound(is_size) ? conditions : open).push_back(is_size);
      }
    }
    if (!std::ranges::all_of(open, [this](const Constraint& one) { return large_sizes_meet(one); })) return;
    axiom_.condition.clear();
    for (const Constraint& condition : conditions) {
      if (std::ranges::find(axiom_.condition, condition) == axiom_.condition.end())
        axiom_.condition.push_back(condition);
    }
  }
  [[nodiscard]] SizeOrder order_of_bound_first() const {
    std::vector<SizeVar> first, last;
    const auto sort_in = [&](SizeVar size) { (is_bound(size) ? first : last).push_back(size); };
    for (const PatternInput& input : rule_.inputs) {
      for (int axis = 0; axis < input.rank; ++axis) sort_in(SizeVar::axis(input.name, axis));
    }
    for (const SizeVar size : match_variables(rule_)) sort_in(size);
    first.insert(first.end(), last.begin(), last.end());
    return SizeOrder(first);
  }
  /// Does it hold wherever the sizes that are not bound are large enough?
  [[nodiscard]] bool large_sizes_meet(const Constraint& condition) const {
    if (condition.kind != Constraint::Kind::kAtLeast) return false;
    bool any = false;
    const SymbolicDim excess = condition.left - condition.right;
    for (const SymbolicDim::Atom& atom : excess.atoms()) {
      if (atom.kind == SymbolicDim::Atom::Kind::kVariable) {
        if (is_bound(*atom.variable)) continue;
        if (atom.coefficient < 0) return false;
        any = true;
      } else if (!is_bound(*atom.left) || (atom.right && !is_bound(*atom.right))) {
        return false;
      }
    }
    return any;
  }

  std::uint32_t term_of(const Pattern& side, Port port, Made& made) {
    if (port.node.value < rule_.inputs.size()) return input_term(port.node.value);
    if (const auto found = made.find(port); found != made.end()) return found->second;
    const PatternNode& node = side.nodes[port.node.value - rule_.inputs.size()];
    AxiomTerm term;
    term.op = node.op;
    term.output = port.output;
    for (const Port operand : node.inputs) term.operands.push_back(term_of(side, operand, made));
    for (const auto& value : node.params.values()) {
      if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value)) {
        for (const SymbolicDim& size : sizes->values) mention(size);
      }
      term.params.push_back(param_of(value));
    }
    axiom_.terms.push_back(std::move(term));
    return made[port] = static_cast<std::uint32_t>(axiom_.terms.size() - 1);
  }

  std::uint32_t input_term(std::size_t input) {
    if (const auto found = inputs_.find(input); found != inputs_.end()) return found->second;
    AxiomTerm term;
    term.variable = variable(rule_.inputs[input].name, AxiomSort::kTensor);
    axiom_.terms.push_back(std::move(term));
    return inputs_[input] = static_cast<std::uint32_t>(axiom_.terms.size() - 1);
  }

  std::size_t variable(const std::string& name, AxiomSort sort) {
    const auto found = std::ranges::find(axiom_.variables, name, &AxiomVariable::name);
    if (found != axiom_.variables.end()) return static_cast<std::size_t>(found - axiom_.variables.begin());
    axiom_.variables.push_back({name, sort});
    return axiom_.variables.size() - 1;
  }

  /// Whatever a size names: an input, or a variable of the match.
  void mention(const SymbolicDim& size) {
    for (const SizeVar one : size.variables())
      variable(one.tensor(), one.is_axis() ? AxiomSort::kTensor : AxiomSort::kInt);
  }

  const Rule& rule_;
  Axiom axiom_;
  Made made_left_, made_right_;
  std::map<std::size_t, std::uint32_t> inputs_;
};

void add_once(const std::vector<Constraint>& more, std::vector<Constraint>& conditions) {
  for (const Constraint& constraint : more) {
    if (std::ranges::find(conditions, constraint) == conditions.end()) conditions.push_back(constraint);
  }
}

Axiom operand_order(const Operator& op) {
  Axiom axiom;
  axiom.name = std::string(kCommutes) + op.name();
  axiom.source = "the operator's description";
  axiom.variables = {{"x", AxiomSort::kTensor}, {"y", AxiomSort::kTensor}};
  axiom.terms.resize(2);
  axiom.terms[0].variable = 0;
  axiom.terms[1].variable = 1;
  AxiomTerm applied;
  applied.op = &op;
  for (const ParamSpec& spec : op.info().params) {
    const std::string name = "p" + std::to_string(axiom.variables.size());
    const bool number = spec.kind == ParamKind::kInt || spec.kind == ParamKind::kChoice;
    applied.params.push_back(number ? AxiomParam(SymbolicDim::variable(SizeVar::read(name)))
                                    : AxiomParam(AxiomParamVariable{name}));
    axiom.variables.push_back({name, number                          ? AxiomSort::kInt
                                     : spec.kind == ParamKind::kReal ? AxiomSort::kReal
                                                                     : AxiomSort::kSizes});
  }
  applied.operands = {0, 1};
  axiom.terms.push_back(applied);
  applied.operands = {1, 0};
  axiom.terms.push_back(applied);
  axiom.left = 2;
  axiom.right = 3;
  for (int x = 0; x <= kMaxRank; ++x) {
    for (int y = 0; y <= kMaxRank; ++y) {
      axiom.ranks.emplace_back(axiom.variables.size(), 0);
      axiom.ranks.back()[0] = x;
      axiom.ranks.back()[1] = y;
    }
  }
  return axiom;
}

}  // namespace

Result<std::vector<Axiom>> equations_of(const Rule& given) {
  Rule rule = canonical(chain_form(given));
  rule.id = given.id;
  REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule.inputs, rule.source));
  REWRIGHT_TRY(const PatternShapes target, infer_shapes(rule.inputs, rule.target));
  std::vector<Constraint> conditions = rule.precondition;
  add_once(source.defined, conditions);
  add_once(target.defined, conditions);
  std::vector<Axiom> equations;
  for (std::size_t k = 0; k < rule.source.outputs.size(); ++k)
    equations.push_back(EquationBuilder(rule, conditions).build(k));
  return equations;
}

std::vector<Axiom> operand_order_axioms(const Registry& registry) {
  std::vector<Axiom> axioms;
  for (const Operator* op : registry.all<Operator>()) {
    const OperatorInfo& info = op->info();
    if (info.commutative && info.min_arity == 2 && info.max_arity == 2) axioms.push_back(operand_order(*op));
  }
  return axioms;
}

std::string_view rule_of_step(std::string_view axiom_name) {
  return axiom_name.starts_with(kCommutes) ? std::string_view() : axiom_name.substr(0, axiom_name.rfind('.'));
}

namespace {

/// Inputs in the order in which the source first uses them; names stay.
Rule in_reading_order(const Rule& rule) {
  const std::vector<std::size_t> order = input_order(rule.source, rule.inputs.size());
  std::vector<std::size_t> position(rule.inputs.size(), 0);
  Rule result = rule;
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    result.inputs[i] = rule.inputs[order[i]];
    if (!rule.example.empty()) result.example[i] = rule.example[order[i]];
  }
  result.source = arrange(rule.source, position, order.size());
  result.target = arrange(rule.target, position, order.size());
  return result;
}

}  // namespace

Result<Rule> converse(const Rule& rule) {
  Rule turned = rule;
  turned.certificate.clear();
  turned.trust = Trust::kNone;
  std::swap(turned.source, turned.target);
  turned.precondition.clear();
  const std::size_t count = rule.inputs.size();
  if (input_order(turned.source, count).size() < count)
    return make_error(ErrorCode::kUnsupported,
                      "rule {}: the target does not use all inputs, so no match of it would "
                      "bind them",
                      rule.id);
  turned = in_reading_order(turned);
  REWRIGHT_TRY(const PatternShapes given, infer_shapes(turned.inputs, turned.source));
  REWRIGHT_TRY(turned.precondition, missing_conditions(given.defined, rule.precondition, size_order(turned)));
  REWRIGHT_TRY(const std::vector<Constraint> open, open_conditions(turned));
  turned.precondition.insert(turned.precondition.end(), open.begin(), open.end());
  REWRIGHT_CHECK(check_usable(turned));
  turned.id = rule_id(turned);
  turned.name = readable_name(turned);
  return turned;
}

}  // namespace rewright
