// The models that the experiments and the quickstart optimise, written as code: a serialized ModelProto each.
#pragma once

#include <string>
#include <vector>

#include "model_builder.h"

namespace models {

struct Recipe {
  std::string name;     ///< The file is NAME.onnx.
  std::string summary;  ///< One line.
  Weights weights;      ///< Unless the caller asks for others.
  std::string (*build)(ModelBuilder&);
};

[[nodiscard]] const std::vector<Recipe>& recipes();
[[nodiscard]] std::string build(const Recipe& recipe, Weights weights);

}  // namespace models
