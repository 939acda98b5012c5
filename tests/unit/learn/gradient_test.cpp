// Derivatives against differences, in double: in float they prove nothing.
#include <gtest/gtest.h>

#include <random>

#include "../plugins/predictors/neural/networks.h"

namespace neural {
namespace {

using rewright::tune::Features;
using Doubles = Matrix<double>;
using Variable = Tape<double>::Variable;

Doubles drawn(Index rows, Index columns, std::mt19937_64& random) {
  Doubles values(rows, columns);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<double>(random() % 2001) / 1000 - 1;
  return values;
}

/// The greatest difference, by the greatest derivative, of what the tape says and of what small steps say.
double worst(std::vector<Doubles> inputs,
             const std::function<Variable(Tape<double>&, const std::vector<Variable>&)>& loss) {
  const auto value = [&] {
    Tape<double> tape;
    std::vector<Variable> variables;
    for (const Doubles& input : inputs) variables.push_back(tape.variable(input));
    return loss(tape, variables)->value(0, 0);
  };
  Tape<double> tape;
  std::vector<Variable> variables;
  for (const Doubles& input : inputs) variables.push_back(tape.variable(input));
  tape.backward(loss(tape, variables));
  double most = 0, greatest = 1e-12;
  constexpr double kStep = 1e-6;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (Index at = 0; at < inputs[i].size(); ++at) {
      double& number = inputs[i].data()[at];
      const double old = number;
      number = old + kStep;
      const double above = value();
      number = old - kStep;
      const double below = value();
      number = old;
      const double derivative = variables[i]->gradient.data()[at];
      most = std::max(most, std::abs((above - below) / (2 * kStep) - derivative));
      greatest = std::max(greatest, std::abs(derivative));
    }
  }
  return most / greatest;
}

std::vector<Features> programs() {
  std::mt19937_64 random(3);
  std::vector<Features> all;
  for (const std::size_t stages : {1U, 3U, 2U, 4U, 3U}) {
    Features program;
    for (std::size_t s = 0; s < stages; ++s) {
      auto& row = program.stages.emplace_back();
      for (int c = 0; c < 5; ++c) row.push_back(static_cast<double>(random() % 1000));
      program.kinds.push_back(static_cast<std::int64_t>(random() % 4));
      for (std::uint32_t before = 0; before < s; ++before) {
        if (random() % 2 == 0) program.reads.emplace_back(static_cast<std::uint32_t>(s), before);
      }
    }
    all.push_back(std::move(program));
  }
  return all;
}

TEST(Derivatives, OfBothNetworksAndEachLoss) {
  const std::vector<Features> all = programs();
  std::vector<const Features*> asked;
  for (const Features& program : all) asked.push_back(&program);
  for (const Kind kind : {Kind::kGraph, Kind::kSequence}) {
    const Shape shape{kind, 5, 4, 6, 2};
    const Batch<double> batch = batch_of<double>(asked, shape, scaling_of(asked, 5));
    std::mt19937_64 random(11);
    std::vector<Doubles> weights;
    for (const Weight& weight : weights_of(shape)) weights.push_back(drawn(weight.rows, weight.columns, random));
    const Doubles wanted = drawn(static_cast<Index>(all.size()), 1, random);
    const std::vector<int> groups = {0, 0, 1, 1, 1};
    const auto off = [&](int which) {
      return worst(weights, [&](Tape<double>& tape, const std::vector<Variable>& variables) {
        const Variable y = output_of(tape, batch, shape, variables);
        using Rank = Tape<double>::Rank;
        return which == 0 ? tape.squared_loss(y, wanted)
                          : tape.rank_loss(y, wanted, groups, which == 1 ? Rank::kHinge : Rank::kLogistic);
      });
    };
    for (const int which : {0, 1, 2})
      EXPECT_LT(off(which), 1e-6) << "network " << static_cast<int>(kind) << ", loss " << which;
  }
}

TEST(Derivatives, ThatAreWrongAreNoticed) {
  std::mt19937_64 random(5);
  const double off = worst({drawn(3, 2, random)}, [](Tape<double>& tape, const std::vector<Variable>& variables) {
    const Variable y = tape.tanh(variables[0]);
    const Variable loss = tape.squared_loss(tape.columns(y, 0, 1), Doubles::Zero(3, 1));
    y->value *= 2;  // What tanh's derivative is made of.
    return loss;
  });
  EXPECT_GT(off, 1e-3);
}

}  // namespace
}  // namespace neural
