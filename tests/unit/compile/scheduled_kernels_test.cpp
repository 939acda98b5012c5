// Kernels with schedules, over tensors that lie otherwise and weights that are packed, compute what the plain ones do.
#include "compile/scheduled_kernels.h"

#include <rewright/base/mixing.h>

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <functional>

#include "compiled_graph.h"
#include "schedule/sketch.h"
#include "tune/this_machine.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;

using Numbers = std::vector<float>;
using List = std::vector<std::int64_t>;

/// A network of convolutions, poolings, sums and concats over images, with a product at its end.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed, bool is_sparse = false)
      : random_(seed), is_sparse_(is_sparse), builder_(&loaded()) {}

  ImportedModel make() {
    const std::int64_t channels = random_.pick(List{1, 3, 4, 8}), size = random_.between(4, 9);
    input_ = {1, channels, size, size + random_.between(0, 2)};
    std::vector<Port> images = {*builder_.input("x", floats(input_))};
    for (int step = 0; step < 6; ++step) images.push_back(next(images));
    for (std::size_t i = 0; i + 1 < images.size(); ++i) {
      if (random_.one_in(4)) builder_.output(images[i + 1]);
    }
    const Port last = images.back();
    const std::int64_t count = shape(last).elements();
    const Port row = *builder_.apply1("reshape", {{"sizes", List{1, count}}}, {last});
    const Port logits = *builder_.apply1("matmul", {}, {row, weight({count, 5})});
    builder_.output(*builder_.apply1("softmax", {{"axis", std::int64_t{1}}}, {logits}));
    return model_of(builder_.finish());
  }
  [[nodiscard]] const Shape& input() const { return input_; }

 private:
  [[nodiscard]] Shape shape(Port port) const { return builder_.shape(port); }
  Port weight(const Shape& shape, std::int64_t least = -8) {
    Numbers numbers(static_cast<std::size_t>(shape.elements()));
    for (float& number : numbers) {
      number = static_cast<float>(random_.between(least, 8)) / 16;
      if (is_sparse_ && shape.rank() == 4 && !random_.one_in(5)) number = 0;
    }
    return *builder_.input(fmt::format("w{}", weights_++), floats(shape), InputKind::kWeight,
                           constant(floats(shape), numbers));
  }
  Port next(const std::vector<Port>& images) {
    const Port from = random_.one_in(4) ? random_.pick(images) : images.back();
    const Shape in = shape(from);
    const std::string padding = in[2] < 4 || in[3] < 4 || random_.one_in(2) ? "same" : "valid";
    const List strides = {random_.between(1, 2), random_.between(1, 2)};
    switch (random_.below(8)) {
      case 0:
      case 1: {
        const std::int64_t kernel = random_.pick(List{1, 3}), out = random_.pick(List{1, 4, 5, 8, 16});
        const bool is_grouped = in[1] % 4 == 0 && out % 4 == 0 && random_.one_in(2);
        const std::int64_t groups = is_grouped ? random_.pick(List{2, 4}) : 1;
        const Port sum = *builder_.apply1("conv2d", {{"strides", strides}, {"padding", padding}, {"groups", groups}},
                                          {from, weight({out, in[1] / groups, kernel, kernel})});
        return random_.one_in(2) ? *builder_.apply1("relu", {}, {sum}) : sum;
      }
      case 2:
        return *builder_.apply1("conv2d", {{"padding", std::string("same")}, {"groups", in[1]}},
                                {from, weight({in[1], 1, 3, 3})});
      case 3: return *builder_.apply1("pool2d_max", {{"kernel", List{3, 3}}, {"padding", padding}}, {from});
      case 4: {
        const std::int64_t kernel = random_.between(2, 3);
        const std::string counted = random_.one_in(3) ? "yes" : "no";
        return *builder_.apply1(
            "pool2d_avg", {{"kernel", List{kernel, kernel}}, {"padding", padding}, {"count_include_pad", counted}},
            {from});
      }
      case 5: {
        const Port other = *builder_.apply1("tanh", {}, {from});
        return *builder_.apply1("ewadd", {}, {other, from});
      }
      case 6: {
        const Shape channels = {in[1]};
        const Port scale = weight(channels), offset = weight(channels), mean = weight(channels);
        return *builder_.apply1("batch_norm", {}, {from, scale, offset, mean, weight(channels, 4)});
      }
      default:
        return *builder_.apply1("concat", {{"axis", std::int64_t{1}}}, {from, *builder_.apply1("relu", {}, {from})});
    }
  }

  Random random_;
  bool is_sparse_;
  GraphBuilder builder_;
  Shape input_;
  int weights_ = 0;
};

std::vector<std::string> dialects_here() {
  std::vector<std::string> dialects = {"vectors-portable"};
  const auto here = tune::described_machine().instructions;
  if (std::ranges::find(here, "AVX2") != here.end()) dialects.emplace_back("vectors-avx2");
  if (std::ranges::find(here, "AVX-512") != here.end()) dialects.emplace_back("vectors-avx512");
  return dialects;
}

/// REWRIGHT_RANDOM_RUNS, or as many as a test may take time for.
std::uint64_t random_runs(std::uint64_t daily) {
  const char* wanted = std::getenv("REWRIGHT_RANDOM_RUNS");
  return wanted == nullptr ? daily : std::strtoull(wanted, nullptr, 10);
}

/// A random choice of a random sketch; nothing where hardly any applies.
std::optional<schedule::OneShot> random_schedule(const loop::Program& program, const schedule::VectorUnit& unit,
                                                 Random& random) {
  const schedule::SketchOptions options{unit};
  const auto sketches = schedule::sketches_of(program, options);
  for (int draw = 0; draw < 30; ++draw) {
    const schedule::Sketch& sketch = random.pick(sketches);
    schedule::Choices choices;
    for (const schedule::SketchKnob& knob : sketch.knobs) choices.push_back(random.between(0, choice_count(knob) - 1));
    if (auto made = realised(sketch, program, options, choices)) return made;
  }
  return std::nullopt;
}

/// Weights of four dimensions, those of convolutions.
WeightWishes sparse_images(const Graph& graph) {
  WeightWishes wishes;
  for (const NodeId id : graph.inputs()) {
    const auto& value = graph.node(id).constant();
    if (value == nullptr || value->type.shape.rank() != 4) continue;
    const auto& bytes = std::get<std::vector<std::byte>>(value->value);
    Numbers numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    wishes[{id, 0}] = {WeightWish::Layout::kChannelsFirst, count_nonzeros(numbers)};
  }
  return wishes;
}

/// `choose`: of a seed and dialect.
void expect_what_plain_ones_do(std::uint64_t runs,
                               const std::function<ScheduleChoice(std::uint64_t, const std::string&)>& choose,
                               bool is_sparse = false) {
  const std::vector<std::string> dialects = dialects_here();
  for (std::uint64_t seed = 0; seed < runs && !::testing::Test::HasFailure(); ++seed) {
    RandomNetwork network(seed, is_sparse);
    const ImportedModel model = network.make();
    Numbers input(static_cast<std::size_t>(network.input().elements()));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = std::sin(static_cast<float>(i * 7 + seed));
    const auto expected = Library(model).run({input});
    const std::string& dialect = dialects[seed % dialects.size()];
    const int threads = 1 + static_cast<int>(seed % 4) / 2;
    const WeightWishes sparse = is_sparse ? sparse_images(model.graph) : WeightWishes();
    const auto found = Library(model, dialect, threads, choose(seed, dialect), sparse).run({input});
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t o = 0; o < found.size(); ++o) {
      ASSERT_EQ(found[o].size(), expected[o].size());
      for (std::size_t i = 0; i < found[o].size(); ++i) {
        ASSERT_NEAR(found[o][i], expected[o][i], 1e-4F * std::max(1.0F, std::abs(expected[o][i])))
            << "seed " << seed << ", " << dialect << ", " << threads << " threads: output " << o << " at " << i << "\n"
            << to_text(model.graph);
      }
    }
  }
}

TEST(ScheduledKernels, ComputeWhatPlainOnesDo) {
  expect_what_plain_ones_do(random_runs(8), [](std::uint64_t, const std::string&) { return ScheduleChoice(); });
}

TEST(ScheduledKernels, ComputeWhatPlainOnesDoWithoutZerosOfWeights) {
  expect_what_plain_ones_do(
      random_runs(12), [](std::uint64_t, const std::string&) { return ScheduleChoice(); }, true);
}

TEST(ScheduledKernels, ComputeWhatPlainOnesDoWithAnySketch) {
  std::size_t chosen = 0;
  expect_what_plain_ones_do(random_runs(12), [&](std::uint64_t seed, const std::string& dialect) -> ScheduleChoice {
    const schedule::VectorUnit unit = (*tune::instruction_set(dialect))->unit;
    return [&chosen, unit, random = Random(seed)](const loop::Program& program) mutable {
      auto made = random_schedule(program, unit, random);
      chosen += made ? 1 : 0;
      return made;
    };
  });
  EXPECT_GT(chosen, 4 * random_runs(12));
}

/// Some steps of a recurrent layer over some sequences, and a product of its last state.
struct Recurrent {
  const char* layer;
  const char* direction;
  std::int64_t batch;
  std::int64_t units;
};
class RecurrentKernels : public ::testing::TestWithParam<Recurrent> {};

TEST_P(RecurrentKernels, ComputeWhatPlainOnesDoInVectors) {
  const auto [layer, direction, batch, units] = GetParam();
  const std::string name = layer;
  const std::int64_t ways = std::string(direction) == "bidirectional" ? 2 : 1, steps = 5, features = 19;
  const std::int64_t gates = name == "lstm" ? 4 : name == "gru" ? 3 : 1;
  Random random(static_cast<std::uint64_t>(units));
  GraphBuilder builder(&loaded());
  int weights = 0;
  const auto weight = [&](const Shape& shape) {
    Numbers numbers(static_cast<std::size_t>(shape.elements()));
    for (float& number : numbers) number = static_cast<float>(random.between(-8, 8)) / 32;
    return *builder.input(fmt::format("w{}", weights++), floats(shape), InputKind::kWeight,
                          constant(floats(shape), numbers));
  };
  std::vector<Port> operands = {*builder.input("x", floats({steps, batch, features})),
                                weight({ways, gates * units, features}), weight({ways, gates * units, units}),
                                weight({ways, 2 * gates * units}), weight({ways, batch, units})};
  if (name == "lstm") operands.push_back(weight({ways, batch, units}));
  std::vector<NamedParam> values = {{"direction", std::string(direction)}};
  if (name == "gru") values.push_back({"reset", std::string(units % 2 == 0 ? "before" : "after")});
  const auto made = builder.apply(name, values, operands);
  ASSERT_TRUE(made) << made.error().message;
  for (const Port port : *made) builder.output(port);
  const ImportedModel model = model_of(builder.finish());
  Numbers input(static_cast<std::size_t>(steps * batch * features));
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = std::sin(static_cast<float>(i * 7));
  const auto expected = Library(model).run({input});
  for (const std::string& dialect : dialects_here()) {
    for (const int threads : {1, 2}) {
      const Library library(model, dialect, threads);
      // One sum for what comes in, one for what comes back; both in vectors.
      const std::string& code = library.artefact().files.at("model.c");
      EXPECT_THAT(code, ::testing::ContainsRegex("fma_v[0-9]+f32.*x1|x1.*\n.*fma_v[0-9]+f32")) << dialect;
      const auto found = library.run({input});
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t o = 0; o < found.size(); ++o)
        for (std::size_t i = 0; i < found[o].size(); ++i)
          ASSERT_NEAR(found[o][i], expected[o][i], 1e-5F) << dialect << ": output " << o << " at " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, RecurrentKernels,
                         ::testing::Values(Recurrent{"lstm", "forward", 1, 32}, Recurrent{"lstm", "reverse", 3, 20},
                                           Recurrent{"lstm", "bidirectional", 1, 16},
                                           Recurrent{"gru", "forward", 1, 32}, Recurrent{"gru", "forward", 2, 33},
                                           Recurrent{"gru", "bidirectional", 1, 17}, Recurrent{"rnn", "forward", 1, 48},
                                           Recurrent{"rnn", "reverse", 4, 16}));

TEST(ScheduledKernels, OfInstructionsThatAreNotHereAreRefusedWhenOpened) {
  const auto here = tune::described_machine().instructions;
  if (std::ranges::find(here, "AVX-512") != here.end()) GTEST_SKIP() << "this processor has all";
  EXPECT_EQ(Library(RandomNetwork(1).make(), "vectors-avx512").opened(), 2);
}

TEST(ScheduledKernels, AnInstructionSetIsSaidAndAskedFor) {
  const Artefact artefact = artefact_of(RandomNetwork(1).make(), "model", "vectors-avx512");
  EXPECT_THAT(artefact.files.at("model.h"), ::testing::HasSubstr("Compiled for processors with AVX-512: 2 on others."));
  EXPECT_THAT(artefact.files.at("model.c"), ::testing::HasSubstr("if (!(__builtin_cpu_supports(\"avx512f\")"));
  EXPECT_FALSE(tune::instruction_set("vectors-mmx"));
}

}  // namespace
