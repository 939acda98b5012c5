// Kernels as text: one key for equal kernels, read back to the same, sizes apart.
#include <rewright/optimize/cost_key.h>

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/operators.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;
using testing::loaded;

/// All applications of a graph.
OwnedKernel kernel_in(std::string_view text) {
  const Graph graph = *parse_graph(text, loaded());
  std::vector<NodeId> nodes;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
    if (graph.nodes()[i].application() != nullptr) nodes.push_back({i});
  return kernel_of(graph, nodes);
}

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all = {
      "x = input (2)\na = relu(x)\noutput a\n",
      "x = input (1, 3, 8, 8)\nw = weight (4, 3, 3, 3)\nb = weight (4)\nc = conv2d[strides=[2, 2]](x, w)\n"
      "d = bias_add[axis=1](c, b)\ne = relu(d)\noutput e\n",
      "x = input (4, 4)\ny = input (4, 4)\na = exp(x)\nb = ewadd(y, a)\nc = matmul(b, a)\noutput c\n",
      "x = input (2, 6)\na, b = split[axis=1, sizes=[2, 4]](x)\nc = relu(b)\nd = concat[axis=1](c, a)\noutput d\n",
      "x = input (4, 4)\na = leaky_relu[alpha=0.1](x)\nb = reshape[sizes=[2, 8]](a)\noutput b\n",
      "x = input (2, 2)\na = relu(x)\nb = tanh(x)\noutput a, b\n",
  };
  return all;
}

TEST(KernelKey, IsAChainAsItAlwaysWas) {
  EXPECT_EQ(to_key(kernel_in(texts()[1]).kernel()),
            "|conv2d[strides=[2, 2]]|data(1, 3, 8, 8)weight(4, 3, 3, 3)+0|bias_add|data(1, 4, 4, 4)weight(4)"
            "+0|relu|data(1, 4, 4, 4)");
}

TEST(KernelKey, NamesWhichOutputOfWhichApplicationIsTaken) {
  EXPECT_EQ(to_key(kernel_in(texts()[2]).kernel()),
            "|exp|data(4, 4)+1|ewadd|data(4, 4)data(4, 4)+0,1:0|matmul|data(4, 4)data(4, 4)");
  EXPECT_THAT(to_key(kernel_in(texts()[3]).kernel()), HasSubstr("+0:0.1|relu|data(2, 4)+0,1:0|concat"));
}

TEST(KernelKey, IsReadBackToTheSameKernel) {
  for (const std::string& text : texts()) {
    const OwnedKernel kernel = kernel_in(text);
    const auto again = from_key(to_key(kernel.kernel()), loaded());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_key(again->kernel()), to_key(kernel.kernel()));
    ASSERT_EQ(again->size(), kernel.size());
    for (std::size_t i = 0; i < again->size(); ++i) {
      EXPECT_TRUE(again->part(i).params == kernel.part(i).params);
      EXPECT_EQ(again->part(i).in, kernel.part(i).in);
    }
  }
}

TEST(KernelKey, KeepsTheOrdersOfTheAxes) {
  const std::vector<Shape> in = {Shape{1, 16, 4, 4}};
  const std::vector<InputKind> kinds = {InputKind::kData};
  const std::vector<AxisOrder> orders = {{0, 1, 2, 3, -16}, {}};
  const Params none;
  const Application relu{**loaded().get<Operator>("relu"), none, in, kinds, orders};
  const std::string key = to_key(Kernel{{&relu, 1}});
  EXPECT_EQ(key, "|relu|data(1, 16, 4, 4)@0123-16@");
  const auto again = from_key(key, loaded());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->part(0).orders, orders);
}

TEST(KernelKey, DoesNotDependOnTheOrderInWhichAGraphWasWritten) {
  const std::string_view one =
      "x = input (4, 4)\ny = input (4, 4)\na = exp(x)\nb = tanh(y)\nc = matmul(a, b)\noutput c\n";
  const std::string_view other =
      "x = input (4, 4)\ny = input (4, 4)\nb = tanh(y)\na = exp(x)\nc = matmul(a, b)\noutput c\n";
  EXPECT_EQ(to_key(kernel_in(one).kernel()), to_key(kernel_in(other).kernel()));
  const std::string_view swapped =
      "x = input (4, 4)\ny = input (4, 4)\na = exp(x)\nb = tanh(y)\nc = matmul(b, a)\noutput c\n";
  EXPECT_NE(to_key(kernel_in(one).kernel()), to_key(kernel_in(swapped).kernel()));
}

TEST(KernelKey, OfOtherSizesHasTheSameStructure) {
  const auto split = [](int first, int rows) {
    return fmt::format("x = input ({}, 6)\na, b = split[axis=1, sizes=[{}, {}]](x)\nc = relu(b)\noutput a, c\n", rows,
                       first, 6 - first);
  };
  const KernelKey one = key_of(kernel_in(split(2, 3)).kernel()), other = key_of(kernel_in(split(1, 7)).kernel());
  EXPECT_EQ(one.structure, other.structure);
  EXPECT_NE(one.sizes, other.sizes);
  EXPECT_NE(key_of(kernel_in("x = input (3, 6)\na = relu(x)\noutput a\n").kernel()).structure, one.structure);
}

TEST(KernelKey, AndItsSizesAreTheKernel) {
  for (const std::string& text : texts()) {
    const OwnedKernel kernel = kernel_in(text);
    const KernelKey key = key_of(kernel.kernel());
    const auto again = from_key(key.structure, loaded(), key.sizes);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_key(again->kernel()), to_key(kernel.kernel()));
  }
}

TEST(KernelKey, ThatIsDamagedIsRefused) {
  for (const auto& [key, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "expected '|'"},
           {"relu|data(2)", "expected '|'"},
           {"|relu", "an operator and '|'"},
           {"|nothing|data(2)", "nothing"},
           {"|relu|data(2", "', ' or ')'"},
           {"|relu|data(x)", "a number"},
           {"|relu|data(-2)", "a size"},
           {"|relu|data(99999999999999999999)", "a number"},
           {"|relu|data(s0)", "a size that is given"},
           {"|relu|data(2)!", "'+' or the end"},
           {"|relu|data(2)+0:1|relu|data(2)", "an application before this one"},
           {"|relu|data(2)+1|relu|data(2)", "as many operands as are joined"},
           {"|relu|data(2)+0|relu|data(3)", "joins shapes that differ"},
           {"|relu|data(2)+0:0.1|relu|data(2)", "joins shapes that differ"},
           {"|relu[|data(2)", "end with ']'"},
           {"|elu[alph=1]|data(2)", "alph"},
           {"|matmul|data(2, 3)", "matmul"}}) {
    const auto read = from_key(key, loaded());
    ASSERT_FALSE(read) << key;
    EXPECT_THAT(read.error().message, HasSubstr(why)) << key;
  }
}

TEST(KernelKey, ThatIsDamagedAnywhereIsReadOrRefused) {
  for (const std::string& text : texts()) {
    const std::string key = to_key(kernel_in(text).kernel());
    for (std::size_t at = 0; at < key.size(); ++at)
      for (const char letter : {'(', ')', '[', ']', '|', '+', '-', '9', 's', '\0'}) {
        std::string damaged = key;
        damaged[at] = letter;
        if (const auto read = from_key(damaged, loaded()); read) {
          EXPECT_FALSE(to_key(read->kernel()).empty());
        }
      }
  }
}

}  // namespace
}  // namespace rewright
