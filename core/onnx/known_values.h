// What a node computes on integers, booleans and a few numbers, where all of its operands are known before the run.
//
//   evaluate_known(node, operands) = outputs    Shape, Cast, Range, Gather, Concat, Slice, Where, Equal, ReduceProd,
//   ...
//
// Exports of models compute shapes in the model: Shape, Gather, Concat, Reshape. ONNX's own inference follows a part of
// it, from opset 13 on.
//
// Shapes  of at most kMostKnownElements elements.
// Exact   An integer that leaves its element type is refused, never wrapped. Numbers of float32 and float64 take the
//         operations that IEEE 754 rounds correctly; each result is rounded once, as a runtime does it. Sums and
//         products of numbers over axes are computed only where no order of them rounds.
// Errors  kUnsupported: an operand is not known, or the node is none of these. kShape: the operands contradict each
//         other, or an integer leaves its element type.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <span>
#include <vector>

#include "onnx/known_operand.h"
#include "onnx/proto.h"

namespace rewright::model {

/// What a Constant node holds. Errors: kNotFound for another node and for text; those of read_tensor.
[[nodiscard]] Result<ConstantData> constant_of_node(const NodeProto& node, const std::string& folder);

/// One value per output of the node. `operands`: one per input, empty for those that are left out. `opset`: of ONNX's
/// own operators, at least 6.
[[nodiscard]] REWRIGHT_API Result<std::vector<ConstantData>> evaluate_known(const NodeProto& node, std::int64_t opset,
                                                                            std::span<const KnownOperand> operands);

}  // namespace rewright::model
