#include "training.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

namespace neural {
namespace {

using namespace rewright;
using tune::Features;
using tune::Network;

constexpr std::size_t kBatch = 64;  ///< Programs, or the whole groups that hold as many.
constexpr double kMostLog = 40;

/// Of the same bits with every library: std::normal_distribution is not.
double normal(std::mt19937_64& random) {
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<Matrix<float>> started(const Shape& shape, std::mt19937_64& random) {
  std::vector<Matrix<float>> all;
  for (const Weight& weight : weights_of(shape)) {
    Matrix<float>& values = all.emplace_back(Matrix<float>::Zero(weight.rows, weight.columns));
    if (weight.rows == 1) continue;  // A bias.
    const double deviation = weight.name == "table" ? 0.1 : std::sqrt(1.5 / static_cast<double>(weight.rows));
    for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(deviation * normal(random));
  }
  return all;
}

/// Kingma & Ba, Adam, ICLR 2015.
class Adam {
 public:
  explicit Adam(const std::vector<Matrix<float>>& weights) {
    for (const auto& weight : weights) {
      first_.push_back(Matrix<float>::Zero(weight.rows(), weight.cols()));
      second_.push_back(first_.back());
    }
  }
  void step(std::vector<Matrix<float>>& weights, const std::vector<Tape<float>::Variable>& gradients, double rate) {
    ++steps_;
    constexpr float kFirst = 0.9F, kSecond = 0.999F, kTiny = 1e-8F;
    const auto by =
        static_cast<float>(rate * std::sqrt(1 - std::pow(kSecond, steps_)) / (1 - std::pow(kFirst, steps_)));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto& gradient = gradients[i]->gradient;
      first_[i] = kFirst * first_[i] + (1 - kFirst) * gradient;
      second_[i] = kSecond * second_[i] + (1 - kSecond) * gradient.cwiseProduct(gradient);
      weights[i].array() -= by * first_[i].array() / (second_[i].array().sqrt() + kTiny);
    }
  }

 private:
  std::vector<Matrix<float>> first_, second_;
  int steps_ = 0;
};

/// Examples in batches, in another order for each epoch.
std::vector<std::vector<std::size_t>> batches(const std::vector<Example>& examples, bool by_group,
                                              std::mt19937_64& random) {
  std::vector<std::vector<std::size_t>> units;
  if (by_group) {
    std::map<int, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < examples.size(); ++i) groups[examples[i].group].push_back(i);
    for (auto& [group, members] : groups) units.push_back(std::move(members));
  } else {
    for (std::size_t i = 0; i < examples.size(); ++i) units.push_back({i});
  }
  for (std::size_t i = units.size(); i > 1; --i) std::swap(units[i - 1], units[random() % i]);
  std::vector<std::vector<std::size_t>> all;
  for (const auto& unit : units) {
    if (all.empty() || all.back().size() >= kBatch) all.emplace_back();
    all.back().insert(all.back().end(), unit.begin(), unit.end());
  }
  return all;
}

std::vector<Tape<float>::Variable> on_tape(Tape<float>& tape, const std::vector<Matrix<float>>& weights) {
  std::vector<Tape<float>::Variable> all;
  for (const auto& weight : weights) all.push_back(tape.variable(weight));
  return all;
}

}  // namespace

void train(Ensemble& ensemble, const std::vector<Example>& examples, const Training& training, std::uint64_t seed) {
  std::vector<const Features*> programs;
  double mean = 0, square = 0;
  const auto count = static_cast<double>(examples.size());
  for (const Example& example : examples) {
    programs.push_back(example.features);
    mean += example.label / count;
    square += example.label * example.label / count;
  }
  const double variance = square - mean * mean;
  ensemble.middle = mean;
  ensemble.scale = variance > 1e-12 ? std::sqrt(variance) : 1;
  ensemble.scaling = scaling_of(programs, ensemble.shape.columns);
  const bool ranks = training.loss != Training::Loss::kSquared;
  for (int member = 0; member < training.members; ++member) {
    std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(member));
    std::vector<Matrix<float>> weights = started(ensemble.shape, random);
    Adam adam(weights);
    for (int epoch = 0; epoch < training.epochs; ++epoch) {
      // From the rate to a hundredth of it along a cosine.
      const double done = static_cast<double>(epoch) / training.epochs;
      const double rate = training.rate * (0.01 + 0.99 * 0.5 * (1 + std::cos(std::numbers::pi * done)));
      for (const auto& chosen : batches(examples, ranks, random)) {
        std::vector<const Features*> asked;
        for (const std::size_t i : chosen) asked.push_back(programs[i]);
        Batch<float> batch = batch_of<float>(asked, ensemble.shape, ensemble.scaling);
        batch.labels.resize(static_cast<Index>(chosen.size()), 1);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          batch.labels(static_cast<Index>(i), 0) =
              static_cast<float>((examples[chosen[i]].label - ensemble.middle) / ensemble.scale);
          batch.groups.push_back(examples[chosen[i]].group);
        }
        Tape<float> tape;
        const auto variables = on_tape(tape, weights);
        const auto output = output_of(tape, batch, ensemble.shape, variables);
        using Rank = Tape<float>::Rank;
        const auto loss = ranks
                              ? tape.rank_loss(output, batch.labels, batch.groups,
                                               training.loss == Training::Loss::kHinge ? Rank::kHinge : Rank::kLogistic)
                              : tape.squared_loss(output, batch.labels);
        tape.backward(loss);
        adam.step(weights, variables, rate);
      }
    }
    ensemble.members.push_back(std::move(weights));
  }
}

std::vector<Estimate> Ensemble::predict(std::span<const Features> programs) const {
  std::vector<const Features*> asked;
  for (const Features& program : programs) asked.push_back(&program);
  const Batch<float> batch = batch_of<float>(asked, shape, scaling);
  std::vector<double> means(programs.size()), squares(programs.size());
  for (const auto& member : members) {
    Tape<float> tape;
    const auto output = output_of(tape, batch, shape, on_tape(tape, member));
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const double value = std::clamp(middle + scale * output->value(static_cast<Index>(i), 0), -kMostLog, kMostLog);
      means[i] += value / static_cast<double>(members.size());
      squares[i] += value * value / static_cast<double>(members.size());
    }
  }
  std::vector<Estimate> all;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const double us = std::exp(means[i]);
    all.push_back({us, us * std::sqrt(std::max(0.0, squares[i] - means[i] * means[i]))});
  }
  return all;
}

Result<Network> Ensemble::network() const {
  Network network;
  add_scaling(network, shape, scaling);
  std::vector<std::string> outputs;
  for (std::size_t m = 0; m < members.size(); ++m)
    outputs.push_back(add_member(network, shape, "member" + std::to_string(m) + "/", members[m]));
  network.constants["scale"] = {{1}, std::vector<double>{scale}};
  network.constants["middle"] = {{1}, std::vector<double>{middle}};
  network.constants["least_log"] = {{}, std::vector<double>{-kMostLog}};
  network.constants["most_log"] = {{}, std::vector<double>{kMostLog}};
  network.nodes.push_back({"Concat", outputs, {"outputs"}, {{"axis", std::int64_t{0}}}});
  network.nodes.push_back({"Cast", {"outputs"}, {"outputs_double"}, {{"to", std::int64_t{11}}}});
  network.nodes.push_back({"Mul", {"outputs_double", "scale"}, {"scaled"}});
  network.nodes.push_back({"Add", {"scaled", "middle"}, {"logarithms"}});
  network.nodes.push_back({"Clip", {"logarithms", "least_log", "most_log"}, {"clipped"}});
  network.nodes.push_back({"Exp", {"clipped"}, {"us"}});
  network.output = "us";
  return network;
}

Result<std::unique_ptr<Ensemble>> Ensemble::read(const Network& network, Shape shape) {
  const std::string of = shape.kind == Kind::kGraph ? "graph" : "sequence";
  const auto broken = [&](const std::string& what) {
    return make_error(ErrorCode::kParse, "predictor {}: {} is not as it writes it", of, what);
  };
  const auto tensor = [&](const std::string& name) -> const tune::NetworkTensor* {
    const auto found = network.constants.find(name);
    return found == network.constants.end() ? nullptr : &found->second;
  };
  const auto floats = [&](const std::string& name, std::vector<std::int64_t> sizes) -> const std::vector<float>* {
    const tune::NetworkTensor* found = tensor(name);
    const auto* values =
        found == nullptr || found->sizes != sizes ? nullptr : std::get_if<std::vector<float>>(&found->values);
    if (values == nullptr || !std::ranges::all_of(*values, [](float value) { return std::isfinite(value); }))
      return nullptr;
    return values;
  };
  const auto number = [&](const char* name) -> std::optional<double> {
    const tune::NetworkTensor* found = tensor(name);
    const auto* values = found == nullptr ? nullptr : std::get_if<std::vector<double>>(&found->values);
    if (values == nullptr || values->size() != 1 || !std::isfinite(values->front())) return std::nullopt;
    return values->front();
  };
  auto ensemble = std::make_unique<Ensemble>();
  const auto *means = floats("means", {shape.columns}), *deviations = floats("deviations", {shape.columns});
  const auto scale = number("scale"), middle = number("middle");
  if (means == nullptr || deviations == nullptr || std::ranges::any_of(*deviations, [](float d) { return d <= 0; }))
    return broken("the scaling of the features");
  if (!scale || !middle) return broken("the scaling of the output");
  const tune::NetworkTensor* width = tensor(std::string("member0/") + (shape.kind == Kind::kGraph ? "first_b" : "r"));
  constexpr std::int64_t kMostWidth = 4096, kMostHops = 64, kMostMembers = 1000;
  const std::size_t at = shape.kind == Kind::kGraph ? 1 : 0;
  if (width == nullptr || width->sizes.size() != 2 || width->sizes[at] < 1 || width->sizes[at] > kMostWidth)
    return broken("the width of member 0");
  shape.width = static_cast<int>(width->sizes[at]);
  shape.hops = 0;
  while (shape.hops < kMostHops && tensor("member0/hop" + std::to_string(shape.hops) + "_w") != nullptr) ++shape.hops;
  ensemble->shape = shape;
  ensemble->scaling = {*means, *deviations};
  ensemble->scale = *scale;
  ensemble->middle = *middle;
  for (std::int64_t m = 0; m < kMostMembers; ++m) {
    const std::string prefix = "member" + std::to_string(m) + "/";
    if (tensor(prefix + "table") == nullptr) break;
    auto& weights = ensemble->members.emplace_back();
    for (const Weight& weight : weights_of(shape)) {
      const auto* values = floats(prefix + weight.name, {weight.rows, weight.columns});
      if (values == nullptr) return broken("the weight " + prefix + weight.name);
      weights.push_back(Eigen::Map<const Matrix<float>>(values->data(), weight.rows, weight.columns));
    }
  }
  if (ensemble->members.empty()) return broken("member 0");
  return ensemble;
}

}  // namespace neural
