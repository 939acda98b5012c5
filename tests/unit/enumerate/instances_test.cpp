// What `instances = false` leaves out follows from what it keeps: shown by rewriting, in an e-graph that shares nothing
// with the program's.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "enumerate/enumerator.h"
#include "support/operators.h"

namespace rewright {
namespace {

OperatorChoice choice(const std::string& name, const std::string& params = "") {
  const auto [op, values] = rewright::testing::call(name + params);
  return {op, values};
}

/// Tensors that are known to be equal, and the applications that make them.
class Equalities {
 public:
  using Class = std::size_t;

  std::vector<Class> add(const Graph& graph) {
    std::map<Port, Class> classes;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      const NodeId id{static_cast<std::uint32_t>(i)};
      if (node.is_input()) {
        const auto [place, fresh] = inputs_.try_emplace(node.name, parents_.size());
        if (fresh) new_class(node.outputs[0].shape);
        classes[{id, 0}] = place->second;
        continue;
      }
      std::vector<Class> operands;
      for (const Port port : node.inputs) operands.push_back(classes.at(port));
      const auto made = apply(node, operands);
      for (std::uint32_t k = 0; k < made.size(); ++k) classes[{id, k}] = made[k];
    }
    std::vector<Class> outputs;
    for (const Port port : graph.outputs()) outputs.push_back(classes.at(port));
    return outputs;
  }

  bool equal(const std::vector<Class>& a, const std::vector<Class>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (find(a[i]) != find(b[i])) return false;
    }
    return a.size() == b.size();
  }

  /// Applies source = target wherever the source is found. Has anything changed?
  bool rewrite(const Graph& source, const Graph& target) {
    std::vector<std::map<Port, Class>> found;
    std::map<Port, Class> bound;
    match(source, 0, bound, found);
    bool changed = false;
    for (const auto& match : found) changed = instantiate(source, target, match) || changed;
    return changed;
  }

  void close() {
    for (bool changed = true; changed;) {
      changed = false;
      std::map<Key, std::vector<Class>> nodes;
      for (const auto& [key, outputs] : nodes_) {
        const auto [place, fresh] = nodes.try_emplace(canonical(key), outputs);
        if (fresh) continue;
        for (std::size_t k = 0; k < outputs.size(); ++k) changed = merge(outputs[k], place->second[k]) || changed;
      }
      nodes_ = std::move(nodes);
    }
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  struct Key {
    const Operator* op = nullptr;
    std::string params;
    std::vector<Class> operands;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Class new_class(const Shape& shape) {
    parents_.push_back(parents_.size());
    shapes_.push_back(shape);
    return parents_.size() - 1;
  }
  Class find(Class c) {
    while (parents_[c] != c) c = parents_[c] = parents_[parents_[c]];
    return c;
  }
  bool merge(Class a, Class b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    parents_[std::max(a, b)] = std::min(a, b);
    return true;
  }
  Key canonical(Key key) {
    for (Class& operand : key.operands) operand = find(operand);
    if (key.op->info().commutative) std::sort(key.operands.begin(), key.operands.end());
    return key;
  }
  static std::string text(const ApplicationNode& node) { return to_string(node.op->info().params, node.params); }

  std::vector<Class> apply(const Node& node, const std::vector<Class>& operands) {
    const Key key = canonical({node.application()->op, text(*node.application()), operands});
    if (const auto known = nodes_.find(key); known != nodes_.end()) return known->second;
    std::vector<Class> made;
    for (const TensorType& output : node.outputs) made.push_back(new_class(output.shape));
    nodes_[key] = made;
    return made;
  }

  bool bind(const Graph& graph, Port port, Class to, std::map<Port, Class>& bound) {
    const auto [place, fresh] = bound.try_emplace(port, find(to));
    if (!fresh) return place->second == find(to);
    return graph.nodes()[port.node.value].outputs[port.output].shape == shapes_[find(to)];
  }

  void match(const Graph& graph, std::size_t at, const std::map<Port, Class>& bound,
             std::vector<std::map<Port, Class>>& found) {
    while (at < graph.nodes().size() && graph.nodes()[at].is_input()) ++at;
    if (at == graph.nodes().size()) {
      found.push_back(bound);
      return;
    }
    const Node& node = graph.nodes()[at];
    const NodeId id{static_cast<std::uint32_t>(at)};
    const Operator* op = node.application()->op;
    const std::string params = text(*node.application());
    for (const auto& [key, outputs] : nodes_) {
      if (key.op != op || key.params != params) continue;
      for (int crossed = 0; crossed <= (op->info().commutative ? 1 : 0); ++crossed) {
        auto more = bound;
        bool fits = true;
        for (std::size_t i = 0; i < node.inputs.size(); ++i)
          fits = fits && bind(graph, node.inputs[i], key.operands[crossed != 0 ? 1 - i : i], more);
        for (std::uint32_t k = 0; k < outputs.size(); ++k) fits = fits && bind(graph, {id, k}, outputs[k], more);
        if (fits) match(graph, at + 1, more, found);
      }
    }
  }

  bool instantiate(const Graph& source, const Graph& target, const std::map<Port, Class>& match) {
    std::map<std::string, Class> inputs;
    for (const auto& [port, to] : match) {
      const Node& node = source.nodes()[port.node.value];
      if (node.is_input()) inputs[node.name] = to;
    }
    std::map<Port, Class> classes;
    for (std::size_t i = 0; i < target.nodes().size(); ++i) {
      const Node& node = target.nodes()[i];
      const NodeId id{static_cast<std::uint32_t>(i)};
      if (node.is_input()) {
        if (const auto known = inputs.find(node.name); known != inputs.end()) classes[{id, 0}] = known->second;
        continue;
      }
      std::vector<Class> operands;
      for (const Port port : node.inputs) {
        if (!classes.contains(port)) return false;  // An input that the source does not have.
        operands.push_back(classes.at(port));
      }
      const auto made = apply(node, operands);
      for (std::uint32_t k = 0; k < made.size(); ++k) classes[{id, k}] = made[k];
    }
    bool changed = false;
    for (std::size_t i = 0; i < source.outputs().size(); ++i) {
      const auto of_source = match.find(source.outputs()[i]);
      const auto of_target = classes.find(target.outputs()[i]);
      if (of_source != match.end() && of_target != classes.end())
        changed = merge(of_source->second, of_target->second) || changed;
    }
    return changed;
  }

  std::map<std::string, Class> inputs_;
  std::map<Key, std::vector<Class>> nodes_;
  std::vector<Class> parents_;
  std::vector<Shape> shapes_;
};

std::vector<Candidate> candidates_of(const EnumerationConfig& config) {
  std::vector<Candidate> all;
  const auto report = enumerate(config, [&](Candidate candidate) -> Status {
    all.push_back(std::move(candidate));
    return {};
  });
  EXPECT_TRUE(report) << report.error().message;
  return all;
}

bool follows(const Candidate& claim, const std::vector<Candidate>& from) {
  constexpr int kRounds = 6;
  constexpr std::size_t kMostApplications = 150;
  Equalities known;
  const auto source = known.add(claim.source), target = known.add(claim.target);
  known.close();
  for (int round = 0; round < kRounds && known.size() < kMostApplications; ++round) {
    if (known.equal(source, target)) return true;
    bool changed = false;
    for (const Candidate& each : from) {
      changed = known.rewrite(each.source, each.target) || changed;
      changed = known.rewrite(each.target, each.source) || changed;
      if (known.size() >= kMostApplications) break;
    }
    known.close();
    if (!changed) break;
  }
  return known.equal(source, target);
}

struct Space {
  std::vector<OperatorChoice> operators;
  std::vector<Shape> inputs;
  int max_operators = 3;
};

/// Of the candidates with instances, every so many-th follows from the ones without. How many more there are.
std::size_t expect_that_all_follow(const Space& space, std::size_t every = 1) {
  EnumerationConfig config;
  config.operators = space.operators;
  config.max_operators = space.max_operators;
  for (std::size_t i = 0; i < space.inputs.size(); ++i)
    config.inputs.push_back({fmt::format("x{}", i), space.inputs[i], InputKind::kData});
  const auto all = candidates_of(config);
  config.instances = false;
  const auto some = candidates_of(config);
  EXPECT_LE(some.size(), all.size());
  for (std::size_t i = 0; i < all.size(); i += every) {
    EXPECT_TRUE(follows(all[i], some)) << to_text(all[i].source) << "=>\n" << to_text(all[i].target);
  }
  return all.size() - some.size();
}

TEST(Instances, WhatIsLeftOutFollowsFromWhatIsKeptUpToThreeOperators) {
  const std::vector<Shape> shapes = {{2, 2}, {2, 2}, {2, 3}, {3, 2}, {}};
  std::size_t left_out = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<OperatorChoice> choices = {choice("ewadd"),
                                           choice("ewmul"),
                                           choice("matmul"),
                                           choice("transpose"),
                                           choice("relu"),
                                           choice("smul"),
                                           choice("concat", "[axis=0]"),
                                           choice("concat", "[axis=1]"),
                                           choice("split", "[axis=1, sizes=[]]"),
                                           choice("constant_identity", "[sizes=[2, 2]]")};
    std::shuffle(choices.begin(), choices.end(), random);
    choices.resize(2 + random() % 2);
    Space space{choices, {}, 3};
    for (std::size_t i = 0; i < 2 + random() % 2; ++i) space.inputs.push_back(shapes[random() % shapes.size()]);
    left_out += expect_that_all_follow(space);
  }
  EXPECT_GT(left_out, 500U);
}

TEST(Instances, WhatIsLeftOutFollowsFromWhatIsKeptUpToFourOperators) {
#ifdef REWRIGHT_SANITIZED
  constexpr std::size_t kEvery = 10;  // A minute otherwise is half an hour there.
#else
  constexpr std::size_t kEvery = 1;
#endif
  const Space few = {{choice("relu"), choice("ewmul")}, {{2, 2}}, 4};
  const Space more = {{choice("relu"), choice("transpose"), choice("ewadd")}, {{2, 2}}, 4};
  const Space two = {{choice("concat", "[axis=0]"), choice("relu")}, {{2, 2}, {2, 2}}, 4};
  EXPECT_GT(expect_that_all_follow(few, 41 * kEvery), 50U);
  EXPECT_GT(expect_that_all_follow(more, 211 * kEvery), 100U);
  EXPECT_GT(expect_that_all_follow(two, 211 * kEvery), 100U);
}

TEST(Instances, NoCandidateComesTwiceWhereInputsHaveSeveralShapes) {
  EnumerationConfig config;
  config.operators = {choice("concat", "[axis=0]"), choice("concat", "[axis=1]"), choice("relu"), choice("ewadd")};
  config.max_operators = 3;
  config.instances = false;
  config.inputs = {{"x", {2, 2}, InputKind::kData, {{2, 3}}},
                   {"y", {2, 2}, InputKind::kData, {{3, 2}}},
                   {"z", {2, 2}, InputKind::kData, {{2, 3}}}};
  std::set<std::string> ids;
  for (const Candidate& candidate : candidates_of(config)) EXPECT_TRUE(ids.insert(candidate.id).second);
  EXPECT_GT(ids.size(), 20U);
}

}  // namespace
}  // namespace rewright
