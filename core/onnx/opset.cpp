#include "onnx/opset.h"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "onnx/scope.h"

namespace rewright::model {
namespace {

/// A version at which a node that the schemas before and after accept came to mean something else.
struct Change {
  std::string_view type;
  std::int64_t version;
  bool older_keeps = false;  ///< A node of an older opset means the same afterwards; only the way back is barred.
};
constexpr std::array kChanges = {
    // Operands had one shape unless the attribute `broadcast` said otherwise, which later schemas refuse.
    Change{"Add", 7, true}, Change{"Sub", 7, true}, Change{"Mul", 7, true}, Change{"Div", 7, true},
    Change{"Pow", 7, true}, Change{"And", 7, true}, Change{"Or", 7, true}, Change{"Xor", 7, true},
    Change{"Equal", 7, true}, Change{"Greater", 7, true}, Change{"Less", 7, true}, Change{"Gemm", 7, true},
    Change{"Sum", 8, true}, Change{"Mean", 8, true}, Change{"Max", 8, true}, Change{"Min", 8, true},
    // A slope of rank 1 was one per channel; now it lies along the last axis.
    Change{"PRelu", 7},
    // is_test = 0 was the default: statistics of the batch.
    Change{"BatchNormalization", 7}, Change{"Dropout", 7},
    // Inputs were flattened to rank 2 at `axis`, whose default was 1.
    Change{"Softmax", 13}, Change{"LogSoftmax", 13}, Change{"Hardmax", 13},
    // The second input was scales, now it is the region of interest; coordinates were asymmetric.
    Change{"Resize", 11}, Change{"RoiAlign", 16},  // The default of coordinate_transformation_mode.
    Change{"Scan", 9},                             // The batch axis went.
    Change{"Concat", 4},                           // The default axis went.
};

/// Reduced axes were an attribute in opset 17 and are an input since 18.
const std::set<std::string_view> kReductions = {
    "ReduceMean", "ReduceMax",    "ReduceMin",       "ReduceProd",      "ReduceL1",
    "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare",
};

const ::onnx::OpSchema* schema_of(const std::string& type, std::int64_t opset) {
  return ::onnx::OpSchemaRegistry::Schema(type, static_cast<int>(opset), "");
}

bool changed_between(std::string_view type, std::int64_t from, std::int64_t to) {
  return std::any_of(kChanges.begin(), kChanges.end(), [&](const Change& change) {
    if (change.type != type || (change.older_keeps && from < to)) return false;
    return std::min(from, to) < change.version && change.version <= std::max(from, to);
  });
}

bool valid_under(const ::onnx::OpSchema& schema, const NodeProto& node) {
  try {
    schema.Verify(node);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool same_by_itself(const NodeProto& node, std::int64_t from, std::int64_t to) {
  if (!normal_domain(node.domain()).empty()) return true;
  const auto* before = schema_of(node.op_type(), from);
  const auto* after = schema_of(node.op_type(), to);
  if (before == nullptr || after == nullptr) return false;
  if (before->since_version() == after->since_version()) return true;
  return !after->deprecated() && !changed_between(node.op_type(), from, to) && valid_under(*after, node);
}

}  // namespace

bool same_meaning(const NodeProto& node, std::int64_t from, std::int64_t to) {
  if (from == to) return true;
  if (std::max(from, to) > kNewestKnownOpset) return false;
  bool same = same_by_itself(node, from, to);
  for_each_subgraph(node, [&](const GraphProto& graph) {
    for (const NodeProto& inner : graph.node()) same = same && same_meaning(inner, from, to);
  });
  return same;
}

bool inference_outdated(const NodeProto& node, std::int64_t opset) {
  if (opset <= kNewestKnownOpset || !normal_domain(node.domain()).empty()) return false;
  static const std::set<std::string_view> kOthers = {"Split", "Pad",     "Resize",      "DFT",    "LpPool",
                                                     "If",    "Loop",    "Scan",        "Cast",   "CastLike",
                                                     "STFT",  "Reshape", "AveragePool", "MaxPool"};
  return kReductions.contains(node.op_type()) || kOthers.contains(node.op_type());
}

std::int64_t ir_version_for(std::int64_t opset) {
  if (opset <= 8) return 3;
  if (opset <= 11) return opset - 5;
  if (opset <= 14) return 7;
  return opset <= 18 ? 8 : 9;
}

}  // namespace rewright::model
