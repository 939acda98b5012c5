// Random applications of an operator, of which nothing is known but its specification.
//
// Parameters and operand shapes are drawn until enough are accepted by the shape rule. The draws are biased towards
// what operators ask for: equal shapes, equal ranks, few different sizes, permutations, parts that add up to a size. Of
// four operands and more the ranks and sizes that meet are few: there the shape rule over symbols says which do.
#pragma once

#include <rewright/base/mixing.h>
#include <rewright/operator/operator.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rewright::contract {

struct Application {
  const Operator* op = nullptr;
  Params params;
  std::vector<Shape> in;
};

/// "conv2d[groups=2] (1, 2, 3, 3), (2, 1, 3, 3)".
[[nodiscard]] REWRIGHT_API std::string to_string(const Application& application);

class REWRIGHT_API ApplicationSource {
 public:
  ApplicationSource(const Operator& op, std::uint64_t seed) : op_(op), random_(seed) {}

  /// Whether the operator accepts it or not.
  Application draw();
  /// Accepted ones, all different, with at most `max_elements` elements in operands and outputs together. Fewer than
  /// `count` if `attempts` draws do not give them.
  std::vector<Application> accepted(std::size_t count, std::int64_t max_elements, std::int64_t attempts);

 private:
  Shape random_shape(std::int64_t rank);
  std::vector<Shape> random_shapes();
  std::vector<ParamValue> random_params(const std::vector<Shape>& in);
  /// Ranks that the shape rule accepts at some sizes, found once.
  const std::vector<std::vector<int>>& fitting_ranks();
  /// An application whose sizes meet what the shape rule requires of them; nothing where there are none such.
  std::optional<Application> solved();
  std::vector<std::int64_t> random_integers(int rank);
  std::vector<std::int64_t> random_sizes(const std::vector<Shape>& in);
  ParamValue random_value(const ParamSpec& spec, const std::vector<Shape>& in);

  const Operator& op_;
  Random random_;
  std::vector<std::int64_t> pool_;  ///< The sizes of one draw.
  std::optional<std::vector<std::vector<int>>> fitting_ranks_;
};

}  // namespace rewright::contract
