#include "onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "onnx/element.h"

namespace rewright::model {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

Result<std::uint64_t> read_count(const TensorProto& tensor, const std::string& key, const std::string& text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size()) return count;
  return make_error(ErrorCode::kParse, "tensor '{}': external data has {} '{}', expected a number of bytes",
                    tensor.name(), key, text);
}

Result<Entry> read_entry(const TensorProto& tensor) {
  Entry found;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") found.location = entry.value();
    if (entry.key() == "offset") {
      REWRIGHT_TRY(found.offset, read_count(tensor, "offset", entry.value()));
    } else if (entry.key() == "length") {
      REWRIGHT_TRY(found.length, read_count(tensor, "length", entry.value()));
    }
  }
  if (found.location.empty()) {
    return make_error(ErrorCode::kParse, "tensor '{}': external data names no file (the entry 'location' is missing)",
                      tensor.name());
  }
  return found;
}

/// 0 for types without a fixed size. Numbers from 17 on: four 8-bit floats, two 4-bit integers, a 4-bit float, the
/// exponents of blocks.
std::uint64_t bits_of_element(int data_type) {
  if (const auto element = element_type(data_type)) return 8 * element_size(*element);
  if (data_type == TensorProto::COMPLEX64) return 64;
  if (data_type == TensorProto::COMPLEX128) return 128;
  if ((data_type >= 17 && data_type <= 20) || data_type == 24) return 8;
  return data_type >= 21 && data_type <= 23 ? 4 : 0;
}

/// The file that holds the data: inside `folder`, links followed.
Result<fs::path> locate(const TensorProto& tensor, const std::string& location, const std::string& folder) {
  if (folder.empty()) {
    return make_error(ErrorCode::kIo,
                      "tensor '{}': its values lie in the file '{}', which can only be found where the model is read "
                      "from a file",
                      tensor.name(), location);
  }
  const fs::path relative(location);
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder, error);
  const fs::path file = error ? fs::path() : fs::weakly_canonical(root / relative, error);
  const fs::path inside = file.lexically_relative(root);
  if (error || relative.is_absolute() || inside.empty() || *inside.begin() == "..") {
    return make_error(ErrorCode::kIo,
                      "tensor '{}': external data '{}' lies outside the model's folder '{}' and is not read; move it "
                      "there",
                      tensor.name(), location, folder);
  }
  if (!fs::is_regular_file(file, error)) {
    return make_error(ErrorCode::kIo, "tensor '{}': external data '{}' is not in the model's folder '{}'",
                      tensor.name(), location, folder);
  }
  return file;
}

}  // namespace

Result<std::optional<ExternalWeight>> where_it_lies(const TensorProto& tensor, const std::string& folder) {
  if (tensor.data_location() != TensorProto::EXTERNAL) return std::optional<ExternalWeight>();
  const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const auto count = checked_elements(dims);
  const std::uint64_t bits = bits_of_element(tensor.data_type());
  if (bits == 0 || !count) {
    return make_error(ErrorCode::kUnsupported,
                      "tensor '{}' has element type {} and {} axes, and its values lie in another file", tensor.name(),
                      tensor.data_type(), dims.size());
  }
  ExternalWeight weight;
  weight.type.element = ElementType::kUnknown;
  if (const auto element = element_type(tensor.data_type()); element && dims.size() <= kMaxRank)
    weight.type = {Shape(dims), *element};
  weight.bytes = (static_cast<std::uint64_t>(*count) * bits + 7) / 8;
  REWRIGHT_TRY(const Entry entry, read_entry(tensor));
  REWRIGHT_TRY(const fs::path file, locate(tensor, entry.location, folder));
  const std::uint64_t size = fs::file_size(file);
  const std::uint64_t there = entry.offset > size ? 0 : size - entry.offset;
  if (entry.length.value_or(weight.bytes) != weight.bytes || there < weight.bytes) {
    return make_error(ErrorCode::kParse, "tensor '{}' needs {} bytes; '{}' gives {} from offset {} on", tensor.name(),
                      weight.bytes, entry.location, std::min(there, entry.length.value_or(there)), entry.offset);
  }
  weight.location = entry.location;
  weight.file = file.string();
  weight.offset = entry.offset;
  return std::optional(std::move(weight));
}

Result<std::vector<std::byte>> read_external(const ExternalWeight& weight) {
  std::vector<std::byte> bytes(weight.bytes);
  std::ifstream stream(weight.file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(weight.offset));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) return make_error(ErrorCode::kIo, "external data '{}' cannot be read", weight.file);
  return bytes;
}

void set_external(TensorProto& tensor, const std::string& location, std::uint64_t offset, std::uint64_t bytes) {
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.set_data_location(TensorProto::EXTERNAL);
  const auto say = [&](const char* key, const std::string& value) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  say("location", location);
  say("offset", std::to_string(offset));
  say("length", std::to_string(bytes));
}

TensorProto to_proto(const ExternalWeight& weight, const std::string& name) {
  TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(weight.type.element));
  for (const std::int64_t dim : weight.type.shape) proto.add_dims(dim);
  set_external(proto, weight.location, weight.offset, weight.bytes);
  return proto;
}

}  // namespace rewright::model
