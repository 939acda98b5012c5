#include "onnx/lossy.h"

#include <rewright/tensor/strides.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "onnx/element.h"

namespace rewright::model {
namespace {

double least_normal(ElementType type) {
  switch (type) {
    case ElementType::kFloat16: return 0x1p-14;
    case ElementType::kFloat64: return 0x1p-1022;
    default: return 0x1p-126;
  }
}

double rounded(ElementType type, double value) {
  std::array<std::byte, sizeof(double)> bytes{};
  write_element(type, value, bytes.data());
  return read_element(type, bytes.data());
}

/// The rows along one axis: which have small numbers that changed, and which have a normal number.
class Rows {
 public:
  Rows(std::int64_t size, std::int64_t stride)
      : size_(size), stride_(stride), changed_(static_cast<std::size_t>(size)), normal_(changed_.size()) {}

  void add_changed(std::size_t place) { changed_[row(place)] = true; }
  void add_normal(std::size_t place) { normal_[row(place)] = true; }
  [[nodiscard]] bool is_lost(std::size_t place) const { return changed_[row(place)] && !normal_[row(place)]; }

 private:
  [[nodiscard]] std::size_t row(std::size_t place) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(place) / stride_ % size_);
  }

  std::int64_t size_, stride_;
  std::vector<bool> changed_, normal_;
};

/// One along each axis of several indices, and the whole tensor as one row.
std::vector<Rows> rows_of(const Shape& shape) {
  std::vector<Rows> rows = {Rows(1, 1)};
  const auto strides = strides_of(shape);
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] > 1) rows.emplace_back(shape[axis], strides[static_cast<std::size_t>(axis)]);
  return rows;
}

}  // namespace

std::optional<Loss> loss_in(ElementType type, const Shape& shape, std::span<const Real> values) {
  if (!is_floating(type)) return std::nullopt;
  const double least = least_normal(type);
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double exact = values[i].value;
    if (!std::isfinite(exact) || exact == 0) continue;
    if (std::abs(exact) >= 2 * least && std::abs(exact) < 60000) continue;  // Normal in every type.
    const double near = rounded(type, exact);
    if (std::isinf(near)) return Loss{exact, near};
    if (std::abs(near) < least && near != exact) small.push_back(i);
  }
  if (small.empty()) return std::nullopt;
  std::vector<Rows> rows = rows_of(shape);
  for (Rows& along : rows) {
    for (const std::size_t i : small) along.add_changed(i);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::abs(values[i].value) >= least) along.add_normal(i);
  }
  for (const std::size_t i : small) {
    const bool lost = std::ranges::any_of(rows, [&](const Rows& along) { return along.is_lost(i); });
    if (lost) return Loss{values[i].value, rounded(type, values[i].value)};
  }
  return std::nullopt;
}

bool has_subnormals(ElementType type, std::span<const Real> values) {
  const double least = least_normal(type);
  return std::ranges::any_of(values, [&](Real x) { return x.value != 0 && std::abs(x.value) < least; });
}

std::string name_of_floating(ElementType type) {
  switch (type) {
    case ElementType::kFloat16: return "float16";
    case ElementType::kBFloat16: return "bfloat16";
    case ElementType::kFloat64: return "float64";
    default: return "float32";
  }
}

}  // namespace rewright::model
