#include "onnx/external.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "onnx/external_data.h"
#include "onnx/proto.h"

namespace rewright {
namespace {

using namespace model;

constexpr std::size_t kLeastBytes = 1024;
constexpr std::uint64_t kAlignment = 4096;

bool write_bytes(int descriptor, const WeightPiece& piece) {
  for (std::size_t done = 0; done < piece.bytes.size();) {
    const ssize_t count =
        pwrite(descriptor, piece.bytes.data() + done, piece.bytes.size() - done, static_cast<off_t>(piece.at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

/// By a buffer, where the system cannot copy between the two files.
bool copy_buffered(int descriptor, int source, off_t from, off_t to, std::uint64_t left) {
  std::vector<char> buffer(std::min<std::uint64_t>(left, 1 << 20));
  while (left > 0) {
    const ssize_t count = pread(source, buffer.data(), std::min<std::uint64_t>(left, buffer.size()), from);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;  // It has become shorter.
    if (count <= 0) return false;
    if (!write_bytes(descriptor, {static_cast<std::uint64_t>(to), 0, std::string(buffer.data(), count), {}, 0}))
      return false;
    from += count, to += count, left -= static_cast<std::uint64_t>(count);
  }
  return true;
}

bool copy_part(int descriptor, const WeightPiece& piece) {
  const int source = open(piece.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return false;
  off_t from = static_cast<off_t>(piece.from), to = static_cast<off_t>(piece.at);
  std::uint64_t left = piece.length;
  while (left > 0) {
    const ssize_t count = copy_file_range(source, &from, descriptor, &to, left, 0);
    if (count <= 0) break;
    left -= static_cast<std::uint64_t>(count);
  }
  const bool done = left == 0 || copy_buffered(descriptor, source, from, to, left);
  const int why = errno;
  close(source);
  errno = why;
  return done;
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

Result<SplitModel> split_off_weights(const std::string& model, const std::string& file, const std::string& folder) {
  REWRIGHT_TRY(ModelProto proto, parse_model(std::as_bytes(std::span(model)), "the model"));
  SplitModel split;
  std::uint64_t size = 0;
  for (TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    REWRIGHT_TRY(const auto elsewhere, where_it_lies(tensor, folder));
    WeightPiece piece;
    if (elsewhere) {
      piece.file = elsewhere->file, piece.from = elsewhere->offset, piece.length = elsewhere->bytes;
    } else {
      if (!tensor.has_raw_data() || tensor.raw_data().size() < kLeastBytes) continue;
      piece.bytes = std::move(*tensor.mutable_raw_data());
      piece.length = piece.bytes.size();
    }
    piece.at = (size + kAlignment - 1) / kAlignment * kAlignment;
    size = piece.at + piece.length;
    set_external(tensor, file, piece.at, piece.length);
    split.data.push_back(std::move(piece));
  }
  split.model = proto.SerializeAsString();
  return split;
}

bool write_weights(int descriptor, const std::vector<WeightPiece>& pieces) {
  return std::ranges::all_of(pieces, [&](const WeightPiece& piece) {
    return piece.file.empty() ? write_bytes(descriptor, piece) : copy_part(descriptor, piece);
  });
}

}  // namespace rewright
