// rewright.Graph: from and to ONNX bytes, text and drawings.
#include <rewright/graph/graph.h>

#include <fmt/format.h>

#include <span>

#include "onnx/export.h"
#include "python/bindings.h"
#include "report/dot.h"

namespace rewright::python {
namespace {

OwnedGraph from_onnx(const py::bytes& model, const std::map<std::string, std::int64_t>& dimensions,
                     const std::string& folder, const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  const std::string bytes = model;
  ImportOptions options;
  options.dimensions = dimensions;
  options.directory = folder;
  auto imported =
      std::make_shared<ImportedModel>(value_of(import_model(std::as_bytes(std::span(bytes)), *owner, options)));
  return {owner, imported->graph, imported};
}

py::bytes to_onnx(const OwnedGraph& graph) {
  return value_of(graph.origin ? export_model(graph.graph, *graph.origin) : export_model(graph.graph));
}

std::vector<std::tuple<std::string, std::vector<std::int64_t>>> inputs_of(const OwnedGraph& graph) {
  std::vector<std::tuple<std::string, std::vector<std::int64_t>>> inputs;
  for (const NodeId id : graph.graph.inputs()) {
    const Node& node = graph.graph.node(id);
    const Shape& shape = node.outputs.front().shape;
    inputs.emplace_back(node.name, std::vector<std::int64_t>(shape.begin(), shape.end()));
  }
  return inputs;
}

}  // namespace

void bind_graphs(py::module_& module) {
  py::class_<OwnedGraph>(module, "Graph", "A graph of operator applications over named input tensors.")
      .def_static(
          "from_onnx", &from_onnx, py::arg("model"), py::kw_only(),
          py::arg("dimensions") = std::map<std::string, std::int64_t>(), py::arg("folder") = "",
          py::arg("plugins") = py::none(),
          "Reads a serialized ONNX model. `dimensions` are sizes that it leaves open, by name; `folder` is where "
          "its external data lies.")
      .def_static(
          "parse",
          [](const std::string& text, const std::optional<Plugins>& plugins) {
            const Plugins owner = plugins_or_own(plugins);
            return OwnedGraph{owner, value_of(parse_graph(text, *owner)), nullptr};
          },
          py::arg("text"), py::kw_only(), py::arg("plugins") = py::none(), "Reads the text form.")
      .def("to_onnx", &to_onnx, "The graph as a serialized ONNX model.")
      .def(
          "to_dot", [](const OwnedGraph& graph) { return to_dot(graph.graph); }, "A drawing, for Graphviz.")
      .def(
          "to_svg", [](const OwnedGraph& graph) { return value_of(render_svg(to_dot(graph.graph))); },
          "A drawing as SVG, by Graphviz's program dot.")
      .def_property_readonly("inputs", &inputs_of, "Names and shapes of the inputs, weights included.")
      .def_property_readonly(
          "operator_count", [](const OwnedGraph& graph) { return graph.graph.operator_count(); },
          "How many applications of operators it has.")
      .def("__str__", [](const OwnedGraph& graph) { return to_text(graph.graph); })
      .def("_repr_svg_", [](const OwnedGraph& graph) { return value_of(render_svg(to_dot(graph.graph))); })
      .def("__repr__", [](const OwnedGraph& graph) {
        return fmt::format("<rewright.Graph: {} operators>", graph.graph.operator_count());
      });
}

}  // namespace rewright::python
