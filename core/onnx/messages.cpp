#include "onnx/messages.h"

namespace rewright::model {

std::optional<std::int64_t> checked_elements(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  bool empty = false, large = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    empty = empty || dim == 0;
    if (dim > kMostElements || (dim > 0 && count > kMostElements / dim)) large = true;
    if (!large && dim > 0) count *= dim;
  }
  if (large) return std::nullopt;
  return empty ? 0 : count;
}

}  // namespace rewright::model
