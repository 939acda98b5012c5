// The Python module rewright._native; core/python/rewright makes a package of it.
#include <tbb/global_control.h>

#include <array>

#include "python/bindings.h"

namespace rewright::python {
namespace {

constexpr std::array kCodes = {"usage",  "parse", "shape",  "unsupported", "not found",
                               "plugin", "io",    "budget", "mismatch",    "internal"};

void bind_error(py::module_& module) {
  // The type lives as long as the interpreter: it is used when an exception crosses.
  static PyObject* error = nullptr;
  const std::string name = "rewright.Error";
  error = PyErr_NewExceptionWithDoc(
      name.c_str(), "What went wrong, in one sentence; `code` is its kind: 'usage', 'parse', 'shape', 'io', ...",
      PyExc_RuntimeError, nullptr);
  module.add_object("Error", py::reinterpret_borrow<py::object>(error));
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const py::object instance = py::reinterpret_borrow<py::object>(error)(failure.what());
      instance.attr("code") = kCodes.at(static_cast<std::size_t>(failure.code));
      PyErr_SetObject(error, instance.ptr());
    }
  });
}

}  // namespace
}  // namespace rewright::python

PYBIND11_MODULE(_native, module) {
  using namespace rewright::python;
  // Else TBB gives no more threads than there are cores, and warns whoever asks for more.
  constexpr std::size_t kThreads = 1024;
  static const tbb::global_control as_many_as_asked(tbb::global_control::max_allowed_parallelism, kThreads);
  module.attr("__version__") = REWRIGHT_VERSION;
  bind_error(module);
  bind_plugins(module);
  bind_nodes(module);
  bind_graphs(module);
  bind_rules(module);
  bind_matches(module);
  bind_axioms(module);
  bind_proofs(module);
  bind_campaigns(module);
  bind_optimization(module);
  bind_compiling(module);
  bind_learning(module);
}
