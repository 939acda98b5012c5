// What a node with graphs inside computes, of its bodies: If, Loop and Scan.
//
//   If     the branch that its condition says
//   Loop   (go on, carried, parts) = body(round, go on, carried), while it goes on, at most so many rounds
//   Scan   (carried, parts) = body(carried, slices), for each slice of its inputs
//
// parts are stacked. A body is read (onnx/import.h) at the sizes of the tensors that it is given, which are known when
// it runs, and is kept for the next run at these sizes.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimize/reference_tensor.h"

namespace rewright {

class REWRIGHT_API BodyRunner {
 public:
  /// Borrows the registry.
  BodyRunner(const Registry& registry, std::string directory);
  ~BodyRunner();

  /// A model without its graph, which nodes to come are from. Errors: kParse.
  [[nodiscard]] Status set_frame(const std::string& frame);

  /// None where one of them cannot be computed.
  using Outputs = std::optional<std::vector<ReferenceTensor>>;
  using Evaluate = std::function<Result<Outputs>(const Graph&, const ReferenceInputs&)>;

  /// One tensor per output of the node. None where it has no graphs, is of another type, cannot be read or computed, or
  /// would take too much work. For several threads.
  [[nodiscard]] Result<Outputs> run(const Node& node, std::span<const ReferenceTensor* const> operands,
                                    const Evaluate& evaluate);

 private:
  struct Bodies;
  std::unique_ptr<Bodies> bodies_;
};

}  // namespace rewright
