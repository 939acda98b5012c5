// The space that TASO's own generator walks (Jia et al., "TASO: Optimizing Deep Learning Computation with Automatic
// Generation of Graph Substitutions", SOSP 2019, and its published program): its inputs, operators, restrictions and
// arithmetic, so that the counts of our walk can be held against its own.
//
// Arithmetic is modulo 2^32, as the program's int is. A hash is two linear functions modulo 2^32 with odd factors, one
// half of a word each: two tensors that differ are told apart unless all their differences have many factors 2.
//
// What differs from our operators: relu is x (x + 1) + 1, an average is a sum, a maximum starts from 0, a transposed
// matrix remembers its memory layout, elementwise operators ask for equal layouts and forget cuts that differ,
// convolutions keep cuts whatever the stride; ewadd, ewmul and concat take their operands in the order in which they
// were made; enlarge takes inputs only.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <vector>

#include "enumerate/space.h"

namespace rewright::test {

enum class TasoOperators { kGenerator, kWide };

class TasoSpace final : public enumeration::Space {
 public:
  explicit TasoSpace(TasoOperators operators = TasoOperators::kGenerator);

  [[nodiscard]] std::unique_ptr<Space> clone() const override { return std::make_unique<TasoSpace>(operators_); }
  [[nodiscard]] std::span<const enumeration::SpaceInput> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const enumeration::ChoiceRules> choices() const override { return rules_; }
  [[nodiscard]] const enumeration::Signature& signature(enumeration::ChoiceId choice,
                                                        std::span<const enumeration::TypeId> operands) override;
  /// Two elements to a word.
  [[nodiscard]] std::size_t words(enumeration::TypeId type) const override { return (types_[type].elements + 1) / 2; }
  [[nodiscard]] std::uint64_t shape_hash(enumeration::TypeId type) const override { return types_[type].hash; }
  [[nodiscard]] std::uint64_t type_hash(enumeration::TypeId type) const override { return types_[type].hash; }
  void input(std::size_t index, enumeration::Word* out) const override;
  /// There is one sample, which is few and all.
  void evaluate(const enumeration::Signature& signature, Operands in, Results out,
                enumeration::Samples samples) override;
  [[nodiscard]] std::uint64_t hash(enumeration::TypeId type, const enumeration::Word* value,
                                   enumeration::Samples samples) const override;
  void reduce(const enumeration::Signature& signature, std::size_t operand, const enumeration::Word* value,
              enumeration::Word* out, enumeration::Samples samples) override;
  [[nodiscard]] std::uint64_t product(const enumeration::Signature& signature, const enumeration::Word* left,
                                      const enumeration::Word* right, enumeration::Samples samples) const override;

  enum class Kind {
    kMatmul,
    kAdd,
    kMul,
    kConv,
    kAverage,
    kMax,
    kPoolOnes,
    kIdentityKernel,
    kIdentityMatrix,
    kOnes,
    kEnlarge,
    kScale,
    kRelu,
    kConcat,
    kSplit,
    kTranspose
  };
  struct Choice {
    Kind kind{};
    int kernel_h = 0, kernel_w = 0, stride = 1;
    bool same = true, relu = false, shuffle = false;
    int rank = 0, axis = 0;
  };
  [[nodiscard]] const Choice& choice(enumeration::ChoiceId number) const { return choices_[number]; }

 private:
  struct Type {
    int rank = 0;
    std::array<int, 4> dims{1, 1, 1, 1}, strides{};
    std::array<std::vector<int>, 4> cuts;  ///< Positions, the last one made at the end.
    std::size_t elements = 1;
    std::uint64_t hash = 0;
    std::array<std::vector<std::uint32_t>, 2> weights;  ///< Of each element, in each half of a hash.
  };
  struct Use {
    Choice choice;
    std::array<enumeration::TypeId, 2> operands{};
  };

  void add(const Choice& choice, const enumeration::ChoiceRules& rules);
  enumeration::TypeId intern(Type type);
  static void lay_out(Type& type);
  [[nodiscard]] bool infer(const Choice& choice, std::span<const enumeration::TypeId> in, std::vector<Type>& out) const;
  void convolve(const Use& use, const Type& out_type, const std::uint32_t* image, const std::uint32_t* weight,
                std::uint32_t* out);
  void reduce_image(const Use& use, const Type& out_type, const std::uint32_t* image, std::size_t half,
                    std::uint32_t* out) const;
  void reduce_kernel(const Use& use, const std::uint32_t* kernel, std::size_t half, std::uint32_t* out) const;

  TasoOperators operators_;
  std::vector<enumeration::SpaceInput> inputs_;
  std::vector<Choice> choices_;
  std::vector<enumeration::ChoiceRules> rules_;
  std::vector<Type> types_;
  std::map<std::vector<int>, enumeration::TypeId> type_index_;
  std::map<std::array<std::uint32_t, 3>, std::size_t> signature_index_;
  std::deque<enumeration::Signature> signatures_;
  std::vector<Use> uses_;
  std::vector<std::uint32_t> padded_, plane_;
  std::array<std::array<std::vector<std::uint32_t>, 4>, 2> powers_;  ///< r_axis ^ i, for each half of a hash.
};

}  // namespace rewright::test
