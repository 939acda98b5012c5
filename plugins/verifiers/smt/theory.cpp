#include "theory.h"

#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <functional>

#include "smt.h"

namespace smt_verifier {
namespace {

using namespace rewright;

/// No symbols are sought beyond this many.
constexpr std::size_t kMostSymbols = 160;

std::string text_of(const ParamValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return fmt::format("[{}]", fmt::join(*list, ","));
  return fmt::format("_{}", std::get<SizeList<std::int64_t>>(value).values.size());
}

/// Sizes forgotten, all else kept.
std::vector<ParamValue> fixed_part(const SymbolicParams& params) {
  std::vector<ParamValue> fixed;
  for (const auto& value : params.values()) {
    if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value))
      fixed.emplace_back(SizeList<std::int64_t>{std::vector<std::int64_t>(sizes->values.size())});
    else if (const auto* number = std::get_if<std::int64_t>(&value))
      fixed.emplace_back(*number);
    else if (const auto* real = std::get_if<double>(&value))
      fixed.emplace_back(*real);
    else
      fixed.emplace_back(std::get<std::vector<std::int64_t>>(value));
  }
  return fixed;
}

std::string key_of(const std::vector<ParamValue>& values) {
  std::vector<std::string> texts;
  for (const ParamValue& value : values) texts.push_back(text_of(value));
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string variable_name(std::string_view name) { return fmt::format("?{}", name); }

/// Sizes of an axiom's tensor variables, and its size variables, as the formula names them.
NameOf names_in(const TypedAxiom& typed) {
  return [&typed](std::string_view name) -> std::string {
    const std::size_t dot = name.find('.');
    const auto& variables = typed.axiom->variables;
    const auto variable = std::ranges::find(variables, name.substr(0, dot), &AxiomVariable::name);
    if (dot == std::string_view::npos || variable == variables.end() || variable->sort != AxiomSort::kTensor)
      return variable_name(name);
    const int rank = typed.ranks[static_cast<std::size_t>(variable - variables.begin())];
    return size_of(rank, name.substr(dot + 1), variable_name(variable->name));
  };
}

}  // namespace

std::string sort_name(int rank) { return fmt::format("T{}", rank); }
std::string defined(int rank, const std::string& term) { return fmt::format("(def-{} {})", rank, term); }
std::string size_of(int rank, std::string_view axis, const std::string& term) {
  return fmt::format("(dim-{}-{} {})", rank, axis, term);
}

std::vector<SymbolicDim> size_arguments(const SymbolicParams& params) {
  std::vector<SymbolicDim> sizes;
  for (const auto& value : params.values()) {
    if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value))
      sizes.insert(sizes.end(), list->values.begin(), list->values.end());
  }
  return sizes;
}

Theory::Theory(AxiomSet axioms, bool patterns, int rounds)
    : axioms_(std::move(axioms)), patterns_(patterns), rounds_(rounds) {}
Theory::~Theory() = default;

const std::string& Theory::head() {
  static const std::string kText = [] {
    std::string text;
    for (int rank = 0; rank <= kMaxRank; ++rank) {
      text += fmt::format("(declare-sort T{0} 0)(declare-fun def-{0} (T{0}) Bool)\n", rank);
      for (int axis = 0; axis < rank; ++axis) text += fmt::format("(declare-fun dim-{0}-{1} (T{0}) Int)\n", rank, axis);
    }
    return text;
  }();
  return kText;
}

// --- symbols
// -------------------------------------------------------------------------------------------------------------

const Symbol* Theory::symbol(const Operator& op, std::uint32_t output, const SymbolicParams& params,
                             std::span<const int> ranks) {
  const std::scoped_lock lock(mutex_);
  return make_symbol(op, output, params, ranks);
}

/// The operator and 32 bits of the key; more bits only where two keys share them.
std::string Theory::unique_name(const Operator& op, const std::string& key) {
  const std::string hash = fmt::format("{:016x}", XXH3_64bits(key.data(), key.size()));
  for (const std::size_t digits : {std::size_t{8}, std::size_t{16}}) {
    std::string name = fmt::format("{}.{}", op.name(), hash.substr(0, digits));
    if (key_of_name_.try_emplace(name, key).first->second == key) return name;
  }
  return "|" + key + "|";
}

namespace {

/// The symbol's parameters with a variable "z0", "z1", ... for each size.
SymbolicParams with_size_variables(const std::vector<ParamValue>& params) {
  std::vector<BasicParamValue<SymbolicDim>> values;
  std::size_t next_size = 0;
  for (const ParamValue& value : params) {
    if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&value)) {
      SizeList<SymbolicDim> list;
      for (std::size_t i = 0; i < sizes->values.size(); ++i)
        list.values.push_back(SymbolicDim::variable(fmt::format("z{}", next_size++)));
      values.emplace_back(std::move(list));
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      values.emplace_back(*number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      values.emplace_back(*real);
    } else {
      values.emplace_back(std::get<std::vector<std::int64_t>>(value));
    }
  }
  return SymbolicParams(std::move(values));
}

std::string text_of(const Symbol& symbol, std::string_view key) {
  std::vector<std::string> sorts, variables, arguments;
  const auto add = [&](const std::string& name, const std::string& sort) {
    sorts.push_back(sort);
    variables.push_back(fmt::format("({} {})", variable_name(name), sort));
    arguments.push_back(variable_name(name));
  };
  std::size_t sizes = 0;
  for (const ParamValue& value : symbol.params) {
    const auto* list = std::get_if<SizeList<std::int64_t>>(&value);
    for (std::size_t i = 0; list && i < list->values.size(); ++i) add(fmt::format("z{}", sizes++), "Int");
  }
  for (std::size_t i = 0; i < symbol.ranks.size(); ++i) add(fmt::format("o{}", i), sort_name(symbol.ranks[i]));
  const int rank = symbol.shape.rank();
  std::string text =
      fmt::format("; {}\n(declare-fun {} ({}) {})\n", key, symbol.name, fmt::join(sorts, " "), sort_name(rank));
  const std::string term = smt_apply(symbol.name, arguments);
  const NameOf name_of = [&](std::string_view name) -> std::string {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return variable_name(name);
    const auto operand = static_cast<std::size_t>(std::stoul(std::string(name.substr(1, dot - 1))));
    return size_of(symbol.ranks[operand], name.substr(dot + 1), variable_name(name.substr(0, dot)));
  };
  for (int axis = 0; axis < rank; ++axis) {
    const std::string size = size_of(rank, std::to_string(axis), term);
    const std::string rule =
        fmt::format("(=> {} (= {} {}))", defined(rank, term), size, smt_size(symbol.shape[axis], name_of));
    if (variables.empty())
      text += fmt::format("(assert {})\n", rule);
    else
      text += fmt::format("(assert (forall ({}) (! {} :pattern ({}))))\n", fmt::join(variables, ""), rule, size);
  }
  return text;
}

}  // namespace

const Symbol* Theory::make_symbol(const Operator& op, std::uint32_t output, const SymbolicParams& params,
                                  std::span<const int> ranks) {
  Symbol symbol{&op, output, fixed_part(params), {ranks.begin(), ranks.end()}, {}, {}, {}};
  const std::string key = fmt::format("{}[{}]:{}.{}", op.name(), key_of(symbol.params), fmt::join(ranks, ","), output);
  const auto [place, fresh] = symbols_.emplace(key, nullptr);
  if (!fresh) return place->second.get();
  std::vector<SymbolicShape> in;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    SymbolicShape shape;
    for (int axis = 0; axis < ranks[i]; ++axis) shape.append(SymbolicDim::variable(fmt::format("o{}.{}", i, axis)));
    in.push_back(std::move(shape));
  }
  Constraints<SymbolicDim> where;
  const auto out = op.infer(with_size_variables(symbol.params), in, where);
  if (!out || where.violation() || output >= out->size()) return nullptr;
  symbol.shape = (*out)[output];
  symbol.name = unique_name(op, key);
  symbol.text = text_of(symbol, key);
  place->second = std::make_unique<Symbol>(std::move(symbol));
  return place->second.get();
}

// --- matching of parameters and ranks
// ----------------------------------------------------------------------------------

/// Assigns symbols to the applications of one side of an axiom; each assignment gives ranks and parameters.
class Theory::Matcher {
 public:
  using Report = std::function<void(const AxiomRanks&, const ParamBinding&)>;

  Matcher(const Axiom& axiom, const std::vector<const Symbol*>& symbols, Report found)
      : axiom_(axiom),
        symbols_(symbols),
        found_(std::move(found)),
        ranks_(axiom.variables.size(), -1),
        term_rank_(axiom.terms.size(), -1) {}

  void run(std::uint32_t root) {
    collect(root);
    std::ranges::sort(applications_);
    applications_.erase(std::ranges::unique(applications_).begin(), applications_.end());
    if (!applications_.empty()) descend(0);
  }

 private:
  void collect(std::uint32_t term) {
    if (axiom_.terms[term].variable) return;
    applications_.push_back(term);
    for (const std::uint32_t operand : axiom_.terms[term].operands) collect(operand);
  }
  void descend(std::size_t depth) {
    if (depth == applications_.size()) return finish();
    const AxiomTerm& term = axiom_.terms[applications_[depth]];
    for (const Symbol* candidate : symbols_) {
      const Symbol& symbol = *candidate;
      if (symbol.op != term.op || symbol.output != term.output || symbol.ranks.size() != term.operands.size()) continue;
      const ParamBinding saved_binding = binding_;
      const AxiomRanks saved_ranks = ranks_;
      if (fits(term, symbol)) {
        term_rank_[applications_[depth]] = symbol.shape.rank();
        descend(depth + 1);
      }
      binding_ = saved_binding;
      ranks_ = saved_ranks;
    }
  }
  bool fits(const AxiomTerm& term, const Symbol& symbol) {
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
      const AxiomTerm& operand = axiom_.terms[term.operands[i]];
      int& rank = operand.variable ? ranks_[*operand.variable] : term_rank_[term.operands[i]];
      if (operand.variable && rank < 0) rank = symbol.ranks[i];
      if (rank != symbol.ranks[i]) return false;
    }
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      if (!unify(term.params[i], symbol.params[i])) return false;
    }
    return true;
  }
  bool bind(const std::string& name, const ParamValue& value) {
    return binding_.emplace(name, value).first->second == value;
  }
  bool unify(const AxiomParam& param, const ParamValue& value) {
    if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) return bind(variable->name, value);
    if (const auto* real = std::get_if<double>(&param))
      return std::holds_alternative<double>(value) && std::get<double>(value) == *real;
    if (const auto* one = std::get_if<SymbolicDim>(&param))
      return std::holds_alternative<std::int64_t>(value) && unify(*one, std::get<std::int64_t>(value));
    const auto& list = std::get<std::vector<SymbolicDim>>(param);
    if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&value)) return sizes->values.size() == list.size();
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
    if (!numbers || numbers->size() != list.size()) return false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!unify(list[i], (*numbers)[i])) return false;
    }
    return true;
  }
  bool unify(const SymbolicDim& dim, std::int64_t value) {
    if (const auto name = dim.variable_name(); name && name->find('.') == std::string::npos) return bind(*name, value);
    const auto known = dim.evaluate([this](std::string_view name) -> std::optional<std::int64_t> {
      const auto found = binding_.find(name);
      if (found == binding_.end() || !std::holds_alternative<std::int64_t>(found->second)) return std::nullopt;
      return std::get<std::int64_t>(found->second);
    });
    return known == value;
  }
  void finish() {
    AxiomRanks ranks = ranks_;
    for (int& rank : ranks) rank = std::max(rank, 0);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (axiom_.variables[i].sort == AxiomSort::kTensor && ranks_[i] < 0) return;  // The side does not bind it.
    }
    if (std::ranges::find(axiom_.ranks, ranks) == axiom_.ranks.end()) return;
    for (const std::string& name : parameter_variables(axiom_)) {
      if (!binding_.contains(name)) return;
    }
    found_(ranks, binding_);
  }

  const Axiom& axiom_;
  const std::vector<const Symbol*>& symbols_;
  Report found_;
  std::vector<std::uint32_t> applications_;
  AxiomRanks ranks_;
  std::vector<int> term_rank_;
  ParamBinding binding_;
};

/// A match of one side's parameters and ranks.
struct Theory::Found {
  std::size_t axiom;
  bool left_to_right;
  AxiomRanks ranks;
  ParamBinding fixed;
};

const std::vector<const Use*>& Theory::uses_from(const SymbolSet& from) {
  const std::scoped_lock lock(mutex_);
  const auto [place, fresh] =
      uses_from_.emplace(std::vector<const Symbol*>(from.begin(), from.end()), std::vector<const Use*>());
  std::vector<const Use*>& uses = place->second;
  if (!fresh) return uses;
  SymbolSet symbols = from;
  std::set<const Use*> known;
  for (int round = 0; round < rounds_ && symbols.size() < kMostSymbols; ++round) {
    std::vector<Found> all;
    const std::vector<const Symbol*> list(symbols.begin(), symbols.end());
    for (std::size_t i = 0; i < axioms_.axioms().size(); ++i) {
      const Axiom& axiom = axioms_.axioms()[i];
      for (const bool left_to_right : {true, false}) {
        Matcher(axiom, list, [&](const AxiomRanks& ranks, const ParamBinding& fixed) {
          all.push_back({i, left_to_right, ranks, fixed});
        }).run(left_to_right ? axiom.left : axiom.right);
      }
    }
    const std::size_t before = symbols.size();
    for (const Found& found : all) {
      const Use* made = use(found);
      if (made->text.empty() || !known.insert(made).second) continue;
      uses.push_back(made);
      symbols.insert(made->brought.begin(), made->brought.end());
    }
    if (symbols.size() == before) break;
  }
  return uses;
}

const TypedAxiom* Theory::typed(const Found& found, const std::string& key) {
  const auto [place, fresh] = typed_.emplace(key, nullptr);
  if (fresh) {
    if (auto result = specialise(axioms_.axioms()[found.axiom], found.ranks, found.fixed))
      place->second = std::make_unique<TypedAxiom>(*std::move(result));
  }
  return place->second.get();
}

/// Without text where the use is impossible.
const Use* Theory::use(const Found& found) {
  std::string key = fmt::format("{}:{}", found.axiom, fmt::join(found.ranks, ","));
  for (const auto& [name, value] : found.fixed) key += fmt::format(":{}={}", name, text_of(value));
  const auto [place, fresh] = uses_.emplace(key + (found.left_to_right ? ">" : "<"), Use());
  if (fresh) {
    if (const TypedAxiom* typing = typed(found, key)) place->second = render(*typing, found.left_to_right);
  }
  return &place->second;
}

// --- formulas
// ------------------------------------------------------------------------------------------------------------

/// What one side's terms come to.
struct Theory::Side {
  std::vector<std::string> guards;        ///< Sizes in the pattern that are expressions.
  std::set<std::string> variables;        ///< "(?x T2)", bound by the pattern.
  std::vector<std::string> applications;  ///< def-r of each.
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
    std::string text = smt_size(size, name_of);
    if (pattern) {
      if (!text.starts_with('?')) {
        const std::string name = fmt::format("?size-{}", side.fresh++);
        side.guards.push_back(fmt::format("(= {} {})", name, text));
        text = name;
      }
      side.variables.insert(fmt::format("({} Int)", text));
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
  for (const Constraint& constraint : *residual) guards.push_back(smt_condition(constraint, name_of));
  std::vector<std::string> conclusions = {fmt::format("(= {} {})", *from, *to)};
  conclusions.insert(conclusions.end(), to_side.applications.begin(), to_side.applications.end());
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
  else if (patterns_)
    use.text += fmt::format("(assert (forall ({}) (! {} :pattern ({}))))\n", fmt::join(from_side.variables, ""), rule,
                            defined(rank, *from));
  else
    use.text += fmt::format("(assert (forall ({}) {}))\n", fmt::join(from_side.variables, ""), rule);
  use.symbols = from_side.symbols;
  use.symbols.insert(to_side.symbols.begin(), to_side.symbols.end());
  use.brought = std::move(to_side.symbols);
  return use;
}

// --- sessions
// ------------------------------------------------------------------------------------------------------------

std::shared_ptr<Theory> TheoryShelf::of(const AxiomSet& axioms) {
  const std::scoped_lock lock(mutex_);
  // Two registries have operators of their own.
  const void* operators = axioms.axioms().empty() ? nullptr : axioms.axioms().front().terms.back().op;
  std::shared_ptr<Theory>& theory = theories_[{axioms.digest(), operators}];
  if (!theory) theory = std::make_shared<Theory>(axioms, patterns_, rounds_);
  return theory;
}

void Session::tell(const SymbolSet& symbols, std::string& text) {
  for (const Symbol* symbol : symbols) {
    if (told_.symbols.insert(symbol).second) text += symbol->text;
  }
}

std::string input_name(int rank, int index) { return fmt::format("in.{}.{}", rank, index); }
std::string number_name(int index) { return fmt::format("n.{}", index); }

void Session::tell_inputs(const Vocabulary& goal, std::string& text) {
  for (int rank = 0; rank <= kMaxRank; ++rank) {
    int& told = told_.inputs[static_cast<std::size_t>(rank)];
    for (; told < goal.inputs[static_cast<std::size_t>(rank)]; ++told) {
      const std::string name = input_name(rank, told);
      text += fmt::format("(declare-fun {} () {})(assert {})\n", name, sort_name(rank), defined(rank, name));
      for (int axis = 0; axis < rank; ++axis)
        text += fmt::format("(assert (>= {} 1))\n", size_of(rank, std::to_string(axis), name));
    }
  }
  for (; told_.numbers < goal.numbers; ++told_.numbers)
    text += fmt::format("(declare-fun {0} () Int)(assert (>= {0} 0))\n", number_name(told_.numbers));
}

std::string Session::news(const Vocabulary& goal) {
  std::string text;
  if (!std::exchange(begun_, true)) text = Theory::head();
  tell(goal.symbols, text);
  tell_inputs(goal, text);
  for (const Use* use : theory_.uses_from(goal.symbols)) {
    if (!uses_.insert(use).second) continue;
    tell(use->symbols, text);
    text += use->text;
  }
  return text;
}

}  // namespace smt_verifier
