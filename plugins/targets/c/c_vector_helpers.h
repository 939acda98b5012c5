// Vector types and functions in C: GNU vector extensions, and built-in functions where these have nothing. No header
// of intrinsics: reading one takes a compiler half a second.
//
//   v8f32    8 lanes of float; load, store, load_part, store_part, splat, fma, min, max, select, exp, tanh, ...
//
// Errors against the exact value, in units in the last place of float32, over all arguments that were tried
// (tests/plugin/c_vectors_test.cpp): exp 2, log 2, sigmoid 4, tanh 6, erf 7.
// Source: polynomials fitted by minimax (Lawson's iteration), in the ranges that the code names.
#pragma once

#include <rewright/tensor/element_type.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright::c {

/// What the code may use of a processor.
struct Instructions {
  std::string name;   ///< "avx512", "avx2", "portable"
  std::size_t bytes;  ///< Of one vector.
  std::string flags;  ///< For the compiler, one by one, separated by spaces.
};
/// Those of this processor, the widest first; "portable" is the last, everywhere.
[[nodiscard]] std::vector<Instructions> instructions_here();
/// Of that name; nothing where there are no such.
[[nodiscard]] const Instructions* instructions_named(std::string_view name);

class VectorHelpers {
 public:
  explicit VectorHelpers(int lanes) : lanes_(lanes) {}
  [[nodiscard]] int lanes() const { return lanes_; }
  /// "v8f32", now among the types used.
  [[nodiscard]] std::string type(ElementType element);
  /// "exp_v8f32", now among the functions used; needs() says whether there is one.
  [[nodiscard]] std::string use(std::string_view stem, ElementType element);
  [[nodiscard]] static bool has(std::string_view stem, ElementType element);
  [[nodiscard]] std::string text() const;

 private:
  int lanes_;
  std::set<std::pair<std::string, ElementType>> used_;
};

}  // namespace rewright::c
