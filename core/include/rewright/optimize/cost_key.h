// What measurements of a kernel are kept under, and the kernel that a key stands for.
//
//   key         := application ("+" [join ("," join)*] application)*
//   join        := operand [":" application ["." output]]     Missing: of the one before, of its output 0.
//   application := "|" operator ["[" parameters "]"] "|" (("data" | "weight") shape)* ("@" order)*
//
//   |conv2d[padding=same]|data(1, 3, 8, 8)weight(4, 3, 3, 3)+0|relu|data(1, 4, 8, 8)
//
// Applications stand in an order that depends on the graph alone, so that equal kernels have one key.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/optimize/cost.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rewright {

/// An application as text, the same on every machine; a key is "MODEL|DEVICE" and this.
[[nodiscard]] REWRIGHT_API std::string to_key(const Application& application);
/// The same of a kernel, as the grammar says.
[[nodiscard]] REWRIGHT_API std::string to_key(const Kernel& kernel);

/// A key with its sizes apart: kernels that differ in sizes alone have one structure.
struct KernelKey {
  std::string structure;            ///< s0, s1, ... where sizes stand, shapes and parameters that are sizes.
  std::vector<std::int64_t> sizes;  ///< In that order.
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};
[[nodiscard]] REWRIGHT_API KernelKey key_of(const Kernel& kernel);

/// Reads what to_key wrote. `sizes`: of the s0, s1, ... of a structure. Errors: kParse, what does not follow the
/// grammar; kNotFound, an operator that is not there; kShape, operands that it refuses.
[[nodiscard]] REWRIGHT_API Result<OwnedKernel> from_key(std::string_view key, const Registry& registry,
                                                        std::span<const std::int64_t> sizes = {});

/// The operators of a kernel in which each application takes the first output of the one before and nothing else of the
/// kernel; none of another kernel.
[[nodiscard]] REWRIGHT_API std::vector<std::string> chain_of(const Kernel& kernel);

}  // namespace rewright
