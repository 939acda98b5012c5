#include "optimize/reference.h"

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <utility>

#include "onnx/external_data.h"
#include "optimize/random_inputs.h"
#include "optimize/rounding.h"

namespace rewright {
namespace {

constexpr double kLargeBytes = 2e8;
/// Evaluations that hold more do not run at the same time.
constexpr double kMostBytesAtOnce = 4e8;
/// Of weights that are kept as numbers.
constexpr std::size_t kMostKeptBytes = 150'000'000;

/// By node: the place of the last node that uses it.
std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.nodes().size(), 0);
  for (std::size_t i = 0; i < last.size(); ++i)
    for (const Port operand : graph.nodes()[i].inputs) last[operand.node.value] = i;
  for (const Port port : graph.outputs()) last[port.node.value] = last.size();
  return last;
}

std::size_t held_bytes(const TensorType& type) {
  const std::size_t size = is_floating(type.element) ? sizeof(Real) : element_size(type.element);
  return size * static_cast<std::size_t>(type.shape.elements());
}

RuntimeTensor runtime_tensor(const ReferenceTensor& tensor, ElementType element) {
  RuntimeTensor made{"", {tensor.type.shape, element}, {}};
  made.bytes = is_floating(tensor.type.element) ? to_bytes(element, tensor.numbers) : tensor.bytes;
  return made;
}

}  // namespace

std::shared_ptr<const ReferenceTensor> ReadWeights::find(const std::shared_ptr<const ConstantData>& constant) const {
  const std::scoped_lock lock(mutex_);
  const auto found = tensors_.find(constant);
  return found == tensors_.end() ? nullptr : found->second;
}

void ReadWeights::keep(std::shared_ptr<const ConstantData> constant, std::shared_ptr<const ReferenceTensor> tensor) {
  const std::size_t bytes = held_bytes(tensor->type);
  const std::scoped_lock lock(mutex_);
  if (tensors_.contains(constant)) return;
  if (bytes_ + bytes > kMostKeptBytes) tensors_.clear(), bytes_ = 0;
  bytes_ += bytes;
  tensors_.emplace(std::move(constant), std::move(tensor));
}

bool ReadWeights::has_room_for(const Graph& graph) {
  std::size_t bytes = 0;
  for (const NodeId id : graph.inputs())
    if (graph.node(id).constant()) bytes += held_bytes(graph.node(id).outputs[0]);
  return bytes <= kMostKeptBytes;
}

// --- one evaluation --------------------------------------------------------------------------------------------

class Evaluation {
 public:
  Evaluation(Reference& reference, const Graph& graph, const ReferenceInputs& inputs, Arithmetic arithmetic)
      : reference_(reference),
        graph_(graph),
        inputs_(inputs),
        arithmetic_(arithmetic),
        keeps_weights_(ReadWeights::has_room_for(graph)),
        last_use_(last_uses(graph)),
        weights_(graph.nodes().size()),
        made_(graph.nodes().size()) {}

  Result<ReferenceRun> run() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      if (graph_.nodes()[i].is_input()) continue;
      REWRIGHT_CHECK(compute(NodeId{i}));
      for (const Port operand : graph_.nodes()[i].inputs)
        if (last_use_[operand.node.value] == i) made_[operand.node.value] = {}, weights_[operand.node.value] = {};
    }
    ReferenceRun run;
    for (const Port port : graph_.outputs()) {
      REWRIGHT_TRY(const ReferenceTensor* tensor, value(port));
      run.outputs.push_back(*tensor);
    }
    run.trouble = std::move(trouble_);
    return run;
  }

 private:
  /// The tensor at a port; inputs are looked up, and weights read, when they are first asked for.
  Result<const ReferenceTensor*> value(Port port) {
    const Node& node = graph_.node(port.node);
    std::vector<ReferenceTensor>& made = made_[port.node.value];
    if (node.is_input() && made.empty()) {
      if (weights_[port.node.value] != nullptr) return weights_[port.node.value].get();
      if (const auto given = inputs_.find(node.name); given != inputs_.end()) return &given->second;
      if (node.is_data()) {
        note(fmt::format("input '{}' has no value", node.name));
        made.resize(1);
      } else {
        REWRIGHT_TRY(weights_[port.node.value], weight_of(node));
        return weights_[port.node.value].get();
      }
    }
    return &made[port.output];
  }

  Result<std::shared_ptr<const ReferenceTensor>> weight_of(const Node& node) {
    if (auto kept = reference_.weights_.find(node.constant()); kept != nullptr) return kept;
    REWRIGHT_TRY(ReferenceTensor read, read_weight(node));
    auto weight = std::make_shared<const ReferenceTensor>(std::move(read));
    if (node.constant() && keeps_weights_) reference_.weights_.keep(node.constant(), weight);
    return std::shared_ptr<const ReferenceTensor>(std::move(weight));
  }

  Result<ReferenceTensor> read_weight(const Node& node) {
    const TensorType& type = node.outputs[0];
    if (node.constant()) {
      if (!is_floating(type.element)) {
        const auto* bytes = std::get_if<std::vector<std::byte>>(&node.constant()->value);
        if (bytes != nullptr) return reference_tensor(type, *bytes);
      }
      REWRIGHT_TRY(std::vector<Real> numbers, to_numbers(*node.constant()));
      return tensor_of(type, std::move(numbers));
    }
    if (reference_.external_ != nullptr) {
      if (const auto lies = reference_.external_->find(node.name); lies != reference_.external_->end()) {
        REWRIGHT_TRY(const std::vector<std::byte> bytes, model::read_external(lies->second));
        return reference_tensor(type, bytes);
      }
    }
    if (!is_floating(type.element)) {
      note(fmt::format("weight '{}' has no value", node.name));
      return ReferenceTensor{};
    }
    REWRIGHT_TRY(std::vector<Real> numbers, to_numbers(random_weight(node.name, type, 1)));
    return ReferenceTensor{type, std::move(numbers), {}};
  }

  Status compute(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<const ReferenceTensor*> operands;
    bool complete = true;
    for (const Port port : node.inputs) {
      REWRIGHT_TRY(const ReferenceTensor* operand, value(port));
      operands.push_back(operand);
      complete = complete && operand->is_there();
    }
    std::vector<ReferenceTensor>& made = made_[id.value];
    if (!complete) {
      made.assign(node.outputs.size(), {});
    } else if (node.application()) {
      made = apply(node, operands);
    } else {
      REWRIGHT_TRY(made, run_bodies(node, operands));
      if (made.empty()) made = run_opaque(node, operands);
    }
    if (arithmetic_ == Arithmetic::kOwn)
      for (ReferenceTensor& tensor : made) round_to(tensor.type.element, tensor.numbers);
    return {};
  }

  static std::vector<ReferenceTensor> apply(const Node& node, std::span<const ReferenceTensor* const> operands) {
    std::vector<TensorView<const Real>> in;
    std::vector<std::vector<Real>> converted(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const ReferenceTensor& operand = *operands[i];
      const bool has_fraction = is_floating(operand.type.element);
      if (!has_fraction) converted[i] = numbers_of(operand);
      in.emplace_back(has_fraction ? operand.numbers.data() : converted[i].data(), operand.type.shape);
    }
    std::vector<std::vector<Real>> results;
    std::vector<TensorView<Real>> out;
    for (const TensorType& type : node.outputs) results.emplace_back(static_cast<std::size_t>(type.shape.elements()));
    for (std::size_t i = 0; i < results.size(); ++i) out.emplace_back(results[i].data(), node.outputs[i].shape);
    const auto& [op, params] = *node.application();
    op->evaluate(params, Inputs<Real>(in), Outputs<Real>(out));
    std::vector<ReferenceTensor> made;
    for (std::size_t i = 0; i < results.size(); ++i) made.push_back(tensor_of(node.outputs[i], std::move(results[i])));
    return made;
  }

  /// Nothing where the node has no bodies that can be computed.
  Result<std::vector<ReferenceTensor>> run_bodies(const Node& node, std::span<const ReferenceTensor* const> operands) {
    if (!reference_.bodies_) return std::vector<ReferenceTensor>();
    const auto evaluate = [&](const Graph& graph, const ReferenceInputs& inputs) -> Result<BodyRunner::Outputs> {
      REWRIGHT_TRY(ReferenceRun run, Evaluation(reference_, graph, inputs, arithmetic_).run());
      if (!run.trouble.empty()) return BodyRunner::Outputs();
      return BodyRunner::Outputs(std::move(run.outputs));
    };
    REWRIGHT_TRY(BodyRunner::Outputs outputs, reference_.bodies_->run(node, operands, evaluate));
    return outputs ? *std::move(outputs) : std::vector<ReferenceTensor>();
  }

  std::vector<ReferenceTensor> run_opaque(const Node& node, std::span<const ReferenceTensor* const> operands) {
    const std::size_t count = node.outputs.size();
    const auto missing = [&](const std::string& why) {
      note(why);
      return std::vector<ReferenceTensor>(count);
    };
    if (!reference_.runner_)
      return missing(fmt::format("no operator knows node '{}', and there is no runtime for it", node.opaque()->type));
    const std::scoped_lock lock(reference_.runner_mutex_);
    std::vector<ElementType> types;
    for (const ReferenceTensor* operand : operands) types.push_back(operand->type.element);
    const auto give = [&](std::size_t i, ElementType element) { return runtime_tensor(*operands[i], element); };
    const bool wide = arithmetic_ == Arithmetic::kExact;
    auto run = reference_.runner_->run(node, types, wide, give);
    if (!run) return missing(run.error().message);
    std::vector<ReferenceTensor> made;
    for (std::size_t i = 0; i < count; ++i) {
      RuntimeTensor& tensor = (*run)[i];
      auto converted = tensor.type.element == ElementType::kUnknown ? Result<ReferenceTensor>(ReferenceTensor{})
                                                                    : reference_tensor(tensor.type, tensor.bytes);
      if (!converted) return missing(converted.error().message);
      made.push_back(*std::move(converted));
      restore_type(node, i, types, give, made.back());
    }
    return made;
  }

  /// A tensor that was computed in double precision is of the type that the model gives it: as the graph says, or as
  /// the node makes it of operands in their own types.
  void restore_type(const Node& node, std::size_t i, std::span<const ElementType> types,
                    const NodeRunner::Operands& give, ReferenceTensor& tensor) {
    if (tensor.type.element != ElementType::kFloat64 || arithmetic_ == Arithmetic::kOwn) return;
    if (is_floating(node.outputs[i].element)) {
      tensor.type.element = node.outputs[i].element;
    } else if (auto own = reference_.runner_->run(node, types, false, give); own) {
      tensor.type.element = (*own)[i].type.element;
    }
  }

  void note(std::string why) {
    if (trouble_.empty()) trouble_ = std::move(why);
  }

  Reference& reference_;
  const Graph& graph_;
  const ReferenceInputs& inputs_;
  const Arithmetic arithmetic_;
  const bool keeps_weights_;
  const std::vector<std::size_t> last_use_;
  std::vector<std::shared_ptr<const ReferenceTensor>> weights_;  ///< By node; null before and after they are used.
  std::vector<std::vector<ReferenceTensor>> made_;  ///< By node; empty before it is computed and after its last use.
  std::string trouble_;
};

Status Reference::set_model(std::string_view model) {
  if (!runner_) return {};
  REWRIGHT_CHECK(runner_->set_model(model));
  return bodies_ ? bodies_->set_frame(runner_->frame()) : Status{};
}

Result<ReferenceRun> Reference::evaluate(const Graph& graph, const ReferenceInputs& inputs, Arithmetic arithmetic) {
  auto run = Evaluation(*this, graph, inputs, arithmetic).run();
  const std::scoped_lock lock(runner_mutex_);
  if (runner_ && holds_much(graph)) runner_->drop_sessions();  // They hold as much as they made.
  return run;
}

Result<ReferenceRuns> Reference::evaluate_both(const Graph& graph, const ReferenceInputs& inputs) {
  Result<ReferenceRun> exact = ReferenceRun{}, own = ReferenceRun{};
  const auto run_exact = [&] { exact = evaluate(graph, inputs, Arithmetic::kExact); };
  const auto run_own = [&] { own = evaluate(graph, inputs, Arithmetic::kOwn); };
  if (evaluation_bytes(graph) <= kMostBytesAtOnce) {
    tbb::parallel_invoke(run_exact, run_own);
  } else {
    run_exact();
    run_own();
  }
  if (!exact) return exact.error();
  if (!own) return own.error();
  return ReferenceRuns{*std::move(exact), *std::move(own)};
}

double evaluation_bytes(const Graph& graph) {
  const std::vector<std::size_t> last = last_uses(graph);
  double held = 0, most = 0;
  const auto size_of = [&](std::size_t i) {
    double bytes = 0;
    for (const TensorType& type : graph.nodes()[i].outputs) bytes += static_cast<double>(held_bytes(type));
    return bytes;
  };
  const auto is_weight = [&](std::size_t i) { return graph.nodes()[i].is_weight(); };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (is_weight(i)) continue;  // Read where it is used.
    std::vector<std::uint32_t> operands;
    for (const Port operand : graph.nodes()[i].inputs) operands.push_back(operand.node.value);
    std::ranges::sort(operands);
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    double weights = 0;
    for (const std::uint32_t operand : operands)
      if (is_weight(operand)) weights += size_of(operand);
    held += size_of(i);
    most = std::max(most, held + weights);
    for (const std::uint32_t operand : operands)
      if (last[operand] == i && !is_weight(operand)) held -= size_of(operand);
  }
  return most;
}

bool holds_much(const Graph& graph) { return evaluation_bytes(graph) > kLargeBytes; }

}  // namespace rewright
