#include "halide_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace rewright::halide {

using loop::Program;
using loop::Store;
using loop::StoreKind;

namespace {

void collect_loads(const ValueExpr& value, std::set<std::uint32_t>& buffers,
                   std::unordered_set<const ValueExpr::Node*>& seen) {
  if (!seen.insert(value.address()).second) return;
  if (value.kind() == ValueExpr::Kind::kLoad) buffers.insert(value.buffer().value);
  for (const ValueExpr& part : value.operands()) collect_loads(part, buffers, seen);
}

bool has_data(const IndexExpr& index) {
  return index.kind() == IndexExpr::Kind::kData || std::ranges::any_of(index.operands(), has_data);
}

bool has_data(const ValueExpr& value, std::unordered_set<const ValueExpr::Node*>& seen) {
  if (!seen.insert(value.address()).second) return false;
  return std::ranges::any_of(value.indices(), [](const IndexExpr& index) { return has_data(index); }) ||
         std::ranges::any_of(value.operands(), [&](const ValueExpr& part) { return has_data(part, seen); });
}

class StageReader {
 public:
  explicit StageReader(const Program& program) : program_(program) {}
  Result<Stages> run() {
    REWRIGHT_CHECK(read(program_.body));
    return std::move(stages_);
  }

 private:
  [[nodiscard]] Error refused(const Store& store, std::string_view why) const {
    return make_error(ErrorCode::kUnsupported, "target halide: the store to {} is no definition of Halide's: {}",
                      program_[store.buffer].name, why);
  }

  Status read(const loop::Body& body) {
    for (const loop::Statement& statement : body) {
      if (const loop::Loop* loop = statement.loop()) {
        const auto extent = loop->extent.number();
        if (!extent || *extent < 1)
          return make_error(ErrorCode::kUnsupported,
                            "target halide: loop {} has no fixed extent of at least 1, which Halide's have",
                            loop->axis.name);
        axes_.push_back({loop->axis.name, loop->axis, *extent});
        REWRIGHT_CHECK(read(loop->body));
        axes_.pop_back();
      } else if (const loop::Branch* branch = statement.branch()) {
        const std::size_t around = guard_.size();
        guard_.insert(guard_.end(), branch->condition.begin(), branch->condition.end());
        REWRIGHT_CHECK(read(branch->body));
        guard_.resize(around);
      } else {
        REWRIGHT_CHECK(read(*statement.store()));
      }
    }
    return {};
  }

  Status read(const Store& store) {
    std::unordered_set<const ValueExpr::Node*> seen;
    if (has_data(store.value, seen)) return refused(store, "it reads at indices that are data");
    const auto known = stages_.function_of(store.buffer);
    if ((store.kind == StoreKind::kSet) == known.has_value())
      return refused(store, known ? "it is set twice" : "it is updated before it is set");
    std::set<std::uint32_t> loads;
    halide::collect_loads(store.value, loads);
    for (const std::uint32_t b : loads) {
      const bool is_given =
          program_.buffers[b].role == BufferRole::kInput || program_.buffers[b].role == BufferRole::kWeight;
      if (b == store.buffer.value) return refused(store, "it reads what it defines");
      if (!is_given && !stages_.function_of({b}))
        return refused(store, fmt::format("it reads {}, which is computed later", program_.buffers[b].name));
    }
    Stage stage{.store = store, .axes = axes_};
    REWRIGHT_TRY(stage.places, places(store));
    const std::size_t owners = axes_of_owners(stage.places).size();
    if (!known) {
      REWRIGHT_CHECK(define(store, stage));
    } else {
      stage.function = *known;
      stage.is_update = true;
      stage.where = std::vector(guard_.begin() + static_cast<std::ptrdiff_t>(conditions_[*known]), guard_.end());
      const std::vector<Axis>& around = stages_.functions[*known].owners;
      stage.places.insert(stage.places.begin(), around.begin(), around.end());
      if (owners < around.size()) return refused(store, "its loops are not those in which it is set");
    }
    for (const StageAxis& axis : axes_) stage.loops.push_back({axis.name, axis.extent});
    stages_.stages.push_back(std::move(stage));
    return {};
  }

  /// The axes that a store's indices are.
  [[nodiscard]] Result<std::vector<Axis>> places(const Store& store) const {
    std::vector<Axis> all;
    for (std::size_t d = 0; d < store.at.size(); ++d) {
      const auto axis =
          std::ranges::find_if(axes_, [&](const StageAxis& next) { return store.at[d] == IndexExpr(next.axis); });
      if (axis == axes_.end() || axis->extent != program_[store.buffer].sizes[d].number() ||
          std::ranges::count(all, axis->axis) > 0)
        return refused(store, "its indices are not loops, one each, over all of it");
      all.push_back(axis->axis);
    }
    return all;
  }
  [[nodiscard]] std::vector<StageAxis> axes_of_owners(const std::vector<Axis>& places) const {
    std::vector<StageAxis> around;
    for (const StageAxis& axis : axes_)
      if (std::ranges::count(places, axis.axis) == 0) around.push_back(axis);
    return around;
  }

  Status define(const Store& store, Stage& stage) {
    const Buffer& buffer = program_[store.buffer];
    const std::vector<StageAxis> around = axes_of_owners(stage.places);
    const bool is_own = buffer.role == BufferRole::kTemporary && (!around.empty() || buffer.sizes.empty());
    if (!is_own && !around.empty()) return refused(store, "loops around it set each of its elements again");
    if (!is_own && !guard_.empty()) return refused(store, "a condition keeps some of its elements from being set");
    Function function{.name = buffer.name, .buffer = store.buffer, .sizes = {}};
    for (const StageAxis& axis : around) {
      function.owners.push_back(axis.axis);
      function.sizes.push_back(axis.extent);
    }
    for (const IndexExpr& size : buffer.sizes) function.sizes.push_back(*size.number());
    stage.places.insert(stage.places.begin(), function.owners.begin(), function.owners.end());
    stage.function = stages_.functions.size();
    stages_.functions.push_back(std::move(function));
    conditions_.push_back(guard_.size());
    return {};
  }

  const Program& program_;
  Stages stages_;
  std::vector<StageAxis> axes_;          ///< Around the statement at hand.
  Guard guard_;                          ///< Of the branches around it.
  std::vector<std::size_t> conditions_;  ///< For each function: how many were around its first definition.
};

}  // namespace

Result<Stages> stages_of(const Program& program) { return StageReader(program).run(); }

void collect_loads(const ValueExpr& value, std::set<std::uint32_t>& buffers) {
  std::unordered_set<const ValueExpr::Node*> seen;
  collect_loads(value, buffers, seen);
}

std::optional<std::size_t> Stage::place_of(const std::string& loop) const {
  const auto at = std::ranges::find(loops, loop, &StageLoop::name);
  return at == loops.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - loops.begin()));
}

std::optional<std::size_t> Stages::function_of(BufferId buffer) const {
  for (std::size_t f = 0; f < functions.size(); ++f)
    if (functions[f].buffer == buffer && !functions[f].only_reader) return f;
  return std::nullopt;
}

std::set<std::size_t> Stages::read_by(const Stage& stage) const {
  std::set<std::size_t> read;
  if (stage.copied) return {*stage.copied};
  std::set<std::uint32_t> loads;
  collect_loads(stage.store.value, loads);
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const Function& function = functions[f];
    if (!loads.contains(function.buffer.value) || f == stage.function) continue;
    if (function.only_reader && function.only_reader != stage.function) continue;
    read.insert(f);
    if (!function.is_inlined) continue;
    for (const Stage& inlined : stages)
      if (inlined.function == f) read.merge(read_by(inlined));
  }
  return read;
}

std::size_t Stages::depth(const Program& program, std::size_t function) const {
  if (program[functions[function].buffer].role == BufferRole::kOutput &&
      functions[function].name == program[functions[function].buffer].name)
    return 0;
  std::optional<std::vector<StageLoop>> common;
  bool is_read = false;
  for (const Stage& stage : stages) {
    if (functions[stage.function].is_inlined) continue;
    if (stage.function != function && !read_by(stage).contains(function)) continue;
    is_read |= stage.function != function;
    if (!common) common = stage.loops;
    const auto [end, other] = std::ranges::mismatch(*common, stage.loops, {}, &StageLoop::name, &StageLoop::name);
    common->erase(end, common->end());
  }
  return is_read ? common->size() : 0;
}

}  // namespace rewright::halide
