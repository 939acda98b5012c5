// rewright.Tensor, rewright.Node, rewright.GraphBuilder: what graphs are made of.
#include <rewright/graph/graph.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tuple>
#include <variant>

#include "onnx/element.h"
#include "python/bindings.h"

namespace rewright::python {
namespace {

using Sizes = std::vector<std::int64_t>;
using Value = std::variant<std::int64_t, double, Sizes, std::string>;

TensorType type_of(const Sizes& shape, const std::string& dtype) {
  const auto element = element_type_named(dtype);
  if (!element)
    throw Failure(make_error(ErrorCode::kUsage,
                             "'{}' is no element type; there are float32, float16, int64, bool and "
                             "others of ONNX",
                             dtype));
  TensorType type;
  type.element = *element;
  if (shape.size() > kMaxRank)
    throw Failure(make_error(ErrorCode::kShape, "a tensor has at most {} axes, not {}", kMaxRank, shape.size()));
  for (const std::int64_t size : shape) {
    if (size < 1)
      throw Failure(make_error(ErrorCode::kShape, "the shape ({}) has the size {}; sizes are 1 at least",
                               fmt::join(shape, ", "), size));
    type.shape.append(size);
  }
  return type;
}

py::tuple shape_of(const TensorType& type) {
  py::tuple shape(type.shape.rank());
  for (int axis = 0; axis < type.shape.rank(); ++axis) shape[static_cast<std::size_t>(axis)] = type.shape[axis];
  return shape;
}

/// A number for all elements, or one for each; bytes as ONNX raw_data has them.
using Given = std::variant<py::bytes, double, std::vector<double>>;

std::shared_ptr<const ConstantData> constant(const TensorType& type, const std::optional<Given>& given) {
  if (!given) return nullptr;
  const auto elements = static_cast<std::size_t>(type.shape.elements());
  const std::size_t size = element_size(type.element);
  if (size == 0)
    throw Failure(
        make_error(ErrorCode::kUnsupported, "elements of type {} have no values here", name_of(type.element)));
  const auto counted = [](std::size_t is, std::size_t wanted, const char* what) {
    if (is != wanted)
      throw Failure(
          make_error(ErrorCode::kShape, "the weight's shape takes {} {}, and {} are given", wanted, what, is));
  };
  if (const auto* number = std::get_if<double>(&*given))
    return std::make_shared<const ConstantData>(ConstantData{type, *number});
  if (const auto* numbers = std::get_if<std::vector<double>>(&*given)) {
    counted(numbers->size(), elements, "numbers");
    return std::make_shared<const ConstantData>(ConstantData{type, model::encode(type.element, *numbers)});
  }
  const std::string bytes = std::get<py::bytes>(*given);
  counted(bytes.size(), elements * size, "bytes");
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return std::make_shared<const ConstantData>(ConstantData{type, std::vector<std::byte>(first, first + bytes.size())});
}

/// Builds one graph; the plugins that its operators are of live as long.
struct Building {
  explicit Building(Plugins plugins) : owner(std::move(plugins)), builder(owner.get()) {}
  Plugins owner;
  GraphBuilder builder;

  [[nodiscard]] TensorHandle handle(Port port) const { return {port, builder.type(port)}; }
};

py::object apply(Building& building, const std::string& op, const py::args& operands, const py::kwargs& attributes) {
  std::vector<Port> ports;
  for (const auto& operand : operands) {
    if (!py::isinstance<TensorHandle>(operand))
      throw py::type_error(fmt::format("operand {} of {} is no rewright.Tensor, but {}", ports.size(), op,
                                       py::repr(operand).cast<std::string>()));
    ports.push_back(operand.cast<TensorHandle>().port);
  }
  std::vector<NamedParam> params;
  std::string name;
  for (const auto& [key, value] : attributes) {
    const auto word = key.cast<std::string>();
    if (word == "name") {
      name = value.cast<std::string>();
      continue;
    }
    try {
      params.push_back({word, value.cast<Value>()});
    } catch (const py::cast_error&) {
      throw py::type_error(fmt::format("parameter {} of {} is {}; expected a number, a list of integers or a name",
                                       word, op, py::repr(value).cast<std::string>()));
    }
  }
  const std::vector<Port> made = value_of(building.builder.apply(op, params, std::move(ports), name));
  if (made.size() == 1) return py::cast(building.handle(made.front()));
  py::tuple tensors(made.size());
  for (std::size_t i = 0; i < made.size(); ++i) tensors[i] = building.handle(made[i]);
  return tensors;
}

void bind_builder(py::module_& module) {
  py::class_<Building>(
      module, "GraphBuilder",
      "Builds a graph node by node; an operand must have been made before, so no graph has a cycle.\n\n"
      "    b = rewright.GraphBuilder()\n"
      "    x, w = b.input('x', (2, 4)), b.weight('w', (4, 8), 0.5)\n"
      "    b.output(b.apply('relu', b.apply('matmul', x, w)), 'y')\n"
      "    graph = b.finish()")
      .def(py::init([](const std::optional<Plugins>& plugins) { return Building(plugins_or_own(plugins)); }),
           py::kw_only(), py::arg("plugins") = py::none(), "An empty graph.")
      .def(
          "input",
          [](Building& building, std::string name, const Sizes& shape, const std::string& dtype) {
            return building.handle(value_of(building.builder.input(std::move(name), type_of(shape, dtype))));
          },
          py::arg("name"), py::arg("shape"), py::kw_only(), py::arg("dtype") = "float32",
          "A tensor that is given anew at each run. Raises Error for a name that is taken.")
      .def(
          "weight",
          [](Building& building, std::string name, const Sizes& shape, const std::optional<Given>& value,
             const std::string& dtype) {
            const TensorType type = type_of(shape, dtype);
            return building.handle(
                value_of(building.builder.input(std::move(name), type, InputKind::kWeight, constant(type, value))));
          },
          py::arg("name"), py::arg("shape"), py::arg("value") = py::none(), py::kw_only(), py::arg("dtype") = "float32",
          "A tensor that is the same at each run. `value`: one number for all elements, a list of them in row-major "
          "order, or bytes (row-major, little-endian); None where it is not known.")
      .def("apply", &apply, py::arg("op"),
           "Applies an operator by name to tensors; keywords are its parameters, and `name`. Returns a Tensor, or a "
           "tuple of them where the operator has several outputs. Raises Error: an unknown operator or parameter "
           "('not found', 'usage'), operands that do not fit ('shape').")
      .def(
          "output",
          [](Building& building, const TensorHandle& tensor, std::string name) {
            building.builder.output(tensor.port, std::move(name));
          },
          py::arg("tensor"), py::arg("name") = "", "Makes the tensor the graph's next output.")
      .def(
          "finish",
          [](Building& building) {
            return OwnedGraph{building.owner, building.builder.finish(), nullptr};
          },
          "The graph, without what no output needs; the builder is empty afterwards.");
}

void bind_tensor(py::module_& module) {
  py::class_<TensorHandle>(module, "Tensor", "One output of a node of a graph.")
      .def_property_readonly(
          "node", [](const TensorHandle& tensor) { return tensor.port.node.value; },
          "The index of the node that makes it.")
      .def_property_readonly(
          "output", [](const TensorHandle& tensor) { return tensor.port.output; },
          "Which of the node's outputs it is, from 0.")
      .def_property_readonly(
          "shape", [](const TensorHandle& tensor) { return shape_of(tensor.type); },
          "Sizes in elements; () for one number.")
      .def_property_readonly(
          "dtype", [](const TensorHandle& tensor) { return name_of(tensor.type.element); },
          "'float32', 'float16', 'int64', ...; 'unknown' where it is no tensor of known type.")
      .def("__eq__", [](const TensorHandle& a, const TensorHandle& b) { return a.port == b.port && a.type == b.type; })
      .def("__hash__",
           [](const TensorHandle& tensor) { return (std::size_t{tensor.port.node.value} << 8) + tensor.port.output; })
      .def("__repr__", [](const TensorHandle& tensor) {
        return fmt::format("<rewright.Tensor {}.{}: {} {}>", tensor.port.node.value, tensor.port.output,
                           name_of(tensor.type.element), to_string(tensor.type.shape));
      });
}

// --- nodes --------------------------------------------------------------------------------------------------------

const char* kind_of(const Node& node) {
  if (node.is_data()) return "input";
  if (node.is_weight()) return "weight";
  return node.opaque() != nullptr ? "opaque" : "operator";
}

std::string op_of(const Node& node) {
  if (node.application() != nullptr) return node.application()->op->name();
  return node.opaque() != nullptr ? node.opaque()->type : "";
}

Value value_of_param(const ParamSpec& spec, const ParamValue& value) {
  switch (spec.kind) {
    case ParamKind::kReal: return std::get<double>(value);
    case ParamKind::kInts: return std::get<std::vector<std::int64_t>>(value);
    case ParamKind::kSizes: return std::get<SizeList<std::int64_t>>(value).values;
    case ParamKind::kChoice: return spec.choices.at(static_cast<std::size_t>(std::get<std::int64_t>(value)));
    case ParamKind::kInt: break;
  }
  return std::get<std::int64_t>(value);
}

std::map<std::string, Value> attributes_of(const Node& node) {
  std::map<std::string, Value> attributes;
  if (node.application() == nullptr) return attributes;
  const auto& [op, params] = *node.application();
  for (std::size_t i = 0; i < params.size(); ++i)
    attributes.emplace(op->info().params[i].name, value_of_param(op->info().params[i], params[i]));
  return attributes;
}

py::object value_of_weight(const Node& node) {
  if (!node.constant() || element_size(node.constant()->type.element) == 0) return py::none();
  const std::vector<std::byte> bytes = model::bytes_of(*node.constant());
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void bind_node(py::module_& module) {
  py::class_<NodeHandle>(module, "Node",
                         "A node of a graph: an input, a weight, an operator that is applied, or an "
                         "opaque node that no operator reads.")
      .def_property_readonly(
          "index", [](const NodeHandle& node) { return node.id.value; },
          "Its place in Graph.nodes; operands come before.")
      .def_property_readonly(
          "name", [](const NodeHandle& node) { return node.get().name; },
          "Of an input, the tensor's; of others a hint, which may be ''.")
      .def_property_readonly(
          "kind", [](const NodeHandle& node) { return kind_of(node.get()); },
          "'input', 'weight', 'operator' or 'opaque'.")
      .def_property_readonly(
          "op", [](const NodeHandle& node) { return op_of(node.get()); },
          "The operator's name; of an opaque node ONNX's; '' of an input or weight.")
      .def_property_readonly(
          "attributes", [](const NodeHandle& node) { return attributes_of(node.get()); },
          "The operator's parameters, those at their default too: numbers, lists, names of choices.")
      .def_property_readonly(
          "inputs",
          [](const NodeHandle& node) {
            std::vector<TensorHandle> tensors;
            for (const Port& port : node.get().inputs) tensors.push_back({port, node.graph->graph.type(port)});
            return tensors;
          },
          "The operands, in order.")
      .def_property_readonly(
          "outputs",
          [](const NodeHandle& node) {
            std::vector<TensorHandle> tensors;
            for (std::uint32_t i = 0; i < node.get().outputs.size(); ++i)
              tensors.push_back({{node.id, i}, node.get().outputs[i]});
            return tensors;
          },
          "The tensors that it makes.")
      .def_property_readonly(
          "value", [](const NodeHandle& node) { return value_of_weight(node.get()); },
          "The values of a weight as bytes, row-major and little-endian, as for "
          "numpy.frombuffer(node.value, node.outputs[0].dtype); None where they are not known.")
      .def("__eq__", [](const NodeHandle& a, const NodeHandle& b) { return a.graph == b.graph && a.id == b.id; })
      .def("__hash__", [](const NodeHandle& node) { return std::hash<std::uint32_t>()(node.id.value); })
      .def("__repr__", [](const NodeHandle& node) {
        const Node& is = node.get();
        return fmt::format(
            "<rewright.Node {}: {}>", node.id.value,
            is.application() != nullptr ? to_string(*is.application()) : fmt::format("{} {}", kind_of(is), is.name));
      });
}

}  // namespace

void bind_nodes(py::module_& module) {
  bind_tensor(module);
  bind_node(module);
  bind_builder(module);
}

}  // namespace rewright::python
