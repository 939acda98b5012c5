// What the numbers in TASO's rule files stand for.
#pragma once

#include <rewright/base/result.h>
#include <rewright/rule/rule.h>

#include <taso.pb.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rewright::taso_format {

using Operators = google::protobuf::RepeatedPtrField<taso::Operator>;

enum Type {
  kInput,
  kWeight,
  kAny,
  kConv2d,
  kDropout,
  kLinear,
  kPoolMax,
  kPoolAvg,
  kRelu,
  kSigmoid,
  kTanh,
  kBatchNorm,
  kConcat,
  kSplit,
  kReshape,
  kTranspose,
  kEwAdd,
  kEwMul,
  kMatMul,
  kMul,
  kEnlarge,
  kMergeGconv,
  kConstantImm,
  kConstantIconv,
  kConstantOne,
  kConstantPool,
  kTypes
};
enum Key {
  kOpType,
  kNumInputs,
  kNumOutputs,
  kGroup,
  kKernelH,
  kKernelW,
  kStrideH,
  kStrideW,
  kPad,
  kActi,
  kNumDim,
  kAxis,
  kPerm,
  kOutShuffle,
  kMergeCount,
  kKeys
};
inline constexpr std::array<const char*, kKeys> kKeyNames = {
    "op_type", "num_inputs", "num_outputs", "group", "kernel_h", "kernel_w",   "stride_h",         "stride_w",
    "pad",     "acti",       "numdim",      "axis",  "perm",     "outshuffle", "merge_gconv_count"};
inline constexpr std::array<const char*, 4> kActivations = {"none", "sigmoid", "relu", "tanh"};
inline constexpr std::array<const char*, 2> kPaddings = {"same", "valid"};
inline constexpr int kMostOperators = 64;

/// One side of a rule, in our operators.
struct Side {
  Pattern pattern;
  std::vector<std::vector<SymbolicShape>> shapes;  ///< By port, the inputs first.
  std::vector<Constraint> defined;
  std::vector<Constraint> kernels;  ///< That the file asks of convolutions' weights.
  /// Of every convolution: channels of its result, and groups.
  std::vector<std::pair<SymbolicDim, std::int64_t>> convolutions;
  std::vector<std::int64_t> open_groups;  ///< Of the convolutions that the file says nothing of, as they were read.
};

/// The parameters of an operator, with sentences for what is missing or out of range.
class Parameters {
 public:
  Parameters(const taso::Operator& op, std::string where) : where_(std::move(where)) {
    for (const taso::Parameter& para : op.para()) values_[para.key()] = para.value();
  }
  [[nodiscard]] bool has(Key key) const { return values_.contains(key); }
  [[nodiscard]] Result<std::int64_t> get(Key key, std::int64_t low, std::int64_t high,
                                         std::optional<std::int64_t> otherwise = std::nullopt) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      if (otherwise) return *otherwise;
      return make_error(ErrorCode::kParse, "{} has no parameter {}", where_, kKeyNames[key]);
    }
    if (found->second < low || found->second > high)
      return make_error(ErrorCode::kParse, "{}: {} is {}, expected {} to {}", where_, kKeyNames[key], found->second,
                        low, high);
    return std::int64_t{found->second};
  }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::map<int, std::int32_t> values_;
  std::string where_;
};

}  // namespace rewright::taso_format
