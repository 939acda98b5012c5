#include "conformance/onnx_cases.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

namespace rewright::testing {

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <class To, class Field>
std::vector<std::byte> bytes_of(const Field& values) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(values.size()) * sizeof(To));
  std::byte* to = bytes.data();
  for (const auto& value : values) {
    const To element = static_cast<To>(value);
    std::memcpy(to, &element, sizeof(To));
    to += sizeof(To);
  }
  return bytes;
}

/// The elements of a tensor whose values lie in one of the fields by type.
std::vector<std::byte> bytes_of(const onnx::TensorProto& tensor) {
  using Proto = onnx::TensorProto;
  if (tensor.has_raw_data()) {
    const auto raw = std::as_bytes(std::span(tensor.raw_data()));
    return {raw.begin(), raw.end()};
  }
  switch (tensor.data_type()) {
    case Proto::FLOAT: return bytes_of<float>(tensor.float_data());
    case Proto::DOUBLE: return bytes_of<double>(tensor.double_data());
    case Proto::INT64: return bytes_of<std::int64_t>(tensor.int64_data());
    case Proto::UINT32: return bytes_of<std::uint32_t>(tensor.uint64_data());
    case Proto::UINT64: return bytes_of<std::uint64_t>(tensor.uint64_data());
    case Proto::INT32: return bytes_of<std::int32_t>(tensor.int32_data());
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
    case Proto::INT16:
    case Proto::UINT16: return bytes_of<std::uint16_t>(tensor.int32_data());
    default: return bytes_of<std::uint8_t>(tensor.int32_data());
  }
}

/// "input" or "output" tensors of one set of data, under the model's names for them.
Result<std::vector<RuntimeTensor>> read_tensors(const fs::path& folder, const char* kind,
                                                const std::vector<const onnx::ValueInfoProto*>& values) {
  std::vector<RuntimeTensor> tensors;
  for (std::size_t i = 0; fs::exists(folder / fmt::format("{}_{}.pb", kind, i)); ++i) {
    if (i >= values.size() || !values[i]->type().has_tensor_type())
      return make_error(ErrorCode::kUnsupported, "{} {} is a sequence, an optional or a map", kind, i);
    onnx::TensorProto tensor;
    if (!tensor.ParseFromString(read(folder / fmt::format("{}_{}.pb", kind, i))))
      return make_error(ErrorCode::kParse, "{}: {}_{}.pb is no tensor", folder.string(), kind, i);
    const Shape shape(std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end()));
    tensors.push_back({values[i]->name(), {shape, static_cast<ElementType>(tensor.data_type())}, bytes_of(tensor)});
  }
  return tensors;
}

/// The sizes that the model leaves open, from the data.
std::map<std::string, std::int64_t> open_dimensions(const std::vector<const onnx::ValueInfoProto*>& declared,
                                                    const std::vector<RuntimeTensor>& given) {
  std::map<std::string, std::int64_t> sizes;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& shape = declared[i]->type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size() && axis < given[i].type.shape.rank(); ++axis) {
      if (!shape.dim(axis).has_dim_value())
        sizes[fmt::format("{}.{}", given[i].name, axis)] = given[i].type.shape[axis];
    }
  }
  return sizes;
}

}  // namespace

fs::path onnx_test_data() {
  const char* given = std::getenv("REWRIGHT_ONNX_TESTDATA");
  return given ? given : "/usr/share/libonnx-testdata/data";
}

Result<std::vector<OnnxCase>> read_cases(const fs::path& folder) {
  onnx::ModelProto model;
  const std::string bytes = read(folder / "model.onnx");
  if (!model.ParseFromString(bytes)) return make_error(ErrorCode::kParse, "{} holds no model", folder.string());
  std::set<std::string> initialized;
  for (const auto& tensor : model.graph().initializer()) initialized.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto*> inputs, outputs;
  for (const auto& input : model.graph().input()) {
    if (!initialized.contains(input.name())) inputs.push_back(&input);
  }
  for (const auto& output : model.graph().output()) outputs.push_back(&output);

  std::vector<OnnxCase> cases;
  for (int set = 0; fs::is_directory(folder / fmt::format("test_data_set_{}", set)); ++set) {
    const fs::path data = folder / fmt::format("test_data_set_{}", set);
    const auto name = fs::relative(folder, onnx_test_data()).string() + (set == 0 ? "" : fmt::format(" #{}", set));
    REWRIGHT_TRY(auto given, read_tensors(data, "input", inputs));
    REWRIGHT_TRY(auto expected, read_tensors(data, "output", outputs));
    auto open = open_dimensions(inputs, given);
    cases.push_back({name, bytes, std::move(given), std::move(expected), std::move(open)});
  }
  return cases;
}

OnnxCase frozen(const OnnxCase& original, Frozen which) {
  onnx::ModelProto model;
  model.ParseFromString(original.model);
  OnnxCase result{original.name, {}, {}, original.outputs, original.dimensions};
  for (std::size_t i = 0; i < original.inputs.size(); ++i) {
    const RuntimeTensor& input = original.inputs[i];
    const bool stays = input.type.element == ElementType::kString ||
                       (which == Frozen::kAllButFirst ? i == 0 : is_floating(input.type.element));
    if (stays) {
      result.inputs.push_back(input);
      continue;
    }
    std::erase_if(result.dimensions, [&](const auto& size) { return size.first.starts_with(input.name + "."); });
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(input.name);
    tensor.set_data_type(static_cast<std::int32_t>(input.type.element));
    for (const std::int64_t size : input.type.shape) tensor.add_dims(size);
    tensor.set_raw_data(input.bytes.data(), input.bytes.size());
    if (model.ir_version() < 4) continue;  // There an initializer is an input, too.
    auto* inputs = model.mutable_graph()->mutable_input();
    const auto declared =
        std::find_if(inputs->begin(), inputs->end(), [&](const auto& value) { return value.name() == input.name; });
    if (declared != inputs->end()) inputs->erase(declared);
  }
  result.model = model.SerializeAsString();
  return result;
}

}  // namespace rewright::testing
