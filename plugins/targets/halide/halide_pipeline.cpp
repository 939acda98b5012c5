#include "halide_pipeline.h"

#include <Halide.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>

#include "halide_code.h"
#include "halide_expressions.h"

namespace rewright::halide {

using Halide::Expr;
using Halide::Func;
using Halide::Var;
using Halide::VarOrRVar;
namespace ir = Halide::Internal;

namespace {

std::vector<int> sizes_of(const Buffer& buffer) {
  std::vector<int> sizes;
  for (auto size = buffer.sizes.rbegin(); size != buffer.sizes.rend(); ++size)
    sizes.push_back(static_cast<int>(*size->number()));
  return sizes;
}

class HalidePipeline final : public loop::CompiledProgram {
 public:
  HalidePipeline(const loop::Program& program, std::map<std::uint32_t, Halide::ImageParam> given,
                 std::vector<BufferId> outputs, Halide::Pipeline pipeline, Halide::Target target, int threads)
      : buffers_(program.buffers),
        given_(std::move(given)),
        outputs_(std::move(outputs)),
        pipeline_(std::move(pipeline)),
        target_(std::move(target)),
        threads_(threads) {}

  [[nodiscard]] Status run(std::span<std::byte* const> buffers) const override {
    const std::scoped_lock lock(one_run_);
    return caught([&]() -> Status {
      for (auto& [buffer, parameter] : given_) parameter.set(view({buffer}, buffers));
      std::vector<Halide::Buffer<>> outputs;
      for (const BufferId id : outputs_) outputs.push_back(view(id, buffers));
      set_threads(threads_);
      pipeline_.realize(Halide::Realization(outputs), target_);
      return {};
    });
  }

 private:
  [[nodiscard]] Halide::Buffer<> view(BufferId id, std::span<std::byte* const> buffers) const {
    const Buffer& buffer = buffers_[id.value];
    return Halide::Buffer<>(stored_type_of(buffer.element), buffers[id.value], sizes_of(buffer));
  }
  std::vector<Buffer> buffers_;
  mutable std::map<std::uint32_t, Halide::ImageParam> given_;
  std::vector<BufferId> outputs_;
  mutable Halide::Pipeline pipeline_;
  Halide::Target target_;
  int threads_;
  mutable std::mutex one_run_;  ///< Parameters hold the buffers of a run.
};

Halide::TailStrategy strategy_of(const Relation& relation, bool is_pure, bool is_output) {
  if (is_pure && relation.tail == schedule::Tail::kOverlap) return Halide::TailStrategy::ShiftInwards;
  if (is_pure && !is_output && relation.tail == schedule::Tail::kPad) return Halide::TailStrategy::RoundUp;
  return Halide::TailStrategy::GuardWithIf;
}

class PipelineBuilder {
 public:
  PipelineBuilder(const loop::Program& program, const Stages& stages, const PipelineOptions& options)
      : program_(program), stages_(stages), options_(options), expressions_(program) {
    expressions_.set_loading([this](BufferId buffer, std::span<const IndexExpr> at) { return loaded(buffer, at); });
    for (std::size_t f = 0; f < stages.functions.size(); ++f) depths_.push_back(stages.depth(program, f));
    loop_variables_.resize(stages.stages.size());
  }

  Result<std::unique_ptr<loop::CompiledProgram>> build() {
    declare();
    for (std::size_t s = 0; s < stages_.stages.size(); ++s) define(s);
    if (options_.scheduler.empty()) REWRIGHT_CHECK(direct_all());
    std::vector<Func> outputs;
    std::vector<BufferId> ids;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].role != BufferRole::kOutput) continue;
      outputs.push_back(functions_[*stages_.function_of({b})]);
      ids.push_back({b});
    }
    Halide::Pipeline pipeline(outputs);
    const Halide::Target target = processor(options_.is_strict);
    if (!options_.scheduler.empty()) REWRIGHT_CHECK(let_schedule(pipeline, ids, target));
    pipeline.compile_jit(target);
    return std::unique_ptr<loop::CompiledProgram>(
        std::make_unique<HalidePipeline>(program_, given_, ids, pipeline, target, options_.threads));
  }

 private:
  // --- the algorithm -------------------------------------------------------------------------------------------

  void declare() {
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      if (buffer.role != BufferRole::kInput && buffer.role != BufferRole::kWeight) continue;
      Halide::ImageParam parameter(stored_type_of(buffer.element), static_cast<int>(buffer.sizes.size()));
      const std::vector<int> sizes = sizes_of(buffer);
      int stride = 1;
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        parameter.dim(static_cast<int>(d)).set_bounds(0, sizes[d]).set_stride(stride);
        stride *= sizes[d];
      }
      given_.emplace(b, parameter);
    }
    for (const Function& function : stages_.functions) {
      functions_.emplace_back(ir::unique_name(function.name));
      auto& variables = variables_.emplace_back();
      for (std::size_t d = 0; d < function.sizes.size(); ++d) variables.emplace_back(ir::unique_name('d'));
    }
  }

  /// Innermost first, as Halide has them.
  [[nodiscard]] std::vector<Var> arguments(std::size_t function) const {
    return {variables_[function].rbegin(), variables_[function].rend()};
  }

  Expr loaded(BufferId buffer, std::span<const IndexExpr> at) {
    const auto function = stages_.function_of(buffer);
    std::vector<Expr> places;
    if (function)
      for (const Axis& owner : stages_.functions[*function].owners) places.push_back(expressions_.index(owner));
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t size = *program_[buffer].sizes[d].number();
      const auto range = expressions_.range(at[d]);
      const bool is_inside = range && range->low >= 0 && range->high < size;
      const Expr place = Halide::cast(Halide::Int(32), expressions_.index(at[d]));
      places.push_back(is_inside ? place : Halide::clamp(place, 0, static_cast<int>(size) - 1));
    }
    std::ranges::reverse(places);
    return function ? Expr(functions_[*function](places)) : Expr(given_.at(buffer.value)(places));
  }

  void define(std::size_t s) {
    const Stage& stage = stages_.stages[s];
    const Function& function = stages_.functions[stage.function];
    if (function.only_reader) return;
    Func func = functions_[stage.function];
    const std::vector<Var> pure = arguments(stage.function);
    const std::vector<Expr> left(pure.begin(), pure.end());
    if (stage.copied) {
      func(pure) = functions_[*stage.copied](left);
      return;
    }
    const ElementType element = program_[function.buffer].element;
    Halide::RDom domain = enter(s);
    Expr value = expressions_.value(stage.store.value, element);
    if (!stage.is_update) {
      func(pure) = stored(value, element);
    } else {
      if (!stage.where.empty()) domain.where(expressions_.condition(stage.where));
      value = with_domain(value, domain);
      const Expr old = converted(func(left), element);
      func(left) = stored(updated(stage.store.kind, old, value), element);
    }
    for (const StageAxis& axis : stage.axes) expressions_.leave(axis.axis);
  }
  /// Halide forgets a reduction whose variables do not occur.
  static Expr with_domain(const Expr& value, const Halide::RDom& domain) {
    for (int d = 0; d < domain.dimensions(); ++d)
      if (ir::expr_uses_var(value, domain[d].name())) return value;
    return domain.dimensions() == 0 ? value : ir::Select::make(domain[0] >= 0, value, value);
  }
  static Expr stored(const Expr& value, ElementType element) { return Halide::cast(stored_type_of(element), value); }
  /// In the form in which Halide knows that floating-point updates are associative.
  static Expr updated(loop::StoreKind kind, const Expr& old, const Expr& value) {
    const bool floating = value.type().is_float();
    switch (kind) {
      case loop::StoreKind::kMultiply: return combined(ValueExpr::Kind::kMultiply, old, value);
      case loop::StoreKind::kMaximum:
        return floating ? Halide::max(old, value) : combined(ValueExpr::Kind::kMaximum, old, value);
      case loop::StoreKind::kMinimum:
        return floating ? Halide::min(old, value) : combined(ValueExpr::Kind::kMinimum, old, value);
      default: return combined(ValueExpr::Kind::kAdd, old, value);
    }
  }

  /// Gives the axes of a stage their variables; those that are no dimension make a reduction.
  Halide::RDom enter(std::size_t s) {
    const Stage& stage = stages_.stages[s];
    std::vector<const StageAxis*> reduced;
    for (const StageAxis& axis : stage.axes) {
      const auto place = std::ranges::find(stage.places, axis.axis);
      if (place == stage.places.end()) {
        reduced.insert(reduced.begin(), &axis);
        continue;
      }
      const Var& variable = variables_[stage.function][static_cast<std::size_t>(place - stage.places.begin())];
      expressions_.enter(axis.axis, variable, {0, axis.extent - 1});
      loop_variables_[s].insert_or_assign(axis.name, VarOrRVar(variable));
    }
    if (reduced.empty()) return {};
    Halide::Region region;
    for (const StageAxis* axis : reduced) region.emplace_back(0, static_cast<int>(axis->extent));
    Halide::RDom domain(region);
    for (std::size_t d = 0; d < reduced.size(); ++d) {
      const Halide::RVar variable = domain[static_cast<int>(d)];
      expressions_.enter(reduced[d]->axis, variable, {0, reduced[d]->extent - 1});
      loop_variables_[s].insert_or_assign(reduced[d]->name, VarOrRVar(variable));
    }
    return domain;
  }

  /// Copies of buffers take the place of those that Halide makes.
  void wrap() {
    for (std::size_t s = 0; s < stages_.stages.size(); ++s) {
      const std::size_t f = stages_.stages[s].function;
      const Function& function = stages_.functions[f];
      if (function.only_reader) {
        const Func& reader = functions_[*function.only_reader];
        const auto computed = stages_.function_of(function.buffer);
        functions_[f] = computed ? functions_[*computed].in(reader) : given_.at(function.buffer.value).in(reader);
        const std::vector<Var> own = functions_[f].args();
        variables_[f].assign(own.rbegin(), own.rend());
      }
      if (!function.only_reader && !stages_.stages[s].copied) continue;
      for (std::size_t d = 0; d < stages_.stages[s].places.size(); ++d) {
        const auto axis = std::ranges::find(stages_.stages[s].axes, stages_.stages[s].places[d], &StageAxis::axis);
        loop_variables_[s].insert_or_assign(axis->name, VarOrRVar(variables_[f][d]));
      }
    }
  }

  // --- Halide's own schedulers ---------------------------------------------------------------------------------

  /// They lie in a folder beside Halide's library.
  static std::string file_of(const std::string& scheduler) {
    Dl_info halide{};
    ::dladdr(reinterpret_cast<const void*>(&Halide::load_plugin), &halide);
    const std::filesystem::path library = halide.dli_fname == nullptr ? "" : halide.dli_fname;
    std::string name = scheduler;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return library.parent_path() / "halide14" / fmt::format("libautoschedule_{}.so", name);
  }
  Status let_schedule(Halide::Pipeline& pipeline, const std::vector<BufferId>& outputs, const Halide::Target& target) {
    constexpr float kBalance = 40;  // Halide's own, for processors.
    const std::string file = file_of(options_.scheduler);
    if (!std::filesystem::exists(file))
      return make_error(ErrorCode::kNotFound, "target halide: there is no '{}'; install Debian's libhalide14-0-dev",
                        file);
    for (auto& [buffer, parameter] : given_) {
      const std::vector<int> sizes = sizes_of(program_.buffers[buffer]);
      for (std::size_t d = 0; d < sizes.size(); ++d) parameter.dim(static_cast<int>(d)).set_estimate(0, sizes[d]);
    }
    for (const BufferId id : outputs) {
      const std::size_t f = *stages_.function_of(id);
      for (std::size_t d = 0; d < variables_[f].size(); ++d)
        functions_[f].set_estimate(variables_[f][d], 0, static_cast<int>(stages_.functions[f].sizes[d]));
    }
    Halide::load_plugin(file);
    const long cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    pipeline.auto_schedule(
        options_.scheduler, target,
        Halide::MachineParams(options_.threads, static_cast<std::uint64_t>(std::max(cache, 1L << 18)), kBalance));
    return {};
  }

  // --- directives ----------------------------------------------------------------------------------------------

  Status direct_all() {
    wrap();
    for (std::size_t s = 0; s < stages_.stages.size(); ++s)
      if (!stages_.functions[stages_.stages[s].function].is_inlined) REWRIGHT_CHECK(direct(s));
    for (std::size_t f = 0; f < functions_.size(); ++f)
      if (!stages_.functions[f].is_inlined) REWRIGHT_CHECK(place(f));
    return {};
  }

  [[nodiscard]] int place_among(std::size_t s) const {
    int earlier = 0;
    for (std::size_t other = 0; other < s; ++other)
      earlier += stages_.stages[other].function == stages_.stages[s].function ? 1 : 0;
    return earlier;
  }
  [[nodiscard]] Halide::Stage stage_of(std::size_t s) {
    Func func = functions_[stages_.stages[s].function];
    const int place = place_among(s);
    return place == 0 ? Halide::Stage(func) : func.update(place - 1);
  }

  /// Splits and fusions of which all parts are the function's own loops; their order and kinds.
  Status direct(std::size_t s) {
    const Stage& stage = stages_.stages[s];
    const std::size_t depth = depths_[stage.function];
    std::set<std::string> own;
    for (std::size_t i = depth; i < stage.loops.size(); ++i) own.insert(stage.loops[i].name);
    std::vector<const Relation*> needed;
    for (auto relation = stage.relations.rbegin(); relation != stage.relations.rend(); ++relation) {
      const bool has_parts = own.contains(relation->outer) && own.contains(relation->inner);
      if (relation->is_split ? !has_parts : !own.contains(relation->whole)) continue;
      for (const std::string* part : {&relation->outer, &relation->inner, &relation->whole}) own.erase(*part);
      if (relation->is_split)
        own.insert(relation->whole);
      else
        own.insert({relation->outer, relation->inner});
      needed.insert(needed.begin(), &*relation);
    }
    REWRIGHT_CHECK(name_variables(s, own));
    Halide::Stage directed = stage_of(s);
    auto& variables = loop_variables_[s];
    const bool is_output = program_[stages_.functions[stage.function].buffer].role == BufferRole::kOutput && depth == 0;
    for (const Relation* relation : needed) {
      if (!relation->is_split) {
        const bool is_reduction = variables.at(relation->outer).is_rvar;
        variables.insert_or_assign(relation->whole, VarOrRVar(ir::unique_name('f'), is_reduction));
        directed.fuse(variables.at(relation->inner), variables.at(relation->outer), variables.at(relation->whole));
        continue;
      }
      const VarOrRVar whole = variables.at(relation->whole);
      variables.insert_or_assign(relation->outer, VarOrRVar(ir::unique_name('o'), whole.is_rvar));
      variables.insert_or_assign(relation->inner, VarOrRVar(ir::unique_name('i'), whole.is_rvar));
      directed.split(whole, variables.at(relation->outer), variables.at(relation->inner),
                     static_cast<int>(relation->factor), strategy_of(*relation, !stage.is_update, is_output));
    }
    order(stage, depth, variables, directed);
    return {};
  }

  /// Each of these loops, or whole axes, is a variable of the stage; a part of an axis is all that the function has of
  /// it, and its extent is known.
  Status name_variables(std::size_t s, const std::set<std::string>& loops) {
    const Stage& stage = stages_.stages[s];
    auto& variables = loop_variables_[s];
    std::set<std::string> axes;
    for (const std::string& loop : loops) {
      std::string root = loop;
      for (auto relation = stage.relations.rbegin(); relation != stage.relations.rend(); ++relation)
        if (relation->is_split && (relation->outer == root || relation->inner == root)) root = relation->whole;
      const bool is_part = root != loop;
      const bool is_known = variables.contains(root) && axes.insert(root).second;
      if (!is_known || (is_part && (variables.at(root).is_rvar || !is_innermost_part(stage, loop))))
        return make_error(ErrorCode::kUnsupported,
                          "target halide: {} computed inside of other loops has no loop {} of its own; its parts of "
                          "an axis must be the inner ones",
                          stages_.functions[stage.function].name, loop);
      variables.insert_or_assign(loop, variables.at(root));
      const bool has_bound = !stage.is_update && !stages_.functions[stage.function].only_reader;
      if (has_bound && is_part) functions_[stage.function].bound_extent(variables.at(loop).var, extent_of(stage, loop));
    }
    for (std::size_t d = 0; depths_[stage.function] == 0 && !stage.is_update && d < variables_[stage.function].size();
         ++d)
      functions_[stage.function].bound(variables_[stage.function][d], 0,
                                       static_cast<int>(stages_.functions[stage.function].sizes[d]));
    return {};
  }
  static bool is_innermost_part(const Stage& stage, std::string loop) {
    for (auto relation = stage.relations.rbegin(); relation != stage.relations.rend(); ++relation) {
      if (relation->is_split && relation->outer == loop) return false;
      if (relation->is_split && relation->inner == loop) loop = relation->whole;
    }
    return true;
  }
  static int extent_of(const Stage& stage, const std::string& loop) {
    for (const Relation& relation : stage.relations)
      if (relation.is_split && relation.inner == loop) return static_cast<int>(relation.factor);
    const auto at = stage.place_of(loop);
    return at ? static_cast<int>(stage.loops[*at].extent) : 1;
  }

  void order(const Stage& stage, std::size_t depth, const std::map<std::string, VarOrRVar>& variables,
             Halide::Stage& directed) const {
    std::vector<VarOrRVar> inner_first;
    std::set<std::string> named;
    for (std::size_t i = stage.loops.size(); i > depth; --i) {
      inner_first.push_back(variables.at(stage.loops[i - 1].name));
      named.insert(inner_first.back().name());
    }
    if (inner_first.size() > 1) directed.reorder(inner_first);
    for (std::size_t i = depth; i < stage.loops.size(); ++i) {
      const VarOrRVar& variable = variables.at(stage.loops[i].name);
      switch (stage.loops[i].kind) {
        case loop::LoopKind::kParallel:
          if (options_.threads > 1) directed.parallel(variable);
          break;
        case loop::LoopKind::kVector: directed.vectorize(variable); break;
        case loop::LoopKind::kUnroll: directed.unroll(variable); break;
        case loop::LoopKind::kSerial: break;
      }
    }
  }

  /// Inside of the loop of another function, the innermost that both are in.
  Status place(std::size_t f) {
    if (depths_[f] == 0) {
      functions_[f].compute_root();
      return {};
    }
    const std::size_t around = depths_[f] - 1;
    std::string loop;
    for (const Stage& stage : stages_.stages)
      if (stage.function == f) loop = stage.loops[around].name;
    std::optional<std::size_t> best;
    for (std::size_t s = 0; s < stages_.stages.size(); ++s) {
      const Stage& stage = stages_.stages[s];
      const bool is_owner = stage.function != f && depths_[stage.function] <= around &&
                            stage.place_of(loop) == around && !stages_.functions[stage.function].is_inlined;
      if (is_owner && (!best || stages_.read_by(stage).contains(f))) best = s;
    }
    if (!best)
      return make_error(ErrorCode::kUnsupported, "target halide: no function has the loop {} in which {} is computed",
                        loop, stages_.functions[f].name);
    const VarOrRVar& variable = loop_variables_[*best].at(loop);
    functions_[f].compute_at(Halide::LoopLevel(functions_[stages_.stages[*best].function], variable));
    return {};
  }

  const loop::Program& program_;
  const Stages& stages_;
  PipelineOptions options_;
  ExpressionBuilder expressions_;
  std::vector<std::size_t> depths_;
  std::map<std::uint32_t, Halide::ImageParam> given_;
  std::vector<Func> functions_;
  std::vector<std::vector<Var>> variables_;                       ///< Of each function, outermost first.
  std::vector<std::map<std::string, VarOrRVar>> loop_variables_;  ///< Of each stage.
};

}  // namespace

Result<std::unique_ptr<loop::CompiledProgram>> pipeline_of(const loop::Program& program, const Stages& stages,
                                                           const PipelineOptions& options) {
  return caught([&] { return PipelineBuilder(program, stages, options).build(); });
}

}  // namespace rewright::halide
