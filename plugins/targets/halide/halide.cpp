// Halide as a target: loop programs in its intermediate form, compiled into this process by its LLVM; and schedules as
// its own directives, over programs whose stores are definitions of its functions.
//
// Dialects  strict, which "" is: float32 and float64 arithmetic as IEEE 754 has it, contracted nowhere.
//           fast: as Halide has it: operations are fused and change their order, and nothing may be infinite or no
//           number.
// Threads   parallel loops run on Halide's, if TargetOptions asks for more than one.
// Limits    a buffer has less than 2^31 elements. There is no time limit: the compiler runs in this process.
#include <rewright/plugin/plugin.h>

#include <fmt/format.h>

#include <sstream>

#include "halide_code.h"
#include "halide_directives.h"
#include "halide_pipeline.h"

namespace {

using namespace rewright;
using halide::StatementOptions;

Result<StatementOptions> statement_options(const loop::TargetOptions& options) {
  const bool is_strict = options.dialect.empty() || options.dialect == "strict";
  if (is_strict || options.dialect == "fast") return StatementOptions{is_strict, options.threads > 1};
  return make_error(ErrorCode::kUsage, "target halide: there is no dialect '{}'; there are strict and fast",
                    options.dialect);
}

class HalideTarget final : public Target {
 public:
  [[nodiscard]] std::string name() const override { return "halide"; }
  [[nodiscard]] std::string summary() const override { return "Halide's loops, compiled into this process by LLVM"; }
  [[nodiscard]] Result<std::string> version() const override {
    return fmt::format("Halide for {}", Halide::get_host_target().to_string());
  }
  /// Halide's own text of its intermediate form.
  [[nodiscard]] Result<std::string> source(std::span<const loop::NamedProgram> programs,
                                           const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const StatementOptions chosen, statement_options(options));
    std::ostringstream text;
    for (const loop::NamedProgram& named : programs) {
      REWRIGHT_TRY(const halide::LoweredProgram lowered, halide::lowered(named, chosen));
      text << lowered.module;
    }
    return text.str();
  }
  [[nodiscard]] Result<std::unique_ptr<loop::CompiledProgram>> compile(
      const loop::Program& program, const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const StatementOptions chosen, statement_options(options));
    REWRIGHT_TRY(const halide::LoweredProgram lowered, halide::lowered({"kernel", program}, chosen));
    return halide::compiled(lowered, options.threads);
  }
  [[nodiscard]] Result<std::unique_ptr<loop::CompiledProgram>> compile_scheduled(
      const loop::Program& program, const std::vector<schedule::Step>& schedule,
      const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const StatementOptions chosen, statement_options(options));
    REWRIGHT_TRY(halide::Stages stages, halide::stages_of(program));
    REWRIGHT_CHECK(halide::schedule_stages(program, schedule, stages));
    return halide::pipeline_of(program, stages, {chosen.is_strict, options.threads});
  }
};

}  // namespace

REWRIGHT_PLUGIN("target.halide", "1.0.0", "Loop programs through Halide") {
  registry.add<Target>(std::make_unique<HalideTarget>());
}
