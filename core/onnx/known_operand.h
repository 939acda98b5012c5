// What is known of tensors before the run.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace rewright::model {

inline constexpr std::int64_t kMostKnownElements = 1 << 16;

/// What is known of one operand: Shape needs its type alone.
struct KnownOperand {
  std::optional<TensorType> type;
  std::shared_ptr<const ConstantData> value;  ///< Null where it is not known.
};

}  // namespace rewright::model
