#include "halide_directives.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace rewright::halide {

using loop::LoopName;
using schedule::OnConflict;

namespace {

/// The first copies that distribute and compute-at make are called NAME/3 and NAME/0, if that is free.
constexpr int kFirstOfDistribute = 3;
constexpr int kFirstOfCompute = 0;

LoopName extended(LoopName name, int step) {
  for (LoopName::Part& part : name.parts) part.path.push_back(step);
  return name;
}
std::string extended(const std::string& name, int step) {
  return to_string(extended(*loop::parse_loop_name(name), step));
}

/// Puts other names in place of a stage's.
void rename(Stage& stage, const std::function<std::string(const std::string&)>& other) {
  for (StageLoop& loop : stage.loops) loop.name = other(loop.name);
  for (StageAxis& axis : stage.axes) axis.name = other(axis.name);
  for (Relation& relation : stage.relations)
    for (std::string* name : {&relation.outer, &relation.inner, &relation.whole}) *name = other(*name);
}

class Replay {
 public:
  Replay(const loop::Program& program, Stages& stages) : program_(program), stages_(stages) {}

  Status apply(const schedule::Step& step) {
    if (const Status status = std::visit([this](const auto& transform) { return apply(transform); }, step.transform);
        !status && step.on_conflict != OnConflict::kSkip)
      return make_error(ErrorCode::kUnsupported, "target halide: {}: {}", to_string(step.transform),
                        status.error().message);
    return {};
  }

 private:
  static Error lacking(std::string text) { return {ErrorCode::kUnsupported, std::move(text)}; }

  /// Stages with this loop and its place in each. Errors: there is none.
  Result<std::vector<std::pair<Stage*, std::size_t>>> with(const LoopName& loop) {
    std::vector<std::pair<Stage*, std::size_t>> found;
    std::set<std::string> names;
    for (Stage& stage : stages_.stages) {
      if (const auto at = stage.place_of(to_string(loop))) found.emplace_back(&stage, *at);
      for (const StageLoop& other : stage.loops) names.insert(other.name);
    }
    if (!found.empty()) return found;
    return lacking(fmt::format("there is no loop {}; there are {}", to_string(loop), fmt::join(names, ", ")));
  }

  Status apply(const schedule::Split& split) {
    REWRIGHT_TRY(const auto stages, with(split.loop));
    const std::string whole = to_string(split.loop);
    const std::string outer = to_string(extended(split.loop, 0)), inner = to_string(extended(split.loop, 1));
    for (const auto& [stage, at] : stages) {
      const StageLoop loop = stage->loops[at];
      if (split.tail == schedule::Tail::kDivide && loop.extent % split.factor != 0)
        return lacking(fmt::format("{} does not divide {}, the extent of {}", split.factor, loop.extent, whole));
      stage->loops[at] = {outer, (loop.extent + split.factor - 1) / split.factor};
      stage->loops.insert(stage->loops.begin() + static_cast<std::ptrdiff_t>(at) + 1, {inner, split.factor});
      stage->relations.push_back({true, outer, inner, whole, split.factor, split.tail});
    }
    return {};
  }

  Status apply(const schedule::Fuse& fuse) {
    REWRIGHT_TRY(const auto stages, with(fuse.outer));
    LoopName both = fuse.outer;
    both.parts.insert(both.parts.end(), fuse.inner.parts.begin(), fuse.inner.parts.end());
    for (const auto& [stage, at] : stages) {
      if (stage->place_of(to_string(fuse.inner)) != at + 1)
        return lacking(fmt::format("{} is not directly inside of {}", to_string(fuse.inner), to_string(fuse.outer)));
      const std::int64_t extent = stage->loops[at].extent * stage->loops[at + 1].extent;
      stage->loops.erase(stage->loops.begin() + static_cast<std::ptrdiff_t>(at));
      stage->loops[at] = {to_string(both), extent};
      stage->relations.push_back({false, to_string(fuse.outer), to_string(fuse.inner), to_string(both)});
    }
    return {};
  }

  /// The places that the loops have among themselves get another order.
  Status apply(const schedule::Reorder& reorder) {
    for (const LoopName& name : reorder.loops) REWRIGHT_CHECK(with(name));
    for (Stage& stage : stages_.stages) {
      std::vector<std::size_t> places;
      std::vector<StageLoop> loops;
      for (const LoopName& name : reorder.loops) {
        const auto at = stage.place_of(to_string(name));
        if (!at) continue;
        places.push_back(*at);
        loops.push_back(stage.loops[*at]);
      }
      std::ranges::sort(places);
      for (std::size_t i = 0; i < places.size(); ++i) stage.loops[places[i]] = loops[i];
    }
    return {};
  }

  /// Stages whose next loop is the same are one statement; the one with the most loops keeps the name.
  Status apply(const schedule::Distribute& distribute) {
    REWRIGHT_TRY(const auto stages, with(distribute.loop));
    std::vector<std::vector<Stage*>> statements;
    const auto next = [&](const Stage& stage) {
      const std::size_t at = *stage.place_of(to_string(distribute.loop));
      return at + 1 < stage.loops.size() ? stage.loops[at + 1].name : std::string();
    };
    for (const auto& [stage, at] : stages) {
      const bool is_same =
          !statements.empty() && !next(*stage).empty() && next(*stage) == next(*statements.back().back());
      if (!is_same) statements.emplace_back();
      statements.back().push_back(stage);
    }
    if (statements.size() < 2) return lacking(fmt::format("one statement in {}", to_string(distribute.loop)));
    const auto size = [](const std::vector<Stage*>& statement) {
      std::set<std::string> names;
      for (const Stage* stage : statement)
        for (const StageLoop& loop : stage->loops) names.insert(loop.name);
      return names.size();
    };
    const auto largest = std::ranges::max_element(statements, {}, size);
    int step = kFirstOfDistribute - 1;
    for (auto statement = statements.begin(); statement != statements.end(); ++statement) {
      if (statement == largest) continue;
      step = free_step({to_string(distribute.loop)}, step + 1);
      for (Stage* stage : *statement)
        rename(*stage, [&](const std::string& name) {
          return name == to_string(distribute.loop) ? extended(name, step) : name;
        });
    }
    return {};
  }

  Status apply(const schedule::Mark& mark) {
    REWRIGHT_TRY(const auto stages, with(mark.loop));
    for (const auto& [stage, at] : stages) stage->loops[at].kind = mark.kind;
    return {};
  }

  Status apply(const schedule::Cache& cache) {
    REWRIGHT_TRY(const auto inside, with(cache.loop));
    REWRIGHT_TRY(const BufferId buffer, buffer_named(cache.buffer));
    std::set<std::size_t> readers;
    const Stage* reader = nullptr;
    for (const auto& [stage, at] : inside) {
      std::set<std::uint32_t> loads;
      if (!stage->copied) collect_loads(stage->store.value, loads);
      if (!loads.contains(buffer.value)) continue;
      readers.insert(stage->function);
      reader = stage;
    }
    if (readers.size() != 1)
      return lacking(
          fmt::format("{} functions read {} in {}, not one", readers.size(), cache.buffer, to_string(cache.loop)));
    Function copy{.name = cache.name, .buffer = buffer, .sizes = {}, .only_reader = *readers.begin()};
    for (const IndexExpr& size : program_[buffer].sizes) copy.sizes.push_back(*size.number());
    Stage stage{.function = stages_.functions.size(), .store = {}};
    const auto around = static_cast<std::ptrdiff_t>(*reader->place_of(to_string(cache.loop))) + 1;
    stage.loops.assign(reader->loops.begin(), reader->loops.begin() + around);
    add_copying_loops(stage, copy);
    stages_.functions.push_back(std::move(copy));
    stages_.stages.insert(stages_.stages.begin() + (reader - stages_.stages.data()), std::move(stage));
    return {};
  }

  /// NAME.d0, NAME.d1, ...: over the dimensions of a function.
  void add_copying_loops(Stage& stage, const Function& function) {
    for (std::size_t d = 0; d < function.sizes.size(); ++d) {
      const std::string name = fmt::format("{}.d{}", function.name, d);
      const Axis axis{next_axis_++, name};
      stage.places.push_back(axis);
      stage.axes.push_back({name, axis, function.sizes[d]});
      stage.loops.push_back({name, function.sizes[d]});
    }
  }

  /// What is in the loop becomes a function of its own, of which the buffer's is a copy.
  Status apply(const schedule::CacheWrite& cache) {
    REWRIGHT_TRY(const auto inside, with(cache.loop));
    REWRIGHT_TRY(const BufferId buffer, buffer_named(cache.buffer));
    const auto function = stages_.function_of(buffer);
    const Stage* first = nullptr;
    std::size_t moved = 0;
    for (const auto& [stage, at] : inside) {
      if (stage->function != function) continue;
      if (first == nullptr) first = stage;
      ++moved;
    }
    if (first == nullptr) return lacking(fmt::format("nothing in {} computes {}", to_string(cache.loop), cache.buffer));
    const auto all = std::ranges::count(stages_.stages, *function, &Stage::function);
    if (static_cast<std::size_t>(all) != moved)
      return lacking(fmt::format("some of {} is computed outside of {}", cache.buffer, to_string(cache.loop)));
    Stage copy{.function = *function, .store = first->store, .axes = first->axes, .copied = stages_.functions.size()};
    copy.places = first->places;
    REWRIGHT_CHECK(collapse(*first, *first->place_of(to_string(cache.loop)) + 1, cache.name, copy));
    Function own = stages_.functions[*function];
    own.name = cache.name;
    std::size_t last = 0;
    for (std::size_t s = 0; s < stages_.stages.size(); ++s) {
      if (stages_.stages[s].function != *function) continue;
      stages_.stages[s].function = stages_.functions.size();
      last = s;
    }
    stages_.functions.push_back(std::move(own));
    stages_.stages.insert(stages_.stages.begin() + static_cast<std::ptrdiff_t>(last) + 1, std::move(copy));
    return {};
  }

  /// The loops of `stage` up to a depth, and one in place of those inside over each dimension of its function.
  static Status collapse(const Stage& stage, std::size_t depth, const std::string& name, Stage& copy) {
    copy.loops.assign(stage.loops.begin(), stage.loops.begin() + static_cast<std::ptrdiff_t>(depth));
    std::map<std::string, std::int64_t> left;
    for (std::size_t i = depth; i < stage.loops.size(); ++i) left[stage.loops[i].name] = stage.loops[i].extent;
    for (auto relation = stage.relations.rbegin(); relation != stage.relations.rend(); ++relation) {
      const bool is_inside = relation->is_split && left.contains(relation->outer) && left.contains(relation->inner);
      if (!is_inside) {
        copy.relations.insert(copy.relations.begin(), *relation);
        continue;
      }
      left[relation->whole] = left[relation->outer] * left[relation->inner];
      left.erase(relation->outer);
      left.erase(relation->inner);
    }
    for (const auto& [loop, extent] : left) {
      const auto root = loop::parse_loop_name(loop);
      const auto axis = std::ranges::find_if(copy.axes, [&](const StageAxis& next) {
        const auto other = loop::parse_loop_name(next.name);
        return root->parts.size() == 1 && root->parts[0].stage == other->parts[0].stage &&
               root->parts[0].axis == other->parts[0].axis;
      });
      const auto place = axis == copy.axes.end() ? copy.places.end() : std::ranges::find(copy.places, axis->axis);
      if (place == copy.places.end()) return lacking(fmt::format("{} is no dimension of what it computes", loop));
      const std::string own = fmt::format("{}.d{}", name, place - copy.places.begin());
      copy.loops.push_back({own, extent});
      for (Relation& relation : copy.relations)
        for (std::string* part : {&relation.outer, &relation.inner, &relation.whole})
          if (*part == loop) *part = own;
      if (axis->name == loop) axis->name = own;
    }
    std::ranges::sort(copy.loops.begin() + static_cast<std::ptrdiff_t>(depth), copy.loops.end(), {}, &StageLoop::name);
    return {};
  }

  Status apply(const schedule::ComputeAt& compute) {
    REWRIGHT_TRY(const auto inside, with(compute.loop));
    REWRIGHT_TRY(const BufferId buffer, buffer_named(compute.buffer));
    const auto function = stages_.function_of(buffer);
    if (!function) return lacking(fmt::format("{} is not computed", compute.buffer));
    const Stage* reader = nullptr;
    std::size_t readers = 0;
    for (const Stage& stage : stages_.stages) {
      if (stage.function == *function || !stages_.read_by(stage).contains(*function)) continue;
      ++readers;
      if (stage.place_of(to_string(compute.loop))) --readers, reader = &stage;
    }
    if (reader == nullptr || readers > 0)
      return lacking(fmt::format("{} is not read in {} alone", compute.buffer, to_string(compute.loop)));
    const auto around = static_cast<std::ptrdiff_t>(*reader->place_of(to_string(compute.loop))) + 1;
    const std::vector<StageLoop> outer(reader->loops.begin(), reader->loops.begin() + around);
    std::set<std::string> own;
    for (const Stage& stage : stages_.stages)
      if (stage.function == *function)
        for (const StageLoop& loop : stage.loops) own.insert(loop.name);
    const int step = free_step(own, kFirstOfCompute);
    for (Stage& stage : stages_.stages) {
      if (stage.function != *function) continue;
      rename(stage, [&](const std::string& name) { return extended(name, step); });
      stage.loops.insert(stage.loops.begin(), outer.begin(), outer.end());
    }
    stages_.functions[*function].name = compute.name;
    return {};
  }

  Status apply(const schedule::Inline& inlined) {
    REWRIGHT_TRY(const BufferId buffer, buffer_named(inlined.buffer));
    const auto function = stages_.function_of(buffer);
    if (!function || std::ranges::count(stages_.stages, *function, &Stage::function) != 1)
      return lacking(fmt::format("{} is computed by no single store", inlined.buffer));
    stages_.functions[*function].is_inlined = true;
    return {};
  }

  Status apply(const schedule::ReductionFactor&) {
    return lacking("the functions that Halide's rfactor makes have other loops than a schedule names");
  }
  Status apply(const schedule::Tensorise&) {
    return lacking("Halide 14 matches no register tiles; vectorise and unroll their loops");
  }
  Status apply(const schedule::Pack&) { return lacking("Halide leaves the layout of a buffer to its caller"); }

  Result<BufferId> buffer_named(const std::string& name) const {
    const auto at = std::ranges::find(program_.buffers, name, &Buffer::name);
    if (at == program_.buffers.end()) return lacking(fmt::format("there is no buffer {}", name));
    return BufferId{static_cast<std::uint32_t>(at - program_.buffers.begin())};
  }
  [[nodiscard]] int free_step(const std::set<std::string>& loops, int least) const {
    std::set<std::string> taken;
    for (const Stage& stage : stages_.stages)
      for (const StageLoop& loop : stage.loops) taken.insert(loop.name);
    const auto is_taken = [&](const std::string& loop) { return taken.contains(extended(loop, least)); };
    while (std::ranges::any_of(loops, is_taken)) ++least;
    return least;
  }

  const loop::Program& program_;
  Stages& stages_;
  std::uint32_t next_axis_ = 1U << 30;  ///< Beyond the program's.
};

}  // namespace

Status schedule_stages(const loop::Program& program, const schedule::Schedule& schedule, Stages& stages) {
  Replay replay(program, stages);
  for (const schedule::Step& step : schedule) REWRIGHT_CHECK(replay.apply(step));
  return {};
}

}  // namespace rewright::halide
