// Sizes at which a rule is tried.
//
// Size variables are numbered: the inputs' axes first ("x.0", "x.1", ...), then those that a match binds. Expressions
// and conditions over them are compiled once a rule, so that a try at given sizes looks nothing up by name.
#pragma once

#include <rewright/rule/rule.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evaluate_verifier {

/// The values of all size variables, by number.
using Sizes = std::vector<std::int64_t>;

class SizeNames {
 public:
  explicit SizeNames(const rewright::Rule& rule);
  [[nodiscard]] std::size_t count() const { return names_.size(); }
  [[nodiscard]] const std::vector<rewright::SizeVar>& names() const { return names_; }

 private:
  std::vector<rewright::SizeVar> names_;
};

/// The example's sizes; nothing where the rule has none, or none for a variable of the match.
[[nodiscard]] std::optional<Sizes> example_sizes(const rewright::Rule& rule, const SizeNames& names);
/// Every size halved, rounded up.
[[nodiscard]] Sizes halved(const Sizes& example);
/// The example with its distinct sizes replaced by 1, 2, 3, ... in their order (2 and more, if it has no 1).
[[nodiscard]] Sizes compressed(const Sizes& example);

struct DrawOptions {
  std::int64_t count = 6;
  std::int64_t max_dim = 4;
  std::uint64_t seed = 1;
};
/// Sizes that meet the constraints, unequal where they may be, the fewest first. Free sizes are drawn; the others
/// follow from the equations. Where draws meet the constraints too seldom, a bounded search takes their place.
[[nodiscard]] std::vector<Sizes> draw_sizes(std::span<const rewright::Constraint> constraints, const SizeNames& names,
                                            const DrawOptions& options);

}  // namespace evaluate_verifier
