// Sizes for the dimensions that a model leaves open.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/imported_model.h"
#include "onnx/proto.h"

namespace rewright {

/// Gives sizes to dimensions that the model leaves open.
class OpenDimensions {
 public:
  OpenDimensions(const ImportOptions& options) : options_(options), sizes_(options.dimensions) {}

  /// Fixes the dimensions of one input; what stays open is remembered.
  Status resolve(model::ValueInfoProto& input);
  /// Puts in the sizes of named dimensions.
  void substitute(model::ValueInfoProto& value) const;
  /// The size of each dimension that was open: by its name, or "x.0" where it has none.
  [[nodiscard]] const std::map<std::string, std::int64_t>& sizes() const { return resolved_; }
  /// Every dimension must have a size, every size must have been asked for.
  [[nodiscard]] Status finish() const;

 private:
  const ImportOptions& options_;
  std::map<std::string, std::int64_t> sizes_;
  std::map<std::string, std::int64_t> resolved_;
  std::set<std::string> used_, open_;
  std::vector<std::string> places_;
};

}  // namespace rewright
