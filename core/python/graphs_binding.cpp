// rewright.Graph: from and to ONNX bytes, text and drawings.
#include <rewright/graph/graph.h>

#include <fmt/format.h>

#include <span>

#include "base/files.h"
#include "graph/graph_file.h"
#include "onnx/export.h"
#include "onnx/graph_model.h"
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

using SharedGraph = std::shared_ptr<OwnedGraph>;

bool is_model(const std::string& path) { return path.ends_with(".onnx"); }

OwnedGraph load(const std::string& path, const std::map<std::string, std::int64_t>& dimensions,
                const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  if (!is_model(path)) return {owner, value_of(read_graph_file(path, *owner)), nullptr};
  ImportOptions options;
  options.dimensions = dimensions;
  auto imported = std::make_shared<ImportedModel>(value_of(import_model_file(path, *owner, std::move(options))));
  return {owner, imported->graph, imported};
}

/// As `rewright graph convert` writes them.
void save(const OwnedGraph& graph, const std::string& path, std::uint64_t seed) {
  const Graph alone = graph.origin ? value_of(graph_alone(*graph.origin)) : graph.graph;
  if (is_model(path)) {
    check(write_file(path, value_of(graph_as_model(alone, seed)).model));
  } else {
    (void)value_of(write_graph_file(path, alone));
  }
}

NodeHandle node_at(const SharedGraph& graph, std::int64_t index) {
  const auto count = static_cast<std::int64_t>(graph->graph.nodes().size());
  const std::int64_t at = index < 0 ? index + count : index;
  if (at < 0 || at >= count) throw py::index_error(fmt::format("the graph has {} nodes, and none at {}", count, index));
  return {graph, NodeId{static_cast<std::uint32_t>(at)}};
}

NodeHandle node_named(const SharedGraph& graph, const std::string& name) {
  for (std::uint32_t i = 0; i < graph->graph.nodes().size(); ++i)
    if (graph->graph.nodes()[i].name == name) return {graph, NodeId{i}};
  throw py::key_error(fmt::format("no node of the graph is named '{}'", name));
}

std::vector<NodeHandle> nodes_of(const SharedGraph& graph) {
  std::vector<NodeHandle> nodes;
  for (std::uint32_t i = 0; i < graph->graph.nodes().size(); ++i) nodes.push_back({graph, NodeId{i}});
  return nodes;
}

/// By user, then by operand.
std::vector<std::tuple<TensorHandle, NodeHandle, std::size_t>> edges_of(const SharedGraph& graph) {
  std::vector<std::tuple<TensorHandle, NodeHandle, std::size_t>> edges;
  for (const NodeHandle& node : nodes_of(graph))
    for (std::size_t k = 0; k < node.get().inputs.size(); ++k)
      edges.emplace_back(TensorHandle{node.get().inputs[k], graph->graph.type(node.get().inputs[k])}, node, k);
  return edges;
}

std::vector<TensorHandle> outputs_of(const OwnedGraph& graph) {
  std::vector<TensorHandle> outputs;
  for (const Port& port : graph.graph.outputs()) outputs.push_back({port, graph.graph.type(port)});
  return outputs;
}

template <class Class>
void bind_access(Class& graph) {
  graph.def_property_readonly("nodes", &nodes_of, "All nodes, operands first.")
      .def_property_readonly("edges", &edges_of,
                             "(tensor, node, operand): the node reads the tensor as its operand of this number.")
      .def_property_readonly("outputs", &outputs_of, "The tensors that the graph computes, in order.")
      .def_property_readonly(
          "output_names",
          [](const OwnedGraph& owned) {
            return std::vector<std::string>(owned.graph.output_names().begin(), owned.graph.output_names().end());
          },
          "One for each output, '' where it has none of its own.")
      .def("__len__", [](const OwnedGraph& owned) { return owned.graph.nodes().size(); })
      .def("__iter__", [](const SharedGraph& owned) { return py::iter(py::cast(nodes_of(owned))); })
      .def("__getitem__", &node_at, py::arg("index"))
      .def("__getitem__", &node_named, py::arg("name"))
      .def("__eq__", [](const OwnedGraph& a,
                        const OwnedGraph& b) { return structural_hash(a.graph) == structural_hash(b.graph); })
      .def("__hash__", [](const OwnedGraph& owned) { return structural_hash(owned.graph).low; })
      .def_static("load", &load, py::arg("path"), py::kw_only(),
                  py::arg("dimensions") = std::map<std::string, std::int64_t>(), py::arg("plugins") = py::none(),
                  "Reads an ONNX model (*.onnx) or a file in the text form; `dimensions` are sizes that a model leaves "
                  "open, by name. Raises Error with the file and the place of what is wrong.")
      .def("save", &save, py::arg("path"), py::kw_only(), py::arg("seed") = 1,
           "Writes an ONNX model (*.onnx) or the text form, values of weights included, as rewright graph convert. "
           "`seed`: of the numbers that weights without values get in a model.");
}

}  // namespace

void bind_graphs(py::module_& module) {
  py::class_<OwnedGraph, SharedGraph> graph(
      module, "Graph",
      "A graph of operator applications over named input tensors. Immutable; len() and iteration are over its nodes, "
      "graph[3] and graph['x'] are nodes. Graphs are equal if their structure is: operators, parameters, shapes, "
      "wiring, "
      "not names nor values.");
  bind_access(graph);
  graph
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
      .def("to_onnx", &to_onnx, "The graph as a serialized ONNX model; weights without values are inputs of it.")
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
