#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "work.h"

namespace onednn {
namespace {
using namespace rewright;

using Tensors = std::vector<std::vector<float>>;

Tensors tensors_of(std::span<const Shape> shapes) {
  Tensors tensors;
  for (const Shape& shape : shapes)
    tensors.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(shape.elements(), 1)), 0.5f);
  return tensors;
}

/// Elements from `axis` on.
std::size_t run_length(const Shape& shape, std::int64_t axis) {
  std::int64_t length = 1;
  for (std::int64_t i = axis; i < shape.rank(); ++i) length *= shape[static_cast<int>(i)];
  return static_cast<std::size_t>(length);
}

/// `whole` is laid out as rows, each of which is a row of every part in turn.
struct Parts {
  std::size_t rows = 0;
  std::vector<std::size_t> lengths;
};

Parts parts_of(std::span<const Shape> parts, std::int64_t axis) {
  Parts result;
  for (const Shape& part : parts) result.lengths.push_back(run_length(part, axis));
  const std::size_t elements = static_cast<std::size_t>(parts.front().elements());
  result.rows = elements / std::max<std::size_t>(result.lengths.front(), 1);
  return result;
}

Run copy_of_parts(std::span<const Shape> parts, const Shape& whole, std::int64_t axis, bool join) {
  auto pieces = std::make_shared<Tensors>(tensors_of(parts));
  auto all = std::make_shared<Tensors>(tensors_of({&whole, 1}));
  return [pieces, all, layout = parts_of(parts, axis), join] {
    float* at = all->front().data();
    for (std::size_t row = 0; row < layout.rows; ++row) {
      for (std::size_t k = 0; k < pieces->size(); ++k) {
        const std::size_t length = layout.lengths[k];
        float* piece = (*pieces)[k].data() + row * length;
        std::memcpy(join ? at : piece, join ? piece : at, length * sizeof(float));
        at += length;
      }
    }
  };
}

/// Reads every operand and writes every output, once.
Run one_pass(std::span<const Shape> in, std::span<const Shape> out) {
  auto read = std::make_shared<Tensors>(tensors_of(in));
  auto written = std::make_shared<Tensors>(tensors_of(out));
  return [read, written] {
    float sum = 0;
    for (const auto& tensor : *read) sum += std::accumulate(tensor.begin(), tensor.end(), 0.0f);
    for (auto& tensor : *written) std::fill(tensor.begin(), tensor.end(), sum);
  };
}

}  // namespace

Shape in_memory(const Shape& shape, const AxisOrder& order) {
  if (order.empty()) return shape;
  const int block = block_of(order);
  Shape lies;
  for (const int axis : order) {
    if (axis < 0) {
      lies.append(block);
    } else {
      lies.append(block > 0 && axis == 1 ? (shape[1] + block - 1) / block : shape[axis]);
    }
  }
  return lies;
}

Result<Run> own_kernel(const Application& application) {
  const std::string& name = application.op.name();
  REWRIGHT_TRY(std::vector<Shape> out, application.op.infer(application.params, application.in));
  std::vector<Shape> in(application.in.begin(), application.in.end());
  const std::size_t operands = in.size();
  for (std::size_t i = 0; i < operands; ++i) in[i] = in_memory(in[i], order_at(application, i));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = in_memory(out[i], order_at(application, operands + i));
  if (name != "concat" && name != "split") return one_pass(in, out);
  const AxisOrder order = order_at(application, 0);
  std::int64_t axis = application.params.integer(0);
  if (!order.empty()) axis = std::ranges::find(order, static_cast<int>(axis)) - order.begin();
  return name == "concat" ? copy_of_parts(in, out[0], axis, true) : copy_of_parts(out, in[0], axis, false);
}

}  // namespace onednn
