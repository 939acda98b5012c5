// By which algorithm each convolution and attention is computed, decided in the model, among the other kernels.
//
// The model is built with each algorithm in turn, for all nodes that it fits. A node takes the one with which its
// kernels were fastest there. What comes of that is one more way, to be timed as a whole beside the others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compile/compile_model.h"

namespace rewright::compile {

/// By what a node is fastest among the others.
struct NodeAlgorithm {
  std::string node, algorithm;  ///< "usual", or a name of algorithm_names().
  double us = 0, usual_us = 0;  ///< Of its kernels, by that and as usual.
};
struct AlgorithmChoice {
  std::vector<NodeAlgorithm> nodes;  ///< That some algorithm fits.
  std::vector<std::string> refused;  ///< Algorithms with which the model was not found equal.
};

/// Compiles the model so, measured, and keeps it as a way of that name. Null: it is to stop.
using CompileWay = std::function<Result<const CompileReport*>(const std::string& name, const Algorithms& algorithms)>;

/// The ways are "usual", each of the names, and "chosen". `names`: of algorithms; "all" is all of them.
[[nodiscard]] REWRIGHT_API Result<AlgorithmChoice> choose_algorithms(const ImportedModel& model,
                                                                     std::vector<std::string> names,
                                                                     const CompileWay& compile);

/// All nodes that the algorithm fits, by it; "": none. Errors: kUsage, it fits none; kNotFound, there is no such
/// algorithm.
[[nodiscard]] REWRIGHT_API Result<Algorithms> algorithm_of_all(const std::string& algorithm, const ImportedModel& model,
                                                               const std::string& file);

}  // namespace rewright::compile
