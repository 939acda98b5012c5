#include "optimize/bodies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "onnx/body.h"

namespace rewright {
namespace {

std::size_t operators_of(const ImportedModel& model) {
  std::size_t count = model.graph.operator_count();
  for (const ImportedBody& body : model.bodies)
    if (body.is_taken) count += operators_of(body.model);
  return count;
}

/// Of searches one after the other, but for what they found.
void add_effort(const OptimizeReport& other, OptimizeReport& report) {
  SearchResult& search = report.search;
  search.steps += other.search.steps;
  search.candidates += other.search.candidates;
  search.stopped_early = search.stopped_early || other.search.stopped_early;
  if (search.note.empty()) search.note = other.search.note;
  report.exact = report.exact || other.exact;
  report.reordered += other.reordered;
  report.seconds += other.seconds;
  report.cpu_seconds += other.cpu_seconds;
  report.out_of_time = report.out_of_time || other.out_of_time;
  for (const std::string& sentence : other.unusable)
    if (std::ranges::find(report.unusable, sentence) == report.unusable.end()) report.unusable.push_back(sentence);
  for (const RefusedRule& refused : other.refused) {
    const auto known = std::ranges::find(report.refused, refused.name, &RefusedRule::name);
    if (known == report.refused.end()) {
      report.refused.push_back(refused);
    } else {
      known->times += refused.times;
    }
  }
}

/// What was found in the bodies of one graph.
struct Inside {
  Graph graph;                         ///< With the rewritten bodies.
  double before_us = 0;                ///< What all bodies cost.
  double change_us = 0;                ///< What the path adds to that, at most 0.
  std::vector<RewriteStep> path = {};  ///< Costs say what the path up to there adds.
  OptimizeReport effort = {};
};

/// What was found in a graph comes after what was found in its bodies.
void join(Inside inside, OptimizeReport& report) {
  SearchResult& search = report.search;
  const double before_us = search.cost_before_us + inside.before_us;
  const double bodies_us = inside.before_us + inside.change_us;
  for (RewriteStep& step : search.path) step.cost_before_us += bodies_us, step.cost_after_us += bodies_us;
  for (RewriteStep& step : inside.path) step.cost_before_us += before_us, step.cost_after_us += before_us;
  search.path.insert(search.path.begin(), inside.path.begin(), inside.path.end());
  search.cost_before_us = before_us;
  search.cost_after_us += bodies_us;
  const SearchResult& effort = inside.effort.search;
  for (CurvePoint& point : search.curve) {
    point.steps += effort.steps, point.candidates += effort.candidates;
    point.seconds += inside.effort.seconds, point.best_us += bodies_us;
  }
  if (!inside.path.empty()) search.curve.insert(search.curve.begin(), {0, 0, 0, before_us});
  add_effort(inside.effort, report);
}

class BodySearch {
 public:
  BodySearch(const ImportedModel& model, const GraphSearch& search)
      : names_(model.names), search_(search), operators_(std::max<std::size_t>(operators_of(model), 1)) {}

  Result<OptimizeReport> run(const ImportedModel& model, bool is_body) {
    Inside inside{model.graph};
    std::map<std::string, std::string> nodes;  // What they are now, by what they were.
    for (const ImportedBody& body : model.bodies) {
      if (!body.is_taken || body.model.graph.operator_count() == 0) continue;
      REWRIGHT_TRY(const OptimizeReport found, run(body.model, true));
      REWRIGHT_CHECK(enter(body, found, nodes.try_emplace(body.node, body.node).first->second, inside));
    }
    const auto operators = static_cast<double>(std::max<std::size_t>(model.graph.operator_count(), 1));
    const double share = std::min(operators / static_cast<double>(operators_), 1.0);
    REWRIGHT_TRY(OptimizeReport report, search_.search(inside.graph, share, is_body));
    join(std::move(inside), report);
    return report;
  }

 private:
  /// Steps in a body, as far as they can be written, become steps of the graph around it.
  Status enter(const ImportedBody& body, const OptimizeReport& found, std::string& node, Inside& inside) const {
    const SearchResult& search = found.search;
    add_effort(found, inside.effort);
    if (!std::isfinite(search.cost_before_us)) return {};
    const double base_us = inside.change_us - search.cost_before_us;
    inside.before_us += search.cost_before_us;
    for (std::size_t i = 0; i < search.path.size(); ++i) {
      const bool is_last = i + 1 == search.path.size();
      REWRIGHT_TRY(const Graph after,
                   is_last ? Result<Graph>(found.best) : written_form(search.path[i].graph, found.exact));
      auto replaced = write(body, after, found.exact, node);
      if (!replaced && replaced.error().code != ErrorCode::kUnsupported) return replaced.error();
      if (!replaced) {
        inside.effort.search.note = fmt::format("rewrites of {} stop before {}: {}", body.attribute,
                                                search.path[i].rule_name, replaced.error().message);
        break;
      }
      REWRIGHT_TRY(inside.graph, with_node(inside.graph, node, *replaced));
      node = *std::move(replaced);
      RewriteStep step = search.path[i];
      step.graph = inside.graph;
      step.cost_before_us += base_us, step.cost_after_us += base_us;
      inside.change_us = step.cost_after_us;
      inside.path.push_back(std::move(step));
    }
    return {};
  }

  [[nodiscard]] Result<std::string> write(const ImportedBody& body, const Graph& after, bool exact,
                                          const std::string& node) const {
    REWRIGHT_TRY(const std::string written, search_.write(after, body.model, exact, names_));
    return with_body(node, body, written);
  }

  const std::set<std::string>& names_;
  const GraphSearch& search_;
  std::size_t operators_;
};

/// Adds a copy of the graph's nodes to the builder.
Status copy_beside(const Graph& graph, const std::string& prefix, GraphBuilder& builder) {
  std::vector<std::vector<Port>> made(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<Port> operands;
    for (const Port port : node.inputs) operands.push_back(made[port.node.value][port.output]);
    if (const InputNode* input = node.input()) {
      REWRIGHT_TRY(const Port port, builder.input(prefix + node.name, node.outputs[0], input->kind, input->constant));
      made[i] = {port};
    } else {
      REWRIGHT_TRY(made[i], builder.copy(node, std::move(operands)));
    }
  }
  for (const Port port : graph.outputs()) builder.output(made[port.node.value][port.output]);
  return {};
}

Status copy_all(const ImportedModel& model, const std::string& prefix, GraphBuilder& builder) {
  REWRIGHT_CHECK(copy_beside(model.graph, prefix, builder));
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    REWRIGHT_CHECK(copy_all(model.bodies[i].model, fmt::format("{}{}/", prefix, i), builder));
  return {};
}

}  // namespace

Result<OptimizeReport> search_with_bodies(const ImportedModel& model, const GraphSearch& search) {
  return BodySearch(model, search).run(model, false);
}

Result<double> cost_with_bodies(const ImportedModel& model, GraphCost& cost) {
  REWRIGHT_TRY(double sum_us, cost.cost_us(model.graph));
  for (const ImportedBody& body : model.bodies) {
    if (!body.is_taken) continue;
    REWRIGHT_TRY(const double body_us, cost_with_bodies(body.model, cost));
    if (std::isfinite(body_us)) sum_us += body_us;
  }
  return sum_us;
}

Result<Graph> side_by_side(const ImportedModel& model) {
  if (model.bodies.empty()) return model.graph;
  GraphBuilder builder;
  REWRIGHT_CHECK(copy_all(model, "", builder));
  return builder.finish();
}

}  // namespace rewright
