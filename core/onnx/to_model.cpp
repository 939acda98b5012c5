#include <rewright/onnx/runtime.h>

#include <span>

#include "onnx/export.h"

namespace rewright {

Result<std::vector<std::byte>> to_model(const Graph& graph) {
  REWRIGHT_TRY(const std::string model, export_model(graph));
  const auto bytes = std::as_bytes(std::span(model));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace rewright
