// A kernel's definition: its applications behind each other, in the element types that it is asked for.
#include "compile/kernel_definition.h"

#include <rewright/optimize/cost_key.h>

#include <gmock/gmock.h>

#include "support/operators.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using rewright::testing::loaded;
using ::testing::ElementsAre;

OwnedKernel read(std::string_view key) {
  auto kernel = from_key(key, loaded());
  if (!kernel) fail(kernel.error().message);
  return *std::move(kernel);
}

std::string text_of(std::string_view key) { return to_string(*definition_of(read(key).kernel())); }

TEST(KernelDefinition, StoresNothingBetweenAnAnchorAndItsConsumer) {
  EXPECT_EQ(text_of("|matmul|data(4, 3)weight(3, 5)+0|relu|data(4, 5)"),
            "y0[i0, i1] = max(sum(k < 3, x0[i0, k] * x1[k, i1]), 0)\n");
}

TEST(KernelDefinition, OperandsFromOutsideAreNumbered) {
  EXPECT_EQ(text_of("|ewadd|data(4)data(4)+0|ewmul|data(4)data(4)"), "y0[i] = (x0[i] + x1[i]) * x2[i]\n");
}

TEST(KernelDefinition, AnOperandThatIsReadTwiceIsOneOutputOfItsMaker) {
  EXPECT_EQ(text_of("|relu|data(4)+0,1|ewmul|data(4)data(4)"), "y0[i] = max(x0[i], 0) * max(x0[i], 0)\n");
}

TEST(KernelDefinition, WeightsAreWeights) {
  const Definition definition = *definition_of(read("|matmul|data(4, 3)weight(3, 5)").kernel());
  EXPECT_EQ(definition.buffers[0].role, BufferRole::kInput);
  EXPECT_EQ(definition.buffers[1].role, BufferRole::kWeight);
}

TEST(KernelDefinition, IsInTheElementTypesThatItIsAskedFor) {
  const OwnedKernel kernel = read("|ewadd|data(4)data(4)");
  const ElementTypes types[] = {{ElementType::kFloat64, {ElementType::kInt32}}};
  const Definition definition = *definition_of(kernel.kernel(), types);
  std::vector<ElementType> elements;
  for (const Buffer& buffer : definition.buffers) elements.push_back(buffer.element);
  EXPECT_THAT(elements, ElementsAre(ElementType::kFloat64, ElementType::kFloat64, ElementType::kInt32));
}

}  // namespace
