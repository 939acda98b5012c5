// One graph of a model on its way to fewer nodes: the model's own, or one inside a node.
//
//   simplify.cpp          the model: rounds over its graph, until nothing changes
//   simplify_graph.cpp    one walk over a graph; what is known of its tensors
//   simplify_known.cpp    known nodes, a constant If, equal nodes and initializers
//   simplify_nothing.cpp  nodes that do nothing
//   simplify_chains.cpp   chains of casts, reshapes, transposes
//   simplify_shapes.cpp   shapes that copy sizes of other tensors
//   simplify_fuse.cpp     nodes that weights of another node take in
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/imported_model.h"
#include "onnx/infer.h"
#include "onnx/proto.h"
#include "onnx/simplify_level.h"
#include "onnx/simplify_nodes.h"

namespace rewright::model {

/// What all graphs of a model share.
struct SimplifyContext {
  const ImportOptions& options;
  SimplifyLevel level = SimplifyLevel::kExact;
  std::int64_t opset = 0;
  bool stores_initializers = true;                  ///< In initializers: since IR 4.
  std::set<std::string> local = {};                 ///< Functions of the model: "domain:name".
  std::set<std::string> open_sizes = {};            ///< Names that the model's inputs give to sizes.
  std::unordered_multiset<std::string> taken = {};  ///< Names of tensors: once for each graph that defines one.
  std::optional<TypeInference> inference = {};
  std::map<std::string, std::size_t> steps = {};
  std::size_t steps_taken = 0;

  [[nodiscard]] bool exact() const { return level == SimplifyLevel::kExact; }
  std::string fresh(const std::string& hint);
  void count(const std::string& kind) { ++steps[kind], ++steps_taken; }
};

class GraphSimplifier {
 public:
  /// Borrows all. `outer`: whose node the graph is in; null for the model's own.
  GraphSimplifier(GraphProto& graph, SimplifyContext& context, const GraphSimplifier* outer);

  /// One walk over all nodes. What is known of the graph's inputs is set already.
  void walk();

 private:
  /// An element of a shape: a number, the size of an axis, or not known.
  struct ShapeElement {
    std::optional<std::int64_t> number = {};
    std::string tensor = {};
    std::int64_t axis = 0;
  };
  struct Numbers {
    TensorType type;
    std::vector<double> values;
  };

  // The graph around the node at hand.
  void count_uses();
  void share_initializers();
  void remove_unused();
  void visit(NodeProto node);
  void simplify_graphs(NodeProto& node);
  void emit(NodeProto node);
  void rename_inputs(NodeProto& node) const;
  void store(TensorProto tensor);
  void store_repeated(const TensorType& type, double number, const std::string& name);

  // What is known.
  [[nodiscard]] bool is_output(const std::string& tensor) const { return outputs_.contains(tensor); }
  [[nodiscard]] bool is_used(const std::string& tensor) const { return !tensor.empty() && uses_.contains(tensor); }
  [[nodiscard]] bool is_used_once(const std::string& tensor) const;
  /// No graph inside a node has another tensor of the name.
  [[nodiscard]] bool stands_everywhere(const std::string& tensor) const { return !inner_.contains(tensor); }
  [[nodiscard]] const NodeProto* maker(const std::string& tensor) const;
  [[nodiscard]] const NodeProto* maker(const std::string& tensor, std::string_view type) const;
  [[nodiscard]] std::optional<Integers> integers(const std::string& tensor) const;
  [[nodiscard]] std::optional<double> repeated_number(const std::string& tensor) const;
  [[nodiscard]] std::optional<std::int64_t> rank(const std::string& tensor) const;
  [[nodiscard]] std::optional<std::int64_t> size(const std::string& tensor, std::int64_t axis) const;
  [[nodiscard]] bool is_same_size(const std::string& a, std::int64_t axis_of_a, const std::string& b,
                                  std::int64_t axis_of_b) const;
  [[nodiscard]] bool same_sizes(const std::string& a, const std::string& b) const;
  [[nodiscard]] std::optional<ElementType> element(const std::string& tensor) const;
  [[nodiscard]] std::optional<Integers> perm_of(const NodeProto& transpose) const;
  /// In an attribute of older opsets, in an input of newer ones.
  [[nodiscard]] std::optional<Integers> integers_of(const NodeProto& node, std::string_view attribute, int input) const;
  [[nodiscard]] std::optional<Numbers> repeated_numbers(const NodeProto& node) const;
  /// The values of a stored tensor of any size, unless they lie in another file.
  [[nodiscard]] std::optional<Numbers> numbers(const std::string& tensor) const;

  // The kinds of steps; true: nothing is left to do for the node.
  bool fold(const NodeProto& node);
  bool inline_if(const NodeProto& node);
  bool share(const NodeProto& node);
  bool drop(const NodeProto& node);
  bool shorten(NodeProto& node);
  bool fuse(const NodeProto& node);

  [[nodiscard]] std::optional<std::string> same_as(const NodeProto& node) const;
  [[nodiscard]] std::optional<std::string> neutral(const NodeProto& node, bool exact) const;
  [[nodiscard]] bool is_dropout_without_effect(const NodeProto& node) const;
  bool replace(const NodeProto& node, const std::string& by, const std::string& kind);
  void rename_made(const std::string& from, const std::string& to);

  bool shorten_cast(NodeProto& node);
  bool shorten_reshape(NodeProto& node);
  bool shorten_transpose(NodeProto& node);
  bool cross_transpose(const NodeProto& node, const Integers& perm);
  std::optional<std::string> untransposed(const std::string& tensor, const Integers& perm, int depth,
                                          std::vector<NodeProto>& made);

  // simplify_shapes.cpp
  using ShapeElements = std::vector<ShapeElement>;
  [[nodiscard]] std::optional<ShapeElements> shape_elements(const std::string& tensor, int depth = 0) const;
  [[nodiscard]] std::optional<ShapeElements> shape_of(const NodeProto& shape) const;
  [[nodiscard]] std::optional<ShapeElements> joined(const NodeProto& concat, int depth) const;
  [[nodiscard]] std::optional<ShapeElements> gathered(const NodeProto& gather, int depth) const;
  [[nodiscard]] std::optional<ShapeElements> sliced(const NodeProto& slice, int depth) const;
  [[nodiscard]] std::string with_same_sizes(std::string tensor) const;
  [[nodiscard]] bool is_shaped_as_before(const NodeProto& node) const;
  bool copy_sizes(NodeProto& reshape);

  // simplify_fuse.cpp

  /// What a node does to channels: x * scale + shift.
  struct Channels {
    std::vector<double> scale, shift;
  };
  [[nodiscard]] std::optional<std::vector<double>> per_channel(const std::string& tensor, std::int64_t channels,
                                                               std::int64_t rank) const;
  [[nodiscard]] std::optional<Channels> channels_of(const NodeProto& node, int constant, std::int64_t channels,
                                                    std::int64_t rank) const;
  [[nodiscard]] std::optional<Channels> normalization(const NodeProto& node, std::int64_t channels) const;
  /// Nothing else uses the tensor or says something of it.
  [[nodiscard]] bool may_change(const std::string& tensor) const;
  bool fuse_channels(const NodeProto& node);
  bool fuse_convolution(const NodeProto& node, NodeProto conv, int constant);
  bool fuse_product(const NodeProto& node, NodeProto product, int constant);
  bool store_changed(const NodeProto& node, NodeProto before, const Numbers& weights, const Channels& change);
  bool fuse_gemm(const NodeProto& node);
  bool fuse_pad(const NodeProto& node);
  bool fuse_clip(const NodeProto& node);
  std::optional<std::string> store_numbers(const Numbers& numbers, const std::string& name);
  bool take_place(NodeProto fused, const NodeProto& node);

  GraphProto& graph_;
  SimplifyContext& context_;
  const GraphSimplifier* outer_;
  std::unordered_set<std::string> given_, outputs_;  ///< Inputs of the graph, with overridable defaults; outputs.
  std::set<std::string> annotated_;                  ///< Tensors that a quantisation annotation names.
  std::unordered_set<std::string> inner_;            ///< Names of tensors of graphs inside nodes.
  std::unordered_set<std::string> defined_;          ///< Names of tensors of this graph.
  std::unordered_map<std::string, const TensorProto*> stored_;  ///< Initializers that no one may override.
  std::unordered_map<std::string, std::size_t> uses_;           ///< By tensor, when the walk began.
  std::vector<NodeProto> nodes_;                                ///< Of this walk, so far.
  std::unordered_map<std::string, std::size_t> makers_;
  std::map<std::string, std::string> replaced_;
  std::map<std::string, std::size_t> by_content_;  ///< Nodes that may be shared.
};

}  // namespace rewright::model
