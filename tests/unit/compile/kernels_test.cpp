// A node joins the producer that stores nothing for it; what cannot be compiled is named with its reason.
#include "compile/kernels.h"

#include <gmock/gmock.h>

#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What the functions that are called compute: their names without the key.
std::vector<std::string> names(const Kernels& kernels) {
  std::vector<std::string> all;
  for (const KernelCall& call : kernels.calls) {
    const std::string& name = kernels.functions[call.function].name;
    all.push_back(name.substr(0, name.rfind('_')));
  }
  return all;
}

/// The ports that each call's parameters stand for: those of temporaries are left out.
std::vector<std::vector<std::uint32_t>> nodes_used(const Kernels& kernels) {
  std::vector<std::vector<std::uint32_t>> all;
  for (const KernelCall& call : kernels.calls) {
    auto& used = all.emplace_back();
    for (const auto& port : call.tensors) {
      if (port) used.push_back(port->node.value);
    }
  }
  return all;
}

TEST(Kernels, ANodeJoinsItsProducer) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({4, 3})), w = *builder.input("w", floats({3, 5}));
  builder.output(*builder.apply1("relu", {}, {*builder.apply1("matmul", {}, {x, w})}), "y");
  const Kernels kernels = *kernels_of(builder.finish());
  EXPECT_THAT(names(kernels), ElementsAre("matmul_relu"));
  EXPECT_THAT(nodes_used(kernels), ElementsAre(ElementsAre(0, 1, 3)));
}

TEST(Kernels, WhatSeveralReadIsKept) {
  GraphBuilder builder(&loaded());
  const Port y = *builder.apply1("relu", {}, {*builder.input("x", floats({4}))});
  builder.output(*builder.apply1("tanh", {}, {y}), "a");
  builder.output(*builder.apply1("sigmoid", {}, {y}), "b");
  EXPECT_THAT(names(*kernels_of(builder.finish())), ElementsAre("relu", "tanh", "sigmoid"));
}

TEST(Kernels, AnOutputIsKept) {
  GraphBuilder builder(&loaded());
  const Port y = *builder.apply1("relu", {}, {*builder.input("x", floats({4}))});
  builder.output(y, "a");
  builder.output(*builder.apply1("tanh", {}, {y}), "b");
  EXPECT_THAT(names(*kernels_of(builder.finish())), ElementsAre("relu", "tanh"));
}

TEST(Kernels, ASumIsNotComputedAgainForEachElementThatReadsIt) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({4, 4}));
  builder.output(*builder.apply1("matmul", {}, {*builder.apply1("matmul", {}, {x, x}), x}), "y");
  EXPECT_THAT(names(*kernels_of(builder.finish())), ElementsAre("matmul", "matmul"));
}

TEST(Kernels, EqualKernelsShareAFunction) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({4, 4})), v = *builder.input("v", floats({4, 4}));
  const Port w = *builder.input("w", floats({4, 4}), InputKind::kWeight);
  const auto layer = [&](Port a, Port b) {
    return *builder.apply1("relu", {}, {*builder.apply1("matmul", {}, {a, b})});
  };
  builder.output(layer(layer(x, v), w), "y");
  builder.output(layer(layer(v, x), w), "z");
  const Kernels kernels = *kernels_of(builder.finish(), {}, {{"w", {floats({4, 4}), "w.bin", "w.bin", 0, 64}}});
  EXPECT_EQ(kernels.functions.size(), 2U);  // With a weight and without.
  EXPECT_THAT(nodes_used(kernels),
              ElementsAre(ElementsAre(0, 1, 4), ElementsAre(4, 2, 6), ElementsAre(1, 0, 8), ElementsAre(8, 2, 10)));
}

TEST(Kernels, KernelsOfOtherSizesOrElementTypesDoNotShareAFunction) {
  GraphBuilder builder(&loaded());
  const auto twice = [&](const char* name, TensorType type) {
    const Port x = *builder.input(name, std::move(type));
    builder.output(*builder.apply1("ewadd", {}, {x, x}), std::string(name) + "2");
  };
  twice("small", floats({4}));
  twice("large", floats({5}));
  twice("exact", {{4}, ElementType::kFloat64});
  const Kernels kernels = *kernels_of(builder.finish());
  EXPECT_EQ(kernels.functions.size(), 3U);
  EXPECT_NE(kernels.functions[0].name, kernels.functions[2].name);
  EXPECT_EQ(kernels.functions[2].program.buffers[0].element, ElementType::kFloat64);
}

TEST(Kernels, OperandsBelongToTheirNodesWhateverTheirOrderInTheGraph) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({4})), v = *builder.input("v", floats({4}));
  const Port right = *builder.apply1("tanh", {}, {v});
  const Port left = *builder.apply1("relu", {}, {x});
  builder.output(*builder.apply1("ewadd", {}, {left, right}), "y");
  const Kernels kernels = *kernels_of(builder.finish());
  EXPECT_THAT(names(kernels), ElementsAre("relu_tanh_ewadd"));
  EXPECT_THAT(nodes_used(kernels), ElementsAre(ElementsAre(0, 1, 4)));
}

TEST(Kernels, NamesWhatCannotBeCompiledWithTheReason) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({4}));
  const Port half = *builder.input("half", {{4}, ElementType::kFloat16});
  const Port weight = *builder.input("weight", floats({4}), InputKind::kWeight);
  const Port odd = builder.opaque({"Odd", "bytes"}, {x}, {floats({4})})[0];
  builder.output(half, "h");
  builder.output(*builder.apply1("ewadd", {}, {odd, weight}), "y");
  const CarriedNode carried[] = {{"elsewhere", "Odd", "no operator reads it"}};
  const Kernels kernels = *kernels_of(builder.finish(), carried);
  EXPECT_TRUE(kernels.calls.empty());
  std::vector<std::string> sentences;
  for (const auto& [node, reason] : kernels.not_compiled) sentences.push_back(node + ": " + reason);
  EXPECT_THAT(sentences, ElementsAre("half (input): loop programs do not compute with float16",
                                     "weight (input): the weight's values are not known", "Odd: no operator reads it"));
}

TEST(Kernels, AWeightInAFileIsKnown) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({4})), w = *builder.input("w", floats({4}), InputKind::kWeight);
  builder.output(*builder.apply1("ewadd", {}, {x, w}), "y");
  const Graph graph = builder.finish();
  EXPECT_EQ(kernels_of(graph)->not_compiled.size(), 1U);
  EXPECT_EQ(kernels_of(graph, {}, {{"w", {floats({4}), "w.bin", "w.bin", 0, 16}}})->calls.size(), 1U);
}

}  // namespace
