#include "schedule/places.h"

#include "loop/bounds.h"

namespace rewright::schedule {
namespace {

class Readdressing {
 public:
  Readdressing(BufferId from, BufferId to, const Places& places, std::vector<const Loop*> around)
      : from_(from), to_(to), places_(places), around_(std::move(around)) {}

  Body run(const Body& body) {
    Body result;
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        const IndexExpr extent = substitute(loop->extent, parts_);
        around_.push_back(loop);
        result.emplace_back(Loop{loop->axis, extent, loop->kind, run(loop->body)}, statement.note());
        around_.pop_back();
      } else if (const loop::Branch* branch = statement.branch()) {
        result.emplace_back(loop::Branch{substitute(branch->condition, parts_), run(branch->body)}, statement.note());
      } else {
        loop::Store store = *statement.store();
        for (IndexExpr& index : store.at) index = substitute(index, parts_);
        if (store.buffer == from_) store.at = moved(store.at), store.buffer = to_;
        store.value = substitute(store.value, parts_);
        result.emplace_back(std::move(store), statement.note());
      }
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<IndexExpr> moved(std::span<const IndexExpr> at) const {
    return places_(at, loop::ranges_of(around_));
  }

  BufferId from_, to_;
  const Places& places_;
  std::vector<const Loop*> around_;
  Substitution parts_{.load = [this](const ValueExpr& load) -> std::optional<ValueExpr> {
                        if (load.buffer() != from_) return std::nullopt;
                        return ValueExpr::load(to_, moved(load.indices()));
                      },
                      .data = [this](const IndexExpr& data) -> std::optional<IndexExpr> {
                        if (data.buffer() != from_) return std::nullopt;
                        const auto parts = data.operands();
                        return IndexExpr::data(to_, moved(parts.subspan(2)), parts[0], parts[1]);
                      }};
};

}  // namespace

Body with_places(const Body& body, BufferId from, BufferId to, const Places& places, std::vector<const Loop*> around) {
  return Readdressing(from, to, places, std::move(around)).run(body);
}

Program without_buffer(Program program, BufferId gone) {
  const Places same = [](std::span<const IndexExpr> at, const loop::AxisRanges&) {
    return std::vector<IndexExpr>(at.begin(), at.end());
  };
  for (std::uint32_t b = gone.value + 1; b < program.buffers.size(); ++b) {
    program.body = with_places(program.body, {b}, {b - 1}, same);
  }
  program.buffers.erase(program.buffers.begin() + gone.value);
  return program;
}

bool uses_axis(std::span<const IndexExpr> at, const Axis& axis) {
  const Substitution none{
      .axis = [&](const Axis& used) { return used == axis ? std::optional(IndexExpr(0)) : std::nullopt; }};
  return std::ranges::any_of(at, [&](const IndexExpr& index) { return !(substitute(index, none) == index); });
}

}  // namespace rewright::schedule
