// What operators write to ONNX: a runtime computes the same from it, and so do the operators that read it back.
#include "contract/operator_checks.h"

#include <rewright/graph/graph.h>
#include <rewright/onnx/onnx.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "onnx/export.h"
#include "onnx/import.h"

namespace rewright::contract {

namespace {

/// The application alone in a graph, with one input per operand.
Result<Graph> graph_of(const Application& application, const Registry& registry) {
  GraphBuilder builder(&registry);
  std::vector<Port> in;
  for (const Shape& shape : application.in) {
    REWRIGHT_TRY(const Port port, builder.input(fmt::format("x{}", in.size()), {shape, ElementType::kFloat32}));
    in.push_back(port);
  }
  REWRIGHT_TRY(const std::vector<Port> ports, builder.apply(*application.op, application.params, in));
  for (const Port& port : ports) builder.output(port);
  return builder.finish();
}

/// Values that float32 holds exactly; none is 0, near which 1/x and log(x) tell rounding errors apart.
std::vector<Tensor<Real>> random_reals(const Application& application, Random& random) {
  return operands<Real>(application,
                        [&](std::size_t) { return Real{static_cast<double>(2 * random.between(-20, 20) + 1) / 16}; });
}

Breach differ(std::span<const Real> expected, std::span<const double> found, const char* where) {
  if (expected.size() != found.size())
    return fmt::format("{} it has {} elements, by its meaning {}", where, found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double a = expected[i].value, b = found[i];
    if (std::isfinite(a) != std::isfinite(b) || std::abs(a - b) > 1e-4 * (1 + std::abs(a)))
      return fmt::format("{} element {} is {}, by its meaning {}", where, i, b, a);
  }
  return std::nullopt;
}

bool is_empty(const Application& application) {
  return std::ranges::any_of(application.in, [](const Shape& shape) { return shape.elements() == 0; });
}

/// The model of the application; nothing if the operator has no ONNX form here (`counts` says so).
Result<std::optional<std::string>> model_of(const Application& application, const Registry& registry, bool& counts) {
  counts = false;
  if (is_empty(application)) return std::optional<std::string>();  // Runtimes disagree on tensors without elements.
  REWRIGHT_TRY(const Graph graph, graph_of(application, registry));
  auto model = export_model(graph);
  if (!model && model.error().code == ErrorCode::kUnsupported) return std::optional<std::string>();
  if (!model) return model.error();
  counts = true;
  return std::optional<std::string>(*std::move(model));
}

}  // namespace

Breach runtime_differs(const Application& application, const Registry& registry, const Runtime& runtime, Random& random,
                       bool& counts) {
  const auto model = model_of(application, registry, counts);
  if (!model) return model.error().message;
  if (!*model) return std::nullopt;
  const auto session = runtime.load(std::as_bytes(std::span(**model)), {});
  if (!session) return "the runtime refuses what it writes to ONNX: " + session.error().message;
  const std::vector<Tensor<Real>> in = random_reals(application, random);
  std::vector<RuntimeTensor> feeds;
  for (const Tensor<Real>& tensor : in) {
    RuntimeTensor& feed = feeds.emplace_back(
        RuntimeTensor{fmt::format("x{}", feeds.size()), {tensor.shape(), ElementType::kFloat32}, {}});
    for (const Real& value : tensor.values()) {
      const auto raw = std::bit_cast<std::array<std::byte, 4>>(static_cast<float>(value.value));
      feed.bytes.insert(feed.bytes.end(), raw.begin(), raw.end());
    }
  }
  const auto results = (*session)->run(feeds);
  if (!results) return "the runtime cannot run what it writes to ONNX: " + results.error().message;
  std::vector<double> found;
  for (const RuntimeTensor& tensor : *results) {
    for (std::size_t at = 0; at + 4 <= tensor.bytes.size(); at += 4) {
      float value = 0;
      std::memcpy(&value, tensor.bytes.data() + at, 4);
      found.push_back(value);
    }
  }
  return differ(run(application, in), found, "in the runtime");
}

Breach does_not_come_back(const Application& application, const Registry& registry, Random& random, bool& counts) {
  const auto model = model_of(application, registry, counts);
  if (!model) return model.error().message;
  if (!*model) return std::nullopt;
  const auto imported = import_model(std::as_bytes(std::span(**model)), registry);
  if (!imported) return "what it writes to ONNX cannot be read back: " + imported.error().message;
  std::vector<Tensor<Real>> values = random_reals(application, random);
  const auto expected = run(application, values);
  const Graph& graph = imported->graph;
  for (const NodeId id : graph.inputs().subspan(values.size())) {  // Weights that the export made.
    const auto& constant = graph.node(id).constant;
    if (constant == nullptr) return "what is read back has an input more";
    const auto reals = to_reals(*constant);
    if (!reals) return std::nullopt;
    Tensor<Real>& weight = values.emplace_back(constant->type.shape);
    for (std::size_t i = 0; i < reals->size(); ++i) weight.values()[i].value = (*reals)[i];
  }
  const auto actual = evaluate<Real>(graph, values);
  if (!actual) {
    counts = false;  // Carried as an opaque node.
    return std::nullopt;
  }
  std::vector<double> found;
  for (const Tensor<Real>& tensor : *actual) {
    for (const Real& value : tensor.values()) found.push_back(value.value);
  }
  return differ(expected, found, "read back from ONNX");
}

}  // namespace rewright::contract
