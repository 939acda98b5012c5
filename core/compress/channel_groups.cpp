#include "compress/channel_groups.h"

#include <boost/pending/disjoint_sets.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace rewright::compress {
namespace {

/// The tensors of one definition, operands first.
std::vector<Port> tensors_of(const Graph& graph, NodeId id) {
  std::vector<Port> ports = graph.node(id).inputs;
  for (std::uint32_t k = 0; k < graph.node(id).outputs.size(); ++k) ports.push_back({id, k});
  return ports;
}

std::string name_of(const Node& node) {
  const std::string type = node.application() ? node.application()->op->name() : node.opaque()->type;
  return node.name.empty() ? type : fmt::format("{} ({})", node.name, type);
}

class GroupFinder {
 public:
  GroupFinder(const Graph& graph, const Definitions& definitions, const std::vector<Layer>& layers)
      : graph_(graph), definitions_(definitions), layers_(layers), sets_(number_places(graph)) {
    reasons_.resize(sizes_.size());
  }

  ChannelGroups run() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) add_node({i});
    for (const Port& port : graph_.outputs()) pin_all(port, "an output of the model has them");
    return groups();
  }

 private:
  std::size_t number_places(const Graph& graph) {
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      for (std::uint32_t k = 0; k < graph.nodes()[i].outputs.size(); ++k) {
        const Shape& shape = graph.shape({{i}, k});
        first_.emplace(Port{{i}, k}, sizes_.size());
        sizes_.insert(sizes_.end(), shape.begin(), shape.end());
      }
    }
    return sizes_.size();
  }
  void pin(std::size_t place, const std::string& reason) {
    if (reasons_[place].empty()) reasons_[place] = reason;
  }
  void pin_all(Port port, const std::string& reason) {
    for (int axis = 0; axis < graph_.shape(port).rank(); ++axis)
      pin(first_.at(port) + static_cast<std::size_t>(axis), reason);
  }

  void add_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.is_data()) return pin_all({id, 0}, "an input of the model has them");
    if (node.is_weight()) {
      if (!can_be_cut(node)) pin_all({id, 0}, fmt::format("weight '{}' has no numbers that can be cut", node.name));
      return;
    }
    if (!definitions_[id.value]) {
      for (const Port& port : tensors_of(graph_, id))
        pin_all(port, fmt::format("{} is carried as it is", name_of(node)));
      return;
    }
    tie(id, *definitions_[id.value]);
  }
  static bool can_be_cut(const Node& node) {
    const auto& constant = node.constant();
    if (constant == nullptr) return false;
    const auto* bytes = std::get_if<std::vector<std::byte>>(&constant->value);
    const auto elements = static_cast<std::size_t>(constant->type.shape.elements());
    return bytes == nullptr || (elements > 0 && bytes->size() % elements == 0 && bytes->size() >= elements);
  }

  void tie(NodeId id, const DefinedApplication& made) {
    const std::vector<Port> ports = tensors_of(graph_, id);
    std::map<std::size_t, std::vector<std::size_t>> places;  // By class of the definition.
    for (std::size_t b = 0; b < ports.size(); ++b) {
      for (std::size_t d = 0; d < made.ties.of_buffer[b].size(); ++d) {
        const std::size_t place = first_.at(ports[b]) + d;
        if (sizes_[place] > 1) places[made.ties.of_buffer[b][d]].push_back(place);
      }
    }
    for (const auto& [tie, tied] : places) {
      for (const std::size_t place : tied) sets_.union_set(tied[0], place);
      if (made.ties.pinned[tie] || !can_lose_one(made, tie))
        pin(tied[0], fmt::format("{} needs all of them", name_of(graph_.node(id))));
    }
  }
  static bool can_lose_one(const DefinedApplication& made, std::size_t tie) {
    const std::int64_t channels = made.ties.channels[tie];
    const auto smaller = [&](std::vector<Shape> shapes, std::size_t first) {
      for (std::size_t k = 0; k < shapes.size(); ++k)
        for (int d = 0; d < shapes[k].rank(); ++d)
          if (made.ties.of_buffer[first + k][static_cast<std::size_t>(d)] == tie)
            shapes[k][d] = shapes[k][d] / channels * (channels - 1);
      return shapes;
    };
    return channels > 1 &&
           resized(made, smaller(made.inputs, 0), smaller(made.outputs, made.inputs.size())).has_value();
  }

  ChannelGroups groups() {
    std::map<std::size_t, ChannelGroup> by_root;
    for (std::size_t place = 0; place < sizes_.size(); ++place) {
      const auto [found, is_new] = by_root.try_emplace(sets_.find_set(place));
      ChannelGroup& group = found->second;
      group.channels = is_new ? sizes_[place] : std::min(group.channels, sizes_[place]);
      if (group.pinned.empty()) group.pinned = reasons_[place];
    }
    std::vector<std::size_t> roots;  // In the order of layers.
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (const auto& [place, axis] : filters_of(layers_[l])) {
        const std::size_t root = sets_.find_set(place);
        by_root.at(root).filters.push_back({l, axis});
        if (std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
      }
    }
    ChannelGroups result;
    std::map<std::size_t, std::size_t> numbers;
    for (const std::size_t root : roots) {
      numbers[root] = result.groups.size();
      result.groups.push_back(std::move(by_root.at(root)));
    }
    for (const auto& [port, first] : first_) {
      std::vector<std::size_t>& own = result.of[port];
      for (std::size_t d = 0; d < static_cast<std::size_t>(graph_.shape(port).rank()); ++d) {
        const auto found = sizes_[first + d] > 1 ? numbers.find(sets_.find_set(first + d)) : numbers.end();
        own.push_back(found == numbers.end() ? kNoGroup : found->second);
      }
    }
    return result;
  }
  /// Axes of the operand that the results have too, not those that are added up along; and which of the weight's.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> filters_of(const Layer& layer) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    const DefinedApplication& made = *definitions_[layer.node.value];
    const Port operand = graph_.node(layer.node).inputs[layer.operand];
    for (std::size_t d = 0; d < layer.axes.size(); ++d) {
      const std::size_t tie = made.ties.of_buffer[layer.operand][d];
      const std::size_t place = first_.at(operand) + d;
      const bool is_in_results = std::ranges::any_of(
          std::span(made.ties.of_buffer).subspan(made.inputs.size(), made.outputs.size()),
          [&](const std::vector<std::size_t>& ties) { return std::ranges::find(ties, tie) != ties.end(); });
      if (is_in_results && sizes_[place] > 1) found.emplace_back(place, layer.axes[d]);
    }
    return found;
  }

  const Graph& graph_;
  const Definitions& definitions_;
  const std::vector<Layer>& layers_;
  std::map<Port, std::size_t> first_;  ///< Of a tensor's axes, among the places.
  std::vector<std::int64_t> sizes_;    ///< By place.
  boost::disjoint_sets_with_storage<> sets_;
  std::vector<std::string> reasons_;  ///< Why a place is pinned; empty where it is not.
};

}  // namespace

ChannelGroups channel_groups(const Graph& graph, const Definitions& definitions, const std::vector<Layer>& layers) {
  return GroupFinder(graph, definitions, layers).run();
}

}  // namespace rewright::compress
