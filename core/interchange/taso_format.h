// What the numbers in TASO's rule files stand for.
#pragma once

#include <rewright/base/result.h>

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
inline constexpr std::array<const char*, kTypes> kTypeNames = {
    "input",        "weight",       "any",    "conv2d",    "dropout", "linear",      "pool2d_max",   "pool2d_avg",
    "relu",         "sigmoid",      "tanh",   "batchnorm", "concat",  "split",       "reshape",      "transpose",
    "ew_add",       "ew_mul",       "matmul", "mul",       "enlarge", "merge_gconv", "constant_imm", "constant_iconv",
    "constant_one", "constant_pool"};

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

/// The operator of ours that a type stands for; null where there is none.
[[nodiscard]] const char* counterpart(int type);

/// "source operator 2 (conv2d)"; side 1 is the source.
[[nodiscard]] std::string where_of(int side, int index, int type);

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

/// perm = sum of p_i * n^(n-1-i): the digits of the permutation in base n.
[[nodiscard]] Result<std::vector<std::int64_t>> read_permutation(std::int64_t code, std::int64_t rank,
                                                                 const std::string& where);

}  // namespace rewright::taso_format
