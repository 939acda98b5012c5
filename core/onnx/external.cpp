#include "onnx/external.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

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

using Visit = std::function<Status(TensorProto& tensor, bool outermost)>;

Status visit_nodes(google::protobuf::RepeatedPtrField<NodeProto>& nodes, const Visit& visit);

/// Initializers, and tensors in attributes of nodes, of the graphs inside too.
Status visit_graph(GraphProto& graph, bool outermost, const Visit& visit) {
  for (TensorProto& tensor : *graph.mutable_initializer()) REWRIGHT_CHECK(visit(tensor, outermost));
  for (auto& tensor : *graph.mutable_sparse_initializer()) {
    REWRIGHT_CHECK(visit(*tensor.mutable_values(), false));
    REWRIGHT_CHECK(visit(*tensor.mutable_indices(), false));
  }
  return visit_nodes(*graph.mutable_node(), visit);
}

Status visit_nodes(google::protobuf::RepeatedPtrField<NodeProto>& nodes, const Visit& visit) {
  for (NodeProto& node : nodes) {
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) REWRIGHT_CHECK(visit(*attribute.mutable_t(), false));
      for (TensorProto& tensor : *attribute.mutable_tensors()) REWRIGHT_CHECK(visit(tensor, false));
      if (attribute.has_g()) REWRIGHT_CHECK(visit_graph(*attribute.mutable_g(), false, visit));
      for (GraphProto& graph : *attribute.mutable_graphs()) REWRIGHT_CHECK(visit_graph(graph, false, visit));
    }
  }
  return {};
}

Status for_each_tensor(ModelProto& model, const Visit& visit) {
  REWRIGHT_CHECK(visit_graph(*model.mutable_graph(), true, visit));
  for (auto& function : *model.mutable_functions()) REWRIGHT_CHECK(visit_nodes(*function.mutable_node(), visit));
  return {};
}

}  // namespace

std::set<std::string> external_files(const std::string& model) {
  std::set<std::string> files;
  auto proto = parse_model(std::as_bytes(std::span(model)), "the model");
  if (!proto) return files;
  (void)for_each_tensor(*proto, [&](TensorProto& tensor, bool) -> Status {
    if (tensor.data_location() != TensorProto::EXTERNAL) return {};
    for (const auto& entry : tensor.external_data())
      if (entry.key() == "location") files.insert(entry.value());
    return {};
  });
  return files;
}

Result<SplitModel> split_off_weights(const std::string& model, const std::string& file, const std::string& folder) {
  REWRIGHT_TRY(ModelProto proto, parse_model(std::as_bytes(std::span(model)), "the model"));
  SplitModel split;
  std::uint64_t size = 0;
  REWRIGHT_CHECK(for_each_tensor(proto, [&](TensorProto& tensor, bool outermost) -> Status {
    REWRIGHT_TRY(const auto elsewhere, where_it_lies(tensor, folder));
    WeightPiece piece;
    if (elsewhere) {
      piece.file = elsewhere->file, piece.from = elsewhere->offset, piece.length = elsewhere->bytes;
    } else {
      if (!outermost || !tensor.has_raw_data() || tensor.raw_data().size() < kLeastBytes) return {};
      piece.bytes = std::move(*tensor.mutable_raw_data());
      piece.length = piece.bytes.size();
    }
    piece.at = (size + kAlignment - 1) / kAlignment * kAlignment;
    size = piece.at + piece.length;
    set_external(tensor, file, piece.at, piece.length);
    split.data.push_back(std::move(piece));
    return {};
  }));
  split.model = proto.SerializeAsString();
  return split;
}

bool write_weights(int descriptor, const std::vector<WeightPiece>& pieces) {
  return std::ranges::all_of(pieces, [&](const WeightPiece& piece) {
    return piece.file.empty() ? write_bytes(descriptor, piece) : copy_part(descriptor, piece);
  });
}

}  // namespace rewright
