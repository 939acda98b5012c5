// rewright.Plugins: what is loaded.
#include <rewright/operator/operator.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>
#include <rewright/rule/pruner.h>

#include <fmt/format.h>

#include "python/bindings.h"

namespace rewright::python {
namespace {

Plugins load(const std::vector<std::string>& files) {
  auto registry = std::make_shared<Registry>();
  check(registry->load_default(files));
  return registry;
}

template <class Kind>
std::vector<std::string> names(const Registry& registry) {
  std::vector<std::string> names;
  for (const Kind* object : registry.all<Kind>()) names.push_back(object->name());
  return names;
}

}  // namespace

Plugins plugins_or_own(const std::optional<Plugins>& plugins) {
  if (plugins && *plugins) return *plugins;
  static const Plugins kOwn = load({});
  return kOwn;
}

void bind_plugins(py::module_& module) {
  py::class_<Registry, std::shared_ptr<Registry>>(
      module, "Plugins",
      "The loaded plugins: those named, those in the folders of REWRIGHT_PLUGIN_PATH, and those of the installation.")
      .def(py::init(
               [](const std::vector<std::string>& files) { return std::const_pointer_cast<Registry>(load(files)); }),
           py::arg("files") = std::vector<std::string>(), "Loads plugins; `files` are shared objects of one's own.")
      .def_property_readonly("operators", &names<Operator>, "Names of the operators.")
      .def_property_readonly("verifiers", &names<Verifier>, "Names of the verifiers.")
      .def_property_readonly("pruners", &names<Pruner>, "Names of the pruners.")
      .def_property_readonly("searches", &names<SearchStrategy>, "Names of the search strategies.")
      .def_property_readonly("costs", &names<CostModel>, "Names of the cost models.")
      .def("__repr__", [](const Registry& registry) {
        return fmt::format("<rewright.Plugins: {} of them>", registry.plugins().size());
      });
}

}  // namespace rewright::python
