#include "onnx/open_dimensions.h"

#include <algorithm>

namespace rewright {

using namespace model;

namespace {

using Dimension = ::onnx::TensorShapeProto::Dimension;

bool is_open(const Dimension& dim) { return !dim.has_dim_value() || dim.dim_value() == -1; }

std::string name_of(const Dimension& dim, const std::string& input, int axis) {
  return dim.dim_param().empty() ? fmt::format("{}.{}", input, axis) : dim.dim_param();
}

}  // namespace

Status OpenDimensions::resolve(ValueInfoProto& input) {
  if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) return {};
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    auto& dim = *shape.mutable_dim(axis);
    if (!is_open(dim) && dim.dim_value() >= 0) continue;
    if (!is_open(dim))
      return make_error(ErrorCode::kParse,
                        "{}: input '{}' has size {} on axis {}: a size is at least 0, or -1 where it is "
                        "open",
                        options_.file, input.name(), dim.dim_value(), axis);
    const std::string place = fmt::format("{}.{}", input.name(), axis);
    const std::string name = name_of(dim, input.name(), axis);
    auto size = sizes_.find(place);
    if (size == sizes_.end()) size = sizes_.find(name);
    if (size == sizes_.end()) {
      open_.insert(name);
      if (places_.empty()) places_.push_back(fmt::format("input '{}' leaves axis {} open", input.name(), axis));
      continue;
    }
    if (size->second < 0) {
      return make_error(ErrorCode::kUsage, "{}: dimension '{}' was given the size {}: a size is at least 0",
                        options_.file, size->first, size->second);
    }
    used_.insert(size->first);
    dim.set_dim_value(size->second);
    resolved_[name] = size->second;
    const auto [known, is_new] = sizes_.emplace(name, size->second);
    used_.insert(name);
    if (!is_new && known->second != size->second) {
      return make_error(ErrorCode::kUsage, "{}: dimension '{}' was given two sizes, {} and {}", options_.file, name,
                        known->second, size->second);
    }
  }
  return {};
}

void OpenDimensions::substitute(ValueInfoProto& value) const {
  if (!value.type().has_tensor_type()) return;
  for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    const auto size = dim.has_dim_param() ? sizes_.find(dim.dim_param()) : sizes_.end();
    if (size != sizes_.end()) dim.set_dim_value(size->second);
  }
}

Status OpenDimensions::finish() const {
  if (!open_.empty()) {
    std::vector<std::string> flags;
    for (const std::string& name : open_) flags.push_back(fmt::format("--dim {}=SIZE", name));
    return make_error(ErrorCode::kUsage, "{}: {} ({}); give the size of every open dimension: {}", options_.file,
                      places_.front(), fmt::join(open_, ", "), fmt::join(flags, " "));
  }
  for (const auto& [name, size] : options_.dimensions) {
    if (!used_.contains(name)) {
      return make_error(ErrorCode::kUsage, "{}: no input has an open dimension '{}' (given the size {})", options_.file,
                        name, size);
    }
  }
  return {};
}

Result<std::vector<OpenSize>> open_sizes(std::span<const std::byte> bytes, const std::string& file) {
  REWRIGHT_TRY(const ModelProto model, parse_model(bytes, file));
  std::set<std::string> initializers;
  for (const auto& tensor : model.graph().initializer()) initializers.insert(tensor.name());
  std::vector<OpenSize> open;
  for (const auto& input : model.graph().input()) {
    if (initializers.contains(input.name()) || !input.type().tensor_type().has_shape()) continue;
    const auto& shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (!is_open(shape.dim(axis))) continue;
      const std::string name = name_of(shape.dim(axis), input.name(), axis);
      auto known = std::ranges::find(open, name, &OpenSize::name);
      if (known == open.end()) known = open.insert(open.end(), {name, {}});
      known->places.push_back({input.name(), axis, shape.dim_size()});
    }
  }
  return open;
}

}  // namespace rewright
