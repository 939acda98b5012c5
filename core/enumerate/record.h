// Graphs as the walk finds them, in a few bytes, and back.
#pragma once

#include <rewright/export.h>

#include "enumerate/operator_space.h"
#include "enumerate/walk.h"

#include <rewright/pruner.h>

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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
  std::uint8_t made = 0;         ///< Tensors that the steps make.
  std::uint8_t two_outputs = 0;  ///< Bit i: step i has two outputs, not one.
  std::array<Step, kMaxOperators> steps{};
  std::array<std::uint8_t, 2> wires{};  ///< Of a graph without operators: the inputs that are its outputs.
  std::uint8_t wire_count = 0;

  [[nodiscard]] std::span<const Step> all() const { return {steps.data(), count}; }
  [[nodiscard]] std::uint32_t output_count(std::size_t step) const { return 1 + (two_outputs >> step & 1U); }
  /// By fingerprint, then by size: the first of a class is a smallest one.
  friend auto operator<=>(const Record&, const Record&) = default;
};

[[nodiscard]] Record record_of(const Leaf& leaf);
[[nodiscard]] Record record_of(std::span<const Entry> applications);
/// Graphs without operators: one input, or two (what a split of a concatenation gives back); in the order of inputs
/// within their groups if that is asked for.
[[nodiscard]] REWRIGHT_API std::vector<Record> wires(const Walk& walk, bool inputs_in_order);
/// One graph of several that share nothing but inputs; nothing if they share an application, so that it hangs together
/// after all, or if it is too large.
[[nodiscard]] std::optional<Record> union_of(std::span<const Record> parts, const Space& space);

/// What a record computes. One thread at a time.
class REWRIGHT_API Evaluator {
 public:
  explicit Evaluator(const EnumerationConfig& config);
  ~Evaluator();

  struct Tensor {
    TypeId type = 0;
    TensorHash hash;
    std::uint64_t term = 0;  ///< Of the expression, whatever its value: equal for the same applications only.
    bool consumed = false;
  };
  /// Tensors of the record, inputs first. Valid until the next call.
  std::span<const Tensor> run(const Record& record) { return run(record, 0); }
  /// Signatures of the steps of the last run.
  [[nodiscard]] std::span<const Signature* const> signatures() const { return signatures_; }
  /// Tensors that are outputs in the last run, by content.
  [[nodiscard]] std::vector<std::size_t> outputs() const;
  [[nodiscard]] std::uint64_t fingerprint(const Record& record);
  /// Does one of the last step's outputs have the identity of another tensor of the record?
  [[nodiscard]] bool repeats(const Record& record);
  /// The fingerprint if one application's only output were not what it is but an input of its own, known by `term`.
  [[nodiscard]] std::uint64_t fingerprint_without(const Record& record, std::uint64_t term);
  [[nodiscard]] OperatorSpace& space() { return space_; }

 private:
  struct Slot;
  std::span<const Tensor> run(const Record& record, std::uint64_t replaced);
  OperatorSpace space_;
  std::vector<Tensor> tensors_;
  std::vector<const Signature*> signatures_;
  std::span<const std::uint8_t> wires_;
  std::vector<std::vector<Word>> input_words_;
  std::vector<TensorHash> input_hashes_;
  std::vector<std::unique_ptr<Slot>> cache_;
  std::vector<std::vector<Word>> made_words_;
};

/// Is source = target an instance of an equality of fewer operators? Either both contain an application to inputs, of
/// one output of a type that a free input has, and are equal for every value of it; or both end with an application of
/// one choice to equal operands, and are equal without it.
[[nodiscard]] bool is_instance(Evaluator& evaluator, const Record& source, const Record& target);

/// The terms of a record's applications, ascending: equal in two records for the same application of the same tensors.
void application_terms(const Record& record, const Space& space, std::vector<std::uint64_t>& terms);

/// The two records as graphs over the inputs that either uses, outputs in the order of their contents.
[[nodiscard]] Result<Candidate> make_candidate(const EnumerationConfig& config, Evaluator& evaluator,
                                               const Record& source, const Record& target);

}  // namespace rewright::enumeration
