#include "onnx/kept.h"

#include <algorithm>
#include <set>

#include "onnx/proto.h"

namespace rewright::model {
namespace {

/// Attributes may say again what the shapes of operands say, as a Conv's kernel_shape does.
bool has_attributes(const OriginNode& node) {
  NodeProto proto;
  return !proto.ParseFromString(node.serialized) || proto.attribute_size() > 0;
}

}  // namespace

Kept::Kept(const Graph& now, const ImportedModel& origin, Guesses guesses)
    : now_(now),
      origin_(origin),
      alignment_(now, origin.graph, guesses),
      users_now_(users_of(now)),
      users_then_(users_of(origin.graph)),
      is_written_(origin.origin.nodes.size(), false),
      covered_(now.nodes().size(), false),
      sources_(origin.origin.nodes.size()) {
  const auto& nodes = origin.origin.nodes;
  std::vector<std::optional<Taken>> taken;
  for (const OriginNode& node : nodes) {
    taken.push_back(taken_by(node));
    if (taken.back())
      for (const auto& [then, in_place] : *taken.back()) stands_for_.emplace(then, in_place);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) plan(i, taken[i]);
}

/// Whether what uses the application now used it in the original too: no rewrite shares it with something else.
bool Kept::used_alone(NodeId then) const {
  const NodeId now = *alignment_.now_of(then);
  const auto& before = users_then_[then.value];
  const bool by_nodes = std::ranges::all_of(users_now_[now.value], [&](NodeId user) {
    const auto was = alignment_.then_of(user);
    return was && std::ranges::find(before, *was) != before.end();
  });
  const auto is_output = [](const Graph& graph, NodeId id) {
    return std::ranges::any_of(graph.outputs(), [id](const Port& port) { return port.node == id; });
  };
  return by_nodes && (!is_output(now_, now) || is_output(origin_.graph, then));
}

/// What the node's applications take now, from outside; none where they are no longer all there, wired as they were.
std::optional<Kept::Taken> Kept::taken_by(const OriginNode& node) const {
  std::set<Port> outside;
  for (const auto& input : node.inputs)
    if (input) outside.insert(*input);
  Taken taken;
  std::vector<NodeId> waiting;
  std::set<NodeId> seen, makes_output;
  const auto visit = [&](Port port) {
    if (seen.insert(port.node).second) waiting.push_back(port.node);
  };
  bool is_alive = false;
  for (const auto& output : node.outputs) {
    if (!output) continue;
    is_alive = true;
    if (outside.contains(*output)) {  // Dissolved: the output is the input.
      const auto in_place = alignment_.now_of(*output);
      if (!in_place) return std::nullopt;
      taken.emplace(*output, *in_place);
    } else {
      visit(*output);
      makes_output.insert(output->node);
    }
  }
  if (!is_alive) return std::nullopt;
  while (!waiting.empty()) {
    const NodeId then = waiting.back();
    waiting.pop_back();
    const auto now = alignment_.now_of(then);
    if (!now || (!makes_output.contains(then) && !used_alone(then))) return std::nullopt;
    for (std::size_t k = 0; k < now_.node(*now).inputs.size(); ++k) {
      const Port was = origin_.graph.node(then).inputs[k], is = now_.node(*now).inputs[k];
      if (!outside.contains(was)) {
        if (alignment_.now_of(was) != is) return std::nullopt;
        visit(was);
      } else if (taken.emplace(was, is).first->second != is) {
        return std::nullopt;
      }
    }
  }
  const auto has_its_shape = [&](const auto& operand) {
    return origin_.graph.shape(operand.first) == now_.shape(operand.second);
  };
  if (!std::ranges::all_of(taken, has_its_shape) && has_attributes(node)) return std::nullopt;
  return taken;
}

InputSource Kept::source_of(const std::string& name) const {
  using Kind = InputSource::Kind;
  const auto maker = makers_.find(name);
  if (maker == makers_.end()) return {Kind::kGiven, 0, {}};
  if (is_written_[maker->second]) return {Kind::kMade, maker->second, {}};
  const OriginNode& node = origin_.origin.nodes[maker->second];
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.output_names[i] != name || !node.outputs[i]) continue;
    if (const auto now = alignment_.now_of(*node.outputs[i])) return {Kind::kTensor, 0, *now};
    if (const auto found = stands_for_.find(*node.outputs[i]); found != stands_for_.end())
      return {Kind::kTensor, 0, found->second};
  }
  return {};
}

/// Decides of the node, after those that it takes from, whether it is written and what it takes.
void Kept::plan(std::size_t i, const std::optional<Taken>& taken) {
  using Kind = InputSource::Kind;
  const OriginNode& node = origin_.origin.nodes[i];
  for (const std::string& name : node.output_names)
    if (!name.empty()) makers_.emplace(name, i);
  if (!taken && !node.is_light) return;
  std::vector<InputSource> sources;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    InputSource source =
        node.input_names[k].empty() ? InputSource{Kind::kGiven, 0, {}} : source_of(node.input_names[k]);
    if (taken && node.inputs[k]) {
      const auto found = taken->find(*node.inputs[k]);
      const bool is_as_it_was = found == taken->end() || alignment_.now_of(*node.inputs[k]) == found->second;
      if (!is_as_it_was || (found != taken->end() && source.kind == Kind::kMissing))
        source = {Kind::kTensor, 0, found->second};
    }
    if (source.kind == Kind::kMissing && node.integers[k]) source.kind = Kind::kIntegers;
    if (source.kind == Kind::kMissing) return;
    sources.push_back(source);
  }
  is_written_[i] = true;
  sources_[i] = std::move(sources);
  if (!taken) return;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k]) continue;
    const Port now = *alignment_.now_of(*node.outputs[k]);
    const bool is_dissolved = taken->contains(*node.outputs[k]);
    if (!is_dissolved) made_.emplace(now, std::pair(i, k)), covered_[now.node.value] = true;
  }
}

std::optional<std::pair<std::size_t, std::size_t>> Kept::maker_of(Port now) const {
  const auto found = made_.find(now);
  return found == made_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace rewright::model
