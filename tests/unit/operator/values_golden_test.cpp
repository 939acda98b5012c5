// What the operators of this tree compute, as hashes: values.golden was made when each operator was written as loops
// over its tensors, and holds what their definitions give to the same bits.
//
//   NAME ALGEBRA HASH      of all results of 60 random applications
//
// Operators that came later have nothing but their definitions, and no line.
//
// Over Real only operators without functions: libm's last bits are its own.
#include <rewright/base/mixing.h>
#include <rewright/plugin/registry.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "contract/applications.h"

namespace rewright {
namespace {

using contract::Application;

std::uint64_t bits(Field value) { return value.residue(); }
std::uint64_t bits(Exact value) {
  return mix(static_cast<std::uint64_t>(value.numerator()), static_cast<std::uint64_t>(value.denominator()));
}
std::uint64_t bits(Real value) { return std::isnan(value.value) ? 1 : std::bit_cast<std::uint64_t>(value.value); }
std::uint64_t bits(const Term& value) {
  return value
      .evaluate<Field>([](std::uint32_t variable) { return Field::from_residue(mix(variable + 1) % Field::kPrime); })
      .residue();
}

template <class Scalar>
Scalar drawn(Random& random, std::uint32_t& variable) {
  if constexpr (std::is_same_v<Scalar, Field>) {
    return random.one_in(2) ? Field::from_residue(random.bits() % Field::kPrime)
                            : Field::from_integer(random.between(-5, 5));
  } else if constexpr (std::is_same_v<Scalar, Exact>) {
    return Exact::ratio(random.between(-40, 40), random.between(1, 9));
  } else if constexpr (std::is_same_v<Scalar, Real>) {
    return {static_cast<double>(random.between(-1000000, 1000000)) / 65537.0};
  } else {
    return random.one_in(4) ? Term::from_integer(random.between(-1, 2)) : Term::variable(variable++);
  }
}

template <class Scalar>
std::uint64_t hash_of(const Application& application, Random& random) {
  std::uint32_t variable = 0;
  std::vector<Tensor<Scalar>> in, out;
  for (const Shape& shape : application.in) {
    in.emplace_back(shape);
    for (Scalar& value : in.back().values()) value = drawn<Scalar>(random, variable);
  }
  const std::vector<Shape> shapes = *application.op->infer(application.params, application.in);
  for (const Shape& shape : shapes) out.emplace_back(shape);
  std::vector<TensorView<const Scalar>> in_views;
  std::vector<TensorView<Scalar>> out_views;
  for (const Tensor<Scalar>& tensor : in) in_views.push_back(tensor.view());
  for (Tensor<Scalar>& tensor : out) out_views.push_back(tensor.view());
  application.op->evaluate(application.params, Inputs<Scalar>(in_views), Outputs<Scalar>(out_views));
  std::uint64_t hash = out.size();
  for (const Tensor<Scalar>& tensor : out)
    for (const Scalar& value : tensor.values()) hash = mix(hash, bits(value));
  return hash;
}

template <class Scalar>
std::string line_of(const char* algebra, const std::vector<Application>& applications) {
  Random random(1);
  std::uint64_t hash = 0;
  for (const Application& application : applications) hash = mix(hash, hash_of<Scalar>(application, random));
  return fmt::format("{} {} {:016x}\n", applications.front().op->name(), algebra, hash);
}

std::string computed(const std::string& golden) {
  Registry registry;
  if (const Status status = registry.load_default(); !status) return status.error().message;
  std::string text;
  for (const Operator* op : registry.all<Operator>()) {
    if (golden.find(op->name() + " Field ") == std::string::npos) continue;
    const auto applications = contract::ApplicationSource(*op, 7).accepted(60, 400, 200'000);
    text += line_of<Field>("Field", applications) + line_of<Exact>("Exact", applications);
    if (!op->info().uses_functions) text += line_of<Real>("Real", applications);
    text += line_of<Term>("Term", applications);
  }
  return text;
}

TEST(Values, AreThoseOfTheGoldenFile) {
  std::ostringstream golden;
  golden << std::ifstream(REWRIGHT_SOURCE_DIR "/tests/unit/operator/values.golden").rdbuf();
  EXPECT_EQ(computed(golden.str()), golden.str());
}

}  // namespace
}  // namespace rewright
