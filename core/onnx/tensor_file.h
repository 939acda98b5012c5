// A tensor in a file of its own: a serialized ONNX TensorProto, as ONNX's test data has them (input_0.pb).
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <string>
#include <vector>

namespace rewright {

/// Its elements as numbers. Errors: kIo, kParse, kUnsupported (strings), with the file.
[[nodiscard]] REWRIGHT_API Result<std::vector<double>> read_tensor_file(const std::string& path);

}  // namespace rewright
