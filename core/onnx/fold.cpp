#include "onnx/fold.h"

#include <rewright/onnx/onnx.h>

#include <tbb/parallel_for.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

#include "onnx/element.h"
#include "onnx/external_data.h"
#include "onnx/lossy.h"

namespace rewright::model {
namespace {

/// No single value of more elements is computed here: 2 GiB in double precision.
constexpr std::int64_t kMostFoldedElements = std::int64_t{1} << 28;
/// Nor do all of them take more: they are part of the model's file, of 2 GiB at most.
constexpr std::int64_t kMostHeldBytes = std::int64_t{3} << 29;
/// What is computed side by side has no more elements, operands and all steps in between: 256 MiB in double precision.
constexpr std::int64_t kMostElementsAtOnce = std::int64_t{1} << 25;

/// True for several elements of `size` bytes that are all the same.
bool is_repeated(std::span<const std::byte> bytes, std::size_t size) {
  return bytes.size() > size && std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

ConstantData rounded(const TensorType& type, const Tensor<Real>& tensor) {
  const bool is_one_number = is_repeated(std::as_bytes(std::span(tensor.values())), sizeof(Real));
  std::vector<double> values(is_one_number ? 1 : tensor.values().size());
  std::transform(tensor.values().begin(), tensor.values().begin() + static_cast<std::ptrdiff_t>(values.size()),
                 values.begin(), [](Real x) { return x.value; });
  std::vector<std::byte> bytes = encode(type.element, values);
  if (is_one_number || is_repeated(bytes, element_size(type.element)))
    return {type, read_element(type.element, bytes.data())};
  return {type, std::move(bytes)};
}

/// By node: a hash of all that it is computed from, inputs by name. Equal work has equal hashes in every graph.
std::vector<std::uint64_t> hashes_of_work(const Graph& graph) {
  std::vector<std::uint64_t> hashes;
  for (const Node& node : graph.nodes()) {
    std::string key = node.is_input() ? "input " + node.name
                      : node.opaque() ? node.opaque()->serialized
                                      : to_string(*node.application());
    for (const Port& port : node.inputs) key += fmt::format(" {:x}.{}", hashes[port.node.value], port.output);
    hashes.push_back(XXH3_64bits(key.data(), key.size()));
  }
  return hashes;
}

}  // namespace

Folder::Folder(const Graph& graph, const ImportedModel& origin, const ExportOptions& options)
    : graph_(graph),
      external_(origin.external),
      options_(options),
      known_(graph.nodes().size(), false),
      users_(graph.nodes().size(), 0),
      was_there_(graph.nodes().size(), false),
      overflows_(graph.nodes().size(), 0),
      values_(graph.nodes().size()) {
  find_known();
  const Graph& before = origin.origin.nodes.empty() ? graph : origin.graph;
  const std::vector<std::uint64_t> work = hashes_of_work(graph), known = hashes_of_work(before);
  const std::unordered_set<std::uint64_t> there(known.begin(), known.end());
  for (std::size_t i = 0; i < work.size(); ++i) was_there_[i] = there.contains(work[i]);
  plan_batches();
}

void Folder::find_known() {
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const Node& node = graph_.nodes()[i];
    for (const Port& port : node.inputs) ++users_[port.node.value];
    if (node.is_input()) {
      known_[i] = external_.contains(node.name) || (node.constant() && is_floating(node.constant()->type.element));
    } else if (node.application() && !options_.as_written) {
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

double Folder::flops_of(std::uint32_t node) const {
  const Node& at = graph_.nodes()[node];
  std::vector<Shape> shapes;
  for (const Port& port : at.inputs) shapes.push_back(graph_.shape(port));
  return at.application()->op->work(at.application()->params, shapes).flops;
}

/// Where all work on weights is within the limit, so that the order of it does not matter.
void Folder::plan_batches() {
  std::vector<bool> is_last = known_;  // Of known work: nothing known is computed from it.
  double flops = 0;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const Node& node = graph_.nodes()[i];
    is_last[i] = is_last[i] && node.application();
    if (!known_[i] || !node.application()) continue;
    flops += flops_of(i);
    for (const Port& port : node.inputs) is_last[port.node.value] = false;
  }
  if (flops > options_.fold_flops) return;
  std::vector<bool> is_taken(graph_.nodes().size(), false);
  std::int64_t at_once = 0;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    if (!is_last[i]) continue;
    const std::vector<std::uint32_t> steps = cone(i);
    std::int64_t elements = 0;
    for (const std::uint32_t step : steps)
      for (const TensorType& type : graph_.nodes()[step].outputs) elements += type.shape.elements();
    if (elements > kMostElementsAtOnce || std::ranges::any_of(steps, [&](std::uint32_t at) { return is_taken[at]; }))
      continue;
    for (const std::uint32_t step : steps) is_taken[step] = true;
    if (batches_.empty() || at_once + elements > kMostElementsAtOnce) batches_.emplace_back(), at_once = 0;
    at_once += elements;
    batch_of_.emplace(i, batches_.size() - 1);
    batches_.back().push_back(i);
  }
}

/// Why the nodes are not computed here; empty if they are.
std::string Folder::refuse(const std::vector<std::uint32_t>& cone) const {
  double flops = flops_;
  for (const std::uint32_t i : cone) {
    const Node& at = graph_.nodes()[i];
    for (const TensorType& type : at.outputs) {
      if (type.shape.elements() > kMostFoldedElements) return fmt::format("has a tensor of shape {}", type.shape);
    }
    if (at.application() && values_[i].empty()) flops += flops_of(i);
  }
  if (flops > options_.fold_flops) return fmt::format("takes {:.1e} floating-point operations", flops - flops_);
  return {};
}

Result<Tensor<Real>> Folder::value_of(const Node& input) const {
  std::shared_ptr<const ConstantData> constant = input.constant();
  if (const auto lies = external_.find(input.name); lies != external_.end()) {
    REWRIGHT_TRY(std::vector<std::byte> bytes, read_external(lies->second));
    constant = std::make_shared<ConstantData>(ConstantData{lies->second.type, std::move(bytes)});
  }
  const Shape& shape = constant->type.shape;
  if (const auto* number = std::get_if<double>(&constant->value))
    return Tensor<Real>(shape, std::vector<Real>(static_cast<std::size_t>(shape.elements()), Real{*number}));
  REWRIGHT_TRY(const std::vector<double> numbers, to_reals(*constant));
  Tensor<Real> tensor(shape);
  std::transform(numbers.begin(), numbers.end(), tensor.values().begin(), [](double x) { return Real{x}; });
  return tensor;
}

std::int64_t Folder::size_in_file(const Node& input) const {
  const auto lies = external_.find(input.name);
  return lies == external_.end() ? stored_bytes(*input.constant()) : static_cast<std::int64_t>(lies->second.bytes);
}

/// Values that no other cone can need: weights are read again, what one node alone uses is in no other.
void Folder::drop(const std::vector<std::uint32_t>& cone) {
  for (const std::uint32_t i : cone)
    if (graph_.nodes()[i].is_input() || users_[i] <= 1) values_[i].clear();
}

Status Folder::compute_batch(std::uint32_t node) {
  const auto batch = batch_of_.find(node);
  if (batch == batch_of_.end()) return {};
  const std::vector<std::uint32_t> lasts = std::exchange(batches_[batch->second], {});
  std::vector<Status> done(lasts.size());
  tbb::parallel_for(std::size_t{0}, lasts.size(), [&](std::size_t k) {
    for (const std::uint32_t step : cone(lasts[k]))
      if (done[k]) done[k] = compute(step);
  });
  for (const std::uint32_t last : lasts)
    for (const std::uint32_t step : cone(last))
      if (graph_.nodes()[step].application()) flops_ += flops_of(step);
  for (Status& each : done) REWRIGHT_CHECK(std::move(each));
  return {};
}

Status Folder::compute(std::uint32_t i) {
  if (!values_[i].empty()) return {};
  const Node& node = graph_.nodes()[i];
  if (node.is_input()) {
    REWRIGHT_TRY(Tensor<Real> tensor, value_of(node));
    values_[i].push_back(std::move(tensor));
    return {};
  }
  std::vector<TensorView<const Real>> in;
  for (const Port& port : node.inputs) in.push_back(std::as_const(values_[port.node.value][port.output]).view());
  std::vector<Tensor<Real>> results;
  for (const TensorType& type : node.outputs) results.emplace_back(type.shape);
  std::vector<TensorView<Real>> out;
  for (Tensor<Real>& result : results) out.push_back(result.view());
  std::feclearexcept(FE_OVERFLOW | FE_UNDERFLOW);
  const auto& [op, params] = *node.application();
  op->evaluate(params, in, out);
  overflows_[i] = std::fetestexcept(FE_OVERFLOW | FE_UNDERFLOW) != 0;
  values_[i] = std::move(results);
  return {};
}

/// What the node's own values lose, in words; empty if nothing. Subnormal numbers that a weight brings along are the
/// model's own: filters that training left dead have them.
std::string Folder::loss_of(std::uint32_t i, const std::vector<std::uint32_t>& cone) const {
  const Node& node = graph_.nodes()[i];
  const std::string& name = node.application()->op->name();
  const auto says = [&](double exact, double kept) {
    return fmt::format("{} of shape {}, work on weights, loses numbers in {}: {:.3g} becomes {:.3g}", name,
                       node.outputs.front().shape, name_of_floating(node.outputs.front().element), exact, kept);
  };
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const TensorType& type = node.outputs[k];
    const auto loss = loss_in(type.element, type.shape, values_[i][k].values());
    if (!loss) continue;
    const bool own = std::isfinite(loss->rounded) && std::ranges::any_of(cone, [&](std::uint32_t at) {
                       const Node& weight = graph_.nodes()[at];
                       return weight.is_input() && graph_.shape({NodeId{at}, 0}).rank() > 1 &&
                              has_subnormals(weight.outputs.front().element, values_[at].front().values());
                     });
    if (!own) return says(loss->exact, loss->rounded);
  }
  if (!overflows_[i]) return {};
  return fmt::format("{} of shape {}, work on weights, leaves the range of double precision", name,
                     node.outputs.front().shape);
}

/// Of computed steps, the last of which is the result: those that lose numbers, and what is computed from these, are
/// unknown from now on, so that the run computes them.
void Folder::forget_lossy(const std::vector<std::uint32_t>& cone) {
  if (options_.fast_math) return;
  for (const std::uint32_t i : cone) {
    const Node& node = graph_.nodes()[i];
    if (!node.application()) continue;
    known_[i] =
        known_[i] && std::ranges::all_of(node.inputs, [&](const Port& port) { return known_[port.node.value]; });
    if (!known_[i] || (!was_there_[i] && i != cone.back())) continue;
    const std::string loss = loss_of(i, cone);
    if (loss.empty()) continue;
    known_[i] = false;
    if (!was_there_[i] && options_.lost) options_.lost(loss);
  }
}

/// Takes the node's values over, unless they make the file too large.
bool Folder::keep(std::uint32_t i, const std::vector<std::uint32_t>& cone) {
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
  for (std::uint32_t k = 0; k < values.size(); ++k) folded_.emplace(Port{NodeId{i}, k}, std::move(values[k]));
  return true;
}

Result<bool> Folder::fold(NodeId id) {
  const std::uint32_t i = id.value;
  if (folded_.contains(Port{id, 0})) return true;
  if (left_.contains(i) || !known_[i]) return false;
  const std::vector<std::uint32_t> steps = cone(i);
  std::string reason = refuse(steps);
  if (reason.empty()) {
    REWRIGHT_CHECK(compute_batch(i));
    for (const std::uint32_t step : steps) {
      if (values_[step].empty() && graph_.nodes()[step].application()) flops_ += flops_of(step);
      REWRIGHT_CHECK(compute(step));
    }
    forget_lossy(steps);
    const bool kept = known_[i] && keep(i, steps);
    drop(steps);
    if (kept) return true;
    if (!known_[i]) return false;
    reason = fmt::format("would add more than {} MiB to the file", options_.fold_bytes >> 20);
  }
  left_.insert(i);
  if (options_.note) {
    const Node& node = graph_.node(id);
    options_.note(fmt::format("work on weights stays in the model: {} of shape {} {}", node.application()->op->name(),
                              node.outputs.front().shape, reason));
  }
  return false;
}

}  // namespace rewright::model
