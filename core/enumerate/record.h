// Graphs as the walk finds them, in a few bytes, and back.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/pruner.h>

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "enumerate/operator_space.h"
#include "enumerate/walk.h"

namespace rewright::enumeration {

/// One application: operands are tensors, inputs first, then what the steps before made, in order.
struct Step {
  std::uint16_t choice = 0;
  std::array<std::uint8_t, kMaxOperands> operands{};
  friend auto operator<=>(const Step&, const Step&) = default;
};

struct Record {
  std::uint64_t fingerprint = 0;
  std::uint64_t confirmed = 0;   ///< The fingerprint on fresh inputs, once it is taken.
  std::uint8_t count = 0;        ///< Of steps.
  std::uint8_t two_outputs = 0;  ///< Bit i: step i has two outputs, not one.
  std::array<Step, kMaxOperators> steps{};
  std::array<std::uint8_t, 2> wires{};  ///< Of a graph without operators: the inputs that are its outputs.
  std::uint8_t wire_count = 0;

  [[nodiscard]] std::span<const Step> all() const { return {steps.data(), count}; }
  /// Tensors that the steps make.
  [[nodiscard]] std::size_t made() const { return count + static_cast<std::size_t>(std::popcount(two_outputs)); }
  [[nodiscard]] std::uint32_t output_count(std::size_t step) const { return 1 + (two_outputs >> step & 1U); }
  /// By fingerprint, then by size: the first of a class is a smallest one.
  friend auto operator<=>(const Record&, const Record&) = default;
};

static_assert(sizeof(Record) == 64, "there are a hundred million of them");

[[nodiscard]] Record record_of(const Leaf& leaf);
[[nodiscard]] Record record_of(std::span<const Entry> applications);
/// Graphs without operators: one input, or two (what a split of a concatenation gives back); in the order of inputs
/// within their groups if that is asked for.
[[nodiscard]] REWRIGHT_API std::vector<Record> wires(const Walk& walk, bool inputs_in_order);
/// Of a graph without operators.
[[nodiscard]] REWRIGHT_API std::uint64_t fingerprint_of(const Record& wires, const Walk& walk, Samples samples);
/// One graph of several that share nothing but inputs; nothing if they share an application, so that it hangs together
/// after all, or if it is too large.
[[nodiscard]] std::optional<Record> union_of(std::span<const Record> parts, const Space& space);

/// What a record computes. One thread at a time. Hashes of applications met before are kept, so that most records cost
/// an evaluation or two.
class REWRIGHT_API Evaluator {
 public:
  explicit Evaluator(const EnumerationConfig& config);
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;

  struct Tensor {
    TypeId type = 0;
    bool consumed = false;   ///< Of tensors made: is it an operand?
    std::uint64_t term = 0;  ///< Of the expression, whatever its value: equal for the same applications only.
  };
  /// Tensors of the record, inputs first. Those of which the term is among `free`, ascending, are not what the record
  /// computes but random, depending on the term alone. Valid until the next call.
  std::span<const Tensor> run(const Record& record, std::span<const std::uint64_t> free = {});
  /// Of a tensor of the last run. Nothing is evaluated before it is asked for.
  const TensorHash& hash(std::size_t tensor);
  /// Signatures of the steps of the last run.
  [[nodiscard]] std::span<const Signature* const> signatures() const { return signatures_; }
  /// Tensors that are outputs in the last run, by content.
  [[nodiscard]] std::vector<std::size_t> outputs();
  [[nodiscard]] std::uint64_t fingerprint(const Record& record, std::span<const std::uint64_t> free = {});
  /// Does one of the last step's outputs have the identity of another tensor of the record?
  [[nodiscard]] bool repeats(const Record& record);
  [[nodiscard]] OperatorSpace& space() { return space_; }

 private:
  struct Known;
  struct Values;
  struct Made {
    std::uint64_t application = 0;  ///< Its term.
    std::uint64_t random = 0;       ///< Of a tensor that is free: what it depends on.
    std::uint8_t step = 0;
    std::uint8_t output = 0;
    std::uint8_t first = 0;  ///< Among the tensors made, the step's first.
    bool ready = false;      ///< Are its elements in words_?
    bool hashed = false;     ///< Is its hash in hashes_?
  };
  const Word* elements(std::size_t tensor);
  void apply(std::size_t first_made);
  OperatorSpace space_;
  std::vector<Tensor> tensors_;
  std::vector<const Signature*> signatures_;
  std::span<const std::uint8_t> wires_;
  std::span<const Step> steps_;
  std::vector<std::vector<Word>> input_words_;
  std::vector<TensorHash> input_hashes_;
  std::vector<Made> made_;
  std::array<TensorHash, kMaxOperators * kMaxOutputs> hashes_{};  ///< Of the tensors made, as far as they are hashed.
  std::vector<std::vector<Word>> words_;                          ///< Of the tensors made, as far as they are ready.
  std::vector<Known> known_;
  std::vector<Values> values_;
};

/// The terms of a record's applications, ascending: equal in two records for the same application of the same tensors.
void application_terms(const Record& record, const Space& space, std::vector<std::uint64_t>& terms);

/// The two records as graphs over the inputs that either uses, outputs in the order of their contents. Tensors of the
/// terms `free`, ascending, are inputs too, and outputs that both have of them are left out.
[[nodiscard]] Result<Candidate> make_candidate(const EnumerationConfig& config, Evaluator& evaluator,
                                               const Record& source, const Record& target,
                                               std::span<const std::uint64_t> free = {});

}  // namespace rewright::enumeration
