// A model from ONNX to C that computes the same: kernels, artefact, and the comparison before it is handed over.
//
// The artefact is built by the system's compiler and run, as its user would, on files; a runtime runs the original. Two
// inputs of a distribution are tried, of others where no output varies between them. Outputs are equal if no element
// differs by more than 1e-4 of the output's greatest magnitude; they must be finite and vary, or they are not
// comparable.
#pragma once

#include <rewright/onnx/runtime.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compile/artefact.h"
#include "optimize/model_run.h"

namespace rewright::compile {

struct CompileOptions {
  std::string name;      ///< A word: what the model's functions begin with.
  bool measure = false;  ///< Time the artefact and the runtime.
  int seconds = 300;     ///< For the compiler, and for a run.
  /// Called with what is done next: "compile".
  std::function<void(const char*)> begins = {};
};

struct CompileReport {
  Artefact artefact;
  std::size_t kernels = 0;
  std::vector<NotCompiled> not_compiled;  ///< There is no artefact where there is one.
  bool comparable = true;
  bool equal = false;
  std::string reason;  ///< Why it is not equal, or not comparable.
  double max_abs_error = 0;
  std::optional<double> ours_us, runtime_us;  ///< Least times, where they were measured.
};

/// Errors: of the compiler, the runtime, kIo; kInternal where definitions give no valid loops.
[[nodiscard]] REWRIGHT_API Result<CompileReport> compile_model(const OpenedModel& model, const Target& target,
                                                               const Runtime& runtime, const CompileOptions& options);

}  // namespace rewright::compile
