#include "optimize/equivalence.h"

#include <tbb/task_group.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "optimize/gate_state.h"
#include "optimize/output_structure.h"
#include "optimize/rounding.h"

namespace rewright {
namespace {

using Tensors = std::vector<ReferenceTensor>;

/// Multiples of the noise floor that are allowed:
constexpr double kExactMultiple = 1;     ///< between outputs in exact arithmetic;
constexpr double kRoundedMultiple = 8;   ///< between a rounded output and the original's exact one;
constexpr double kRuntimeMultiple = 32;  ///< between two of the runtime, where there is no exact one.

bool is_known(const TensorType& type) { return type.element != ElementType::kUnknown; }

std::vector<const Node*> data_inputs(const Graph& graph) {
  std::vector<const Node*> inputs;
  for (const NodeId id : graph.inputs())
    if (graph.node(id).is_data()) inputs.push_back(&graph.node(id));
  return inputs;
}

/// A sentence if inputs or outputs do not have equal names, shapes and types, as far as those are known.
std::string interface_difference(const Graph& original, const Graph& candidate) {
  const auto before = data_inputs(original), after = data_inputs(candidate);
  if (before.size() != after.size() || original.outputs().size() != candidate.outputs().size())
    return "the graphs differ in their number of inputs or outputs";
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i]->name != after[i]->name || before[i]->outputs != after[i]->outputs)
      return fmt::format("input {} became {}", before[i]->name, after[i]->name);
  for (std::size_t i = 0; i < original.outputs().size(); ++i) {
    const TensorType &a = original.type(original.outputs()[i]), &b = candidate.type(candidate.outputs()[i]);
    if (is_known(a) && is_known(b) && a != b)
      return fmt::format("output {} has shape {} instead of {} (element types {} and {})", output_name(original, i),
                         b.shape, a.shape, static_cast<int>(b.element), static_cast<int>(a.element));
  }
  return {};
}

/// "evaluation in double precision, batch=2, inputs times 1024".
std::string words_of(const std::string& way, const std::string& sizes, const std::string& inputs) {
  return way + (sizes.empty() ? "" : ", " + sizes) + (inputs.empty() ? "" : ", " + inputs);
}

// --- one check -------------------------------------------------------------------------------------------------

class Check {
 public:
  Check(const GateState& state, const Graph& candidate, const std::string& model)
      : state_(state), candidate_(candidate), model_(model) {}

  Result<Equivalence> run() {
    if (!state_.reason.empty()) {
      result_.reason = state_.reason;
      return result_;
    }
    result_.difference = interface_difference(state_.original(), candidate_);
    if (goes_on() && state_.options.runtime != nullptr) REWRIGHT_CHECK(write());
    if (goes_on()) REWRIGHT_CHECK(read_back());
    if (goes_on()) REWRIGHT_CHECK(evaluate_all());
    const bool is_equal_in_double = goes_on() && state_.is_evaluated_as_given && compared_ > 0;
    if (goes_on()) REWRIGHT_CHECK(run_levels_beside_evaluation());
    if (is_equal_in_double && !goes_on()) result_.is_rounding = true;
    if (goes_on()) REWRIGHT_CHECK(check_randomised());
    if (goes_on()) check_missing();
    conclude();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool goes_on() const { return result_.difference.empty() && result_.reason.empty(); }
  [[nodiscard]] bool is_evaluated() const { return state_.is_evaluated; }

  Status write() {
    if (model_.empty()) {
      REWRIGHT_TRY(model_, state_.model_of(candidate_));
    }
    return state_.is_evaluated ? state_.reference->set_model(model_) : Status{};
  }

  /// What was written, at the sizes of every case; or the candidate, at those of the first.
  Status read_back() {
    if (!state_.options.from_model || model_.empty()) return {};
    for (std::size_t i = 0; i < state_.cases.size() && goes_on(); ++i) {
      REWRIGHT_TRY(Graph graph, state_.options.from_model(model_, i));
      result_.difference = interface_difference(*state_.cases[i].graph, graph);
      result_.case_index = i;
      written_.push_back(std::move(graph));
    }
    return {};
  }

  /// The candidate at the sizes of a case; null where it is not known.
  [[nodiscard]] const Graph* at_case(std::size_t i) const {
    if (!written_.empty()) return &written_[i];
    return i == 0 ? &candidate_ : nullptr;
  }

  [[nodiscard]] std::string words(const std::string& way, const GateSetting& setting) const {
    return words_of(way, state_.cases[setting.case_index].name, setting.words);
  }

  // --- by evaluation ---------------------------------------------------------------------------------------------

  Status evaluate_all() {
    std::size_t inputs = 0;
    std::vector<std::size_t> sizes;
    for (const Expected& expected : state_.expected) {
      const Graph* graph = at_case(expected.setting.case_index);
      if (!state_.is_evaluated_as_given || graph == nullptr || !goes_on()) continue;
      REWRIGHT_CHECK(evaluate(*graph, expected, words("evaluation in double precision", expected.setting)));
      ++inputs;
      if (std::ranges::find(sizes, expected.setting.case_index) == sizes.end())
        sizes.push_back(expected.setting.case_index);
    }
    if (inputs == 0 || compared_ == 0) return {};
    result_.runs.push_back(fmt::format("evaluation in double precision, {} random input{}{}", inputs,
                                       inputs == 1 ? "" : "s",
                                       sizes.size() > 1 ? fmt::format(" at {} sizes", sizes.size()) : ""));
    return {};
  }

  Status evaluate(const Graph& graph, const Expected& expected, const std::string& run) {
    reports_ = expected.setting.draw.scale == 1;
    result_.case_index = expected.setting.case_index;
    has_infinities_ = expected.setting.draw.infinite || expected.setting.draw.scale == 0;
    REWRIGHT_TRY(const ReferenceInputs inputs, state_.reference_inputs(expected));
    REWRIGHT_TRY(const ReferenceRuns both, state_.reference->evaluate_both(graph, inputs));
    for (std::size_t i = 0; i < expected.outputs.size() && goes_on(); ++i)
      if (expected.outputs[i].is_exact) compare_exact(expected.outputs[i], both.exact.outputs[i], i, run);
    if (!goes_on()) return {};
    const std::string rounded = words("the model's own arithmetic", expected.setting);
    for (std::size_t i = 0; i < expected.outputs.size() && goes_on(); ++i)
      if (expected.outputs[i].is_exact && expected.outputs[i].has_own)
        compare_rounded(expected.outputs[i], both.own.outputs[i], i, rounded);
    result_.is_rounding = !goes_on();
    return {};
  }

  void compare_exact(const ExpectedOutput& expected, const ReferenceTensor& actual, std::size_t i,
                     const std::string& run, double multiple = kExactMultiple) {
    if (!has_shape(expected, actual, i, run)) return;
    ++compared_;
    if (!is_floating(expected.tensor.type.element)) return compare_whole_numbers(expected, actual, i, run);
    const std::span<const Real> exact = expected.tensor.numbers;
    take(compare(exact, actual.numbers, expected.floor, multiple, has_infinities_ ? exact : exact.first(0)), i, run);
  }

  /// Integers follow rounding where they are indices of the greatest, or quantised: as often as the original's own.
  void compare_whole_numbers(const ExpectedOutput& expected, const ReferenceTensor& actual, std::size_t i,
                             const std::string& run) {
    const std::vector<Real> before = numbers_of(expected.tensor), after = numbers_of(actual);
    const Deviation deviation = compare_whole(before, after);
    result_.max_abs_error = std::max(result_.max_abs_error, deviation.greatest);
    if (deviation.is_more_than(std::max(0.01, expected.noise_share))) differ(deviation, i, run);
  }

  void compare_rounded(const ExpectedOutput& expected, const ReferenceTensor& actual, std::size_t i,
                       const std::string& run) {
    if (!has_shape(expected, actual, i, run) || !is_floating(expected.tensor.type.element)) return;
    const std::span<const Real> exact = expected.tensor.numbers, where = expected.own_overflown;
    judge(compare(exact, actual.numbers, expected.floor, kRoundedMultiple, where.empty() ? exact : where), i, run);
  }

  // --- in the runtime --------------------------------------------------------------------------------------------

  /// What is evaluated with random weights needs nothing of the runtime: both at once, where memory allows.
  Status run_levels_beside_evaluation() {
    if (!state_.randomised || !state_.is_evaluated || state_.holds_much) return run_levels();
    tbb::task_group evaluation;
    evaluation.run([this] { with_random_weights_ = evaluate_randomised(); });
    Status status = run_levels();
    evaluation.wait();
    return status;
  }

  Status run_levels() {
    std::vector<std::string> ways;
    for (const Level& level : state_.levels) {
      if (!level.is_usable || !goes_on()) continue;
      REWRIGHT_CHECK(run_level(level));
      ways.emplace_back(level.optimise ? "with all optimisations" : "without optimisations");
    }
    if (ways.empty()) return {};
    ++compared_;
    result_.runs.push_back(fmt::format("{} {}", state_.runtime_version, fmt::join(ways, " and ")));
    return {};
  }

  Status run_level(const Level& level) {
    const auto session = state_.load(model_, level.optimise);
    if (!session) {
      result_.difference = fmt::format("{} refuses the result: {}", state_.runtime_version, session.error().message);
      return {};
    }
    for (const Expected& expected : state_.expected)
      if (goes_on() && expected.ran[level.optimise ? 1 : 0])
        run_session_on(**session, level, expected, words(state_.runtime_version, expected.setting));
    return {};
  }

  void run_session_on(RuntimeSession& session, const Level& level, const Expected& expected, const std::string& run) {
    reports_ = expected.setting.draw.scale == 1;
    result_.case_index = expected.setting.case_index;
    const auto outputs = run_session(session, expected.inputs);
    if (!outputs) {
      result_.difference = fmt::format("{}: the result cannot be run: {}", run, outputs.error().message);
      return;
    }
    for (std::size_t i = 0; i < expected.outputs.size() && goes_on(); ++i)
      compare_in_runtime(expected.outputs[i], level.optimise ? 1 : 0, (*outputs)[i], i, run);
  }

  void compare_in_runtime(const ExpectedOutput& expected, std::size_t level, const ReferenceTensor& actual,
                          std::size_t i, const std::string& run) {
    if (!expected.tensor.is_there() || !has_shape(expected, actual, i, run)) return;
    if (!is_floating(expected.tensor.type.element)) return compare_whole_numbers(expected, actual, i, run);
    const std::span<const Real> overflown = expected.overflown[level];
    const double multiple = expected.is_exact ? kRoundedMultiple : kRuntimeMultiple;
    const std::span<const Real> exact = expected.tensor.numbers;
    take(compare(exact, actual.numbers, expected.floor, multiple, overflown.empty() ? exact : overflown), i, run);
  }

  /// True if simplification computed weights that the original does not have.
  [[nodiscard]] bool has_computed_weights() const {
    if (!state_.options.simplify) return false;
    std::set<std::string> names;
    for (const Node& node : state_.original().nodes())
      if (node.is_input()) names.insert(node.name);
    return std::ranges::any_of(candidate_.nodes(),
                               [&](const Node& node) { return node.is_weight() && !names.contains(node.name); });
  }

  [[nodiscard]] Result<Graph> randomised_candidate() const {
    if (!has_computed_weights()) return state_.with_random_weights(candidate_);
    REWRIGHT_TRY(const Graph original, state_.with_random_weights(state_.original()));
    return state_.options.simplify(original);
  }

  [[nodiscard]] Result<ReferenceRun> evaluate_randomised() const {
    REWRIGHT_TRY(const Graph graph, randomised_candidate());
    if (state_.options.runtime != nullptr) REWRIGHT_CHECK(state_.reference->set_model(model_));
    REWRIGHT_TRY(const ReferenceInputs inputs, state_.reference_inputs(*state_.randomised));
    return state_.reference->evaluate(graph, inputs, Arithmetic::kExact);
  }

  /// Where the model repeats numbers: both graphs with random ones in their place.
  Status check_randomised() {
    if (!state_.randomised) return {};
    const Expected& expected = *state_.randomised;
    const bool is_computed = has_computed_weights();
    if (state_.is_evaluated) {
      if (!with_random_weights_) with_random_weights_ = evaluate_randomised();
      REWRIGHT_TRY(const ReferenceRun exact, *std::move(with_random_weights_));
      for (std::size_t i = 0; i < expected.outputs.size() && goes_on(); ++i)
        if (expected.outputs[i].is_exact)
          compare_exact(expected.outputs[i], exact.outputs[i], i, "evaluation with random weights",
                        is_computed ? kRoundedMultiple : kExactMultiple);  // Computed weights were rounded.
    } else {
      REWRIGHT_TRY(const Graph graph, randomised_candidate());
      REWRIGHT_TRY(const std::string model, state_.model_of(graph));
      for (const Level& level : state_.levels) {
        if (!level.is_usable || !goes_on()) continue;
        REWRIGHT_TRY(const auto session, state_.load(model, level.optimise));
        run_session_on(*session, level, expected, state_.runtime_version + " with random weights");
      }
    }
    if (goes_on()) result_.runs.emplace_back("the same with random weights");
    return {};
  }

  /// Outputs that nothing computed must be made of the same nodes.
  void check_missing() {
    const std::vector<std::uint64_t> structures = output_structures(candidate_);
    for (std::size_t i = 0; i < structures.size(); ++i) {
      const bool is_there =
          std::ranges::any_of(state_.expected, [&](const Expected& run) { return run.outputs[i].tensor.is_there(); });
      if (is_there || structures[i] == state_.structures[i]) continue;
      result_.reason = fmt::format("output {} cannot be computed here, and the rewrites changed what it is made of",
                                   output_name(state_.original(), i));
      return;
    }
  }

  // --- what comes of it ------------------------------------------------------------------------------------------

  bool has_shape(const ExpectedOutput& expected, const ReferenceTensor& actual, std::size_t i, const std::string& run) {
    if (!actual.is_there()) {
      result_.difference = fmt::format("{}: output {} cannot be computed, and the original's can", run,
                                       output_name(state_.original(), i));
      return false;
    }
    if (actual.type.shape == expected.tensor.type.shape) return true;
    result_.difference = fmt::format("{}: output {} has shape {} instead of {}", run, output_name(state_.original(), i),
                                     actual.type.shape, expected.tensor.type.shape);
    return false;
  }

  void take(const Deviation& deviation, std::size_t i, const std::string& run) {
    if (reports_ && (deviation.greatest > result_.max_abs_error || result_.tolerance == 0)) {
      result_.max_abs_error = std::max(result_.max_abs_error, deviation.greatest);
      result_.tolerance = deviation.greatest_floor;
    }
    judge(deviation, i, run);
  }

  void judge(const Deviation& deviation, std::size_t i, const std::string& run) {
    if (deviation.is_too_far()) differ(deviation, i, run);
  }

  void differ(const Deviation& deviation, std::size_t i, const std::string& run) {
    result_.difference = fmt::format(
        "{}: output {} differs at element {} ({:.9g} instead of {:.9g}; rounding explains {:.3g}), and beyond rounding "
        "in {} of {} elements",
        run, output_name(state_.original(), i), deviation.place, deviation.actual, deviation.expected, deviation.floor,
        deviation.beyond, deviation.elements);
  }

  void conclude() {
    for (const Expected& expected : state_.expected)
      if (std::ranges::find(result_.cases, expected.setting.case_index) == result_.cases.end())
        result_.cases.push_back(expected.setting.case_index);
    if (!result_.difference.empty()) {
      result_.verdict = GateVerdict::kDifferent;
    } else if (result_.reason.empty() && compared_ > 0) {
      result_.verdict = GateVerdict::kEqual;
    } else if (result_.reason.empty()) {
      result_.reason = "none of the outputs could be computed";
    }
  }

  const GateState& state_;
  const Graph& candidate_;
  std::string model_;
  std::vector<Graph> written_;  ///< By case.
  std::optional<Result<ReferenceRun>> with_random_weights_;
  std::size_t compared_ = 0;  ///< Outputs, over all runs.
  bool reports_ = true;       ///< Are the inputs as they are used? Of those the greatest difference is told.
  /// Do the inputs, or have their zeros' reciprocals? Then only what is finite in the original counts: evaluation does
  /// not keep the sign of a zero.
  bool has_infinities_ = false;
  Equivalence result_;
};

}  // namespace

// --- the gate --------------------------------------------------------------------------------------------------

struct EquivalenceGate::State : GateState {};

EquivalenceGate::EquivalenceGate(std::unique_ptr<State> state) : state_(std::move(state)) {}
EquivalenceGate::EquivalenceGate(EquivalenceGate&&) noexcept = default;
EquivalenceGate::~EquivalenceGate() = default;

Result<EquivalenceGate> EquivalenceGate::create(std::span<const GateCase> cases, EquivalenceOptions options) {
  auto state = std::make_unique<State>();
  state->cases.assign(cases.begin(), cases.end());
  state->options = std::move(options);
  REWRIGHT_CHECK(run_original(*state));
  return EquivalenceGate(std::move(state));
}

Result<EquivalenceGate> EquivalenceGate::create(const Graph& original, EquivalenceOptions options) {
  const GateCase single{{}, &original};
  return create(std::span(&single, 1), std::move(options));
}

const std::string& EquivalenceGate::reason() const { return state_->reason; }

Result<Equivalence> EquivalenceGate::check(const Graph& candidate, const std::string& model) const {
  return Check(*state_, candidate, model).run();
}

Result<Culprit> find_culprit(std::size_t rewrites, const std::function<Result<Equivalence>(std::size_t)>& check,
                             const Equivalence& end) {
  if (end.verdict == GateVerdict::kNotComparable) return Culprit{{}, end.reason};
  REWRIGHT_TRY(const Equivalence start, check(0));
  if (start.verdict == GateVerdict::kNotComparable) return Culprit{{}, start.reason};
  if (!start.equal())
    return Culprit{{},
                   fmt::format("the original differs from itself once it was read and written again, without any "
                               "rewrite ({})",
                               start.difference)};
  std::size_t equal = 0, unequal = rewrites;
  while (unequal - equal > 1) {
    const std::size_t middle = equal + (unequal - equal) / 2;
    REWRIGHT_TRY(const Equivalence judged, check(middle));
    (judged.equal() ? equal : unequal) = middle;
  }
  return Culprit{equal, {}};
}

std::string sentence_of_equality(const Equivalence& equivalence) {
  return fmt::format("Equal to the original in {}; greatest difference {:.3g} (noise floor {:.3g}).",
                     fmt::join(equivalence.runs, " and in "), equivalence.max_abs_error, equivalence.tolerance);
}

}  // namespace rewright
