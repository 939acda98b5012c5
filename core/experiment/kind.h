// Kinds of experiments: what a run of a manifest can do. A kind reads the parameters of a unit of work and gives a job;
// the job works on the public interfaces of the other rooms and gives rows of figures.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <functional>
#include <string>
#include <vector>

#include "experiment/parameters.h"

namespace rewright::experiment {

/// What every job may use.
struct Lab {
  const Registry* registry = nullptr;
  std::string sources;                ///< The folder with operators/, axioms/, experiments/.
  std::string models;                 ///< The folder with NAME.onnx.
  std::vector<std::string> programs;  ///< Folders with the programs of the benchmarks.
  std::string work;                   ///< An empty folder of its own for each unit.
  int threads = 1;
  std::function<bool()> stop;  ///< True: end soon, with kBudget.
  std::function<void(const std::string& what, double fraction)> progress;

  [[nodiscard]] bool stopped() const { return stop && stop(); }
  void show(const std::string& what, double fraction) const {
    if (progress) progress(what, fraction);
  }
};

struct Drawing {
  std::string name;  ///< Of its file, without ".svg".
  std::string title;
  std::string svg;
};

struct Outcome {
  std::vector<Json> rows;  ///< Flat objects.
  std::vector<Drawing> drawings;
  std::string missing;  ///< Not empty: it cannot be done here, and why; nothing is kept then.
};

struct Job {
  std::function<Result<Outcome>(const Lab&)> work;
  /// Whose contents the outcome depends on, and that no parameter names.
  std::vector<std::string> files = {};
  bool measures = false;  ///< Its figures are times of this machine, and no computation gives them again.
};

struct Kind {
  const char* name;
  /// Errors: a parameter that is missing, wrong or unknown.
  Result<Job> (*job)(Parameters&, const Lab&);
};

/// Errors: none of that name.
[[nodiscard]] Result<const Kind*> find_kind(const std::string& name, const Place& place);

/// What the parameter "model" names: NAME.onnx relative to the manifest, or NAME of those that are built, which may not
/// be there.
[[nodiscard]] Result<std::string> model_file(Parameters& parameters, const Lab& lab);
/// Empty where the file is there; or what an outcome is to say.
[[nodiscard]] std::string missing_model(const std::string& file);

/// An interrupted job's error.
[[nodiscard]] inline Error stopped_early() { return make_error(ErrorCode::kBudget, "the experiment was stopped"); }

Result<Job> campaign_job(Parameters& parameters, const Lab& lab);
Result<Job> walk_job(Parameters& parameters, const Lab& lab);
Result<Job> representatives_job(Parameters& parameters, const Lab& lab);
Result<Job> program_job(Parameters& parameters, const Lab& lab);
Result<Job> verify_job(Parameters& parameters, const Lab& lab);
Result<Job> audit_job(Parameters& parameters, const Lab& lab);
Result<Job> prove_axioms_job(Parameters& parameters, const Lab& lab);
Result<Job> normal_forms_job(Parameters& parameters, const Lab& lab);
Result<Job> drop_axioms_job(Parameters& parameters, const Lab& lab);
Result<Job> lines_job(Parameters& parameters, const Lab& lab);
Result<Job> optimize_job(Parameters& parameters, const Lab& lab);
Result<Job> substitution_job(Parameters& parameters, const Lab& lab);
Result<Job> tune_job(Parameters& parameters, const Lab& lab);
Result<Job> schedulers_job(Parameters& parameters, const Lab& lab);
Result<Job> samples_job(Parameters& parameters, const Lab& lab);
Result<Job> recorded_job(Parameters& parameters, const Lab& lab);
Result<Job> learn_job(Parameters& parameters, const Lab& lab);
Result<Job> order_job(Parameters& parameters, const Lab& lab);

}  // namespace rewright::experiment
