// A rule made ready for evaluation: both sides as one list of applications, of which equal ones are made once.
#pragma once

#include <rewright/rule/rule.h>
#include <rewright/tensor/size_code.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "draws.h"
#include "tried_sizes.h"

namespace evaluate_verifier {

/// Memory that evaluations share: it grows to what the largest needs.
template <class Scalar>
struct Scratch {
  std::vector<Scalar> values;
  std::vector<rewright::TensorView<const Scalar>> in;
  std::vector<rewright::TensorView<Scalar>> out;
};

class Program {
 public:
  /// The rule must outlive the program.
  Program(const rewright::Rule& rule, const SizeNames& names);

  /// Some application's result depends on order (relu, max); on functions beyond arithmetic (exp, tanh).
  [[nodiscard]] bool uses_order() const { return uses_order_; }
  [[nodiscard]] bool uses_functions() const { return uses_functions_; }

  /// Gives every tensor its shape. False where a side is not defined at these sizes.
  [[nodiscard]] bool set_sizes(std::span<const std::int64_t> sizes);

  // --- at the sizes set ---
  [[nodiscard]] const rewright::Shape& input_shape(std::size_t input) const { return shapes_[input]; }
  [[nodiscard]] const rewright::Shape& source_shape(std::size_t output) const { return shapes_[source_[output]]; }
  [[nodiscard]] const rewright::Shape& target_shape(std::size_t output) const { return shapes_[target_[output]]; }
  /// Of all tensors, inputs included.
  [[nodiscard]] std::int64_t elements() const { return elements_; }
  [[nodiscard]] std::int64_t input_elements() const { return input_elements_; }
  /// The place of an input's first element among the drawn numbers.
  [[nodiscard]] std::int64_t input_offset(std::size_t input) const { return offsets_[input]; }

  /// Computes every tensor; `inputs` are the elements of all inputs, one after the other.
  template <class Scalar>
  void run(const Scalar* inputs, Scratch<Scalar>& scratch) const;
  /// All that run() has computed on this scratch, one tensor after the other.
  template <class Scalar>
  [[nodiscard]] std::span<const Scalar> computed(const Scratch<Scalar>& scratch) const {
    return {scratch.values.data(), static_cast<std::size_t>(elements_ - input_elements_)};
  }
  /// The elements of an output, after run() on the same scratch and inputs.
  template <class Scalar>
  [[nodiscard]] std::span<const Scalar> source(std::size_t output, const Scalar* inputs,
                                               const Scratch<Scalar>& scratch) const {
    return elements_of(source_[output], inputs, scratch);
  }
  template <class Scalar>
  [[nodiscard]] std::span<const Scalar> target(std::size_t output, const Scalar* inputs,
                                               const Scratch<Scalar>& scratch) const {
    return elements_of(target_[output], inputs, scratch);
  }

 private:
  struct Step {
    const rewright::Operator* op = nullptr;
    const rewright::SymbolicParams* symbolic = nullptr;
    rewright::Params params;                               ///< At the sizes set.
    std::vector<std::optional<rewright::SizeCode>> sizes;  ///< Of all size lists, one after the other.
    std::vector<rewright::Port> operands;                  ///< Of inputs, then steps.
    std::vector<std::size_t> in;                           ///< Tensors, at the sizes set.
    std::size_t first = 0, end = 0;                        ///< Tensors of its outputs.
  };

  std::vector<rewright::Port> add_side(const rewright::Pattern& side, const SizeNames& names);
  std::uint32_t add_step(const rewright::PatternNode& node, std::vector<rewright::Port> operands,
                         const SizeNames& names);
  [[nodiscard]] bool set_params(Step& step, std::span<const std::int64_t> sizes);
  /// The tensor behind a port; nothing if its step has fewer outputs.
  [[nodiscard]] std::optional<std::size_t> tensor(rewright::Port port) const;
  [[nodiscard]] bool find_tensors(const std::vector<rewright::Port>& ports, std::vector<std::size_t>& tensors) const;
  template <class Scalar>
  [[nodiscard]] std::span<const Scalar> elements_of(std::size_t tensor, const Scalar* inputs,
                                                    const Scratch<Scalar>& scratch) const;

  std::vector<int> ranks_;  ///< Of the inputs.
  std::vector<Step> steps_;
  std::vector<rewright::Port> source_ports_, target_ports_;
  bool uses_order_ = false, uses_functions_ = false;

  std::vector<rewright::Shape> shapes_;  ///< By tensor, the inputs first.
  std::vector<std::int64_t> offsets_;    ///< Inputs: among the drawn numbers; others: in the scratch.
  std::vector<std::size_t> source_, target_;
  std::vector<rewright::Shape> operand_shapes_;
  std::int64_t elements_ = 0, input_elements_ = 0;
};

template <class Scalar>
std::span<const Scalar> Program::elements_of(std::size_t tensor, const Scalar* inputs,
                                             const Scratch<Scalar>& scratch) const {
  const Scalar* base = tensor < ranks_.size() ? inputs : scratch.values.data();
  return {base + offsets_[tensor], static_cast<std::size_t>(shapes_[tensor].elements())};
}

template <class Scalar>
void Program::run(const Scalar* inputs, Scratch<Scalar>& scratch) const {
  const auto needed = static_cast<std::size_t>(elements_ - input_elements_);
  if (scratch.values.size() < needed) scratch.values.resize(needed);
  for (const Step& step : steps_) {
    scratch.in.clear();
    scratch.out.clear();
    for (const std::size_t t : step.in) scratch.in.emplace_back(elements_of(t, inputs, scratch).data(), shapes_[t]);
    for (std::size_t t = step.first; t < step.end; ++t)
      scratch.out.emplace_back(scratch.values.data() + offsets_[t], shapes_[t]);
    step.op->evaluate(step.params, rewright::Inputs<Scalar>(scratch.in), rewright::Outputs<Scalar>(scratch.out));
  }
}

}  // namespace evaluate_verifier
