// What a graph has of the model that it was imported from: enough to write back, as it was, what no rewrite touched.
#pragma once

#include <rewright/graph/graph.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rewright {

/// A node of the model. Its inputs are followed by the tensors that graphs inside it use.
struct OriginNode {
  std::string serialized;                ///< A NodeProto.
  std::vector<std::string> input_names;  ///< Empty where an optional input is left out.
  std::vector<std::string> output_names;
  std::vector<std::optional<Port>> inputs;   ///< None where the graph does without the tensor.
  std::vector<std::optional<Port>> outputs;  ///< By output of the NodeProto.
  /// By input: what the model computes for it, where that is known for all sizes that the result is to take, else null.
  std::vector<std::shared_ptr<const ConstantData>> integers;
  /// Makes no numbers with a fraction out of others: it may be written again for what it is needed for.
  bool is_light = false;
};

struct Origin {
  std::vector<OriginNode> nodes;  ///< In the model's order, made topological.
  /// Initializers whose values a Graph can hold, those that the graph does without too.
  std::map<std::string, std::shared_ptr<const ConstantData>> initializers;
  std::vector<std::string> initializer_order;
  bool has_open_sizes = false;  ///< And none was frozen.
};

}  // namespace rewright
