#include "axiom/domain.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

namespace rewright {
namespace {

using Values = std::vector<ParamValue>;
using Ints = std::vector<std::int64_t>;

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// --- the domains' own values ---------------------------------------------------------------------------------------

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

/// [m, n] for every m and n.
Values pairs(const Ints& each) {
  Values all;
  for (const std::int64_t m : each) {
    for (const std::int64_t n : each) all.emplace_back(Ints{m, n});
  }
  return all;
}

/// Every ascending list of axes below `rank`, the empty one first.
Values sets_of_axes(int rank) {
  Values all;
  for (unsigned set = 0; set < (1U << rank); ++set) {
    Ints axes;
    for (int axis = 0; axis < rank; ++axis) {
      if ((set >> axis) & 1U) axes.push_back(axis);
    }
    all.emplace_back(std::move(axes));
  }
  return all;
}

Ints kernel_sizes(AuditDomain domain) {
  return domain == AuditDomain::kTaso    ? Ints{1, 3}
         : domain == AuditDomain::kSmall ? Ints{1, 2, 3}
                                         : Ints{1, 2, 3, 4, 5};
}

Values lists(const std::string& name, AuditDomain domain, int max_rank) {
  const bool taso = domain == AuditDomain::kTaso, nightly = domain == AuditDomain::kNightly;
  if (name == "perm") return permutations(std::min(max_rank, 4));
  if (name == "axes" || name == "stretch_left" || name == "stretch_right") return sets_of_axes(std::min(max_rank, 4));
  if (name == "strides")
    return taso ? pairs({1, 2}) : nightly ? pairs({1, 2, 3}) : Values{Ints{1, 1}, Ints{2, 1}, Ints{2, 2}, Ints{1, 3}};
  if (name == "dilations") return taso ? Values{Ints{1, 1}} : nightly ? pairs({1, 2}) : Values{Ints{1, 1}, Ints{2, 1}};
  if (name == "kernel")
    return domain == AuditDomain::kSmall ? Values{Ints{1, 1}, Ints{1, 2}, Ints{2, 1}, Ints{3, 2}, Ints{3, 3}}
                                         : pairs(kernel_sizes(domain));
  if (name == "pads") {
    if (taso) return {Ints{0, 0, 0, 0}};
    if (!nightly) return {Ints{0, 0, 0, 0}, Ints{1, 0, 0, 0}, Ints{0, 1, 1, 0}};
    // One more after (SAME_UPPER of an even extent), one more before (SAME_LOWER), as many, and one side alone.
    return {Ints{0, 0, 0, 0}, Ints{0, 0, 1, 1}, Ints{1, 1, 0, 0}, Ints{1, 1, 1, 1}, Ints{1, 1, 2, 2}, Ints{2, 0, 1, 0}};
  }
  if (name == "steps") return {Ints{1}, Ints{2}, Ints{-1}, Ints{1, 1}, Ints{2, 1}};
  return {Ints{0}, Ints{1}, Ints{0, 0}, Ints{0, 1}, Ints{1, 1}};
}

Values standard_values(const ParamSpec& spec, AuditDomain domain, int max_rank) {
  Values values;
  const auto add_integers = [&](std::int64_t low, std::int64_t high) {
    for (std::int64_t i = low; i <= high; ++i) values.emplace_back(i);
  };
  switch (spec.kind) {
    case ParamKind::kChoice: {
      const bool plain = domain == AuditDomain::kTaso && (spec.name == "padding" || spec.name == "activation");
      add_integers(0, plain ? 1 : std::ssize(spec.choices) - 1);
      break;
    }
    case ParamKind::kReal: values = {0.5, 1.0, -1.5}; break;
    case ParamKind::kSizes:
      for (int length = 1; length <= max_rank; ++length)
        values.emplace_back(SizeList<std::int64_t>{Ints(static_cast<std::size_t>(length))});
      break;
    case ParamKind::kInt:
      if (spec.name == "groups")
        add_integers(1, domain == AuditDomain::kNightly ? 3 : 2);
      else if (spec.name == "exponent")
        values = {std::int64_t{2}, std::int64_t{3}, std::int64_t{-1}};
      else
        add_integers(0, std::max(max_rank - 1, 0));
      break;
    case ParamKind::kInts: values = lists(spec.name, domain, max_rank); break;
  }
  return values;
}

/// For a variable that is one element of a parameter's list.
Values standard_elements(const ParamSpec& spec, AuditDomain domain) {
  Values values;
  const Ints each = spec.name == "kernel" ? kernel_sizes(domain) : Ints{0, 1, 2};
  for (const std::int64_t value : each) values.emplace_back(value);
  return values;
}

// --- what :domain says ---------------------------------------------------------------------------------------------

template <class... Args>
Error domain_error(const Axiom& axiom, fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kParse, "{}:{}: axiom {}: domain: {}", axiom.file, axiom.line, axiom.name,
                    fmt::format(format, std::forward<Args>(args)...));
}

/// "[1,2]": the numbers between the brackets.
Result<Ints> parse_list(const Axiom& axiom, std::string_view word) {
  Ints list;
  for (std::string_view rest = word.substr(1, word.size() - 2); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const auto number = to_integer(rest.substr(0, comma));
    if (!number) return domain_error(axiom, "'{}' is no list of numbers", word);
    list.push_back(*number);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return list;
}

/// "3", "same", "[1,2]", "0.5", "_3" (a list of three sizes).
Result<ParamValue> parse_value(const Axiom& axiom, const ParamSpec& spec, std::string_view word) {
  if (word.size() >= 2 && word.starts_with('[') && word.ends_with(']')) {
    if (spec.kind != ParamKind::kInts && spec.kind != ParamKind::kSizes)
      return domain_error(axiom, "'{}' is a list, and {} is none", word, spec.name);
    REWRIGHT_TRY(Ints list, parse_list(axiom, word));
    return ParamValue(std::move(list));
  }
  if (spec.kind == ParamKind::kSizes && word.starts_with('_')) {
    const auto length = to_integer(word.substr(1));
    if (length && *length >= 1 && *length <= kMaxRank)
      return ParamValue(SizeList<std::int64_t>{Ints(static_cast<std::size_t>(*length))});
  }
  if (spec.kind == ParamKind::kReal) {
    double value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code == std::errc() && end == word.data() + word.size()) return ParamValue(value);
  }
  const auto number = to_integer(word);
  if (number && (spec.kind != ParamKind::kChoice || (*number >= 0 && *number < std::ssize(spec.choices))))
    return ParamValue(*number);
  const auto choice = std::ranges::find(spec.choices, word);
  if (choice == spec.choices.end())
    return domain_error(axiom, "'{}' is no value of {}; expected a number, a list [1,2] or one of its choices", word,
                        spec.name);
  return ParamValue(std::int64_t{choice - spec.choices.begin()});
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t space = text.find_first_of(" \t\n");
    if (space != 0) words.push_back(text.substr(0, space));
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
  }
  return words;
}

/// Is "w.2" a size of a tensor variable?
bool is_size(const Axiom& axiom, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const auto variable = std::ranges::find(axiom.variables, name.substr(0, dot), &AxiomVariable::name);
  return variable != axiom.variables.end() && variable->sort == AxiomSort::kTensor && to_integer(name.substr(dot + 1));
}

bool is_list(const Axiom& axiom, std::string_view name) {
  const auto variable = std::ranges::find(axiom.variables, name, &AxiomVariable::name);
  return variable != axiom.variables.end() && variable->sort == AxiomSort::kSizes;
}

Status read_entry(const Axiom& axiom, std::span<const std::string_view> words, std::map<std::string, Values>& params,
                  SizeDomain& sizes) {
  const std::string name(words.front());
  const bool size = is_size(axiom, name);
  const ParamSpec* spec = size ? nullptr : spec_of(axiom, name);
  if (!size && !spec)
    return domain_error(axiom, "'{}' is no parameter variable and no size of a tensor variable", name);
  if (words.size() == 1) return domain_error(axiom, "'{}' has no values", name);
  for (const std::string_view word : words.subspan(1)) {
    if (size) {
      const auto number = to_integer(word);
      if (!number || *number < 1) return domain_error(axiom, "'{}' is no size", word);
      sizes[name].push_back(*number);
    } else {
      REWRIGHT_TRY(ParamValue value, parse_value(axiom, *spec, word));
      if (is_list(axiom, name) && std::holds_alternative<std::int64_t>(value))
        return domain_error(axiom, "'{}' is a number, and {} is a list", word, name);
      params[name].push_back(std::move(value));
    }
  }
  if (size) std::ranges::sort(sizes[name]);
  return {};
}

int max_rank_of(const Axiom& axiom) {
  int max_rank = 2;
  for (const AxiomRanks& ranks : axiom.ranks) {
    for (const int rank : ranks) max_rank = std::max(max_rank, rank);
  }
  return max_rank;
}

}  // namespace

const ParamSpec* spec_of(const Axiom& axiom, const std::string& variable) {
  const auto mentions = [&](const SymbolicDim& dim) {
    const auto names = dim.variables();
    return std::ranges::find(names, variable) != names.end();
  };
  const ParamSpec* in_sizes = nullptr;
  for (const AxiomTerm& term : axiom.terms) {
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const auto* whole = std::get_if<AxiomParamVariable>(&term.params[i]);
      const auto* one = std::get_if<SymbolicDim>(&term.params[i]);
      const auto* list = std::get_if<std::vector<SymbolicDim>>(&term.params[i]);
      if (!(whole && whole->name == variable) && !(one && mentions(*one)) &&
          !(list && std::ranges::any_of(*list, mentions)))
        continue;
      const ParamSpec& spec = term.op->info().params[i];
      if (spec.kind != ParamKind::kSizes) return &spec;
      if (!in_sizes) in_sizes = &spec;
    }
  }
  return in_sizes;
}

Result<ParamDomain> domain_of(const Axiom& axiom, AuditDomain domain) {
  ParamDomain result;
  std::map<std::string, Values> written;
  for (std::string_view text = axiom.domain; !text.empty();) {
    const std::size_t end = text.find(';');
    const auto words = words_of(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (!words.empty()) REWRIGHT_CHECK(read_entry(axiom, words, written, result.sizes));
  }
  const int max_rank = max_rank_of(axiom);
  for (const std::string& name : parameter_variables(axiom)) {
    const ParamSpec* spec = spec_of(axiom, name);
    if (!spec) return domain_error(axiom, "the variable {} stands for no parameter", name);
    const auto found = written.find(name);
    const auto variable = std::ranges::find(axiom.variables, name, &AxiomVariable::name);
    const bool element = variable->sort == AxiomSort::kInt && spec->kind == ParamKind::kInts;
    result.params.emplace_back(name, found != written.end() ? found->second
                                     : element              ? standard_elements(*spec, domain)
                                                            : standard_values(*spec, domain, max_rank));
  }
  // What is left in :domain limits Int variables that are sizes.
  for (const auto& [name, values] : written) {
    if (std::ranges::any_of(result.params, [&name = name](const auto& entry) { return entry.first == name; })) continue;
    for (const ParamValue& value : values) {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (!number || *number < 0) return domain_error(axiom, "{} is a size; expected numbers of at least 0", name);
      result.sizes[name].push_back(*number);
    }
    std::ranges::sort(result.sizes[name]);
  }
  return result;
}

std::vector<ParamBinding> bindings_of(const ParamDomain& domain) {
  std::vector<ParamBinding> all(1);
  for (const auto& [name, values] : domain.params) {
    std::vector<ParamBinding> next;
    next.reserve(all.size() * values.size());
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

SizeDomain size_domain_of(const TypedAxiom& axiom, const ParamDomain& written, AuditDomain domain) {
  SizeDomain sizes = written.sizes;
  if (domain == AuditDomain::kSmall) return sizes;
  // Terms that become a convolution's weight, from the applications down to the variables.
  static const std::set<std::string_view> kKernelByKernel = {"ewadd",  "ewmul", "smul",   "relu",
                                                             "concat", "split", "enlarge"};
  std::vector<bool> weight(axiom.terms.size(), false);
  for (std::size_t i = axiom.terms.size(); i-- > 0;) {
    const TypedTerm& term = axiom.terms[i];
    if (term.variable || term.operands.empty()) continue;
    if (term.op->name() == "conv2d") weight[term.operands[1]] = true;
    if (term.op->name() == "enlarge") weight[term.operands[0]] = true;
    if (!weight[i] || !kKernelByKernel.contains(term.op->name())) continue;
    for (const std::uint32_t operand : term.operands) weight[operand] = true;
  }
  for (std::size_t i = 0; i < axiom.terms.size(); ++i) {
    const auto& variable = axiom.terms[i].variable;
    if (!variable || !weight[i] || axiom.ranks[*variable] != 4) continue;
    for (const char* axis : {".2", ".3"})
      sizes.try_emplace(axiom.axiom->variables[*variable].name + axis, kernel_sizes(domain));
  }
  return sizes;
}

}  // namespace rewright
