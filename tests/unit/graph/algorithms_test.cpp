// Boost.Graph on graphs, isomorphism, canonical form.
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>
#include <gmock/gmock.h>

#include <map>
#include <tuple>

#include "graph/data_flow.h"
#include "support/isomorphism.h"
#include "support/operators.h"
#include "support/random_graph.h"

namespace rewright::testing {
namespace {

BOOST_CONCEPT_ASSERT((boost::GraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<DataFlow>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<DataFlow, std::size_t, boost::vertex_index_t>));

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text, loaded());
  if (!graph) fail(graph.error().message);
  return *std::move(graph);
}

// The same graph with its nodes in another random order that respects operands, operands of commutative operators
// exchanged at random, and other names.
Graph shuffled(const Graph& graph, Random& random) {
  GraphBuilder builder(&loaded());
  std::vector<std::vector<Port>> made(graph.nodes().size());
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const Node& node = graph.node(graph.inputs()[i]);
    made[graph.inputs()[i].value] = {*builder.input(fmt::format("other{}", i), node.outputs[0], node.input()->kind)};
  }
  while (true) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto& operands = graph.nodes()[i].inputs;
      if (made[i].empty() && std::ranges::all_of(operands, [&](Port p) { return !made[p.node.value].empty(); }))
        ready.push_back(i);
    }
    if (ready.empty()) break;
    const std::size_t chosen = random.pick(ready);
    const Node& node = graph.nodes()[chosen];
    std::vector<Port> operands;
    for (const Port port : node.inputs) operands.push_back(made[port.node.value][port.output]);
    const ApplicationNode* made_by = node.application();
    if (made_by && made_by->op->info().commutative && random.one_in(2)) std::swap(operands[0], operands[1]);
    made[chosen] = made_by ? *builder.apply(*made_by, operands, "renamed")
                           : builder.opaque(*node.opaque(), operands, node.outputs);
  }
  for (const Port port : graph.outputs()) builder.output(made[port.node.value][port.output], "renamed");
  return builder.finish();
}

TEST(DataFlow, HasAnEdgePerOperand) {
  const Graph graph = parsed("x = input (4, 4)\ny = input (4, 4)\na = ewadd(x, x)\nb = matmul(y, a)\noutput b");
  const DataFlow flow(graph);
  EXPECT_EQ(num_vertices(flow), 4u);
  EXPECT_EQ(num_edges(flow), 4u);
  EXPECT_EQ(out_degree(0, flow), 2u);
  EXPECT_EQ(in_degree(3, flow), 2u);
  EXPECT_EQ(flow.into(3)[0], (DataFlow::Edge{1, 3, 0, 0}));
  EXPECT_EQ(flow.into(3)[1], (DataFlow::Edge{2, 3, 0, 1}));
  std::vector<std::size_t> neighbours;
  for (auto [at, end] = adjacent_vertices(0, flow); at != end; ++at) neighbours.push_back(*at);
  EXPECT_THAT(neighbours, ::testing::ElementsAre(2, 2));
}

TEST(DataFlow, ServesBoostsAlgorithms) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = random_graph(seed, {.operators = 15});
    const DataFlow flow(graph);
    std::vector<std::size_t> order;
    boost::topological_sort(flow, std::back_inserter(order));
    ASSERT_EQ(order.size(), graph.nodes().size());
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (std::size_t user = 0; user < order.size(); ++user) {
      for (const Port port : graph.nodes()[user].inputs) EXPECT_GT(place[port.node.value], place[user]);
    }
    for (auto [edge, end] = edges(flow); edge != end; ++edge) {
      EXPECT_EQ(graph.nodes()[edge->to].inputs[edge->operand],
                (Port{NodeId{static_cast<std::uint32_t>(edge->from)}, edge->output}));
    }
  }
}

TEST(Isomorphic, UpToNamesNodeOrderAndExchangedOperands) {
  Random random(3);
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Graph graph = random_graph(seed, {.operators = 1 + static_cast<int>(seed % 20), .opaque = seed % 7 == 0});
    const Graph other = shuffled(graph, random);
    EXPECT_TRUE(isomorphic(graph, other)) << to_text(graph) << to_text(other);
    EXPECT_TRUE(isomorphic(graph, other, InputMatching::kAny));
    if (seed % 7 == 0) continue;  // Equal opaque nodes have no order of their own.
    EXPECT_EQ(to_text(canonical(graph)), to_text(canonical(other)));
    EXPECT_EQ(structural_hash(canonical(graph)), structural_hash(canonical(other)));
  }
}

// Isomorphism and the canonical form are computed in different ways, and agree on pairs of small graphs.
TEST(Isomorphic, IsToHaveOneCanonicalForm) {
  std::map<std::string, Graph> forms;
  std::vector<Graph> graphs;
  for (std::uint64_t seed = 0; seed < 60; ++seed) graphs.push_back(random_graph(seed, {.operators = 2}));
  int equal = 0;
  for (const Graph& a : graphs) {
    for (const Graph& b : graphs) {
      const bool same = to_text(canonical(a)) == to_text(canonical(b));
      EXPECT_EQ(isomorphic(a, b), same) << to_text(a) << to_text(b);
      equal += same ? 1 : 0;
    }
  }
  EXPECT_GE(equal, 60);
}

TEST(Canonical, ChangesNothingTwice) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph once = canonical(random_graph(seed, {.operators = 12, .opaque = true}));
    EXPECT_EQ(to_text(canonical(once)), to_text(once));
  }
}

TEST(Canonical, ComputesTheSame) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = random_graph(seed, {.operators = 10});
    std::vector<Tensor<Field>> in;
    for (const NodeId id : graph.inputs()) {
      in.emplace_back(graph.shape({id, 0}));
      for (std::size_t i = 0; i < in.back().values().size(); ++i)
        in.back().values()[i] = Field::from_integer(static_cast<std::int64_t>((i * 7 + id.value * 3) % 11) - 5);
    }
    const auto before = evaluate<Field>(graph, in), after = evaluate<Field>(canonical(graph), in);
    ASSERT_TRUE(before && after);
    for (std::size_t i = 0; i < before->size(); ++i) EXPECT_EQ((*before)[i].values(), (*after)[i].values());
  }
}

struct Pair {
  const char* name;
  const char* a;
  const char* b;
  bool by_position;
  bool any_inputs;
};

class IsomorphicPair : public ::testing::TestWithParam<Pair> {};

TEST_P(IsomorphicPair, AsExpected) {
  const std::string inputs = "x = input (4, 4)\ny = input (4, 4)\n";
  const Graph a = parsed(inputs + GetParam().a), b = parsed(inputs + GetParam().b);
  EXPECT_EQ(isomorphic(a, b), GetParam().by_position);
  EXPECT_EQ(isomorphic(b, a), GetParam().by_position);
  EXPECT_EQ(isomorphic(a, b, InputMatching::kAny), GetParam().any_inputs);
}

const Pair kPairs[] = {
    {"SumExchanged", "a = ewadd(x, y)\noutput a", "a = ewadd(y, x)\noutput a", true, true},
    {"ProductExchanged", "a = matmul(x, y)\noutput a", "a = matmul(y, x)\noutput a", false, true},
    {"OtherOperator", "a = ewadd(x, y)\noutput a", "a = ewmul(x, y)\noutput a", false, false},
    {"OtherParameter", "a = concat(x, y)\noutput a", "a = concat[axis=1](x, y)\noutput a", false, false},
    {"OneInputTwice", "a = ewadd(x, x)\noutput a", "a = ewadd(x, y)\noutput a", false, false},
    {"OtherInput", "a = relu(x)\noutput a", "a = relu(y)\noutput a", false, true},
    {"OutputsExchanged", "a = relu(x)\nb = transpose(x)\noutput a, b", "a = relu(x)\nb = transpose(x)\noutput b, a",
     false, false},
    {"OtherOutputOfSplit", "a, b = split[sizes=[2, 2]](x)\noutput a", "a, b = split[sizes=[2, 2]](x)\noutput b", false,
     false},
    {"PartsExchangedInSum", "a, b = split[sizes=[2, 2]](x)\nc = ewadd(a, b)\noutput c",
     "a, b = split[sizes=[2, 2]](x)\nc = ewadd(b, a)\noutput c", true, true},
    {"PartsExchangedInConcat", "a, b = split[sizes=[2, 2]](x)\nc = concat(a, b)\noutput c",
     "a, b = split[sizes=[2, 2]](x)\nc = concat(b, a)\noutput c", false, false},
    {"SharedOrNot", "a = relu(x)\nb = ewadd(a, a)\noutput b", "a = relu(x)\nb = relu(y)\nc = ewadd(a, b)\noutput c",
     false, false},
    {"DeepExchange", "a = matmul(x, y)\nb = ewadd(a, x)\nc = ewmul(y, b)\noutput c",
     "a = matmul(x, y)\nb = ewadd(x, a)\nc = ewmul(b, y)\noutput c", true, true},
    {"Associated", "a = ewadd(x, y)\nb = ewadd(a, y)\noutput b", "a = ewadd(y, y)\nb = ewadd(x, a)\noutput b", false,
     false},
    {"SymmetricInputs", "a = matmul(x, y)\nb = matmul(y, x)\nc = ewadd(a, b)\noutput c",
     "a = matmul(y, x)\nb = matmul(x, y)\nc = ewadd(a, b)\noutput c", true, true},
};

INSTANTIATE_TEST_SUITE_P(Pairs, IsomorphicPair, ::testing::ValuesIn(kPairs),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Isomorphic, LooksAtTheValuesOfConstants) {
  const auto scaled = [](double factor) {
    GraphBuilder builder(&loaded());
    const Port x = *builder.input("x", TensorType{{2, 2}});
    const Port k = builder.constant({TensorType{{}}, factor});
    builder.output(*builder.apply1("smul", {}, {x, k}));
    return builder.finish();
  };
  EXPECT_TRUE(isomorphic(scaled(2), scaled(2)));
  EXPECT_FALSE(isomorphic(scaled(2), scaled(3)));
  EXPECT_FALSE(isomorphic(scaled(2), scaled(3), InputMatching::kAny));
}

TEST(Isomorphic, OfLargeRegularGraphsIsQuick) {
  std::string text = "x = input (4, 4)\n";
  std::string last = "x";
  for (int layer = 0; layer < 150; ++layer) {
    text += fmt::format("a{0} = relu({1})\nb{0} = transpose({1})\nc{0} = ewadd(a{0}, b{0})\n", layer, last);
    last = fmt::format("c{}", layer);
  }
  const Graph graph = parsed(text + "output " + last);
  Random random(1);
  EXPECT_TRUE(isomorphic(graph, shuffled(graph, random)));
}

TEST(Evaluate, RefusesWhatDoesNotFitTheGraph) {
  const Graph graph = parsed("x = input (2)\ny = input (2)\na = ewadd(x, y)\noutput a");
  const auto refusal = [](const Graph& evaluated, const std::vector<Tensor<Exact>>& inputs) {
    const auto outputs = evaluate<Exact>(evaluated, inputs);
    return outputs ? "no error" : outputs.error().message;
  };
  const Tensor<Exact> two = tensor("(2) 1 2"), three = tensor("(3) 1 2 3");
  EXPECT_EQ(refusal(graph, {two, two}), "no error");
  EXPECT_EQ(refusal(graph, {two}), "the graph has 2 inputs, but 1 values were given");
  EXPECT_EQ(refusal(graph, {two, three}), "input 'y' has shape (2), but the value given has (3)");
  EXPECT_EQ(refusal(parsed("x = input (2)\na = opaque \"Odd\"(x) -> (2)\noutput a"), {two}),
            "the graph cannot be evaluated: no operator knows 'Odd'");
}

TEST(GraphBuilder, RefusesOperandsThatAreNotOfTheGraph) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", TensorType{{2}});
  EXPECT_EQ(builder.apply1("ewadd", {}, {x, {NodeId{7}, 0}}).error().message,
            "ewadd: operand 1 is not a tensor of this graph");
  EXPECT_EQ(builder.apply1("relu", {}, {{x.node, 1}}).error().message, "relu: operand 0 is not a tensor of this graph");
}

TEST(GraphBuilder, CopiesNodesOfEachKind) {
  GraphBuilder original(&loaded());
  const Port x = *original.input("x", TensorType{{2, 2}}), k = original.constant({TensorType{{}}, 3.0});
  const Port a = original.apply1("smul", {}, {x, k}).value(), b = original.opaque({"Odd", "bytes"}, {a}, {{{2}}})[0];
  original.output(b, "b");
  const Graph graph = original.finish();
  GraphBuilder builder;
  std::vector<std::vector<Port>> made;
  for (const Node& node : graph.nodes()) {
    std::vector<Port> operands;
    for (const Port port : node.inputs) operands.push_back(made[port.node.value][port.output]);
    made.push_back(*builder.copy(node, operands));
  }
  builder.output(made.back().front(), "b");
  const Graph copied = builder.finish();
  EXPECT_EQ(to_text(copied), to_text(graph));
  EXPECT_EQ(structural_hash(copied), structural_hash(graph)) << "what opaque nodes hold counts too";
  EXPECT_EQ(copied.node(k.node).constant(), graph.node(k.node).constant());
  EXPECT_FALSE(builder.copy(graph.node(a.node), {{NodeId{7}, 0}, {NodeId{8}, 0}})) << "operands are checked";
}

TEST(Node, IsOneOfThreeKinds) {
  const Graph graph = parsed("x = input (2)\nw = weight (2)\na = ewadd(x, w)\nb = opaque \"Odd\"(a) -> (2)\noutput b");
  const auto kinds = [&](std::uint32_t i) {
    const Node& node = graph.node(NodeId{i});
    return std::tuple(node.is_data(), node.is_weight(), node.application() != nullptr, node.opaque() != nullptr);
  };
  EXPECT_EQ(kinds(0), std::tuple(true, false, false, false));
  EXPECT_EQ(kinds(1), std::tuple(false, true, false, false));
  EXPECT_EQ(kinds(2), std::tuple(false, false, true, false));
  EXPECT_EQ(kinds(3), std::tuple(false, false, false, true));
  EXPECT_TRUE(graph.node(NodeId{2}).applies("ewadd"));
  for (const std::uint32_t other : {0U, 1U, 3U}) EXPECT_FALSE(graph.node(NodeId{other}).applies("ewadd"));
  EXPECT_EQ(to_string(*graph.node(NodeId{2}).application()), "ewadd");
}

}  // namespace
}  // namespace rewright::testing
