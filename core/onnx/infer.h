// What is known of tensors before the model runs: types, and small values.
//
//   value   what known operands give (known_values.h), or integers that ONNX's inference follows
//   type    of a value; else what ONNX's inference says, one node at a time
//
// Newer  A node that ONNX's library here does not know in its opset's form is asked for in the form of opset 17
//        (opset_convert.h), in several nodes if need be.
// Graphs in nodes (If, Loop, Scan) and functions of the model are walked node by node: what their outputs are where all
//        runs agree. A tensor that a loop carries has the type that its body keeps, else the sizes that stay.
//
// ONNX's inference trusts models: an axis out of range makes it read past an array. So it runs in a process of its
// own, and a node over which it crashes has no inferred type. Answers are remembered while the program runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/proto.h"
#include "onnx/sandbox.h"

namespace rewright::model {

class TypeInference {
 public:
  /// Borrows the model's functions.
  explicit TypeInference(const ModelProto& model);

  void set_type(const std::string& name, TypeProto type) { types_[name] = std::move(type); }
  void set_value(const std::string& name, std::shared_ptr<const ConstantData> value);
  /// Sets the type, and the value of a small one whose values do not lie in another file.
  void set_initializer(const TensorProto& tensor);

  /// Sets what follows for the node's outputs; a node of which nothing can be said sets nothing.
  void infer(const NodeProto& node);
  /// Of the node inferred last, where its operands contradict each other or an integer overflows: a sentence.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  [[nodiscard]] const TypeProto* type(const std::string& name) const;
  /// The type where all of it is known.
  [[nodiscard]] std::optional<TensorType> static_type(const std::string& name) const;
  /// What a tensor is known to hold; null where it is large.
  [[nodiscard]] std::shared_ptr<const ConstantData> value(const std::string& name) const;

  // infer_graphs.cpp
  using Types = std::vector<std::optional<TypeProto>>;
  /// Names that a graph defines mean what they mean there while it lives, and afterwards what they meant before.
  class Scope {
   public:
    Scope(TypeInference& inference, std::vector<std::string> names);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TypeInference& inference_;
    std::vector<std::string> names_;
    Types types_;
    std::vector<std::shared_ptr<const ConstantData>> values_;
  };
  /// Sets what is known of the graph's inputs, which have these types, and of its initializers.
  [[nodiscard]] std::unique_ptr<Scope> enter(const GraphProto& graph, const Types& inputs);
  /// Of the inputs of the graphs in an If, a Loop or a Scan, as they are in all runs of these graphs.
  [[nodiscard]] Types inputs_of_graphs(const NodeProto& node);
  /// True for nodes whose graphs `inputs_of_graphs` knows.
  [[nodiscard]] bool runs_graphs(const NodeProto& node) const;

 private:
  bool evaluate(const NodeProto& node);
  void infer_types(const NodeProto& node);
  void infer_as_17(const NodeProto& node);
  void ask(const NodeProto& node, std::int64_t opset);
  [[nodiscard]] ModelProto question(const NodeProto& node, std::int64_t opset) const;
  [[nodiscard]] std::shared_ptr<const ConstantData> followed_integers(const std::string& name) const;
  [[nodiscard]] std::optional<TypeProto> type_copy(const std::string& name) const;

  // infer_graphs.cpp
  bool infer_graphs(const NodeProto& node);
  void infer_if(const NodeProto& node);
  void infer_loop(const NodeProto& node);
  void infer_scan(const NodeProto& node);
  Types loop_inputs(const NodeProto& node, Types* outputs);
  Types scan_inputs(const NodeProto& node, std::int64_t* length);
  bool infer_function(const NodeProto& node);
  Types walk(const GraphProto& graph, const Types& inputs);
  void set_outputs(const NodeProto& node, const Types& types);

  std::int64_t opset_;
  ModelProto versions_;                                                      ///< The model's versions alone.
  std::unordered_map<std::string, const ::onnx::FunctionProto*> functions_;  ///< By "domain:name".
  Sandbox sandbox_;
  std::unordered_map<std::string, TypeProto> types_;
  std::unordered_map<std::string, std::shared_ptr<const ConstantData>> values_;
  std::unordered_map<std::string, ::onnx::TensorShapeProto> followed_;  ///< Integers that inference computed.
  std::string trouble_;
  int depth_ = 0;  ///< Of graphs and functions inside each other.
};

}  // namespace rewright::model
