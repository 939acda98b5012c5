// What the plugin target.halide consists of (halide.cpp has its face): loop programs in its intermediate form, compiled
// into this process by its LLVM; and schedules as its own directives, over programs whose stores are definitions of its
// functions.
#include <rewright/loop/target.h>

#include <fmt/format.h>

#include <sstream>

#include "halide_code.h"
#include "halide_directives.h"
#include "halide_pipeline.h"

namespace {

using namespace rewright;
using halide::StatementOptions;

/// Of Halide's own schedulers, the one that this dialect is.
std::string scheduler_of(const std::string& dialect) {
  if (dialect == "adams2019") return "Adams2019";
  if (dialect == "mullapudi2016") return "Mullapudi2016";
  if (dialect == "li2018") return "Li2018";
  return "";
}

Result<StatementOptions> statement_options(const loop::TargetOptions& options) {
  const bool is_strict = options.dialect.empty() || options.dialect == "strict";
  const bool is_known = is_strict || options.dialect == "fast" || !scheduler_of(options.dialect).empty();
  if (is_known) return StatementOptions{is_strict, options.threads > 1};
  return make_error(ErrorCode::kUsage,
                    "target halide: there is no dialect '{}'; there are strict, fast, adams2019, mullapudi2016 and "
                    "li2018",
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
  [[nodiscard]] Result<std::vector<std::unique_ptr<loop::CompiledProgram>>> compile(
      std::span<const loop::NamedProgram> programs, const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const StatementOptions chosen, statement_options(options));
    std::vector<std::unique_ptr<loop::CompiledProgram>> all;
    for (const loop::NamedProgram& named : programs) {
      if (const std::string scheduler = scheduler_of(options.dialect); !scheduler.empty()) {
        REWRIGHT_TRY(const halide::Stages stages, halide::stages_of(named.program));
        REWRIGHT_TRY(all.emplace_back(),
                     halide::pipeline_of(named.program, stages, {chosen.is_strict, options.threads, scheduler}));
        continue;
      }
      REWRIGHT_TRY(const halide::LoweredProgram lowered, halide::lowered(named, chosen));
      REWRIGHT_TRY(all.emplace_back(), halide::compiled(lowered, options.threads));
    }
    return all;
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

/// The caller owns it.
extern "C" REWRIGHT_API Target* rewright_halide_target() { return new HalideTarget; }
