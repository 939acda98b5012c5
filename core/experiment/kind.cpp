#include "experiment/kind.h"

#include <fmt/ranges.h>

#include <array>
#include <filesystem>

namespace rewright::experiment {
namespace {

constexpr std::array kKinds = {
    Kind{"campaign", campaign_job},  // Graphs, classes and candidates by level, what pruners and verifiers leave.
    Kind{"walk", walk_job},          // The walk over graphs alone, with parts of it switched off.
    Kind{"representatives", representatives_job},  // A space where one graph of each class alone is extended.
    Kind{"program", program_job},                  // One of the benchmarks, its figures read from what it prints.
    Kind{"verify", verify_job},                    // One verifier on the rules of a file.
    Kind{"audit", audit_job},                      // Axioms evaluated over a bounded domain.
    Kind{"prove_axioms", prove_axioms_job},        // From the operators' definitions.
    Kind{"normal_forms", normal_forms_job},        // Of both sides of rules.
    Kind{"drop_axioms", drop_axioms_job},          // One at a time.
    Kind{"lines", lines_job},                      // Of source code.
    Kind{"optimize", optimize_job},                // A model made cheaper by one search, compared, measured.
    Kind{"substitution", substitution_job},        // One written down: proved, derived, measured, drawn.
    Kind{"tune", tune_job},                        // Schedules of one kernel, searched by one tuner.
    Kind{"schedulers", schedulers_job},            // Those of a network, by gradient and in turn.
    Kind{"samples", samples_job},                  // How many samples tuners need in one space.
    Kind{"recorded", recorded_job},                // What a script has measured.
    Kind{"learn", learn_job},                      // A cost learned from measured kernels, asked about others.
    Kind{"order", order_job},                      // Schedules put in order by what was learned of others.
};

}  // namespace

Result<const Kind*> find_kind(const std::string& name, const Place& place) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return &kind;
    names.emplace_back(kind.name);
  }
  return make_error(ErrorCode::kParse, "{}:{}: there is no kind of run '{}'; there are: {}", place.file, place.line,
                    name, fmt::join(names, ", "));
}

Result<std::string> model_file(Parameters& parameters, const Lab& lab) {
  REWRIGHT_TRY(const std::string model, parameters.text("model"));
  if (model.ends_with(".onnx")) return parameters.file("model");
  return lab.models + "/" + model + ".onnx";
}

std::string missing_model(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) return "";
  return fmt::format("there is no model '{}' (build the target 'models', or name its folder with --models)", file);
}

}  // namespace rewright::experiment
