// The formula of one use of an axiom.
#include <fmt/ranges.h>

#include <algorithm>

#include "smt.h"
#include "theory.h"

namespace smt_verifier {

using namespace rewright;

namespace {

/// Sizes of an axiom's tensor variables, and its size variables, as the formula names them.
NameOf names_in(const TypedAxiom& typed) {
  return [&typed](SizeVar size) -> std::string {
    const auto& variables = typed.axiom->variables;
    const auto variable = std::ranges::find(variables, size.tensor(), &AxiomVariable::name);
    if (!size.is_axis() || variable == variables.end() || variable->sort != AxiomSort::kTensor)
      return variable_name(size.text());
    const int rank = typed.ranks[static_cast<std::size_t>(variable - variables.begin())];
    return size_of(rank, size.axis_text(), variable_name(variable->name));
  };
}

/// Variables are named in the order in which they come, so that a formula and its mirror image have one text.
std::string with_numbered_variables(std::string_view rule) {
  std::string text;
  std::vector<std::string_view> names;
  while (!rule.empty()) {
    const std::size_t length = rule[0] == '?' ? rule.find_first_of(" )") : std::min(rule.find('?'), rule.size());
    const std::string_view part = rule.substr(0, length);
    if (part[0] == '?') {
      const auto known = std::ranges::find(names, part);
      text += fmt::format("?{}", known - names.begin());
      if (known == names.end()) names.push_back(part);
    } else {
      text += part;
    }
    rule.remove_prefix(length);
  }
  return text;
}

}  // namespace

/// What one side's terms come to.
struct Theory::Side {
  std::vector<std::string> guards;        ///< Sizes in the pattern that are expressions.
  std::set<std::string> variables;        ///< "(?x T2)", bound by the pattern.
  std::vector<std::string> applications;  ///< def-r of each, operands first.
  SymbolSet symbols;
  int fresh = 0;
};

std::optional<std::string> Theory::side_text(const TypedAxiom& axiom, std::uint32_t index, Side& side, bool pattern) {
  const TypedTerm& term = axiom.terms[index];
  if (term.variable) {
    const std::string name = variable_name(axiom.axiom->variables[*term.variable].name);
    if (pattern) side.variables.insert(fmt::format("({} {})", name, sort_name(axiom.ranks[*term.variable])));
    return name;
  }
  const NameOf name_of = names_in(axiom);
  std::vector<std::string> arguments;
  for (const SymbolicDim& size : size_arguments(term.params)) {
    std::string text = smt_size(size, name_of, manner_.sizes);
    if (pattern) {
      if (!text.starts_with('?')) {
        const std::string name = fmt::format("?size-{}", side.fresh++);
        side.guards.push_back(fmt::format("(= {} {})", name, text));
        text = name;
      }
      side.variables.insert(fmt::format("({} {})", text, size_sort(manner_.sizes)));
    }
    arguments.push_back(std::move(text));
  }
  std::vector<int> ranks;
  for (const std::uint32_t operand : term.operands) {
    auto text = side_text(axiom, operand, side, pattern);
    if (!text) return std::nullopt;
    arguments.push_back(*std::move(text));
    ranks.push_back(axiom.terms[operand].shape.rank());
  }
  const Symbol* function = make_symbol(*term.op, term.output, term.params, ranks);
  if (!function) return std::nullopt;
  side.symbols.insert(function);
  std::string text = smt_apply(function->name, arguments);
  side.applications.push_back(defined(term.shape.rank(), text));
  return text;
}

Use Theory::render(const TypedAxiom& axiom, bool left_to_right) {
  const auto& residual = left_to_right ? axiom.left_to_right : axiom.right_to_left;
  if (!residual) return {};
  Side from_side, to_side;
  const auto from = side_text(axiom, left_to_right ? axiom.left : axiom.right, from_side, true);
  const auto to = side_text(axiom, left_to_right ? axiom.right : axiom.left, to_side, false);
  if (!from || !to) return {};
  const NameOf name_of = names_in(axiom);
  const int rank = axiom.terms[axiom.left].shape.rank();
  std::vector<std::string> guards = {defined(rank, *from)};
  guards.insert(guards.end(), from_side.guards.begin(), from_side.guards.end());
  for (const Constraint& constraint : *residual) guards.push_back(smt_condition(constraint, name_of, manner_.sizes));
  // `to` is defined since it is equal to `from`, and what stands in both is since `from` is.
  std::vector<std::string> conclusions = {fmt::format("(= {} {})", *from, *to)};
  for (const std::string& application : to_side.applications) {
    if (application != defined(rank, *to) &&
        std::ranges::find(from_side.applications, application) == from_side.applications.end())
      conclusions.push_back(application);
  }
  const std::string rule = fmt::format("(=> {} {})", smt_and(guards), smt_and(conclusions));
  // A variable that only an expression mentions is not bound by the pattern: the use is left out.
  for (std::size_t at = rule.find('?'); at != std::string::npos; at = rule.find('?', at + 1)) {
    const std::string name = rule.substr(at, rule.find_first_of(" )", at) - at);
    if (std::ranges::none_of(from_side.variables,
                             [&](const std::string& v) { return v.starts_with("(" + name + " "); }))
      return {};
  }
  Use use;
  use.text = fmt::format("; {}\n", axiom.axiom->name);
  if (from_side.variables.empty())
    use.text += fmt::format("(assert {})\n", rule);
  else if (manner_.patterns)
    use.text += fmt::format("(assert (forall ({}) (! {} :pattern ({}))))\n", fmt::join(from_side.variables, ""), rule,
                            from->starts_with('?') ? defined(rank, *from) : *from);
  else
    use.text += fmt::format("(assert (forall ({}) {}))\n", fmt::join(from_side.variables, ""), rule);
  use.symbols = from_side.symbols;
  use.symbols.insert(to_side.symbols.begin(), to_side.symbols.end());
  use.brought = std::move(to_side.symbols);
  use.instance = &axiom;
  use.rule = with_numbered_variables(rule);
  return use;
}

}  // namespace smt_verifier
