// Nodes that no operator knows, run one at a time by a runtime.
//
// A node runs as a model of its own, with the runtime's optimisations off: on float64 where the node's schema and the
// runtime have it, else in the types that it has in its model. Sessions are kept, one for each content and types of
// operands, so that the nodes of a deep network share them.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "onnx/node_model.h"

namespace rewright {

class NodeRunner {
 public:
  /// Borrows `runtime`.
  NodeRunner(const Runtime& runtime, std::string directory) : runtime_(&runtime), directory_(std::move(directory)) {}

  /// The serialized model that the nodes to come are from: its versions and functions count. Errors: kParse.
  [[nodiscard]] Status set_model(std::string_view model);

  /// That model without its graph.
  [[nodiscard]] const std::string& frame() const { return models_.frame(); }

  /// Gives back what loaded nodes hold.
  void drop_sessions() { loaded_.clear(); }

  /// Gives operand `i`, its bytes in that element type.
  using Operands = std::function<RuntimeTensor(std::size_t i, ElementType)>;

  /// One tensor per output of the node; those that the node leaves out are empty and of no known type. `types`: the
  /// operands' in the model. `wide`: in double precision where that is possible. Errors: kUnsupported, with what the
  /// runtime says.
  [[nodiscard]] Result<std::vector<RuntimeTensor>> run(const Node& node, std::span<const ElementType> types, bool wide,
                                                       const Operands& operand);

 private:
  struct Loaded {
    model::NodeModel model;
    std::unique_ptr<RuntimeSession> session;
    std::string trouble;  ///< Why there is no session.
  };
  Result<Loaded*> load(const Node& node, std::span<const ElementType> types, bool wide);
  Result<std::vector<RuntimeTensor>> run_as(const Node& node, std::span<const ElementType> types, bool wide,
                                            const Operands& operand);

  const Runtime* runtime_;
  model::NodeModels models_;
  std::string directory_;
  std::map<std::string, Loaded> loaded_;  ///< By the model's content.
};

}  // namespace rewright
