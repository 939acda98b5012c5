// rewright.LearnedCost: costs learned from measured kernels.
#include <rewright/learn/kernel_features.h>
#include <rewright/optimize/cost_key.h>

#include <fmt/format.h>

#include <cmath>

#include "base/files.h"
#include "learn/held_out_fit.h"
#include "python/bindings.h"
#include "tune/kernel_text.h"

namespace rewright::python {
namespace {

using learn::HeldOutFit;

/// The registry has the predictor.
struct LearnedCost {
  Plugins plugins;
  HeldOutFit fitted;
  std::size_t kernels = 0;
};

struct Prediction {
  double us;
  double spread_us;
  std::vector<std::string> outside;
};

LearnedCost fit(const std::vector<std::string>& files, const std::string& device, const std::string& predictor,
                const std::string& base, const Options& options, const std::string& split, std::uint64_t seed,
                const py::object& progress, const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  LongWork work;
  const learn::Recipe recipe{
      .predictor = predictor, .options = options, .base = base == "none" ? "" : base, .seed = seed};
  return work.run([&] {
    const learn::DataSet data = value_of(learn::read_data(files, device, *owner));
    HeldOutFit fitted =
        value_of(learn::fit_held_out(data, recipe, split, *owner, [&](std::size_t done, std::size_t folds) {
          work.tell(progress, done, folds);
          return !work.stopped();
        }));
    return LearnedCost{owner, std::move(fitted), data.samples.size()};
  });
}

LearnedCost load(const std::string& path, const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  return {owner, {value_of(learn::LearnedModel::read(path, *owner))}, 0};
}

Prediction predict(const LearnedCost& cost, const std::string& kernel) {
  const auto owned =
      value_of(kernel.starts_with('|') ? from_key(kernel, *cost.plugins) : tune::parse_kernel(kernel, *cost.plugins));
  const learn::LearnedModel& model = cost.fitted.model;
  const tune::Features features = learn::features_of(owned.kernel(), model.setting.kinds);
  const Estimate estimate = model.estimate(features);
  return {estimate.us, estimate.spread, model.outside(features)};
}

}  // namespace

void bind_learning(py::module_& module) {
  py::class_<Prediction>(module, "Prediction", "What a kernel is said to take.")
      .def_readonly("us", &Prediction::us, "Microseconds.")
      .def_readonly("spread_us", &Prediction::spread_us, "How far off that may be: a standard deviation.")
      .def_readonly("outside", &Prediction::outside,
                    "In what the kernel is not like those of the training: columns, or 'kind' for its operator.")
      .def("__repr__", [](const Prediction& prediction) {
        return fmt::format("<rewright.Prediction {:.4g} +- {:.4g} us>", prediction.us, prediction.spread_us);
      });
  py::class_<LearnedCost>(module, "LearnedCost", "A cost of kernels, learned from measured ones.")
      .def_static(
          "fit", &fit, py::arg("files"), py::kw_only(), py::arg("device") = "", py::arg("predictor") = "trees",
          py::arg("base") = "roofline", py::arg("options") = Options(), py::arg("split") = "program",
          py::arg("seed") = 1, py::arg("progress") = py::none(), py::arg("plugins") = py::none(),
          "Learns from files of measured kernels, as rewright learn fit. `device`: a part of the device's name, where "
          "files have several; `split`: what is held out to know how good it is ('program', 'group', 'size', "
          "'operator', "
          "'row' or 'none'). `progress(done, folds)` counts folds. Raises Error: files that cannot be read, too few "
          "kernels ('unsupported'), no such predictor ('not found').")
      .def_static("load", &load, py::arg("path"), py::kw_only(), py::arg("plugins") = py::none(),
                  "Reads what save() or rewright learn fit wrote.")
      .def("predict", &predict, py::arg("kernel"),
           "The time of a kernel as text, '(x:512x512, w:512x512 weight) relu(matmul(x, w))', or as its key.")
      .def(
          "save",
          [](const LearnedCost& cost, const std::string& path) {
            check(write_file(path, value_of(cost.fitted.model.to_file())));
          },
          py::arg("path"), "As an ONNX model, for optimize(cost='learned', cost_options={'file': path}).")
      .def_readonly("kernels", &LearnedCost::kernels, "How many it learned from; 0 where it was loaded.")
      .def_property_readonly(
          "device",
          [](const LearnedCost& cost) {
            const auto found = cost.fitted.model.facts.find("device");
            return found == cost.fitted.model.facts.end() ? "" : found->second;
          },
          "Of which it learned: 'COST|DEVICE'.")
      .def_property_readonly(
          "error", [](const LearnedCost& cost) { return cost.fitted.accuracy.error; },
          "Mean of |predicted - measured| / measured on kernels that were held out, the median of the folds; 0 where "
          "none were.")
      .def_property_readonly(
          "tau", [](const LearnedCost& cost) { return cost.fitted.accuracy.tau; },
          "Kendall's tau of their order, the same.")
      .def("__repr__", [](const LearnedCost& cost) {
        return fmt::format("<rewright.LearnedCost of {} kernels: {:.1f} % off>", cost.kernels,
                           100 * cost.fitted.accuracy.error);
      });
}

}  // namespace rewright::python
