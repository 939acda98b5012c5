#include "schedule/sketch.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <map>

#include "schedule/loop_tree.h"
#include "schedule/nest_scheduling.h"
#include "schedule/sketch_plans.h"

namespace rewright::schedule {
namespace {

// --- what the rules ask -------------------------------------------------------------------------------------------

struct Stage {
  LoopName root;
  Nest nest;
  std::string name;
  BufferRole role = BufferRole::kTemporary;
};

double product_of(const std::vector<const Loop*>& loops) {
  double product = 1;
  for (const Loop* loop : loops) product *= static_cast<double>(extent(*loop));
  return product;
}

/// Some of what a sum reads does not follow all loops of the results, so that these read it again.
bool has_reuse(const Nest& nest) {
  if (nest.update == nullptr) return false;
  return std::ranges::any_of(loads_in(nest.update->value), [&](const ValueExpr& load) {
    if (load.indices().empty()) return false;
    return std::ranges::any_of(
        nest.outer, [&](const Loop* loop) { return extent(*loop) > 1 && !names_axis(load.indices(), loop->axis); });
  });
}

/// Fewer results than terms of their sums, and not enough to be done beside each other.
bool needs_parts(const Nest& nest, const SketchOptions& options) {
  if (nest.update == nullptr) return false;
  const double results = product_of(nest.outer), terms = product_of(nest.reduced);
  const double cores = std::max(4, options.threads);
  return has_reuse(nest) ? results <= terms && results <= 16 * cores : terms > cores;
}

bool is_dear(const ValueExpr& value) {
  if (value.kind() == ValueExpr::Kind::kSelect) return true;
  if (value.kind() == ValueExpr::Kind::kCall && value.function() == Function::kExp) return true;
  return std::ranges::any_of(value.operands(), is_dear);
}

/// Each index is one loop beside a number, in their order, or a number.
bool is_plain(const ValueExpr& load, const Nest& nest) {
  std::size_t next = 0;
  for (const IndexExpr& index : load.indices()) {
    const auto form = loop::linear(index);
    if (!form || form->terms.size() > 1) return false;
    if (form->terms.empty()) continue;
    while (next < nest.outer.size() && IndexExpr(nest.outer[next]->axis) != form->terms[0].first) ++next;
    if (next == nest.outer.size() || form->terms[0].second != 1) return false;
    ++next;
  }
  return true;
}

bool is_inlinable(const Stage& stage) {
  if (stage.nest.update != nullptr || stage.role != BufferRole::kTemporary || is_dear(stage.nest.result->value))
    return false;
  const auto loads = loads_in(stage.nest.result->value);
  return std::ranges::all_of(loads, [&](const ValueExpr& load) { return is_plain(load, stage.nest); });
}

bool can_tile(const Program& program, const Nest& nest) {
  const Loop* lanes = lanes_of(program, nest);
  return lanes != nullptr && std::ranges::none_of(nest.conditions, [&](const IndexCondition& condition) {
           return names_axis(condition, lanes->axis);
         });
}

// --- rules --------------------------------------------------------------------------------------------------------

struct Rule {
  bool (*applies)(const Program&, const Stage&, const SketchOptions&);
  std::vector<StageForm> plans;
  bool is_last;  ///< Where it applies, no other does.
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {[](const Program&, const Stage& stage, const SketchOptions&) { return is_inlinable(stage); },
       {StageForm::kInline},
       true},
      {[](const Program&, const Stage& stage, const SketchOptions& options) {
         return needs_parts(stage.nest, options);
       },
       {StageForm::kPartsInLanes, StageForm::kPartsOutside},
       false},
      {[](const Program& program, const Stage& stage, const SketchOptions&) {
         return has_reuse(stage.nest) && can_tile(program, stage.nest);
       },
       {StageForm::kTile, StageForm::kTileInBlock, StageForm::kTileInPlace},
       true},
      {[](const Program&, const Stage&, const SketchOptions&) { return true; }, {StageForm::kPlain}, true},
  };
  return kRules;
}

std::vector<StageForm> forms_of(const Program& program, const Stage& stage, const SketchOptions& options) {
  std::vector<StageForm> forms;
  for (const Rule& rule : rules()) {
    if (!rule.applies(program, stage, options)) continue;
    forms.insert(forms.end(), rule.plans.begin(), rule.plans.end());
    if (rule.is_last) break;
  }
  return forms;
}

std::string stored_in(const Program& program, const Body& body) {
  for (const Statement& statement : body) {
    if (const auto* store = statement.store(); store != nullptr && program[store->buffer].role == BufferRole::kOutput)
      return program[store->buffer].name;
    if (std::string found = stored_in(program, loop::body_of(statement)); !found.empty()) return found;
  }
  return "";
}

struct Root {
  LoopName name;
  std::optional<Stage> stage;  ///< None: it is no nest.
};

std::vector<Root> roots_of(const Program& program) {
  std::vector<Root> roots;
  for (const Statement& statement : program.body) {
    if (statement.loop() == nullptr) continue;
    Root& root = roots.emplace_back(Root{name_of_loop(*statement.loop()), std::nullopt});
    const auto nest = nest_at(*statement.loop());
    const auto is_known = [](const Loop* loop) { return loop->extent.number().value_or(0) > 0; };
    if (!nest || !std::ranges::all_of(nest->loops(), is_known)) continue;
    const Buffer& buffer = program[nest->stored().buffer];
    root.stage = Stage{root.name, *nest, buffer.name, buffer.role};
  }
  return roots;
}

/// Of each stage that can be computed where it is read, by its number: the root of that nest.
std::map<std::size_t, LoopName> readers_of(const Program& program, const std::vector<Root>& roots) {
  std::map<std::size_t, LoopName> readers;
  Program changed = program;
  for (std::size_t s = roots.size(); s-- > 0;) {
    if (!roots[s].stage || roots[s].stage->role != BufferRole::kTemporary) continue;
    for (std::size_t r = s + 1; r < roots.size(); ++r) {
      if (!roots[r].stage || readers.contains(r) || roots[r].stage->nest.outer.size() < 2) continue;
      const std::string part = fmt::format("{}_part", roots[s].stage->name);
      Outcome outcome = schedule::apply(changed, Transform(ComputeAt{roots[s].stage->name, roots[r].name, part}));
      auto* made = std::get_if<Program>(&outcome);
      if (made == nullptr || path_to(*made, roots[s].name)) continue;
      changed = std::move(*made);
      readers.emplace(s, roots[r].name);
      break;
    }
  }
  return readers;
}

void add_plan(Sketch& sketch, const Program& program, const Root& root, StageForm form, const SketchOptions& options,
              std::optional<LoopName> reader = {}) {
  const std::string name = root.stage ? root.stage->name : stored_in(program, program.body);
  PlanKnobs made;
  if (root.stage) made = knobs_of(program, root.stage->nest, name, form, options);
  sketch.stages.push_back({root.name, name, form, sketch.knobs.size(), made.knobs.size(), std::move(reader)});
  std::ranges::copy(made.knobs, std::back_inserter(sketch.knobs));
}

}  // namespace

std::string to_string(const Sketch& sketch) {
  if (sketch.given) return "given";
  std::string text;
  for (const StagePlan& plan : sketch.stages)
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", plan.stage, name_of(plan.form));
  return text;
}

std::vector<Sketch> sketches_of(const loop::Program& program, const SketchOptions& options) {
  std::vector<Sketch> all(1);
  Program inlined = program;
  for (const Root& root : roots_of(program)) {
    if (!root.stage || forms_of(program, *root.stage, options).front() != StageForm::kInline) continue;
    Outcome outcome = schedule::apply(inlined, Transform(Inline{root.stage->name}));
    if (!std::holds_alternative<Program>(outcome)) continue;
    inlined = std::get<Program>(std::move(outcome));
    all.front().stages.push_back({root.name, root.stage->name, StageForm::kInline});
  }
  inlined = with_fused_lanes(inlined, options.unit);
  const std::vector<Root> roots = roots_of(inlined);
  const std::map<std::size_t, LoopName> readers = readers_of(inlined, roots);
  Sketch at_readers = all.front();
  for (std::size_t r = 0; r < roots.size(); ++r) {
    const Root& root = roots[r];
    std::vector<StageForm> forms = {StageForm::kPlain};
    if (root.stage) forms = forms_of(inlined, *root.stage, options);
    std::erase(forms, StageForm::kInline);  // It could not be.
    if (forms.empty()) forms.push_back(StageForm::kPlain);
    std::vector<Sketch> more;
    for (const Sketch& before : all) {
      for (const StageForm form : forms) add_plan(more.emplace_back(before), inlined, root, form, options);
    }
    all = std::move(more);
    if (readers.empty()) continue;
    const bool is_reader = std::ranges::any_of(readers, [&](const auto& each) { return each.second == root.name; });
    const auto at = readers.find(r);
    if (at != readers.end()) {
      add_plan(at_readers, inlined, root, StageForm::kAtReader, options, at->second);
    } else {
      add_plan(at_readers, inlined, root, is_reader ? StageForm::kReader : forms.back(), options);
    }
  }
  if (!readers.empty()) all.push_back(std::move(at_readers));
  return all;
}

Sketch sketch_of(Space space) {
  Sketch sketch;
  for (std::size_t k = 0; k < space.knobs.size(); ++k) {
    if (space.given[k]) continue;
    const Knob& knob = space.knobs[k];
    SketchKnob& added = sketch.knobs.emplace_back(SketchKnob{knob.name, "", SketchKnobKind::kTile, knob.numbers, {}});
    if (knob.numbers.empty()) added.kind = SketchKnobKind::kOrder, added.loops = knob.loops.size();
  }
  sketch.given = std::move(space);
  return sketch;
}

}  // namespace rewright::schedule
