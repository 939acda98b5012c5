// Stages as a pipeline of Halide's, with its directives, compiled into this process.
#pragma once

#include <rewright/loop/target.h>

#include <memory>

#include "halide_stages.h"

namespace rewright::halide {

struct PipelineOptions {
  bool is_strict = true;
  int threads = 1;
  /// Of Halide's own schedulers, the one that schedules all ("Adams2019"); "": the stages say how they run.
  std::string scheduler = {};
};

/// `program`: that of which the stages are. Errors: kUnsupported, what Halide refuses.
[[nodiscard]] Result<std::unique_ptr<loop::CompiledProgram>> pipeline_of(const loop::Program& program,
                                                                         const Stages& stages,
                                                                         const PipelineOptions& options);

}  // namespace rewright::halide
