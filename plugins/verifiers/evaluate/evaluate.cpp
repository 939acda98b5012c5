/// Refutes rules by evaluation: source and target at small shapes, on the same inputs.
///
/// Shapes  First the rule's example, made small; then sizes drawn inside defined(source) and the precondition, unequal
///         where they can be, the smallest first.
/// Values  Where neither side uses order or functions: the prime field, on residues of the whole field; two sides that
///         differ as rational functions of degree d agree at a random point with probability at most d / 2^61
///         (Schwartz, JACM 1980; Zippel, EUROSAM 1979). Where a side uses order (relu, max): double precision finds the
///         inputs that tell them apart (integers, quarters, negative quarters), exact rationals decide. Where a side
///         uses exp, tanh and the like: double precision, and a difference of more than one part in 10^6. A side that
///         is a number where the other is none (log(-1), 1/0) refutes too; where numbers may have overflowed it does
///         not.
/// Answers Refuted with shapes, values and the outputs that differ; otherwise Unknown.
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/size_code.h>
#include <rewright/verify/verifier.h>

#include <fmt/compile.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "draws.h"
#include "prepared_rule.h"
#include "tried_sizes.h"

namespace {

using namespace rewright;
using namespace evaluate_verifier;

struct Settings {
  std::int64_t shapes = 6;  ///< Drawn, besides the example.
  std::int64_t max_dim = 4;
  std::int64_t points = 2;  ///< Inputs per shape where order or functions count; more where inputs are small.
  std::int64_t seed = 1;
};

/// What evaluations of one verifier share.
template <class Scalar>
struct Algebra {
  explicit Algebra(std::uint64_t seed) : draws(seed) {}
  Draws<Scalar> draws;
  Scratch<Scalar> scratch;
};
struct Algebras {
  explicit Algebras(std::int64_t seed)
      : field(static_cast<std::uint64_t>(seed)),
        exact(static_cast<std::uint64_t>(seed)),
        real(static_cast<std::uint64_t>(seed)) {}
  Algebra<Field> field;
  Algebra<Exact> exact;
  Algebra<Real> real;
};

/// Where two outputs differ.
struct Place {
  std::size_t output = 0;
  std::size_t element = 0;
};

bool differ(Field a, Field b) { return !(a == b); }
bool differ(Exact a, Exact b) { return a.defined() && b.defined() && !(a == b); }
bool differ(Real a, Real b, double tolerance) {
  return std::isfinite(a.value) && std::isfinite(b.value) &&
         std::abs(a.value - b.value) > tolerance * (1 + std::abs(a.value) + std::abs(b.value));
}
/// A number on one side and none on the other.
bool is_number_once(Real a, Real b) { return std::isfinite(a.value) != std::isfinite(b.value); }
bool is_number_once(const Exact& a, const Exact& b) { return a.defined() != b.defined(); }
/// Numbers up to here do not overflow in one step more, nor underflow in four, whatever the function (exp 150 is 1e65).
/// So what is infinite or NaN beside them is so by what functions mean: log(-1), 1/0.
constexpr double kModest = 150;
/// Rounding of doubles on a few hundred quarters stays far below it, real differences far above.
constexpr double kScreening = 1e-9;
constexpr double kRounding = 1e-6;

Verdict unknown(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}
Verdict refuted(std::string reason, std::string counterexample) {
  Verdict verdict;
  verdict.kind = VerdictKind::kRefuted;
  verdict.reason = std::move(reason);
  verdict.counterexample = std::move(counterexample);
  return verdict;
}

void append(std::string& text, const Shape& shape, std::span<const Exact> values) {
  constexpr std::size_t kMost = 32;
  fmt::format_to(std::back_inserter(text), "({}) [", fmt::join(shape.begin(), shape.end(), ", "));
  for (std::size_t i = 0; i < values.size() && i < kMost; ++i) {
    if (i > 0) text += ", ";
    const Exact value = values[i];
    if (value.defined() && value.denominator() == 1)
      fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), value.numerator());
    else
      text += to_string(value);
  }
  text += values.size() > kMost ? ", ...]" : "]";
}

/// NaN without its sign, which means nothing.
std::string text_of(double value) { return std::isnan(value) ? "NaN" : fmt::format("{}", value); }

class Evaluation {
 public:
  Evaluation(const Goal& goal, const Settings& settings, Algebras& algebras)
      : goal_(goal),
        rule_(goal.rule),
        settings_(settings),
        algebras_(algebras),
        names_(goal.rule),
        program_(goal.rule, names_) {
    for (const Constraint& constraint : rule_.precondition)
      precondition_.push_back(ConstraintCode::compile(constraint, names_.names()));
  }

  Verdict run() {
    if (rule_.source.outputs.size() != rule_.target.outputs.size())
      return refuted(fmt::format("the source has {} outputs and the target {}", rule_.source.outputs.size(),
                                 rule_.target.outputs.size()),
                     "");
    if (const auto example = example_sizes(rule_, names_)) {
      if (auto verdict = try_at(halved(*example))) return *std::move(verdict);
      if (auto verdict = try_at(compressed(*example))) return *std::move(verdict);
      if (tried_ == 0) {
        if (auto verdict = try_at(*example)) return *std::move(verdict);
      }
    }
    const auto source = infer_shapes(rule_.inputs, rule_.source);
    if (!source) return unknown(source.error().message);
    std::vector<Constraint> constraints = source->defined;
    constraints.insert(constraints.end(), rule_.precondition.begin(), rule_.precondition.end());
    const DrawOptions options{settings_.shapes, settings_.max_dim, static_cast<std::uint64_t>(settings_.seed)};
    for (const Sizes& sizes : draw_sizes(constraints, names_, options)) {
      if (auto verdict = try_at(sizes)) return *std::move(verdict);
      if (work_ > goal_.budget.work) return unknown(fmt::format("the budget was spent; equal at {} shapes", tried_));
    }
    if (tried_ == 0)
      return unknown(
          fmt::format("no shapes with sizes up to {} were found at which both sides are defined", settings_.max_dim));
    return unknown(fmt::format("equal at {} shapes", tried_));
  }

 private:
  /// A refutation at these sizes; nothing where the rule does not apply there, or both sides agree.
  std::optional<Verdict> try_at(const Sizes& sizes) {
    const bool inside =
        std::ranges::all_of(sizes, [](std::int64_t size) { return size >= 1; }) &&
        std::ranges::all_of(precondition_, [&](const auto& code) { return code && code->holds(sizes); });
    if (!inside || !program_.set_sizes(sizes)) return std::nullopt;
    work_ += static_cast<std::uint64_t>(program_.elements());
    if (work_ > goal_.budget.work) return std::nullopt;
    ++tried_;
    if (auto verdict = compare_shapes()) return verdict;
    if (tried_ == 1 && !program_.uses_functions()) {
      if (auto verdict = compare_divisions()) return verdict;
    }
    if (program_.uses_functions()) return compare_reals();
    return program_.uses_order() ? compare_ordered() : compare_fields();
  }

  std::string shapes_text() const {
    std::string text;
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) {
      const Shape& shape = program_.input_shape(i);
      fmt::format_to(std::back_inserter(text), "{}{} ({})", i ? ", " : "", rule_.inputs[i].name,
                     fmt::join(shape.begin(), shape.end(), ", "));
    }
    return text;
  }

  std::optional<Verdict> compare_shapes() const {
    for (std::size_t k = 0; k < rule_.source.outputs.size(); ++k) {
      const Shape &a = program_.source_shape(k), &b = program_.target_shape(k);
      if (a == b) continue;
      return refuted(fmt::format("output {} has shape {} in the source and {} in the target, at {}", k, to_string(a),
                                 to_string(b), shapes_text()),
                     shapes_text());
    }
    return std::nullopt;
  }

  /// The i-th point of a shape. Points do not share numbers.
  Point point(std::int64_t i, Draw kind) const {
    return {kind, static_cast<std::size_t>(i * program_.input_elements())};
  }
  /// More where the inputs are few numbers: one scalar hits the part of the line where a law fails only now and then.
  std::int64_t points() const {
    return 2 * settings_.points * std::max<std::int64_t>(1, 64 / std::max<std::int64_t>(1, program_.input_elements()));
  }

  template <class Scalar, class Differ>
  std::optional<Place> difference_at(Algebra<Scalar>& algebra, Point at, Differ differs) const {
    const Scalar* inputs = algebra.draws.at(at, program_.input_elements());
    program_.run(inputs, algebra.scratch);
    for (std::size_t k = 0; k < rule_.source.outputs.size(); ++k) {
      const auto a = program_.source(k, inputs, algebra.scratch), b = program_.target(k, inputs, algebra.scratch);
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (differs(a[i], b[i])) return Place{k, i};
      }
    }
    return std::nullopt;
  }
  std::optional<Place> exact_difference_at(Point at) {
    return difference_at(algebras_.exact, at, [](Exact a, Exact b) { return differ(a, b); });
  }

  /// Has the run in doubles just done a value that is no number, and none that may have overflowed?
  bool has_undefined() const {
    bool undefined = false;
    for (const Real value : program_.computed(algebras_.real.scratch)) {
      undefined |= !std::isfinite(value.value);
      if (std::isfinite(value.value) && std::abs(value.value) > kModest) return false;
    }
    return undefined;
  }
  /// Where something is divided by 0: one side a number, the other none. 1/(1/x) => x at 0, of which the field, in
  /// which no residue drawn is 0, knows nothing.
  std::optional<Verdict> compare_divisions() {
    for (std::int64_t i = 0; i < 4; ++i) {
      const Point at = i == 0 ? Point{Draw::kZeros, 0} : point(i, Draw::kSigns);
      (void)difference_at(algebras_.real, at, [](Real, Real) { return false; });
      if (!has_undefined()) continue;
      const auto found =
          difference_at(algebras_.exact, at, [](const Exact& a, const Exact& b) { return is_number_once(a, b); });
      if (found) return exact_verdict(at, *found);
    }
    return std::nullopt;
  }

  std::optional<Verdict> compare_fields() {
    const Point whole = point(0, Draw::kWhole);
    const auto found = difference_at(algebras_.field, whole, [](Field a, Field b) { return differ(a, b); });
    if (!found) return std::nullopt;
    // Shown in exact numbers at the first small point that shows it too.
    for (std::int64_t i = 0; i < 8; ++i) {
      const Point small = point(i, Draw::kSmall);
      if (const auto exact = exact_difference_at(small)) return exact_verdict(small, *exact);
    }
    const Field* inputs = algebras_.field.draws.at(whole, program_.input_elements());
    return refuted(
        fmt::format("output {} differs at element {} over the prime field, at {}", found->output, found->element,
                    shapes_text()),
        fmt::format("{}; inputs of seed {}; residues {} and {}", shapes_text(), settings_.seed,
                    program_.source(found->output, inputs, algebras_.field.scratch)[found->element].residue(),
                    program_.target(found->output, inputs, algebras_.field.scratch)[found->element].residue()));
  }

  std::optional<Verdict> compare_ordered() {
    static constexpr Draw kKinds[] = {Draw::kSmall, Draw::kQuarters, Draw::kNegative, Draw::kPeaks};
    for (std::int64_t i = 0; i < points(); ++i) {
      const Point at = point(i, kKinds[i % 4]);
      if (!difference_at(algebras_.real, at, [](Real a, Real b) { return differ(a, b, kScreening); })) continue;
      if (const auto exact = exact_difference_at(at)) return exact_verdict(at, *exact);
    }
    return std::nullopt;
  }

  std::optional<Verdict> compare_reals() {
    static constexpr Draw kKinds[] = {Draw::kSmall, Draw::kQuarters, Draw::kNegative, Draw::kPeaks};
    for (std::int64_t i = 0; i < points(); ++i) {
      const Point at = point(i, kKinds[i % 4]);
      const auto found = difference_at(algebras_.real, at, [](Real a, Real b) { return differ(a, b, kRounding); });
      if (found) return real_verdict(at, *found);
      const auto once = difference_at(algebras_.real, at, [](Real a, Real b) { return is_number_once(a, b); });
      if (once && has_undefined()) return real_verdict(at, *once);
    }
    return std::nullopt;
  }

  Verdict exact_verdict(Point at, Place place) {
    const Exact* inputs = algebras_.exact.draws.at(at, program_.input_elements());
    const auto source = program_.source(place.output, inputs, algebras_.exact.scratch);
    const auto target = program_.target(place.output, inputs, algebras_.exact.scratch);
    std::string text;
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) {
      const Shape& shape = program_.input_shape(i);
      text += rule_.inputs[i].name + " = ";
      append(text, shape, {inputs + program_.input_offset(i), static_cast<std::size_t>(shape.elements())});
      text += "\n";
    }
    fmt::format_to(std::back_inserter(text), "source output {} = ", place.output);
    append(text, program_.source_shape(place.output), source);
    fmt::format_to(std::back_inserter(text), "\ntarget output {} = ", place.output);
    append(text, program_.target_shape(place.output), target);
    return refuted(
        fmt::format("output {} differs at element {}: {} in the source, {} in the target, at {}", place.output,
                    place.element, to_string(source[place.element]), to_string(target[place.element]), shapes_text()),
        std::move(text));
  }

  Verdict real_verdict(Point at, Place place) {
    const Real* inputs = algebras_.real.draws.at(at, program_.input_elements());
    const double source = program_.source(place.output, inputs, algebras_.real.scratch)[place.element].value;
    const double target = program_.target(place.output, inputs, algebras_.real.scratch)[place.element].value;
    std::string text;
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) {
      const Shape& shape = program_.input_shape(i);
      text += rule_.inputs[i].name + " = ";
      append(text, shape,
             {algebras_.exact.draws.at(at, program_.input_elements()) + program_.input_offset(i),
              static_cast<std::size_t>(shape.elements())});
      text += "\n";
    }
    fmt::format_to(std::back_inserter(text), "source output {}, element {} = {}\ntarget output {}, element {} = {}",
                   place.output, place.element, text_of(source), place.output, place.element, text_of(target));
    return refuted(fmt::format("output {} differs at element {}: {} in the source, {} in the target, at {}",
                               place.output, place.element, text_of(source), text_of(target), shapes_text()),
                   std::move(text));
  }

  const Goal& goal_;
  const Rule& rule_;
  const Settings& settings_;
  Algebras& algebras_;
  SizeNames names_;
  Program program_;
  std::vector<std::optional<ConstraintCode>> precondition_;  ///< Nothing: never met.
  std::size_t tried_ = 0;
  std::uint64_t work_ = 0;
};

class EvaluateVerifier final : public Verifier {
 public:
  std::string name() const override { return "evaluate"; }
  std::string summary() const override { return "Refutes by evaluating both sides at small unequal shapes"; }
  bool proves() const override { return false; }
  bool refutes() const override { return true; }
  bool reusable() const override { return true; }

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
    Algebras algebras(settings_.seed);
    std::vector<Verdict> verdicts;
    verdicts.reserve(goals.size());
    Stopwatch watch;
    for (const Goal& goal : goals) {
      verdicts.push_back(Evaluation(goal, settings_, algebras).run());
      verdicts.back().seconds = watch.lap();
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<EvaluateVerifier>(); }

 private:
  Settings settings_;
};

}  // namespace

REWRIGHT_PLUGIN("verifier.evaluate", "1.1.0", "Refutes rules by evaluation at small shapes") {
  registry.add<Verifier>(std::make_unique<EvaluateVerifier>());
}
