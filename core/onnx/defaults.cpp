#include "onnx/defaults.h"

#include <set>
#include <utility>

#include "onnx/proto.h"

namespace rewright {

using namespace model;

Result<std::map<std::string, ConstantData>> default_inputs(std::string_view model, const std::string& directory) {
  REWRIGHT_TRY(const ModelProto proto, parse_model(std::as_bytes(std::span(model)), "the model"));
  std::set<std::string> inputs;
  for (const auto& input : proto.graph().input()) inputs.insert(input.name());
  std::map<std::string, ConstantData> defaults;
  for (const TensorProto& tensor : proto.graph().initializer()) {
    if (!inputs.contains(tensor.name())) continue;
    auto value = read_tensor(tensor, directory);
    if (!value && value.error().code != ErrorCode::kUnsupported) return value.error();
    if (value) defaults.emplace(tensor.name(), *std::move(value));
  }
  return defaults;
}

}  // namespace rewright
