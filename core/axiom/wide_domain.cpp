// Parameters drawn from all that an axiom is claimed for.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "axiom/domain.h"

namespace rewright {
namespace {

using Ints = std::vector<std::int64_t>;

Ints numbers(Random& random, std::size_t length, std::int64_t low, std::int64_t high) {
  Ints list;
  for (std::size_t i = 0; i < length; ++i) list.push_back(random.between(low, high));
  return list;
}

Ints permutation(Random& random, int max_rank) {
  Ints order(static_cast<std::size_t>(random.between(2, std::max(max_rank, 2))));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

Ints ascending_axes(Random& random, int max_rank) {
  Ints axes;
  for (int axis = 0; axis < max_rank; ++axis) {
    if (random.below(2) == 0) axes.push_back(axis);
  }
  return axes;
}

Ints wide_list(const std::string& name, Random& random, int max_rank) {
  const auto length = static_cast<std::size_t>(random.between(1, std::max(max_rank, 2)));
  if (name == "perm") return permutation(random, max_rank);
  if (name == "axes" || name == "stretch_left" || name == "stretch_right") return ascending_axes(random, max_rank);
  if (name == "strides") return numbers(random, 2, 1, 4);
  if (name == "dilations") return numbers(random, 2, 1, 3);
  if (name == "kernel") return numbers(random, 2, 1, 7);
  if (name == "pads") return numbers(random, 4, 0, 3);
  if (name == "steps") return numbers(random, length, random.below(4) == 0 ? -2 : 1, 3);
  return numbers(random, length, 0, 3);
}

/// Both signs, many magnitudes, exact in binary so that exact rationals have them too.
double wide_real(Random& random) {
  if (random.below(8) == 0) return 0;
  const double mantissa = static_cast<double>(random.between(1, 15)) * (random.below(2) == 0 ? 1 : -1);
  return std::ldexp(mantissa, static_cast<int>(random.between(-20, 17)));
}

double in_range(const ClaimRange& range, Random& random) {
  if (range.low && range.high) {
    const auto part = random.below(5);
    if (part == 0) return *range.low;
    if (part == 1) return *range.high;
    return *range.low + (*range.high - *range.low) * (static_cast<double>(random.below(1025)) / 1024);
  }
  const double distance = std::abs(wide_real(random));
  return range.low ? *range.low + distance : *range.high - distance;
}

std::int64_t integer_in_range(const ClaimRange& range, Random& random) {
  const auto low = static_cast<std::int64_t>(std::ceil(range.low.value_or(range.high.value_or(0) - 12)));
  const auto high = static_cast<std::int64_t>(std::floor(range.high.value_or(static_cast<double>(low) + 12)));
  return random.between(low, std::max(low, std::min(high, low + 1000)));
}

ParamValue wide_value(const ParamVariable& variable, Random& random, int max_rank) {
  const ParamSpec& spec = *variable.spec;
  if (variable.is_element) return random.between(spec.name == "kernel" ? 1 : 0, spec.name == "kernel" ? 7 : 6);
  switch (spec.kind) {
    case ParamKind::kChoice: return random.between(0, std::ssize(spec.choices) - 1);
    case ParamKind::kReal: return wide_real(random);
    case ParamKind::kSizes: {
      const auto length = static_cast<std::size_t>(random.between(1, max_rank + 2));
      return SizeList<std::int64_t>{Ints(length)};
    }
    case ParamKind::kInt:
      if (spec.name == "groups") return random.between(1, 6);
      if (spec.name == "exponent") return random.between(-4, 6);
      return random.between(0, std::max(max_rank - 1, 0));
    case ParamKind::kInts: break;
  }
  return wide_list(spec.name, random, max_rank);
}

ParamValue claimed_value(const ParamVariable& variable, const ClaimEntry* entry, Random& random, int max_rank) {
  if (entry == nullptr || entry->any || entry->values.size() + entry->ranges.size() == 0)
    return wide_value(variable, random, max_rank);
  if (entry->ranges.empty()) return random.pick(entry->values);
  const ClaimRange& range = random.pick(entry->ranges);
  if (variable.spec->kind == ParamKind::kReal) return in_range(range, random);
  if (variable.spec->kind != ParamKind::kInts || variable.is_element) return integer_in_range(range, random);
  Ints list(wide_list(variable.spec->name, random, max_rank).size());
  for (std::int64_t& element : list) element = integer_in_range(range, random);
  return list;
}

}  // namespace

ParamBinding wide_binding(const ParamDomain& domain, Random& random) {
  ParamBinding binding;
  for (std::size_t i = 0; i < domain.params.size(); ++i) {
    const auto& [name, tried] = domain.params[i];
    const bool known = random.below(3) == 0 && !tried.empty();
    binding[name] = known ? random.pick(tried)
                          : claimed_value(domain.variables[i], domain.claim.param(name), random, domain.max_rank);
  }
  return binding;
}

}  // namespace rewright
