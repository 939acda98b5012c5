// What converting a node to another opset asks of the model around it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/messages.h"

namespace rewright::model {

/// What is known of a tensor before the model runs.
struct KnownTensor {
  int element = 0;                                ///< ONNX's number; 0: not known.
  std::optional<std::vector<std::int64_t>> dims;  ///< -1 where a size is open; nothing where the rank is not known.
};

/// What a conversion asks of the model around a node. Names inside and outside of graphs are one set.
struct ConversionContext {
  /// The value of an initializer or a Constant node; null where there is none.
  std::function<const TensorProto*(const std::string& tensor)> constant;
  std::function<KnownTensor(const std::string& tensor)> known;
  /// Takes an initializer that converted nodes read; its name comes from `fresh`.
  std::function<void(TensorProto initializer)> add;
  /// A name that no tensor and no node has.
  std::function<std::string(std::string_view hint)> fresh;
};

}  // namespace rewright::model
