// A model compiled in several ways, each timed as a whole, of which the fastest is handed over.
#pragma once

#include <rewright/loop/target.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/compile_preparing.h"
#include "cli/compile_report.h"
#include "cli/compile_workplace.h"
#include "compile/compile_model.h"

namespace rewright::cli {

/// Where code is written, and where what is built of it.
struct Folders {
  std::string written, built;
};
/// Folders for one of several ways to compile.
[[nodiscard]] Result<Folders> folders_for(const std::string& way, const Workplace& workplace);

[[nodiscard]] compile::CompileOptions options_of(const CompileArguments& arguments, const Folders& folders,
                                                 StepLine& line);

struct Tools {
  const Target* target;
  const Runtime* runtime;
};
[[nodiscard]] Result<Tools> tools_of(const CompileArguments& arguments, const Registry& registry);

/// A model that is compiled in several ways, each measured. Borrows what it is made with.
class SeveralWays {
 public:
  [[nodiscard]] static Result<std::unique_ptr<SeveralWays>> of(const Settings& settings,
                                                               const CompileArguments& arguments,
                                                               const Workplace& workplace);
  /// `change`: of the usual options, with all records.
  Status add(const std::string& name, const std::function<void(compile::CompileOptions&)>& change);
  [[nodiscard]] const ImportedModel& model() const { return version_.opened->start(); }
  [[nodiscard]] const compile::CompileReport& last() const { return ways_.back().report; }
  [[nodiscard]] std::vector<compile::WayToCompile> take() && { return std::move(ways_); }

 private:
  SeveralWays(const CompileArguments& arguments, const Workplace& workplace, Registry registry, bool quiet)
      : arguments_(arguments), workplace_(workplace), registry_(std::move(registry)), line_(quiet) {}
  const CompileArguments& arguments_;
  const Workplace& workplace_;
  Registry registry_;
  Version version_;
  std::vector<ScheduleRecord> records_;
  StepLine line_;
  std::vector<compile::WayToCompile> ways_;
};

/// Each way is timed as a whole, in turn; the fastest is staged. Gains are over the first.
[[nodiscard]] Result<Compiled> fastest(std::vector<compile::WayToCompile> ways, Workplace& workplace);

/// The model with all fused that can be, and otherwise.
[[nodiscard]] Result<Compiled> fused_in_several_ways(const Settings& settings, const CompileArguments& arguments,
                                                     Workplace& workplace);
/// With each kernel's best schedules in turn, and with those that are fastest among the others.
[[nodiscard]] Result<Compiled> chosen_in_context(const Settings& settings, const CompileArguments& arguments,
                                                 Workplace& workplace);
/// With each of the algorithms in turn, and with those by which each node is fastest among the others.
[[nodiscard]] Result<Compiled> computed_in_several_ways(const Settings& settings, const CompileArguments& arguments,
                                                        Workplace& workplace);

}  // namespace rewright::cli
