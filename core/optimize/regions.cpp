#include "optimize/regions.h"

#include <rewright/optimize/cost.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "graph/data_flow.h"
#include "optimize/chain_form.h"

namespace rewright {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::bidirectionalS>;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::bidirectionalS,
    boost::property<boost::vertex_color_t, boost::default_color_type,
                    boost::property<boost::vertex_distance_t, long,
                                    boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor>>>,
    boost::property<boost::edge_capacity_t, long,
                    boost::property<boost::edge_residual_capacity_t, long,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
constexpr long kNever = 1'000'000'000;
constexpr long kHardly = 1'000;  ///< Where no other cut will do.

/// Cuts lists of operators (in topological order) in two.
class Cutter {
 public:
  explicit Cutter(const Graph& graph) : graph_(graph), flow_(graph) {}

  void cut(std::vector<std::uint32_t> nodes, std::size_t most, std::vector<std::vector<std::uint32_t>>& parts) const {
    if (nodes.size() <= most) {
      parts.push_back(std::move(nodes));
      return;
    }
    auto [first, second] = halves(nodes);
    cut(std::move(first), most, parts);
    cut(std::move(second), most, parts);
  }

 private:
  using Halves = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;

  static void add_edge(Network& net, std::size_t from, std::size_t to, long there, long back) {
    const auto forward = boost::add_edge(from, to, net).first, reverse = boost::add_edge(to, from, net).first;
    boost::put(boost::edge_capacity, net, forward, there);
    boost::put(boost::edge_capacity, net, reverse, back);
    boost::put(boost::edge_reverse, net, forward, reverse);
    boost::put(boost::edge_reverse, net, reverse, forward);
  }

  /// Chains of concats or splits are one operator to the cost model, and are hardly ever parted.
  [[nodiscard]] bool is_one_chain(std::uint32_t from, std::uint32_t to) const {
    return are_one_chain(graph_.nodes()[from], graph_.nodes()[to]);
  }

  /// Vertex 2i is the i-th operator, 2i + 1 what it gives: the edge between them is cut where its tensors cross.
  [[nodiscard]] Halves halves(const std::vector<std::uint32_t>& nodes) const {
    std::map<std::uint32_t, std::size_t> position;
    for (std::size_t i = 0; i < nodes.size(); ++i) position[nodes[i]] = i;
    const std::size_t source = 2 * nodes.size(), sink = source + 1;
    Network net(sink + 1);
    const std::size_t third = std::max<std::size_t>(nodes.size() / 3, 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      bool parted = true;
      for (const DataFlow::Edge& edge : flow_.out_of(nodes[i])) {
        const auto user = position.find(static_cast<std::uint32_t>(edge.to));
        if (user == position.end()) continue;
        // A tensor that is used behind the cut crosses it, wherever else it is used; what is used stands before.
        add_edge(net, 2 * i + 1, 2 * user->second, kNever, 0);
        add_edge(net, 2 * user->second, 2 * i, kNever, 0);
        parted = parted && !is_one_chain(nodes[i], user->first);
      }
      add_edge(net, 2 * i, 2 * i + 1, parted ? static_cast<long>(graph_.nodes()[nodes[i]].outputs.size()) : kHardly,
               kNever);
      if (i < third) add_edge(net, source, 2 * i, kNever, 0);
      if (i >= nodes.size() - third) add_edge(net, 2 * i, sink, kNever, 0);
    }
    boost::boykov_kolmogorov_max_flow(net, source, sink);
    Halves result;
    const auto side = boost::get(boost::vertex_color, net);
    const auto here = boost::get(side, source);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      (boost::get(side, 2 * i) == here ? result.first : result.second).push_back(nodes[i]);
    return result;
  }

  const Graph& graph_;
  DataFlow flow_;
};

/// Which region each operator is in. Work on weights goes where it is first used.
std::vector<std::size_t> assign(const Graph& graph, const std::vector<bool>& weight, std::size_t most,
                                std::size_t& count) {
  std::vector<std::uint32_t> data;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
    if (!graph.nodes()[i].is_input() && !weight[i]) data.push_back(i);
  std::vector<std::vector<std::uint32_t>> parts;
  Cutter(graph).cut(std::move(data), most, parts);
  count = parts.size();
  std::vector<std::size_t> region(graph.nodes().size(), count);
  for (std::size_t r = 0; r < parts.size(); ++r)
    for (const std::uint32_t node : parts[r]) region[node] = r;
  for (std::size_t i = graph.nodes().size(); i-- > 0;)
    for (const Port port : graph.nodes()[i].inputs)
      if (weight[port.node.value]) region[port.node.value] = std::min(region[port.node.value], region[i]);
  for (std::size_t& r : region)
    if (r == count) r = count - 1;  // Weights that are outputs of the graph alone.
  return region;
}

/// Writes one region as a graph.
class Extraction {
 public:
  Extraction(const Graph& graph, const std::vector<bool>& weight, const std::vector<std::size_t>& region, std::size_t r)
      : graph_(graph), weight_(weight), region_(region), r_(r) {}

  Result<Region> extract() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (node.is_input() || region_[i] != r_) continue;
      std::vector<Port> in;
      for (const Port port : node.inputs) {
        REWRIGHT_TRY(const Port made, inside(port));
        in.push_back(made);
      }
      REWRIGHT_TRY(const std::vector<Port> out, builder_.copy(node, std::move(in)));
      for (std::uint32_t o = 0; o < out.size(); ++o) made_[Port{{i}, o}] = out[o];
    }
    REWRIGHT_CHECK(add_outputs());
    region_made_.graph = builder_.finish();
    return std::move(region_made_);
  }

 private:
  Result<Port> inside(Port port) {
    if (const auto made = made_.find(port); made != made_.end()) return made->second;
    const Node& node = graph_.node(port.node);
    const InputKind kind = weight_[port.node.value] ? InputKind::kWeight : InputKind::kData;
    REWRIGHT_TRY(const Port input, builder_.input(fmt::format("t{}_{}", port.node.value, port.output),
                                                  graph_.type(port), kind, node.constant()));
    region_made_.inputs.push_back(port);
    return made_[port] = input;
  }

  Status add_outputs() {
    std::map<Port, bool> needed;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i)
      if (region_[i] != r_ && !graph_.nodes()[i].is_input())
        for (const Port port : graph_.nodes()[i].inputs) needed[port] = true;
    for (const Port port : graph_.outputs()) needed[port] = true;
    for (const auto& [port, yes] : needed) {
      if (region_[port.node.value] != r_ || graph_.node(port.node).is_input()) continue;
      builder_.output(made_.at(port));
      region_made_.outputs.push_back(port);
    }
    return {};
  }

  const Graph& graph_;
  const std::vector<bool>& weight_;
  const std::vector<std::size_t>& region_;
  std::size_t r_;
  GraphBuilder builder_;
  std::map<Port, Port> made_;
  Region region_made_;
};

}  // namespace

Result<std::vector<Region>> cut_into_regions(const Graph& graph, std::size_t most) {
  const std::vector<bool> weight = weight_only(graph);
  std::size_t count = 0;
  const std::vector<std::size_t> region = assign(graph, weight, std::max<std::size_t>(most, 3), count);
  std::vector<Region> regions;
  for (std::size_t r = 0; r < count; ++r) {
    REWRIGHT_TRY(Region made, Extraction(graph, weight, region, r).extract());
    regions.push_back(std::move(made));
  }
  return regions;
}

Result<Graph> put_together(const Graph& graph, const std::vector<Region>& regions,
                           const std::vector<const Graph*>& contents) {
  GraphBuilder builder;
  std::map<Port, Port> whole;  // By tensor of the old graph.
  for (const NodeId input : graph.inputs()) {
    REWRIGHT_TRY(const std::vector<Port> made, builder.copy(graph.node(input), {}));
    whole[Port{input, 0}] = made[0];
  }
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const Graph& content = *contents[r];
    std::vector<std::vector<Port>> made(content.nodes().size());
    for (std::size_t i = 0; i < content.inputs().size(); ++i)
      made[content.inputs()[i].value] = {whole.at(regions[r].inputs[i])};
    for (std::size_t i = 0; i < content.nodes().size(); ++i) {
      const Node& node = content.nodes()[i];
      if (node.is_input()) continue;
      std::vector<Port> in;
      for (const Port port : node.inputs) in.push_back(made[port.node.value][port.output]);
      REWRIGHT_TRY(made[i], builder.copy(node, std::move(in)));
    }
    for (std::size_t i = 0; i < content.outputs().size(); ++i) {
      const Port port = content.outputs()[i];
      whole[regions[r].outputs[i]] = made[port.node.value][port.output];
    }
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    builder.output(whole.at(graph.outputs()[i]),
                   graph.output_names().empty() ? std::string() : graph.output_names()[i]);
  return builder.finish();
}

// --- searching -------------------------------------------------------------------------------------------------

namespace {

/// The regions' paths, one region after the other, as a path of the whole graph.
Result<std::vector<RewriteStep>> joint_path(const SearchProblem& problem, const std::vector<Region>& regions,
                                            const std::vector<SearchResult>& results) {
  std::vector<const Graph*> contents;
  for (const Region& region : regions) contents.push_back(&region.graph);
  std::vector<RewriteStep> path;
  REWRIGHT_TRY(double before_us, problem.engine.cost_us(problem.start));
  for (std::size_t r = 0; r < regions.size(); ++r) {
    for (const RewriteStep& step : results[r].path) {
      contents[r] = &step.graph;
      REWRIGHT_TRY(Graph graph, put_together(problem.start, regions, contents));
      REWRIGHT_TRY(const double after_us, problem.engine.cost_us(graph));
      path.push_back({step.rule_id, step.rule_name, before_us, after_us, std::move(graph)});
      before_us = after_us;
    }
  }
  // Two regions may meet in a kernel that neither knew; after a stop it is not asked about any more.
  while (!path.empty() && !std::isfinite(path.back().cost_after_us)) path.pop_back();
  return path;
}

/// What the whole graph cost while its regions were searched, one after the other.
std::vector<CurvePoint> joint_curve(double start_us, const std::vector<SearchResult>& results) {
  std::vector<CurvePoint> curve = {{0, 0, 0, start_us}};
  CurvePoint done = curve.front();
  for (const SearchResult& result : results) {
    for (std::size_t i = 1; i < result.curve.size(); ++i) {
      const CurvePoint& point = result.curve[i];
      curve.push_back({done.steps + point.steps, done.candidates + point.candidates, done.seconds + point.seconds,
                       curve.back().best_us - (result.curve[i - 1].best_us - point.best_us)});
    }
    done.steps += result.steps, done.candidates += result.candidates;
    done.seconds += result.curve.empty() ? 0 : result.curve.back().seconds;
  }
  return curve;
}

}  // namespace

Result<SearchResult> search_regions(const SearchProblem& problem, SearchStrategy& search, std::size_t most_operators) {
  REWRIGHT_TRY(const std::vector<Region> regions, cut_into_regions(problem.start, most_operators));
  std::vector<const Graph*> starts;
  for (const Region& region : regions) starts.push_back(&region.graph);
  REWRIGHT_TRY(const std::vector<SearchResult> results,
               search_side_by_side(problem, starts, true,
                                   [&](const SearchProblem& part, std::size_t) { return search.clone()->run(part); }));
  SearchResult joint;
  REWRIGHT_TRY(joint.cost_before_us, problem.engine.cost_us(problem.start));
  REWRIGHT_TRY(joint.path, joint_path(problem, regions, results));
  for (const SearchResult& result : results) {
    joint.steps += result.steps, joint.candidates += result.candidates;
    joint.stopped_early = joint.stopped_early || result.stopped_early;
    if (joint.note.empty()) joint.note = result.note;
  }
  joint.curve = joint_curve(joint.cost_before_us, results);
  joint.best = problem.start;
  joint.cost_after_us = joint.cost_before_us;
  if (!joint.path.empty() && joint.path.back().cost_after_us < joint.cost_before_us) {
    joint.best = joint.path.back().graph;
    joint.cost_after_us = joint.path.back().cost_after_us;
  } else {
    joint.path.clear();
    joint.curve.resize(1);
  }
  return joint;
}

}  // namespace rewright
