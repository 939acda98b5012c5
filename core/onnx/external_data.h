// Values of tensors that lie in files beside the model.
#pragma once

#include <rewright/base/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/imported_model.h"
#include "onnx/messages.h"

namespace rewright::model {

/// Where the tensor's values lie; nothing where that is in the model. Checks that they are there: in a file inside
/// `folder`, links followed, that is long enough. A type that Graph cannot say is kUnknown there. Errors: kIo, kParse;
/// kUnsupported where elements have no fixed size.
[[nodiscard]] Result<std::optional<ExternalWeight>> where_it_lies(const TensorProto& tensor, const std::string& folder);
/// Errors: kIo.
[[nodiscard]] Result<std::vector<std::byte>> read_external(const ExternalWeight& weight);

/// Says that the tensor's values lie there; it has none of its own then.
void set_external(TensorProto& tensor, const std::string& location, std::uint64_t offset, std::uint64_t bytes);
[[nodiscard]] TensorProto to_proto(const ExternalWeight& weight, const std::string& name);

}  // namespace rewright::model
