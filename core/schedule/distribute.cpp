// distribute l:  for l { S; T }  becomes  for l' { S }; for l { T },  where a temporary that belongs to an iteration of
// l has an element for each of them from then on.
#include <rewright/loop/buffer_owners.h>

#include "schedule/forbidding.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

/// The first copy is l/3, if that is free.
constexpr int kFirstCopy = 3;

std::size_t loops_in(const Body& body) {
  std::size_t count = 0;
  for (const Statement& statement : body) count += (statement.loop() != nullptr ? 1 : 0) + loops_in(body_of(statement));
  return count;
}

/// The first of those with the most loops in it.
std::size_t largest(const Body& body) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < body.size(); ++i)
    if (loops_in(Body(1, body[i])) > loops_in(Body(1, body[best]))) best = i;
  return best;
}

/// Puts the iteration in front of the indices of the temporaries that it owns.
class Expansion {
 public:
  Expansion(const std::vector<bool>& is_own, const Axis& axis)
      : parts_{.load = [&is_own, axis](const ValueExpr& load) -> std::optional<ValueExpr> {
                 if (!is_own[load.buffer().value]) return std::nullopt;
                 return ValueExpr::load(load.buffer(), in_front(axis, load.indices()));
               },
               .data = [&is_own, axis](const IndexExpr& data) -> std::optional<IndexExpr> {
                 if (!is_own[data.buffer().value]) return std::nullopt;
                 const auto parts = data.operands();
                 return IndexExpr::data(data.buffer(), in_front(axis, parts.subspan(2)), parts[0], parts[1]);
               }},
        is_own_(is_own),
        axis_(axis) {}

  [[nodiscard]] Body expanded(const Body& body) const {
    Body result;
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        result.emplace_back(Loop{loop->axis, substitute(loop->extent, parts_), loop->kind, expanded(loop->body)},
                            statement.note());
      } else if (const loop::Branch* branch = statement.branch()) {
        result.emplace_back(loop::Branch{substitute(branch->condition, parts_), expanded(branch->body)},
                            statement.note());
      } else {
        loop::Store store = *statement.store();
        for (IndexExpr& index : store.at) index = substitute(index, parts_);
        if (is_own_[store.buffer.value]) store.at = in_front(axis_, store.at);
        store.value = substitute(store.value, parts_);
        result.emplace_back(std::move(store), statement.note());
      }
    }
    return result;
  }

 private:
  static std::vector<IndexExpr> in_front(const Axis& axis, std::span<const IndexExpr> at) {
    std::vector<IndexExpr> all = {IndexExpr(axis)};
    all.insert(all.end(), at.begin(), at.end());
    return all;
  }
  Substitution parts_;
  const std::vector<bool>& is_own_;
  Axis axis_;
};

}  // namespace

Outcome transformed(const Program& program, const Distribute& distribute) {
  const auto path = path_to(program, distribute.loop);
  if (!path) return gone(program, distribute.loop);
  const Loop& loop = loop_at(program, *path);
  const auto extent = loop.extent.number();
  const std::string name = loop.axis.name;
  if (!extent)
    return Conflict{Conflict::Kind::kForm, "a loop of known extent", fmt::format("{}, whose extent is data", name)};
  if (loop.body.size() < 2)
    return Conflict{Conflict::Kind::kForm, fmt::format("several statements in {}", name), "one"};
  if (loop.kind == loop::LoopKind::kParallel || loop.kind == loop::LoopKind::kVector)
    return Conflict{Conflict::Kind::kForm, fmt::format("{} before it is marked", name), name_of(loop.kind)};

  std::vector<bool> is_own;
  for (const auto& owner : loop::owners(program)) is_own.push_back(owner == loop.axis.id);
  const auto forbids = [&](const loop::Dependence& dependence) {
    return !is_own[dependence.first.buffer.value] && !dependence.is_reduction;
  };
  const auto is_it = [&](const Loop& each) { return &each == &loop; };
  if (auto conflict =
          forbidding(program, fmt::format("statements of {} of which none needs a later one", name), is_it, forbids))
    return *std::move(conflict);

  Program result = program;
  for (std::size_t b = 0; b < is_own.size(); ++b) {
    std::vector<IndexExpr>& sizes = result.buffers[b].sizes;
    if (is_own[b]) sizes.insert(sizes.begin(), IndexExpr(*extent));
  }
  const std::size_t main = largest(loop.body);
  Copies copies(result);
  int copy = copies.free_step(only(Loop{loop.axis, loop.extent}), kFirstCopy);
  Body loops;
  for (std::size_t i = 0; i < loop.body.size(); ++i) {
    const Axis axis = i == main ? loop.axis : copies.new_axis(extended(distribute.loop, copy));
    if (i != main) copy = copies.free_step(only(Loop{loop.axis, loop.extent}), copy + 1);
    const Body own = substituted(Body(1, loop.body[i]), {.axis = [&](const Axis& used) {
                                   return used == loop.axis ? std::optional(IndexExpr(axis)) : std::nullopt;
                                 }});
    loops.emplace_back(Loop{axis, *extent, loop.kind, Expansion(is_own, axis).expanded(own)});
  }
  result.body = replaced(result.body, *path, loops);
  return result;
}

}  // namespace rewright::schedule
