#include "halide_statements.h"

#include <rewright/loop/buffer_owners.h>

#include <fmt/format.h>

#include <algorithm>

namespace rewright::halide {

using Halide::Expr;
using loop::LoopKind;
namespace ir = Halide::Internal;

namespace {

constexpr std::int64_t kMostLanes = 64;
constexpr std::int64_t kMostStackBytes = 16 << 10;

std::int64_t count_of(const Buffer& buffer) {
  std::int64_t count = 1;
  for (const IndexExpr& size : buffer.sizes) count *= *size.number();
  return count;
}

ValueExpr::Kind operation_of(loop::StoreKind kind) {
  switch (kind) {
    case loop::StoreKind::kMultiply: return ValueExpr::Kind::kMultiply;
    case loop::StoreKind::kMaximum: return ValueExpr::Kind::kMaximum;
    case loop::StoreKind::kMinimum: return ValueExpr::Kind::kMinimum;
    default: return ValueExpr::Kind::kAdd;
  }
}

}  // namespace

StatementBuilder::StatementBuilder(const loop::Program& program, const StatementOptions& options)
    : program_(program),
      options_(options),
      expressions_(program),
      owners_(loop::owners(program)),
      fault_(Halide::Int(32), true, 1, kFault) {
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.role == BufferRole::kTemporary && (owners_[b] || buffer.sizes.empty())) continue;
    taken_.push_back({b});
    expressions_.set_given({b});
  }
}

ir::Stmt StatementBuilder::build() { return allocated(std::nullopt, build(program_.body)); }

ir::Stmt StatementBuilder::build(const loop::Body& body) {
  std::vector<ir::Stmt> all;
  for (const loop::Statement& statement : body) {
    if (const loop::Loop* loop = statement.loop()) {
      all.push_back(build(*loop));
    } else if (const loop::Branch* branch = statement.branch()) {
      const Expr condition = expressions_.condition(branch->condition);
      const auto faults = expressions_.take_faults();
      all.push_back(checked(ir::IfThenElse::make(condition, build(branch->body)), faults));
    } else {
      all.push_back(build(*statement.store()));
    }
  }
  return all.empty() ? ir::Evaluate::make(0) : ir::Block::make(all);
}

ir::ForType StatementBuilder::kind_of(const loop::Loop& loop) const {
  const auto extent = loop.extent.number();
  switch (loop.kind) {
    case LoopKind::kParallel: return options_.has_threads ? ir::ForType::Parallel : ir::ForType::Serial;
    case LoopKind::kVector:
      return extent && *extent > 1 && *extent <= kMostLanes ? ir::ForType::Vectorized : ir::ForType::Serial;
    case LoopKind::kUnroll: return extent ? ir::ForType::Unrolled : ir::ForType::Serial;
    case LoopKind::kSerial: break;
  }
  return ir::ForType::Serial;
}

ir::Stmt StatementBuilder::build(const loop::Loop& loop) {
  const Expr extent = Halide::cast(Halide::Int(32), expressions_.index(loop.extent));
  const auto faults = expressions_.take_faults();
  const auto values = expressions_.range(loop.extent);
  const std::string variable = fmt::format("{}_{}", loop.axis.name, loop.axis.id);
  expressions_.enter(loop.axis, ir::Variable::make(Halide::Int(32), variable),
                     {0, std::max<std::int64_t>((values ? values->high : 1) - 1, 0)});
  const ir::Stmt body = allocated(loop.axis.id, build(loop.body));
  expressions_.leave(loop.axis);
  const ir::Stmt all = ir::For::make(variable, 0, extent, kind_of(loop), Halide::DeviceAPI::None, body);
  return checked(all, faults);
}

ir::Stmt StatementBuilder::build(const loop::Store& store) {
  const ElementType element = program_[store.buffer].element;
  const Expr flat = expressions_.flat(store.buffer, store.at);
  Expr value = expressions_.value(store.value, element);
  if (store.kind != loop::StoreKind::kSet)
    value = combined(operation_of(store.kind), expressions_.element(store.buffer, flat), value);
  const auto faults = expressions_.take_faults();
  value = ir::common_subexpression_elimination(value);
  if (options_.is_strict && value.type().is_float()) value = Halide::strict_float(value);
  if (element == ElementType::kBool) value = ir::Cast::make(stored_type_of(element), value);
  const auto& given = expressions_.given(store.buffer);
  return checked(ir::Store::make(expressions_.name(store.buffer), value, flat, given, ir::const_true(), {}), faults);
}

ir::Stmt StatementBuilder::checked(ir::Stmt statement, const std::vector<Expr>& faults) const {
  for (auto fault = faults.rbegin(); fault != faults.rend(); ++fault) {
    const ir::Stmt noted = ir::Store::make(kFault, 1, 0, fault_, ir::const_true(), {});
    statement = ir::Block::make(ir::IfThenElse::make(*fault, noted), statement);
  }
  return statement;
}

ir::Stmt StatementBuilder::allocated(std::optional<std::uint32_t> owner, ir::Stmt body) const {
  for (std::uint32_t b = 0; b < owners_.size(); ++b) {
    if (owners_[b] != owner || std::ranges::count(taken_, BufferId{b}) > 0) continue;
    const Buffer& buffer = program_.buffers[b];
    const Halide::Type type = stored_type_of(buffer.element);
    const std::int64_t count = std::max<std::int64_t>(count_of(buffer), 1);
    const bool is_small = count * type.bytes() <= kMostStackBytes;
    body = ir::Allocate::make(expressions_.name({b}), type,
                              is_small ? Halide::MemoryType::Stack : Halide::MemoryType::Heap,
                              {static_cast<int>(count)}, ir::const_true(), body);
  }
  return body;
}

}  // namespace rewright::halide
