#include "rule/rule_class.h"

#include <rewright/base/mixing.h>
#include <rewright/tensor/term_program.h>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rule/example.h"
#include "rule/uninterpreted.h"

namespace rewright {
namespace {

constexpr std::size_t kSizes = 4;
/// Of all inputs together; larger ones are passed over where there are smaller ones.
constexpr std::int64_t kMostElements = 4096;
constexpr double kTolerance = 1e-9;
constexpr int kUninterpretedDraws = 3;
/// Places where a special number is put, for each and each input.
constexpr int kPlaces = 3;
constexpr int kFalseDraws = 8;
constexpr double kFalseTolerance = 1e-6;

/// Both sides of a rule at some sizes.
struct Sides {
  Graph source, target;

  [[nodiscard]] std::int64_t input_elements() const {
    std::int64_t sum = 0;
    for (const NodeId id : source.inputs()) sum += source.node(id).outputs[0].shape.elements();
    return sum;
  }
};

std::vector<Sides> sides_of(const Rule& rule) {
  std::vector<Sides> all;
  for (const RuleSizes& sizes : small_sizes(rule, kSizes)) {
    const DimBinding extra = bind_sizes(sizes.extra);
    auto source = instantiate(rule.inputs, rule.source, sizes.shapes, extra);
    auto target = instantiate(rule.inputs, rule.target, sizes.shapes, extra);
    if (source && target) all.push_back({*std::move(source), *std::move(target)});
  }
  std::ranges::stable_sort(all, {}, &Sides::input_elements);
  while (all.size() > 1 && all.back().input_elements() > kMostElements) all.pop_back();
  return all;
}

// --- draws -----------------------------------------------------------------------------------------------------------

/// A magnitude in [1, 2) * 2^exponent, the exponent between both.
struct Magnitudes {
  int low = 0;
  int high = 0;
};
constexpr Magnitudes kOrdinary{-1, 1}, kMixed{-30, 30}, kWide{-500, 500}, kHuge{400, 1023}, kTiny{-1060, -400};

double draw(Random& random, Magnitudes magnitudes, bool positive) {
  const double mantissa = 1 + random.fraction();
  const double size = std::ldexp(mantissa, static_cast<int>(random.between(magnitudes.low, magnitudes.high)));
  return positive || random.one_in(2) ? size : -size;
}

using Reals = std::vector<Tensor<Real>>;

Reals draw_inputs(const Graph& graph, Random& random, Magnitudes magnitudes, bool positive) {
  Reals inputs;
  for (const NodeId id : graph.inputs()) {
    inputs.emplace_back(graph.node(id).outputs[0].shape);
    for (Real& x : inputs.back().values()) x.value = draw(random, magnitudes, positive);
  }
  return inputs;
}

// --- exact -----------------------------------------------------------------------------------------------------------

bool same_numbers(const Reals& a, const Reals& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::ranges::equal(a[i].values(), b[i].values(), [](Real x, Real y) {
      return x == y || (std::isnan(x.value) && std::isnan(y.value));
    });
    if (!same) return false;
  }
  return true;
}

bool agree_on(const Sides& sides, const Reals& inputs) {
  const auto a = evaluate<Real>(sides.source, inputs), b = evaluate<Real>(sides.target, inputs);
  return a && b && same_numbers(*a, *b);
}

/// Ordinary numbers, and `special` in one of the inputs, each in its turn: all over it, where a zero that it meets on
/// one side alone shows (positive numbers beside it, so that infinities do not cancel), and at a few places.
bool agree_beside(const Sides& sides, Random& random, double special) {
  for (std::size_t k = 0; k < sides.source.inputs().size(); ++k) {
    Reals all_over = draw_inputs(sides.source, random, kOrdinary, true);
    for (Real& x : all_over[k].values()) x.value = special;
    if (!agree_on(sides, all_over)) return false;
    for (int i = 0; i < kPlaces; ++i) {
      Reals inputs = draw_inputs(sides.source, random, kOrdinary, false);
      auto& values = inputs[k].values();
      if (!values.empty()) values[random.below(values.size())].value = special;
      if (!agree_on(sides, inputs)) return false;
    }
  }
  return true;
}

bool is_exact_at(const Sides& sides, Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Few numbers show less at a time.
  const std::int64_t repeats = std::max<std::int64_t>(1, 24 / std::max<std::int64_t>(1, sides.input_elements()));
  for (std::int64_t i = 0; i < repeats; ++i) {
    for (const Magnitudes magnitudes : {kOrdinary, kMixed, kWide, kHuge, kTiny}) {
      for (const bool positive : {false, true})
        if (!agree_on(sides, draw_inputs(sides.source, random, magnitudes, positive))) return false;
    }
  }
  for (const double special : {0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
    if (!agree_beside(sides, random, special)) return false;
  return true;
}

// --- reassociating ---------------------------------------------------------------------------------------------------

Result<std::vector<Term>> terms_of(const Graph& graph) {
  std::vector<Tensor<Term>> inputs;
  std::uint32_t next = 0;
  for (const NodeId id : graph.inputs()) {
    inputs.emplace_back(graph.node(id).outputs[0].shape);
    for (Term& term : inputs.back().values()) term = Term::variable(next++);
  }
  REWRIGHT_TRY(const auto outputs, evaluate<Term>(graph, inputs));
  std::vector<Term> terms;
  for (const Tensor<Term>& output : outputs) terms.insert(terms.end(), output.values().begin(), output.values().end());
  return terms;
}

bool has_functions(const TermProgram& program) {
  return std::ranges::any_of(program.steps(), [&](const TermStep& step) {
    return step.kind == Term::Kind::kFunction ||
           (step.kind == Term::Kind::kDivide && program.steps()[step.right].kind != Term::Kind::kNumber);
  });
}

bool are_close(const std::vector<Uninterpreted>& a, const std::vector<Uninterpreted>& b) {
  return std::ranges::equal(a, b, [](Uninterpreted x, Uninterpreted y) {
    return std::abs(x.value - y.value) <= kTolerance * (1 + std::abs(x.value) + std::abs(y.value));
  });
}

bool is_reassociating_at(const Sides& sides, Random& random) {
  const auto source = terms_of(sides.source), target = terms_of(sides.target);
  if (!source || !target) return false;
  const TermProgram a(*source), b(*target);
  if (!has_functions(a) && !has_functions(b)) return true;
  for (int i = 0; i < kUninterpretedDraws; ++i) {
    std::vector<Uninterpreted> variables(static_cast<std::size_t>(sides.input_elements()));
    for (Uninterpreted& x : variables) x = {draw(random, {-1, 0}, false), false};
    const auto variable = [&](std::uint32_t v) { return variables[v]; };
    if (!are_close(a.run<Uninterpreted>(variable), b.run<Uninterpreted>(variable))) return false;
  }
  return true;
}

/// Whether the sides differ by more than rounding where both are ordinary numbers: no law of any function then.
bool is_false_at(const Sides& sides, Random& random) {
  for (int i = 0; i < kFalseDraws; ++i) {
    const Reals inputs = draw_inputs(sides.source, random, kOrdinary, i % 2 == 0);
    const auto a = evaluate<Real>(sides.source, inputs), b = evaluate<Real>(sides.target, inputs);
    if (!a || !b || a->size() != b->size()) return true;
    for (std::size_t k = 0; k < a->size(); ++k) {
      const bool close = std::ranges::equal((*a)[k].values(), (*b)[k].values(), [](Real x, Real y) {
        const double bound = kFalseTolerance * (1 + std::abs(x.value) + std::abs(y.value));
        return !std::isfinite(bound) || std::abs(x.value - y.value) <= bound;
      });
      if (!close) return true;
    }
  }
  return false;
}

// --- applications ----------------------------------------------------------------------------------------------------

/// Which applications compute a function or a quotient, by their operators' definitions. Each application is evaluated
/// once, however many rules have it.
class FunctionUses {
 public:
  /// At the rule's example; true where it has none.
  bool any_in(const Rule& rule) {
    if (rule.example.size() != rule.inputs.size()) return true;
    const DimBinding sizes = bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes));
    return any_in(rule.source, rule.example, sizes) || any_in(rule.target, rule.example, sizes);
  }

 private:
  struct Application {
    const Operator* op;
    Params params;
    std::vector<Shape> in;
    friend bool operator==(const Application&, const Application&) = default;
  };
  struct Hash {
    std::size_t operator()(const Application& application) const {
      std::size_t hash = std::hash<const Operator*>()(application.op);
      for (const Shape& shape : application.in)
        for (const std::int64_t size : shape) hash = hash * 31 + static_cast<std::size_t>(size);
      return hash;
    }
  };
  struct Use {
    bool has_functions = true;
    std::vector<Shape> out;
  };

  bool any_in(const Pattern& side, std::span<const Shape> inputs, const DimBinding& sizes) {
    std::vector<std::vector<Shape>> shapes;
    for (const Shape& input : inputs) shapes.push_back({input});
    for (const PatternNode& node : side.nodes) {
      auto params = evaluate(node.params, sizes);
      if (!params) return true;
      Application application{node.op, *std::move(params), {}};
      for (const Port port : node.inputs) application.in.push_back(shapes[port.node.value][port.output]);
      const Use& use = of(std::move(application));
      if (use.has_functions) return true;
      shapes.push_back(use.out);
    }
    return false;
  }
  const Use& of(Application application) {
    const auto known = known_.find(application);
    if (known != known_.end()) return known->second;
    Use use = find(application);
    return known_.emplace(std::move(application), std::move(use)).first->second;
  }
  static Use find(const Application& application) {
    GraphBuilder builder;
    std::vector<Port> in;
    for (std::size_t i = 0; i < application.in.size(); ++i) {
      const auto port = builder.input(fmt::format("x{}", i), {application.in[i]});
      if (!port) return {};
      in.push_back(*port);
    }
    const auto out = builder.apply(*application.op, application.params, std::move(in));
    if (!out) return {};
    Use use;
    for (const Port port : *out) {
      use.out.push_back(builder.shape(port));
      builder.output(port);
    }
    // Linear in each operand: sums of products, which need not be written down.
    use.has_functions = !application.op->traits(application.params).multilinear;
    if (!use.has_functions) return use;
    const auto terms = terms_of(builder.finish());
    use.has_functions = !terms || has_functions(TermProgram(*terms));
    return use;
  }

  std::unordered_map<Application, Use, Hash> known_;
};

/// What the operators say by themselves, where there are no sizes to try; a size in a parameter counts for nothing.
RuleClass class_by_operators(const Rule& rule) {
  for (const Pattern* side : {&rule.source, &rule.target}) {
    for (const PatternNode& node : side->nodes) {
      const auto params = evaluate(node.params, [](SizeVar) { return std::optional<std::int64_t>(1); });
      if (!params) return RuleClass::kRangeChanging;
      const Traits traits = node.op->traits(*params);
      if (traits.uses_functions || !(traits.multilinear || traits.uses_order)) return RuleClass::kRangeChanging;
    }
  }
  return RuleClass::kReassociating;
}

/// At the smallest sizes.
bool is_reassociating(std::span<const Sides> all, Random& random) {
  const auto smallest = all.first(std::min<std::size_t>(all.size(), 2));
  return std::ranges::all_of(smallest, [&](const Sides& sides) { return is_reassociating_at(sides, random); });
}

bool is_range_changing(const Rule& rule, FunctionUses& uses) {
  if (!uses.any_in(rule)) return false;
  Random random(1);
  const std::vector<Sides> all = sides_of(rule);
  if (!all.empty() && is_reassociating(all, random)) return false;  // Exact or not, which takes far longer to say.
  return classify(rule) == RuleClass::kRangeChanging;
}

}  // namespace

std::string_view name_of(RuleClass rule_class) {
  switch (rule_class) {
    case RuleClass::kExact: return "exact";
    case RuleClass::kReassociating: return "reassociating";
    case RuleClass::kRangeChanging: break;
  }
  return "range-changing";
}

RuleClass classify(const Rule& rule) {
  Random random(1);
  const std::vector<Sides> all = sides_of(rule);
  if (all.empty()) return class_by_operators(rule);
  if (std::ranges::all_of(all, [&](const Sides& sides) { return is_exact_at(sides, random); }))
    return RuleClass::kExact;
  if (is_reassociating(all, random)) return RuleClass::kReassociating;
  const bool is_false = std::ranges::any_of(all, [&](const Sides& sides) { return is_false_at(sides, random); });
  return is_false ? RuleClass::kReassociating : RuleClass::kRangeChanging;
}

std::vector<char> are_range_changing(std::span<const Rule> rules) {
  std::vector<char> found(rules.size());
  tbb::enumerable_thread_specific<FunctionUses> uses;
  tbb::parallel_for(std::size_t{0}, rules.size(),
                    [&](std::size_t i) { found[i] = is_range_changing(rules[i], uses.local()) ? 1 : 0; });
  return found;
}

bool is_range_changing(const Rule& rule) { return are_range_changing({&rule, 1})[0] != 0; }

}  // namespace rewright
