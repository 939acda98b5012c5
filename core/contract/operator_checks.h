// The checks behind an operator's contracts: each looks at one application.
#pragma once

#include <rewright/onnx/runtime.h>
#include <rewright/tensor/tensor.h>

#include <optional>

#include "contract/applications.h"
#include "contract/contracts.h"

namespace rewright::contract {

inline constexpr std::uint64_t kSeed = 20261122;
inline constexpr std::int64_t kAttempts = 200'000;

/// What one application shows to be broken; nothing: all is kept.
using Breach = std::optional<std::string>;

/// What an output holds before it is written. Two, as an element may be one of them by right.
inline constexpr std::int64_t kMark = 7654321, kOtherMark = -1234567;

/// All outputs, one element after the other. Every element is `mark` before, so that one left out is seen.
template <class Scalar>
std::vector<Scalar> run(const Application& application, const std::vector<Tensor<Scalar>>& in,
                        std::int64_t mark = kMark) {
  std::vector<TensorView<const Scalar>> views;
  for (const Tensor<Scalar>& x : in) views.push_back(x.view());
  std::vector<Tensor<Scalar>> out;
  const std::vector<Shape> shapes = *application.op->infer(application.params, application.in);
  out.reserve(shapes.size());
  std::vector<TensorView<Scalar>> out_views;
  for (const Shape& shape : shapes) {
    out.emplace_back(shape);
    for (Scalar& value : out.back().values()) value = Scalar::from_integer(mark);
    out_views.push_back(out.back().view());
  }
  application.op->evaluate(application.params, Inputs<Scalar>(views), Outputs<Scalar>(out_views));
  std::vector<Scalar> elements;
  for (const Tensor<Scalar>& tensor : out)
    elements.insert(elements.end(), tensor.values().begin(), tensor.values().end());
  return elements;
}

/// Operands whose elements are `make(position among all)`.
template <class Scalar, class Make>
std::vector<Tensor<Scalar>> operands(const Application& application, const Make& make) {
  std::vector<Tensor<Scalar>> in;
  std::size_t next = 0;
  for (const Shape& shape : application.in) {
    in.emplace_back(shape);
    for (Scalar& value : in.back().values()) value = make(next++);
  }
  return in;
}

// operator_shapes.cpp
[[nodiscard]] Outcome refuses_in_sentences(const Operator& op);
[[nodiscard]] Outcome has_one_shape_rule(const Operator& op);
[[nodiscard]] REWRIGHT_API Breach does_not_read_back(const Application& application);
// operator_meaning.cpp
[[nodiscard]] Breach algebras_differ(const Application& application, Random& random);
[[nodiscard]] Breach leaves_unwritten(const Application& application, Random& random);
[[nodiscard]] Breach does_not_commute(const Application& application, Random& random);
[[nodiscard]] Breach is_not_linear(const Application& application, Random& random);
// operator_definition.cpp: `counts` is made false where the shapes over symbols are others.
[[nodiscard]] Breach differs_from_definition(const Application& application, Random& random, bool& counts);
// operator_onnx.cpp: `counts` is made false where the application has no ONNX form.
[[nodiscard]] REWRIGHT_API Breach runtime_differs(const Application& application, const Registry& registry,
                                                  const Runtime& runtime, Random& random, bool& counts);
[[nodiscard]] Breach does_not_come_back(const Application& application, const Registry& registry, Random& random,
                                        bool& counts);
// operator_attributes.cpp: `counts` is made false where no model of the application is read.
[[nodiscard]] Breach ignores_attributes(const Application& application, const Registry& registry,
                                        const Runtime& runtime, Random& random, bool& counts);

}  // namespace rewright::contract
