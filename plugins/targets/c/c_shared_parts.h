// What statements of vector code have in common, written once. Indices that differ by a number get a name in the loop
// that they follow; what is read again of a buffer that nothing writes gets one where it is read first.
//
//   for (int64_t i = 0; ...) {                                    for (int64_t i = 0; ...) {
//     a = fma(load(&x[n * 64 + i * 16]), splat(w[i]), a);           const int64_t at0 = n * 64 + i * 16;
//     b = fma(load(&x[n * 64 + i * 16 + 8]), splat(w[i]), b);   ->  const v8f32 v0 = splat(w[i]);
//   }                                                               a = fma(load(&x[at0]), v0, a);
//                                                                   b = fma(load(&x[at0 + 8]), v0, b);
//
// Texts get shorter; what is computed stays the same.
#pragma once

#include <string>

namespace rewright::c {

/// `text`: functions, a statement a line, loops as "for (int64_t NAME = ...) {", pointers to what is not written as
/// "const TYPE *restrict NAME".
[[nodiscard]] std::string with_shared_parts(const std::string& text);

}  // namespace rewright::c
