// Parameters of an operator application: what is fixed when the graph is built (axis, stride, padding, ...).
//
// An operator lists its parameters as ParamSpecs; BasicParams<Dim> holds one value per spec, in that order.
// Params (numbers) belong to graphs, SymbolicParams to patterns: there a size list may name the sizes of inputs,
// as in split[axis=0, sizes=[x.0, y.0]].
//
// A real parameter is a double, and means one number, which need not be the double: the simplest that rounds to it.
// 0.1 means 1/10, 1.0 / 6 means 1/6, 0x1p60 means itself. core/tensor/real.h has the order of what is simple.
//   Field, Exact, Term  compute with that number (from_double), Real with the double.
//   text                is "0.1" and "1/6" in rules, "0.1" and "(/ 1 6)" in axioms, which refuse a literal of which no
//                       double has the meaning: 0.16666666666666666.
//   ONNX                has the nearest float32. What is read is the simplest number that rounds to that: 1/6 for
//                       0.16666667163372040, 0.1 for 0.1f. In float64 models a float32 means itself.
//   rules               match a program's parameter that is theirs after rounding to float32: 0.16666667 matches 1/6.
// What is proved holds for the number. A model's float32 differs from it by rounding, as do sums in another order: that
// is within what the comparison of the optimized model allows, and is compared there.
#pragma once

#include <rewright/base/result.h>
#include <rewright/tensor/dim.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rewright {

enum class ParamKind : std::uint8_t {
  kInt,     ///< One integer, the same in a graph and in a pattern: axis, groups.
  kInts,    ///< A list of such integers: strides, pads, permutation.
  kSizes,   ///< A list of sizes in elements, which a pattern may leave symbolic: split points, target shapes.
  kChoice,  ///< One of a few names: padding, activation.
  kReal,    ///< One floating-point number: epsilon, scale.
};

/// A list of sizes; a type of its own so that it never mixes with a list of integers.
template <class Dim>
struct SizeList {
  std::vector<Dim> values;
  friend bool operator==(const SizeList&, const SizeList&) = default;
};

/// kInt and kChoice: std::int64_t (the choice's position). kReal: double. kInts: the vector. kSizes: SizeList.
template <class Dim>
using BasicParamValue = std::variant<std::int64_t, double, std::vector<std::int64_t>, SizeList<Dim>>;
using ParamValue = BasicParamValue<std::int64_t>;

struct ParamSpec {
  std::string name;
  ParamKind kind = ParamKind::kInt;
  ParamValue default_value = {};          ///< Taken where the text or the caller leaves the parameter out.
  std::vector<std::string> choices = {};  ///< kChoice only.
  bool required = false;                  ///< No default: leaving it out is an error.
};

template <class Dim>
class BasicParams {
 public:
  BasicParams() = default;
  explicit BasicParams(std::vector<BasicParamValue<Dim>> values) : values_(std::move(values)) {}

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] const BasicParamValue<Dim>& operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] std::span<const BasicParamValue<Dim>> values() const { return values_; }

  // By position in the operator's list of specs; the kind must fit.
  [[nodiscard]] std::int64_t integer(std::size_t i) const { return std::get<0>(values_[i]); }
  [[nodiscard]] int choice(std::size_t i) const { return static_cast<int>(std::get<0>(values_[i])); }
  [[nodiscard]] double real(std::size_t i) const { return std::get<1>(values_[i]); }
  [[nodiscard]] const std::vector<std::int64_t>& integers(std::size_t i) const { return std::get<2>(values_[i]); }
  [[nodiscard]] const std::vector<Dim>& sizes(std::size_t i) const { return std::get<3>(values_[i]).values; }

  friend bool operator==(const BasicParams&, const BasicParams&) = default;

 private:
  std::vector<BasicParamValue<Dim>> values_;
};

using Params = BasicParams<std::int64_t>;
using SymbolicParams = BasicParams<SymbolicDim>;

/// A parameter given by name; kChoice by the name of the choice or its position.
struct NamedParam {
  std::string name;
  std::variant<std::int64_t, double, std::vector<std::int64_t>, std::string> value;
};

/// Fills `specs` from named values and defaults. Errors: an unknown name, a value of the wrong kind, a required
/// parameter that is missing; the sentence names the operator, the parameter and what is accepted.
[[nodiscard]] REWRIGHT_API Result<Params> make_params(std::string_view operator_name, std::span<const ParamSpec> specs,
                                                      std::span<const NamedParam> named);
/// The same parameters with every size a constant expression, and back (nothing if a size is not constant).
[[nodiscard]] REWRIGHT_API SymbolicParams to_symbolic(const Params& params);
[[nodiscard]] REWRIGHT_API BasicParams<CutDim> to_cut(const Params& params);
/// Sizes evaluated under a binding of the size variables; nothing if one is not bound.
[[nodiscard]] REWRIGHT_API std::optional<Params> evaluate(const SymbolicParams& params, const DimBinding& binding);

/// "[axis=0, sizes=[2, 2]]"; parameters at their default are left out; "" if nothing is left.
[[nodiscard]] REWRIGHT_API std::string to_string(std::span<const ParamSpec> specs, const Params& params);
[[nodiscard]] REWRIGHT_API std::string to_string(std::span<const ParamSpec> specs, const SymbolicParams& params);
/// Reads what to_string wrote, brackets included; "" gives the defaults.
[[nodiscard]] REWRIGHT_API Result<SymbolicParams> parse_params(std::string_view operator_name,
                                                               std::span<const ParamSpec> specs, std::string_view text);

}  // namespace rewright
