// One node of a model as a model of its own, for whoever wants the outputs of that node alone.
//
// The model's inputs are the node's operands in the order in which a Graph has them: its inputs that are not left out,
// then what its graphs capture. Sizes are left open, so that one such model serves every size.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rewright::model {

struct NodeModel {
  std::string model;                ///< A serialized ModelProto; equal for nodes that differ in names alone.
  std::vector<std::string> inputs;  ///< One per operand.
  std::vector<std::size_t>
      outputs;                   ///< Which of the node's outputs the model gives, in order; the others are left out.
  std::vector<ElementType> fed;  ///< The element type that each operand is to have.
};

class NodeModels {
 public:
  /// `model`: a serialized ModelProto whose versions and functions count; its graph is not read.
  [[nodiscard]] static Result<NodeModels> create(std::string_view model);

  /// `operands`: their element types. `wide`: those with a fraction are fed as float64 where the node's schema allows
  /// it, and types that attributes name are float64. Errors: kUnsupported, an operand that is no tensor.
  [[nodiscard]] Result<NodeModel> write(const std::string& node, std::span<const ElementType> operands,
                                        bool wide) const;

  /// The model without its graph.
  [[nodiscard]] const std::string& frame() const { return frame_; }

 private:
  std::string frame_;
};

}  // namespace rewright::model
