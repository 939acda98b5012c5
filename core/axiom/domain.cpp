#include "axiom/domain.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace rewright {
namespace {

using Values = std::vector<ParamValue>;
using Ints = std::vector<std::int64_t>;

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

int max_rank_of(const Axiom& axiom) {
  int max_rank = 2;
  for (const AxiomRanks& ranks : axiom.ranks) {
    for (const int rank : ranks) max_rank = std::max(max_rank, rank);
  }
  return max_rank;
}

/// The numbers of a range that a small domain tries: its ends, what lies in the middle, small ones and one far off.
Values range_values(const ParamSpec& spec, const ClaimRange& range) {
  std::set<double> numbers;
  for (const double number :
       {range.low.value_or(0), range.high.value_or(0), 0.0, 0.5, 1.0, -1.0, 2.0, 1000.0, -1000.0}) {
    const bool inside = number >= range.low.value_or(number) && number <= range.high.value_or(number);
    if (inside && (spec.kind == ParamKind::kReal || number == std::floor(number))) numbers.insert(number);
  }
  if (spec.kind == ParamKind::kReal && range.low && range.high) numbers.insert((*range.low + *range.high) / 2);
  Values values;
  for (const double number : numbers) {
    if (spec.kind == ParamKind::kReal)
      values.emplace_back(number);
    else
      values.emplace_back(static_cast<std::int64_t>(number));
  }
  return values;
}

/// What the small domain tries of a parameter: the values written, some of each range, its own where none is written.
Values tried_values(const ParamVariable& variable, const ClaimEntry* entry, AuditDomain domain, int max_rank) {
  Values values;
  if (entry != nullptr) {
    values = entry->values;
    for (const ClaimRange& range : entry->ranges) {
      if (variable.spec->kind == ParamKind::kInts && !variable.is_element) continue;
      const Values some = range_values(*variable.spec, range);
      values.insert(values.end(), some.begin(), some.end());
    }
  }
  if (!values.empty()) return values;
  return variable.is_element ? standard_elements(*variable.spec, domain)
                             : standard_values(*variable.spec, domain, max_rank);
}

SizeDomain tried_sizes(const AxiomClaim& claim) {
  SizeDomain sizes;
  for (const ClaimEntry& entry : claim.sizes) {
    std::vector<std::int64_t> values;
    for (const ParamValue& value : entry.values) values.push_back(std::get<std::int64_t>(value));
    std::ranges::sort(values);
    if (!values.empty()) sizes.emplace(SizeVar::read(entry.name), std::move(values));
  }
  return sizes;
}

}  // namespace

Result<ParamDomain> domain_of(const Axiom& axiom, AuditDomain domain) {
  ParamDomain result;
  REWRIGHT_TRY(result.claim, read_claim(axiom));
  result.max_rank = max_rank_of(axiom);
  result.sizes = tried_sizes(result.claim);
  for (const std::string& name : parameter_variables(axiom)) {
    const ParamSpec* spec = spec_of(axiom, name);
    if (!spec)
      return make_error(ErrorCode::kParse, "{}:{}: axiom {}: the variable {} stands for no parameter", axiom.file,
                        axiom.line, axiom.name, name);
    const auto variable = std::ranges::find(axiom.variables, name, &AxiomVariable::name);
    const bool element = variable->sort == AxiomSort::kInt && spec->kind == ParamKind::kInts;
    result.variables.push_back({name, spec, element});
    result.params.emplace_back(
        name, tried_values(result.variables.back(), result.claim.param(name), domain, result.max_rank));
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
    for (const int axis : {2, 3})
      sizes.try_emplace(SizeVar::axis(axiom.axiom->variables[*variable].name, axis), kernel_sizes(domain));
  }
  return sizes;
}

}  // namespace rewright
