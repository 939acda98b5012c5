// The weights of an artefact as bytes: one after another, in blocks, so that no weight is held as a whole that was not
// before. What is one repeated number stays that, and zeros take no room on the disk.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compile/kernels.h"
#include "onnx/imported_model.h"

namespace rewright::compile {

/// A weight in another form.
struct Packing {
  WeightForm form;                  ///< Not plain; beyond the elements of parts there are zeros.
  std::vector<std::int64_t> sizes;  ///< Of the weight.
  std::int64_t element_bytes = 4;   ///< The same.
  std::int64_t elements = 0;        ///< Of a sparse part.
  /// Of all that is packed.
  [[nodiscard]] std::int64_t bytes() const;
  friend bool operator==(const Packing&, const Packing&) = default;
};

/// A weight at a place: its values, or where they lie.
struct PlacedWeight {
  std::int64_t offset = 0;
  std::variant<std::shared_ptr<const ConstantData>, ExternalWeight> value;
  std::optional<Packing> packing = {};
};

/// All bytes up to `size`, zeros between weights. Errors: kIo, a file of the model that cannot be read.
[[nodiscard]] Result<std::vector<std::byte>> bytes_of(std::span<const PlacedWeight> weights, std::int64_t size);

/// The same as a file. Errors: kIo; then there is none.
[[nodiscard]] REWRIGHT_API Status write_weights(std::span<const PlacedWeight> weights, std::int64_t size,
                                                const std::string& file);

}  // namespace rewright::compile
