// Values: the tensors that enumeration meets, each made once.
//
// An application is (operator choice, operand values); its outputs are values. Both are hash-consed: the same
// application of the same operands is found again, never evaluated twice. A value's hash is over its shape and its
// elements in every sample; values whose operands are not needed again are hashed and forgotten.
#pragma once

#include "enumerate/enumerator.h"

#include <rewright/graph.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace rewright::enumeration {

inline constexpr std::size_t kMaxOperands = 3;
inline constexpr std::uint32_t kNone = 0xffffffff;

/// Samples behind a fingerprint: at least 64 elements of the smallest input in all, within 4 .. 16, so that chance
/// neither makes relu look like the identity nor like zero.
[[nodiscard]] std::uint32_t samples_for(const EnumerationConfig& config);

using ValueId = std::uint32_t;
using ApplicationId = std::uint32_t;

struct Value {
  std::uint32_t shape = 0;            ///< Index of a CutShape.
  ApplicationId application = kNone;  ///< kNone: an input.
  std::uint32_t output = 0;           ///< Which output; for inputs, which input.
  Hash128 hash;                       ///< Shape and elements. Zero until evaluated.
};

struct Application {
  std::uint32_t choice = 0;
  std::array<ValueId, kMaxOperands> operands{};
  std::uint32_t operand_count = 0;
  ValueId first_output = 0;
  std::uint32_t output_count = 0;
  std::uint32_t signature = 0;  ///< Index of the operator's behaviour on these operand shapes.
  bool evaluated = false;
};

class ValuePool {
 public:
  /// Evaluates the inputs. Errors: an operator with more than kMaxOperands operands.
  [[nodiscard]] static Result<ValuePool> make(const EnumerationConfig& config);

  [[nodiscard]] const Value& value(ValueId id) const { return values_[id]; }
  [[nodiscard]] const Application& application(ApplicationId id) const { return applications_[id]; }
  [[nodiscard]] std::size_t application_count() const { return applications_.size(); }
  /// Inputs are the values 0 .. input_count() - 1.
  [[nodiscard]] std::uint32_t input_count() const { return input_count_; }

  /// The application of choice number `choice` to the operands; kNone where it is not defined or too large.
  [[nodiscard]] ApplicationId apply(std::uint32_t choice, std::span<const ValueId> operands);

  /// Evaluates and keeps the elements, so that the outputs can be operands of evaluated applications.
  void evaluate_and_keep(ApplicationId id);
  /// Evaluates for the hashes alone. The operands' elements must be kept. Safe to call for different applications at
  /// the same time.
  void evaluate_hash(ApplicationId id);

  /// Equal tensors that a later split would treat alike: shape, cuts, elements.
  [[nodiscard]] bool interchangeable(ValueId a, ValueId b) const {
    return values_[a].hash == values_[b].hash && values_[a].shape == values_[b].shape;
  }
  /// Parameters as applied: a split's sizes are filled in from the cut.
  [[nodiscard]] const Params& params(const Application& application) const {
    return signatures_[application.signature].params;
  }
  [[nodiscard]] Shape shape(ValueId id) const;

 private:
  struct Signature {
    bool defined = false;
    Params params;
    std::vector<std::uint32_t> outputs;  ///< Indices of CutShapes.
  };
  struct Key {
    std::uint32_t choice = 0;
    std::array<std::uint32_t, kMaxOperands> operands{kNone, kNone, kNone};
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  explicit ValuePool(const EnumerationConfig& config) : config_(&config), samples_(samples_for(config)) {}
  std::uint32_t intern(const CutShape& shape);
  std::uint32_t signature_of(std::uint32_t choice, std::span<const ValueId> operands);
  Signature make_signature(std::uint32_t choice, std::span<const ValueId> operands);
  std::vector<std::vector<Field>> compute(const Application& application) const;

  const EnumerationConfig* config_;
  std::uint32_t samples_ = 0;
  std::uint32_t input_count_ = 0;
  std::vector<CutShape> shapes_;
  std::vector<Shape> plain_shapes_;
  std::vector<Value> values_;
  std::vector<Application> applications_;
  std::vector<std::vector<Field>> elements_;  ///< By value, all samples after each other; empty where not kept.
  std::vector<Signature> signatures_;
  std::unordered_map<Key, std::uint32_t, KeyHash> signature_index_;
  std::unordered_map<Key, ApplicationId, KeyHash> application_index_;
};

/// Fresh small signed inputs for `graph`, from (seed, sample, input name): see samples.cpp for their distribution.
[[nodiscard]] std::vector<Tensor<Field>> sample_inputs(const Graph& graph, std::uint64_t seed, std::uint32_t sample);

/// The elements of the input called `name` in one sample.
[[nodiscard]] std::vector<Field> sample_elements(std::string_view name, const Shape& shape, std::uint64_t seed,
                                                 std::uint32_t sample);

}  // namespace rewright::enumeration
