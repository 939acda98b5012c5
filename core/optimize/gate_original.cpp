// The original's side of the equivalence gate.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "onnx/defaults.h"
#include "optimize/gate_state.h"
#include "optimize/gate_weights.h"
#include "optimize/input_uses.h"
#include "optimize/output_structure.h"
#include "optimize/random_inputs.h"
#include "optimize/rounding.h"

namespace rewright {
namespace {

using Tensors = std::vector<ReferenceTensor>;

/// Multiples of the floor beyond which a runtime does not compute what the operators mean.
constexpr double kSoundMultiple = 256;
constexpr double kSoundShare = 0x1p-20;  ///< And of the output's mean magnitude;
constexpr double kSoundRoundoffs = 16;   ///< and of 1: runtimes approximate a sigmoid's small values no better.

/// Of an output's elements that must be finite, and of all elements that must change with the inputs.
constexpr double kFiniteShare = 0.25;
constexpr double kVaryingShare = 0.1;

/// Evaluation holds at most so many bytes at a time.
constexpr double kMostBytes = 1.2e9;
/// After so many operations or seconds on the original no further setting is begun.
constexpr double kSettingFlops = 6e9;
constexpr double kSettingSeconds = 0.7;
/// From so many operations on, a model that repeats one number in its weights is evaluated with random ones alone.
constexpr double kTimingFlops = 1e9;
/// An original that overflows is run on smaller inputs, so many times.
constexpr int kMostShrinks = 4;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_equal(const ReferenceTensor& a, const ReferenceTensor& b) {
  const auto same = [](Real x, Real y) { return x == y || (std::isnan(x.value) && std::isnan(y.value)); };
  return a.type == b.type && a.bytes == b.bytes && std::ranges::equal(a.numbers, b.numbers, same);
}

double mean_magnitude(std::span<const Real> numbers) {
  double sum = 0, count = 0;
  for (const Real number : numbers)
    if (std::isfinite(number.value)) sum += std::fabs(number.value), ++count;
  return count > 0 ? sum / count : 0;
}

/// Does the runtime give what the operators mean, as far as rounding allows?
bool is_sound(const ReferenceTensor& exact, const ReferenceTensor& actual, const NoiseFloor& floor) {
  if (exact.type.shape != actual.type.shape) return false;
  if (!is_floating(exact.type.element)) return true;
  const double least =
      std::max(kSoundShare * mean_magnitude(exact.numbers), kSoundRoundoffs * unit_roundoff(exact.type.element));
  std::size_t beyond = 0, finite = 0;
  for (std::size_t k = 0; k < exact.numbers.size(); ++k) {
    const double a = exact.numbers[k].value, b = actual.numbers[k].value;
    if (!std::isfinite(a) || !std::isfinite(b)) continue;  // Its own overflow is no fault.
    ++finite;
    if (!(std::fabs(a - b) <= std::max(least, kSoundMultiple * floor.at(a)))) ++beyond;
  }
  return static_cast<double>(beyond) <= 0.01 * static_cast<double>(finite);
}

/// Where rounding made elements infinite: numbers that are finite where both are; empty where it made none.
std::vector<Real> overflown(std::span<const Real> exact, std::span<const Real> rounded) {
  bool any = false;
  std::vector<Real> both(rounded.begin(), rounded.end());
  for (std::size_t k = 0; k < exact.size() && k < both.size(); ++k) {
    any = any || (std::isfinite(exact[k].value) && !std::isfinite(both[k].value));
    if (!std::isfinite(exact[k].value)) both[k].value = std::nan("");
  }
  return any && both.size() == exact.size() ? both : std::vector<Real>();
}

double finite_share(std::span<const Real> numbers) {
  if (numbers.empty()) return 1;
  const auto finite = std::ranges::count_if(numbers, [](Real number) { return std::isfinite(number.value); });
  return static_cast<double>(finite) / static_cast<double>(numbers.size());
}

/// Nodes that may give something else when they run again: those that draw random numbers, and those of which it is not
/// known what is in them.
bool may_draw_numbers(const Node& node) {
  constexpr std::string_view kTypes[] = {
      "Bernoulli",     "Dropout",           "If",   "Loop",       "Multinomial", "RandomNormal", "RandomNormalLike",
      "RandomUniform", "RandomUniformLike", "Scan", "SequenceMap"};
  const OpaqueNode* opaque = node.opaque();
  return opaque &&
         (opaque->type.find(':') != std::string::npos || std::ranges::find(kTypes, opaque->type) != std::end(kTypes));
}

double share_of_changes(const ReferenceTensor& a, const ReferenceTensor& b) {
  const Deviation deviation = compare_whole(numbers_of(a), numbers_of(b));
  return static_cast<double>(deviation.beyond) / static_cast<double>(std::max<std::size_t>(deviation.elements, 1));
}

// --- one setting -----------------------------------------------------------------------------------------------

/// What each way of computing gave of the original in one setting; empty where it gave nothing.
struct Computed {
  Tensors exact, own;
  std::vector<Tensors> by_level;
};

class OriginalRuns {
 public:
  explicit OriginalRuns(GateState& state) : state_(state) {}

  Status run() {
    REWRIGHT_CHECK(check_given(state_.original(), state_.options.inputs));
    state_.holds_much = holds_much(state_.original());
    if (state_.options.draws_weights) state_.uniform = uniform_weights(state_.original());
    REWRIGHT_CHECK(prepare_models());
    state_.structures = output_structures(state_.original());
    const double start = seconds_now();
    const double flops = 2 * evaluation_flops(state_.original());
    double spent = 0;
    for (const GateSetting& setting :
         gate_settings(state_.cases.size(), state_.options.trials, has_infinities(state_.original()),
                       scale_of_factors(state_.original()))) {
      const bool is_over = spent > kSettingFlops || seconds_now() - start > kSettingSeconds;
      if (!state_.expected.empty() && is_over) break;
      REWRIGHT_CHECK(run_setting(setting));
      if (!state_.reason.empty()) return {};
      spent += flops;
    }
    judge_original();
    if (state_.reason.empty()) REWRIGHT_CHECK(run_randomised());
    return {};
  }

 private:
  /// The original's model, its defaults, its sessions.
  Status prepare_models() {
    const EquivalenceOptions& options = state_.options;
    state_.given = options.inputs;
    const double flops = evaluation_flops(state_.original());
    state_.is_evaluated = 4 * flops <= options.reference_flops && evaluation_bytes(state_.original()) <= kMostBytes;
    state_.reference =
        std::make_unique<Reference>(options.runtime, options.directory, options.external, options.registry);
    state_.is_evaluated_as_given = state_.is_evaluated;
    if (options.runtime == nullptr) return {};
    REWRIGHT_TRY(state_.runtime_version, options.runtime->version());
    if (options.original_model.empty()) {
      REWRIGHT_TRY(state_.options.original_model, state_.model_of(state_.original()));
    }
    if (auto defaults = default_inputs(options.original_model, options.directory)) {
      for (auto& [name, value] : *defaults)
        if (!options.inputs.contains(name)) take_default(name, std::move(value));
    }
    state_.is_evaluated = state_.is_evaluated && state_.reference->set_model(options.original_model);
    const bool is_for_timing = !state_.uniform.empty() && 2 * flops > kTimingFlops;
    state_.is_evaluated_as_given = state_.is_evaluated && !is_for_timing;
    for (const bool optimise : {false, true}) {
      Level level{optimise};
      auto session = state_.load(options.original_model, optimise);
      if (session) {
        level.is_usable = level.is_loaded = true;
      } else {
        level.trouble = fmt::format("{} cannot load the original: {}", state_.runtime_version, session.error().message);
      }
      state_.levels.push_back(std::move(level));
      sessions_.push_back(session && keeps_sessions() ? *std::move(session) : nullptr);
    }
    return {};
  }

  void take_default(const std::string& name, ConstantData value) {
    const auto is_input = [&](NodeId id) {
      const Node& node = state_.original().node(id);
      return node.name == name && node.is_data();
    };
    if (!std::ranges::any_of(state_.original().inputs(), is_input)) return;
    state_.given[name].kind = InputSource::Kind::kDefault;
    state_.defaults.emplace(name, std::move(value));
  }

  Status run_setting(GateSetting setting) {
    for (int shrinks = 0;; ++shrinks) {
      Expected expected{setting, {}};
      const Graph& graph = *state_.cases[setting.case_index].graph;
      REWRIGHT_TRY(expected.inputs, random_inputs(graph, state_.options.seed, state_.given, setting.draw));
      REWRIGHT_TRY(const Computed computed, compute(graph, expected));
      if (!state_.reason.empty()) return {};
      if (overflows(computed) && setting.draw.scale > 1 && shrinks < kMostShrinks) {
        setting = with_smaller_inputs(setting);
        continue;
      }
      expected.outputs = expect(graph, computed);
      for (const Tensors& tensors : computed.by_level) expected.ran.push_back(!tensors.empty());
      state_.expected.push_back(std::move(expected));
      return {};
    }
  }

  /// In every way that there is. A level at which the original does not run is not used again.
  Result<Computed> compute(const Graph& graph, const Expected& expected) {
    Computed computed;
    if (state_.is_evaluated_as_given) {
      REWRIGHT_TRY(const ReferenceInputs inputs, state_.reference_inputs(expected));
      REWRIGHT_TRY(ReferenceRuns both, state_.reference->evaluate_both(graph, inputs));
      if (trouble_.empty()) trouble_ = both.exact.trouble;
      computed.exact = std::move(both.exact.outputs);
      computed.own = std::move(both.own.outputs);
    }
    for (std::size_t i = 0; i < state_.levels.size(); ++i) {
      computed.by_level.emplace_back();
      if (!state_.levels[i].is_usable) continue;
      REWRIGHT_TRY(computed.by_level.back(), run_level(i, expected));
    }
    return computed;
  }

  /// Large models are loaded anew for each run, so that one session's memory is held at a time.
  [[nodiscard]] bool keeps_sessions() const { return !state_.holds_much; }

  /// Nothing where the original does not run on these inputs.
  Result<Tensors> run_level(std::size_t i, const Expected& expected) {
    Level& level = state_.levels[i];
    std::unique_ptr<RuntimeSession> loaded;
    if (sessions_[i] == nullptr) {
      REWRIGHT_TRY(loaded, state_.load(state_.options.original_model, level.optimise));
    }
    RuntimeSession& session = loaded == nullptr ? *sessions_[i] : *loaded;
    auto outputs = run_session(session, expected.inputs);
    if (outputs) {
      if (state_.expected.empty() && level.optimise) look_for_chance(session, expected, *outputs);
      return outputs;
    }
    if (state_.expected.empty()) {  // Where it ran before, it is these inputs that do not fit.
      level.is_usable = false;
      level.trouble = outputs.error().message;
    }
    return Tensors{};
  }

  /// A second run of the same session gives the same, unless the model draws random numbers.
  void look_for_chance(RuntimeSession& session, const Expected& expected, const Tensors& first) {
    if (state_.holds_much && std::ranges::none_of(state_.original().nodes(), may_draw_numbers)) return;
    const auto second = run_session(session, expected.inputs);
    for (std::size_t i = 0; second && i < first.size(); ++i) {
      if (is_equal(first[i], (*second)[i])) continue;
      state_.reason = fmt::format(
          "the original differs from itself: its output {} is another when it is run again on the same inputs (it "
          "draws random numbers)",
          output_name(state_.original(), i));
      return;
    }
  }

  /// Is it finite in exact arithmetic and not in its own, in a tenth of some output's elements?
  static bool overflows(const Computed& computed) {
    for (std::size_t i = 0; i < computed.own.size(); ++i) {
      const double exact = finite_share(computed.exact[i].numbers), own = finite_share(computed.own[i].numbers);
      if (own < 0.9 * exact) return true;
    }
    return false;
  }

  std::vector<ExpectedOutput> expect(const Graph& graph, const Computed& computed) {
    find_sound_levels(graph, computed);
    std::vector<ExpectedOutput> outputs;
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) outputs.push_back(expect_output(computed, i));
    return outputs;
  }

  static const ReferenceTensor* output_of(const Tensors& tensors, std::size_t i) {
    return i < tensors.size() && tensors[i].is_there() ? &tensors[i] : nullptr;
  }

  /// A level that does not give what the operators mean has a fault of its own, if another level does.
  void find_sound_levels(const Graph& graph, const Computed& computed) {
    std::string unsound;
    bool is_one_sound = false;
    for (std::size_t level = 0; level < computed.by_level.size(); ++level) {
      const Tensors& tensors = computed.by_level[level];
      if (tensors.empty() || !state_.levels[level].is_usable) continue;
      bool sound = true;
      for (std::size_t i = 0; i < tensors.size() && sound; ++i) {
        const ReferenceTensor* exact = output_of(computed.exact, i);
        const ReferenceTensor* own = output_of(computed.own, i);
        if (exact == nullptr || own == nullptr) continue;
        const std::span<const Real> rounded[] = {own->numbers};
        const NoiseFloor floor(exact->type.element, exact->numbers, rounded);
        sound = is_sound(*exact, tensors[i], floor);
        if (!sound) unsound = output_name(graph, i);
      }
      is_one_sound = is_one_sound || sound;
      if (sound) continue;
      state_.levels[level].is_usable = false;
      state_.levels[level].trouble = "it does not give what the operators mean";
    }
    if (!unsound.empty() && !is_one_sound)
      state_.reason = fmt::format(
          "{} and the evaluation of the operators differ on the original, in output {}: one of both reads a node "
          "wrongly, and no result could be trusted",
          state_.runtime_version, unsound);
  }

  ExpectedOutput expect_output(const Computed& computed, std::size_t i) const {
    std::vector<const ReferenceTensor*> rounded;
    const ReferenceTensor *const exact = output_of(computed.exact, i), *const own = output_of(computed.own, i);
    if (own != nullptr) rounded.push_back(own);
    for (std::size_t level = 0; level < computed.by_level.size(); ++level)
      if (const auto* tensor = output_of(computed.by_level[level], i); tensor && state_.levels[level].is_usable)
        rounded.push_back(tensor);
    ExpectedOutput output;
    output.is_exact = exact != nullptr;
    if (exact == nullptr && rounded.empty()) return output;
    output.tensor = exact != nullptr ? *exact : *rounded.front();
    std::erase_if(rounded, [&](const auto* tensor) { return tensor->type.shape != output.tensor.type.shape; });
    if (is_floating(output.tensor.type.element)) {
      measure(rounded, output);
      output.has_own = own != nullptr;
      if (own != nullptr) output.own_overflown = overflown(output.tensor.numbers, own->numbers);
      for (const Tensors& tensors : computed.by_level) {
        const auto* tensor = output_of(tensors, i);
        output.overflown.push_back(tensor == nullptr ? std::vector<Real>()
                                                     : overflown(output.tensor.numbers, tensor->numbers));
      }
    } else {
      for (const ReferenceTensor* tensor : rounded)
        output.noise_share = std::max(output.noise_share, share_of_changes(output.tensor, *tensor));
    }
    return output;
  }

  static void measure(std::span<const ReferenceTensor* const> rounded, ExpectedOutput& output) {
    std::vector<std::span<const Real>> numbers;
    output.finite_share = finite_share(output.tensor.numbers);
    for (const ReferenceTensor* tensor : rounded) {
      numbers.emplace_back(tensor->numbers);
      output.finite_share = std::min(output.finite_share, finite_share(tensor->numbers));
    }
    output.floor = NoiseFloor(output.tensor.type.element, output.tensor.numbers, numbers);
  }

  // --- all settings ----------------------------------------------------------------------------------------------

  /// Says why where nothing was computed, or too little of it would show a difference.
  void judge_original() {
    if (state_.reason.empty()) look_for_outputs();
    if (state_.reason.empty()) look_for_numbers();
    if (state_.reason.empty()) look_for_change();
  }

  [[nodiscard]] bool is_there(std::size_t i) const {
    return std::ranges::any_of(state_.expected, [&](const Expected& run) { return run.outputs[i].tensor.is_there(); });
  }

  void look_for_outputs() {
    const std::size_t count = state_.original().outputs().size();
    for (std::size_t i = 0; i < count; ++i)
      if (is_there(i)) return;
    if (count == 0) return;
    for (const NodeId id : state_.original().inputs()) {
      const Node& node = state_.original().node(id);
      if (!node.is_data() || state_.given.contains(node.name)) continue;
      if (std::string why = why_not_drawn(node); !why.empty()) {
        state_.reason = std::move(why);
        return;
      }
    }
    if (state_.levels.empty()) {
      state_.reason = fmt::format(
          "the original cannot be run: {}; install a runtime (see rewright plugins list) or name it with --runtime",
          trouble_.empty() ? "it is too large to be evaluated, and there is no runtime" : trouble_);
      return;
    }
    for (const Level& level : state_.levels) {
      if (!level.is_loaded) continue;
      state_.reason = fmt::format(
          "the original does not run on the inputs that were drawn ({}); give an input that must have certain values "
          "(a shape, an index) as --input NAME=NUMBERS or NAME=integers(LOW,HIGH)",
          level.trouble);
      return;
    }
    state_.reason = state_.levels.front().trouble;
  }

  void look_for_numbers() {
    for (std::size_t i = 0; i < state_.original().outputs().size(); ++i) {
      if (!is_there(i)) continue;
      double best = 0;
      for (const Expected& run : state_.expected) best = std::max(best, run.outputs[i].finite_share);
      if (best >= kFiniteShare) continue;
      state_.reason = fmt::format(
          "output {} is NaN or infinite in {:.0f} % of its elements or more on all inputs that were drawn; give inputs "
          "on which it is finite, as --input NAME=uniform(LOW,HIGH)",
          output_name(state_.original(), i), 100 * (1 - best));
      return;
    }
  }

  /// Of all elements with a fraction, those that are finite and not the same in every setting of the first sizes.
  void look_for_change() {
    double varying = 0, elements = 0;
    std::size_t settings = 0;
    for (const Expected& run : state_.expected) settings += run.setting.case_index == 0 ? 1 : 0;
    for (std::size_t i = 0; settings > 1 && i < state_.original().outputs().size(); ++i) {
      const ReferenceTensor& first = state_.expected.front().outputs[i].tensor;
      std::vector<bool> varies(first.numbers.size(), false);
      for (const Expected& run : state_.expected) {
        const std::vector<Real>& other = run.outputs[i].tensor.numbers;
        if (run.setting.case_index != 0 || other.size() != varies.size()) continue;
        for (std::size_t k = 0; k < varies.size(); ++k)
          if (other[k] != first.numbers[k] && (std::isfinite(other[k].value) || std::isfinite(first.numbers[k].value)))
            varies[k] = true;
      }
      varying += static_cast<double>(std::ranges::count(varies, true));
      elements += static_cast<double>(varies.size());
    }
    if (elements > 0 && varying < kVaryingShare * elements && depends_on_fractions())
      state_.reason = fmt::format(
          "only {:.0f} % of the original's outputs change with the inputs that were drawn; give inputs on which more "
          "do, as --input NAME=uniform(LOW,HIGH)",
          100 * varying / elements);
  }

  /// Does an output with a fraction depend on an input with one, that is drawn?
  [[nodiscard]] bool depends_on_fractions() const {
    const Graph& graph = state_.original();
    std::vector<bool> depends(graph.nodes().size(), false);
    for (std::size_t i = 0; i < depends.size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (node.is_input()) {
        const auto source = state_.given.find(node.name);
        const bool is_fixed = source != state_.given.end() && (source->second.kind == InputSource::Kind::kNumbers ||
                                                               source->second.kind == InputSource::Kind::kDefault);
        depends[i] = node.is_data() && is_floating(node.outputs[0].element) && !is_fixed;
      }
      for (const Port operand : node.inputs) depends[i] = depends[i] || depends[operand.node.value];
    }
    return std::ranges::any_of(graph.outputs(), [&](Port port) { return depends[port.node.value]; });
  }

  Status run_randomised() {
    if (state_.uniform.empty()) return {};
    state_.keep_random_weights();
    Expected expected{state_.expected.front().setting, state_.expected.front().inputs};
    REWRIGHT_TRY(const Graph graph, state_.with_random_weights(state_.original()));
    Computed computed;
    if (state_.is_evaluated) {
      REWRIGHT_TRY(const ReferenceInputs inputs, state_.reference_inputs(expected));
      REWRIGHT_TRY(ReferenceRuns both, state_.reference->evaluate_both(graph, inputs));
      computed = {std::move(both.exact.outputs), std::move(both.own.outputs), {}};
    } else if (state_.options.runtime != nullptr) {
      REWRIGHT_TRY(const std::string model, state_.model_of(graph));
      for (const Level& level : state_.levels) {
        computed.by_level.emplace_back();
        if (!level.is_usable) continue;
        REWRIGHT_TRY(const auto session, state_.load(model, level.optimise));
        REWRIGHT_TRY(computed.by_level.back(), run_session(*session, expected.inputs));
      }
    }
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) expected.outputs.push_back(expect_output(computed, i));
    state_.randomised = std::move(expected);
    return {};
  }

  GateState& state_;
  std::vector<std::unique_ptr<RuntimeSession>> sessions_;  ///< Of the original, one per level; null where none is kept.
  std::string trouble_;                                    ///< Why some output cannot be evaluated.
};

}  // namespace

Status run_original(GateState& state) { return OriginalRuns(state).run(); }

}  // namespace rewright
