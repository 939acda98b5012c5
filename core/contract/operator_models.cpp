#include "contract/operator_models.h"

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

bool is_empty(const Application& application) {
  return std::ranges::any_of(application.in, [](const Shape& shape) { return shape.elements() == 0; });
}

RuntimeTensor feed_of(const Tensor<Real>& tensor, std::size_t position) {
  RuntimeTensor feed{fmt::format("x{}", position), {tensor.shape(), ElementType::kFloat32}, {}};
  for (const Real& value : tensor.values()) {
    const auto raw = std::bit_cast<std::array<std::byte, 4>>(static_cast<float>(value.value));
    feed.bytes.insert(feed.bytes.end(), raw.begin(), raw.end());
  }
  return feed;
}

}  // namespace

std::vector<Tensor<Real>> random_reals(const Application& application, Random& random) {
  return operands<Real>(application,
                        [&](std::size_t) { return Real{static_cast<double>(2 * random.between(-20, 20) + 1) / 16}; });
}

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

Result<std::vector<double>> run_in(const Runtime& runtime, std::string_view model,
                                   const std::vector<Tensor<Real>>& in) {
  REWRIGHT_TRY(const auto session, runtime.load(std::as_bytes(std::span(model)), {}));
  std::vector<RuntimeTensor> feeds;
  for (const Tensor<Real>& tensor : in) feeds.push_back(feed_of(tensor, feeds.size()));
  REWRIGHT_TRY(const std::vector<RuntimeTensor> results, session->run(feeds));
  std::vector<double> found;
  for (const RuntimeTensor& tensor : results) {
    for (std::size_t at = 0; at + 4 <= tensor.bytes.size(); at += 4) {
      float value = 0;
      std::memcpy(&value, tensor.bytes.data() + at, 4);
      found.push_back(value);
    }
  }
  return found;
}

Result<std::optional<std::vector<double>>> run_read(std::string_view model, const Registry& registry,
                                                    std::vector<Tensor<Real>> in) {
  REWRIGHT_TRY(const ImportedModel imported, import_model(std::as_bytes(std::span(model)), registry));
  const Graph& graph = imported.graph;
  for (const NodeId id : graph.inputs().subspan(in.size())) {  // Weights that the export made.
    const auto& constant = graph.node(id).constant();
    if (constant == nullptr) return make_error(ErrorCode::kMismatch, "what is read back has an input more");
    const auto reals = to_reals(*constant);
    if (!reals) return std::optional<std::vector<double>>();
    Tensor<Real>& weight = in.emplace_back(constant->type.shape);
    for (std::size_t i = 0; i < reals->size(); ++i) weight.values()[i].value = (*reals)[i];
  }
  const auto actual = evaluate<Real>(graph, in);
  if (!actual) return std::optional<std::vector<double>>();  // Carried as an opaque node.
  std::vector<double> found;
  for (const Tensor<Real>& tensor : *actual) {
    for (const Real& value : tensor.values()) found.push_back(value.value);
  }
  return std::optional(std::move(found));
}

Breach differ(std::span<const double> expected, std::span<const double> found, std::string_view where,
              std::string_view by) {
  if (expected.size() != found.size())
    return fmt::format("{} it has {} elements, {} {}", where, found.size(), by, expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double a = expected[i], b = found[i];
    if (std::isfinite(a) != std::isfinite(b) || std::abs(a - b) > 1e-4 * (1 + std::abs(a)))
      return fmt::format("{} element {} is {}, {} {}", where, i, b, by, a);
  }
  return std::nullopt;
}

}  // namespace rewright::contract
