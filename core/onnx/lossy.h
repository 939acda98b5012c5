// What rounding to an element type destroys.
//
// A number is lost where it is finite and becomes infinite, or where it becomes 0 or a subnormal number other than
// itself, so that it keeps less than the type's precision. In a tensor with several axes, say a weight, small numbers
// are lost only where a whole row is small (all elements of one index along one axis, for any axis): beside a normal
// number the error is below that number's own rounding.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/tensor/scalar.h>

#include <optional>
#include <span>
#include <string>

namespace rewright::model {

struct Loss {
  double exact = 0;
  double rounded = 0;
};

/// The first number that is lost; nothing for a type that is not floating-point. Linear in the number of elements.
[[nodiscard]] REWRIGHT_API std::optional<Loss> loss_in(ElementType type, const Shape& shape,
                                                       std::span<const Real> values);
/// Some element is neither 0 nor normal.
[[nodiscard]] REWRIGHT_API bool has_subnormals(ElementType type, std::span<const Real> values);
/// "float16", ...
[[nodiscard]] std::string name_of_floating(ElementType type);

}  // namespace rewright::model
