// rewright.run_campaign, rewright.campaign_summary.
#include <fmt/format.h>

#include <filesystem>

#include "campaign/runner.h"
#include "python/bindings.h"

namespace rewright::python {
namespace {

const char* word_for(CampaignSummary::State state) {
  switch (state) {
    case CampaignSummary::State::kFinished: return "finished";
    case CampaignSummary::State::kStopped: return "stopped";
    case CampaignSummary::State::kRunning: break;
  }
  return "running";
}

struct Request {
  std::string file;
  std::string store;
  int threads;
  std::uint64_t memory_bytes;
  bool resume;
  bool fresh;
};

CampaignSummary run(const Request& request, const py::object& progress, const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  const CampaignConfig config = value_of(load_campaign(request.file, *owner));
  LongWork work;
  RunOptions options;
  options.store = request.store.empty() ? config.store : request.store;
  if (options.store.empty())
    throw Failure(make_error(
        ErrorCode::kUsage, "where should the results go? Give a store, or 'store' in [campaign] of {}", request.file));
  options.threads = request.threads;
  options.memory_bytes = request.memory_bytes;
  options.resume = request.resume;
  options.fresh = request.fresh;
  options.stop = [&] { return work.stopped(); };
  options.progress = [&](const CampaignProgress& at) { work.tell(progress, at.phase, at.done, at.fraction); };
  return value_of(work.run([&] { return run_campaign(config, *owner, options); }));
}

}  // namespace

void bind_campaigns(py::module_& module) {
  py::class_<LevelSummary>(module, "Level", "What a campaign found among the graphs of one number of operators.")
      .def_readonly("operators", &LevelSummary::operators, "Of each graph.")
      .def_readonly("graphs", &LevelSummary::graphs, "Graphs enumerated.")
      .def_readonly("classes", &LevelSummary::classes, "Of graphs that compute the same.")
      .def_readonly("candidates", &LevelSummary::candidates, "Pairs of graphs with one fingerprint.")
      .def_readonly("rules", &LevelSummary::rules, "In the library.");

  py::class_<CampaignSummary>(module, "CampaignSummary", "The figures of a campaign.")
      .def_property_readonly(
          "state", [](const CampaignSummary& summary) { return word_for(summary.state); },
          "'finished', 'stopped' or 'running'.")
      .def_readonly("was_finished", &CampaignSummary::was_finished, "The store had the result already.")
      .def_readonly("name", &CampaignSummary::name, "As the campaign file says.")
      .def_readonly("store", &CampaignSummary::store, "The folder.")
      .def_readonly("levels", &CampaignSummary::levels, "By number of operators.")
      .def_readonly("graphs", &CampaignSummary::graphs, "Of all levels.")
      .def_readonly("classes", &CampaignSummary::classes, "Of all levels.")
      .def_readonly("candidates", &CampaignSummary::candidates, "Of all levels.")
      .def_readonly("goals", &CampaignSummary::goals, "Directed, generalised candidates.")
      .def_readonly("proved", &CampaignSummary::proved, "Of the goals.")
      .def_readonly("refuted", &CampaignSummary::refuted, "Of the goals.")
      .def_readonly("unknown", &CampaignSummary::unknown, "Of the goals.")
      .def_readonly("rules", &CampaignSummary::rules, "In the library.")
      .def_readonly("seconds", &CampaignSummary::seconds, "Over all runs.")
      .def_readonly("peak_memory_bytes", &CampaignSummary::peak_memory_bytes, "The most that any run used.")
      .def("__repr__", [](const CampaignSummary& summary) {
        return fmt::format("<rewright.CampaignSummary {}: {}, {} rules>", summary.name, word_for(summary.state),
                           summary.rules);
      });

  module.def(
      "run_campaign",
      [](const std::string& file, const std::string& store, int threads, std::uint64_t memory_bytes, bool resume,
         bool fresh, const py::object& progress, const std::optional<Plugins>& plugins) {
        return run({file, store, threads, memory_bytes, resume, fresh}, progress, plugins);
      },
      py::arg("file"), py::arg("store") = "", py::kw_only(), py::arg("threads") = 1, py::arg("memory_bytes") = 0,
      py::arg("resume") = false, py::arg("fresh") = false, py::arg("progress") = py::none(),
      py::arg("plugins") = py::none(),
      "Runs a campaign file into a store. `progress(phase, done, fraction)` is called now and then. Ctrl-C saves what "
      "was "
      "done, and raises KeyboardInterrupt; resume=True goes on.");
  module.def(
      "campaign_summary", [](const std::string& store) { return value_of(campaign_summary(store)); }, py::arg("store"),
      "The figures of a store, whatever state it is in.");
}

}  // namespace rewright::python
