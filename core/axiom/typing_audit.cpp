#include "axiom/typing_audit.h"

#include <rewright/base/mixing.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "axiom/counterexample.h"

namespace rewright {
namespace {

std::vector<Constraint> constraints_of(const TypedAxiom& axiom) {
  std::vector<Constraint> all = axiom.left_defined;
  all.insert(all.end(), axiom.right_defined.begin(), axiom.right_defined.end());
  all.insert(all.end(), axiom.condition.begin(), axiom.condition.end());
  return all;
}

std::vector<SizeVar> size_variables(const TypedAxiom& axiom, std::span<const Constraint> constraints) {
  std::set<SizeVar> names;
  const auto add = [&](const SymbolicDim& dim) {
    for (const SizeVar name : dim.variables()) names.insert(name);
  };
  for (const TypedTerm& term : axiom.terms) {
    for (const SymbolicDim& dim : term.shape) add(dim);
    for (const auto& value : term.params.values()) {
      if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value)) std::ranges::for_each(sizes->values, add);
    }
  }
  for (const Constraint& constraint : constraints) {
    add(constraint.left);
    add(constraint.right);
  }
  return {names.begin(), names.end()};
}

/// Sizes that parameters name and no tensor has, as n in reshape to [n], may pass the greatest size of a tensor.
SizeDomain with_free_parameters(const TypedAxiom& axiom, std::span<const SizeVar> names, SizeDomain sizes) {
  for (const SizeVar name : names) {
    const auto& variables = axiom.axiom->variables;
    const auto variable = std::ranges::find(variables, name.tensor(), &AxiomVariable::name);
    if (variable == variables.end() || variable->sort != AxiomSort::kTensor) sizes.try_emplace(name);
  }
  return sizes;
}

/// The sizes that :domain limits, without those that it names to be tried first.
SizeDomain claimed_sizes(const AxiomClaim& claim) {
  SizeDomain sizes;
  for (const ClaimEntry& entry : claim.sizes) {
    if (entry.any || !entry.ranges.empty()) continue;
    std::vector<std::int64_t>& values = sizes[SizeVar::read(entry.name)];
    for (const ParamValue& value : entry.values) values.push_back(std::get<std::int64_t>(value));
    std::ranges::sort(values);
  }
  return sizes;
}

// --- doubles ---------------------------------------------------------------------------------------------------------

constexpr double kRelative = 1e-9;     // Far above what libm rounds, far below what a false axiom changes.
constexpr double kUnderflow = 1e-150;  // Below it a result may have lost its digits on the way.
constexpr double kOverflow = 1e100;    // Above it a product of three overflows.
constexpr int kRoundings = 32;

bool near(double a, double b) { return std::abs(a - b) <= kRelative * std::max(std::abs(a), std::abs(b)) + kUnderflow; }

/// Are all values on the way numbers that neither overflow nor may do so soon?
bool is_moderate(const TermValues<Real>& values) {
  for (const auto& outputs : values.values()) {
    for (const TermBuffer<Real>& tensor : outputs) {
      for (const Real value : tensor.values) {
        if (!(std::abs(value.value) <= kOverflow)) return false;
      }
    }
  }
  return true;
}

/// One tensor's elements under several roundings.
struct Spread {
  explicit Spread(const TermBuffer<Real>& tensor) : shape(tensor.shape) {
    for (const Real value : tensor.values) low.push_back(value.value);
    high = low;
  }
  void add(const TermBuffer<Real>& tensor) {
    for (std::size_t i = 0; i < low.size(); ++i) {
      low[i] = std::min(low[i], tensor.values[i].value);
      high[i] = std::max(high[i], tensor.values[i].value);
    }
  }
  [[nodiscard]] double width(std::size_t i) const { return high[i] - low[i]; }
  Shape shape;
  std::vector<double> low, high;
};

bool is_wide(Draw draw) { return draw == Draw::kScaled || draw == Draw::kWide || draw == Draw::kWidePositive; }

}  // namespace

TypingAudit::TypingAudit(const TypedAxiom& axiom, const ParamDomain& domain, const AuditOptions& options)
    : axiom_(axiom),
      options_(options),
      constraints_(constraints_of(axiom)),
      variables_(size_variables(axiom, constraints_)),
      sizes_(with_free_parameters(axiom, variables_, size_domain_of(axiom, domain, options.domain))),
      search_(variables_, constraints_, options.max_dim, sizes_),
      wide_search_(variables_, constraints_, std::max(options.max_dim, options.wide_dim),
                   with_free_parameters(axiom, variables_, claimed_sizes(domain.claim))),
      program_(axiom, search_.names()),
      field_(program_),
      exact_(program_),
      real_(program_) {}
TypingAudit::~TypingAudit() = default;

std::optional<AuditFailure> TypingAudit::run(AuditResult& result, const std::function<bool()>& stop) {
  std::size_t total = 0, step = 1;
  if (options_.max_sizes > 0) {
    const std::size_t most = options_.max_sizes * 64;
    search_.for_each([&](std::span<const std::int64_t>) { return ++total < most; });
    step = std::max<std::size_t>(1, total / options_.max_sizes);
    if (step > 1 || total == most) result.complete = false;
  }
  std::optional<AuditFailure> failure;
  std::size_t index = 0;
  const bool few = total > 0 && total < 40;
  search_.for_each([&](std::span<const std::int64_t> sizes) {
    if (index++ % step != 0) return true;
    if (options_.max_sizes > 0 && index > options_.max_sizes * 64) return false;
    if ((index & 255) == 0 && stop()) return false;
    const auto point = difference_at(sizes, index, few ? 6 : 1, result);
    if (point) failure = AuditFailure{{sizes.begin(), sizes.end()}, *point, elements(*point)};
    return !point;
  });
  return failure;
}

std::optional<AuditFailure> TypingAudit::run_wide(std::size_t count, AuditResult& result,
                                                  const std::function<bool()>& stop) {
  constexpr std::size_t kSteps = 300, kIndex = 1'000'000;
  if (wide_search_.names() != search_.names()) return std::nullopt;
  Random random(options_.seed);
  AuditResult drawn;
  for (std::size_t i = 0; i < count && !stop(); ++i) {
    const auto found = wide_search_.draw(random, kSteps);
    if (found.size() != variables_.size()) continue;
    const std::vector<std::int64_t> sizes(found.begin(), found.end());
    const auto point = difference_at(sizes, kIndex + i, 2, drawn);
    if (point) return AuditFailure{sizes, *point, elements(*point)};
  }
  result.drawn += drawn.combinations;
  result.error = std::max(result.error, drawn.error);
  return std::nullopt;
}

AuditFailure TypingAudit::shrunk(AuditFailure failure) {
  AuditResult ignored;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t v = 0; v < wide_search_.free_count() && !smaller; ++v) {
      for (std::int64_t size = 1; size < failure.sizes[v] && !smaller; ++size) {
        std::vector<std::int64_t> free = failure.sizes;
        free[v] = size;
        const auto solution = wide_search_.at(free);
        if (solution.size() != failure.sizes.size()) continue;
        std::vector<std::int64_t> sizes(solution.begin(), solution.end());
        const auto point = difference_at(sizes, static_cast<std::size_t>(size), 6, ignored);
        if (!point) continue;
        failure = {std::move(sizes), *point, elements(*point)};
        smaller = true;
      }
    }
  }
  return failure;
}

std::optional<AuditFailure> TypingAudit::smallest(std::int64_t max_dim) {
  SizeSearch search(variables_, constraints_, max_dim, limited(sizes_, max_dim));
  if (search.names() != search_.names()) return std::nullopt;
  std::optional<AuditFailure> best;
  std::size_t index = 0;
  AuditResult ignored;
  search.for_each([&](std::span<const std::int64_t> sizes) {
    const auto point = difference_at(sizes, ++index, 6, ignored);
    if (point && (!best || elements(*point) < best->elements))
      best = AuditFailure{{sizes.begin(), sizes.end()}, *point, elements(*point)};
    return index < 20'000;
  });
  return best;
}

std::string TypingAudit::describe(const AuditFailure& failure) {
  if (failure.point.algebra != AuditPoint::Algebra::kReal) {
    for (const Draw draw :
         {Draw::kSigns, Draw::kMostlyNegative, Draw::kEqualRows, Draw::kSmall, Draw::kQuarters, Draw::kNegative}) {
      for (std::uint64_t seed = 1; seed <= 64; ++seed) {
        if (exact_.run(failure.sizes, draw, seed) && !exact_.equal())
          return describe_counterexample(axiom_, program_, exact_, search_.names(), failure.sizes);
      }
    }
    if (failure.point.algebra == AuditPoint::Algebra::kExact &&
        exact_.run(failure.sizes, failure.point.draw, failure.point.seed))
      return describe_counterexample(axiom_, program_, exact_, search_.names(), failure.sizes);
  }
  const bool found_in_reals = failure.point.algebra == AuditPoint::Algebra::kReal;
  bool compared = false;
  for (const Draw draw : {Draw::kSigns, Draw::kSmall, Draw::kQuarters, Draw::kScaled}) {
    for (std::uint64_t seed = 1; seed <= 64 && (found_in_reals || program_.uses_functions()); ++seed) {
      if (reals_differ(failure.sizes, draw, seed, compared) && real_.run(failure.sizes, draw, seed))
        return describe_counterexample(axiom_, program_, real_, search_.names(), failure.sizes);
    }
  }
  if (found_in_reals && real_.run(failure.sizes, failure.point.draw, failure.point.seed))
    return describe_counterexample(axiom_, program_, real_, search_.names(), failure.sizes);
  if (field_.run(failure.sizes, failure.point.draw, failure.point.seed))
    return describe_counterexample(axiom_, program_, field_, search_.names(), failure.sizes);
  return describe_typing(axiom_);
}

SizeDomain TypingAudit::limited(const SizeDomain& sizes, std::int64_t max_dim) {
  SizeDomain result = sizes;
  for (auto& [name, values] : result) {
    const std::int64_t least = values.empty() ? 1 : values.front();
    std::erase_if(values, [&](std::int64_t value) { return value > std::max(max_dim, least); });
  }
  return result;
}

std::int64_t TypingAudit::elements(const AuditPoint& point) const {
  switch (point.algebra) {
    case AuditPoint::Algebra::kField: return field_.input_elements();
    case AuditPoint::Algebra::kExact: return exact_.input_elements();
    case AuditPoint::Algebra::kReal: break;
  }
  return real_.input_elements();
}

std::optional<AuditPoint> TypingAudit::difference_at(std::span<const std::int64_t> sizes, std::size_t index, int rounds,
                                                     AuditResult& result) {
  bool compared = false;
  const std::uint64_t seed = avalanche(options_.seed * kGoldenGamma + index);
  const auto found = program_.uses_functions() ? functional_difference(sizes, seed, index, rounds, compared)
                     : program_.uses_order()   ? ordered_difference(sizes, seed, index, rounds, compared)
                                               : polynomial_difference(sizes, seed, compared);
  if (!compared) return std::nullopt;
  ++result.combinations;
  if (program_.uses_functions() || program_.uses_order()) {
    ++result.sampled;
  } else {
    const double degree = program_.degree(static_cast<double>(field_.greatest_tensor()));
    result.error = std::max(result.error, degree / static_cast<double>(Field::kPrime));
  }
  return found;
}

std::optional<AuditPoint> TypingAudit::polynomial_difference(std::span<const std::int64_t> sizes, std::uint64_t seed,
                                                             bool& compared) {
  if (differs(field_, sizes, Draw::kWhole, seed, compared))
    return AuditPoint{AuditPoint::Algebra::kField, Draw::kWhole, seed};
  if (differs(exact_, sizes, Draw::kSmall, seed, compared))
    return AuditPoint{AuditPoint::Algebra::kExact, Draw::kSmall, seed};
  return std::nullopt;
}

std::optional<AuditPoint> TypingAudit::ordered_difference(std::span<const std::int64_t> sizes, std::uint64_t seed,
                                                          std::size_t index, int rounds, bool& compared) {
  static constexpr Draw kDraws[] = {Draw::kSmall,          Draw::kQuarters,  Draw::kNegative,
                                    Draw::kMostlyNegative, Draw::kEqualRows, Draw::kScaled};
  for (int round = 0; round < rounds; ++round) {
    // One kind a combination where there are many, in turn; every kind where there are few.
    for (std::size_t kind = 0; kind < std::size(kDraws); ++kind) {
      if (rounds == 1 && kind != index % std::size(kDraws)) continue;
      const std::uint64_t own = avalanche(seed + static_cast<std::uint64_t>(round) * std::size(kDraws) + kind);
      if (exact_differs(sizes, kDraws[kind], own, compared))
        return AuditPoint{AuditPoint::Algebra::kExact, kDraws[kind], own};
    }
  }
  return wide_difference(sizes, seed, index, rounds, compared);
}

bool TypingAudit::exact_differs(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed, bool& compared) {
  const bool differ = differs(exact_, sizes, draw, seed, compared);
  if (!differ || !exact_.defined()) return false;
  if (!is_wide(draw)) return true;
  const auto &left = exact_.value(program_.left()), &right = exact_.value(program_.right());
  if (left.shape != right.shape) return true;
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    const Exact &a = left.values[i], &b = right.values[i];
    if (a.defined() && b.defined() && !(a == b)) return true;
  }
  return false;
}

std::optional<AuditPoint> TypingAudit::functional_difference(std::span<const std::int64_t> sizes, std::uint64_t seed,
                                                             std::size_t index, int rounds, bool& compared) {
  const bool any_function = axiom_.axiom->needs.empty() && !program_.uses_order();
  if (any_function && differs(field_, sizes, Draw::kWhole, seed, compared))
    return AuditPoint{AuditPoint::Algebra::kField, Draw::kWhole, seed};
  for (int round = 0; round < rounds; ++round) {
    const Draw draw = round % 2 == 0 ? Draw::kQuarters : Draw::kNegative;
    const std::uint64_t own = avalanche(seed + static_cast<std::uint64_t>(round));
    if (reals_differ(sizes, draw, own, compared)) return AuditPoint{AuditPoint::Algebra::kReal, draw, own};
  }
  return wide_difference(sizes, seed, index, rounds, compared);
}

std::optional<AuditPoint> TypingAudit::wide_difference(std::span<const std::int64_t> sizes, std::uint64_t seed,
                                                       std::size_t index, int rounds, bool& compared) {
  static constexpr Draw kDraws[] = {Draw::kScaled, Draw::kWide, Draw::kWidePositive};
  for (std::size_t kind = 0; kind < std::size(kDraws); ++kind) {
    if (rounds == 1 && kind != index % std::size(kDraws)) continue;
    const std::uint64_t own = avalanche(seed + kind + 101);
    if (reals_differ(sizes, kDraws[kind], own, compared))
      return AuditPoint{AuditPoint::Algebra::kReal, kDraws[kind], own};
  }
  return std::nullopt;
}

bool TypingAudit::reals_differ(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed, bool& compared) {
  if (!real_.run(sizes, draw, seed)) return false;
  const TermBuffer<Real>&left = real_.value(program_.left()), &right = real_.value(program_.right());
  if (left.shape != right.shape) return true;
  const bool moderate = is_moderate(real_);
  if (is_wide(draw) && !moderate) return false;
  compared |= real_.defined();
  bool suspect = false;
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    const double a = left.values[i].value, b = right.values[i].value;
    if (std::isfinite(a) != std::isfinite(b)) return true;
    suspect |= std::isfinite(a) && !near(a, b);
  }
  if (!suspect) return false;
  // What is left may be rounding: every step rounded otherwise says how much that is.
  Spread of_left(left), of_right(right);
  Random modes(seed);
  for (int i = 0; i < kRoundings; ++i) {
    if (!real_.run_rounded(sizes, draw, seed, modes)) return false;
    if (moderate && !is_moderate(real_)) return false;
    of_left.add(real_.value(program_.left()));
    of_right.add(real_.value(program_.right()));
  }
  if (!real_.run(sizes, draw, seed)) return false;
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    const double a = left.values[i].value, b = right.values[i].value;
    const double rounding = 8 * (of_left.width(i) + of_right.width(i));
    if (std::isfinite(a) && std::isfinite(b) && !near(a, b) && std::abs(a - b) > rounding) return true;
  }
  return false;
}

}  // namespace rewright
