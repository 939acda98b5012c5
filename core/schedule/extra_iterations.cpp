#include "schedule/extra_iterations.h"

#include <rewright/loop/buffer_owners.h>

#include <algorithm>
#include <set>

#include "loop/bounds.h"
#include "schedule/read_box.h"

namespace rewright::schedule {
namespace {

using loop::Access;

class StoresInCondition {
 public:
  StoresInCondition(const Program& program, const Loop& loop, const Guard& needed) : needed_(needed) {
    std::set<std::uint32_t> inside;
    for_each_loop(only(loop), [&](const Loop& each) { inside.insert(each.axis.id); });
    for (const auto& owner : loop::owners(program)) is_own_.push_back(owner && inside.contains(*owner));
  }
  [[nodiscard]] Body run(const Body& body) const {
    Body result;
    for (const Statement& statement : body) {
      if (stores(statement, false) && !stores(statement, true)) {
        result.emplace_back(loop::Branch{needed_, Body(1, statement)});
      } else if (const Loop* loop = statement.loop()) {
        result.emplace_back(Loop{loop->axis, loop->extent, loop->kind, run(loop->body)}, statement.note());
      } else if (const loop::Branch* branch = statement.branch()) {
        result.emplace_back(loop::Branch{branch->condition, run(branch->body)}, statement.note());
      } else {
        result.push_back(statement);
      }
    }
    return result;
  }

 private:
  /// Does it store to the iteration's own buffers, or to others?
  [[nodiscard]] bool stores(const Statement& statement, bool own) const {
    if (statement.store() != nullptr) return is_own_[statement.store()->buffer.value] == own;
    return std::ranges::any_of(body_of(statement), [&](const Statement& each) { return stores(each, own); });
  }

  const Guard& needed_;
  std::vector<bool> is_own_;
};

/// Does an access set every element of its buffer?
bool sets_all(const Program& program, const Access& access) {
  if (!access.is_write || access.is_update || !covers_box(access, 0)) return false;
  const auto box = box_of(program, {access}, 0);
  const auto* found = std::get_if<ReadBox>(&box);
  const auto& sizes = program[access.buffer].sizes;
  bool is_whole = found != nullptr;
  for (std::size_t d = 0; is_whole && d < sizes.size(); ++d) is_whole = (*found)[d].size == sizes[d].number();
  return is_whole;
}

/// Is every element set before the nest that a reader is in, and none stored there? Otherwise iterations that run at
/// once could store what those beyond read.
bool is_all_set(const Program& program, const std::vector<Access>& all, const Access& reader) {
  bool is_set = false, is_there = false;
  for (const Access& access : all) {
    const bool is_together = !access.loops.empty() && access.loops.front() == reader.loops.front();
    is_there |= is_together;
    if (access.buffer != reader.buffer) continue;
    if (is_together && access.is_write) return false;
    is_set |= !is_there && sets_all(program, access);
  }
  return is_set;
}

}  // namespace

Body storing_where(const Program& program, const Loop& loop, const Guard& needed) {
  return StoresInCondition(program, loop, needed).run(loop.body);
}

std::optional<Conflict> computed_index(const Program& program, const Loop& loop) {
  std::optional<BufferId> computed;
  (void)substituted(loop.body, {.data = [&](const IndexExpr& data) -> std::optional<IndexExpr> {
                      const BufferRole role = program[data.buffer()].role;
                      if (role != BufferRole::kInput && role != BufferRole::kWeight) computed = data.buffer();
                      return std::nullopt;
                    }});
  if (!computed) return std::nullopt;
  return form("indices that are read from inputs and weights alone",
              fmt::format("one of {}, which is computed", program[*computed].name));
}

std::optional<Conflict> beyond(const Program& program, const Axis& outer, const IndexCondition& needed) {
  const auto own = loop::owners(program);
  const std::vector<Access> all = accesses(program);
  for (const Access& access : all) {
    const auto at = std::ranges::find(access.loops, outer.id, [](const Loop* loop) { return loop->axis.id; });
    if (at == access.loops.end() || std::ranges::find(access.when, needed) != access.when.end()) continue;
    const std::string& name = program[access.buffer].name;
    if (!loop::stays_inside(access, program[access.buffer]))
      return form("accesses that stay inside of their buffers in all of the factor's iterations (pack with pad)",
                  fmt::format("one of {} that may not", name));
    const auto owner = own[access.buffer.value];
    const bool is_own =
        owner && std::any_of(at, access.loops.end(), [&](const Loop* l) { return l->axis.id == *owner; });
    const BufferRole role = program[access.buffer].role;
    const bool is_given = role == BufferRole::kInput || role == BufferRole::kWeight;
    if (!is_own && !is_given && !is_all_set(program, all, access))
      return form("reads of what is set in all of the factor's iterations (pack with pad)",
                  fmt::format("one of {}, of which a part may not be", name));
  }
  return std::nullopt;
}

}  // namespace rewright::schedule
