#include "optimize/reference_tensor.h"

#include <utility>

#include "optimize/random_inputs.h"
#include "optimize/rounding.h"

namespace rewright {

Result<ReferenceTensor> reference_tensor(const TensorType& type, std::span<const std::byte> bytes) {
  const auto count = static_cast<std::size_t>(type.shape.elements());
  if (is_floating(type.element)) {
    REWRIGHT_TRY(auto numbers, to_numbers(type.element, bytes, count));
    return ReferenceTensor{type, std::move(numbers), {}};
  }
  if (element_size(type.element) * count != bytes.size() || element_size(type.element) == 0)
    return make_error(ErrorCode::kUnsupported, "a tensor of element type {} has no numbers",
                      static_cast<int>(type.element));
  return ReferenceTensor{type, {}, {bytes.begin(), bytes.end()}};
}

ReferenceTensor tensor_of(const TensorType& type, std::vector<Real> numbers) {
  if (is_floating(type.element)) return {type, std::move(numbers), {}};
  return {type, {}, to_bytes(type.element, numbers)};
}

std::vector<Real> numbers_of(const ReferenceTensor& tensor) {
  if (is_floating(tensor.type.element)) return tensor.numbers;
  auto numbers = to_numbers(tensor.type.element, tensor.bytes, static_cast<std::size_t>(tensor.type.shape.elements()));
  return numbers ? *std::move(numbers) : std::vector<Real>();
}

double evaluation_flops(const Graph& graph) {
  double flops = 0;
  for (const Node& node : graph.nodes()) {
    const ApplicationNode* application = node.application();
    if (!application) continue;
    std::vector<Shape> in;
    for (const Port operand : node.inputs) in.push_back(graph.shape(operand));
    flops += application->op->work(application->params, in).flops;
  }
  return flops;
}

}  // namespace rewright
