// What is timed: an application made ready, that runs any number of times.
#pragma once

#include <rewright/optimize/cost.h>

#include <functional>
#include <memory>
#include <optional>

namespace onednn {

/// Runs once. It owns its tensors.
using Run = std::function<void()>;

/// How tensors lie: convolutions as they like it best, all else in order; or all as the application's orders say, in
/// order where it has none.
enum class Formats { kAny, kTold };

/// The order of operand `i`; of outputs, counted on.
[[nodiscard]] inline rewright::AxisOrder order_at(const rewright::Application& application, std::size_t i) {
  return i < application.orders.size() ? application.orders[i] : rewright::AxisOrder();
}
/// The tensor as it lies in memory: its axes in their order, axis 1 in whole blocks where it is cut.
[[nodiscard]] rewright::Shape in_memory(const rewright::Shape& shape, const rewright::AxisOrder& order);

/// The application as a primitive of oneDNN. Nothing where oneDNN has none for it. Throws dnnl::error.
[[nodiscard]] std::optional<Run> primitive_of(const rewright::Application& application, Formats formats);

/// Everything else as one pass over the operands: concat and split copy runs of memory, what computes reads every
/// operand and writes every output once.
[[nodiscard]] rewright::Result<Run> own_kernel(const rewright::Application& application);

}  // namespace onednn
