// From pairs of equal graphs to the candidates from which they all follow.
//
// A pair follows from smaller ones where its outputs can be treated one by one, or where both sides end with the same
// choice applied to operands that are equal anyway. What is left may have tensors in common, made by the same
// applications to the same inputs; where the sides are equal whatever these tensors are, they become inputs. Many pairs
// become one candidate in that way: concat(a, concat(b, relu(c))) says no more than concat(a, concat(b, c)).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "enumerate/record.h"

namespace rewright::enumeration {

/// The values of a record's tensors, inputs first, and where they come from.
class Expanded {
 public:
  /// The evaluator must outlive this.
  void assign(const Record& record, Evaluator& evaluator);

  struct Made {
    std::uint8_t step = 0;
    std::uint8_t output = 0;  ///< Of the step's outputs.
  };
  std::span<const Evaluator::Tensor> tensors() const { return tensors_; }
  /// Of a tensor's value; evaluated when one is asked for first.
  [[nodiscard]] std::uint64_t identity(std::size_t tensor);
  std::span<const std::size_t> outputs() const { return outputs_; }
  const Record& record() const { return record_; }
  [[nodiscard]] bool is_input(std::size_t tensor) const { return tensor < inputs_; }
  [[nodiscard]] const Made& made(std::size_t tensor) const { return made_[tensor - inputs_]; }
  [[nodiscard]] const Step& step_of(std::size_t tensor) const { return record_.steps[made(tensor).step]; }
  /// Of the application that makes the tensor.
  [[nodiscard]] std::uint64_t application_term(std::size_t tensor) const {
    return ~tensors_[tensor - made(tensor).output].term;
  }
  /// Steps that the tensor is made by, as a mask.
  [[nodiscard]] unsigned needed(std::size_t tensor) const { return is_input(tensor) ? 0 : needed_[made(tensor).step]; }
  /// Are these all the tensors of the steps' that no step of them consumes?
  [[nodiscard]] bool are_outputs(unsigned steps, std::span<const std::size_t> wanted) const;
  [[nodiscard]] bool hang_together(unsigned steps) const;

 private:
  Evaluator* evaluator_ = nullptr;
  std::vector<Evaluator::Tensor> tensors_;
  std::vector<std::uint64_t> identities_;
  std::vector<std::size_t> outputs_;
  Record record_;
  std::size_t inputs_ = 0;
  std::array<Made, kMaxOperators * kMaxOutputs> made_{};
  std::array<unsigned, kMaxOperators> needed_{};
  std::array<unsigned, kMaxOperators> consumed_{};  ///< By step: tensors made that are its operands.
  std::array<unsigned, kMaxOperators> makes_{};     ///< By step: tensors it makes.
};

/// Does the equality of the two follow from equalities of fewer operators?
[[nodiscard]] bool follows_from_smaller(const Space& space, Expanded& source, Expanded& target);

/// Tensors made in both by the same applications that something else than these consumes: by term, ascending.
void common_tensors(const Space& space, const Expanded& source, const Expanded& target,
                    std::vector<std::uint64_t>& terms);

/// `terms` with some of them replaced by the tensors that these are made from.
[[nodiscard]] std::vector<std::uint64_t> looked_into(const Space& space, const Expanded& graph,
                                                     std::span<const std::uint64_t> terms,
                                                     std::span<const std::uint64_t> replaced);

/// Equal for two pairs that differ in the names of inputs only, if the given tensors count as inputs; mostly.
[[nodiscard]] std::uint64_t shape_of_pair(const Space& space, const Expanded& source, const Expanded& target,
                                          std::span<const std::uint64_t> free);

/// Applications of each side that are left if the given tensors count as inputs and outputs that are the same tensor on
/// both sides are left out.
[[nodiscard]] std::array<int, 2> operators_without(const Space& space, const Expanded& source, const Expanded& target,
                                                   std::span<const std::uint64_t> free);

/// Are the sides equal whatever the tensors of these terms are?
[[nodiscard]] bool equal_for_any(Evaluator& evaluator, const Record& source, const Record& target,
                                 std::span<const std::uint64_t> free);

}  // namespace rewright::enumeration
