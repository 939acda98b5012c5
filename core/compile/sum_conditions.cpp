#include "compile/sum_conditions.h"

#include <algorithm>

#include "schedule/nest.h"

namespace rewright::compile {
namespace {

using loop::Body;
using loop::Branch;
using loop::Loop;
using loop::Statement;

bool has_known_extents(const Body& body) {
  return std::ranges::all_of(body, [](const Statement& statement) {
    return (statement.loop() == nullptr || statement.loop()->extent.number()) &&
           has_known_extents(loop::body_of(statement));
  });
}

/// A chain of loops and branches down to one store, with `held` and its own conditions around that.
Body moved_inside(const Statement& chain, const Guard& held) {
  if (chain.store() != nullptr) {
    if (held.empty()) return {chain};
    return {Statement(Branch{held, {chain}}, chain.note())};
  }
  Guard all = held;
  if (const Branch* branch = chain.branch()) {
    all.insert(all.end(), branch->condition.begin(), branch->condition.end());
    return moved_inside(branch->body[0], all);
  }
  const Loop& loop = *chain.loop();
  return {Statement(Loop{loop.axis, loop.extent, loop.kind, moved_inside(loop.body[0], all)}, chain.note())};
}

/// The nest with its update so changed.
Statement with_update_inside(const Statement& statement) {
  const Loop& loop = *statement.loop();
  Body body = loop.body;
  if (body.size() == 1)
    body[0] = with_update_inside(body[0]);
  else
    body[1] = moved_inside(body[1], {})[0];
  return {Loop{loop.axis, loop.extent, loop.kind, std::move(body)}, statement.note()};
}

Body moved_outside(const Body& body) {
  Body result;
  for (const Statement& statement : body) {
    if (const Branch* branch = statement.branch()) {
      result.emplace_back(Branch{branch->condition, moved_outside(branch->body)}, statement.note());
      continue;
    }
    const Loop* loop = statement.loop();
    if (loop == nullptr) {
      result.push_back(statement);
      continue;
    }
    Body inner = moved_outside(loop->body);
    const Branch* branch = inner.size() == 1 ? inner[0].branch() : nullptr;
    Guard out, in;
    if (branch != nullptr) {
      for (const IndexCondition& condition : branch->condition)
        (schedule::names_axis(condition, loop->axis) ? in : out).push_back(condition);
    }
    if (out.empty()) {
      result.emplace_back(Loop{loop->axis, loop->extent, loop->kind, std::move(inner)}, statement.note());
      continue;
    }
    Body rest = in.empty() ? branch->body : Body(1, Statement(Branch{in, branch->body}, inner[0].note()));
    result.emplace_back(Branch{out, Body(1, Statement(Loop{loop->axis, loop->extent, loop->kind, std::move(rest)}))},
                        statement.note());
  }
  return result;
}

}  // namespace

loop::Program with_conditions_inside(const loop::Program& program) {
  loop::Program result = program;
  for (Statement& statement : result.body) {
    const auto nest = statement.loop() != nullptr ? schedule::nest_at(*statement.loop()) : std::nullopt;
    if (nest && nest->has_conditions && has_known_extents({statement})) statement = with_update_inside(statement);
  }
  return result;
}

loop::Program with_conditions_outside(const loop::Program& program) {
  return {program.buffers, moved_outside(program.body)};
}

}  // namespace rewright::compile
