// The structural hash: each node's hash is over its operator, parameters, shapes and its operands' hashes, so it does
// not depend on the order of nodes; an input's is over its position. xxHash (XXH3, 128 bits).
#include <rewright/graph/graph.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright {

namespace {

/// Appends values to a byte string whose hash is taken; every value is preceded by nothing ambiguous: sizes first.
class Bytes {
 public:
  void number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_.append(text);
  }
  void hash(Hash128 hash) {
    number(hash.low);
    number(hash.high);
  }
  void type(const TensorType& type) {
    number(static_cast<std::uint64_t>(type.element));
    number(static_cast<std::uint64_t>(type.shape.rank()));
    for (const std::int64_t size : type.shape) number(static_cast<std::uint64_t>(size));
  }
  [[nodiscard]] Hash128 digest() const {
    const XXH128_hash_t digest = XXH3_128bits(bytes_.data(), bytes_.size());
    return {digest.low64, digest.high64};
  }

 private:
  std::string bytes_;
};

}  // namespace

std::string to_string(Hash128 hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

Hash128 structural_hash(const Graph& graph) {
  std::vector<Hash128> of_node(graph.nodes().size());
  std::uint64_t input_position = 0;
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    const Node& node = graph.nodes()[i];
    Bytes bytes;
    if (const InputNode* input = node.input()) {
      bytes.text("input");
      bytes.number(input_position++);
      bytes.number(static_cast<std::uint64_t>(input->kind));
    } else if (const OpaqueNode* opaque = node.opaque()) {
      bytes.text("opaque");
      bytes.text(opaque->type);
      bytes.text(opaque->serialized);
    } else {
      const auto& [op, params] = *node.application();
      bytes.text(op->name());
      bytes.text(to_string(op->info().params, params));
    }
    bytes.number(node.inputs.size());
    for (const Port& port : node.inputs) {
      bytes.hash(of_node[port.node.value]);
      bytes.number(port.output);
    }
    bytes.number(node.outputs.size());
    for (const TensorType& type : node.outputs) bytes.type(type);
    of_node[i] = bytes.digest();
  }
  Bytes bytes;
  bytes.number(graph.inputs().size());
  for (const NodeId id : graph.inputs()) bytes.hash(of_node[id.value]);
  for (const Port& port : graph.outputs()) {
    bytes.hash(of_node[port.node.value]);
    bytes.number(port.output);
  }
  return bytes.digest();
}

}  // namespace rewright
