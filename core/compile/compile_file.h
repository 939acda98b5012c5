// A model's bytes to a folder of C, in one call: opened, simplified, compiled, compared, put in its place.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

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
  int seconds = 300;    ///< For the compiler, and for a run.
  std::string records;  ///< A store of schedules, of which each kernel takes its best; "": none.
  std::function<bool(const std::string& step)> goes_on = {};
};

/// The folder is made only where the report says that the artefact is equal to the model. Errors: as compile_model;
/// kUsage, the folder is there.
[[nodiscard]] REWRIGHT_API Result<CompileReport> compile_to_folder(const CompileRequest& request,
                                                                   const Registry& registry);

}  // namespace rewright::compile
