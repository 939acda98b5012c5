// Patterns: symbolic shapes, and concrete graphs of them.
#include <rewright/rule/rule.h>

#include <algorithm>

namespace rewright {

const char* name_of(Trust trust) {
  switch (trust) {
    case Trust::kNone: return "none";
    case Trust::kSolver: return "solver";
    case Trust::kCertificate: return "certificate";
    case Trust::kTheorem: break;
  }
  return "theorem";
}

Trust trust_by(std::string_view certificate) {
  if (certificate.empty()) return Trust::kSolver;
  return certificate.starts_with("theorem 1\n") ? Trust::kTheorem : Trust::kCertificate;
}

namespace {

SymbolicShape variables_of(const PatternInput& input) {
  SymbolicShape shape;
  for (int axis = 0; axis < input.rank; ++axis) shape.append(SymbolicDim::variable(SizeVar::axis(input.name, axis)));
  return shape;
}

// The tensor behind a port, in a list by node and output.
template <class T>
Result<const T*> at(const std::vector<std::vector<T>>& of_node, Port port, std::string_view user) {
  const auto node = static_cast<std::size_t>(port.node.value);
  if (node < of_node.size() && port.output < of_node[node].size()) return &of_node[node][port.output];
  return make_error(ErrorCode::kUsage,
                    "pattern: {} reads output {} of node {}, which is not made before it (there are {} nodes)", user,
                    port.output, node, of_node.size());
}

template <class T>
Result<std::vector<T>> gather(const std::vector<std::vector<T>>& of_node, std::span<const Port> ports,
                              std::string_view user) {
  std::vector<T> values;
  values.reserve(ports.size());
  for (const Port port : ports) {
    REWRIGHT_TRY(const T* value, at(of_node, port, user));
    values.push_back(*value);
  }
  return values;
}

Result<Params> numbers(const PatternNode& node, const DimBinding& binding) {
  if (auto params = evaluate(node.params, binding)) return *std::move(params);
  return make_error(ErrorCode::kUsage,
                    "{}{}: a size variable is not bound; bind every variable that is no input's size", node.op->name(),
                    to_string(node.op->info().params, node.params));
}

}  // namespace

Result<PatternShapes> infer_shapes(std::span<const PatternInput> inputs, const Pattern& pattern) {
  PatternShapes shapes;
  for (const PatternInput& input : inputs) shapes.of_node.push_back({variables_of(input)});
  Constraints<SymbolicDim> where;
  for (const PatternNode& node : pattern.nodes) {
    REWRIGHT_TRY(const auto in, gather<SymbolicShape>(shapes.of_node, node.inputs, node.op->name()));
    REWRIGHT_TRY(auto out, node.op->infer(node.params, in, where));
    if (where.violation()) return *where.violation();
    shapes.of_node.push_back(std::move(out));
  }
  for (const Port port : pattern.outputs) REWRIGHT_CHECK(at(shapes.of_node, port, "the list of outputs"));
  shapes.defined = where.conditions();
  return shapes;
}

DimBinding bind_sizes(std::vector<std::pair<SizeVar, std::int64_t>> sizes) {
  return [sizes = std::move(sizes)](SizeVar name) -> std::optional<std::int64_t> {
    const auto found = std::find_if(sizes.begin(), sizes.end(), [&](const auto& size) { return size.first == name; });
    if (found == sizes.end()) return std::nullopt;
    return found->second;
  };
}

DimBinding bind_sizes(std::span<const PatternInput> inputs, std::span<const Shape> shapes, DimBinding extra) {
  std::vector<std::pair<SizeVar, std::int64_t>> sizes;
  for (std::size_t i = 0; i < std::min(inputs.size(), shapes.size()); ++i) {
    for (int axis = 0; axis < shapes[i].rank(); ++axis)
      sizes.emplace_back(SizeVar::axis(inputs[i].name, axis), shapes[i][axis]);
  }
  return [own = bind_sizes(std::move(sizes)), extra = std::move(extra)](SizeVar name) {
    auto value = own(name);
    if (!value && extra) value = extra(name);
    return value;
  };
}

std::vector<SizeVar> match_variables(const Rule& rule) {
  std::vector<SizeVar> names;
  for (const PatternNode& node : rule.source.nodes) {
    for (const auto& value : node.params.values()) {
      const auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
      if (!list) continue;
      for (const SymbolicDim& size : list->values) {
        for (const SizeVar name : size.variables())
          if (!name.is_axis() && std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
  }
  return names;
}

Result<Graph> instantiate(std::span<const PatternInput> inputs, const Pattern& pattern, std::span<const Shape> shapes,
                          const DimBinding& extra) {
  if (inputs.size() != shapes.size())
    return make_error(ErrorCode::kUsage, "a pattern of {} inputs was given {} shapes", inputs.size(), shapes.size());
  const DimBinding binding = bind_sizes(inputs, shapes, extra);
  GraphBuilder graph;
  std::vector<std::vector<Port>> of_node;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].rank != shapes[i].rank())
      return shape_error("input {} of the pattern has rank {}, and the shape {} has rank {}", inputs[i].name,
                         inputs[i].rank, shapes[i], shapes[i].rank());
    REWRIGHT_TRY(const Port port, graph.input(inputs[i].name, TensorType{shapes[i], ElementType::kFloat32}));
    of_node.push_back({port});
  }
  for (const PatternNode& node : pattern.nodes) {
    REWRIGHT_TRY(auto operands, gather<Port>(of_node, node.inputs, node.op->name()));
    REWRIGHT_TRY(Params params, numbers(node, binding));
    REWRIGHT_TRY(auto out, graph.apply(*node.op, std::move(params), std::move(operands)));
    of_node.push_back(std::move(out));
  }
  for (const Port port : pattern.outputs) {
    REWRIGHT_TRY(const Port* output, at(of_node, port, "the list of outputs"));
    graph.output(*output);
  }
  return graph.finish();
}

}  // namespace rewright
