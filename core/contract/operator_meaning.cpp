// One meaning over all scalar algebras, and what the flags say of it.
#include <rewright/tensor/term_program.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "contract/operator_checks.h"
#include "tensor/real.h"

namespace rewright::contract {

namespace {

Field field_of(Exact value) {
  return Field::from_integer(value.numerator()) / Field::from_integer(value.denominator());
}
Real real_of(Exact value) {
  return {static_cast<double>(value.numerator()) / static_cast<double>(value.denominator())};
}

bool close(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return true;  // Where one overflows, terms may be folded before.
  return std::abs(a - b) <= 1e-9 * (1 + std::abs(a) + std::abs(b));
}

/// Order over Field is the real one for small whole numbers only; real parameters bring in fractions. Terms fold those.
bool order_on_fractions(const Application& application) {
  if (!application.op->traits(application.params).uses_order) return false;
  return std::ranges::any_of(application.params.values(), [](const ParamValue& value) {
    const double* real = std::get_if<double>(&value);
    return real != nullptr && *real != std::floor(*real);
  });
}

/// Small whole numbers; sevenths, where order plays no role, so that a hidden comparison would be seen over Field.
std::vector<Exact> random_exacts(const Application& application, Random& random) {
  const Traits traits = application.op->traits(application.params);
  const std::int64_t denominator = traits.uses_order || traits.uses_functions ? 1 : 7;
  std::int64_t count = 0;
  for (const Shape& shape : application.in) count += shape.elements();
  std::vector<Exact> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(Exact::ratio(random.between(-4, 4), denominator));
  return values;
}

std::vector<Tensor<Field>> random_fields(const Application& application, Random& random) {
  return operands<Field>(application, [&](std::size_t) { return Field::from_residue(random.bits() % Field::kPrime); });
}

/// Outputs that hold one mark or the other before must hold the same afterwards.
template <class Scalar>
Breach leaves_unwritten(const Application& application, const std::vector<Tensor<Scalar>>& in, const char* algebra) {
  const auto first = run(application, in, kMark), second = run(application, in, kOtherMark);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == Scalar::from_integer(kMark) && second[i] == Scalar::from_integer(kOtherMark))
      return fmt::format("over {} element {} of the result is not written", algebra, i);
    if constexpr (!std::is_same_v<Scalar, Real>) {  // Of which NaN is not equal to itself.
      if (first[i] != second[i])
        return fmt::format("over {} element {} of the result is made from what the output held before", algebra, i);
    }
  }
  return std::nullopt;
}

/// A number that is no simple fraction, but next to one that it was rounded from: 0.1666667, and not 1/6.
Breach rounded_constant(std::span<const TermStep> steps) {
  constexpr double kNear = 3e-7;  // A rounding to seven digits, or to float32.
  constexpr double kSimple = 1000;
  for (const TermStep& step : steps) {
    if (step.kind != Term::Kind::kNumber) continue;
    const double value = step.number.defined() ? real_of(step.number).value : step.real;
    for (std::int64_t q = 3; static_cast<double>(q * q) * std::abs(value) <= kSimple && q <= kSimple; ++q) {
      const double p = std::round(value * static_cast<double>(q));
      const double exact = p / static_cast<double>(q);
      if (p == 0 || exact == value || std::abs(exact - value) > kNear * std::abs(value)) continue;
      return fmt::format("the constant {} is not {} over the field and the fractions: write {:.1f} / {} for it",
                         real_text(value), real_text(exact), p, q);
    }
  }
  return std::nullopt;
}

/// Why order over Field may be another one than that of the numbers.
std::string order_hint(const Application& application, std::span<const TermStep> steps) {
  if (!application.op->traits(application.params).uses_order) return {};
  for (const TermStep& step : steps) {
    if (step.kind != Term::Kind::kNumber) continue;
    if (step.number.defined() && Field::kOrderDenominator % static_cast<std::uint64_t>(step.number.denominator()) == 0)
      continue;
    return fmt::format(
        "; the constant {} has no place in the order of the field, which has fractions of 36^4 alone: "
        "compare what is not yet multiplied with it, as max(x, 0)",
        step.number.defined() ? to_string(step.number) : real_text(step.real));
  }
  return {};
}

}  // namespace

Breach leaves_unwritten(const Application& application, Random& random) {
  const std::vector<Exact> values = random_exacts(application, random);
  const auto fields = operands<Field>(application, [&](std::size_t i) { return field_of(values[i]); });
  if (const Breach breach = leaves_unwritten(application, fields, "Field")) return breach;
  const auto exacts = operands<Exact>(application, [&](std::size_t i) { return values[i]; });
  if (const Breach breach = leaves_unwritten(application, exacts, "Exact")) return breach;
  const auto reals = operands<Real>(application, [&](std::size_t i) { return real_of(values[i]); });
  if (const Breach breach = leaves_unwritten(application, reals, "Real")) return breach;
  const auto terms =
      operands<Term>(application, [](std::size_t i) { return Term::variable(static_cast<std::uint32_t>(i)); });
  return leaves_unwritten(application, terms, "Term");
}

Breach algebras_differ(const Application& application, Random& random) {
  const std::vector<Exact> values = random_exacts(application, random);
  const auto exact = run(application, operands<Exact>(application, [&](std::size_t i) { return values[i]; }));
  const auto field = run(application, operands<Field>(application, [&](std::size_t i) { return field_of(values[i]); }));
  const auto real = run(application, operands<Real>(application, [&](std::size_t i) { return real_of(values[i]); }));
  const auto term =
      run(application,
          operands<Term>(application, [](std::size_t i) { return Term::variable(static_cast<std::uint32_t>(i)); }));
  const TermProgram written(term);
  if (Breach rounded = rounded_constant(written.steps())) return rounded;
  const bool fractions = order_on_fractions(application);
  const bool functions = application.op->traits(application.params).uses_functions;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto differ = [&](const char* algebras) -> Breach {
      return fmt::format("element {} differs between {}; written out it is {}{}", i, algebras, term[i].to_string(),
                         order_hint(application, written.steps()));
    };
    const auto field_term = term[i].evaluate<Field>([&](std::uint32_t v) { return field_of(values[v]); });
    const auto real_term = term[i].evaluate<Real>([&](std::uint32_t v) { return real_of(values[v]); });
    if (!fractions && field_term != field[i]) return differ("Field and Term");
    if (!close(real_term.value, real[i].value)) return differ("Real and Term");
    if (!exact[i].defined()) continue;
    if (term[i].evaluate<Exact>([&](std::uint32_t v) { return values[v]; }) != exact[i])
      return differ("Exact and Term");
    if (!close(real_of(exact[i]).value, real[i].value)) return differ("Exact and Real");
    if (!functions && !fractions && field_of(exact[i]) != field[i]) return differ("Exact and Field");
  }
  return std::nullopt;
}

Breach does_not_commute(const Application& application, Random& random) {
  auto in = random_fields(application, random);
  const auto out = run(application, in);
  std::swap(in[0], in[1]);
  Application swapped = application;
  std::swap(swapped.in[0], swapped.in[1]);
  if (const auto shapes = application.op->infer(swapped.params, swapped.in); !shapes)
    return "with the first two operands exchanged it is refused: " + shapes.error().message;
  if (run(swapped, in) == out) return std::nullopt;
  return "with the first two operands exchanged it computes something else";
}

Breach is_not_linear(const Application& application, Random& random) {
  for (std::size_t k = 0; k < application.in.size(); ++k) {  // f(.., a u + v, ..) = a f(u) + f(v)
    auto in = random_fields(application, random);
    const Tensor<Field> u = in[k], v = random_fields(application, random)[k];
    const Field a = Field::from_residue(random.bits() % Field::kPrime);
    const auto of_u = run(application, in);
    in[k] = v;
    const auto of_v = run(application, in);
    for (std::size_t i = 0; i < u.values().size(); ++i) in[k].values()[i] = a * u.values()[i] + v.values()[i];
    const auto of_sum = run(application, in);
    for (std::size_t i = 0; i < of_sum.size(); ++i) {
      if (of_sum[i] != a * of_u[i] + of_v[i])
        return fmt::format("element {} of the result is not linear in operand {}", i, k);
    }
  }
  return std::nullopt;
}

}  // namespace rewright::contract
