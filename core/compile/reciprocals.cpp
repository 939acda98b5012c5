#include "compile/reciprocals.h"

namespace rewright::compile {
namespace {

using loop::Body;
using loop::Statement;
using Kind = ValueExpr::Kind;

bool is_divisor(const ValueExpr& value, BufferId buffer) {
  return value.kind() == Kind::kDivide && value.operands()[1].kind() == Kind::kLoad &&
         value.operands()[1].buffer() == buffer;
}

/// Loads of a buffer: by which is divided, and others.
struct Uses {
  int divisors = 0;
  int others = 0;
  bool is_updated = false;
};

void count(const ValueExpr& value, BufferId buffer, Uses& uses) {
  if (value.kind() == Kind::kLoad && value.buffer() == buffer) ++uses.others;
  if (is_divisor(value, buffer)) ++uses.divisors, --uses.others;
  for (const ValueExpr& part : value.operands()) count(part, buffer, uses);
}

void count(const Body& body, BufferId buffer, Uses& uses) {
  for (const Statement& statement : body) {
    count(loop::body_of(statement), buffer, uses);
    const loop::Store* store = statement.store();
    if (store == nullptr) continue;
    count(store->value, buffer, uses);
    uses.is_updated |= store->buffer == buffer && store->kind != loop::StoreKind::kSet;
  }
}

ValueExpr multiplied(const ValueExpr& value, BufferId buffer) {
  std::vector<ValueExpr> parts;
  for (const ValueExpr& part : value.operands()) parts.push_back(multiplied(part, buffer));
  if (is_divisor(value, buffer)) return parts[0] * parts[1];
  switch (value.kind()) {
    case Kind::kLoad:
    case Kind::kNumber:
    case Kind::kIndex:
    case Kind::kReduce: return value;
    case Kind::kNot: return negation(parts[0]);
    case Kind::kCast: return cast(value.element(), parts[0]);
    case Kind::kCall: return apply(value.function(), parts[0]);
    case Kind::kSelect: return select(parts[0], parts[1], parts[2]);
    default: return ValueExpr::binary(value.kind(), parts[0], parts[1]);
  }
}

Body multiplied(const Body& body, BufferId buffer) {
  Body result;
  for (const Statement& statement : body) {
    if (const loop::Loop* loop = statement.loop()) {
      result.emplace_back(loop::Loop{loop->axis, loop->extent, loop->kind, multiplied(loop->body, buffer)},
                          statement.note());
    } else if (const loop::Branch* branch = statement.branch()) {
      result.emplace_back(loop::Branch{branch->condition, multiplied(branch->body, buffer)}, statement.note());
    } else {
      loop::Store store = *statement.store();
      store.value = multiplied(store.value, buffer);
      if (store.buffer == buffer) store.value = ValueExpr::from_integer(1) / store.value;
      result.emplace_back(std::move(store), statement.note());
    }
  }
  return result;
}

}  // namespace

loop::Program with_reciprocals(const loop::Program& program) {
  loop::Program result = program;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].role != BufferRole::kTemporary || !is_floating(program.buffers[b].element)) continue;
    Uses uses;
    count(result.body, {b}, uses);
    if (uses.divisors > 0 && uses.others == 0 && !uses.is_updated) result.body = multiplied(result.body, {b});
  }
  return result;
}

}  // namespace rewright::compile
