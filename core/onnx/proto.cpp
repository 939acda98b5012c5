#include "onnx/proto.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstring>
#include <limits>
#include <span>

#include "onnx/element.h"
#include "onnx/external_data.h"
#include "tensor/real.h"

namespace rewright::model {
namespace {

std::vector<std::byte> to_bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Elements of a repeated field, each cast to T.
template <class T, class Field>
std::vector<std::byte> pack(const Field& field) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(field.size()) * sizeof(T));
  std::byte* at = bytes.data();
  for (const auto element : field) {
    const T value = static_cast<T>(element);
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  }
  return bytes;
}

/// The elements of a tensor without raw data: which field holds them depends on the element type.
std::vector<std::byte> typed_elements(const TensorProto& tensor, ElementType element) {
  switch (element) {
    case ElementType::kFloat32: return pack<float>(tensor.float_data());
    case ElementType::kFloat64: return pack<double>(tensor.double_data());
    case ElementType::kInt64: return pack<std::int64_t>(tensor.int64_data());
    case ElementType::kUint64: return pack<std::uint64_t>(tensor.uint64_data());
    case ElementType::kUint32: return pack<std::uint32_t>(tensor.uint64_data());
    case ElementType::kInt32: return pack<std::int32_t>(tensor.int32_data());
    case ElementType::kInt8: return pack<std::int8_t>(tensor.int32_data());
    case ElementType::kUint8:
    case ElementType::kBool: return pack<std::uint8_t>(tensor.int32_data());
    case ElementType::kInt16: return pack<std::int16_t>(tensor.int32_data());
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
    case ElementType::kString:  // These two have none here.
    case ElementType::kUnknown: break;
  }
  return pack<std::uint16_t>(tensor.int32_data());
}

}  // namespace

Result<ModelProto> parse_model(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return make_error(ErrorCode::kParse,
                      "{}: {} bytes are more than a protobuf message may have (2 GiB); keep the "
                      "weights in external data",
                      file, bytes.size());
  }
  const auto size = static_cast<int>(bytes.size());
  google::protobuf::io::ArrayInputStream raw(bytes.data(), size);
  google::protobuf::io::CodedInputStream input(&raw);
  ModelProto model;
  if (!model.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage() || input.CurrentPosition() != size) {
    return make_error(
        ErrorCode::kParse,
        "{}: not an ONNX model: its {} bytes cannot be read as protobuf (another kind of file, cut short, "
        "damaged, or with graphs nested more than 30 deep)",
        file, bytes.size());
  }
  return model;
}

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

std::string qualified_type(const NodeProto& node) {
  const std::string domain = normal_domain(node.domain());
  return domain.empty() ? node.op_type() : domain + ":" + node.op_type();
}

std::string describe(const NodeProto& node) {
  std::string name = node.name();
  if (name.empty() && node.output_size() > 0) name = node.output(0);
  return fmt::format("node '{}' ({})", name, qualified_type(node));
}

std::int64_t opset_of(const ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (normal_domain(import.domain()).empty()) return import.version();
  }
  return 0;
}

std::optional<TensorType> static_type(const TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  const auto element = element_type(type.tensor_type().elem_type());
  const auto& proto = type.tensor_type().shape();
  if (!element || proto.dim_size() > kMaxRank) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const auto& dim : proto.dim()) {
    if (!dim.has_dim_value()) return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  if (!checked_elements(dims)) return std::nullopt;
  return TensorType{Shape(std::move(dims)), *element};
}

TypeProto to_proto(const TensorType& type) {
  TypeProto proto;
  auto& tensor = *proto.mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(type.element));
  auto& shape = *tensor.mutable_shape();
  for (const std::int64_t dim : type.shape) shape.add_dim()->set_dim_value(dim);
  return proto;
}

Result<ConstantData> read_tensor(const TensorProto& tensor, const std::string& folder) {
  std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const auto count = checked_elements(dims);
  if (!count) {
    return make_error(ErrorCode::kParse,
                      "tensor '{}' has sizes ({}): each must be at least 0, the product at most 2^40", tensor.name(),
                      fmt::join(dims, ", "));
  }
  const auto element = element_type(tensor.data_type());
  const std::size_t size = element ? element_size(*element) : 0;
  if (size == 0 || dims.size() > kMaxRank) {
    return make_error(ErrorCode::kUnsupported, "tensor '{}' has element type {} and {} axes", tensor.name(),
                      tensor.data_type(), dims.size());
  }
  ConstantData constant{{Shape(std::move(dims)), *element}, {}};
  const std::uint64_t expected = static_cast<std::uint64_t>(*count) * size;
  std::vector<std::byte> bytes;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    REWRIGHT_TRY(const auto lies, where_it_lies(tensor, folder));
    REWRIGHT_TRY(bytes, read_external(*lies));
  } else {
    bytes = tensor.has_raw_data() ? to_bytes(tensor.raw_data()) : typed_elements(tensor, *element);
  }
  if (bytes.size() != expected) {
    return make_error(ErrorCode::kParse, "tensor '{}' of shape {} needs {} bytes and has {}", tensor.name(),
                      constant.type.shape, expected, bytes.size());
  }
  constant.value = std::move(bytes);
  return constant;
}

TensorProto to_proto(const ConstantData& constant, const std::string& name) {
  TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(constant.type.element));
  for (const std::int64_t dim : constant.type.shape) proto.add_dims(dim);
  const std::vector<std::byte> bytes = bytes_of(constant);
  proto.set_raw_data(bytes.data(), bytes.size());
  return proto;
}

std::optional<OnnxAttribute> read_attribute(const AttributeProto& attribute) {
  switch (attribute.type()) {
    case AttributeProto::INT: return attribute.i();
    case AttributeProto::FLOAT: return meant_by(attribute.f());
    case AttributeProto::STRING: return attribute.s();
    case AttributeProto::INTS: return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case AttributeProto::FLOATS: return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case AttributeProto::TENSOR: {
      auto constant = read_tensor(attribute.t(), "");
      if (!constant) return std::nullopt;
      return std::make_shared<const ConstantData>(*std::move(constant));
    }
    default: return std::nullopt;
  }
}

AttributeProto to_proto(const std::string& name, const OnnxAttribute& attribute) {
  AttributeProto proto;
  proto.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
    proto.set_type(AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* real = std::get_if<double>(&attribute)) {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(*real));
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    proto.set_type(AttributeProto::INTS);
    proto.mutable_ints()->Add(integers->begin(), integers->end());
  } else if (const auto* reals = std::get_if<std::vector<double>>(&attribute)) {
    proto.set_type(AttributeProto::FLOATS);
    for (const double value : *reals) proto.add_floats(static_cast<float>(value));
  } else {
    proto.set_type(AttributeProto::TENSOR);
    *proto.mutable_t() = to_proto(*std::get<std::shared_ptr<const ConstantData>>(attribute), "");
  }
  return proto;
}

}  // namespace rewright::model
