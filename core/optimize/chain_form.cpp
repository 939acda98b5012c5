#include "optimize/chain_form.h"

#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "optimize/rebuild.h"

namespace rewright {
namespace {

using Ports = std::vector<Port>;
using SizeNumbers = SizeList<std::int64_t>;

Result<Ports> concat_chain(GraphBuilder& builder, const Node& node, const Ports& operands) {
  Ports joined = {operands[0]};
  for (std::size_t k = 1; k < operands.size(); ++k) {
    REWRIGHT_TRY(joined, builder.apply(*node.application(), {joined[0], operands[k]},
                                       k + 1 == operands.size() ? node.name : std::string()));
  }
  return joined;
}

/// The last part comes off first.
Result<Ports> split_chain(GraphBuilder& builder, const Node& node, Ports whole) {
  const auto& [op, params] = *node.application();
  const std::vector<std::int64_t>& sizes = params.sizes(1);
  std::int64_t rest = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  Ports parts(sizes.size());
  for (std::size_t k = sizes.size(); k-- > 1;) {
    rest -= sizes[k];
    REWRIGHT_TRY(whole, builder.apply(*op, Params({params.integer(0), SizeNumbers{{rest, sizes[k]}}}), {whole[0]},
                                      k + 1 == sizes.size() ? node.name : std::string()));
    parts[k] = whole[1];
  }
  parts[0] = whole[0];
  return parts;
}

class ChainJoiner {
 public:
  explicit ChainJoiner(const Graph& graph) : graph_(graph), uses_(graph.nodes().size(), 0), made_(uses_.size()) {
    std::map<Port, std::vector<NodeId>> users;  // Of the parts of splits that are no outputs of the graph.
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      for (Port operand : graph.nodes()[i].inputs) {
        ++uses_[operand.node.value];
        if (graph.node(operand.node).applies("split")) users[operand].push_back({i});
      }
    }
    for (Port port : graph.outputs()) {
      ++uses_[port.node.value];
      users.erase(port);
    }
    for (const auto& [part, by] : users) {
      const Node& user = graph.node(by[0]);
      if (by.size() == 1 && user.applies("split") && are_one_chain(graph.node(part.node), user))
        split_by_[part] = by[0];
    }
  }

  Result<Ports> application(GraphBuilder& builder, NodeId id, Ports operands) {
    const Node& node = graph_.node(id);
    if (node.applies("concat")) return joined_concat(builder, id, operands);
    if (!node.applies("split")) return builder.copy(node, std::move(operands));
    if (made_[id.value].empty()) REWRIGHT_CHECK(make_split(builder, id, operands[0]));
    return made_[id.value];
  }

 private:
  Result<Ports> joined_concat(GraphBuilder& builder, NodeId id, const Ports& operands) {
    const Node& node = graph_.node(id);
    Ports& all = made_[id.value];
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const NodeId maker = node.inputs[k].node;
      if (graph_.node(maker).applies("concat") && are_one_chain(graph_.node(maker), node) && uses_[maker.value] == 1) {
        all.insert(all.end(), made_[maker.value].begin(), made_[maker.value].end());
      } else {
        all.push_back(operands[k]);
      }
    }
    return builder.copy(node, all);  // What was made of its parts is dropped by finish().
  }

  /// Makes the split and those of its parts, as one.
  Status make_split(GraphBuilder& builder, NodeId root, Port whole) {
    const Node& node = graph_.node(root);
    const auto& [op, params] = *node.application();
    std::vector<std::int64_t> sizes;
    Ports parts;  // Of the graph, in the order of `sizes`.
    collect(root, sizes, parts);
    REWRIGHT_TRY(const Ports outputs,
                 builder.apply(*op, Params({params.integer(0), SizeNumbers{std::move(sizes)}}), {whole}, node.name));
    for (std::size_t k = 0; k < parts.size(); ++k) made_[parts[k].node.value][parts[k].output] = outputs[k];
    return {};
  }
  void collect(NodeId split, std::vector<std::int64_t>& sizes, Ports& parts) {
    const std::vector<std::int64_t>& own = graph_.node(split).application()->params.sizes(1);
    made_[split.value].resize(own.size());  // One that is split further is nobody's operand in the new graph.
    for (std::uint32_t k = 0; k < own.size(); ++k) {
      const Port part{split, k};
      if (const auto further = split_by_.find(part); further != split_by_.end()) {
        collect(further->second, sizes, parts);
      } else {
        sizes.push_back(own[k]);
        parts.push_back(part);
      }
    }
  }

  const Graph& graph_;
  std::vector<int> uses_;
  std::vector<Ports>
      made_;  ///< Of each split its parts in the new graph, of each concat its operands, chains written out.
  std::map<Port, NodeId> split_by_;
};

}  // namespace

bool are_one_chain(const Node& maker, const Node& user) {
  const ApplicationNode *first = maker.application(), *second = user.application();
  if (!first || !second || first->op != second->op) return false;
  return (user.applies("concat") || user.applies("split")) && first->params.integer(0) == second->params.integer(0);
}

Result<Graph> to_chains(const Graph& graph) {
  return rebuild(graph, [&](GraphBuilder& builder, NodeId id, Ports operands) -> Result<Ports> {
    const Node& node = graph.node(id);
    if (node.applies("concat") && operands.size() > 2) return concat_chain(builder, node, operands);
    if (node.applies("split") && node.outputs.size() > 2) return split_chain(builder, node, std::move(operands));
    return builder.copy(node, std::move(operands));
  });
}

Result<Graph> from_chains(const Graph& graph) {
  ChainJoiner joiner(graph);
  return rebuild(graph, [&](GraphBuilder& builder, NodeId id, Ports operands) {
    return joiner.application(builder, id, std::move(operands));
  });
}

}  // namespace rewright
