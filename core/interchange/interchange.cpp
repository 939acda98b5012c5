#include "interchange/interchange.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "axiom/writer.h"
#include "tensor/real.h"

namespace rewright {
namespace {

/// Both sides' terms in prefix form, in one of the two languages.
class TermWriter {
 public:
  enum class Language { kEgg, kSmt };
  TermWriter(const Rule& rule, Language language) : rule_(rule), language_(language) {}

  std::vector<std::string> outputs(const Pattern& side) {
    std::vector<std::size_t> counts;
    if (const auto shapes = infer_shapes(rule_.inputs, side)) {
      for (const auto& of_node : shapes->of_node) counts.push_back(of_node.size());
    }
    std::vector<std::vector<std::string>> terms;
    for (const PatternInput& input : rule_.inputs)
      terms.push_back({language_ == Language::kEgg ? fmt::format("?{}", input.name) : input.name});
    for (const PatternNode& node : side.nodes) {
      const std::size_t index = terms.size();
      const std::size_t count = index < counts.size() ? counts[index] : 1;
      terms.emplace_back();
      for (std::size_t output = 0; output < count; ++output)
        terms.back().push_back(application(node, output, count, terms));
    }
    std::vector<std::string> texts;
    for (const Port port : side.outputs) texts.push_back(terms[port.node.value][port.output]);
    return texts;
  }

  /// SMT-LIB: "(declare-fun matmul (Tensor Tensor) Tensor)", by name.
  [[nodiscard]] const std::map<std::string, std::string>& functions() const { return functions_; }
  [[nodiscard]] const std::set<std::string>& sizes() const { return sizes_; }
  [[nodiscard]] const std::set<std::size_t>& list_lengths() const { return lengths_; }

 private:
  std::string size_text(const SymbolicDim& dim) {
    for (const SizeVar size : dim.variables()) sizes_.insert(size.text());
    if (language_ == Language::kEgg) {
      std::string text = to_string(dim);
      std::erase(text, ' ');
      return text;
    }
    std::vector<std::string> terms;
    for (const SymbolicDim::Atom& atom : dim.atoms()) {
      std::string term = atom.key();
      if (atom.kind == SymbolicDim::Atom::Kind::kQuotient)
        term = fmt::format("(div {} {})", size_text(*atom.left), atom.divisor);
      if (atom.kind == SymbolicDim::Atom::Kind::kProduct)
        term = fmt::format("(* {} {})", size_text(*atom.left), size_text(*atom.right));
      terms.push_back(atom.coefficient == 1 ? term : fmt::format("(* {} {})", number(atom.coefficient), term));
    }
    if (dim.constant_term() != 0 || terms.empty()) terms.push_back(number(dim.constant_term()));
    return terms.size() == 1 ? terms[0] : fmt::format("(+ {})", fmt::join(terms, " "));
  }
  [[nodiscard]] std::string number(std::int64_t value) const {
    if (language_ == Language::kSmt && value < 0) return fmt::format("(- {})", -value);
    return fmt::format("{}", value);
  }
  /// Infinity, in SMT-LIB: a number of which nothing is known, the same wherever it stands.
  [[nodiscard]] std::string real_text(double value) const {
    if (language_ == Language::kEgg) return rewright::real_text(value);
    if (!std::isinf(value)) return smt_real(value);
    return value < 0 ? "(- (/ 1.0 0.0))" : "(/ 1.0 0.0)";
  }
  std::string list(const std::vector<std::string>& elements, std::string& sorts) {
    sorts += "Sizes ";
    lengths_.insert(elements.size());
    if (language_ == Language::kEgg) return fmt::format("[{}]", fmt::join(elements, ","));
    if (elements.empty()) return "sizes0";
    return fmt::format("(sizes{} {})", elements.size(), fmt::join(elements, " "));
  }
  std::string param(const BasicParamValue<SymbolicDim>& value, std::string& sorts) {
    std::vector<std::string> elements;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      sorts += "Int ";
      return number(*integer);
    }
    if (const auto* real = std::get_if<double>(&value)) {
      sorts += "Real ";
      return real_text(*real);
    }
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
      for (const std::int64_t element : *integers) elements.push_back(number(element));
    } else {
      for (const SymbolicDim& size : std::get<SizeList<SymbolicDim>>(value).values) elements.push_back(size_text(size));
    }
    return list(elements, sorts);
  }
  std::string application(const PatternNode& node, std::size_t output, std::size_t outputs,
                          const std::vector<std::vector<std::string>>& terms) {
    std::string name = node.op->name(), sorts;
    const OperatorInfo& info = node.op->info();
    if (info.max_arity != info.min_arity && node.inputs.size() != 2) name += fmt::format("/{}", node.inputs.size());
    if (outputs > 1) name += fmt::format(".{}", output);
    std::vector<std::string> arguments;
    for (const auto& value : node.params.values()) arguments.push_back(param(value, sorts));
    for (const Port port : node.inputs) {
      arguments.push_back(terms[port.node.value][port.output]);
      sorts += "Tensor ";
    }
    if (!sorts.empty()) sorts.pop_back();
    functions_[name] = fmt::format("(declare-fun {} ({}) Tensor)", name, sorts);
    if (arguments.empty()) return language_ == Language::kEgg ? fmt::format("({})", name) : name;
    return fmt::format("({} {})", name, fmt::join(arguments, " "));
  }

  const Rule& rule_;
  Language language_;
  std::map<std::string, std::string> functions_;
  std::set<std::string> sizes_;
  std::set<std::size_t> lengths_;
};

std::string comment(const Rule& rule) {
  std::string text = fmt::format("; {} {}", rule.name, rule.id);
  for (std::size_t i = 0; i < rule.precondition.size(); ++i)
    text += (i == 0 ? " where " : ", ") + to_string(rule.precondition[i]);
  return text + "\n";
}

}  // namespace

std::string to_egg(std::span<const Rule> rules) {
  std::string text;
  for (const Rule& rule : rules) {
    TermWriter writer(rule, TermWriter::Language::kEgg);
    text += comment(rule);
    text += fmt::format("{} => {}\n", fmt::join(writer.outputs(rule.source), " , "),
                        fmt::join(writer.outputs(rule.target), " , "));
  }
  return text;
}

std::string to_smt2(std::span<const Rule> rules) {
  std::string goals;
  std::map<std::string, std::string> functions;
  std::set<std::size_t> lengths;
  for (const Rule& rule : rules) {
    TermWriter writer(rule, TermWriter::Language::kSmt);
    const auto left = writer.outputs(rule.source), right = writer.outputs(rule.target);
    goals += comment(rule) + "(push)\n";
    for (const PatternInput& input : rule.inputs) goals += fmt::format("(declare-fun {} () Tensor)\n", input.name);
    for (const std::string& size : writer.sizes())
      goals += fmt::format("(declare-fun {0} () Int)(assert (>= {0} 1))\n", size);
    std::vector<std::string> differences;
    for (std::size_t k = 0; k < left.size(); ++k)
      differences.push_back(fmt::format("(not (= {} {}))", left[k], right[k]));
    goals +=
        fmt::format("(assert {})\n(check-sat)\n(pop)\n",
                    differences.size() == 1 ? differences[0] : fmt::format("(or {})", fmt::join(differences, " ")));
    functions.insert(writer.functions().begin(), writer.functions().end());
    lengths.insert(writer.list_lengths().begin(), writer.list_lengths().end());
  }
  std::string text = "(set-logic ALL)\n(declare-sort Tensor 0)\n(declare-sort Sizes 0)\n";
  for (const std::size_t length : lengths) {
    text += fmt::format("(declare-fun sizes{} (", length);
    for (std::size_t i = 0; i < length; ++i) text += i == 0 ? "Int" : " Int";
    text += ") Sizes)\n";
  }
  for (const auto& [name, declaration] : functions) text += declaration + "\n";
  return text + goals;
}

}  // namespace rewright
