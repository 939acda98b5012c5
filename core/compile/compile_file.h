// A model's bytes to a folder of C, in one call: opened, simplified, compiled, compared, put in its place.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compile/algorithm_choice.h"
#include "compile/compile_model.h"
#include "optimize/model_run.h"

namespace rewright::compile {

struct CompileRequest {
  ModelSource source;      ///< Sizes that it leaves open and does not give are plausible ones.
  std::string name;        ///< Of the artefact: "acnet". A word that C does not take is changed to one that it does.
  std::string folder;      ///< What is made; it must not be there, unless
  bool force = false;      ///< its files of the same names are to be replaced.
  bool simplified = true;  ///< What is known before a run is folded first.
  std::string target = "c";
  std::string runtime = "onnxruntime";
  std::string dialect = "vectors";
  int threads = 1;
  bool measure = false;
  int seconds = 300;                         ///< For the compiler, and for a run.
  std::string records;                       ///< A store of schedules, of which each kernel takes its best; "": none.
  std::string algorithm = {};                ///< By which all convolutions that it fits are computed; "": none.
  std::vector<std::string> algorithms = {};  ///< Of which each node takes the fastest (compile/algorithm_choice.h).
  std::string page = {};                     ///< A file for a page of the kernels; "": none.
  std::function<bool(const std::string& step)> goes_on = {};
};

struct CompiledFolder {
  CompileReport report;
  AlgorithmChoice algorithms = {};  ///< Where there were several to choose from.
};

/// The folder and the page are made only where the report says that the artefact is equal to the model. Several
/// algorithms, and a page, have code measured. Errors: as compile_model and algorithm_of_all; kUsage, the folder is
/// there, or both one algorithm and several are asked for.
[[nodiscard]] REWRIGHT_API Result<CompiledFolder> compile_to_folder(const CompileRequest& request,
                                                                    const Registry& registry);

}  // namespace rewright::compile
