#include "discover/equation.h"

#include <rewright/verify/certificate.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "rule/canonical.h"
#include "rule/example.h"
#include "tensor/real.h"

namespace rewright {
namespace {

std::vector<bool> reachable(const Axiom& axiom) {
  std::vector<bool> reached(axiom.terms.size(), false);
  reached[axiom.left] = reached[axiom.right] = true;
  for (std::size_t i = axiom.terms.size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (const std::uint32_t operand : axiom.terms[i].operands) reached[operand] = true;
  }
  return reached;
}

/// Builds one side's pattern out of a typed axiom's terms.
class SideBuilder {
 public:
  SideBuilder(const TypedAxiom& axiom, const std::map<std::size_t, std::uint32_t>& inputs, const SizeReplacement& names)
      : axiom_(axiom), inputs_(inputs), names_(names) {}

  Pattern build(std::uint32_t root) {
    const Port port = this->port(root);
    pattern_.outputs.push_back(port);
    return std::move(pattern_);
  }

 private:
  Port port(std::uint32_t index) {
    const TypedTerm& term = axiom_.terms[index];
    if (term.variable) return {NodeId{inputs_.at(*term.variable)}, 0};
    if (const auto known = ports_.find(index); known != ports_.end()) return known->second;
    PatternNode node;
    node.op = term.op;
    node.params = substitute(term.params, names_);
    for (const std::uint32_t operand : term.operands) node.inputs.push_back(port(operand));
    pattern_.nodes.push_back(std::move(node));
    const auto at = static_cast<std::uint32_t>(inputs_.size() + pattern_.nodes.size() - 1);
    return ports_.emplace(index, Port{NodeId{at}, term.output}).first->second;
  }

  const TypedAxiom& axiom_;
  const std::map<std::size_t, std::uint32_t>& inputs_;
  const SizeReplacement& names_;
  std::map<std::uint32_t, Port> ports_;
  Pattern pattern_;
};

/// A variable's value in a certificate; "" where it occurs nowhere.
std::string value_text(const TypedAxiom& axiom, const AxiomVariable& variable, const SizeReplacement& names) {
  if (variable.sort == AxiomSort::kTensor) return variable.name;
  const auto size_text = [&](const std::string& name) {
    const auto size = names(SizeVar::read(name));
    return size ? to_string(*size) : name;
  };
  const auto fixed = axiom.fixed.find(variable.name);
  if (fixed == axiom.fixed.end()) return variable.sort == AxiomSort::kInt ? size_text(variable.name) : "";
  if (const auto* number = std::get_if<std::int64_t>(&fixed->second)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&fixed->second)) return real_text(*real);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&fixed->second))
    return fmt::format("[{}]", fmt::join(*list, ", "));
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < std::get<SizeList<std::int64_t>>(fixed->second).values.size(); ++i)
    sizes.push_back(size_text(fmt::format("{}.{}", variable.name, i)));
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

/// One step at the root.
std::string certificate_of(const TypedAxiom& axiom, const SizeReplacement& names, bool left_to_right) {
  std::vector<std::string> values;
  for (const AxiomVariable& variable : axiom.axiom->variables) {
    const std::string text = value_text(axiom, variable, names);
    if (!text.empty()) values.push_back(fmt::format("{}={}", variable.name, text));
  }
  return fmt::format("certificate 1\noutput 0\n. {} {}@{} {}\n", left_to_right ? ">" : "<", axiom.axiom->name,
                     statement_digest(*axiom.axiom), fmt::join(values, "; "));
}

AxiomParam param_of(const BasicParamValue<SymbolicDim>& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return SymbolicDim(*number);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return std::vector<SymbolicDim>(list->begin(), list->end());
  return std::get<SizeList<SymbolicDim>>(value).values;
}

}  // namespace

Result<Rule> completed(Rule rule) {
  REWRIGHT_TRY(auto open, open_conditions(rule));
  rule.precondition.insert(rule.precondition.end(), std::make_move_iterator(open.begin()),
                           std::make_move_iterator(open.end()));
  find_example(rule);
  return rule;
}

Result<Rule> rule_of(const TypedAxiom& axiom, bool left_to_right) {
  Rule rule;
  rule.name = axiom.axiom->name;
  std::map<std::size_t, std::uint32_t> inputs;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < axiom.axiom->variables.size(); ++i) {
    const AxiomVariable& variable = axiom.axiom->variables[i];
    if (variable.sort != AxiomSort::kTensor) continue;
    inputs[i] = static_cast<std::uint32_t>(rule.inputs.size());
    rule.inputs.push_back({variable.name, axiom.ranks[i]});
    taken.insert(variable.name);
  }
  std::map<SizeVar, std::string> fresh;
  const SizeReplacement names = [&](SizeVar size) -> std::optional<SymbolicDim> {
    if (taken.contains(size.tensor())) return std::nullopt;
    const auto place = fresh.try_emplace(size).first;
    if (place->second.empty()) {
      place->second = fmt::format("size{}", fresh.size());
      while (taken.contains(place->second)) place->second += '_';
    }
    return SymbolicDim::variable(SizeVar::read(place->second));
  };
  rule.source = SideBuilder(axiom, inputs, names).build(left_to_right ? axiom.left : axiom.right);
  rule.target = SideBuilder(axiom, inputs, names).build(left_to_right ? axiom.right : axiom.left);
  for (const Constraint& condition : axiom.condition) rule.precondition.push_back(substitute(condition, names));
  rule.certificate = certificate_of(axiom, names, left_to_right);
  return completed(std::move(rule));
}

Result<Axiom> axiom_of(const Rule& rule, std::size_t output) {
  Axiom axiom;
  axiom.name = rule.name;
  axiom.file = "suggested";
  axiom.ranks.emplace_back();
  for (const PatternInput& input : rule.inputs) {
    axiom.variables.push_back({input.name, AxiomSort::kTensor});
    axiom.ranks[0].push_back(input.rank);
    AxiomTerm term;
    term.variable = axiom.variables.size() - 1;
    axiom.terms.push_back(std::move(term));
  }
  std::set<SizeVar> sizes;
  std::map<std::string, std::uint32_t> known;  // Equal applications are one term.
  const auto side = [&](const Pattern& pattern) {
    std::vector<std::vector<std::uint32_t>> terms_of;  // By node: its operands' terms.
    std::function<std::uint32_t(Port)> term_at = [&](Port port) -> std::uint32_t {
      if (port.node.value < rule.inputs.size()) return port.node.value;
      const PatternNode& node = pattern.nodes[port.node.value - rule.inputs.size()];
      AxiomTerm term;
      term.op = node.op;
      term.output = port.output;
      for (const auto& value : node.params.values()) {
        term.params.push_back(param_of(value));
        if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value)) {
          for (const SymbolicDim& dim : list->values) {
            for (const SizeVar size : dim.variables()) sizes.insert(size);
          }
        }
      }
      for (const Port operand : node.inputs) term.operands.push_back(term_at(operand));
      const std::string key =
          fmt::format("{}{}.{}({})", node.op->name(), to_string(node.op->info().params, node.params), port.output,
                      fmt::join(term.operands, ","));
      const auto [place, is_new] = known.emplace(key, static_cast<std::uint32_t>(axiom.terms.size()));
      if (is_new) axiom.terms.push_back(std::move(term));
      return place->second;
    };
    return term_at(pattern.outputs.at(output));
  };
  axiom.left = side(rule.source);
  axiom.right = side(rule.target);
  if (axiom.left == axiom.right)
    return make_error(ErrorCode::kUnsupported, "output {} of rule {} is the same on both sides", output, rule.name);
  axiom.condition = rule.precondition;
  for (const SizeVar size : sizes) {
    if (size.is_axis()) continue;
    axiom.variables.push_back({size.text(), AxiomSort::kInt});
    axiom.ranks[0].push_back(0);
  }
  return tidied(axiom);
}

Axiom tidied(const Axiom& axiom) {
  const auto reached = reachable(axiom);
  Axiom result = axiom;
  result.terms.clear();
  result.variables.clear();
  result.ranks.assign(axiom.ranks.size(), {});
  result.condition.clear();
  // Which variables are named: tensors by terms, the others by parameters.
  std::set<std::string> named;
  const auto note = [&](const SymbolicDim& dim) {
    for (const SizeVar size : dim.variables()) {
      named.insert(size.tensor());
      if (size.is_axis()) named.insert(std::string(size.axis_text()));
    }
  };
  std::set<std::string> tensors;
  for (std::size_t i = 0; i < axiom.terms.size(); ++i) {
    if (!reached[i]) continue;
    if (axiom.terms[i].variable) tensors.insert(axiom.variables[*axiom.terms[i].variable].name);
    for (const AxiomParam& param : axiom.terms[i].params) {
      if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) named.insert(variable->name);
      if (const auto* one = std::get_if<SymbolicDim>(&param)) note(*one);
      if (const auto* list = std::get_if<std::vector<SymbolicDim>>(&param)) std::ranges::for_each(*list, note);
    }
  }
  std::vector<std::size_t> position(axiom.variables.size(), 0);
  for (std::size_t i = 0; i < axiom.variables.size(); ++i) {
    const AxiomVariable& variable = axiom.variables[i];
    const bool kept =
        variable.sort == AxiomSort::kTensor ? tensors.contains(variable.name) : named.contains(variable.name);
    if (!kept) continue;
    position[i] = result.variables.size();
    result.variables.push_back(variable);
    for (std::size_t k = 0; k < axiom.ranks.size(); ++k) result.ranks[k].push_back(axiom.ranks[k][i]);
  }
  for (const Constraint& condition : axiom.condition) {
    bool speaks = true;
    for (const SymbolicDim* dim : {&condition.left, &condition.right}) {
      for (const SizeVar size : dim->variables())
        speaks &= std::ranges::find(result.variables, size.tensor(), &AxiomVariable::name) != result.variables.end();
    }
    if (speaks) result.condition.push_back(condition);
  }
  std::vector<std::uint32_t> moved(axiom.terms.size(), 0);
  for (std::size_t i = 0; i < axiom.terms.size(); ++i) {
    if (!reached[i]) continue;
    AxiomTerm term = axiom.terms[i];
    if (term.variable) term.variable = position[*term.variable];
    for (std::uint32_t& operand : term.operands) operand = moved[operand];
    moved[i] = static_cast<std::uint32_t>(result.terms.size());
    result.terms.push_back(std::move(term));
  }
  result.left = moved[axiom.left];
  result.right = moved[axiom.right];
  return result;
}

std::size_t applications_in(const Axiom& axiom) {
  std::function<std::size_t(std::uint32_t)> count = [&](std::uint32_t term) -> std::size_t {
    if (axiom.terms[term].variable) return 0;
    std::size_t total = 1;
    for (const std::uint32_t operand : axiom.terms[term].operands) total += count(operand);
    return total;
  };
  return count(axiom.left) + count(axiom.right);
}

}  // namespace rewright
