#include "report/graph_difference.h"

#include <rewright/base/mixing.h>

#include <cstdint>
#include <map>
#include <string>

namespace rewright {
namespace {

std::uint64_t mix_text(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return mix(hash, text.size());
}

/// What a node is by itself: operator, parameters, types; an input also its name.
std::uint64_t own_hash(const Node& node) {
  std::uint64_t hash = 1;
  if (node.is_input()) hash = mix_text(hash, node.name);
  if (const ApplicationNode* made = node.application())
    hash = mix_text(mix_text(hash, made->op->name()), to_string(made->op->info().params, made->params));
  if (const OpaqueNode* opaque = node.opaque()) hash = mix_text(hash, opaque->serialized);
  for (const TensorType& type : node.outputs) hash = mix_text(hash, fmt::format("{}", type.shape));
  return hash;
}

struct Hashes {
  std::vector<std::uint64_t> from_inputs, to_outputs, neighbours;
};

Hashes hashes_of(const Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<std::uint64_t> own;
  for (const Node& node : nodes) own.push_back(own_hash(node));
  Hashes hashes{own, own, own};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Port& operand : nodes[i].inputs) {
      const std::size_t from = operand.node.value;
      hashes.from_inputs[i] = mix(mix(hashes.from_inputs[i], hashes.from_inputs[from]), operand.output);
      hashes.neighbours[i] = mix(mix(hashes.neighbours[i], own[from]), operand.output);
    }
  }
  for (std::size_t k = 0; k < graph.outputs().size(); ++k) {
    const Port port = graph.outputs()[k];
    hashes.to_outputs[port.node.value] += mix(mix(2, k), port.output);
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {  // Users come after what they use; their order does not count: sums.
    for (std::size_t k = 0; k < nodes[i].inputs.size(); ++k) {
      const Port operand = nodes[i].inputs[k];
      hashes.to_outputs[operand.node.value] += mix(mix(mix(3, hashes.to_outputs[i]), k), operand.output);
      hashes.neighbours[operand.node.value] += mix(mix(mix(4, own[i]), k), operand.output);
    }
  }
  return hashes;
}

std::map<std::uint64_t, int> counted(const std::vector<std::uint64_t>& hashes) {
  std::map<std::uint64_t, int> counts;
  for (const std::uint64_t hash : hashes) ++counts[hash];
  return counts;
}

}  // namespace

std::vector<bool> changed_nodes(const Graph& graph, const Graph& other) {
  const Hashes own = hashes_of(graph), others = hashes_of(other);
  const auto from_inputs = counted(others.from_inputs), to_outputs = counted(others.to_outputs);
  auto neighbours = counted(others.neighbours);
  std::vector<bool> changed;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const bool known = from_inputs.contains(own.from_inputs[i]) || to_outputs.contains(own.to_outputs[i]);
    const bool similar = neighbours[own.neighbours[i]]-- > 0;
    changed.push_back(!known && !similar);
  }
  return changed;
}

}  // namespace rewright
