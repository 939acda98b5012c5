// Every loaded operator means the same over all scalar algebras, and is what its flags say. An operator with a kernel
// of its own over Field is held against its meaning too: terms come from the meaning alone.
#include "conformance/algebra_applications.h"
#include "support/operators.h"

#include <cmath>
#include <functional>

namespace rewright::testing {
namespace {

constexpr std::uint64_t kSeed = 20261122;
constexpr std::size_t kEnough = 15;

std::vector<Application> applications_of(const Operator& op) {
  auto applications = ApplicationSource(op, kSeed).accepted(40, 400, 200'000);
  EXPECT_GE(applications.size(), op.info().max_arity == 0 && op.info().params.empty() ? 1 : kEnough) << op.name();
  return applications;
}

Field field_of(Exact value) {
  return Field::from_integer(value.numerator()) / Field::from_integer(value.denominator());
}
Real real_of(Exact value) {
  return {static_cast<double>(value.numerator()) / static_cast<double>(value.denominator())};
}

template <class To, class From>
std::vector<Tensor<To>> mapped(const std::vector<Tensor<From>>& tensors, const std::function<To(const From&)>& map) {
  std::vector<Tensor<To>> result;
  for (const Tensor<From>& tensor : tensors) {
    std::vector<To> values;
    for (const From& value : tensor.values()) values.push_back(map(value));
    result.emplace_back(tensor.shape(), std::move(values));
  }
  return result;
}

/// Elements of all tensors in one list.
template <class Scalar>
std::vector<Scalar> flat(const std::vector<Tensor<Scalar>>& tensors) {
  std::vector<Scalar> values;
  for (const auto& tensor : tensors) values.insert(values.end(), tensor.values().begin(), tensor.values().end());
  return values;
}

/// Small whole numbers; sevenths, where order plays no role, so that a hidden comparison would be seen over Field.
std::vector<Tensor<Exact>> random_operands(const Application& application, Random& random) {
  const Traits traits = application.op->traits(application.params);
  const std::int64_t denominator = traits.uses_order || traits.uses_functions ? 1 : 7;
  std::vector<Tensor<Exact>> in;
  for (const Shape& shape : application.in) {
    in.emplace_back(shape);
    for (Exact& value : in.back().values()) value = Exact::ratio(random.between(-4, 4), denominator);
  }
  return in;
}

bool close(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return true;  // Where one overflows, terms may be folded before.
  return std::abs(a - b) <= 1e-9 * (1 + std::abs(a) + std::abs(b));
}

/// Order over Field is the real one for small whole numbers only; real parameters bring in fractions. Terms fold those.
bool order_on_fractions(const Application& application) {
  if (!application.op->traits(application.params).uses_order) return false;
  for (const ParamValue& value : application.params.values()) {
    const double* real = std::get_if<double>(&value);
    if (real != nullptr && *real != std::floor(*real)) return true;
  }
  return false;
}

TEST(EveryOperator, MeansTheSameOverEveryAlgebra) {
  for (const Operator* op : loaded().all<Operator>()) {
    Random random(kSeed);
    std::size_t exact_elements = 0;
    for (const Application& application : applications_of(*op)) {
      SCOPED_TRACE(to_string(application));
      const Call call{op, application.params};
      const auto exact_in = random_operands(application, random);
      const auto field_in = mapped<Field, Exact>(exact_in, field_of);
      const auto real_in = mapped<Real, Exact>(exact_in, real_of);
      std::uint32_t next = 0;
      const auto term_in = mapped<Term, Exact>(exact_in, [&next](const Exact&) { return Term::variable(next++); });

      const auto exact = flat(run(call, exact_in));
      const auto field = flat(run(call, field_in));
      const auto real = flat(run(call, real_in));
      const auto term = flat(run(call, term_in));

      const auto exact_values = flat(exact_in);
      const auto field_values = flat(field_in);
      const auto real_values = flat(real_in);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const auto field_term = term[i].evaluate<Field>([&](std::uint32_t v) { return field_values[v]; });
        const auto real_term = term[i].evaluate<Real>([&](std::uint32_t v) { return real_values[v]; });
        const auto exact_term = term[i].evaluate<Exact>([&](std::uint32_t v) { return exact_values[v]; });
        if (!order_on_fractions(application)) {
          ASSERT_EQ(field_term.residue(), field[i].residue())
              << "Field and Term, element " << i << ": " << term[i].to_string();
        }
        ASSERT_TRUE(close(real_term.value, real[i].value)) << "Real and Term, element " << i << ": " << real[i].value;
        if (!exact[i].defined()) continue;
        ++exact_elements;
        ASSERT_EQ(exact_term, exact[i]) << "Exact and Term, element " << i << ": " << to_string(exact[i]);
        ASSERT_TRUE(close(real_of(exact[i]).value, real[i].value)) << "Exact and Real, element " << i;
        if (op->traits(application.params).uses_functions || order_on_fractions(application)) continue;
        ASSERT_EQ(field_of(exact[i]).residue(), field[i].residue()) << "Exact and Field, element " << i;
      }
    }
    EXPECT_TRUE(op->info().uses_functions || exact_elements >= kEnough) << op->name() << ": " << exact_elements;
  }
}

std::vector<Tensor<Field>> random_field_operands(const Application& application, Random& random) {
  std::vector<Tensor<Field>> in;
  for (const Shape& shape : application.in) {
    in.emplace_back(shape);
    for (Field& value : in.back().values()) value = Field::from_residue(random.bits() % Field::kPrime);
  }
  return in;
}

TEST(EveryOperator, IsCommutativeIfItSaysSo) {
  for (const Operator* op : loaded().all<Operator>()) {
    if (!op->info().commutative) continue;
    Random random(kSeed);
    for (const Application& application : applications_of(*op)) {
      SCOPED_TRACE(to_string(application));
      const Call call{op, application.params};
      auto in = random_field_operands(application, random);
      const auto out = flat(run(call, in));
      std::swap(in[0], in[1]);
      const auto swapped = op->infer(application.params, std::vector<Shape>{in[0].shape(), in[1].shape()});
      ASSERT_TRUE(swapped) << swapped.error().message;
      ASSERT_EQ(flat(run(call, in)), out);
    }
  }
}

TEST(EveryOperator, IsLinearInEachOperandIfItSaysSo) {
  std::size_t tested = 0;
  for (const Operator* op : loaded().all<Operator>()) {
    Random random(kSeed);
    for (const Application& application : applications_of(*op)) {
      if (!op->traits(application.params).multilinear) continue;
      ++tested;
      SCOPED_TRACE(to_string(application));
      const Call call{op, application.params};
      for (std::size_t k = 0; k < application.in.size(); ++k) {  // f(.., a u + v, ..) = a f(u) + f(v)
        auto in = random_field_operands(application, random);
        const Tensor<Field> u = in[k], v = random_field_operands(application, random)[k];
        const Field a = Field::from_residue(random.bits() % Field::kPrime);
        const auto of_u = flat(run(call, in));
        in[k] = v;
        const auto of_v = flat(run(call, in));
        for (std::size_t i = 0; i < u.values().size(); ++i) in[k].values()[i] = a * u.values()[i] + v.values()[i];
        const auto of_sum = flat(run(call, in));
        for (std::size_t i = 0; i < of_sum.size(); ++i) {
          ASSERT_EQ(of_sum[i], a * of_u[i] + of_v[i]) << "operand " << k << ", element " << i;
        }
      }
    }
  }
  EXPECT_GE(tested, 8 * kEnough);
}

TEST(EveryOperator, SaysWhatWorkItIs) {
  for (const Operator* op : loaded().all<Operator>()) {
    for (const Application& application : applications_of(*op)) {
      const Work work = op->work(application.params, application.in);
      EXPECT_TRUE(std::isfinite(work.flops) && work.flops >= 0) << to_string(application) << ": " << work.flops;
      EXPECT_TRUE(std::isfinite(work.bytes) && work.bytes >= 0) << to_string(application) << ": " << work.bytes;
    }
  }
}

}  // namespace
}  // namespace rewright::testing
