// The space of registered operators over the prime field: what fingerprints mean by default.
//
// Every input has one shape or several, and a graph is computed on all of them: on the first ("world" 0) in a few
// samples, on each further one in a few more. An application is defined where it is in every world. So a law of square
// matrices, or of images no larger than the kernel, is seen only if it holds for other sizes too.
//
// An element is sign * (1 .. 15) / 2 with pseudo-random sign and magnitude: a keyed hash of (seed, input name, sample,
// position), so no two inputs are affinely related. The field orders fractions of denominator 36^4
// (<rewright/tensor/scalar.h>): products of six elements, sums of such, and averages over windows of 2x2 or 3x3, one of
// another four deep. Elements between -1 and 1 are among them, a third of those of odd samples, so that no law of whole
// numbers (relu(x + x * x) = x + x * x) is taken for one of all. The signs of first elements follow the bits of the
// sample's number, each scalar another one, so that two of them (three, of which there are more samples) are seen in
// all combinations of signs.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/tensor/dim.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "enumerate/enumeration_config.h"
#include "enumerate/space.h"

namespace rewright::enumeration {

/// The elements of an input in one sample. Bit `sign_pattern` of the sample's number is the sign of the first.
[[nodiscard]] std::vector<Field> sample_elements(std::string_view name, std::uint32_t sign_pattern, const Shape& shape,
                                                 std::uint64_t seed, std::uint32_t sample);

/// How many samples are taken of each world.
[[nodiscard]] std::vector<std::uint32_t> samples_of_worlds(const EnumerationConfig& config);
[[nodiscard]] std::size_t world_count(const EnumerationConfig& config);
[[nodiscard]] const Shape& shape_in(const EnumerationInput& input, std::size_t world);

/// Errors: inputs that differ in the number of shapes or in rank, too many inputs, an operator with too many operands
/// or outputs.
[[nodiscard]] REWRIGHT_API Status check_space(const EnumerationConfig& config);

class REWRIGHT_API OperatorSpace final : public Space {
 public:
  /// check_space(config) must hold; `config` must outlive the space and its clones.
  explicit OperatorSpace(const EnumerationConfig& config);

  [[nodiscard]] std::unique_ptr<Space> clone() const override { return std::make_unique<OperatorSpace>(*config_); }
  [[nodiscard]] std::span<const SpaceInput> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const ChoiceRules> choices() const override { return rules_; }
  [[nodiscard]] const Signature& signature(ChoiceId choice, std::span<const TypeId> operands) override;
  [[nodiscard]] std::size_t words(TypeId type) const override { return types_[type].words; }
  [[nodiscard]] std::uint64_t shape_hash(TypeId type) const override { return types_[type].shape_hash; }
  [[nodiscard]] std::uint64_t type_hash(TypeId type) const override { return types_[type].type_hash; }
  void input(std::size_t index, Word* out) const override;
  void evaluate(const Signature& signature, Operands in, Results out, Samples samples) override;
  [[nodiscard]] std::uint64_t hash(TypeId type, const Word* value, Samples samples) const override;
  void reduce(const Signature& signature, std::size_t operand, const Word* value, Word* out, Samples samples) override;
  [[nodiscard]] std::uint64_t product(const Signature& signature, const Word* left, const Word* right,
                                      Samples samples) const override;

  [[nodiscard]] const Shape& shape(TypeId type, std::size_t world) const { return types_[type].worlds[world].shape; }
  /// Elements of an input that is not one of the configuration's, from a key.
  void fill(TypeId type, std::uint64_t key, Word* out) const;
  /// Parameters as applied, in one world: a split's sizes are filled in from the cut.
  [[nodiscard]] const Params& params(const Signature& signature, std::size_t world) const;
  /// The input at this place; they are sorted so that exchangeable ones are neighbours.
  [[nodiscard]] std::size_t config_index(std::size_t input) const { return order_[input]; }

 private:
  struct World {
    Shape shape;
    std::size_t offset = 0;  ///< Of its first sample in the value.
    std::size_t elements = 0;
  };
  struct Type {
    std::vector<CutShape> cuts;  ///< One per world.
    std::vector<World> worlds;
    std::size_t words = 0;
    std::uint64_t shape_hash = 0;
    std::uint64_t type_hash = 0;
    std::size_t few_words = 0;
    std::vector<Field> weights;  ///< Of each element in the hash, samples included.
  };
  struct Use {
    ChoiceId choice = 0;
    std::array<TypeId, kMaxOperands> operands{};
    std::vector<Params> params;          ///< One per world.
    std::vector<std::size_t> reduction;  ///< Length in one sample of each world.
  };

  TypeId intern(std::vector<CutShape> cuts);
  [[nodiscard]] bool infer(ChoiceId choice, std::span<const TypeId> operands, Use& use,
                           std::vector<std::vector<CutShape>>& outputs) const;
  [[nodiscard]] std::uint32_t reduction_number(const Signature& signature, std::size_t operand);
  [[nodiscard]] const OperatorChoice& choice_of(ChoiceId choice) const { return config_->operators[choice]; }
  /// The few are the first ones of world 0.
  [[nodiscard]] std::uint32_t sample_count(std::size_t world, Samples samples) const {
    return samples == Samples::kAll ? samples_[world] : world == 0 ? std::min(samples_[0], kFewSamples) : 0;
  }

  static constexpr std::uint32_t kFewSamples = 3;

  const EnumerationConfig* config_;
  std::vector<std::uint32_t> samples_;
  std::vector<Field> sample_factors_;  ///< t_s, over all worlds.
  HashPoint point_;
  std::vector<std::uint32_t> sign_patterns_;  ///< By input of the configuration.
  std::vector<std::size_t> order_;
  std::vector<SpaceInput> inputs_;
  std::vector<ChoiceRules> rules_;
  std::vector<const HashReduction*> reductions_;  ///< By choice; null where there is none.
  std::deque<Type> types_;
  std::map<std::string, TypeId> type_index_;
  std::map<std::array<std::uint32_t, kMaxOperands + 1>, std::size_t> signature_index_;
  std::map<std::pair<TypeId, std::uint64_t>, std::uint32_t> reduction_numbers_;
  std::deque<Signature> signatures_;
  std::deque<Use> uses_;
};

}  // namespace rewright::enumeration
