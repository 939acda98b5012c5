#include "onnx/external.h"

#include "onnx/proto.h"

namespace rewright {
namespace {

using namespace model;

constexpr std::size_t kLeastBytes = 1024;
constexpr std::size_t kAlignment = 4096;

void set_entry(TensorProto& tensor, const std::string& key, const std::string& value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

}  // namespace

std::set<std::string> external_files(const std::string& model) {
  std::set<std::string> files;
  const auto proto = parse_model(std::as_bytes(std::span(model)), "the model");
  if (!proto) return files;
  for (const TensorProto& tensor : proto->graph().initializer()) {
    if (tensor.data_location() != TensorProto::EXTERNAL) continue;
    for (const auto& entry : tensor.external_data())
      if (entry.key() == "location") files.insert(entry.value());
  }
  return files;
}

Result<SplitModel> split_off_weights(const std::string& model, const std::string& file) {
  REWRIGHT_TRY(ModelProto proto, parse_model(std::as_bytes(std::span(model)), "the model"));
  SplitModel split;
  for (TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data() || tensor.raw_data().size() < kLeastBytes) continue;
    split.data.resize((split.data.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
    set_entry(tensor, "location", file);
    set_entry(tensor, "offset", std::to_string(split.data.size()));
    set_entry(tensor, "length", std::to_string(tensor.raw_data().size()));
    tensor.set_data_location(TensorProto::EXTERNAL);
    split.data += tensor.raw_data();
    tensor.clear_raw_data();
  }
  split.model = proto.SerializeAsString();
  return split;
}

}  // namespace rewright
