#include "onnx/fold.h"

#include <rewright/onnx.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "onnx/element.h"
#include "onnx/external_data.h"

namespace rewright::model {
namespace {

/// No single value of more elements is computed here: 2 GiB in double precision.
constexpr std::int64_t kMostFoldedElements = std::int64_t{1} << 28;
/// Nor do all of them take more: they are part of the model's file, of 2 GiB at most.
constexpr std::int64_t kMostHeldBytes = std::int64_t{3} << 29;

ConstantData rounded(const TensorType& type, const Tensor<Real>& tensor) {
  std::vector<double> values(tensor.values().size());
  std::transform(tensor.values().begin(), tensor.values().end(), values.begin(), [](Real x) { return x.value; });
  std::vector<std::byte> bytes = encode(type.element, values);
  const std::size_t size = element_size(type.element);
  const bool repeated = values.size() > 1 && std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
  if (repeated) return {type, read_element(type.element, bytes.data())};
  return {type, std::move(bytes)};
}

class Folder {
 public:
  Folder(const Graph& graph, const std::map<std::string, ExternalWeight>& external, const ExportOptions& options)
      : graph_(graph),
        external_(external),
        options_(options),
        known_(graph.nodes().size(), false),
        users_(graph.nodes().size(), 0),
        values_(graph.nodes().size()) {}

  Result<Folding> run();

 private:
  void find_known();
  [[nodiscard]] std::vector<std::uint32_t> cone(std::uint32_t node) const;
  [[nodiscard]] std::string refuse(const std::vector<std::uint32_t>& cone) const;
  Status compute(std::uint32_t node);
  [[nodiscard]] Result<Tensor<Real>> value_of(const Node& input) const;
  [[nodiscard]] std::int64_t size_in_file(const Node& input) const;
  void drop(const std::vector<std::uint32_t>& cone);
  bool keep(std::uint32_t node, const std::vector<std::uint32_t>& cone, Folding& folding);

  const Graph& graph_;
  const std::map<std::string, ExternalWeight>& external_;
  const ExportOptions& options_;
  std::vector<bool> known_;           ///< By node: a weight with a value, or an application on such alone.
  std::vector<std::uint32_t> users_;  ///< By node: how many use it.
  std::vector<std::vector<Tensor<Real>>> values_;
  std::set<std::uint32_t> replaced_;  ///< Weights that a folded value stands for.
  std::int64_t added_bytes_ = 0;
  std::int64_t held_bytes_ = 0;  ///< Of folded values.
  double flops_ = 0;
};

void Folder::find_known() {
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const Node& node = graph_.nodes()[i];
    for (const Port& port : node.inputs) ++users_[port.node.value];
    if (node.is_input()) {
      known_[i] = external_.contains(node.name) ||
                  (node.input_kind == InputKind::kWeight && node.constant && is_floating(node.constant->type.element));
    } else if (node.op != nullptr) {
      known_[i] = std::all_of(node.inputs.begin(), node.inputs.end(), [&](Port p) { return known_[p.node.value]; });
    }
  }
}

/// The node and all that it is computed from, operands first.
std::vector<std::uint32_t> Folder::cone(std::uint32_t node) const {
  std::set<std::uint32_t> seen = {node};
  std::vector<std::uint32_t> waiting = {node};
  while (!waiting.empty()) {
    const std::uint32_t at = waiting.back();
    waiting.pop_back();
    for (const Port& port : graph_.nodes()[at].inputs) {
      if (seen.insert(port.node.value).second) waiting.push_back(port.node.value);
    }
  }
  return {seen.begin(), seen.end()};
}

/// Why the nodes are not computed here; empty if they are.
std::string Folder::refuse(const std::vector<std::uint32_t>& cone) const {
  double flops = flops_;
  for (const std::uint32_t i : cone) {
    const Node& at = graph_.nodes()[i];
    for (const TensorType& type : at.outputs) {
      if (type.shape.elements() > kMostFoldedElements) return fmt::format("has a tensor of shape {}", type.shape);
    }
    if (at.op == nullptr || !values_[i].empty()) continue;
    std::vector<Shape> shapes;
    for (const Port& port : at.inputs) shapes.push_back(graph_.shape(port));
    flops += at.op->work(at.params, shapes).flops;
  }
  if (flops > options_.fold_flops) return fmt::format("takes {:.1e} floating-point operations", flops - flops_);
  return {};
}

Result<Tensor<Real>> Folder::value_of(const Node& input) const {
  std::shared_ptr<const ConstantData> constant = input.constant;
  if (const auto lies = external_.find(input.name); lies != external_.end()) {
    REWRIGHT_TRY(std::vector<std::byte> bytes, read_external(lies->second));
    constant = std::make_shared<ConstantData>(ConstantData{lies->second.type, std::move(bytes)});
  }
  REWRIGHT_TRY(const std::vector<double> numbers, to_reals(*constant));
  Tensor<Real> tensor(constant->type.shape);
  std::transform(numbers.begin(), numbers.end(), tensor.values().begin(), [](double x) { return Real{x}; });
  return tensor;
}

std::int64_t Folder::size_in_file(const Node& input) const {
  const auto lies = external_.find(input.name);
  return lies == external_.end() ? stored_bytes(*input.constant) : static_cast<std::int64_t>(lies->second.bytes);
}

/// Values that no other cone can need: weights are read again, what one node alone uses is in no other.
void Folder::drop(const std::vector<std::uint32_t>& cone) {
  for (const std::uint32_t i : cone)
    if (graph_.nodes()[i].is_input() || users_[i] <= 1) values_[i].clear();
}

Status Folder::compute(std::uint32_t i) {
  if (!values_[i].empty()) return {};
  const Node& node = graph_.nodes()[i];
  if (node.is_input()) {
    REWRIGHT_TRY(Tensor<Real> tensor, value_of(node));
    values_[i].push_back(std::move(tensor));
    return {};
  }
  std::vector<Shape> shapes;
  std::vector<TensorView<const Real>> in;
  for (const Port& port : node.inputs) {
    shapes.push_back(graph_.shape(port));
    in.push_back(std::as_const(values_[port.node.value][port.output]).view());
  }
  std::vector<Tensor<Real>> results;
  for (const TensorType& type : node.outputs) results.emplace_back(type.shape);
  std::vector<TensorView<Real>> out;
  for (Tensor<Real>& result : results) out.push_back(result.view());
  node.op->evaluate(node.params, in, out);
  flops_ += node.op->work(node.params, shapes).flops;
  values_[i] = std::move(results);
  return {};
}

/// Takes the node's values over, unless they make the file too large.
bool Folder::keep(std::uint32_t i, const std::vector<std::uint32_t>& cone, Folding& folding) {
  std::int64_t bytes = added_bytes_;
  std::vector<ConstantData> values;
  const Node& node = graph_.nodes()[i];
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    values.push_back(rounded(node.outputs[k], values_[i][k]));
    bytes += stored_bytes(values.back());
  }
  std::vector<std::uint32_t> weights;
  for (const std::uint32_t at : cone) {
    if (!graph_.nodes()[at].is_input() || replaced_.contains(at)) continue;
    weights.push_back(at);
    bytes -= size_in_file(graph_.nodes()[at]);
  }
  std::int64_t held = held_bytes_;
  for (const ConstantData& value : values) held += stored_bytes(value);
  if (bytes > options_.fold_bytes || held > kMostHeldBytes) return false;
  added_bytes_ = bytes, held_bytes_ = held;
  replaced_.insert(weights.begin(), weights.end());
  for (std::uint32_t k = 0; k < values.size(); ++k) folding.values.emplace(Port{NodeId{i}, k}, std::move(values[k]));
  return true;
}

Result<Folding> Folder::run() {
  find_known();
  Folding folding;
  folding.at_run_time.assign(graph_.nodes().size(), false);
  std::vector<bool> needed(graph_.nodes().size(), false);
  for (const Port& port : graph_.outputs()) needed[port.node.value] = true;
  // From the outputs backwards: of work on weights, only the last step of each chain is seen, and computed whole.
  for (auto i = static_cast<std::uint32_t>(graph_.nodes().size()); i-- > 0;) {
    const Node& node = graph_.nodes()[i];
    if (!needed[i] || node.is_input()) continue;
    if (known_[i]) {
      const std::vector<std::uint32_t> steps = cone(i);
      std::string reason = refuse(steps);
      if (reason.empty()) {
        for (const std::uint32_t step : steps) REWRIGHT_CHECK(compute(step));
        const bool kept = keep(i, steps, folding);
        drop(steps);
        if (kept) continue;
        reason = fmt::format("would add more than {} MiB to the file", options_.fold_bytes >> 20);
      }
      if (options_.note) {
        options_.note(fmt::format("work on weights stays in the model: {} of shape {} {}", node.op->name(),
                                  node.outputs.front().shape, reason));
      }
    }
    folding.at_run_time[i] = true;
    for (const Port& port : node.inputs) needed[port.node.value] = true;
  }
  return folding;
}

}  // namespace

Result<Folding> fold(const Graph& graph, const std::map<std::string, ExternalWeight>& external,
                     const ExportOptions& options) {
  return Folder(graph, external, options).run();
}

}  // namespace rewright::model
