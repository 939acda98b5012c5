// Rules made of two: a side of one in the place of an input of the other.
#pragma once

#include <rewright/rule/rule.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rewright {

/// `outer` with its input number `input` replaced by the first output of `inner`, on both sides. Nothing where the
/// ranks differ, or no small sizes meet the conditions.
[[nodiscard]] std::optional<Rule> composed(const Rule& outer, std::size_t input, const Rule& inner);

/// `count` of these (fewer where most attempts fail), drawn from `rules`.
[[nodiscard]] std::vector<Rule> composed_rules(std::span<const Rule> rules, std::size_t count, std::uint64_t seed);

}  // namespace rewright
