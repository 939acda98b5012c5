// The ONNX project's own test cases: models with inputs and the outputs that are expected, as Debian's package
// libonnx-testdata installs them.
#pragma once

#include <rewright/base/result.h>
#include <rewright/onnx/onnx.h>
#include <rewright/onnx/runtime.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rewright::testing {

/// Where the cases lie: REWRIGHT_ONNX_TESTDATA if it is set, else where Debian puts them.
std::filesystem::path onnx_test_data();

/// One model with one set of data.
struct OnnxCase {
  std::string name;   ///< "node/test_relu"; " #1" and so on behind it for further sets of data.
  std::string model;  ///< A serialized ModelProto.
  std::vector<RuntimeTensor> inputs;
  std::vector<RuntimeTensor> outputs;
  std::map<std::string, std::int64_t> dimensions;  ///< Of inputs, where the model leaves them open: "x.0".
};

/// All cases of a model's folder. Errors: kUnsupported where an input or output is no tensor.
Result<std::vector<OnnxCase>> read_cases(const std::filesystem::path& folder);

/// Which inputs become initializers. Test cases give every operand as an input; models in the wild hold shapes, axes,
/// bounds and the like as constants, and only so can a compiler read them.
enum class Frozen {
  kIntegers,  ///< Those whose element type is no floating-point one.
  kAllButFirst,
};
/// The case with these inputs as initializers of the model.
OnnxCase frozen(const OnnxCase& original, Frozen which);

}  // namespace rewright::testing
