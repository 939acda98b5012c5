#include "schedule/loop_tree.h"

#include <rewright/loop/buffer_owners.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/spelling.h"

namespace rewright::schedule {
namespace {

using loop::Branch;
using loop::Store;

bool find(const Body& body, const std::string& name, LoopPath& path) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    path.push_back(i);
    const Loop* loop = body[i].loop();
    if ((loop != nullptr && loop->axis.name == name) || find(body_of(body[i]), name, path)) return true;
    path.pop_back();
  }
  return false;
}

Statement with_body(const Statement& statement, Body body) {
  if (const Loop* loop = statement.loop())
    return {Loop{loop->axis, loop->extent, loop->kind, std::move(body)}, statement.note()};
  return {Branch{statement.branch()->condition, std::move(body)}, statement.note()};
}

Body replaced_from(const Body& body, const LoopPath& path, std::size_t depth, const Body& by) {
  Body result(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(path[depth]));
  const Statement& at = body[path[depth]];
  if (depth + 1 == path.size()) {
    result.insert(result.end(), by.begin(), by.end());
  } else {
    result.push_back(with_body(at, replaced_from(body_of(at), path, depth + 1, by)));
  }
  result.insert(result.end(), body.begin() + static_cast<std::ptrdiff_t>(path[depth]) + 1, body.end());
  return result;
}

Conflict gone_of(std::string_view what, const std::string& name, const std::vector<std::string>& names) {
  std::string found = fmt::format("the {}s {}", what, fmt::join(names, ", "));
  const auto close = nearest(name, names);
  if (close && names.size() > 1) found += fmt::format(" (did you mean {}?)", *close);
  return {Conflict::Kind::kGone, fmt::format("a {} {}", what, name), std::move(found)};
}

}  // namespace

void for_each_loop(const Body& body, const std::function<void(const Loop&)>& visit) {
  for (const Statement& statement : body) {
    if (const Loop* loop = statement.loop()) visit(*loop);
    for_each_loop(body_of(statement), visit);
  }
}

std::optional<LoopPath> path_to(const Program& program, const LoopName& name) {
  LoopPath path;
  return find(program.body, to_string(name), path) ? std::optional(path) : std::nullopt;
}

const Statement& statement_at(const Program& program, const LoopPath& path) {
  const Body* body = &program.body;
  for (std::size_t depth = 0; depth + 1 < path.size(); ++depth) body = &body_of((*body)[path[depth]]);
  return (*body)[path.back()];
}

const Loop& loop_at(const Program& program, const LoopPath& path) { return *statement_at(program, path).loop(); }

std::vector<std::string> loop_names(const Program& program) {
  std::vector<std::string> names;
  for_each_loop(program.body, [&](const Loop& loop) { names.push_back(loop.axis.name); });
  return names;
}

Conflict gone(const Program& program, const LoopName& name) {
  return gone_of("loop", to_string(name), loop_names(program));
}

Conflict gone(const Program& program, const std::string& buffer) {
  std::vector<std::string> names;
  for (const Buffer& each : program.buffers) names.push_back(each.name);
  return gone_of("buffer", buffer, names);
}

Body only(Statement::Content content, std::string note) {
  return Body(1, Statement(std::move(content), std::move(note)));
}

Body replaced(const Body& body, const LoopPath& path, const Body& by) { return replaced_from(body, path, 0, by); }

Statement substituted(const Statement& statement, const Substitution& parts) {
  if (const Loop* loop = statement.loop()) {
    return {Loop{loop->axis, substitute(loop->extent, parts), loop->kind, substituted(loop->body, parts)},
            statement.note()};
  }
  if (const Branch* branch = statement.branch())
    return {Branch{substitute(branch->condition, parts), substituted(branch->body, parts)}, statement.note()};
  Store store = *statement.store();
  if (const auto buffer = parts.buffer ? parts.buffer(store.buffer) : std::nullopt) store.buffer = *buffer;
  for (IndexExpr& index : store.at) index = substitute(index, parts);
  store.value = substitute(store.value, parts);
  return {std::move(store), statement.note()};
}

Body substituted(const Body& body, const Substitution& parts) {
  Body result;
  for (const Statement& statement : body) result.push_back(substituted(statement, parts));
  return result;
}

std::uint32_t unused_axis(const Program& program) {
  std::uint32_t next = 0;
  for_each_loop(program.body, [&](const Loop& loop) { next = std::max(next, loop.axis.id + 1); });
  return next;
}

LoopName extended(LoopName name, int step) {
  for (LoopName::Part& part : name.parts) part.path.push_back(step);
  return name;
}

Body Copies::renamed(const Body& body, int step) {
  Body result;
  for (const Statement& statement : body) {
    if (const Loop* loop = statement.loop()) {
      const Axis axis = new_axis(extended(*loop::parse_loop_name(loop->axis.name), step));
      const Substitution parts{.axis = [&](const Axis& used) {
        return used.id == loop->axis.id ? std::optional(IndexExpr(axis)) : std::nullopt;
      }};
      result.emplace_back(Loop{axis, loop->extent, loop->kind, renamed(substituted(loop->body, parts), step)},
                          statement.note());
    } else if (const Branch* branch = statement.branch()) {
      result.emplace_back(Branch{branch->condition, renamed(branch->body, step)}, statement.note());
    } else {
      result.push_back(statement);
    }
  }
  return result;
}

int Copies::free_step(const Body& body, int least) const {
  std::set<std::string> taken;
  for_each_loop(program_.body, [&](const Loop& loop) { taken.insert(loop.axis.name); });
  const auto is_free = [&](int step) {
    bool free = true;
    for_each_loop(body, [&](const Loop& loop) {
      free = free && !taken.contains(to_string(extended(*loop::parse_loop_name(loop.axis.name), step)));
    });
    return free;
  };
  while (!is_free(least)) ++least;
  return least;
}

Body Copies::copy(const Body& body, int step) {
  std::set<std::uint32_t> inside;
  for_each_loop(body, [&](const Loop& loop) { inside.insert(loop.axis.id); });
  std::map<std::uint32_t, BufferId> own;
  const auto owners = loop::owners(program_);
  for (std::uint32_t b = 0; b < owners.size(); ++b) {
    if (!owners[b] || !inside.contains(*owners[b])) continue;
    own[b] = {static_cast<std::uint32_t>(program_.buffers.size())};
    Buffer buffer = program_.buffers[b];
    const auto is_taken = [&](const std::string& name) {
      return std::ranges::find(program_.buffers, name, &Buffer::name) != program_.buffers.end();
    };
    for (int i = 2; is_taken(buffer.name); ++i) buffer.name = fmt::format("{}_{}", program_.buffers[b].name, i);
    program_.buffers.push_back(std::move(buffer));
  }
  const Substitution parts{.buffer = [&](BufferId id) {
    const auto at = own.find(id.value);
    return at == own.end() ? std::nullopt : std::optional(at->second);
  }};
  return renamed(substituted(body, parts), step);
}

}  // namespace rewright::schedule
