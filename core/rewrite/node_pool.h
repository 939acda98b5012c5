// Graphs that share their nodes.
//
// A node is an operator with its parameters (its label) and its operands. Equal nodes are one node, whichever graphs
// they are in: so graphs are equal exactly if their outputs are the same ports, and what depends on what a node
// computes from alone (its types, its cost, where rules match in it) is worked out once for all graphs. The operands
// of a commutative operator are compared in either order.
//
// A node's hash is linear in those of its operands, over the field of 2^61 - 1 elements,
//
//   h(node) = c(label) + sum over k of s(label, k) * h(operand k),
//
// with pseudo-random c and s; so what a graph's hash becomes when one tensor is replaced follows from the two tensors'
// hashes and one factor, whatever is computed from them (core/optimize/hash_slopes.h). Operands that commute have one
// s. Sums that exchange operands of one depth, (a + b) + (c + d) and (a + c) + (b + d), share that hash. A node's key
// is a hash that tells them apart.
//
// Ids ascend from operands to users. Nodes are only added; what was added last can be taken back.
// Source  Filliatre, Conchon: Type-Safe Modular Hash-Consing, ML Workshop 2006.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/tensor/scalar.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace rewright {

using LabelId = std::uint32_t;
using TypeId = std::uint32_t;
using SignatureId = std::uint32_t;
/// A sequence of numbers as a key.
using WordKey = std::u32string;

inline constexpr std::uint32_t kNoId = 0xffffffff;

class REWRIGHT_API NodePool {
 public:
  /// Borrows the graph: inputs, opaque nodes and names are its.
  explicit NodePool(const Graph& start);

  /// What a node is, its operands aside.
  struct Label {
    const Operator* op = nullptr;  ///< Null for inputs and opaque nodes.
    Params params;
    bool commutative = false;
    std::uint32_t start_node = kNoId;  ///< Inputs and opaque nodes: in the start graph.
    std::uint64_t hash = 0;
  };
  /// A label at types and kinds of operands: all that shapes and costs depend on.
  struct Signature {
    LabelId label = 0;
    bool defined = true;
    bool weight_only = false;
    std::vector<TypeId> in;
    std::vector<InputKind> kinds;
    std::vector<TypeId> out;
    std::string reason;  ///< Where it is not defined.
  };
  struct PoolNode {
    LabelId label = 0;
    SignatureId signature = 0;
    std::uint32_t first_operand = 0;
    std::uint32_t operand_count = 0;
    std::uint32_t named_like = kNoId;  ///< A node of the start graph.
    Field hash;                        ///< Of all that it is computed from.
    std::uint64_t key = 0;             ///< The same, not linear.
  };

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  [[nodiscard]] const PoolNode& node(std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] const Label& label(std::uint32_t id) const { return labels_[nodes_[id].label]; }
  [[nodiscard]] const Label& label_at(LabelId label) const { return labels_[label]; }
  [[nodiscard]] std::size_t label_count() const { return labels_.size(); }
  [[nodiscard]] const Signature& signature(std::uint32_t id) const { return signatures_[nodes_[id].signature]; }
  [[nodiscard]] const Signature& signature_at(SignatureId id) const { return signatures_[id]; }
  [[nodiscard]] std::size_t signature_count() const { return signatures_.size(); }
  [[nodiscard]] std::span<const Port> operands(std::uint32_t id) const {
    return std::span(operands_).subspan(nodes_[id].first_operand, nodes_[id].operand_count);
  }
  [[nodiscard]] TypeId type(Port port) const { return signature(port.node.value).out[port.output]; }
  [[nodiscard]] const TensorType& type_at(TypeId type) const { return types_[type]; }
  [[nodiscard]] const Shape& shape(Port port) const { return types_[type(port)].shape; }
  [[nodiscard]] InputKind kind(Port port) const {
    return signature(port.node.value).weight_only ? InputKind::kWeight : InputKind::kData;
  }

  /// The start graph's nodes here, by its ids, and its outputs.
  [[nodiscard]] const Graph& start() const { return *start_; }
  [[nodiscard]] std::span<const std::uint32_t> start_nodes() const { return start_nodes_; }
  [[nodiscard]] std::span<const Port> start_outputs() const { return start_outputs_; }

  [[nodiscard]] LabelId label_of(const Operator& op, const Params& params);
  [[nodiscard]] SignatureId signature_of(LabelId label, std::span<const Port> operands);

  /// The node; nothing where the operator does not take the operands: refusal() says why then.
  [[nodiscard]] std::optional<std::uint32_t> add(LabelId label, std::span<const Port> operands,
                                                 std::uint32_t named_like = kNoId);
  /// A node like `id` on other operands.
  [[nodiscard]] std::optional<std::uint32_t> add_like(std::uint32_t id, std::span<const Port> operands);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// Takes back the nodes from `size` on. Labels, types and signatures stay.
  void rollback(std::uint32_t size);

  [[nodiscard]] Field hash_of(Port port) const;
  [[nodiscard]] Field hash_of(std::span<const Port> outputs) const;
  /// Equal for equal graphs, whatever else was in the pool; never 0. Others share it by chance alone.
  [[nodiscard]] std::uint64_t key_of(std::span<const Port> outputs) const;
  /// By how much a node's hash grows with that of its operand k, and a graph's with that of its output i.
  [[nodiscard]] Field hash_slope(LabelId label, std::size_t k) const;
  [[nodiscard]] static Field output_slope(std::size_t i);
  [[nodiscard]] bool is_commuting(std::uint32_t id) const {
    return label(id).commutative && nodes_[id].operand_count >= 2;
  }

  /// The graph with these outputs: all inputs of the start graph, names as far as nodes are those of the start.
  [[nodiscard]] Result<Graph> graph(std::span<const Port> outputs) const;
  /// An application of the signature to inputs of its types and kinds. Errors: the operator does not take them.
  [[nodiscard]] Result<Graph> application(LabelId label, std::span<const TypeId> in,
                                          std::span<const InputKind> kinds) const;

 private:
  [[nodiscard]] TypeId type_id(const TensorType& type);
  [[nodiscard]] LabelId start_label(std::uint32_t start_node);
  [[nodiscard]] SignatureId new_signature(LabelId label, std::span<const Port> operands);
  [[nodiscard]] Field hash_of(LabelId label, std::span<const Port> operands) const;
  [[nodiscard]] bool same(std::uint32_t id, LabelId label, std::span<const Port> operands) const;
  [[nodiscard]] std::uint64_t key_of(LabelId label, std::span<const Port> operands) const;
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t key, LabelId label,
                                                  std::span<const Port> operands) const;
  std::uint32_t insert(std::uint64_t key, LabelId label, SignatureId signature, std::span<const Port> operands,
                       std::uint32_t named_like);
  void grow();

  const Graph* start_;
  std::vector<std::uint32_t> start_nodes_;
  std::vector<Port> start_outputs_;
  std::vector<PoolNode> nodes_;
  std::vector<Port> operands_;
  std::vector<std::uint32_t> table_;  ///< Open addressing, linear probing; kNoId: free.
  std::vector<Label> labels_;
  std::unordered_map<WordKey, LabelId> label_ids_;
  std::vector<TensorType> types_;
  std::unordered_map<WordKey, TypeId> type_ids_;
  std::vector<Signature> signatures_;
  std::unordered_map<WordKey, SignatureId> signature_ids_;
  WordKey key_;
  std::string refusal_;
};

}  // namespace rewright
