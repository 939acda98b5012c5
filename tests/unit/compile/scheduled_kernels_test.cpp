// Scheduled models compute what plain ones do, whatever the sizes, paddings and groups.
#include "compile/scheduled_kernels.h"

#include <gmock/gmock.h>

#include <rewright/base/mixing.h>

#include <cmath>

#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;

std::vector<float> numbers(Random& random, std::int64_t count) {
  std::vector<float> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<float>(random.between(-20, 20)) / 16);
  return all;
}

/// Convolutions, poolings, sums and joins in a row, of sizes that no vector divides.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed), builder_(&loaded()) {}

  ImportedModel make() {
    Port y = *builder_.input("x", floats({1, random_.between(1, 6), 9, random_.between(7, 12)}));
    const std::int64_t layers = random_.between(1, 4);
    for (std::int64_t layer = 0; layer < layers; ++layer) y = next(y);
    builder_.output(y, "y");
    return model_of(builder_.finish());
  }

 private:
  Port relu(Port x) { return *builder_.apply1("relu", {}, {x}); }
  Port convolved(Port x, std::int64_t channels, std::int64_t window, std::int64_t stride, std::int64_t groups) {
    const std::int64_t given = builder_.type(x).shape[1];
    const TensorType type = floats({channels, given / groups, window, window});
    const Port w = *builder_.input("w" + std::to_string(weights_++), type, InputKind::kWeight,
                                   constant(type, numbers(random_, type.shape.elements())));
    return *builder_.apply1("conv2d", {{"strides", std::vector<std::int64_t>{stride, stride}}, {"groups", groups}},
                            {x, w});
  }
  Port next(Port x) {
    const std::int64_t channels = builder_.type(x).shape[1];
    switch (random_.between(0, 5)) {
      case 0: return relu(convolved(x, random_.between(1, 20), 3, random_.between(1, 2), 1));
      case 1: return convolved(x, random_.between(1, 40), 1, 1, 1);
      case 2: return relu(convolved(x, channels, 3, 1, channels));
      case 3: return *builder_.apply1("pool2d_max", {{"kernel", std::vector<std::int64_t>{3, 3}}}, {x});
      case 4: return relu(*builder_.apply1("ewadd", {}, {x, convolved(x, channels, 3, 1, 1)}));
      default:
        return *builder_.apply1("concat", {{"axis", std::int64_t{1}}},
                                {convolved(x, 5, 1, 1, 1), convolved(x, 9, 3, 1, 1)});
    }
  }

  Random random_;
  GraphBuilder builder_;
  int weights_ = 0;
};

TEST(ScheduledKernels, ComputeWhatPlainOnesDo) {
  for (std::uint64_t seed = 0; seed < 24 && !HasFailure(); ++seed) {
    const ImportedModel model = RandomNetwork(seed).make();
    Random random(seed + 1000);
    const std::vector<std::vector<float>> inputs = {
        numbers(random, model.graph.shape({model.graph.inputs()[0], 0}).elements())};
    const auto expected = Library(model).run(inputs), found = Library(scheduled_artefact_of(model)).run(inputs);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected[0].size(); ++i) {
      ASSERT_NEAR(found[0][i], expected[0][i], 1e-4 * (1 + std::abs(expected[0][i]))) << "seed " << seed << ", " << i;
    }
  }
}

TEST(ScheduledKernels, AnInstructionSetIsSaidAndAskedFor) {
  const auto avx512 = instruction_set("vectors-avx512");
  ASSERT_TRUE(avx512) << avx512.error().message;
  const ImportedModel model = RandomNetwork(1).make();
  const auto kernels = scheduled(model.graph, kernels_of_model(model), (*avx512)->unit);
  ASSERT_TRUE(kernels) << kernels.error().message;
  const auto artefact = make_artefact("model", model, *kernels, **loaded().get<Target>("c"), *avx512);
  ASSERT_TRUE(artefact) << artefact.error().message;
  EXPECT_THAT(artefact->files.at("model.h"), ::testing::HasSubstr("Compiled for processors with AVX-512: 2 on others."));
  EXPECT_THAT(artefact->files.at("model.c"), ::testing::HasSubstr("if (!(__builtin_cpu_supports(\"avx512f\")"));
  EXPECT_FALSE(instruction_set("vectors-mmx"));
}

}  // namespace
