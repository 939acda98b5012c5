#include <algorithm>
#include <utility>

#include "optimize/program_egraph_state.h"

namespace rewright {

ProgramEGraph::Content::Content(SearchEngineContent& shared, const Graph& graph)
    : engine(shared),
      pool(graph),
      classes(pool),
      levels(pool, classes),
      matcher(pool, classes, shared.rules),
      labels(pool, shared.rules),
      costs(shared.cost.kernels(), pool),
      start_size(pool.size()),
      made_by(pool.size(), kNoId) {
  classes.grow();
  classes.close();
  levels.rebuild();
}

// --- growing ---------------------------------------------------------------------------------------------------

bool ProgramEGraph::Content::reaches(std::uint32_t from, std::uint32_t to) {
  if (from == to) return true;
  if (!levels.may_reach(from, to)) return false;
  if (seen.size() < classes.tensor_count()) seen.resize(classes.tensor_count() * 2, 0);
  ++now;
  open.assign(1, from);
  seen[from] = now;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const auto& [node, output] : classes.makers(at)) {
      if (!classes.is_alive(node)) continue;
      for (const Port port : pool.operands(node)) {
        const std::uint32_t next = classes.find(port);
        if (next == to) return true;
        if (seen[next] != now && levels.may_reach(next, to)) seen[next] = now, open.push_back(next);
      }
    }
  }
  return false;
}

bool ProgramEGraph::Content::has_other_maker(std::uint32_t of_class, std::uint32_t node) const {
  return std::ranges::any_of(classes.makers(of_class),
                             [&](const auto& maker) { return maker.first != node && classes.is_alive(maker.first); });
}

bool ProgramEGraph::Content::add_target(std::uint32_t program, const Binding& binding, std::vector<Port>& made) {
  const RuleProgram& rule = engine.rules.programs()[program];
  const auto input_count = static_cast<std::uint32_t>(rule.input_ranks.size());
  std::vector<std::uint32_t> nodes;
  const auto port_of = [&](Port port) {
    return port.node.value < input_count ? binding.inputs[port.node.value]
                                         : Port{{nodes[port.node.value - input_count]}, port.output};
  };
  labels.start(program, binding);
  for (std::uint32_t i = 0; i < rule.target.size(); ++i) {
    const auto label = labels.of(i);
    std::vector<Port> operands;
    for (const Port port : rule.target[i].inputs) operands.push_back(classes.port(classes.find(port_of(port))));
    const auto node = label ? pool.add(*label, operands) : std::nullopt;
    if (!node) {
      engine.refuse(rule.rule, label ? pool.refusal() : "a size of its target is too large");
      return false;
    }
    classes.grow();
    levels.grow();
    made_by.resize(pool.size(), program);
    nodes.push_back(*node);
  }
  for (const Port port : rule.target_outputs) made.push_back(port_of(port));
  return true;
}

bool ProgramEGraph::Content::apply(std::uint32_t program, const Binding& binding) {
  const RuleProgram& rule = engine.rules.programs()[program];
  std::vector<Port> targets, sources;
  if (!add_target(program, binding, targets)) return false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    sources.push_back(rule.output(binding, i));
    if (pool.type(sources[i]) != pool.type(targets[i])) {
      engine.refuse(rule.rule, "replaces a tensor by one of another shape or element type");
      return false;
    }
    // Nothing is gained by computing a tensor from itself.
    const std::uint32_t source = classes.find(sources[i]), target = classes.find(targets[i]);
    if (source != target && reaches(target, source)) return false;
  }
  // Where the source is computed from the target, what computes it so goes.
  std::vector<std::uint32_t> idle;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::uint32_t source = classes.find(sources[i]), target = classes.find(targets[i]);
    if (source == target) continue;
    for (const auto& [node, output] : classes.makers(source)) {
      if (!classes.is_alive(node)) continue;
      const bool circular =
          std::ranges::any_of(pool.operands(node), [&](Port port) { return reaches(classes.find(port), target); });
      if (!circular) continue;
      for (std::uint32_t o = 0; o < pool.signature(node).out.size(); ++o) {
        const std::uint32_t given = classes.find(Port{{node}, o});
        const bool replaced = std::ranges::any_of(sources, [&](Port port) { return classes.find(port) == given; });
        if (!replaced && !has_other_maker(given, node)) return false;
      }
      idle.push_back(node);
    }
  }
  for (const std::uint32_t node : idle) classes.filter_out(node);
  bool changed = false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::uint32_t source = classes.find(sources[i]), target = classes.find(targets[i]);
    if (!classes.unite(sources[i], targets[i])) continue;
    levels.united(source, target);
    joined_by.resize(classes.tensor_count(), kNoId);
    joined_by[classes.find(sources[i])] = program;
    changed = true;
  }
  return changed;
}

/// An application on a circle, the newest of those whose outputs are given by others too; kNoId: there is no circle.
std::uint32_t ProgramEGraph::Content::on_circle() {
  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> state(pool.size(), kNew);
  std::vector<std::uint32_t> way;
  std::vector<std::uint32_t> below;
  struct Frame {
    std::uint32_t node;
    std::vector<std::uint32_t> next;
  };
  const auto operands_of = [&](std::uint32_t node) {
    std::vector<std::uint32_t> nodes;
    for (const Port port : pool.operands(node))
      for (const auto& [maker, output] : classes.makers(classes.find(port)))
        if (classes.is_alive(maker)) nodes.push_back(maker);
    return nodes;
  };
  for (std::uint32_t root = 0; root < pool.size(); ++root) {
    if (!classes.is_alive(root) || state[root] != kNew) continue;
    std::vector<Frame> frames;
    frames.push_back({root, operands_of(root)});
    state[root] = kOpen;
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next.empty()) {
        state[frame.node] = kDone;
        frames.pop_back();
        continue;
      }
      const std::uint32_t next = frame.next.back();
      frame.next.pop_back();
      if (state[next] == kNew) {
        state[next] = kOpen;
        frames.push_back({next, operands_of(next)});
      } else if (state[next] == kOpen) {
        std::uint32_t newest = kNoId, spare = kNoId;
        for (std::size_t i = frames.size(); i-- > 0;) {
          const std::uint32_t node = frames[i].node;
          bool can_go = true;
          for (std::uint32_t o = 0; o < pool.signature(node).out.size(); ++o)
            can_go = can_go && has_other_maker(classes.find(Port{{node}, o}), node);
          if (newest == kNoId || node > newest) newest = node;
          if (can_go && (spare == kNoId || node > spare)) spare = node;
          if (node == next) break;
        }
        return spare != kNoId ? spare : newest;
      }
    }
  }
  return kNoId;
}

bool ProgramEGraph::Content::filter_circles(const std::function<bool()>& keep_going) {
  for (std::uint32_t node = on_circle(); node != kNoId; node = on_circle()) {
    if (keep_going && !keep_going()) return false;
    classes.filter_out(node);
    classes.close();
  }
  return true;
}

Result<ProgramEGraph::Round> ProgramEGraph::Content::round(bool several, const Limits& limits,
                                                           const std::function<bool()>& go_on) {
  Round result;
  const std::uint32_t size = pool.size();
  const auto found = matcher.find(several, limits.matches, limits.keep_going, result.cut);
  if (!found) {
    result.stopped = true;
    return result;
  }
  for (const ClassMatcher::ClassMatch& match : *found) {
    if (pool.size() >= limits.applications) {
      result.full = true;
      break;
    }
    if (!go_on()) break;
    ++result.matches;
    if (apply(match.program, match.binding)) result.changed = true;
  }
  classes.close();
  if (!filter_circles(limits.keep_going)) {
    result.stopped = true;
    return result;
  }
  levels.rebuild();
  result.changed = result.changed || pool.size() > size;
  REWRIGHT_CHECK(refresh());
  return result;
}

// --- choosing --------------------------------------------------------------------------------------------------

Status ProgramEGraph::Content::refresh() {
  class_ids.assign(classes.tensor_count(), kNoId);
  class_count = 0;
  for (std::uint32_t tensor = 0; tensor < classes.tensor_count(); ++tensor)
    if (classes.find(tensor) == tensor) class_ids[tensor] = static_cast<std::uint32_t>(class_count++);
  const auto class_of = [&](Port port) { return class_ids[classes.find(port)]; };
  choices.clear();
  node_of_choice.clear();
  start.assign(class_count, -1);
  for (std::uint32_t node = 0; node < pool.size(); ++node) {
    if (!classes.is_alive(node)) continue;
    Choice choice;
    for (const Port port : pool.operands(node)) choice.operands.push_back(class_of(port));
    for (std::uint32_t o = 0; o < pool.signature(node).out.size(); ++o)
      choice.outputs.push_back(class_of(Port{{node}, o}));
    REWRIGHT_TRY(const std::int64_t cost, costs.of_signature(pool.node(node).signature));
    choice.cost_us = PoolCosts::to_us(cost);
    choice.is_input = pool.label(node).op == nullptr && choice.operands.empty();
    if (node < start_size)
      for (const Class of : choice.outputs)
        if (start[of] < 0) start[of] = static_cast<std::int32_t>(choices.size());
    choices.push_back(std::move(choice));
    node_of_choice.push_back(node);
  }
  outputs.clear();
  for (const Port port : pool.start_outputs()) outputs.push_back(class_of(port));
  return {};
}

Result<Graph> ProgramEGraph::Content::graph(std::span<const std::int32_t> selection) {
  const std::uint32_t size = pool.size();
  std::vector<std::uint32_t> made(choices.size(), kNoId);
  std::vector<bool> is_open(choices.size(), false);
  const auto port_of = [&](Class of) {
    const auto choice = static_cast<std::size_t>(selection[of]);
    const auto& given = choices[choice].outputs;
    return Port{{made[choice]}, static_cast<std::uint32_t>(std::ranges::find(given, of) - given.begin())};
  };
  std::vector<std::pair<std::size_t, std::size_t>> stack;  // Choice, next operand.
  for (const Class output : outputs) {
    if (selection[output] < 0) return make_error(ErrorCode::kInternal, "an output of the graph is not chosen");
    stack.emplace_back(static_cast<std::size_t>(selection[output]), 0);
    while (!stack.empty()) {
      auto& [choice, next] = stack.back();
      is_open[choice] = made[choice] == kNoId;
      if (made[choice] == kNoId && next < choices[choice].operands.size()) {
        const std::int32_t operand = selection[choices[choice].operands[next++]];
        if (operand < 0 || is_open[static_cast<std::size_t>(operand)])
          return make_error(ErrorCode::kInternal, "what is chosen from the e-graph is no graph");
        if (made[static_cast<std::size_t>(operand)] == kNoId) stack.emplace_back(operand, 0);
        continue;
      }
      if (made[choice] == kNoId) {
        std::vector<Port> operands;
        for (const Class of : choices[choice].operands) operands.push_back(port_of(of));
        const auto node = pool.add_like(node_of_choice[choice], operands);
        if (!node) return make_error(ErrorCode::kInternal, "what is chosen is refused: {}", pool.refusal());
        made[choice] = *node;
        is_open[choice] = false;
      }
      stack.pop_back();
    }
  }
  std::vector<Port> ports;
  for (const Class output : outputs) ports.push_back(port_of(output));
  auto result = pool.graph(ports);
  pool.rollback(size);
  return result;
}

Result<std::vector<RewriteStep>> ProgramEGraph::Content::path(std::span<const std::int32_t> selection,
                                                              const std::function<bool()>& keep_going) {
  std::vector<std::int32_t> mixed = start;
  for (std::size_t of = 0; of < class_count; ++of)
    if (mixed[of] < 0) mixed[of] = selection[of];
  std::vector<Class> order;
  std::vector<bool> listed(class_count, false);
  const auto list = [&](Class of) {
    if (!listed[of]) listed[of] = true, order.push_back(of);
  };
  for (const Class output : outputs) list(output);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Class operand : choices[static_cast<std::size_t>(selection[order[i]])].operands) list(operand);

  std::vector<RewriteStep> steps;
  REWRIGHT_TRY(Graph before, pool.graph(pool.start_outputs()));
  REWRIGHT_TRY(double before_us, engine.cost.cost_us(before));
  std::vector<std::uint32_t> joined(class_count, kNoId);  // By class: the program that joined it first.
  for (std::uint32_t t = 0; t < joined_by.size(); ++t)
    if (std::uint32_t& program = joined[class_ids[classes.find(t)]]; program == kNoId) program = joined_by[t];
  std::uint32_t program = kNoId;
  bool is_stopped = false;
  for (std::size_t i = 0; i <= order.size() && !is_stopped;
       ++i) {  // First the start, where a class is given by another of its nodes.
    if (i > 0) {
      const Class of = order[i - 1];
      if (mixed[of] == selection[of]) continue;
      mixed[of] = selection[of];
      program = made_by[node_of_choice[static_cast<std::size_t>(selection[of])]];
      if (program == kNoId) program = joined[of];
    } else {
      for (const std::uint32_t join : joined_by)
        if (join != kNoId) program = join;
    }
    if (keep_going && !keep_going()) {
      is_stopped = true;
      program = kNoId;
      for (const Class of : order) mixed[of] = selection[of];
    }
    REWRIGHT_TRY(Graph after, graph(mixed));
    if (structural_hash(after) == structural_hash(before)) continue;
    REWRIGHT_TRY(const double after_us, engine.cost.cost_us(after));
    RewriteStep step{"", "equality saturation", before_us, after_us, after};
    if (program != kNoId) {
      const Rule& rule = engine.rules.rules()[engine.rules.programs()[program].rule];
      step.rule_id = rule.id, step.rule_name = rule.name;
    }
    steps.push_back(std::move(step));
    before = std::move(after), before_us = after_us;
  }
  return steps;
}

// --- the face --------------------------------------------------------------------------------------------------

ProgramEGraph::ProgramEGraph(std::unique_ptr<Content> content) : content_(std::move(content)) {}
ProgramEGraph::~ProgramEGraph() = default;
ProgramEGraph::ProgramEGraph(ProgramEGraph&&) noexcept = default;

Result<ProgramEGraph> ProgramEGraph::create(SearchEngine& engine, const Graph& start) {
  auto content = std::make_unique<Content>(*engine.content_, start);
  REWRIGHT_CHECK(content->refresh());
  return ProgramEGraph(std::move(content));
}

Result<ProgramEGraph::Round> ProgramEGraph::round(bool several, const Limits& limits,
                                                  const std::function<bool()>& go_on) {
  return content_->round(several, limits, go_on);
}
std::span<const ProgramEGraph::Choice> ProgramEGraph::choices() const { return content_->choices; }
std::size_t ProgramEGraph::class_count() const { return content_->class_count; }
std::span<const ProgramEGraph::Class> ProgramEGraph::outputs() const { return content_->outputs; }
std::span<const std::int32_t> ProgramEGraph::start() const { return content_->start; }
Result<Graph> ProgramEGraph::graph(std::span<const std::int32_t> selection) const { return content_->graph(selection); }
Result<std::vector<RewriteStep>> ProgramEGraph::path(std::span<const std::int32_t> selection,
                                                     const std::function<bool()>& keep_going) const {
  return content_->path(selection, keep_going);
}

}  // namespace rewright
