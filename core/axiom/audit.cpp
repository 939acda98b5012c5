#include "axiom/audit.h"

#include <rewright/linear.h>
#include <rewright/scalar.h>
#include <rewright/tensor.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

namespace rewright {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// --- domains of parameters
// ---------------------------------------------------------------------------------------------

using Values = std::vector<ParamValue>;
using Ints = std::vector<std::int64_t>;

/// The first parameter that a variable stands for, and the term's operator.
const ParamSpec* spec_of(const Axiom& axiom, const std::string& variable) {
  for (const AxiomTerm& term : axiom.terms) {
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const auto mentions = [&](const SymbolicDim& dim) {
        const auto names = dim.variables();
        return std::ranges::find(names, variable) != names.end();
      };
      const AxiomParam& param = term.params[i];
      const auto* whole = std::get_if<AxiomParamVariable>(&param);
      const auto* one = std::get_if<SymbolicDim>(&param);
      const auto* list = std::get_if<std::vector<SymbolicDim>>(&param);
      if ((whole && whole->name == variable) || (one && mentions(*one)) ||
          (list && std::ranges::any_of(*list, mentions)))
        return &term.op->info().params[i];
    }
  }
  return nullptr;
}

Values permutations(int max_rank) {
  Values all;
  for (int rank = 2; rank <= max_rank; ++rank) {
    Ints order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    do all.emplace_back(order);
    while (std::ranges::next_permutation(order).found);
  }
  return all;
}

/// What a parameter is tried with where the axiom's :domain says nothing.
Values default_domain(const ParamSpec& spec, int max_rank) {
  Values values;
  const auto add_integers = [&](std::int64_t low, std::int64_t high) {
    for (std::int64_t i = low; i <= high; ++i) values.emplace_back(i);
  };
  switch (spec.kind) {
    case ParamKind::kChoice: add_integers(0, std::ssize(spec.choices) - 1); break;
    case ParamKind::kReal: values = {0.0, 1.0, -1.5}; break;
    case ParamKind::kSizes:
      for (int length = 1; length <= max_rank; ++length)
        values.emplace_back(SizeList<std::int64_t>{Ints(static_cast<std::size_t>(length))});
      break;
    case ParamKind::kInt:
      if (spec.name == "groups")
        add_integers(1, 2);
      else
        add_integers(0, std::max(max_rank - 1, 0));
      break;
    case ParamKind::kInts:
      if (spec.name == "perm") return permutations(std::min(max_rank, 4));
      if (spec.name == "strides")
        values = {Ints{1, 1}, Ints{2, 1}, Ints{2, 2}, Ints{1, 3}};
      else if (spec.name == "dilations")
        values = {Ints{1, 1}, Ints{2, 1}};
      else if (spec.name == "kernel")
        values = {Ints{1, 1}, Ints{1, 2}, Ints{2, 1}, Ints{3, 2}, Ints{3, 3}};
      else if (spec.name == "pads")
        values = {Ints{0, 0, 0, 0}, Ints{1, 0, 0, 0}, Ints{0, 1, 1, 0}};
      else
        values = {Ints{0}, Ints{1}, Ints{0, 0}, Ints{0, 1}, Ints{1, 1}};
      break;
  }
  return values;
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// For a variable that is one element of a parameter's list.
Values default_elements(const ParamSpec& spec) {
  if (spec.name == "kernel") return {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}};
  return {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}};
}

/// "3", "same", "[1,2]".
Result<ParamValue> parse_value(const Axiom& axiom, const ParamSpec& spec, std::string_view word) {
  if (word.starts_with('[') && word.ends_with(']')) {
    Ints list;
    word = word.substr(1, word.size() - 2);
    while (!word.empty()) {
      const std::size_t comma = word.find(',');
      const auto number = to_integer(word.substr(0, comma));
      if (!number)
        return make_error(ErrorCode::kParse, "{}:{}: axiom {}: domain: '{}' is no list of numbers", axiom.file,
                          axiom.line, axiom.name, word);
      list.push_back(*number);
      word = comma == std::string_view::npos ? "" : word.substr(comma + 1);
    }
    return ParamValue(std::move(list));
  }
  if (const auto number = to_integer(word)) return ParamValue(*number);
  const auto choice = std::ranges::find(spec.choices, word);
  if (choice == spec.choices.end())
    return make_error(
        ErrorCode::kParse,
        "{}:{}: axiom {}: domain: '{}' is no value of {}; expected a number, a list [1,2] or one of its choices",
        axiom.file, axiom.line, axiom.name, word, spec.name);
  return ParamValue(std::int64_t{choice - spec.choices.begin()});
}

/// "strides [1,1] [2,1]; a 0 1": values by variable.
Result<std::map<std::string, Values>> parse_domain(const Axiom& axiom) {
  std::map<std::string, Values> domain;
  std::string_view text = axiom.domain;
  while (!text.empty()) {
    const std::size_t end = text.find(';');
    std::string_view entry = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    std::vector<std::string_view> words;
    while (!entry.empty()) {
      const std::size_t space = entry.find(' ');
      if (space != 0) words.push_back(entry.substr(0, space));
      entry = space == std::string_view::npos ? "" : entry.substr(space + 1);
    }
    if (words.empty()) continue;
    const std::string name(words.front());
    const ParamSpec* spec = spec_of(axiom, name);
    if (!spec)
      return make_error(ErrorCode::kParse, "{}:{}: axiom {}: domain: '{}' is no parameter variable", axiom.file,
                        axiom.line, axiom.name, name);
    for (const std::string_view word : std::span(words).subspan(1)) {
      REWRIGHT_TRY(ParamValue value, parse_value(axiom, *spec, word));
      domain[name].push_back(std::move(value));
    }
  }
  return domain;
}

Result<std::vector<std::pair<std::string, Values>>> domains_of(const Axiom& axiom) {
  REWRIGHT_TRY(auto written, parse_domain(axiom));
  int max_rank = 0;
  for (const AxiomRanks& ranks : axiom.ranks) {
    for (const int rank : ranks) max_rank = std::max(max_rank, rank);
  }
  std::vector<std::pair<std::string, Values>> domains;
  for (const std::string& name : parameter_variables(axiom)) {
    const ParamSpec* spec = spec_of(axiom, name);
    if (!spec)
      return make_error(ErrorCode::kParse, "{}:{}: axiom {}: the variable {} stands for no parameter", axiom.file,
                        axiom.line, axiom.name, name);
    const auto found = written.find(name);
    const auto variable = std::ranges::find(axiom.variables, name, &AxiomVariable::name);
    const bool element = variable->sort == AxiomSort::kInt && spec->kind == ParamKind::kInts;
    domains.emplace_back(name, found != written.end() ? found->second
                               : element              ? default_elements(*spec)
                                                      : default_domain(*spec, std::max(max_rank, 2)));
  }
  return domains;
}

/// Every binding, in lexicographic order.
std::vector<ParamBinding> bindings_of(const std::vector<std::pair<std::string, Values>>& domains) {
  std::vector<ParamBinding> all(1);
  for (const auto& [name, values] : domains) {
    std::vector<ParamBinding> next;
    for (const ParamBinding& binding : all) {
      for (const ParamValue& value : values) {
        next.push_back(binding);
        next.back()[name] = value;
      }
    }
    all = std::move(next);
  }
  return all;
}

// --- evaluation
// ----------------------------------------------------------------------------------------------------------

enum class Draw { kSmall, kQuarters, kNegative, kWhole };

template <class Scalar>
Scalar draw(Draw kind, std::uint64_t bits) {
  if constexpr (std::is_same_v<Scalar, Field>) {
    if (kind == Draw::kWhole) return Field::from_residue((bits >> 3) % Field::kPrime);
  }
  const Scalar quarter = Scalar::from_integer(1) / Scalar::from_integer(4);
  const auto number = static_cast<std::int64_t>(bits % 19);
  if (kind == Draw::kNegative) return Scalar::from_integer(-1 - number) * quarter;
  return kind == Draw::kQuarters ? Scalar::from_integer(number - 9) * quarter : Scalar::from_integer(number - 9);
}

/// The values of a typed axiom's terms at given sizes.
template <class Scalar>
class TermValues {
 public:
  TermValues(const TypedAxiom& axiom, const SizeAssignment& sizes, Draw kind, std::uint64_t seed)
      : axiom_(axiom), sizes_(sizes), kind_(kind), seed_(seed) {}

  Result<Tensor<Scalar>> run(std::uint32_t index) {
    const TypedTerm& term = axiom_.terms[index];
    REWRIGHT_TRY(Shape shape, shape_of(term.shape));
    if (term.variable) return input(*term.variable, std::move(shape));
    std::vector<Tensor<Scalar>> operands;
    for (const std::uint32_t operand : term.operands) {
      REWRIGHT_TRY(auto value, run(operand));
      operands.push_back(std::move(value));
    }
    return apply(term, operands);
  }

 private:
  std::optional<std::int64_t> value_of(std::string_view name) const {
    const auto found = sizes_.find(name);
    if (found == sizes_.end()) return std::nullopt;
    return found->second;
  }
  DimBinding binding() const {
    return [this](std::string_view name) { return value_of(name); };
  }
  Result<Shape> shape_of(const SymbolicShape& symbolic) const {
    Shape shape;
    for (const SymbolicDim& dim : symbolic) {
      const auto value = dim.evaluate(binding());
      if (!value) return make_error(ErrorCode::kShape, "the size {} has no value", to_string(dim));
      shape.append(*value);
    }
    return shape;
  }
  Tensor<Scalar> input(std::size_t variable, Shape shape) const {
    Tensor<Scalar> tensor(std::move(shape));
    for (std::size_t i = 0; i < tensor.values().size(); ++i)
      tensor.values()[i] = draw<Scalar>(kind_, mix(mix(seed_ + variable * 7919) + i));
    return tensor;
  }
  Result<Tensor<Scalar>> apply(const TypedTerm& term, const std::vector<Tensor<Scalar>>& operands) const {
    const auto params = evaluate(term.params, binding());
    if (!params) return make_error(ErrorCode::kShape, "a parameter of {} has no value", term.op->name());
    std::vector<Shape> shapes;
    std::vector<TensorView<const Scalar>> in;
    for (const auto& operand : operands) {
      shapes.push_back(operand.shape());
      in.push_back(operand.view());
    }
    REWRIGHT_TRY(const auto out_shapes, term.op->infer(*params, shapes));
    std::vector<Tensor<Scalar>> out;
    for (const Shape& shape : out_shapes) out.emplace_back(shape);
    std::vector<TensorView<Scalar>> views;
    for (auto& tensor : out) views.push_back(tensor.view());
    term.op->evaluate(*params, in, views);
    return std::move(out[term.output]);
  }

  const TypedAxiom& axiom_;
  const SizeAssignment& sizes_;
  Draw kind_;
  std::uint64_t seed_;
};

std::string text_of(const Tensor<Exact>& tensor) {
  std::string text = to_string(tensor.shape()) + " [";
  for (std::size_t i = 0; i < tensor.values().size() && i < 24; ++i)
    text += (i ? ", " : "") + to_string(tensor.values()[i]);
  return text + (tensor.values().size() > 24 ? ", ...]" : "]");
}

std::string text_of(const ParamValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* list = std::get_if<Ints>(&value)) return fmt::format("[{}]", fmt::join(*list, ", "));
  return fmt::format("{} sizes", std::get<SizeList<std::int64_t>>(value).values.size());
}

std::string describe(const TypedAxiom& axiom, const SizeAssignment& sizes, Draw kind, std::uint64_t seed) {
  std::string text;
  for (const auto& [name, value] : axiom.fixed) {
    const ParamSpec* spec = spec_of(*axiom.axiom, name);
    const auto* number = std::get_if<std::int64_t>(&value);
    const bool choice = spec && spec->kind == ParamKind::kChoice && number;
    text += fmt::format("{} = {}\n", name, choice ? spec->choices[static_cast<std::size_t>(*number)] : text_of(value));
  }
  TermValues<Exact> values(axiom, sizes, kind, seed);
  for (std::uint32_t i = 0; i < axiom.terms.size(); ++i) {
    if (!axiom.terms[i].variable) continue;
    if (const auto value = values.run(i))
      text += fmt::format("{} = {}\n", axiom.axiom->variables[*axiom.terms[i].variable].name, text_of(*value));
  }
  const auto left = values.run(axiom.left), right = values.run(axiom.right);
  text += fmt::format("left  = {}\n", left ? text_of(*left) : left.error().message);
  text += fmt::format("right = {}", right ? text_of(*right) : right.error().message);
  return text;
}

/// Does the axiom hold at these sizes?
template <class Scalar>
bool equal_at(const TypedAxiom& axiom, const SizeAssignment& sizes, Draw kind, std::uint64_t seed) {
  TermValues<Scalar> values(axiom, sizes, kind, seed);
  const auto left = values.run(axiom.left), right = values.run(axiom.right);
  return left && right && left->shape() == right->shape() && left->values() == right->values();
}

bool uses_order_or_functions(const TypedAxiom& axiom) {
  return std::ranges::any_of(axiom.terms, [](const TypedTerm& term) {
    return term.op && (term.op->info().uses_order || term.op->info().uses_functions);
  });
}

struct Point {
  Draw kind;
  std::uint64_t seed;
};

/// A point at which both sides differ, of `rounds` of each kind.
std::optional<Point> difference_at(const TypedAxiom& axiom, const SizeAssignment& sizes, bool order, std::uint64_t seed,
                                   int rounds) {
  if (!order) {
    if (!equal_at<Field>(axiom, sizes, Draw::kSmall, seed) || !equal_at<Field>(axiom, sizes, Draw::kWhole, seed))
      return Point{Draw::kSmall, seed};
    return std::nullopt;
  }
  for (int round = 0; round < rounds; ++round) {
    for (const Draw kind : {Draw::kSmall, Draw::kQuarters, Draw::kNegative}) {
      const Point point{kind, mix(seed + static_cast<std::uint64_t>(round))};
      if (!equal_at<Exact>(axiom, sizes, point.kind, point.seed)) return point;
    }
  }
  return std::nullopt;
}

std::vector<std::string> size_variables(const TypedAxiom& axiom) {
  std::set<std::string> names;
  const auto add = [&](const SymbolicDim& dim) {
    for (auto& name : dim.variables()) names.insert(std::move(name));
  };
  for (const TypedTerm& term : axiom.terms) {
    for (const SymbolicDim& dim : term.shape) add(dim);
    for (const auto& value : term.params.values()) {
      if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value)) std::ranges::for_each(sizes->values, add);
    }
  }
  return {names.begin(), names.end()};
}

/// Compares both sides of one typing at its sizes, or at an even part of them.
void audit_typing(const TypedAxiom& axiom, const AuditOptions& options, AuditResult& result) {
  std::vector<Constraint> constraints = axiom.left_defined;
  constraints.insert(constraints.end(), axiom.right_defined.begin(), axiom.right_defined.end());
  constraints.insert(constraints.end(), axiom.condition.begin(), axiom.condition.end());
  const auto variables = size_variables(axiom);
  std::size_t total = 0;
  const std::size_t most = options.max_sizes * 64;
  const auto count = [&](const SizeAssignment&) { return ++total < most; };
  for_each_solution(variables, constraints, 1, options.max_dim, count);
  const std::size_t step = std::max<std::size_t>(1, total / std::max<std::size_t>(options.max_sizes, 1));
  const bool order = uses_order_or_functions(axiom);
  std::size_t index = 0;
  for_each_solution(variables, constraints, 1, options.max_dim, [&](const SizeAssignment& sizes) {
    if (index++ % step != 0) return true;
    if (index > most) return false;
    ++result.combinations;
    const std::uint64_t seed = mix(options.seed + index);
    const auto different = difference_at(axiom, sizes, order, seed, total < 40 ? 6 : 1);
    if (!different) return true;
    result.holds = false;
    result.counterexample = describe(axiom, sizes, different->kind, different->seed);
    return false;
  });
}

}  // namespace

Result<AuditResult> audit(const Axiom& axiom, const AuditOptions& options) {
  AuditResult result;
  result.name = axiom.name;
  REWRIGHT_TRY(const auto domains, domains_of(axiom));
  const auto bindings = bindings_of(domains);
  std::vector<TypedAxiom> typings;
  for (const AxiomRanks& ranks : axiom.ranks) {
    for (const ParamBinding& binding : bindings) {
      if (auto typed = specialise(axiom, ranks, binding)) typings.push_back(*std::move(typed));
    }
  }
  const std::size_t step = std::max<std::size_t>(
      1, (typings.size() + options.max_typings - 1) / std::max<std::size_t>(options.max_typings, 1));
  for (std::size_t i = 0; i < typings.size() && result.holds; i += step) audit_typing(typings[i], options, result);
  return result;
}

}  // namespace rewright
