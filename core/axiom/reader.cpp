// Reads axiom files. The grammar and the meaning of names are in axioms/README.md.
#include <rewright/axiom.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

#include "axiom/conventions.h"
#include "axiom/sexpr.h"

namespace rewright {
namespace {

/// What a file has declared so far.
struct Scope {
  std::string file;
  const Registry& registry;
  std::map<std::string, std::int64_t, std::less<>> constants;
  std::set<std::string, std::less<>> functions;
};

template <class... Args>
Error error_at(const Scope& scope, const SExpr& at, fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kParse, "{}:{}:{}: {}", scope.file, at.line, at.column,
                    fmt::format(format, std::forward<Args>(args)...));
}

std::string describe(const SExpr& e) {
  if (e.is_list()) return e.items.empty() ? "()" : fmt::format("({} ...)", describe(e.items.front()));
  return fmt::format("'{}'", e.text);
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t place = text.find(separator);
    if (const auto part = trim(text.substr(0, place)); !part.empty()) parts.push_back(part);
    if (place == std::string_view::npos) return parts;
    text.remove_prefix(place + 1);
  }
}

/// NAME, NAME.OUTPUT or NAME/ARITY.
struct FunctionName {
  std::string op;
  std::uint32_t output = 0;
  std::optional<std::size_t> arity;
};

FunctionName parse_function_name(const std::string& text) {
  FunctionName name{text, 0, std::nullopt};
  const std::size_t place = text.find_last_of("./");
  if (place == std::string::npos) return name;
  const auto number = to_integer(std::string_view(text).substr(place + 1));
  if (!number || *number < 0 || *number > 64) return name;
  name.op = text.substr(0, place);
  if (text[place] == '.')
    name.output = static_cast<std::uint32_t>(*number);
  else
    name.arity = static_cast<std::size_t>(*number);
  return name;
}

/// Turns the two sides of one assertion into terms.
class AxiomBuilder {
 public:
  AxiomBuilder(const Scope& scope, Axiom& axiom) : scope_(scope), axiom_(axiom) {}

  Status add_variables(const SExpr& list) {
    if (!list.is_list())
      return error_at(scope_, list, "found {}, expected the list of variables ((x Tensor) ...)", describe(list));
    static const std::map<std::string, AxiomSort, std::less<>> kSorts = {{"Tensor", AxiomSort::kTensor},
                                                                         {"Int", AxiomSort::kInt},
                                                                         {"Sizes", AxiomSort::kSizes},
                                                                         {"Real", AxiomSort::kReal}};
    for (const SExpr& entry : list.items) {
      if (!entry.is_list() || entry.items.size() != 2 || entry.items[0].kind != SExpr::Kind::kSymbol)
        return error_at(scope_, entry, "found {}, expected a variable and its sort, as in (x Tensor)", describe(entry));
      const std::string& name = entry.items[0].text;
      const auto sort = kSorts.find(entry.items[1].text);
      if (sort == kSorts.end())
        return error_at(scope_, entry.items[1], "found the sort {}, expected Tensor, Int, Sizes or Real",
                        describe(entry.items[1]));
      if (find_variable(name)) return error_at(scope_, entry, "the variable '{}' is there twice", name);
      if (!std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }))
        return error_at(scope_, entry, "the variable '{}' must consist of letters, digits and _", name);
      axiom_.variables.push_back({name, sort->second});
    }
    for (std::size_t i = 0; i < axiom_.variables.size(); ++i) {
      if (axiom_.variables[i].sort != AxiomSort::kTensor) continue;
      AxiomTerm term;
      term.variable = i;
      variable_term_[axiom_.variables[i].name] = static_cast<std::uint32_t>(axiom_.terms.size());
      axiom_.terms.push_back(std::move(term));
    }
    return {};
  }

  /// The position of the term in axiom.terms.
  Result<std::uint32_t> term(const SExpr& e) {
    if (e.kind == SExpr::Kind::kSymbol) {
      if (const auto found = variable_term_.find(e.text); found != variable_term_.end()) return found->second;
      if (!scope_.functions.contains(e.text))
        return error_at(scope_, e, "found '{}', expected a tensor variable or an application", e.text);
      return application(e, e.text, {});
    }
    if (!e.is_list() || e.items.empty() || e.items[0].kind != SExpr::Kind::kSymbol)
      return error_at(scope_, e, "found {}, expected a tensor variable or an application", describe(e));
    return application(e, e.items[0].text, std::span(e.items).subspan(1));
  }

  Result<SymbolicDim> integer(const SExpr& e) const {
    if (e.kind == SExpr::Kind::kNumeral) {
      if (const auto value = to_integer(e.text)) return SymbolicDim(*value);
      return error_at(scope_, e, "the number {} is too large", e.text);
    }
    if (e.kind == SExpr::Kind::kSymbol) {
      if (const auto found = scope_.constants.find(e.text); found != scope_.constants.end())
        return SymbolicDim(found->second);
      const auto* variable = find_variable(e.text);
      if (variable && variable->sort == AxiomSort::kInt) return SymbolicDim::variable(e.text);
    }
    if (e.is_list() && e.items.size() >= 2 && e.items[0].kind == SExpr::Kind::kSymbol) {
      if (e.items[0].text == "dim") return dim(e);
      if (std::string_view("+-*").find(e.items[0].text) != std::string_view::npos) return arithmetic(e);
    }
    return error_at(scope_, e,
                    "found {}, expected a number, an Int variable, a constant, (dim AXIS x), or +, - or * of these",
                    describe(e));
  }

  [[nodiscard]] const AxiomVariable* find_variable(std::string_view name) const {
    const auto found = std::ranges::find(axiom_.variables, name, &AxiomVariable::name);
    return found == axiom_.variables.end() ? nullptr : &*found;
  }

 private:
  Result<SymbolicDim> arithmetic(const SExpr& e) const {
    REWRIGHT_TRY(SymbolicDim total, integer(e.items[1]));
    if (e.items.size() == 2 && e.items[0].text == "-") return SymbolicDim(0) - total;
    for (std::size_t i = 2; i < e.items.size(); ++i) {
      REWRIGHT_TRY(const SymbolicDim next, integer(e.items[i]));
      switch (e.items[0].text[0]) {
        case '+': total = total + next; break;
        case '-': total = total - next; break;
        default: total = total * next;
      }
    }
    return total;
  }
  Result<SymbolicDim> dim(const SExpr& e) const {
    const auto* variable = e.items.size() == 3 ? find_variable(e.items[2].text) : nullptr;
    if (!variable || variable->sort != AxiomSort::kTensor)
      return error_at(scope_, e, "found {}, expected (dim AXIS x) with a tensor variable x", describe(e));
    REWRIGHT_TRY(const SymbolicDim axis, integer(e.items[1]));
    if (!axis.constant() && !axis.variable_name())
      return error_at(scope_, e.items[1], "expected a number or an Int variable as the axis");
    return SymbolicDim::variable(fmt::format("{}.{}", variable->name, to_string(axis)));
  }

  Result<AxiomParam> list_param(const SExpr& e) const {
    if (e.kind == SExpr::Kind::kSymbol) {
      const auto* variable = find_variable(e.text);
      if (variable && variable->sort == AxiomSort::kSizes) return AxiomParam(AxiomParamVariable{e.text});
      if (e.text == "sizes0" && scope_.functions.contains("sizes0")) return AxiomParam(std::vector<SymbolicDim>{});
    }
    if (!e.is_list() || e.items.empty() || !e.items[0].text.starts_with("sizes") ||
        to_integer(std::string_view(e.items[0].text).substr(5)) != static_cast<std::int64_t>(e.items.size()) - 1)
      return error_at(scope_, e, "found {}, expected a Sizes variable, (sizesN e1 ... eN) or sizes0", describe(e));
    std::vector<SymbolicDim> values;
    for (const SExpr& item : std::span(e.items).subspan(1)) {
      REWRIGHT_TRY(SymbolicDim value, integer(item));
      values.push_back(std::move(value));
    }
    return AxiomParam(std::move(values));
  }
  Result<AxiomParam> choice_param(const ParamSpec& spec, const SExpr& e) const {
    REWRIGHT_TRY(SymbolicDim value, integer(e));
    if (!value.constant()) return AxiomParam(std::move(value));
    const std::string prefix = spec.name + ".";
    const auto place =
        e.text.starts_with(prefix) ? std::ranges::find(spec.choices, e.text.substr(prefix.size())) : spec.choices.end();
    if (place == spec.choices.end())
      return error_at(scope_, e, "found {}, expected one of {}{}", describe(e), prefix,
                      fmt::join(spec.choices, ", " + prefix));
    if (*value.constant() != place - spec.choices.begin())
      return error_at(scope_, e, "'{}' is defined as {}, but the operator counts it as {}", e.text, *value.constant(),
                      place - spec.choices.begin());
    return AxiomParam(std::move(value));
  }
  Result<AxiomParam> real_param(const SExpr& e) const {
    if (e.kind == SExpr::Kind::kSymbol) {
      const auto* variable = find_variable(e.text);
      if (variable && variable->sort == AxiomSort::kReal) return AxiomParam(AxiomParamVariable{e.text});
    }
    const bool negative = e.is_list() && e.items.size() == 2 && e.items[0].is_symbol("-");
    const SExpr& number = negative ? e.items[1] : e;
    double value = 0;
    if (number.kind == SExpr::Kind::kDecimal || number.kind == SExpr::Kind::kNumeral) {
      const char* end = number.text.data() + number.text.size();
      const auto [stop, code] = std::from_chars(number.text.data(), end, value);
      if (code == std::errc() && stop == end) return AxiomParam(negative ? -value : value);
    }
    return error_at(scope_, e, "found {}, expected a decimal or a Real variable", describe(e));
  }
  Result<AxiomParam> param(const ParamSpec& spec, const SExpr& e) const {
    switch (spec.kind) {
      case ParamKind::kInt: {
        REWRIGHT_TRY(SymbolicDim value, integer(e));
        return AxiomParam(std::move(value));
      }
      case ParamKind::kChoice: return choice_param(spec, e);
      case ParamKind::kInts:
      case ParamKind::kSizes: return list_param(e);
      case ParamKind::kReal: return real_param(e);
    }
    fail("a parameter of no kind");
  }

  Result<std::uint32_t> application(const SExpr& at, const std::string& function, std::span<const SExpr> arguments) {
    if (!scope_.functions.contains(function))
      return error_at(scope_, at,
                      "the function '{}' is not declared in this file; expected a (declare-fun {} ...) before",
                      function, function);
    const FunctionName name = parse_function_name(function);
    const Operator* op = scope_.registry.find<Operator>(name.op);
    if (!op)
      return error_at(scope_, at, "no operator '{}' is loaded; 'rewright operators list' names those that are",
                      name.op);
    const auto& specs = op->info().params;
    const int operands = static_cast<int>(arguments.size()) - static_cast<int>(specs.size());
    const int most = op->info().max_arity;
    if (operands < op->info().min_arity || (most >= 0 && operands > most) ||
        (name.arity && *name.arity != static_cast<std::size_t>(operands)))
      return error_at(scope_, at, "{} has {} arguments, expected {} parameters and then {} operands", function,
                      arguments.size(), specs.size(),
                      name.arity                     ? fmt::format("{}", *name.arity)
                      : most == op->info().min_arity ? fmt::format("{}", most)
                                                     : fmt::format("{} or more", op->info().min_arity));
    if (most < 0 && !name.arity && operands != 2)
      return error_at(scope_, at, "{} takes any number of operands: with {} it is written {}/{}", name.op, operands,
                      name.op, operands);
    AxiomTerm term;
    term.op = op;
    term.output = name.output;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      REWRIGHT_TRY(AxiomParam value, param(specs[i], arguments[i]));
      term.params.push_back(std::move(value));
    }
    for (const SExpr& argument : arguments.subspan(specs.size())) {
      REWRIGHT_TRY(const std::uint32_t operand, this->term(argument));
      term.operands.push_back(operand);
    }
    axiom_.terms.push_back(std::move(term));
    return static_cast<std::uint32_t>(axiom_.terms.size() - 1);
  }

  const Scope& scope_;
  Axiom& axiom_;
  std::map<std::string, std::uint32_t, std::less<>> variable_term_;
};

/// "x.0 = y.0; strides.0 = 1": names of constants are replaced, all others must be the axiom's.
Result<std::vector<Constraint>> parse_condition(const Scope& scope, const AxiomBuilder& builder, const SExpr& text) {
  std::vector<Constraint> condition;
  for (const std::string_view part : split_text(text.text, ';')) {
    auto constraint = Constraint::parse(part);
    if (!constraint) return error_at(scope, text, "{}", constraint.error().message);
    const auto constant = [&](std::string_view name) -> std::optional<SymbolicDim> {
      const auto found = scope.constants.find(name);
      if (found == scope.constants.end()) return std::nullopt;
      return SymbolicDim(found->second);
    };
    constraint->left = constraint->left.substitute(constant);
    constraint->right = constraint->right.substitute(constant);
    for (const SymbolicDim* side : {&constraint->left, &constraint->right}) {
      for (const std::string& name : side->variables()) {
        const std::string_view base = std::string_view(name).substr(0, name.find('.'));
        const auto* variable = builder.find_variable(base);
        const bool dotted = base.size() != name.size();
        if (!variable || dotted == (variable->sort == AxiomSort::kInt) || variable->sort == AxiomSort::kReal)
          return error_at(scope, text,
                          "the condition '{}' speaks of '{}', which is no Int variable, no size x.0 of a tensor "
                          "variable and no constant of this file",
                          part, name);
      }
    }
    condition.push_back(*std::move(constraint));
  }
  return condition;
}

/// "x y 2..3, s 0; x y 4, s 0" for all tensor variables: alternatives, groups, names and a rank or a range.
Result<std::vector<AxiomRanks>> parse_ranks(const Scope& scope, const Axiom& axiom, const SExpr& text) {
  std::vector<AxiomRanks> all;
  for (const std::string_view alternative : split_text(text.text, ';')) {
    std::vector<AxiomRanks> some = {AxiomRanks(axiom.variables.size(), -1)};
    for (const std::string_view group : split_text(alternative, ',')) {
      auto words = split_text(group, ' ');
      const std::string_view range = words.back();
      words.pop_back();
      const std::size_t dots = range.find("..");
      const auto low = to_integer(range.substr(0, dots));
      const auto high = dots == std::string_view::npos ? low : to_integer(range.substr(dots + 2));
      if (!low || !high || *low < 0 || *high > kMaxRank || *low > *high || words.empty())
        return error_at(scope, text, "ranks '{}': expected names and a rank or a range up to {}, as in \"x y 2..4\"",
                        group, kMaxRank);
      std::vector<AxiomRanks> extended;
      for (const AxiomRanks& ranks : some) {
        for (std::int64_t rank = *low; rank <= *high; ++rank) {
          extended.push_back(ranks);
          for (const std::string_view word : words) {
            const auto found = std::ranges::find(axiom.variables, word, &AxiomVariable::name);
            if (found == axiom.variables.end() || found->sort != AxiomSort::kTensor)
              return error_at(scope, text, "ranks '{}': '{}' is no tensor variable of this axiom", group, word);
            extended.back()[static_cast<std::size_t>(found - axiom.variables.begin())] = static_cast<int>(rank);
          }
        }
      }
      some = std::move(extended);
    }
    all.insert(all.end(), some.begin(), some.end());
  }
  for (AxiomRanks& ranks : all) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (axiom.variables[i].sort == AxiomSort::kTensor && ranks[i] < 0)
        return error_at(scope, text, "ranks \"{}\" leave out the tensor variable '{}'", text.text,
                        axiom.variables[i].name);
      ranks[i] = std::max(ranks[i], 0);
    }
  }
  return all;
}

Status read_attributes(const Scope& scope, const AxiomBuilder& builder, std::span<const SExpr> attributes,
                       Axiom& axiom) {
  for (std::size_t i = 0; i < attributes.size(); i += 2) {
    const SExpr& key = attributes[i];
    if (key.kind != SExpr::Kind::kKeyword || i + 1 == attributes.size())
      return error_at(scope, key, "found {}, expected an attribute and its value, as in :named n", describe(key));
    const SExpr& value = attributes[i + 1];
    if (value.kind != (key.text == "named" ? SExpr::Kind::kSymbol : SExpr::Kind::kString))
      return error_at(scope, value, "found {}, expected a {} as the value of :{}", describe(value),
                      key.text == "named" ? "symbol" : "quoted string", key.text);
    if (key.text == "named")
      axiom.name = value.text;
    else if (key.text == "source")
      axiom.source = value.text;
    else if (key.text == "needs")
      axiom.needs = value.text;
    else if (key.text == "domain")
      axiom.domain = value.text;
    else if (key.text == "condition") {
      REWRIGHT_TRY(axiom.condition, parse_condition(scope, builder, value));
    } else if (key.text == "ranks") {
      REWRIGHT_TRY(axiom.ranks, parse_ranks(scope, axiom, value));
    } else {
      return error_at(scope, key,
                      "found the attribute :{}, expected :named, :ranks, :condition, :source, :needs or :domain",
                      key.text);
    }
  }
  return {};
}

Status check_attributes(const Scope& scope, const SExpr& at, Axiom& axiom) {
  if (axiom.name.empty()) return error_at(scope, at, "the axiom has no name; expected :named NAME");
  if (axiom.source.empty())
    return error_at(scope, at, "axiom {} has no :source that says where it comes from", axiom.name);
  if (!axiom.needs.empty() && axiom.needs != "real-relu" && axiom.needs != "real-functions")
    return error_at(scope, at, "axiom {} needs \"{}\"; expected \"real-relu\" or \"real-functions\"", axiom.name,
                    axiom.needs);
  const bool has_tensors =
      std::ranges::any_of(axiom.variables, [](const auto& v) { return v.sort == AxiomSort::kTensor; });
  if (axiom.ranks.empty() && has_tensors)
    return error_at(scope, at, "axiom {} has no :ranks for its tensor variables, as in :ranks \"x y 2\"", axiom.name);
  if (axiom.ranks.empty()) axiom.ranks.emplace_back(axiom.variables.size(), 0);
  return {};
}

/// (assert (! (forall (...) (= left right)) :named n ...))
Result<Axiom> read_assertion(const Scope& scope, const SExpr& e) {
  if (e.items.size() != 2 || !e.items[1].is_list() || e.items[1].items.size() < 2 ||
      !e.items[1].items[0].is_symbol("!"))
    return error_at(scope, e, "expected (assert (! (forall (...) (= left right)) :named NAME ...))");
  const SExpr& annotated = e.items[1];
  const SExpr* equation = &annotated.items[1];
  Axiom axiom;
  axiom.file = scope.file;
  axiom.line = e.line;
  AxiomBuilder builder(scope, axiom);
  if (equation->is_list() && equation->items.size() == 3 && equation->items[0].is_symbol("forall")) {
    REWRIGHT_CHECK(builder.add_variables(equation->items[1]));
    equation = &equation->items[2];
  }
  if (!equation->is_list() || equation->items.size() != 3 || !equation->items[0].is_symbol("="))
    return error_at(scope, *equation, "found {}, expected (= left right)", describe(*equation));
  REWRIGHT_TRY(axiom.left, builder.term(equation->items[1]));
  REWRIGHT_TRY(axiom.right, builder.term(equation->items[2]));
  REWRIGHT_CHECK(read_attributes(scope, builder, std::span(annotated.items).subspan(2), axiom));
  REWRIGHT_CHECK(check_attributes(scope, e, axiom));
  return axiom;
}

Status read_declaration(Scope& scope, const SExpr& e) {
  const std::string& command = e.items[0].text;
  if (e.items.size() < 2 || (e.items[1].kind != SExpr::Kind::kSymbol && command != "set-info"))
    return error_at(scope, e, "({} ...) names nothing", command);
  if (command == "declare-fun" || command == "declare-const") {
    scope.functions.insert(e.items[1].text);
  } else if (command == "declare-sort") {
    if (e.items[1].text != "Tensor" && e.items[1].text != "Sizes")
      return error_at(scope, e, "found the sort {}, expected Tensor or Sizes", describe(e.items[1]));
  } else if (command == "define-fun") {
    const bool constant = e.items.size() == 5 && e.items[2].is_list() && e.items[2].items.empty() &&
                          e.items[3].is_symbol("Int") && e.items[4].kind == SExpr::Kind::kNumeral;
    const auto value = constant ? to_integer(e.items[4].text) : std::nullopt;
    if (!value) return error_at(scope, e, "expected a named number, as in (define-fun padding.same () Int 0)");
    scope.constants[e.items[1].text] = *value;
  }
  return {};
}

Status read_info(const Scope& scope, const SExpr& e) {
  if (e.items.size() != 3 || e.items[1].kind != SExpr::Kind::kKeyword)
    return error_at(scope, e, "expected (set-info :KEY VALUE)");
  if (!is_convention(e.items[1].text)) return {};
  if (auto kept = check_convention(e.items[1].text, e.items[2].text, scope.registry); !kept)
    return error_at(scope, e, "{}", kept.error().message);
  return {};
}

}  // namespace

Status AxiomSet::add(std::string_view text, std::string file, const Registry& registry) {
  REWRIGHT_TRY(const auto expressions, parse_sexprs(text, file));
  Scope scope{file, registry, {}, {}};
  std::vector<Axiom> read;
  for (const SExpr& e : expressions) {
    const std::string command = e.is_list() && !e.items.empty() ? e.items[0].text : "";
    if (command == "set-info") {
      REWRIGHT_CHECK(read_info(scope, e));
    } else if (command.starts_with("declare-") || command == "define-fun") {
      REWRIGHT_CHECK(read_declaration(scope, e));
    } else if (command == "assert") {
      REWRIGHT_TRY(Axiom axiom, read_assertion(scope, e));
      const auto same_name = [&](const Axiom& other) { return other.name == axiom.name; };
      if (std::ranges::any_of(axioms_, same_name) || std::ranges::any_of(read, same_name))
        return error_at(scope, e, "there is an axiom {} already; names are unique", axiom.name);
      read.push_back(std::move(axiom));
    } else if (command != "set-logic" && command != "check-sat" && command != "exit") {
      return error_at(scope, e,
                      "found {}, expected set-logic, set-info, declare-sort, declare-fun, define-fun or assert",
                      describe(e));
    }
  }
  axioms_.insert(axioms_.end(), std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
  files_.push_back(std::move(file));
  for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return {};
}

AxiomSet AxiomSet::filtered(const std::function<bool(const Axiom&)>& keep) const {
  AxiomSet set;
  set.files_ = files_;
  set.digest_ = digest_;
  for (const Axiom& axiom : axioms_) {
    if (!keep(axiom)) continue;
    set.axioms_.push_back(axiom);
    for (const char c : axiom.name + " ") set.digest_ = (set.digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return set;
}

std::string AxiomSet::digest() const { return fmt::format("{:016x}", digest_); }

Result<AxiomSet> load_axioms(std::span<const std::string> files, const Registry& registry) {
  AxiomSet set;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf()))
      return make_error(ErrorCode::kIo, "{}: the axiom file cannot be read, or is empty", file);
    REWRIGHT_CHECK(set.add(text.str(), file, registry));
  }
  return set;
}

}  // namespace rewright
