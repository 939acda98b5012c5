// An application as an ONNX model: what a runtime computes from it, and what operators that read it back compute.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/operator_checks.h"

namespace rewright::contract {

/// Values that float32 holds exactly; none is 0, near which 1/x and log(x) tell rounding errors apart.
[[nodiscard]] std::vector<Tensor<Real>> random_reals(const Application& application, Random& random);

/// The model of the application; nothing if the operator has no ONNX form here (`counts` says so).
[[nodiscard]] Result<std::optional<std::string>> model_of(const Application& application, const Registry& registry,
                                                          bool& counts);

/// The elements of all outputs, which must be of float32. Errors: what the runtime refuses.
[[nodiscard]] Result<std::vector<double>> run_in(const Runtime& runtime, std::string_view model,
                                                 const std::vector<Tensor<Real>>& in);

/// The elements of all outputs by the operators that read the model; nothing where a node is carried as it is.
[[nodiscard]] Result<std::optional<std::vector<double>>> run_read(std::string_view model, const Registry& registry,
                                                                  std::vector<Tensor<Real>> in);

/// `where` and `by` say whose the values are: "in the runtime", "by its meaning".
[[nodiscard]] Breach differ(std::span<const double> expected, std::span<const double> found, std::string_view where,
                            std::string_view by);

}  // namespace rewright::contract
