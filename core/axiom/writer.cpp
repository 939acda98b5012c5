#include "axiom/writer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tensor/real.h"

namespace rewright {
namespace {

const char* sort_name(AxiomSort sort) {
  switch (sort) {
    case AxiomSort::kTensor: return "Tensor";
    case AxiomSort::kInt: return "Int";
    case AxiomSort::kSizes: return "Sizes";
    case AxiomSort::kReal: break;
  }
  return "Real";
}

std::string number_text(std::int64_t number) {
  return number < 0 ? fmt::format("(- {})", 0 - static_cast<std::uint64_t>(number)) : fmt::format("{}", number);
}

/// (f a b), or f without arguments.
std::string applied(const std::string& function, const std::vector<std::string>& arguments) {
  return arguments.empty() ? function : fmt::format("({} {})", function, fmt::join(arguments, " "));
}

/// What one axiom or file names, with its declaration.
class Writer {
 public:
  Result<std::string> assertion(const Axiom& axiom) {
    axiom_ = &axiom;
    REWRIGHT_TRY(const std::string left, term(axiom.left));
    REWRIGHT_TRY(const std::string right, term(axiom.right));
    std::vector<std::string> variables;
    for (const AxiomVariable& variable : axiom.variables)
      variables.push_back(fmt::format("({} {})", variable.name, sort_name(variable.sort)));
    std::string text = "(assert (! ";
    const bool closed = variables.empty();
    if (!closed) text += fmt::format("(forall ({})\n    ", fmt::join(variables, " "));
    const bool wide = left.size() + right.size() > 106;
    text += fmt::format("(= {}{}{}){}", left, wide ? "\n         " : " ", right, closed ? "" : ")");
    text += fmt::format("\n  :named {}", axiom.name);
    if (std::ranges::any_of(axiom.variables, [](const auto& v) { return v.sort == AxiomSort::kTensor; }))
      text += fmt::format("\n  :ranks \"{}\"", ranks_text(axiom));
    std::vector<std::string> conditions;
    for (const Constraint& condition : axiom.condition) conditions.push_back(to_string(condition));
    if (!conditions.empty()) text += fmt::format("\n  :condition \"{}\"", fmt::join(conditions, "; "));
    if (!axiom.needs.empty()) text += fmt::format("\n  :needs \"{}\"", axiom.needs);
    if (!axiom.domain.empty()) text += fmt::format("\n  :domain \"{}\"", axiom.domain);
    return text + fmt::format("\n  :source \"{}\"))\n", axiom.source);
  }

  [[nodiscard]] std::string head() const {
    std::string text = "(set-logic UFNIRA)\n(declare-sort Tensor 0)\n(declare-sort Sizes 0)\n";
    for (const auto& [function, signature] : functions_)
      text += fmt::format("(declare-fun {} {})\n", function, signature);
    for (const auto& [choice, number] : choices_) text += fmt::format("(define-fun {} () Int {})\n", choice, number);
    return text;
  }

 private:
  /// "x y 2..4, s 0": variables of one rank together; alternatives that differ by one in the same variables as a range.
  static std::string ranks_text(const Axiom& axiom) {
    std::vector<std::string> alternatives;
    for (std::size_t first = 0; first < axiom.ranks.size();) {
      std::size_t last = first;
      while (last + 1 < axiom.ranks.size() && follows(axiom, first, last + 1)) ++last;
      alternatives.push_back(alternative_text(axiom, axiom.ranks[first], axiom.ranks[last]));
      first = last + 1;
    }
    return fmt::format("{}", fmt::join(alternatives, "; "));
  }
  /// Are the ranks at `later` those at `first`, except where all that differ are as far on as the position is?
  static bool follows(const Axiom& axiom, std::size_t first, std::size_t later) {
    const AxiomRanks &from = axiom.ranks[first], &to = axiom.ranks[later];
    int moved = -1;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == to[i]) continue;
      if (to[i] - from[i] != static_cast<int>(later - first) || (moved >= 0 && moved != from[i])) return false;
      moved = from[i];
    }
    // What stays must not have the rank of what moves, or it would be in its group.
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (axiom.variables[i].sort == AxiomSort::kTensor && from[i] == to[i] && from[i] == moved) return false;
    }
    return moved >= 0;
  }
  static std::string alternative_text(const Axiom& axiom, const AxiomRanks& low, const AxiomRanks& high) {
    std::map<std::pair<int, int>, std::string> groups;
    std::vector<std::pair<int, int>> order;
    for (std::size_t i = 0; i < low.size(); ++i) {
      if (axiom.variables[i].sort != AxiomSort::kTensor) continue;
      const std::pair range(low[i], high[i]);
      if (!groups.contains(range)) order.push_back(range);
      groups[range] += axiom.variables[i].name + " ";
    }
    std::vector<std::string> texts;
    for (const auto& range : order)
      texts.push_back(groups[range] + (range == std::pair(0, kMaxRank) ? "all"
                                       : range.first == range.second
                                           ? fmt::format("{}", range.first)
                                           : fmt::format("{}..{}", range.first, range.second)));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  Result<std::string> term(std::uint32_t index) {
    const AxiomTerm& term = axiom_->terms[index];
    if (term.variable) return axiom_->variables[*term.variable].name;
    std::vector<std::string> arguments;
    std::string sorts;
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const ParamSpec& spec = term.op->info().params[i];
      REWRIGHT_TRY(std::string text, param(spec, term.params[i]));
      arguments.push_back(std::move(text));
      const bool list = spec.kind == ParamKind::kInts || spec.kind == ParamKind::kSizes;
      sorts += list ? "Sizes " : spec.kind == ParamKind::kReal ? "Real " : "Int ";
    }
    for (const std::uint32_t operand : term.operands) {
      REWRIGHT_TRY(std::string text, this->term(operand));
      arguments.push_back(std::move(text));
      sorts += "Tensor ";
    }
    if (!sorts.empty()) sorts.pop_back();
    const std::string function = function_of(term);
    functions_[function] = fmt::format("({}) Tensor", sorts);
    return applied(function, arguments);
  }

  /// NAME, NAME.OUTPUT or NAME/OPERANDS. `abs` is a function of SMT-LIB's own.
  static std::string function_of(const AxiomTerm& term) {
    const OperatorInfo& info = term.op->info();
    const bool usual = info.max_arity < 0 ? term.operands.size() == 2 : info.min_arity == info.max_arity;
    if (!usual || info.name == "abs") return fmt::format("{}/{}", info.name, term.operands.size());
    // Whether there are further outputs is not written in the operator: the first is named only where it must be.
    return term.output > 0 || info.name == "split" ? fmt::format("{}.{}", info.name, term.output) : info.name;
  }

  Result<std::string> param(const ParamSpec& spec, const AxiomParam& param) {
    if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) return variable->name;
    if (const auto* real = std::get_if<double>(&param)) {
      if (!std::isfinite(*real))
        return make_error(ErrorCode::kUnsupported, "axiom {}: the parameter {} is {}, which axioms cannot state",
                          axiom_->name, spec.name, *real);
      return smt_real(*real);
    }
    if (const auto* one = std::get_if<SymbolicDim>(&param)) {
      const auto number = one->constant();
      if (spec.kind != ParamKind::kChoice || !number) return size(*one);
      const std::string choice = fmt::format("{}.{}", spec.name, spec.choices[static_cast<std::size_t>(*number)]);
      choices_[choice] = *number;
      return choice;
    }
    const auto& list = std::get<std::vector<SymbolicDim>>(param);
    std::vector<std::string> elements;
    std::string sorts;
    for (const SymbolicDim& dim : list) {
      REWRIGHT_TRY(std::string text, size(dim));
      elements.push_back(std::move(text));
      sorts += sorts.empty() ? "Int" : " Int";
    }
    const std::string function = fmt::format("sizes{}", list.size());
    functions_[function] = fmt::format("({}) Sizes", sorts);
    return applied(function, elements);
  }

  Result<std::string> size(const SymbolicDim& dim) {
    std::vector<std::string> parts;
    for (const SymbolicDim::Atom& atom : dim.atoms()) {
      std::string text;
      if (atom.kind == SymbolicDim::Atom::Kind::kVariable) {
        text = size_variable(*atom.variable);
      } else if (atom.kind == SymbolicDim::Atom::Kind::kProduct) {
        REWRIGHT_TRY(const std::string left, size(*atom.left));
        REWRIGHT_TRY(const std::string right, size(*atom.right));
        text = fmt::format("(* {} {})", left, right);
      } else {
        return make_error(ErrorCode::kUnsupported, "axiom {}: the size {} is a quotient, which axioms cannot state",
                          axiom_->name, to_string(dim));
      }
      parts.push_back(atom.coefficient == 1 ? text : fmt::format("(* {} {})", number_text(atom.coefficient), text));
    }
    if (parts.empty() || dim.constant_term() != 0) parts.push_back(number_text(dim.constant_term()));
    return parts.size() == 1 ? parts[0] : fmt::format("(+ {})", fmt::join(parts, " "));
  }

  /// "x.0" of a tensor variable: (dim 0 x).
  std::string size_variable(SizeVar variable) {
    if (!variable.is_axis()) return variable.text();
    functions_["dim"] = "(Int Tensor) Int";
    return fmt::format("(dim {} {})", variable.axis_text(), variable.tensor());
  }

  const Axiom* axiom_ = nullptr;
  std::map<std::string, std::string> functions_;
  std::map<std::string, std::int64_t> choices_;
};

}  // namespace

Result<std::string> to_smt(const Axiom& axiom) { return Writer().assertion(axiom); }

Result<std::string> to_smt(std::span<const Axiom> axioms) {
  Writer writer;
  std::string body;
  for (const Axiom& axiom : axioms) {
    REWRIGHT_TRY(const std::string text, writer.assertion(axiom));
    body += "\n" + text;
  }
  return writer.head() + body;
}

}  // namespace rewright
