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

std::vector<std::string> names(const Kernels& kernels) {
  std::vector<std::string> all;
  for (const Kernel& kernel : kernels.kernels) all.push_back(kernel.name);
  return all;
}

/// The ports that each kernel's parameters stand for: those of temporaries are left out.
std::vector<std::vector<std::uint32_t>> nodes_used(const Kernels& kernels) {
  std::vector<std::vector<std::uint32_t>> all;
  for (const Kernel& kernel : kernels.kernels) {
    auto& used = all.emplace_back();
    for (const auto& port : kernel.tensors) {
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
  EXPECT_THAT(names(kernels), ElementsAre("k0_matmul_relu"));
  EXPECT_THAT(nodes_used(kernels), ElementsAre(ElementsAre(0, 1, 3)));
}

TEST(Kernels, WhatSeveralReadIsKept) {
  GraphBuilder builder(&loaded());
  const Port y = *builder.apply1("relu", {}, {*builder.input("x", floats({4}))});
  builder.output(*builder.apply1("tanh", {}, {y}), "a");
  builder.output(*builder.apply1("sigmoid", {}, {y}), "b");
  EXPECT_THAT(names(*kernels_of(builder.finish())), ElementsAre("k0_relu", "k1_tanh", "k2_sigmoid"));
}

TEST(Kernels, AnOutputIsKept) {
  GraphBuilder builder(&loaded());
  const Port y = *builder.apply1("relu", {}, {*builder.input("x", floats({4}))});
  builder.output(y, "a");
  builder.output(*builder.apply1("tanh", {}, {y}), "b");
  EXPECT_THAT(names(*kernels_of(builder.finish())), ElementsAre("k0_relu", "k1_tanh"));
}

TEST(Kernels, ASumIsNotComputedAgainForEachElementThatReadsIt) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({4, 4}));
  builder.output(*builder.apply1("matmul", {}, {*builder.apply1("matmul", {}, {x, x}), x}), "y");
  EXPECT_THAT(names(*kernels_of(builder.finish())), ElementsAre("k0_matmul", "k1_matmul"));
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
  EXPECT_TRUE(kernels.kernels.empty());
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
  EXPECT_EQ(kernels_of(graph, {}, {{"w", {floats({4}), "w.bin", "w.bin", 0, 16}}})->kernels.size(), 1U);
}

}  // namespace
