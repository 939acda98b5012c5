// Concats and splits of several parts in rules, as chains of binary ones.
#include <rewright/verify/derivation.h>

#include <algorithm>
#include <utility>

namespace rewright {
namespace {

bool has_several_parts(const PatternNode& node) {
  if (node.op->name() == "concat") return node.inputs.size() > 2;
  return node.op->name() == "split" && node.params.sizes(1).size() > 2;
}

/// Writes a side anew, node by node.
class ChainWriter {
 public:
  explicit ChainWriter(std::size_t input_count) : first_(static_cast<std::uint32_t>(input_count)) {
    for (std::uint32_t i = 0; i < first_; ++i) made_.push_back({Port{{i}, 0}});
  }

  Pattern write(const Pattern& side) {
    for (const PatternNode& node : side.nodes) {
      std::vector<Port> operands;
      for (const Port port : node.inputs) operands.push_back(moved(port));
      if (!has_several_parts(node)) {
        made_.push_back({add(node, node.params, std::move(operands))});
      } else if (node.op->name() == "concat") {
        made_.push_back({concat_chain(node, operands)});
      } else {
        made_.push_back(split_chain(node, operands[0]));
      }
    }
    for (const Port port : side.outputs) chains_.outputs.push_back(moved(port));
    return std::move(chains_);
  }

 private:
  /// Of a node that stays one node the first output stands for all.
  [[nodiscard]] Port moved(Port port) const {
    const std::vector<Port>& parts = made_[port.node.value];
    return parts.size() > 1 ? parts[port.output] : Port{parts[0].node, port.output};
  }
  Port add(const PatternNode& like, SymbolicParams params, std::vector<Port> operands) {
    chains_.nodes.push_back({like.op, std::move(params), std::move(operands)});
    return {{first_ + static_cast<std::uint32_t>(chains_.nodes.size()) - 1}, 0};
  }
  Port concat_chain(const PatternNode& node, const std::vector<Port>& operands) {
    Port joined = operands[0];
    for (std::size_t k = 1; k < operands.size(); ++k) joined = add(node, node.params, {joined, operands[k]});
    return joined;
  }
  /// The last part comes off first.
  std::vector<Port> split_chain(const PatternNode& node, Port whole) {
    const std::vector<SymbolicDim>& sizes = node.params.sizes(1);
    std::vector<Port> parts(sizes.size());
    for (std::size_t k = sizes.size(); k-- > 1;) {
      SymbolicDim rest = sizes[0];
      for (std::size_t i = 1; i < k; ++i) rest = rest + sizes[i];
      whole = add(node, SymbolicParams({node.params[0], SizeList<SymbolicDim>{{rest, sizes[k]}}}), {whole});
      parts[k] = {whole.node, 1};
    }
    parts[0] = whole;
    return parts;
  }

  std::uint32_t first_;
  Pattern chains_;
  std::vector<std::vector<Port>> made_;  ///< By node of the old side, the inputs first.
};

}  // namespace

Rule chain_form(Rule rule) {
  for (Pattern* side : {&rule.source, &rule.target}) {
    if (std::ranges::any_of(side->nodes, has_several_parts)) *side = ChainWriter(rule.inputs.size()).write(*side);
  }
  return rule;
}

}  // namespace rewright
