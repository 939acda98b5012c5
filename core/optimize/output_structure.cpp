#include "optimize/output_structure.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>

#include "onnx/element.h"
#include "onnx/proto.h"

namespace rewright {
namespace {

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

std::uint64_t hash_of(const Node& input) {
  if (!input.constant()) return hash_of(input.name, 1);
  const std::vector<std::byte> bytes = model::bytes_of(*input.constant());
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash_of(fmt::format("{}", input.outputs[0].shape), 2));
}

/// The node without names; its operands' hashes say which tensors it takes.
std::string content_of(const OpaqueNode& opaque) {
  model::NodeProto node;
  if (!node.ParseFromString(opaque.serialized)) return opaque.serialized;
  node.clear_name();
  node.clear_doc_string();
  for (std::string& input : *node.mutable_input()) input = input.empty() ? "" : "x";
  for (std::string& output : *node.mutable_output()) output = output.empty() ? "" : "y";
  return node.SerializeAsString();
}

}  // namespace

std::vector<std::uint64_t> output_structures(const Graph& graph) {
  std::vector<std::uint64_t> hashes;
  for (const Node& node : graph.nodes()) {
    if (node.is_input()) {
      hashes.push_back(hash_of(node));
      continue;
    }
    const std::string content = node.opaque() ? content_of(*node.opaque()) : to_string(*node.application());
    std::uint64_t hash = hash_of(content, 3);
    for (const Port operand : node.inputs)
      hash = hash_of(fmt::format("{} {}", hashes[operand.node.value], operand.output), hash);
    hashes.push_back(hash);
  }
  std::vector<std::uint64_t> structures;
  for (const Port port : graph.outputs())
    structures.push_back(hash_of(fmt::format("{}", port.output), hashes[port.node.value]));
  return structures;
}

}  // namespace rewright
