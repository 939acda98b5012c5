// Sizes and conditions as SMT-LIB terms.
#pragma once

#include <rewright/tensor/dim.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace smt_verifier {

/// What a solver knows of sizes. Most proofs need no more than that equal sizes are equal, and arithmetic costs time
/// wherever there is a size; what holds for functions of which nothing is known holds for + and the like too.
enum class Sizes : std::uint8_t {
  kNumbers,  ///< Sort Int, its functions and its order.
  kNames,    ///< A sort Size with functions and an order of which nothing is said.
};
/// Sort, and the declarations that it takes.
[[nodiscard]] std::string_view size_sort(Sizes sizes);
[[nodiscard]] std::string size_declarations(Sizes sizes);

/// The SMT-LIB term for a size variable.
using NameOf = std::function<std::string(rewright::SizeVar)>;

[[nodiscard]] std::string smt_size(const rewright::SymbolicDim& dim, const NameOf& name_of, Sizes sizes);
[[nodiscard]] std::string smt_condition(const rewright::Constraint& constraint, const NameOf& name_of, Sizes sizes);
/// (and a b ...), the one, or true.
[[nodiscard]] std::string smt_and(const std::vector<std::string>& parts);
/// (f a b), or f where there are no arguments.
[[nodiscard]] std::string smt_apply(std::string_view function, const std::vector<std::string>& arguments);

}  // namespace smt_verifier
