#include "compile/attention_tiles.h"

#include <rewright/operator/operator.h>

#include <algorithm>
#include <limits>
#include <map>

namespace rewright::compile {
namespace {

constexpr std::int64_t kLeastKeys = 128, kMostTiles = 8;  ///< Of a tile; of a node.
/// Scores of keys that are masked may be -inf: exp(-inf - m) is 0 where m is a number.
constexpr double kLeastScore = std::numeric_limits<float>::lowest();

/// Computed element by element, from operands that are as long along the last axis, or 1.
constexpr std::string_view kElementwise[] = {"smul",          "ewadd",         "ewmul",         "neg",
                                             "broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div"};

bool is_product(const Node& node) { return node.applies("matmul") || node.applies("broadcast_matmul"); }

/// The nodes that make scores, as far back as tiles of them can be made of tiles.
class Scores {
 public:
  Scores(const Graph& graph, Port scores) : graph_(graph) {
    for (const Node& node : graph.nodes())
      for (const Port& port : node.inputs) ++uses_[port];
    for (const Port& port : graph.outputs()) ++uses_[port];
    keys_ = length(scores);
  }

  [[nodiscard]] bool is_read_once(Port port) const { return uses_.at(port) == 1; }
  [[nodiscard]] std::int64_t keys() const { return keys_; }
  /// Is a tile of it made from tiles of its operands?
  [[nodiscard]] bool is_within(Port port) const {
    const Node& node = graph_.node(port.node);
    if (!is_read_once(port)) return false;
    return is_product(node) || std::ranges::any_of(kElementwise, [&](std::string_view op) { return node.applies(op); });
  }
  /// Of a node within: does its operand have tiles, too?
  [[nodiscard]] bool has_tiles(const Node& node, std::size_t operand) const {
    if (is_product(node)) return operand == 1;
    return graph_.shape(node.inputs[operand]).rank() > 0 && length(node.inputs[operand]) == keys_;
  }
  void add_names(Port port, std::vector<std::string>& names) const {
    if (!is_within(port)) return;
    const Node& node = graph_.node(port.node);
    names.push_back(node.name);
    if (is_product(node)) return;
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (has_tiles(node, k)) add_names(node.inputs[k], names);
  }

 private:
  [[nodiscard]] std::int64_t length(Port port) const {
    const Shape& shape = graph_.shape(port);
    return shape[shape.rank() - 1];
  }
  const Graph& graph_;
  std::map<Port, int> uses_;
  std::int64_t keys_ = 0;
};

const Node& softmax_of(const Graph& graph, const Node& node) { return graph.node(node.inputs[0].node); }

class TilesMaker {
 public:
  TilesMaker(GraphBuilder& builder, const Graph& graph, const Node& node, const std::vector<std::vector<Port>>& made)
      : builder_(builder),
        graph_(graph),
        node_(node),
        made_(made),
        from_(softmax_of(graph, node).inputs[0]),
        scores_(graph, from_),
        axis_(graph.shape(from_).rank() - 1) {}

  Result<Port> run() {
    const std::int64_t keys = scores_.keys(), tiles = std::clamp<std::int64_t>(keys / kLeastKeys, 2, kMostTiles);
    const std::int64_t size = (keys + tiles - 1) / tiles;
    for (first_ = 0; first_ < keys; first_ += size) {
      count_ = std::min(size, keys - first_);
      REWRIGHT_CHECK(add_tile());
    }
    return apply("broadcast_div", {{"stretch_right", stretched(values_, sum_)}}, {values_, sum_}, "");
  }

 private:
  using Axes = std::vector<std::int64_t>;

  Result<Port> apply(std::string_view op, const std::vector<NamedParam>& params, std::vector<Port> operands,
                     const std::string& what) {
    REWRIGHT_TRY(const auto ports, builder_.apply(op, params, std::move(operands), node_.name + what));
    return ports[0];
  }
  [[nodiscard]] std::string in_tile(const std::string& what) const { return fmt::format("/{}/{}", first_, what); }
  /// Axes of one tensor along which another is repeated.
  [[nodiscard]] Axes stretched(Port one, Port other) const {
    const Shape &wide = builder_.shape(one), &narrow = builder_.shape(other);
    Axes axes;
    for (int axis = 0, skip = wide.rank() - narrow.rank(); axis < narrow.rank(); ++axis)
      if (narrow[axis] == 1 && wide[axis + skip] != 1) axes.push_back(axis + skip);
    return axes;
  }
  Result<Port> slice_of(Port port, std::int64_t axis) {
    return apply("slice", {{"axes", Axes{axis}}, {"starts", Axes{first_}}, {"sizes", Axes{count_}}, {"steps", Axes{1}}},
                 {port}, in_tile("slice"));
  }
  [[nodiscard]] Port made(Port port) const { return made_[port.node.value][port.output]; }
  /// Of a port of the graph: the tile's places along the last axis.
  Result<Port> tile_of(Port port) {
    const Node& node = graph_.node(port.node);
    if (!scores_.is_within(port)) return slice_of(made(port), graph_.shape(port).rank() - 1);
    std::vector<Port> operands;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const Port operand = node.inputs[k];
      if (!scores_.has_tiles(node, k)) {
        operands.push_back(made(operand));
        continue;
      }
      REWRIGHT_TRY(const Port tile,
                   is_product(node) ? slice_of(made(operand), graph_.shape(operand).rank() - 1) : tile_of(operand));
      operands.push_back(tile);
    }
    REWRIGHT_TRY(const auto ports,
                 builder_.apply(*node.application(), std::move(operands), node_.name + in_tile(node.name)));
    return ports[0];
  }
  Status add_tile() {
    const Axes along = {axis_};
    REWRIGHT_TRY(const Port scores, tile_of(from_));
    REWRIGHT_TRY(Port greatest, apply("reduce_max", {{"axes", along}}, {scores}, in_tile("greatest")));
    REWRIGHT_TRY(greatest, first_ == 0 ? apply("clip", {{"low", kLeastScore}}, {greatest}, in_tile("least"))
                                       : apply("broadcast_max", {}, {greatest_, greatest}, in_tile("so-far")));
    REWRIGHT_TRY(const Port apart,
                 apply("broadcast_sub", {{"stretch_right", along}}, {scores, greatest}, in_tile("apart")));
    REWRIGHT_TRY(const Port weights, apply("exp", {}, {apart}, in_tile("weights")));
    REWRIGHT_TRY(Port sum, apply("reduce_sum", {{"axes", along}}, {weights}, in_tile("sum")));
    REWRIGHT_TRY(const Port keys, slice_of(made(node_.inputs[1]), graph_.shape(node_.inputs[1]).rank() - 2));
    REWRIGHT_TRY(const auto products,
                 builder_.apply(*node_.application(), {weights, keys}, node_.name + in_tile("values")));
    Port values = products[0];
    if (first_ != 0) {
      REWRIGHT_TRY(const Port fallen, apply("broadcast_sub", {}, {greatest_, greatest}, in_tile("fallen")));
      REWRIGHT_TRY(const Port factor, apply("exp", {}, {fallen}, in_tile("factor")));
      REWRIGHT_TRY(const Port old_sum, apply("ewmul", {}, {sum_, factor}, in_tile("old-sum")));
      REWRIGHT_TRY(sum, apply("ewadd", {}, {old_sum, sum}, in_tile("new-sum")));
      REWRIGHT_TRY(const Port old, apply("broadcast_mul", {{"stretch_right", stretched(values_, factor)}},
                                         {values_, factor}, in_tile("old-values")));
      REWRIGHT_TRY(values, apply("ewadd", {}, {old, values}, in_tile("new-values")));
    }
    greatest_ = greatest, sum_ = sum, values_ = values;
    return {};
  }

  GraphBuilder& builder_;
  const Graph& graph_;
  const Node& node_;
  const std::vector<std::vector<Port>>& made_;
  Port from_;
  Scores scores_;
  std::int64_t axis_, first_ = 0, count_ = 0;
  Port greatest_, sum_, values_;  ///< Of the tiles so far, for each query.
};

}  // namespace

std::optional<std::string> reason_against_tiles(const Graph& graph, const Node& node) {
  if (!is_product(node) || node.name.empty()) return "it is no product";
  const Node& softmax = softmax_of(graph, node);
  if (!softmax.applies("softmax")) return "its left factor is no softmax";
  const Shape& shape = softmax.outputs[0].shape;
  if (softmax.application()->params.integer(0) != shape.rank() - 1) return "its softmax is not along the last axis";
  const Scores scores(graph, softmax.inputs[0]);
  if (!scores.is_read_once(node.inputs[0])) return "its softmax is read by others too";
  if (scores.keys() < 2 * kLeastKeys) return fmt::format("it has fewer than {} keys", 2 * kLeastKeys);
  return std::nullopt;
}

std::vector<std::string> nodes_within_tiles(const Graph& graph, const Node& node) {
  const Node& softmax = softmax_of(graph, node);
  std::vector<std::string> names = {softmax.name};
  Scores(graph, softmax.inputs[0]).add_names(softmax.inputs[0], names);
  return names;
}

Result<Port> by_tiles_of_keys(GraphBuilder& builder, const Graph& graph, const Node& node,
                              const std::vector<std::vector<Port>>& made) {
  return TilesMaker(builder, graph, node, made).run();
}

}  // namespace rewright::compile
