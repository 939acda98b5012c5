/// Refutes rules by evaluation: source and target at small shapes, on the same inputs.
///
/// Shapes  The rule's example, and sizes drawn inside defined(source), defined(target) and the precondition, unequal
///         where they can be; the smallest first.
/// Values  Where a side uses order (relu, max): exact rationals, on small integers, quarters and negative quarters; a
///         fraction has no sign in the prime field. Else the field, on small integers and on residues of the whole
///         field: two sides that differ as rational functions of degree d agree at a random point with probability at
///         most d / 2^61 (Schwartz, JACM 1980; Zippel, EUROSAM 1979). Where a side uses exp, tanh and the like: double
///         precision, and a difference of more than one part in 10^6.
/// Answers Refuted with shapes, values and the outputs that differ; otherwise Unknown.
#include <rewright/linear.h>
#include <rewright/plugin.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace rewright;

struct Settings {
  std::int64_t shapes = 6;  ///< Besides the example.
  std::int64_t max_dim = 4;
  std::int64_t points = 2;  ///< Inputs per shape; more where inputs are small.
  std::int64_t seed = 1;
};

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

enum class Draw {
  kSmall,     ///< Integers from -9 to 9.
  kQuarters,  ///< The same over 4: laws that hold for integers alone, as relu(x + x * x) = x + x * x, fail here.
  kNegative,  ///< Quarters from -19/4 to -1/4: the greatest of many is seldom negative otherwise.
  kWhole,     ///< Any residue.
};

template <class Scalar>
Scalar draw(Draw kind, std::uint64_t bits) {
  if constexpr (std::is_same_v<Scalar, Field>) {
    if (kind == Draw::kWhole) return Field::from_residue((bits >> 3) % Field::kPrime);
  }
  const Scalar quarter = Scalar::from_integer(1) / Scalar::from_integer(4);
  const auto number = static_cast<std::int64_t>(bits % 19);
  if (kind == Draw::kNegative) return Scalar::from_integer(-1 - number) * quarter;
  return kind == Draw::kQuarters ? Scalar::from_integer(number - 9) * quarter : Scalar::from_integer(number - 9);
}

template <class Scalar>
std::vector<Tensor<Scalar>> draw_inputs(std::span<const Shape> shapes, Draw kind, std::uint64_t seed) {
  std::vector<Tensor<Scalar>> inputs;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    Tensor<Scalar> tensor(shapes[k]);
    for (std::size_t i = 0; i < tensor.values().size(); ++i)
      tensor.values()[i] = draw<Scalar>(kind, mix(mix(seed + k * 7919) + i));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::string to_text(const Tensor<Exact>& tensor) {
  std::string text = to_string(tensor.shape()) + " [";
  for (std::size_t i = 0; i < tensor.values().size() && i < 32; ++i)
    text += (i ? ", " : "") + to_string(tensor.values()[i]);
  return text + (tensor.values().size() > 32 ? ", ...]" : "]");
}

/// Both sides of a rule at given shapes.
struct Instance {
  std::vector<Shape> shapes;
  Graph source;
  Graph target;
};

struct Point {
  Draw kind;
  std::uint64_t seed;
};

/// Do two numbers differ for certain?
bool differ(Field a, Field b) { return !(a == b); }
bool differ(Exact a, Exact b) { return a.defined() && b.defined() && !(a == b); }
bool differ(Real a, Real b) {
  return std::isfinite(a.value) && std::isfinite(b.value) &&
         std::abs(a.value - b.value) > 1e-6 * (1 + std::abs(a.value) + std::abs(b.value));
}

/// The first output that differs, its position within the tensor, and both tensors.
template <class Scalar>
struct Difference {
  std::size_t output = 0;
  std::size_t element = 0;
  Tensor<Scalar> source;
  Tensor<Scalar> target;
};

template <class Scalar>
std::optional<Difference<Scalar>> difference_at(const Instance& at, Point point) {
  const auto inputs = draw_inputs<Scalar>(at.shapes, point.kind, point.seed);
  auto source = evaluate<Scalar>(at.source, inputs), target = evaluate<Scalar>(at.target, inputs);
  if (!source || !target) return std::nullopt;
  for (std::size_t k = 0; k < source->size() && k < target->size(); ++k) {
    const auto& a = (*source)[k].values();
    const auto& b = (*target)[k].values();
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (differ(a[i], b[i])) return Difference<Scalar>{k, i, (*source)[k], (*target)[k]};
    }
  }
  return std::nullopt;
}

class Evaluation {
 public:
  Evaluation(const Goal& goal, const Settings& settings) : goal_(goal), rule_(goal.rule), settings_(settings) {}

  Verdict run() {
    if (rule_.source.outputs.size() != rule_.target.outputs.size())
      return refuted(fmt::format("the source has {} outputs and the target {}", rule_.source.outputs.size(),
                                 rule_.target.outputs.size()),
                     "");
    if (auto failed = collect_constraints()) return unknown(*failed);
    std::size_t tried = 0;
    for (const SizeAssignment& sizes : choose_sizes()) {
      const auto instance = instance_at(sizes);
      if (!instance) continue;
      if (auto verdict = compare_shapes(*instance)) return *std::move(verdict);
      if (auto verdict = compare_values(*instance)) return *std::move(verdict);
      ++tried;
      if (work_ > goal_.budget.work) return unknown(fmt::format("the budget was spent; equal at {} shapes", tried));
    }
    if (tried == 0)
      return unknown(
          fmt::format("no shapes with sizes up to {} were found at which both sides are defined", settings_.max_dim));
    return unknown(fmt::format("equal at {} shapes with {} inputs or more each", tried, settings_.points));
  }

 private:
  static Verdict unknown(std::string reason) {
    Verdict verdict;
    verdict.reason = std::move(reason);
    return verdict;
  }
  static Verdict refuted(std::string reason, std::string counterexample) {
    Verdict verdict;
    verdict.kind = VerdictKind::kRefuted;
    verdict.reason = std::move(reason);
    verdict.counterexample = std::move(counterexample);
    return verdict;
  }

  std::optional<std::string> collect_constraints() {
    constraints_ = rule_.precondition;
    for (const Pattern* side : {&rule_.source, &rule_.target}) {
      const auto shapes = infer_shapes(rule_.inputs, *side);
      if (!shapes) return shapes.error().message;
      constraints_.insert(constraints_.end(), shapes->defined.begin(), shapes->defined.end());
      for (const PatternNode& node : side->nodes) note_node(node);
    }
    for (const PatternInput& input : rule_.inputs) {
      for (int axis = 0; axis < input.rank; ++axis) add_variable(fmt::format("{}.{}", input.name, axis));
    }
    return std::nullopt;
  }
  void add_variable(const std::string& name) {
    if (std::ranges::find(variables_, name) == variables_.end()) variables_.push_back(name);
  }
  void note_node(const PatternNode& node) {
    uses_order_ |= node.op->info().uses_order;
    uses_functions_ |= node.op->info().uses_functions && !plain_activation(node);
    for (const auto& value : node.params.values()) {
      const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value);
      if (!sizes) continue;
      for (const SymbolicDim& dim : sizes->values) {
        for (const std::string& name : dim.variables()) add_variable(name);
      }
    }
  }
  /// Do this application's parameters take the functions away that its operator may use?
  static bool plain_activation(const PatternNode& node) {
    const auto params = evaluate(node.params, [](std::string_view) { return std::optional<std::int64_t>(1); });
    return params && !node.op->traits(*params).uses_functions;
  }

  // --- shapes
  // ----------------------------------------------------------------------------------------------------------

  /// The example's sizes and drawn ones, the fewest elements first.
  std::vector<SizeAssignment> choose_sizes() {
    std::vector<SizeAssignment> chosen;
    if (auto example = example_sizes()) chosen.push_back(*std::move(example));
    const SizeSystem system(constraints_);
    std::uint64_t state = mix(static_cast<std::uint64_t>(settings_.seed));
    std::vector<SizeAssignment> drawn;
    for (int attempt = 0; attempt < 400 && std::ssize(drawn) < 4 * settings_.shapes; ++attempt) {
      auto sizes = draw_sizes(system, state);
      if (sizes && std::ranges::find(drawn, *sizes) == drawn.end()) drawn.push_back(*std::move(sizes));
    }
    if (drawn.empty()) drawn = search_sizes();
    std::ranges::stable_sort(drawn, std::greater(), distinctness);
    if (std::ssize(drawn) > settings_.shapes) drawn.resize(static_cast<std::size_t>(settings_.shapes));
    chosen.insert(chosen.end(), drawn.begin(), drawn.end());
    std::ranges::stable_sort(chosen, std::less(), total);
    return chosen;
  }
  std::optional<SizeAssignment> example_sizes() const {
    if (rule_.example.size() != rule_.inputs.size()) return std::nullopt;
    SizeAssignment sizes;
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) {
      for (int axis = 0; axis < rule_.inputs[i].rank && axis < rule_.example[i].rank(); ++axis)
        sizes[fmt::format("{}.{}", rule_.inputs[i].name, axis)] = rule_.example[i][axis];
    }
    // Size variables of the match have no example: any values that meet the constraints do.
    std::vector<std::string> open;
    for (const std::string& name : variables_) {
      if (!sizes.contains(name)) open.push_back(name);
    }
    if (open.empty()) return meets(sizes) ? std::optional(sizes) : std::nullopt;
    std::vector<Constraint> all = constraints_;
    for (const auto& [name, value] : sizes)
      all.push_back({Constraint::Kind::kEqual, SymbolicDim::variable(name), SymbolicDim(value)});
    std::optional<SizeAssignment> found;
    for_each_solution(
        variables_, all, 1, 16,
        [&](const SizeAssignment& solution) {
          found = solution;
          return false;
        },
        10'000);
    return found;
  }
  /// Free sizes at random, the others as the equations give them; nothing if that meets the constraints not.
  std::optional<SizeAssignment> draw_sizes(const SizeSystem& system, std::uint64_t& state) const {
    SizeAssignment sizes;
    for (const std::string& name : variables_) {
      if (system.solved().contains(name)) continue;
      state = mix(state);
      sizes[name] = 1 + static_cast<std::int64_t>(state % static_cast<std::uint64_t>(settings_.max_dim));
    }
    for (const std::string& name : variables_) {
      const auto solved = system.solved().find(name);
      if (solved == system.solved().end()) continue;
      const auto value = solved->second.evaluate(binding(sizes));
      if (!value || *value < 1 || *value > 4 * settings_.max_dim) return std::nullopt;
      sizes[name] = *value;
    }
    return meets(sizes) ? std::optional(sizes) : std::nullopt;
  }
  std::vector<SizeAssignment> search_sizes() const {
    std::vector<SizeAssignment> found;
    for_each_solution(
        variables_, constraints_, 1, settings_.max_dim,
        [&](const SizeAssignment& sizes) {
          found.push_back(sizes);
          return std::ssize(found) < 64;
        },
        200'000);
    return found;
  }
  bool meets(const SizeAssignment& sizes) const {
    return std::ranges::all_of(constraints_,
                               [&](const Constraint& c) { return c.holds(binding(sizes)).value_or(false); });
  }
  static DimBinding binding(const SizeAssignment& sizes) {
    return [&sizes](std::string_view name) -> std::optional<std::int64_t> {
      const auto found = sizes.find(name);
      if (found == sizes.end()) return std::nullopt;
      return found->second;
    };
  }
  static std::size_t distinctness(const SizeAssignment& sizes) {
    std::vector<std::int64_t> values;
    for (const auto& [name, value] : sizes) values.push_back(value);
    std::ranges::sort(values);
    return static_cast<std::size_t>(std::ranges::unique(values).begin() - values.begin());
  }
  static std::int64_t total(const SizeAssignment& sizes) {
    std::int64_t sum = 0;
    for (const auto& [name, value] : sizes) sum += value;
    return sum;
  }

  std::optional<Instance> instance_at(const SizeAssignment& sizes) {
    Instance instance;
    for (const PatternInput& input : rule_.inputs) {
      Shape shape;
      for (int axis = 0; axis < input.rank; ++axis) shape.append(sizes.at(fmt::format("{}.{}", input.name, axis)));
      instance.shapes.push_back(std::move(shape));
    }
    auto source = instantiate(rule_.inputs, rule_.source, instance.shapes, binding(sizes));
    auto target = instantiate(rule_.inputs, rule_.target, instance.shapes, binding(sizes));
    if (!source || !target) return std::nullopt;
    instance.source = *std::move(source);
    instance.target = *std::move(target);
    for (const Graph* graph : {&instance.source, &instance.target}) {
      for (const Node& node : graph->nodes()) {
        for (const TensorType& type : node.outputs) work_ += static_cast<std::uint64_t>(type.shape.elements());
      }
    }
    return instance;
  }

  // --- comparison
  // ------------------------------------------------------------------------------------------------------

  std::string shapes_text(const Instance& at) const {
    std::string text;
    for (std::size_t i = 0; i < at.shapes.size(); ++i)
      text += fmt::format("{}{} {}", i ? ", " : "", rule_.inputs[i].name, to_string(at.shapes[i]));
    return text;
  }
  std::optional<Verdict> compare_shapes(const Instance& at) const {
    for (std::size_t k = 0; k < at.source.outputs().size(); ++k) {
      const Shape& a = at.source.shape(at.source.outputs()[k]);
      const Shape& b = at.target.shape(at.target.outputs()[k]);
      if (a == b) continue;
      return refuted(fmt::format("output {} has shape {} in the source and {} in the target, at {}", k, to_string(a),
                                 to_string(b), shapes_text(at)),
                     shapes_text(at));
    }
    return std::nullopt;
  }
  Point point(std::int64_t i, Draw kind) const {
    return {kind, mix(static_cast<std::uint64_t>(settings_.seed + 1000 * i))};
  }

  /// More where the inputs are few numbers: one scalar hits the part of the line where a law fails only now and then.
  std::int64_t points_at(const Instance& at) const {
    std::int64_t numbers = 1;
    for (const Shape& shape : at.shapes) numbers += shape.elements();
    const std::int64_t least = uses_order_ || uses_functions_ ? 2 * settings_.points : settings_.points;
    return least * std::max<std::int64_t>(1, 64 / numbers);
  }
  std::optional<Verdict> compare_values(const Instance& at) {
    for (std::int64_t i = 0; i < points_at(at); ++i) {
      static constexpr Draw kKinds[] = {Draw::kSmall, Draw::kQuarters, Draw::kNegative};
      const Point small = point(i, kKinds[i % 3]);
      if (uses_functions_) {
        if (auto found = difference_at<Real>(at, small)) return real_verdict(at, *found);
      } else if (uses_order_) {
        if (auto found = difference_at<Exact>(at, small)) return exact_verdict(at, small, *found);
      } else {
        const Draw kind = i % 2 == 0 ? Draw::kWhole : Draw::kSmall;
        if (auto found = difference_at<Field>(at, point(i, kind))) return readable_verdict(at, *found);
      }
    }
    return std::nullopt;
  }
  Verdict exact_verdict(const Instance& at, Point point, const Difference<Exact>& found) const {
    const auto inputs = draw_inputs<Exact>(at.shapes, point.kind, point.seed);
    std::string text;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      text += fmt::format("{} = {}\n", rule_.inputs[i].name, to_text(inputs[i]));
    text += fmt::format("source output {} = {}\ntarget output {} = {}", found.output, to_text(found.source),
                        found.output, to_text(found.target));
    return refuted(fmt::format("output {} differs at element {}: {} in the source, {} in the target, at {}",
                               found.output, found.element, to_string(found.source.values()[found.element]),
                               to_string(found.target.values()[found.element]), shapes_text(at)),
                   text);
  }
  Verdict real_verdict(const Instance& at, const Difference<Real>& found) const {
    return refuted(fmt::format("output {} differs at element {}: {} in the source, {} in the target, at {}",
                               found.output, found.element, found.source.values()[found.element].value,
                               found.target.values()[found.element].value, shapes_text(at)),
                   fmt::format("{}; inputs of seed {}", shapes_text(at), settings_.seed));
  }
  /// The difference over the field, shown in exact numbers at the first small point that shows it too.
  Verdict readable_verdict(const Instance& at, const Difference<Field>& found) const {
    for (std::int64_t i = 0; i < 8; ++i) {
      if (auto exact = difference_at<Exact>(at, point(i, Draw::kSmall)))
        return exact_verdict(at, point(i, Draw::kSmall), *exact);
    }
    return refuted(
        fmt::format("output {} differs at element {} over the prime field, at {}", found.output, found.element,
                    shapes_text(at)),
        fmt::format("{}; inputs of seed {}; residues {} and {}", shapes_text(at), settings_.seed,
                    found.source.values()[found.element].residue(), found.target.values()[found.element].residue()));
  }

  const Goal& goal_;
  const Rule& rule_;
  const Settings& settings_;
  std::vector<Constraint> constraints_;
  std::vector<std::string> variables_;
  bool uses_order_ = false;
  bool uses_functions_ = false;
  std::uint64_t work_ = 0;
};

class EvaluateVerifier final : public Verifier {
 public:
  std::string name() const override { return "evaluate"; }
  std::string summary() const override { return "Refutes by evaluating both sides at small unequal shapes"; }
  bool proves() const override { return false; }
  bool refutes() const override { return true; }

  Status configure(const Options& options) override {
    const std::map<std::string, std::int64_t Settings::*> known = {{"shapes", &Settings::shapes},
                                                                   {"max_dim", &Settings::max_dim},
                                                                   {"points", &Settings::points},
                                                                   {"seed", &Settings::seed}};
    for (const auto& [key, value] : options) {
      const auto setting = known.find(key);
      if (setting == known.end())
        return make_error(ErrorCode::kUsage,
                          "verifier evaluate has no option '{}'; it has shapes, max_dim, points and seed", key);
      const auto* number = std::get_if<std::int64_t>(&value);
      if (!number || *number < 1 || *number > 1000)
        return make_error(ErrorCode::kUsage, "verifier evaluate: the option {} must be an integer from 1 to 1000", key);
      settings_.*(setting->second) = *number;
    }
    return {};
  }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts;
    for (const Goal& goal : goals) verdicts.push_back(Evaluation(goal, settings_).run());
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<EvaluateVerifier>(); }

 private:
  Settings settings_;
};

}  // namespace

REWRIGHT_PLUGIN("verifier.evaluate", "1.0.0", "Refutes rules by evaluation at small shapes") {
  registry.add<Verifier>(std::make_unique<EvaluateVerifier>());
}
