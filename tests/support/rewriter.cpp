#include "support/rewriter.h"

#include <algorithm>
#include <utility>

namespace rewright {

Rewriter::Rewriter(std::vector<Rule> rules) : rules_(std::move(rules)) {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (auto compiled = CompiledRule::compile(rules_[i])) {
      compiled_.emplace_back(i, *std::move(compiled));
    } else {
      unusable_.push_back({i, compiled.error().message});
    }
  }
}

std::vector<Match> Rewriter::matches(const Graph& graph) const {
  const GraphIndex index(graph);
  std::vector<Match> found;
  for (const auto& [position, rule] : compiled_) rule.find(index, position, found);
  return found;
}

// --- applying --------------------------------------------------------------------------------------------------

namespace {

/// The graph after a match was replaced, made node by node in the order in which operands are needed.
///
/// A task is a node of the old graph, or (after those) a node of the target.
class Replacement {
 public:
  Replacement(const Graph& graph, const Rule& rule, const Match& match, std::span<const Port> replaced,
              DimBinding sizes)
      : graph_(graph),
        rule_(rule),
        match_(match),
        replaced_(replaced),
        sizes_(std::move(sizes)),
        is_replaced_(graph.nodes().size(), false),
        made_(graph.nodes().size() + rule.target.nodes.size()),
        state_(made_.size(), State::kNew) {
    for (Port port : replaced) is_replaced_[port.node.value] = true;
  }

  Result<Graph> build() {
    for (NodeId input : graph_.inputs()) {
      REWRIGHT_TRY(made_[input.value], builder_.copy(graph_.node(input), {}));
      state_[input.value] = State::kDone;
    }
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      REWRIGHT_TRY(const Place place, resolve(graph_.outputs()[i]));
      REWRIGHT_CHECK(make(place.task));
      builder_.output(port_at(place), graph_.output_names().empty() ? std::string() : graph_.output_names()[i]);
    }
    for (Port port : replaced_) REWRIGHT_CHECK(check_type(port));
    return builder_.finish();
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  struct Place {
    std::size_t task = 0;
    std::uint32_t output = 0;
  };

  [[nodiscard]] bool is_target(std::size_t task) const { return task >= graph_.nodes().size(); }
  [[nodiscard]] Port port_at(Place place) const { return made_[place.task][place.output]; }

  [[nodiscard]] Error cyclic() const {
    return make_error(ErrorCode::kUnsupported, "rule {}: replacing this match would make the graph cyclic", rule_.name);
  }

  /// Where the value of a tensor of the old graph comes from. A target that is a bare input leads on to another tensor.
  [[nodiscard]] Result<Place> resolve(Port port) const {
    for (std::size_t hops = 0; hops <= replaced_.size(); ++hops) {
      if (!is_replaced_[port.node.value]) return Place{port.node.value, port.output};
      const auto at = std::find(replaced_.begin(), replaced_.end(), port);
      if (at == replaced_.end()) return Place{port.node.value, port.output};
      const Port target = rule_.target.outputs[static_cast<std::size_t>(at - replaced_.begin())];
      if (target.node.value >= rule_.inputs.size())
        return Place{graph_.nodes().size() + target.node.value - rule_.inputs.size(), target.output};
      port = match_.inputs[target.node.value];
    }
    return cyclic();
  }
  [[nodiscard]] Result<Place> operand(std::size_t task, std::size_t k) const {
    if (!is_target(task)) return resolve(graph_.nodes()[task].inputs[k]);
    const Port port = rule_.target.nodes[task - graph_.nodes().size()].inputs[k];
    if (port.node.value < rule_.inputs.size()) return resolve(match_.inputs[port.node.value]);
    return Place{graph_.nodes().size() + port.node.value - rule_.inputs.size(), port.output};
  }
  [[nodiscard]] std::size_t operand_count(std::size_t task) const {
    return is_target(task) ? rule_.target.nodes[task - graph_.nodes().size()].inputs.size()
                           : graph_.nodes()[task].inputs.size();
  }

  /// Makes a task after all that it needs: depth first, with a stack of its own, so that deep graphs are no matter.
  Status make(std::size_t wanted) {
    if (state_[wanted] == State::kDone) return {};
    state_[wanted] = State::kOpen;
    std::vector<std::pair<std::size_t, std::size_t>> open = {{wanted, 0}};
    while (!open.empty()) {
      auto& [task, next] = open.back();
      if (next == operand_count(task)) {
        REWRIGHT_TRY(made_[task], is_target(task) ? apply_target(task) : copy(task));
        state_[task] = State::kDone;
        open.pop_back();
        continue;
      }
      REWRIGHT_TRY(const Place place, operand(task, next));
      ++next;
      if (state_[place.task] == State::kDone) continue;
      if (state_[place.task] == State::kOpen) return cyclic();
      state_[place.task] = State::kOpen;
      open.emplace_back(place.task, 0);
    }
    return {};
  }

  Result<std::vector<Port>> operands(std::size_t task) const {
    std::vector<Port> ports(operand_count(task));
    for (std::size_t k = 0; k < ports.size(); ++k) {
      REWRIGHT_TRY(const Place place, operand(task, k));
      ports[k] = port_at(place);
    }
    return ports;
  }
  Result<std::vector<Port>> copy(std::size_t task) {
    REWRIGHT_TRY(std::vector<Port> in, operands(task));
    return builder_.copy(graph_.nodes()[task], std::move(in));
  }
  Result<std::vector<Port>> apply_target(std::size_t task) {
    const PatternNode& node = rule_.target.nodes[task - graph_.nodes().size()];
    const auto params = evaluate(node.params, sizes_);
    if (!params)
      return make_error(ErrorCode::kInternal, "rule {}: a size of {} in its target is not determined by the match",
                        rule_.name, node.op->name());
    REWRIGHT_TRY(std::vector<Port> in, operands(task));
    return builder_.apply(*node.op, *params, std::move(in));
  }

  [[nodiscard]] Status check_type(Port old) const {
    REWRIGHT_TRY(const Place place, resolve(old));
    if (state_[place.task] != State::kDone) return {};  // Nothing needs it.
    const TensorType& now = builder_.type(port_at(place));
    const TensorType& before = graph_.type(old);
    if (now.shape != before.shape)
      return make_error(ErrorCode::kInternal, "rule {}: replaces a tensor of shape {} by one of shape {}", rule_.name,
                        before.shape, now.shape);
    if (now.element != before.element)
      return make_error(ErrorCode::kUnsupported, "rule {}: would change the element type of a tensor", rule_.name);
    return {};
  }

  const Graph& graph_;
  const Rule& rule_;
  const Match& match_;
  std::span<const Port> replaced_;
  DimBinding sizes_;
  GraphBuilder builder_;
  std::vector<bool> is_replaced_;        ///< By old node: some output of it is replaced.
  std::vector<std::vector<Port>> made_;  ///< By task.
  std::vector<State> state_;
};

}  // namespace

Result<Graph> Rewriter::apply(const Graph& graph, const Match& match) const {
  const auto found = std::lower_bound(compiled_.begin(), compiled_.end(), match.rule,
                                      [](const auto& entry, std::size_t rule) { return entry.first < rule; });
  if (found == compiled_.end() || found->first != match.rule)
    return make_error(ErrorCode::kUsage, "the match names rule {}, which cannot be applied", match.rule);
  const std::vector<Port> replaced = found->second.outputs(match);
  return Replacement(graph, rules_[match.rule], match, replaced, found->second.binding(graph, match)).build();
}

}  // namespace rewright
