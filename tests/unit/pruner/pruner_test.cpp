// What the pruners drop and, above all, what they must not drop.
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/pruner.h>
#include <rewright/rule/rule.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace rewright {
namespace {

class Pruners : public testing::Test {
 protected:
  Pruners() {
    if (const Status status = registry_.load_default(); !status) ADD_FAILURE() << status.error().message;
  }

  using Body = std::function<std::vector<Port>(GraphBuilder&, std::vector<Port>)>;

  // A graph over x, y, z of shape (4, 4) and a weight w of that shape.
  Graph graph(const Body& body) {
    GraphBuilder builder(&registry_);
    std::vector<Port> inputs;
    for (const char* name : {"x", "y", "z"}) inputs.push_back(*builder.input(name, {Shape{4, 4}}));
    inputs.push_back(*builder.input("w", {Shape{4, 4}}, InputKind::kWeight));
    for (const Port port : body(builder, inputs)) builder.output(port);
    return builder.finish();
  }

  std::unique_ptr<PruneSession> start(const char* pruner) {
    const Pruner* found = registry_.find<Pruner>(pruner);
    if (found == nullptr) {
      ADD_FAILURE() << "no pruner " << pruner;
      return nullptr;
    }
    return *found->start({});
  }

  Registry registry_;
};

using Ports = std::vector<Port>;

Port relu(GraphBuilder& b, Port x) { return *b.apply1("relu", {}, {x}); }
Port add(GraphBuilder& b, Port x, Port y) { return *b.apply1("ewadd", {}, {x, y}); }
Port mul(GraphBuilder& b, Port x, Port y) { return *b.apply1("ewmul", {}, {x, y}); }
Port matmul(GraphBuilder& b, Port x, Port y) { return *b.apply1("matmul", {}, {x, y}); }
Port transpose(GraphBuilder& b, Port x) { return *b.apply1("transpose", {}, {x}); }

// matmul(p, matmul(q, r)) and matmul(matmul(p, q), r) over inputs p, q, r.
Ports right_nested(GraphBuilder& b, Port p, Port q, Port r) { return {matmul(b, p, matmul(b, q, r))}; }
Ports left_nested(GraphBuilder& b, Port p, Port q, Port r) { return {matmul(b, matmul(b, p, q), r)}; }

TEST_F(Pruners, RenamingDropsACandidateWithInputsExchanged) {
  auto session = start("renaming");
  EXPECT_FALSE(session->offer({"a", graph([](auto& b, Ports in) { return right_nested(b, in[0], in[1], in[2]); }),
                               graph([](auto& b, Ports in) { return left_nested(b, in[0], in[1], in[2]); })}));
  const auto removal =
      session->offer({"b", graph([](auto& b, Ports in) { return right_nested(b, in[2], in[0], in[1]); }),
                      graph([](auto& b, Ports in) { return left_nested(b, in[2], in[0], in[1]); })});
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->by, "a");
}

TEST_F(Pruners, RenamingDropsTheExchangeOfSourceAndTarget) {
  auto session = start("renaming");
  const Graph source = graph([](auto& b, Ports in) { return right_nested(b, in[0], in[1], in[2]); });
  const Graph target = graph([](auto& b, Ports in) { return left_nested(b, in[0], in[1], in[2]); });
  EXPECT_FALSE(session->offer({"a", source, target}));
  ASSERT_TRUE(session->offer({"b", target, source}));
}

TEST_F(Pruners, RenamingKeepsCandidatesInWhichDifferentInputsAreShared) {
  auto session = start("renaming");
  // (x y) z and (x y) x: one input is used twice in the second.
  EXPECT_FALSE(session->offer({"a", graph([](auto& b, Ports in) { return right_nested(b, in[0], in[1], in[2]); }),
                               graph([](auto& b, Ports in) { return left_nested(b, in[0], in[1], in[2]); })}));
  EXPECT_FALSE(session->offer({"b", graph([](auto& b, Ports in) { return right_nested(b, in[0], in[1], in[0]); }),
                               graph([](auto& b, Ports in) { return left_nested(b, in[0], in[1], in[0]); })}));
}

TEST_F(Pruners, RenamingTellsAWeightFromAnInput) {
  auto session = start("renaming");
  EXPECT_FALSE(session->offer({"a", graph([](auto& b, Ports in) { return right_nested(b, in[0], in[1], in[2]); }),
                               graph([](auto& b, Ports in) { return left_nested(b, in[0], in[1], in[2]); })}));
  EXPECT_FALSE(session->offer({"b", graph([](auto& b, Ports in) { return right_nested(b, in[0], in[1], in[3]); }),
                               graph([](auto& b, Ports in) { return left_nested(b, in[0], in[1], in[3]); })}));
}

TEST_F(Pruners, RenamingSeesThroughTheOrderOfOperandsOfSums) {
  auto session = start("renaming");
  const auto source = [](auto& b, Ports in) { return Ports{relu(b, add(b, in[0], mul(b, in[1], in[2])))}; };
  const auto swapped = [](auto& b, Ports in) { return Ports{relu(b, add(b, mul(b, in[0], in[2]), in[1]))}; };
  const auto target = [](auto& b, Ports in) { return Ports{add(b, in[0], mul(b, in[1], in[2]))}; };
  const auto target_swapped = [](auto& b, Ports in) { return Ports{add(b, mul(b, in[2], in[0]), in[1])}; };
  EXPECT_FALSE(session->offer({"a", graph(source), graph(target)}));
  EXPECT_TRUE(session->offer({"b", graph(swapped), graph(target_swapped)}));
}

TEST_F(Pruners, RenamingDropsWhatMatchingDoesByItself) {
  auto session = start("renaming");
  const auto removal = session->offer({"a", graph([](auto& b, Ports in) { return Ports{add(b, in[0], in[1])}; }),
                                       graph([](auto& b, Ports in) { return Ports{add(b, in[1], in[0])}; })});
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->by, "");
}

TEST_F(Pruners, RenamingIgnoresTheOrderOfOutputs) {
  auto session = start("renaming");
  const auto pair = [](bool exchanged) {
    return [exchanged](auto& b, Ports in) {
      Ports ports = {relu(b, add(b, in[0], in[1])), transpose(b, in[2])};
      if (exchanged) std::swap(ports[0], ports[1]);
      return ports;
    };
  };
  const auto other = [](bool exchanged) {
    return [exchanged](auto& b, Ports in) {
      Ports ports = {add(b, in[0], relu(b, in[1])), relu(b, in[2])};
      if (exchanged) std::swap(ports[0], ports[1]);
      return ports;
    };
  };
  EXPECT_FALSE(session->offer({"a", graph(pair(false)), graph(other(false))}));
  EXPECT_TRUE(session->offer({"b", graph(pair(true)), graph(other(true))}));
}

// transpose(transpose(x)) = x, the smaller candidate that the others follow from.
Candidate double_transpose(Pruners&,
                           const std::function<Graph(const std::function<Ports(GraphBuilder&, Ports)>&)>& graph) {
  return {"base", graph([](auto& b, Ports in) { return Ports{transpose(b, transpose(b, in[0]))}; }),
          graph([](auto&, Ports in) { return Ports{in[0]}; })};
}

class CommonSubgraph : public Pruners {
 protected:
  CommonSubgraph() : session_(start("common_subgraph")) {
    EXPECT_FALSE(session_->offer(double_transpose(*this, [&](const Body& body) { return graph(body); })));
  }
  std::unique_ptr<PruneSession> session_;
};

TEST_F(CommonSubgraph, BelowIsDropped) {
  const auto removal =
      session_->offer({"a", graph([](auto& b, Ports in) { return Ports{transpose(b, transpose(b, relu(b, in[0])))}; }),
                       graph([](auto& b, Ports in) { return Ports{relu(b, in[0])}; })});
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->by, "base");
}

TEST_F(CommonSubgraph, AboveIsDropped) {
  const auto removal =
      session_->offer({"a", graph([](auto& b, Ports in) { return Ports{relu(b, transpose(b, transpose(b, in[0])))}; }),
                       graph([](auto& b, Ports in) { return Ports{relu(b, in[0])}; })});
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->by, "base");
}

TEST_F(CommonSubgraph, BesideIsDropped) {
  const auto removal = session_->offer({"a", graph([](auto& b, Ports in) {
                                          return Ports{transpose(b, transpose(b, in[0])), relu(b, in[1])};
                                        }),
                                        graph([](auto& b, Ports in) {
                                          return Ports{in[0], relu(b, in[1])};
                                        })});
  ASSERT_TRUE(removal);
}

TEST_F(CommonSubgraph, AboveBelowAndBesideAtOnceIsDropped) {
  const auto removal =
      session_->offer({"a", graph([](auto& b, Ports in) {
                         const Port shared = matmul(b, in[0], in[1]);
                         return Ports{relu(b, add(b, transpose(b, transpose(b, shared)), in[2])), shared};
                       }),
                       graph([](auto& b, Ports in) {
                         const Port shared = matmul(b, in[0], in[1]);
                         return Ports{relu(b, add(b, in[2], shared)), shared};
                       })});
  ASSERT_TRUE(removal);
}

TEST_F(CommonSubgraph, ASharedPartThatTheRestNeedsIsNot) {
  // relu(relu(x)) = relu(x) holds; what the shared relu(x) leaves over, relu(t) = t, does not and was never offered.
  EXPECT_FALSE(session_->offer({"a", graph([](auto& b, Ports in) { return Ports{relu(b, relu(b, in[0]))}; }),
                                graph([](auto& b, Ports in) { return Ports{relu(b, in[0])}; })}));
}

TEST_F(CommonSubgraph, AnOperatorOnTopThatMakesDifferentThingsEqualIsNot) {
  // relu(x + relu(x)) = relu(x) + relu(x): inside the outer sum nothing is equal.
  EXPECT_FALSE(
      session_->offer({"a", graph([](auto& b, Ports in) { return Ports{relu(b, add(b, in[0], relu(b, in[0])))}; }),
                       graph([](auto& b, Ports in) { return Ports{add(b, relu(b, in[0]), relu(b, in[0]))}; })}));
}

TEST_F(CommonSubgraph, TheSameOperatorWithOtherParametersIsNot) {
  // transpose(transpose(x), perm) is another operator on top of each side.
  EXPECT_FALSE(session_->offer(
      {"a", graph([](auto& b, Ports in) { return Ports{matmul(b, transpose(b, in[0]), transpose(b, in[1]))}; }),
       graph([](auto& b, Ports in) { return Ports{transpose(b, matmul(b, in[1], in[0]))}; })}));
}

TEST_F(Pruners, DerivableKeepsWhatItsLimitsLeaveNoRoomFor) {
  std::vector<Rule> rules;
  for (const char* text : {"(x:2) relu(relu(x)) => relu(x)", "(x:2) relu(relu(relu(x))) => relu(x)"}) {
    auto rule = parse_rule(text, registry_);
    ASSERT_TRUE(rule) << rule.error().message;
    rule->id = rule_id(*rule);
    rules.push_back(*std::move(rule));
  }
  const auto kept = [&](const Options& options) {
    const auto session = registry_.find<Pruner>("derivable")->start_on_rules(options);
    if (!session) return ADD_FAILURE() << session.error().message, 0;
    const auto removals = (*session)->prune(rules, registry_, {});
    if (!removals) return ADD_FAILURE() << removals.error().message, 0;
    return static_cast<int>(std::ranges::count_if(*removals, [](const auto& removal) { return !removal; }));
  };
  EXPECT_EQ(kept({}), 1) << "the second follows from the first";
  EXPECT_EQ(kept({{"nodes", std::int64_t{2000}}, {"matches", std::int64_t{2000}}}), 1);
  EXPECT_EQ(kept({{"nodes", std::int64_t{1}}}), 2);
  EXPECT_EQ(kept({{"matches", std::int64_t{1}}}), 1);
}

TEST_F(Pruners, DerivableNamesTheOptionsThatItHas) {
  for (const Options& options :
       {Options{{"depth", std::int64_t{3}}}, {{"nodes", std::int64_t{0}}}, {{"matches", std::string("many")}}}) {
    const auto session = registry_.find<Pruner>("derivable")->start_on_rules(options);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().message, "pruner derivable cannot take the option '" + options.begin()->first +
                                           "'; it has nodes and matches, integers from 1 on");
  }
}

/// A pruner that says of neither candidates nor rules that it works on them.
class Idle final : public Pruner {
 public:
  [[nodiscard]] std::string name() const override { return "idle"; }
  [[nodiscard]] std::string summary() const override { return "of a test"; }
};

TEST_F(Pruners, OneThatWorksOnNeitherSaysSo) {
  EXPECT_EQ(Idle().start({}).error().message, "pruner idle works on rules, not on candidates");
  EXPECT_EQ(Idle().start_on_rules({}).error().message, "pruner idle works on candidates, not on rules");
}

TEST_F(Pruners, AnUnknownOptionIsRefusedByName) {
  for (const char* name : {"renaming", "common_subgraph"}) {
    const auto session = registry_.find<Pruner>(name)->start({{"depth", std::int64_t{3}}});
    ASSERT_FALSE(session) << name;
    EXPECT_NE(session.error().message.find("'depth'"), std::string::npos) << session.error().message;
  }
}

}  // namespace
}  // namespace rewright
