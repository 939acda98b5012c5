// rewright.compile, rewright.tune: a model as C, and the fastest schedule of a kernel.
#include <fmt/format.h>

#include <filesystem>

#include "compile/compile_file.h"
#include "python/bindings.h"
#include "tune/kernel_search.h"

namespace rewright::python {
namespace {

using compile::CompileReport;
using tune::FoundSchedule;

struct Compiled {
  std::string folder;
  CompileReport report;
  compile::AlgorithmChoice algorithms;
};

Compiled compile_model(const py::bytes& model, const std::string& folder, const std::string& name,
                       const std::map<std::string, std::int64_t>& dimensions, const std::string& dialect, int threads,
                       bool measure, int seconds, const std::string& records, bool force, const std::string& algorithm,
                       const std::vector<std::string>& algorithms, const std::string& report,
                       const py::object& progress, const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  LongWork work;
  compile::CompileRequest request;
  request.source = {model, "the model", "", dimensions, true};
  request.name = name;
  request.folder = folder;
  request.force = force;
  request.dialect = dialect;
  request.threads = threads;
  request.measure = measure;
  request.seconds = seconds;
  request.records = records;
  request.algorithm = algorithm;
  request.algorithms = algorithms;
  request.page = report;
  request.goes_on = [&](const std::string& step) {
    work.tell(progress, step);
    return !work.stopped();
  };
  compile::CompiledFolder made = value_of(work.run([&] { return compile::compile_to_folder(request, *owner); }));
  return {folder, std::move(made.report), std::move(made.algorithms)};
}

FoundSchedule tune_kernel(const std::string& kernel, std::int64_t trials, const std::string& tuner,
                          const std::string& predictor, const Options& tuner_options, const Options& predictor_options,
                          const std::vector<std::string>& generators, const std::string& dialect,
                          const std::map<std::string, std::int64_t>& sizes, const std::string& records, double seconds,
                          std::uint64_t batch, std::uint64_t seed, const py::object& progress,
                          const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  LongWork work;
  tune::KernelSearch search;
  search.kernel = kernel;
  search.sizes = sizes;
  search.choice.tuner = tuner;
  search.choice.predictor = predictor;
  search.choice.tuner_options = tuner_options;
  search.choice.predictor_options = predictor_options;
  search.choice.generators = generators;
  search.choice.dialect = dialect;
  search.choice.batch = batch;
  search.choice.seed = seed;
  search.trials = trials;
  search.records = records;
  search.seconds = seconds;
  search.goes_on = [&](std::int64_t done, double best_us) {
    work.tell(progress, done, best_us);
    return !work.stopped();
  };
  return value_of(work.run([&] { return tune::search_kernel(search, *owner); }));
}

std::optional<double> us_of(const CompileReport& report, std::optional<double> compile::VersionReport::*which) {
  return report.versions.empty() ? std::nullopt : report.versions.front().*which;
}

void bind_compile(py::module_& module) {
  py::class_<Compiled>(module, "Compiled", "What became of a model that was compiled to C.")
      .def_property_readonly(
          "equal", [](const Compiled& compiled) { return compiled.report.equal(); },
          "The code was built, run and compared with the model; only then the folder is there.")
      .def_readonly("folder", &Compiled::folder, "Where the code is.")
      .def_property_readonly(
          "name", [](const Compiled& compiled) { return compiled.report.artefact.name; },
          "What its functions and files begin with.")
      .def_property_readonly(
          "files",
          [](const Compiled& compiled) {
            std::vector<std::string> names;
            for (const auto& [name, content] : compiled.report.artefact.files) names.push_back(name);
            return names;
          },
          "That were written, weights aside.")
      .def_property_readonly(
          "kernels",
          [](const Compiled& compiled) {
            return compiled.report.versions.empty() ? 0 : compiled.report.versions.front().kernels;
          },
          "How many the model became.")
      .def_property_readonly(
          "not_compiled",
          [](const Compiled& compiled) {
            std::vector<std::tuple<std::string, std::string>> nodes;
            for (const auto& [node, reason] : compiled.report.not_compiled) nodes.emplace_back(node, reason);
            return nodes;
          },
          "Nodes that have no code, and why; then there is none of the model.")
      .def_property_readonly(
          "difference",
          [](const Compiled& compiled) {
            const CompileReport& report = compiled.report;
            return report.versions.empty() ? std::string() : report.worst().equivalence.difference;
          },
          "Where the code's outputs differ from the model's; '' where they do not.")
      .def_property_readonly(
          "us", [](const Compiled& compiled) { return us_of(compiled.report, &compile::VersionReport::ours_us); },
          "Microseconds of a run, the least that was measured; None without measure=True.")
      .def_property_readonly(
          "runtime_us",
          [](const Compiled& compiled) { return us_of(compiled.report, &compile::VersionReport::runtime_us); },
          "The same of the runtime, on as many threads, in turn.")
      .def_property_readonly(
          "kernel_times",
          [](const Compiled& compiled) {
            std::vector<std::tuple<std::string, std::string, double, double>> times;
            for (const compile::KernelTime& time : compiled.report.profile)
              times.emplace_back(time.kernel, time.result, time.us, time.limit_us);
            return times;
          },
          "Of each call, where it was measured: (function, first tensor that it writes, us among the others, us that "
          "this machine allows for it alone).")
      .def_property_readonly(
          "algorithms",
          [](const Compiled& compiled) {
            std::vector<std::tuple<std::string, std::string, double, double>> nodes;
            for (const compile::NodeAlgorithm& node : compiled.algorithms.nodes)
              nodes.emplace_back(node.node, node.algorithm, node.us, node.usual_us);
            return nodes;
          },
          "Of each node that some algorithm fits, where there were several to choose from: (node, the fastest, us of "
          "its "
          "kernels by that, us as usual).")
      .def("__repr__", [](const Compiled& compiled) {
        const CompileReport& report = compiled.report;
        return fmt::format("<rewright.Compiled {}: {}>", report.artefact.name,
                           !report.not_compiled.empty() ? "not compiled"
                           : report.equal()             ? "equal, in " + compiled.folder
                                                        : "not equal");
      });
  module.def(
      "compile", &compile_model, py::arg("model"), py::arg("folder"), py::kw_only(), py::arg("name") = "model",
      py::arg("dimensions") = std::map<std::string, std::int64_t>(), py::arg("dialect") = "vectors",
      py::arg("threads") = 1, py::arg("measure") = false, py::arg("seconds") = 300, py::arg("records") = "",
      py::arg("force") = false, py::arg("algorithm") = "", py::arg("algorithms") = std::vector<std::string>(),
      py::arg("report") = "", py::arg("progress") = py::none(), py::arg("plugins") = py::none(),
      "Compiles a serialized ONNX model to C that computes the same, into a new folder, as rewright compile. The code "
      "is "
      "built, run and compared with the model before it is there. `dialect`: 'c11' or 'vectors'; `seconds`: for the "
      "compiler, and for a run; `records`: a store of schedules, as tune() writes them; `measure`: time the code "
      "beside "
      "the runtime. `algorithm`: by which all convolutions that it fits are computed, such as 'im2col'; `algorithms`: "
      "names, or ['all'], of which each node takes the one by which it is fastest in the model; `report`: a file for a "
      "page of the kernels. The last two measure. `progress(step)` is called with each step. Raises Error: a folder "
      "that is there ('usage'), no "
      "compiler or runtime ('not found', 'unsupported').");
}

void bind_tune(py::module_& module) {
  py::class_<FoundSchedule>(module, "Tuned", "The fastest schedule of a kernel that was found. Times are microseconds.")
      .def_readonly("kernel", &FoundSchedule::kernel, "What was tuned.")
      .def_readonly("best_us", &FoundSchedule::best_us, "The least time; infinite where nothing ran.")
      .def_readonly("unscheduled_us", &FoundSchedule::unscheduled_us, "Of the loops as they are.")
      .def_readonly("one_shot_us", &FoundSchedule::one_shot_us, "Of the schedule that needs no search.")
      .def_readonly("gflops", &FoundSchedule::gflops, "10^9 floating-point operations a second, of the best.")
      .def_readonly("schedule", &FoundSchedule::schedule, "The best, as rewright schedule apply reads it.")
      .def_readonly("trials", &FoundSchedule::trials, "Schedules that were measured, those of records among them.")
      .def_readonly("outcomes", &FoundSchedule::outcomes, "How many: 'ok', 'wrong', 'crashed', 'timeout', 'refused'.")
      .def_property_readonly(
          "curve",
          [](const FoundSchedule& found) {
            std::vector<std::tuple<std::int64_t, double, double>> points;
            for (const tune::TuningPoint& point : found.curve)
              points.emplace_back(point.trials, point.seconds, point.best_us);
            return points;
          },
          "(trials, seconds, best_us) after each round.")
      .def("__repr__", [](const FoundSchedule& found) {
        return fmt::format("<rewright.Tuned {}: {:.4g} us after {} trials, unscheduled {:.4g} us>", found.kernel,
                           found.best_us, found.trials, found.unscheduled_us);
      });
  module.def(
      "tune", &tune_kernel, py::arg("kernel"), py::kw_only(), py::arg("trials") = 64, py::arg("tuner") = "evolution",
      py::arg("predictor") = "", py::arg("tuner_options") = Options(), py::arg("predictor_options") = Options(),
      py::arg("generators") = std::vector<std::string>(), py::arg("dialect") = "vectors",
      py::arg("sizes") = std::map<std::string, std::int64_t>(), py::arg("records") = "", py::arg("seconds") = 0.0,
      py::arg("batch") = 0, py::arg("seed") = 1, py::arg("progress") = py::none(), py::arg("plugins") = py::none(),
      "Searches for the fastest schedule of a kernel, as rewright tune kernel: '(x:512x512, w:512x512 weight) "
      "relu(matmul(x, w))', or a file with a loop program. `records`: a store that what is measured is added to and "
      "gone "
      "on from; `seconds`: after which no trial begins (0: any number); `predictor`: '' for the usual one, 'none' for "
      "none. `progress(trials, best_us)` is called as it goes. Ctrl-C raises KeyboardInterrupt; what was measured is "
      "in "
      "the records. Raises Error: a kernel that cannot be read ('parse', 'shape'), no such plugin.");
}

}  // namespace

void bind_compiling(py::module_& module) {
  bind_compile(module);
  bind_tune(module);
}

}  // namespace rewright::python
