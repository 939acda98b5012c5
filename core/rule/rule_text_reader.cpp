// Reads the text form of rules: core/rule/README.md has its grammar.
//
// Terms are read with an explicit stack: depth costs memory, not the program's stack.
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/scanner.h"
#include "rule/canonical.h"
#include "rule/example.h"
#include "rule/identifier.h"

namespace rewright {

namespace {

class RuleReader {
 public:
  RuleReader(std::string_view text, const Registry& registry, std::size_t line)
      : scanner_(text, line), registry_(registry) {}

  Result<Rule> read() {
    REWRIGHT_CHECK(read_inputs());
    REWRIGHT_TRY(rule_.source, read_side());
    REWRIGHT_CHECK(scanner_.expect("=>", "between source and target"));
    REWRIGHT_TRY(rule_.target, read_side());
    if (scanner_.take("where")) REWRIGHT_CHECK(read_conditions());
    if (!scanner_.at_end()) return scanner_.expected("'where' or the end of the rule");
    REWRIGHT_CHECK(check_variables());
    return std::move(rule_);
  }

 private:
  // An application whose operands are being read.
  struct OpenTerm {
    const Operator* op;
    SymbolicParams params;
    std::size_t position;
    std::vector<Port> operands;
  };

  Status read_inputs() {
    REWRIGHT_CHECK(scanner_.expect("(", "before the list of inputs, as in (x:2, y:2)"));
    if (scanner_.take(")")) return {};
    do {
      REWRIGHT_TRY(const std::string name, new_name("the name of an input"));
      REWRIGHT_CHECK(scanner_.expect(":", "and the rank of the input"));
      scanner_.skip_space();
      const std::size_t position = scanner_.position();
      REWRIGHT_TRY(const std::int64_t rank, scanner_.number("the rank of the input"));
      if (rank > kMaxRank)
        return scanner_.error_at(position, ErrorCode::kParse,
                                 fmt::format("input {} has rank {}; at most {} is supported", name, rank, kMaxRank));
      names_.emplace(name, Port{NodeId{static_cast<std::uint32_t>(rule_.inputs.size())}, 0});
      rule_.inputs.push_back({name, static_cast<int>(rank)});
    } while (scanner_.take(","));
    return scanner_.expect(")", "after the inputs");
  }

  Result<std::string> new_name(std::string_view what, std::span<const std::string> others = {}) {
    scanner_.skip_space();
    const std::size_t position = scanner_.position();
    const auto word = scanner_.identifier();
    if (!word) return scanner_.expected(what);
    if (!is_identifier(*word))
      return scanner_.error_at(position, ErrorCode::kParse,
                               fmt::format("'{}' is a word of the rule's text and cannot be a name", *word));
    if (names_.contains(*word) || std::find(others.begin(), others.end(), *word) != others.end())
      return scanner_.error_at(position, ErrorCode::kParse, fmt::format("the name '{}' is given twice", *word));
    return std::string(*word);
  }

  Result<Pattern> read_side() {
    side_ = {};
    shapes_.clear();
    where_ = {};
    for (const PatternInput& input : rule_.inputs) {
      SymbolicShape shape;
      for (int axis = 0; axis < input.rank; ++axis)
        shape.append(SymbolicDim::variable(SizeVar::axis(input.name, axis)));
      shapes_.push_back({std::move(shape)});
    }
    const auto outer = names_;
    while (scanner_.take("let")) REWRIGHT_CHECK(read_let());
    REWRIGHT_TRY(side_.outputs, read_terms(true));
    names_ = outer;
    return std::move(side_);
  }

  Status read_let() {
    std::vector<std::string> names;
    do {
      REWRIGHT_TRY(std::string name, new_name("a name after 'let'", names));
      names.push_back(std::move(name));
    } while (scanner_.take(","));
    REWRIGHT_CHECK(scanner_.expect("=", "after the names of a 'let'"));
    scanner_.skip_space();
    const std::size_t position = scanner_.position();
    REWRIGHT_TRY(const std::vector<Port> ports, read_terms(false));
    if (ports.size() != names.size())
      return scanner_.error_at(position, ErrorCode::kParse,
                               fmt::format("this has {} outputs, and 'let' names {}", ports.size(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) names_.emplace(names[i], ports[i]);
    return scanner_.expect("in", "after the term of a 'let'");
  }

  // One term, or several with commas between; an application stands for all its outputs.
  Result<std::vector<Port>> read_terms(bool several) {
    std::vector<Port> result;
    std::vector<OpenTerm> open;
    while (true) {
      std::vector<Port> ports;
      REWRIGHT_TRY(const bool opened, read_start(open, ports));
      if (opened) continue;
      while (true) {
        auto& list = open.empty() ? result : open.back().operands;
        list.insert(list.end(), ports.begin(), ports.end());
        if ((several || !open.empty()) && scanner_.take(",")) break;
        if (open.empty()) return result;
        REWRIGHT_CHECK(scanner_.expect(")", fmt::format("or ',' after an operand of {}", open.back().op->name())));
        REWRIGHT_TRY(ports, apply(open.back()));
        open.pop_back();
      }
    }
  }

  // A name or an application without operands: its ports. An application with operands: opens it.
  Result<bool> read_start(std::vector<OpenTerm>& open, std::vector<Port>& ports) {
    scanner_.skip_space();
    const std::size_t position = scanner_.position();
    const auto word = scanner_.identifier();
    if (!word) return scanner_.expected("an input, a name or an operator");
    if (!scanner_.sees("[") && !scanner_.sees("(")) {
      const auto known = names_.find(*word);
      if (known == names_.end()) return unknown_name(*word, position);
      ports = {known->second};
      return false;
    }
    const auto op = registry_.get<Operator>(*word);
    if (!op) return scanner_.error_at(position, op.error().code, op.error().message);
    OpenTerm term{*op, {}, position, {}};
    REWRIGHT_TRY(term.params, read_params(**op));
    if (scanner_.take("(") && !scanner_.take(")")) {
      open.push_back(std::move(term));
      return true;
    }
    REWRIGHT_TRY(ports, apply(term));
    return false;
  }

  Error unknown_name(std::string_view word, std::size_t position) {
    std::string known;
    for (const auto& [name, port] : names_) known += (known.empty() ? "" : ", ") + name;
    return scanner_.error_at(
        position, ErrorCode::kParse,
        fmt::format("'{}' is no input and no name given by 'let' before (there are: {}); an operator is followed by (",
                    word, known.empty() ? "none" : known));
  }

  Result<SymbolicParams> read_params(const Operator& op) {
    std::string_view text;
    scanner_.skip_space();
    const std::size_t position = scanner_.position();
    if (scanner_.sees("[")) {
      REWRIGHT_TRY(text, scanner_.brackets());
    }
    auto params = parse_params(op.name(), op.info().params, text);
    if (!params) return scanner_.error_at(position, params.error().code, params.error().message);
    return params;
  }

  Result<std::vector<Port>> apply(OpenTerm& term) {
    std::vector<SymbolicShape> in;
    for (const Port port : term.operands) in.push_back(shapes_[port.node.value][port.output]);
    auto out = term.op->infer(term.params, in, where_);
    if (!out) return scanner_.error_at(term.position, out.error().code, out.error().message);
    std::vector<Port> ports;
    const NodeId id{static_cast<std::uint32_t>(rule_.inputs.size() + side_.nodes.size())};
    for (std::uint32_t output = 0; output < out->size(); ++output) ports.push_back({id, output});
    shapes_.push_back(*std::move(out));
    side_.nodes.push_back({term.op, std::move(term.params), std::move(term.operands)});
    return ports;
  }

  Status read_conditions() {
    do {
      scanner_.skip_space();
      const std::size_t start = scanner_.position();
      const std::size_t end = std::min(end_of_condition(start), scanner_.text().size());
      const std::string_view text = scanner_.text().substr(start, end - start);
      auto constraint = Constraint::parse(text);
      if (!constraint) return scanner_.error_at(start, ErrorCode::kParse, constraint.error().message);
      rule_.precondition.push_back(*std::move(constraint));
      scanner_.set_position(end);
    } while (scanner_.take(","));
    return {};
  }

  // The next comma outside parentheses, or the end. Deep nesting is cut off, so that no reader recurses into it.
  [[nodiscard]] std::size_t end_of_condition(std::size_t start) const {
    constexpr int kDeepest = 64;
    const std::string_view text = scanner_.text();
    int depth = 0;
    for (std::size_t i = start; i < text.size(); ++i) {
      if (text[i] == '(' && ++depth > kDeepest) return i;
      if (text[i] == ')') --depth;
      if (text[i] == ',' && depth <= 0) return i;
    }
    return text.size();
  }

  // Every size variable is a size of an input, or stands alone in a size list of the source, where a match binds it.
  Status check_variables() {
    std::set<SizeVar> known;
    for (const PatternInput& input : rule_.inputs) {
      for (int axis = 0; axis < input.rank; ++axis) known.insert(SizeVar::axis(input.name, axis));
    }
    each_size(rule_.source, [&](const SymbolicDim& size) {
      const auto variable = size.variable();
      if (variable && !variable->is_axis()) known.insert(*variable);
    });
    std::optional<SizeVar> unknown;
    const auto check = [&](const SymbolicDim& size) {
      for (const SizeVar variable : size.variables()) {
        if (!known.contains(variable) && !unknown) unknown = variable;
      }
    };
    each_size(rule_.source, check);
    each_size(rule_.target, check);
    for (const Constraint& constraint : rule_.precondition) {
      check(constraint.left);
      check(constraint.right);
    }
    if (unknown)
      return wrong(
          "the size '{}' is no size of an input (as x.0 is) and does not stand alone in a size list of the"
          " source, so no match would bind it",
          unknown->text());
    const auto used = input_order(rule_.source, rule_.inputs.size());
    for (const std::size_t input : input_order(rule_.target, rule_.inputs.size())) {
      if (std::find(used.begin(), used.end(), input) == used.end())
        return wrong("the target uses input '{}', which the source does not use: no match would bind it",
                     rule_.inputs[input].name);
    }
    return {};
  }

  // About the rule as a whole: the place is where it starts.
  template <class... Args>
  [[nodiscard]] Error wrong(fmt::format_string<Args...> format, Args&&... args) const {
    return scanner_.error_at(0, ErrorCode::kParse, fmt::format(format, std::forward<Args>(args)...));
  }

  template <class Visit>
  static void each_size(const Pattern& side, Visit visit) {
    for (const PatternNode& node : side.nodes) {
      for (const auto& value : node.params.values()) {
        const auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
        if (list) std::for_each(list->values.begin(), list->values.end(), visit);
      }
    }
  }

  Scanner scanner_;
  const Registry& registry_;
  Rule rule_;
  Pattern side_;
  std::vector<std::vector<SymbolicShape>> shapes_;
  Constraints<SymbolicDim> where_;
  std::map<std::string, Port, std::less<>> names_;
};

Result<Rule> parse_rule_at(std::string_view text, const Registry& registry, std::size_t line) {
  REWRIGHT_TRY(Rule rule, RuleReader(text, registry, line).read());
  const auto open = open_conditions(rule);
  if (!open) return make_error(open.error().code, "line {}: {}", line, open.error().message);
  rule.precondition.insert(rule.precondition.end(), open->begin(), open->end());
  rule.id = rule_id(rule);
  rule.name = rule_name(rule);
  find_example(rule);
  return rule;
}

}  // namespace

Result<Rule> parse_rule(std::string_view text, const Registry& registry) { return parse_rule_at(text, registry, 1); }

Result<std::vector<Rule>> parse_rules(std::string_view text, const Registry& registry) {
  std::vector<Rule> rules;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    const std::size_t start = row.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || row[start] == '#') continue;
    REWRIGHT_TRY(Rule rule, parse_rule_at(row, registry, line));
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace rewright
