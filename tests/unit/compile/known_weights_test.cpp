// Work on weights alone is done before the code is made, and gives the same.
#include "compile/known_weights.h"

#include <gmock/gmock.h>

#include <cmath>

#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::ElementsAre;

using Numbers = std::vector<float>;
using List = std::vector<std::int64_t>;

Port weight(GraphBuilder& builder, const char* name, const Shape& shape, float first = 0.5F) {
  Numbers numbers(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = first + static_cast<float>(i % 5) * 0.25F;
  return *builder.input(name, floats(shape), InputKind::kWeight, constant(floats(shape), numbers));
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (node.application()) names.push_back(node.application()->op->name());
  return names;
}

Graph known(const ImportedModel& model) {
  auto graph = with_known_weights(model.graph, model);
  if (!graph) fail(graph.error().message);
  return *std::move(graph);
}

TEST(KnownWeights, AreComputedBefore) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({2, 3}));
  const Port w = weight(builder, "w", {4, 3}), v = weight(builder, "v", {2, 3});
  const Port both = *builder.apply1("concat", {{"axis", std::int64_t{0}}}, {w, v});
  const Port turned = *builder.apply1("transpose", {{"perm", List{1, 0}}}, {both});
  builder.output(*builder.apply1("matmul", {}, {x, turned}), "y");
  builder.output(*builder.apply1("relu", {}, {v}), "z");
  const ImportedModel model = model_of(builder.finish());
  ImportedModel folded = model_of(known(model));
  EXPECT_THAT(operators_of(folded.graph), ElementsAre("matmul"));
  std::size_t weights = 0;
  for (const NodeId id : folded.graph.inputs()) weights += folded.graph.node(id).is_weight() ? 1 : 0;
  EXPECT_EQ(weights, 2) << "what nothing uses is gone";
  EXPECT_THAT(std::vector<std::string>(folded.graph.output_names().begin(), folded.graph.output_names().end()),
              ElementsAre("y", "z"));
  const Numbers input = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Library(folded).run({input}), Library(model).run({input}));
}

TEST(KnownWeights, ThatWouldLoseNumbersAreLeftToTheRun) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({3}));
  const Port w = weight(builder, "w", {3}, 300);
  builder.output(*builder.apply1("ewadd", {}, {x, *builder.apply1("exp", {}, {w})}));
  const ImportedModel model = model_of(builder.finish());
  EXPECT_THAT(operators_of(known(model)), ElementsAre("exp", "ewadd"));
}

TEST(KnownWeights, OfAGraphWithoutAnyLeaveItAsItIs) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({3})), unused = *builder.input("u", floats({3}));
  (void)unused;
  builder.output(*builder.apply1("relu", {}, {x}), "y");
  const ImportedModel model = model_of(builder.finish());
  EXPECT_EQ(to_text(known(model)), to_text(model.graph));
}

}  // namespace
