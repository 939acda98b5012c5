// Values that a model has for inputs of its own: initializers that are listed among the inputs, which a caller may give
// another value.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <map>
#include <string>
#include <string_view>

namespace rewright {

/// By the input's name, of a serialized ModelProto; `directory` is where external data lies. Those that are not tensors
/// of numbers are left out. Errors: kParse, kIo.
[[nodiscard]] REWRIGHT_API Result<std::map<std::string, ConstantData>> default_inputs(std::string_view model,
                                                                                      const std::string& directory);

}  // namespace rewright
