#include "optimize/normal_form.h"

#include <rewright/optimize/cost.h>

#include <optional>
#include <utility>
#include <vector>

#include "optimize/rebuild.h"

namespace rewright {
namespace {

/// By node: how many operands and outputs are tensors of it.
std::vector<std::uint32_t> count_uses(const Graph& graph) {
  std::vector<std::uint32_t> uses(graph.nodes().size(), 0);
  for (const Node& node : graph.nodes())
    for (Port operand : node.inputs) ++uses[operand.node.value];
  for (Port port : graph.outputs()) ++uses[port.node.value];
  return uses;
}

class NormalForm {
 public:
  NormalForm(const Graph& graph, const Registry& registry)
      : graph_(graph), registry_(registry), weight_(weight_only(graph)), uses_(count_uses(graph)) {}

  Result<Graph> build() {
    for (const char* name : {"batch_norm", "bias_add", "conv2d", "ewadd", "neg", "reshape", "transpose"})
      if (registry_.find<Operator>(name) == nullptr) return graph_;
    return rebuild(graph_, [this](GraphBuilder& builder, NodeId id, std::vector<Port> operands) {
      return application(builder, graph_.node(id), std::move(operands));
    });
  }

 private:
  using Ports = std::vector<Port>;

  [[nodiscard]] bool is_weight(Port port) const { return weight_[port.node.value]; }
  [[nodiscard]] bool used_once(Port port) const { return uses_[port.node.value] == 1; }

  Result<Ports> application(GraphBuilder& builder, const Node& node, Ports operands) const {
    if (folds(node)) return fold(builder, node, operands);
    if (node.applies("ewadd")) {
      if (auto merged = merge_biases(builder, node, operands)) return *std::move(merged);
    }
    return builder.copy(node, std::move(operands));
  }

  /// A batch normalisation of a convolution by weights, without an activation between.
  [[nodiscard]] bool folds(const Node& node) const {
    if (!node.applies("batch_norm") || !used_once(node.inputs[0])) return false;
    const Node& conv = graph_.node(node.inputs[0].node);
    if (!conv.applies("conv2d") || !is_weight(conv.inputs[1])) return false;
    const auto& [op, params] = *conv.application();
    const auto& specs = op->info().params;
    for (std::size_t i = 0; i < specs.size(); ++i)
      if (specs[i].name == "activation" && params[i] != specs[i].default_value) return false;
    for (std::size_t k = 1; k < node.inputs.size(); ++k)
      if (!is_weight(node.inputs[k])) return false;
    return true;
  }

  Result<Ports> apply(GraphBuilder& builder, std::string_view op, std::vector<NamedParam> params,
                      Ports operands) const {
    const Operator& found = *registry_.find<Operator>(op);
    REWRIGHT_TRY(Params values, make_params(op, found.info().params, params));
    return builder.apply(found, std::move(values), std::move(operands));
  }

  /// `operands` are the batch normalisation's in the new graph; the first was made by the convolution's.
  Result<Ports> fold(GraphBuilder& builder, const Node& norm, const Ports& operands) const {
    const Port scale = operands[1], bias = operands[2], mean = operands[3], variance = operands[4];
    const Node conv = builder.node(operands[0].node);  // A copy: the builder grows.
    const std::int64_t channels = builder.shape(bias)[0];
    const std::vector<std::int64_t> exchange = {1, 0, 2, 3};

    REWRIGHT_TRY(const Ports minus, apply(builder, "neg", {}, {bias}));
    REWRIGHT_TRY(const Ports zero, apply(builder, "ewadd", {}, {bias, minus[0]}));
    REWRIGHT_TRY(const Ports turned, apply(builder, "transpose", {{"perm", exchange}}, {conv.inputs[1]}));
    REWRIGHT_TRY(const Ports scaled,
                 builder.apply(*norm.application(), {turned[0], scale, zero[0], zero[0], variance}));
    REWRIGHT_TRY(const Ports weight, apply(builder, "transpose", {{"perm", exchange}}, {scaled[0]}));
    REWRIGHT_TRY(const Ports row,
                 apply(builder, "reshape", {{"sizes", std::vector<std::int64_t>{1, channels}}}, {zero[0]}));
    REWRIGHT_TRY(const Ports shift, builder.apply(*norm.application(), {row[0], scale, bias, mean, variance}));
    REWRIGHT_TRY(const Ports vector,
                 apply(builder, "reshape", {{"sizes", std::vector<std::int64_t>{channels}}}, {shift[0]}));
    REWRIGHT_TRY(const Ports product, builder.apply(*conv.application(), {conv.inputs[0], weight[0]}, conv.name));
    return apply(builder, "bias_add", {{"axis", std::int64_t{1}}}, {product[0], vector[0]});
  }

  /// Both operands in the new graph are convolutions of one tensor, plus a bias, that nothing else uses.
  std::optional<Result<Ports>> merge_biases(GraphBuilder& builder, const Node& sum, const Ports& operands) const {
    if (operands[0] == operands[1] || !used_once(sum.inputs[0]) || !used_once(sum.inputs[1])) return std::nullopt;
    const Node left = builder.node(operands[0].node), right = builder.node(operands[1].node);
    if (!left.applies("bias_add") || !right.applies("bias_add")) return std::nullopt;
    if (left.application()->params != right.application()->params) return std::nullopt;
    const Node &a = builder.node(left.inputs[0].node), &b = builder.node(right.inputs[0].node);
    if (!a.applies("conv2d") || !b.applies("conv2d") || a.inputs[0] != b.inputs[0]) return std::nullopt;
    for (Port old : sum.inputs) {
      const Node& node = graph_.node(old.node);
      // What was folded has weights by now; what was a sum with a bias before must have a weight as bias.
      if (node.applies("bias_add") && !is_weight(node.inputs[1])) return std::nullopt;
    }
    return merge(builder, sum, left, right);
  }
  static Result<Ports> merge(GraphBuilder& builder, const Node& sum, const Node& left, const Node& right) {
    REWRIGHT_TRY(const Ports bias, builder.apply(*sum.application(), {left.inputs[1], right.inputs[1]}));
    REWRIGHT_TRY(const Ports total, builder.apply(*sum.application(), {left.inputs[0], right.inputs[0]}, sum.name));
    return builder.apply(*left.application(), {total[0], bias[0]});
  }

  const Graph& graph_;
  const Registry& registry_;
  std::vector<bool> weight_;
  std::vector<std::uint32_t> uses_;
};

}  // namespace

Result<Graph> normal_form(const Graph& graph, const Registry& registry) { return NormalForm(graph, registry).build(); }

Result<Graph> biases_to_convolutions(const Graph& graph) {
  const std::vector<std::uint32_t> uses = count_uses(graph);
  return rebuild(graph, [&](GraphBuilder& builder, NodeId id, std::vector<Port> operands) -> Result<std::vector<Port>> {
    const Node& node = graph.node(id);
    const bool of_sum = node.applies("bias_add") && uses[node.inputs[0].node.value] == 1 &&
                        graph.node(node.inputs[0].node).applies("ewadd") && node.application()->params.integer(0) == 1;
    if (!of_sum) return builder.copy(node, std::move(operands));
    const Node& sum = graph.node(node.inputs[0].node);
    const std::vector<Port> addends = builder.node(operands[0].node).inputs;  // As made: in the order of `sum`.
    for (std::size_t k = 0; k < 2; ++k) {
      const Port addend = sum.inputs[k];
      if (uses[addend.node.value] != 1 || !graph.node(addend.node).applies("conv2d")) continue;
      REWRIGHT_TRY(const auto biased, builder.apply(*node.application(), {addends[k], operands[1]}));
      return builder.apply(*sum.application(),
                           k == 0 ? std::vector{biased[0], addends[1]} : std::vector{addends[0], biased[0]});
    }
    return builder.copy(node, std::move(operands));
  });
}

}  // namespace rewright
