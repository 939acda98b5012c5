// What the walk over graphs needs to know of operators and tensors, and nothing more.
//
// A *type* is all that the definedness of an application depends on: shape, cuts, and whatever else a space wants to
// keep apart. A *value* is a type and the elements of a tensor, in all samples, packed into 64-bit words as the space
// likes. Its hash is linear in the elements; over a field, with fixed random t_s, r_0, r_1, ...,
//
//     h(v) = sum over samples s and index vectors i of  t_s * r_0^i_0 * r_1^i_1 * ... * v_s[i],
//
// a polynomial, so two tensors of one shape with different elements have equal hashes with probability at most
// (sum of their sizes) / (order of the field) over the choice of the point (Schwartz-Zippel). That it is linear makes
// the hash of many applications a short sum of products: for C = A B it is
//
//     sum over s, k of  (t_s sum_i r_0^i A[i,k]) * (sum_j r_1^j B[k,j]),
//
// one vector of A times one of B. These vectors are the operands' *reductions*.
//
// Most graphs differ from all others on a few samples. Those come first in a value and in a reduction, and all that is
// done with values can be done with these alone.
#pragma once

#include <rewright/base/mixing.h>
#include <rewright/base/visibility.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rewright::enumeration {

using TypeId = std::uint32_t;
using ChoiceId = std::uint32_t;
using Word = std::uint64_t;

enum class Samples : std::uint8_t { kFew, kAll };

inline constexpr std::size_t kMaxOperands = 3;
inline constexpr std::size_t kMaxOutputs = 2;
inline constexpr std::size_t kMaxInputs = 32;

/// An operator choice on operands of given types.
struct Signature {
  bool defined = false;
  std::uint32_t number = 0;  ///< Numbers the signatures of a space from 0.
  std::uint32_t output_count = 0;
  std::array<TypeId, kMaxOutputs> outputs{};
  /// Words in the reductions of which the hash of the only output is a product; 0: there are none, evaluate.
  std::uint32_t reduction = 0;
  std::uint32_t few_reduction = 0;  ///< Those of the few samples.
  /// By operand; equal numbers for reductions that are the same function of values of one type.
  std::array<std::uint32_t, 2> reductions{};

  [[nodiscard]] std::uint32_t reduction_words(Samples samples) const {
    return samples == Samples::kAll ? reduction : few_reduction;
  }
};

/// Which tensors may stand at the operands of a choice.
struct ChoiceRules {
  std::uint32_t arity = 1;
  bool commutative = false;    ///< The two operands are taken in one order only.
  bool distinct = false;       ///< The operands must not be the same tensor.
  bool made_in_order = false;  ///< The first operand is made before the second (inputs before all): TASO's concat.
  std::array<std::uint32_t, kMaxOperands> inputs{~0U, ~0U, ~0U};  ///< Bit i: input i may stand at this operand.
  bool inputs_only = false;                                       ///< No result of an operator may.
};

/// An input: inputs of one group can be exchanged for each other; groups are runs of neighbouring inputs.
struct SpaceInput {
  TypeId type = 0;
  std::uint32_t group = 0;
};

/// Objects are used by one thread at a time. Clones give equal types different numbers, perhaps, but equal hashes.
class REWRIGHT_API Space {
 public:
  virtual ~Space();
  [[nodiscard]] virtual std::unique_ptr<Space> clone() const = 0;

  [[nodiscard]] virtual std::span<const SpaceInput> inputs() const = 0;
  [[nodiscard]] virtual std::span<const ChoiceRules> choices() const = 0;
  /// Stays valid and unmoved.
  [[nodiscard]] virtual const Signature& signature(ChoiceId choice, std::span<const TypeId> operands) = 0;

  /// Words of a value of this type, over all samples.
  [[nodiscard]] virtual std::size_t words(TypeId type) const = 0;
  /// Depend on the type alone, not on its number: on all that two tensors must share to be one output of a graph, and
  /// on all that they must share to be one operand of any later operator.
  [[nodiscard]] virtual std::uint64_t shape_hash(TypeId type) const = 0;
  [[nodiscard]] virtual std::uint64_t type_hash(TypeId type) const = 0;
  virtual void input(std::size_t index, Word* out) const = 0;

  using Operands = std::span<const Word* const>;
  using Results = std::span<Word* const>;
  virtual void evaluate(const Signature& signature, Operands in, Results out, Samples samples) = 0;
  /// h(v), the sum over these samples.
  [[nodiscard]] virtual std::uint64_t hash(TypeId type, const Word* value, Samples samples) const = 0;
  /// The reduction of one operand: `signature.reduction_words(samples)` words.
  virtual void reduce(const Signature& signature, std::size_t operand, const Word* value, Word* out,
                      Samples samples) = 0;
  /// h of the result, from the reductions of both operands.
  [[nodiscard]] virtual std::uint64_t product(const Signature& signature, const Word* left, const Word* right,
                                              Samples samples) const = 0;
};

}  // namespace rewright::enumeration
