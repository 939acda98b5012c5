// rewright.optimize: ONNX bytes in, cheaper ONNX bytes out, compared with the original.
#include <rewright/onnx/runtime.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>

#include <fmt/format.h>

#include "campaign/rule_source.h"
#include "optimize/model_run.h"
#include "python/bindings.h"

namespace rewright::python {
namespace {

struct Request {
  std::string model;
  std::vector<Rule> rules;
  std::string search;
  std::string cost;
  Options search_options;
  Options cost_options;
  OptimizeOptions limits;
  std::map<std::string, std::int64_t> dimensions;
  std::string folder;
  std::string runtime;
  bool simplify_only = false;
  bool exact = true;  ///< Of the simplification.
};

struct Rewrite {
  std::string rule;
  std::string id;
  double cost_before_us;
  double cost_after_us;
};

struct Optimized {
  std::string model;
  double cost_before_us = 0;
  double cost_after_us = 0;
  std::vector<Rewrite> rewrites;
  std::uint64_t steps = 0;
  std::uint64_t candidates = 0;
  double seconds = 0;
  Equivalence equivalence;
  std::optional<std::string> culprit;
  std::map<std::string, std::size_t> simplifications;
};

/// The cheapest graph that rules reach, or what simplification alone gives.
Optimized optimize_model(const Request& request, const py::object& progress, const Registry& registry) {
  const std::unique_ptr<SearchStrategy> search = value_of(registry.get<SearchStrategy>(request.search))->clone();
  check(search->configure(request.search_options));
  const std::unique_ptr<CostModel> model = value_of(registry.get<CostModel>(request.cost))->clone();
  check(model->configure(request.cost_options, registry));
  const Runtime* runtime = value_of(registry.get<Runtime>(request.runtime));
  EquivalenceOptions options;
  options.runtime = runtime->version() ? runtime : nullptr;
  options.seed = request.limits.seed;
  const ModelSource source{request.model, "the model", request.folder, request.dimensions};
  OpenedModel opened = value_of(open_model(source, registry, options.runtime));
  simplify(opened, request.exact ? SimplifyLevel::kExact : SimplifyLevel::kWeights);
  GraphCost cost(*model, nullptr);

  LongWork work;
  OptimizeOptions limits = request.limits;
  limits.measuring = [&](bool, std::uint64_t) { return !work.stopped(); };
  const auto search_graph = [&] {
    OptimizeReport report;
    if (request.simplify_only) {
      report.best = opened.start().graph;
      report.search.cost_before_us = report.search.cost_after_us = value_of(cost.cost_us(report.best));
    } else {
      report = value_of(optimize(opened.start().graph, request.rules, *search, cost, limits,
                                 [&](std::uint64_t steps, std::uint64_t candidates, double best_us) {
                                   work.tell(progress, steps, candidates, best_us);
                                   return !work.stopped();
                                 }));
    }
    if (opened.simplified) enter_simplification(opened, value_of(cost.cost_us(opened.imported.graph)), report);
    return report;
  };
  return work.run([&] {
    OptimizeReport report = search_graph();
    JudgedModel judged;
    if (!work.stopped()) judged = value_of(judge_result(opened, report, options));
    std::string reason;
    while (!work.stopped() && simplify_less(opened, judged, report.search.path.size(), request.simplify_only, reason)) {
      report = search_graph();
      if (!work.stopped()) judged = value_of(judge_result(opened, report, options));
    }
    Optimized result;
    result.cost_before_us = report.search.cost_before_us;
    result.cost_after_us = report.search.cost_after_us;
    for (const RewriteStep& step : report.search.path)
      result.rewrites.push_back({step.rule_name, step.rule_id, step.cost_before_us, step.cost_after_us});
    result.steps = report.search.steps;
    result.candidates = report.search.candidates;
    result.seconds = report.seconds;
    if (opened.simplified) result.simplifications = opened.simplifications;
    if (work.stopped()) return result;
    result.model = judged.bytes;
    result.equivalence = judged.equivalence;
    if (judged.culprit) result.culprit = report.search.path[*judged.culprit].rule_name;
    return result;
  });
}

Trust trust_named(const std::string& name) {
  for (const Trust trust : {Trust::kNone, Trust::kSolver, Trust::kCertificate, Trust::kTheorem})
    if (name == name_of(trust)) return trust;
  throw Failure(make_error(ErrorCode::kUsage, "trust is '{}'; there are: theorem, certificate, solver, none", name));
}

std::vector<Rule> trusted(const std::vector<OwnedRule>& rules, const std::string& trust, const Registry& registry) {
  const Trust needed = trust_named(trust);
  std::vector<Rule> kept;
  for (const OwnedRule& rule : rules) kept.push_back(rule.rule);
  if (needed == Trust::kTheorem) make_theorems(kept, registry);
  std::erase_if(kept, [needed](const Rule& rule) { return rule.trust < needed; });
  if (kept.empty() && !rules.empty())
    throw Failure(
        make_error(ErrorCode::kUsage,
                   "none of the rules is proved (rules in a text file never are); verify them into a store, or "
                   "use them at your own risk with trust='none': the result is still compared with the original"));
  return kept;
}

}  // namespace

void bind_optimization(py::module_& module) {
  py::class_<Rewrite>(module, "Rewrite", "One step from the original to the result.")
      .def_readonly("rule", &Rewrite::rule, "Its name.")
      .def_readonly("id", &Rewrite::id, "Its id.")
      .def_readonly("cost_before_us", &Rewrite::cost_before_us, "By the cost model.")
      .def_readonly("cost_after_us", &Rewrite::cost_after_us, "By the cost model.")
      .def("__repr__", [](const Rewrite& step) {
        return fmt::format("<rewright.Rewrite {}: {:.4g} -> {:.4g} us>", step.rule, step.cost_before_us,
                           step.cost_after_us);
      });

  py::class_<Optimized>(module, "Optimized", "What an optimisation came to.")
      .def_property_readonly(
          "model", [](const Optimized& result) { return py::bytes(result.model); },
          "A serialized ONNX model: the cheapest graph, or the last one that is equal to the original.")
      .def_readonly("cost_before_us", &Optimized::cost_before_us, "By the cost model.")
      .def_readonly("cost_after_us", &Optimized::cost_after_us, "By the cost model.")
      .def_readonly("rewrites", &Optimized::rewrites, "In their order.")
      .def_readonly("steps", &Optimized::steps, "Of the search.")
      .def_readonly("candidates", &Optimized::candidates, "Graphs looked at.")
      .def_readonly("seconds", &Optimized::seconds, "Of the search.")
      .def_property_readonly(
          "equal", [](const Optimized& result) { return result.equivalence.equal(); },
          "Does the cheapest graph compute what the original does?")
      .def_property_readonly(
          "max_abs_error", [](const Optimized& result) { return result.equivalence.max_abs_error; },
          "Greatest difference of an output on random inputs.")
      .def_property_readonly(
          "compared_in", [](const Optimized& result) { return result.equivalence.runs; }, "What the comparison ran in.")
      .def_readonly("simplifications", &Optimized::simplifications, "How often the model was simplified, by kind.")
      .def_readonly("culprit", &Optimized::culprit, "Not equal: the rule that brought the difference.")
      .def("__repr__", [](const Optimized& result) {
        return fmt::format("<rewright.Optimized: {:.4g} -> {:.4g} us, {} rewrites{}>", result.cost_before_us,
                           result.cost_after_us, result.rewrites.size(),
                           result.equivalence.equal() ? "" : ", not equal");
      });

  module.def(
      "optimize",
      [](const py::bytes& model, const std::vector<OwnedRule>& rules, const std::string& search,
         const std::string& cost, const Options& search_options, const Options& cost_options, std::uint64_t steps,
         std::uint64_t candidates, double seconds, std::size_t region_size, int threads, std::uint64_t seed,
         const std::map<std::string, std::int64_t>& dimensions, const std::string& folder, const std::string& trust,
         const std::string& runtime, const py::object& progress, const std::optional<Plugins>& plugins) {
        const Plugins owner = plugins ? *plugins : rules.empty() ? plugins_or_own({}) : rules.front().plugins;
        const OptimizeOptions limits{.steps = steps,
                                     .seed = seed,
                                     .registry = owner.get(),
                                     .candidates = candidates,
                                     .seconds = seconds,
                                     .threads = threads,
                                     .region_size = region_size};
        return optimize_model({model, trusted(rules, trust, *owner), search, cost, search_options, cost_options, limits,
                               dimensions, folder, runtime},
                              progress, *owner);
      },
      py::arg("model"), py::arg("rules"), py::kw_only(), py::arg("search") = "auto", py::arg("cost") = "flops",
      py::arg("search_options") = Options(), py::arg("cost_options") = Options(), py::arg("steps") = 1000,
      py::arg("candidates") = 0, py::arg("seconds") = 60, py::arg("region_size") = 0, py::arg("threads") = 1,
      py::arg("seed") = 1, py::arg("dimensions") = std::map<std::string, std::int64_t>(), py::arg("folder") = "",
      py::arg("trust") = "certificate", py::arg("runtime") = "onnxruntime", py::arg("progress") = py::none(),
      py::arg("plugins") = py::none(),
      "Makes a serialized ONNX model cheaper with rules of at least that trust, and compares the result with the "
      "original. "
      "`progress(steps, candidates, best_us)` is called now and then; options are as for the program's rewright "
      "optimize.");

  module.def(
      "simplify",
      [](const py::bytes& model, bool exact, const std::map<std::string, std::int64_t>& dimensions,
         const std::string& folder, const std::string& cost, const Options& cost_options, std::uint64_t seed,
         const std::string& runtime, const std::optional<Plugins>& plugins) {
        const Plugins owner = plugins ? *plugins : plugins_or_own({});
        Request request;
        request.model = model;
        request.search = "auto";
        request.cost = cost;
        request.cost_options = cost_options;
        request.limits.seed = seed;
        request.dimensions = dimensions;
        request.folder = folder;
        request.runtime = runtime;
        request.simplify_only = true;
        request.exact = exact;
        return optimize_model(request, py::none(), *owner);
      },
      py::arg("model"), py::kw_only(), py::arg("exact") = false,
      py::arg("dimensions") = std::map<std::string, std::int64_t>(), py::arg("folder") = "", py::arg("cost") = "flops",
      py::arg("cost_options") = Options(), py::arg("seed") = 1, py::arg("runtime") = "onnxruntime",
      py::arg("plugins") = py::none(),
      "A serialized ONNX model with fewer nodes, compared with the original: known values, nodes that do nothing, "
      "chains, equal nodes, and, unless `exact`, what weights take in. As the program's rewright optimize "
      "--simplify-only, without measuring.");
}

}  // namespace rewright::python
