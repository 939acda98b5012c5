// Graphs: immutable directed acyclic graphs of operator applications over named input tensors, with several outputs.
//
// Nodes lie in one array in topological order: inputs and applications alike. A Port is one output of one node.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/operator/operator.h>
#include <rewright/tensor/element_type.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rewright {

class Registry;

struct NodeId {
  std::uint32_t value = 0;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

/// One output of a node: a tensor.
struct Port {
  NodeId node;
  std::uint32_t output = 0;
  friend auto operator<=>(const Port&, const Port&) = default;
};

struct TensorType {
  Shape shape;
  ElementType element = ElementType::kFloat32;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// The value of a tensor that is known before the graph runs: raw bytes, or one number repeated.
struct ConstantData {
  TensorType type;
  std::variant<double, std::vector<std::byte>> value;  ///< Bytes: row-major, little-endian, as ONNX raw_data.
};

/// What an input of a graph is.
enum class InputKind : std::uint8_t {
  kData,    ///< Given anew at each run.
  kWeight,  ///< The same at each run: work on weights alone is done once, before the first run.
};

/// A tensor that is given.
struct InputNode {
  InputKind kind = InputKind::kData;
  std::shared_ptr<const ConstantData> constant;  ///< Of weights; null where only the kind is known.
};

/// An operator applied with these parameters.
struct ApplicationNode {
  const Operator* op = nullptr;  ///< Null in no node of a graph.
  Params params;
  friend bool operator==(const ApplicationNode&, const ApplicationNode&) = default;
};
/// "split[axis=1, sizes=[4, 4]]".
[[nodiscard]] REWRIGHT_API std::string to_string(const ApplicationNode& application);

/// A node that no operator knows: kept byte for byte (a serialized ONNX NodeProto).
struct OpaqueNode {
  std::string type;  ///< For people: "Einsum", "com.microsoft:FusedConv".
  std::string serialized;
  /// The model that it is from without its graph (versions, functions), serialized. Null: not known.
  std::shared_ptr<const std::string> frame = nullptr;
};

struct Node {
  std::string name;  ///< Inputs: the tensor's name. Applications: a hint, may be empty.
  std::variant<InputNode, ApplicationNode, std::shared_ptr<const OpaqueNode>> content;
  std::vector<Port> inputs;
  std::vector<TensorType> outputs;

  /// What the node is: one of the three is not null.
  [[nodiscard]] const InputNode* input() const { return std::get_if<InputNode>(&content); }
  [[nodiscard]] const ApplicationNode* application() const { return std::get_if<ApplicationNode>(&content); }
  [[nodiscard]] const OpaqueNode* opaque() const {
    const auto* held = std::get_if<std::shared_ptr<const OpaqueNode>>(&content);
    return held != nullptr ? held->get() : nullptr;
  }

  [[nodiscard]] bool is_input() const { return input() != nullptr; }
  [[nodiscard]] bool is_data() const { return is_input() && input()->kind == InputKind::kData; }
  [[nodiscard]] bool is_weight() const { return is_input() && input()->kind == InputKind::kWeight; }
  /// The value of a weight that has one; null for every other node.
  [[nodiscard]] const std::shared_ptr<const ConstantData>& constant() const {
    static const std::shared_ptr<const ConstantData> kNone;
    return is_input() ? input()->constant : kNone;
  }
  /// Is it an application of the operator of this name?
  [[nodiscard]] bool applies(std::string_view op) const {
    return application() != nullptr && application()->op->name() == op;
  }
};

class REWRIGHT_API Graph {
 public:
  Graph() = default;

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.value]; }
  [[nodiscard]] std::span<const NodeId> inputs() const { return inputs_; }
  [[nodiscard]] std::span<const Port> outputs() const { return outputs_; }
  /// One per output; empty where the graph's outputs have no names of their own.
  [[nodiscard]] std::span<const std::string> output_names() const { return output_names_; }
  [[nodiscard]] const TensorType& type(Port port) const { return nodes_[port.node.value].outputs[port.output]; }
  [[nodiscard]] const Shape& shape(Port port) const { return type(port).shape; }
  /// Applications and opaque nodes.
  [[nodiscard]] std::size_t operator_count() const { return nodes_.size() - inputs_.size(); }

 private:
  friend class GraphBuilder;
  std::vector<Node> nodes_;
  std::vector<NodeId> inputs_;
  std::vector<Port> outputs_;
  std::vector<std::string> output_names_;
};

/// Builds a graph node by node. Every operand must have been made before: a graph cannot have a cycle.
class REWRIGHT_API GraphBuilder {
 public:
  /// `registry` serves apply() by name; it may be null where only operators by pointer are applied.
  explicit GraphBuilder(const Registry* registry = nullptr) : registry_(registry) {}

  /// Names are unique; a repeated one is an error of apply's kind (kUsage).
  Result<Port> input(std::string name, TensorType type, InputKind kind = InputKind::kData,
                     std::shared_ptr<const ConstantData> constant = nullptr);
  /// A weight with a value; the name is made unique.
  Port constant(ConstantData value, std::string_view name_hint = "constant");

  /// Applies an operator; one port per output. An application that is there already is not made again.
  /// Errors: kShape where the operands do not fit; kUnsupported where they are not of one floating-point type.
  Result<std::vector<Port>> apply(const Operator& op, Params params, std::vector<Port> operands,
                                  std::string name_hint = {});
  Result<std::vector<Port>> apply(const ApplicationNode& application, std::vector<Port> operands,
                                  std::string name_hint = {}) {
    return apply(*application.op, application.params, std::move(operands), std::move(name_hint));
  }
  /// The same by name. Errors also: kNotFound, an unknown or unfit parameter.
  Result<std::vector<Port>> apply(std::string_view op, std::span<const NamedParam> params, std::vector<Port> operands,
                                  std::string name_hint = {});
  /// For operators of one output.
  Result<Port> apply1(std::string_view op, std::initializer_list<NamedParam> params, std::vector<Port> operands);
  std::vector<Port> opaque(OpaqueNode node, std::vector<Port> operands, std::vector<TensorType> outputs);
  /// A node of another graph on these operands, under its name.
  Result<std::vector<Port>> copy(const Node& node, std::vector<Port> operands);

  void output(Port port, std::string name = {});
  /// Names an application that has no name, where no other node has this one.
  void name(Port port, const std::string& name);

  [[nodiscard]] const TensorType& type(Port port) const { return graph_.type(port); }
  [[nodiscard]] const Shape& shape(Port port) const { return graph_.shape(port); }
  [[nodiscard]] const Node& node(NodeId id) const { return graph_.node(id); }
  [[nodiscard]] const Registry* registry() const { return registry_; }

  /// The graph, without applications that no output needs (inputs stay). The builder is empty afterwards.
  [[nodiscard]] Graph finish();

 private:
  const Registry* registry_;
  Graph graph_;
  std::map<std::string, NodeId, std::less<>> names_;
  std::multimap<std::uint64_t, NodeId> applications_;
};

/// 128 bits that depend on a graph's structure (operators, parameters, shapes, wiring, order of inputs and outputs)
/// and not on node order or names. Equal graphs up to names have equal hashes on every machine.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};
[[nodiscard]] REWRIGHT_API std::string to_string(Hash128 hash);  ///< 32 hexadecimal digits.
[[nodiscard]] REWRIGHT_API Hash128 structural_hash(const Graph& graph);

/// The text form, one node a line, in topological order:
///     x = input (2, 4)
///     w = weight (4, 8)
///     a = matmul(x, w)
///     b, c = split[axis=1, sizes=[4, 4]](a)
///     output b, c
/// Element types other than float32 stand before the shape ("input float16 (2, 4)"). Values of weights and the
/// payload of opaque nodes are not written.
[[nodiscard]] REWRIGHT_API std::string to_text(const Graph& graph);
/// Reads the text form. Errors: line, column, what was found and what was expected.
[[nodiscard]] REWRIGHT_API Result<Graph> parse_graph(std::string_view text, const Registry& registry);

/// Evaluates every output on the given input values, in the order of graph.inputs(). Errors: an opaque node, a value
/// of the wrong shape. Scalar: Field, Exact, Real or Term.
template <class Scalar>
[[nodiscard]] REWRIGHT_API Result<std::vector<Tensor<Scalar>>> evaluate(const Graph& graph,
                                                                        std::span<const Tensor<Scalar>> inputs);

}  // namespace rewright
