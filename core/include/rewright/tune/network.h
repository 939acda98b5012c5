// What a fitted predictor computes, as data: operators of ONNX from a program's features to microseconds. A file of it
// is an ONNX model, so that any runtime computes the same as the predictor that wrote it.
//
//   stages  float64[stages, columns]   Features::stages
//   kinds   int64[stages]              Features::kinds
//   reads   float32[stages, stages]    1 where the stage of the row reads that of the column
//   output  float64[members]           microseconds, by each member of the ensemble
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace rewright::tune {

struct NetworkTensor {
  std::vector<std::int64_t> sizes;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>> values;
  friend bool operator==(const NetworkTensor&, const NetworkTensor&) = default;
};

using NetworkAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                                      std::vector<std::string>>;

struct NetworkNode {
  std::string type;  ///< "MatMul"; of another domain "ai.onnx.ml:TreeEnsembleRegressor".
  std::vector<std::string> inputs, outputs;
  std::map<std::string, NetworkAttribute> attributes = {};
  friend bool operator==(const NetworkNode&, const NetworkNode&) = default;
};

struct Network {
  std::map<std::string, NetworkTensor> constants;
  std::vector<NetworkNode> nodes;  ///< Each behind those whose outputs it takes.
  std::string output;              ///< Of a node, or a constant.
  friend bool operator==(const Network&, const Network&) = default;
};

}  // namespace rewright::tune
