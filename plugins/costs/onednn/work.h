// What is timed: an application made ready, that runs any number of times.
#pragma once

#include <rewright/cost.h>

#include <functional>
#include <memory>
#include <optional>

namespace onednn {

/// Runs once. It owns its tensors.
using Run = std::function<void()>;

/// The application as a primitive of oneDNN. Nothing where oneDNN has none for
/// it. Throws dnnl::error.
[[nodiscard]] std::optional<Run> primitive_of(const rewright::Application& application);

/// Everything else as one pass over the operands: concat and split copy runs of memory, transpose copies element by
/// element, what computes reads every operand and writes every output once.
[[nodiscard]] rewright::Result<Run> own_kernel(const rewright::Operator& op, const rewright::Params& params,
                                               std::span<const rewright::Shape> in);

}  // namespace onednn
