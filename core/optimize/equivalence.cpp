#include "optimize/equivalence.h"

#include <rewright/cost.h>
#include <rewright/onnx.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "onnx/element.h"
#include "onnx/export.h"
#include "optimize/random_inputs.h"
#include "optimize/rebuild.h"

namespace rewright {
namespace {

// --- rounding --------------------------------------------------------------------------------------------------

/// The spacing of numbers at 1.
double spacing(ElementType type) {
  switch (type) {
    case ElementType::kFloat64: return 0x1p-52;
    case ElementType::kFloat16: return 0x1p-10;
    case ElementType::kBFloat16: return 0x1p-7;
    default: return 0x1p-23;
  }
}

// --- graphs ----------------------------------------------------------------------------------------------------

double total_flops(const Graph& graph) {
  double flops = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op == nullptr) continue;
    std::vector<Shape> in;
    for (Port operand : node.inputs) in.push_back(graph.shape(operand));
    flops += node.op->work(node.params, in).flops;
  }
  return flops;
}

/// Numbers that must be given before the graph can be evaluated.
double input_elements(const Graph& graph) {
  double elements = 0;
  for (const NodeId id : graph.inputs()) elements += static_cast<double>(graph.node(id).outputs[0].shape.elements());
  return elements;
}

bool has_opaque(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const Node& node) { return node.opaque != nullptr; });
}

/// By output: the sum of the lengths of the sums along the longest way to it. An operator that makes e elements with
/// f operations sums about f / (2 e) terms in each.
std::vector<double> sum_lengths(const Graph& graph) {
  std::vector<double> length(graph.nodes().size(), 0);
  for (std::size_t i = 0; i < length.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.is_input()) continue;
    for (Port operand : node.inputs) length[i] = std::max(length[i], length[operand.node.value]);
    double own = 1;
    if (node.op != nullptr && !node.outputs.empty()) {
      std::vector<Shape> in;
      for (Port operand : node.inputs) in.push_back(graph.shape(operand));
      const double elements = static_cast<double>(std::max<std::int64_t>(node.outputs[0].shape.elements(), 1));
      own = std::max(1.0, node.op->work(node.params, in).flops / (2 * elements));
    }
    length[i] += own;
  }
  std::vector<double> by_output;
  for (Port port : graph.outputs()) by_output.push_back(length[port.node.value]);
  return by_output;
}

std::string output_name(const Graph& graph, std::size_t i) {
  if (!graph.output_names().empty() && !graph.output_names()[i].empty()) return graph.output_names()[i];
  return fmt::format("number {}", i + 1);
}

/// A sentence if inputs or outputs do not have equal names, shapes and types.
std::string interface_difference(const Graph& original, const Graph& candidate) {
  if (original.inputs().size() != candidate.inputs().size() || original.outputs().size() != candidate.outputs().size())
    return "the graphs differ in their number of inputs or outputs";
  for (std::size_t i = 0; i < original.inputs().size(); ++i) {
    const Node &a = original.node(original.inputs()[i]), &b = candidate.node(candidate.inputs()[i]);
    if (a.name != b.name || a.outputs != b.outputs) return fmt::format("input {} became {}", a.name, b.name);
  }
  for (std::size_t i = 0; i < original.outputs().size(); ++i) {
    const TensorType &a = original.type(original.outputs()[i]), &b = candidate.type(candidate.outputs()[i]);
    if (a != b)
      return fmt::format("output {} has shape {} instead of {} (element types {} and {})", output_name(original, i),
                         b.shape, a.shape, static_cast<int>(b.element), static_cast<int>(a.element));
  }
  return {};
}

/// One number repeated, and more than once.
bool is_uniform(const ConstantData& constant) {
  const std::int64_t elements = constant.type.shape.elements();
  if (elements <= 1) return false;
  const auto* bytes = std::get_if<std::vector<std::byte>>(&constant.value);
  if (bytes == nullptr) return true;
  const std::size_t size = bytes->size() / static_cast<std::size_t>(elements);
  return std::equal(bytes->begin() + static_cast<std::ptrdiff_t>(size), bytes->end(), bytes->begin());
}

/// Names of weights that are uniform and that operators alone use.
std::set<std::string> uniform_weights(const Graph& graph) {
  std::vector<bool> by_opaque(graph.nodes().size(), false);
  for (const Node& node : graph.nodes())
    if (node.opaque)
      for (Port operand : node.inputs) by_opaque[operand.node.value] = true;
  std::set<std::string> names;
  for (NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    if (node.input_kind == InputKind::kWeight && node.constant && is_uniform(*node.constant) &&
        is_floating(node.outputs[0].element) && !by_opaque[id.value])
      names.insert(node.name);
  }
  return names;
}

/// The graph with random values in the named weights; the same for every graph that has weights of these names.
Result<Graph> with_random_weights(const Graph& graph, const std::set<std::string>& names, std::uint64_t seed) {
  return rebuild(graph, {}, [&](const Node& node) -> Result<std::shared_ptr<const ConstantData>> {
    if (!names.contains(node.name)) return node.constant;
    RandomBits random(seed_of(node.name, seed));
    REWRIGHT_TRY(auto bytes, encode(random_weights(node.outputs[0], random), node.outputs[0].element));
    return std::make_shared<const ConstantData>(ConstantData{node.outputs[0], std::move(bytes)});
  });
}

// --- runs ------------------------------------------------------------------------------------------------------

struct Value {
  TensorType type;
  std::vector<double> values;
};
using Values = std::vector<Value>;

/// What decides how far two outputs may lie apart.
struct Limits {
  std::vector<double> lengths;
  std::vector<ElementType> elements;
  const Graph* graph = nullptr;
};

/// Compares the outputs of one run; remembers the worst error.
void compare(const Values& expected, const Values& actual, const Limits& limits, const std::string& run,
             Equivalence& result) {
  for (std::size_t i = 0; i < expected.size() && result.difference.empty(); ++i) {
    const auto &a = expected[i].values, &b = actual[i].values;
    const std::string name = output_name(*limits.graph, i);
    if (expected[i].type.shape != actual[i].type.shape || a.size() != b.size()) {
      result.difference = fmt::format("{}: output {} has shape {} instead of {}", run, name, actual[i].type.shape,
                                      expected[i].type.shape);
      return;
    }
    double scale = 0;
    for (double value : a)
      if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
    const double tolerance = is_floating(expected[i].type.element)
                                 ? 32 * spacing(limits.elements[i]) * std::sqrt(limits.lengths[i]) * scale
                                 : 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]))) continue;
      const double error = std::fabs(a[k] - b[k]);
      if (!(error <= result.max_abs_error)) result.max_abs_error = error, result.tolerance = tolerance;
      if (!(error <= tolerance)) {
        result.difference =
            fmt::format("{}: output {} differs at element {} ({:.9g} instead of {:.9g}; the tolerance is {:.3g})", run,
                        name, k, b[k], a[k], tolerance);
        return;
      }
    }
    if (result.max_abs_error == 0) result.tolerance = std::max(result.tolerance, tolerance);
  }
}

/// The original itself does not run: there is nothing to compare a result with.
Error not_comparable(const Error& error) {
  return make_error(
      error.code,
      "the original model does not run on random inputs here, so no result could be compared with it and "
      "nothing is written ({}); give an input that must have certain values (a shape, an index) as --input "
      "NAME=NUMBERS",
      error.message);
}

Result<Values> run_session(RuntimeSession& session, std::span<const RuntimeTensor> inputs) {
  REWRIGHT_TRY(std::vector<RuntimeTensor> outputs, session.run(inputs));
  Values values;
  for (RuntimeTensor& output : outputs) {
    REWRIGHT_TRY(std::vector<double> numbers, to_reals(ConstantData{output.type, std::move(output.bytes)}));
    values.push_back({output.type, std::move(numbers)});
  }
  return values;
}

std::vector<Tensor<Real>> random_reals(const Graph& graph, std::uint64_t seed, const GivenInputs& given) {
  std::vector<Tensor<Real>> inputs;
  for (NodeId id : graph.inputs()) {
    const Node& node = graph.node(id);
    const TensorType& type = node.outputs[0];
    std::vector<double> values;
    const bool is_number = node.constant && type.shape.elements() <= 1;
    if (is_number) {
      if (auto known = to_reals(*node.constant)) values = *std::move(known);
    }
    if (const auto value = given.find(node.name); value != given.end()) values = spread_out(value->second, type);
    if (values.empty()) {
      RandomBits random(seed_of(node.name, seed));
      values = node.input_kind == InputKind::kWeight ? random_weights(type, random) : random_values(type, random);
    }
    Tensor<Real> tensor(type.shape);
    for (std::size_t k = 0; k < values.size(); ++k) tensor.values()[k] = Real{values[k]};
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Result<Values> run_reference(const Graph& graph, std::uint64_t seed, const GivenInputs& given) {
  REWRIGHT_TRY(std::vector<Tensor<Real>> outputs, evaluate<Real>(graph, random_reals(graph, seed, given)));
  Values values;
  for (const Tensor<Real>& output : outputs) {
    std::vector<double> numbers;
    for (Real value : output.values()) numbers.push_back(value.value);
    values.push_back({{output.shape(), ElementType::kFloat64}, std::move(numbers)});
  }
  return values;
}

}  // namespace

// --- the gate --------------------------------------------------------------------------------------------------

struct EquivalenceGate::State {
  const Graph* original = nullptr;
  EquivalenceOptions options;
  std::string runtime_version;
  bool reference = false;
  std::set<std::string> uniform;
  std::vector<double> lengths;

  struct RuntimeRun {
    std::vector<RuntimeTensor> inputs;
    Values outputs;
  };
  std::vector<RuntimeRun> runs;         ///< With the model's own weights.
  std::vector<RuntimeRun> random_runs;  ///< With random weights.
  std::vector<Values> reference_runs;

  [[nodiscard]] std::uint64_t seed(std::size_t trial) const { return options.seed * 1'000'003 + trial; }
  [[nodiscard]] Result<std::string> model_of(const Graph& graph) const {
    return options.to_model ? options.to_model(graph) : export_model(graph);
  }
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load(const std::string& model) const {
    return options.runtime->load(std::as_bytes(std::span(model)), {options.directory});
  }
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load_randomised(const Graph& graph) const {
    REWRIGHT_TRY(const Graph randomised, with_random_weights(graph, uniform, options.seed));
    REWRIGHT_TRY(const std::string model, model_of(randomised));
    return load(model);
  }

  Status prepare_runtime() {
    REWRIGHT_TRY(runtime_version, options.runtime->version());
    if (options.original_model.empty()) {
      REWRIGHT_TRY(options.original_model, model_of(*original));
    }
    const auto session = load(options.original_model);
    if (!session) return not_comparable(session.error());
    for (int trial = 0; trial < options.trials; ++trial) {
      REWRIGHT_TRY(auto inputs, random_inputs(*original, seed(runs.size()), options.inputs));
      Result<Values> outputs = run_session(**session, inputs);
      if (!outputs) return not_comparable(outputs.error());
      runs.push_back({std::move(inputs), *std::move(outputs)});
    }
    uniform = uniform_weights(*original);
    if (uniform.empty()) return {};
    REWRIGHT_TRY(const auto randomised, load_randomised(*original));
    for (const RuntimeRun& run : runs) {
      REWRIGHT_TRY(Values outputs, run_session(*randomised, run.inputs));
      random_runs.push_back({run.inputs, std::move(outputs)});
    }
    return {};
  }

  Status prepare() {
    REWRIGHT_CHECK(check_given(*original, options.inputs));
    lengths = sum_lengths(*original);
    reference = !has_opaque(*original) && total_flops(*original) <= options.reference_flops &&
                input_elements(*original) <= options.reference_flops;
    if (options.runtime == nullptr && !reference)
      return make_error(ErrorCode::kUnsupported,
                        "the result could not be checked against the original: the graph is too large for the "
                        "reference evaluation or has nodes that no operator knows, and there is no runtime; install "
                        "one (see rewright plugins list) or name it with --runtime");
    if (options.runtime != nullptr) REWRIGHT_CHECK(prepare_runtime());
    if (!reference) return {};
    for (int trial = 0; trial < options.trials; ++trial) {
      REWRIGHT_TRY(Values outputs, run_reference(*original, seed(static_cast<std::size_t>(trial)), options.inputs));
      reference_runs.push_back(std::move(outputs));
    }
    return {};
  }

  void compare_runs(Result<Values> outputs, const Values& expected, const Limits& limits, const std::string& run,
                    Equivalence& result) const {
    if (!outputs) {
      result.difference = fmt::format("{}: the result cannot be run: {}", run, outputs.error().message);
    } else {
      compare(expected, *outputs, limits, run, result);
    }
  }

  Status check_in_runtime(const Graph& candidate, const std::string& model, const Limits& limits,
                          Equivalence& result) const {
    const auto compare_all = [&](RuntimeSession& session, const std::vector<RuntimeRun>& expected,
                                 const std::string& name) {
      for (const RuntimeRun& run : expected)
        if (result.difference.empty())
          compare_runs(run_session(session, run.inputs), run.outputs, limits, name, result);
      result.runs.push_back(
          fmt::format("{}, {} random input{}", name, expected.size(), expected.size() == 1 ? "" : "s"));
    };
    auto session = load(model);
    if (!session) {
      result.difference = fmt::format("{} refuses the result: {}", runtime_version, session.error().message);
      return {};
    }
    compare_all(**session, runs, runtime_version);
    if (random_runs.empty() || !result.difference.empty()) return {};
    REWRIGHT_TRY(const auto randomised, load_randomised(candidate));
    compare_all(*randomised, random_runs, runtime_version + " with random weights");
    return {};
  }

  [[nodiscard]] Result<Equivalence> check(const Graph& candidate, std::string model) const {
    Equivalence result;
    result.difference = interface_difference(*original, candidate);
    if (!result.difference.empty()) return result;

    Limits limits{sum_lengths(candidate), {}, original};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      limits.lengths[i] = std::max(limits.lengths[i], lengths[i]);
      limits.elements.push_back(original->type(original->outputs()[i]).element);
    }
    if (options.runtime != nullptr) {
      if (model.empty()) {
        REWRIGHT_TRY(model, model_of(candidate));
      }
      REWRIGHT_CHECK(check_in_runtime(candidate, model, limits, result));
    }
    if (reference && result.difference.empty()) {
      limits.elements.assign(lengths.size(), ElementType::kFloat64);
      for (std::size_t trial = 0; trial < reference_runs.size() && result.difference.empty(); ++trial)
        compare_runs(run_reference(candidate, seed(trial), options.inputs), reference_runs[trial], limits,
                     "reference evaluation", result);
      result.runs.push_back(fmt::format("reference evaluation in double precision, {} random input{} and weights",
                                        reference_runs.size(), reference_runs.size() == 1 ? "" : "s"));
    }
    result.equal = result.difference.empty() && !result.runs.empty();
    return result;
  }
};

EquivalenceGate::EquivalenceGate(std::unique_ptr<State> state) : state_(std::move(state)) {}
EquivalenceGate::EquivalenceGate(EquivalenceGate&&) noexcept = default;
EquivalenceGate::~EquivalenceGate() = default;

Result<EquivalenceGate> EquivalenceGate::create(const Graph& original, EquivalenceOptions options) {
  auto state = std::make_unique<State>();
  state->original = &original;
  state->options = std::move(options);
  REWRIGHT_CHECK(state->prepare());
  return EquivalenceGate(std::move(state));
}

Result<Equivalence> EquivalenceGate::check(const Graph& candidate, const std::string& model) const {
  return state_->check(candidate, model);
}

Result<std::size_t> find_culprit(std::size_t rewrites, const std::function<Result<bool>(std::size_t)>& is_equal,
                                 std::string_view difference) {
  REWRIGHT_TRY(const bool end, is_equal(rewrites));
  if (end)
    return make_error(ErrorCode::kInternal, "the result differs from the original ({}), though every rewrite is equal",
                      difference);
  REWRIGHT_TRY(const bool start, is_equal(0));
  if (!start)
    return make_error(ErrorCode::kInternal,
                      "the model differs from the original before any rewrite, so import or export are at fault: {}",
                      difference);
  std::size_t equal = 0, unequal = rewrites;
  while (unequal - equal > 1) {
    const std::size_t middle = equal + (unequal - equal) / 2;
    REWRIGHT_TRY(const bool same, is_equal(middle));
    (same ? equal : unequal) = middle;
  }
  return equal;
}

}  // namespace rewright
