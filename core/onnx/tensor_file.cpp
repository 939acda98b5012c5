#include "onnx/tensor_file.h"

#include <fstream>

#include "onnx/proto.h"

namespace rewright {

Result<std::vector<double>> read_tensor_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return make_error(ErrorCode::kIo, "'{}' cannot be read", path);
  model::TensorProto proto;
  if (!proto.ParseFromIstream(&stream) || proto.data_type() == 0)
    return make_error(ErrorCode::kParse, "'{}' holds no tensor: it is no serialized ONNX TensorProto", path);
  auto constant = model::read_tensor(proto, "");
  if (!constant) return make_error(constant.error().code, "'{}': {}", path, constant.error().message);
  return to_reals(*constant);
}

}  // namespace rewright
