// Sizes and conditions as SMT-LIB terms.
#pragma once

#include <rewright/dim.h>

#include <functional>
#include <string>
#include <string_view>

namespace smt_verifier {

/// The SMT-LIB term for a size variable.
using NameOf = std::function<std::string(std::string_view)>;

[[nodiscard]] std::string smt_size(const rewright::SymbolicDim& dim, const NameOf& name_of);
[[nodiscard]] std::string smt_condition(const rewright::Constraint& constraint, const NameOf& name_of);
/// (and a b ...), the one, or true.
[[nodiscard]] std::string smt_and(const std::vector<std::string>& parts);
/// (f a b), or f where there are no arguments.
[[nodiscard]] std::string smt_apply(std::string_view function, const std::vector<std::string>& arguments);

}  // namespace smt_verifier
