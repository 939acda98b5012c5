#include "tune/before_runs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "loop/accesses.h"

namespace rewright::tune {
namespace {

bool is_copied(const ValueExpr& value) {
  switch (value.kind()) {
    case ValueExpr::Kind::kLoad:
    case ValueExpr::Kind::kNumber:
    case ValueExpr::Kind::kIndex: return true;
    case ValueExpr::Kind::kSelect: return is_copied(value.operands()[1]) && is_copied(value.operands()[2]);
    default: return false;
  }
}

bool only_copies(const loop::Statement& statement) {
  if (const loop::Store* store = statement.store())
    return store->kind == loop::StoreKind::kSet && is_copied(store->value);
  return std::ranges::all_of(loop::body_of(statement), only_copies);
}

std::set<std::uint32_t> written_by(const loop::Program& program, const loop::Body& body) {
  std::set<std::uint32_t> written;
  for (const loop::Access& access : loop::accesses({program.buffers, body})) {
    if (access.is_write) written.insert(access.buffer.value);
  }
  return written;
}

/// Are they copies of weights to temporaries alone?
bool copies_weights(const loop::Program& program, const loop::Statement& statement) {
  if (!only_copies(statement)) return false;
  return std::ranges::all_of(loop::accesses({program.buffers, {statement}}), [&](const loop::Access& access) {
    return program[access.buffer].role == (access.is_write ? BufferRole::kTemporary : BufferRole::kWeight);
  });
}

}  // namespace

SplitProgram split_before_runs(const loop::Program& program) {
  auto end = program.body.begin();
  while (end != program.body.end() && copies_weights(program, *end)) ++end;
  SplitProgram split{{program.buffers, {program.body.begin(), end}}, {program.buffers, {end, program.body.end()}}};
  const auto copied = written_by(program, split.before.body), later = written_by(program, split.rest.body);
  const bool is_final = std::ranges::none_of(copied, [&](std::uint32_t buffer) { return later.contains(buffer); });
  if (!is_final) return {{program.buffers, {}}, program};
  for (const std::uint32_t buffer : copied) {
    split.before.buffers[buffer].role = BufferRole::kOutput;
    split.rest.buffers[buffer].role = BufferRole::kWeight;
  }
  return split;
}

}  // namespace rewright::tune
