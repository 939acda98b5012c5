// Graphs as ONNX models.
//
// What no rewrite touched is written as it was: the node with its name, attributes and spelling, its tensors under
// their names, what the model declares of them (kept.h). Other applications are written by their operators, opaque
// nodes with their tensors rewired. Work on weights whose values are known is done here, in double precision, and
// written as its result, unless rounding it to its element type would lose numbers. Weights of one repeated number are
// written as ConstantOfShape nodes, which keep a file small; every runtime folds them when it loads the model. A bias
// that is added to a convolution or to a product of matrices, and to nothing else, is the third input of Conv or Gemm.
//
// Sizes   Inputs and outputs keep their declared types, open sizes among them.
// Opset   Operators write forms of opset 17, which are converted to the model's opset (opset_convert.h). Where a node
//         cannot be said there, all nodes are converted to the lowest opset above at which every one can; if there is
//         none, the model is refused with a sentence. A graph without origin gets opset 17.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "onnx/import.h"

namespace rewright {

struct ExportOptions {
  /// Nodes that no rewrite touched are written as they were; otherwise the operators write all that they read.
  bool keep_original = true;
  /// No sum is taken in another order: biases stay nodes of their own.
  bool exact = false;
  /// Bytes that folding may add to the file beyond the weights that it replaces.
  std::int64_t fold_bytes = std::int64_t{64} << 20;
  /// Floating-point operations that folding may take.
  double fold_flops = 2e10;
  /// Told, in one sentence, of work on weights that is left in the model because of these limits.
  std::function<void(const std::string&)> note = {};
  /// Values may lose numbers when they are rounded to their element type (lossy.h). Otherwise work on weights that
  /// would is left to the run.
  bool fast_math = false;
  /// Told, in one sentence each, where numbers are lost that the origin keeps: in work on weights that the origin does
  /// not have, in constants that operators write. Not called with fast_math.
  std::function<void(const std::string&)> lost = {};
  /// Names that nothing new may get, as something outside has them; null: none. Borrowed.
  const std::set<std::string>* taken = nullptr;
};

/// A serialized ModelProto; equal graphs give equal bytes. `graph` must have the inputs and outputs of origin.graph.
/// Errors: kUnsupported where an operator has no counterpart in ONNX, no opset fits or the model passes 2 GiB.
[[nodiscard]] REWRIGHT_API Result<std::string> export_model(const Graph& graph, const ImportedModel& origin,
                                                            const ExportOptions& options = {});
/// The same for a graph that no model was the origin of.
[[nodiscard]] REWRIGHT_API Result<std::string> export_model(const Graph& graph, const ExportOptions& options = {});

/// What export_model(graph, origin, options) tells options.lost, in its order: empty where the result loses nothing.
/// A rewrite that brings such a loss is to be refused unless the user asked for fast arithmetic. Costs as much as the
/// export. Errors: those of export_model.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::string>> lossy_folds(const Graph& graph, const ImportedModel& origin,
                                                                        ExportOptions options = {});

}  // namespace rewright
