#include "c_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace rewright::c {
namespace {

using namespace loop;

/// Stands for the place of the first lane, where the code computes it.
const Axis kBase{~std::uint32_t{0}, "base"};

bool names(const IndexExpr& index, std::uint32_t axis) {
  if (index.kind() == IndexExpr::Kind::kAxis) return index.axis().id == axis;
  return std::ranges::any_of(index.operands(), [&](const IndexExpr& part) { return names(part, axis); });
}

bool has_vectors(ElementType type) { return type != ElementType::kBool; }

}  // namespace

VectorWriter::VectorWriter(const Program& program, const std::vector<std::optional<std::uint32_t>>& owners,
                           const std::set<std::string>& names, ExpressionWriter& expressions, VectorHelpers& helpers,
                           Registers& registers)
    : program_(program),
      owners_(owners),
      names_(names),
      expressions_(expressions),
      helpers_(helpers),
      registers_(registers) {}

// --- what depends on the lane ----------------------------------------------------------------------------------

bool VectorWriter::owns(BufferId buffer) const { return owners_[buffer.value] == axis_.id; }

bool VectorWriter::depends(const IndexExpr& index) const { return names(index, axis_.id); }

bool VectorWriter::depends(const IndexCondition& condition) const {
  return depends(condition.left) || depends(condition.right);
}

bool VectorWriter::depends(const ValueExpr& value) const {
  if (value.kind() == ValueExpr::Kind::kLoad && owns(value.buffer())) return true;
  return std::ranges::any_of(value.indices(), [&](const IndexExpr& index) { return depends(index); }) ||
         std::ranges::any_of(value.operands(), [&](const ValueExpr& part) { return depends(part); });
}

std::optional<std::int64_t> VectorWriter::stride(const IndexExpr& index) const {
  const auto form = linear(index);
  if (!form) return std::nullopt;
  std::int64_t step = 0;
  for (const auto& [atom, coefficient] : form->terms) {
    if (atom == IndexExpr(axis_))
      step = coefficient;
    else if (depends(atom))
      return std::nullopt;
  }
  return step;
}

IndexExpr VectorWriter::at_lane(const IndexExpr& index, int lane) const {
  const IndexExpr place = base_ + IndexExpr(lane);
  return substitute(index,
                    {.axis = [&](const Axis& axis) { return axis == axis_ ? std::optional(place) : std::nullopt; }});
}

/// Whatever the axes are.
bool VectorWriter::is_inside(const ValueExpr& value) {
  if (value.kind() == ValueExpr::Kind::kLoad) {
    const Buffer& buffer = program_[value.buffer()];
    for (std::size_t d = 0; d < buffer.sizes.size(); ++d) {
      const auto range = range_of(value.indices()[d], expressions_.ranges());
      if (!range || range->low < 0 || range->high >= *buffer.sizes[d].number()) return false;
    }
  }
  return std::ranges::all_of(value.operands(), [&](const ValueExpr& part) { return is_inside(part); });
}

bool VectorWriter::can(const Loop& loop) {
  if (!loop.extent.number()) return false;
  axis_ = loop.axis;
  expressions_.enter(loop.axis, "", {0, *loop.extent.number() - 1});
  const bool fits = can(loop.body, loop.axis);
  expressions_.leave(loop.axis);
  axis_ = kBase;
  return fits;
}

bool VectorWriter::can(const Body& body, const Axis& axis) {
  return std::ranges::all_of(body, [&](const Statement& statement) {
    if (const Branch* branch = statement.branch()) {
      const bool fits = std::ranges::all_of(branch->condition, [&](const IndexCondition& c) {
        return !depends(c) ||
               (c.relation != IndexCondition::Relation::kEqual && stride(c.right - c.left) == std::int64_t{-1});
      });
      return fits && can(branch->body, axis);
    }
    const Store* store = statement.store();
    if (store == nullptr || !has_vectors(program_[store->buffer].element)) return false;
    const IndexExpr flat = expressions_.flat(store->buffer, store->at);
    return owns(store->buffer) ? !depends(flat) : stride(flat).value_or(0) != 0;
  });
}

// --- statements ------------------------------------------------------------------------------------------------

std::vector<std::string> VectorWriter::write(const Loop& loop, const std::string& variable) {
  const std::int64_t extent = *loop.extent.number(), lanes = helpers_.lanes(), whole = extent / lanes;
  lines_.clear();
  axis_ = loop.axis;
  is_vector_ = true;
  expressions_.enter(loop.axis, "", {0, std::max<std::int64_t>(extent - 1, 0)});
  if (whole > kMostWritten) {
    line(fmt::format("for (int64_t {0} = 0; {0} < {1}; {0} += {2}) {{", variable, whole * lanes, lanes));
    expressions_.enter(kBase, variable, {0, (whole - 1) * lanes});
    ++depth_;
    chunk(loop, kBase, static_cast<int>(lanes));
    --depth_;
    expressions_.leave(kBase);
    line("}");
  } else {
    for (std::int64_t i = 0; i < whole; ++i) chunk(loop, i * lanes, static_cast<int>(lanes));
  }
  if (extent % lanes != 0) chunk(loop, whole * lanes, static_cast<int>(extent % lanes));
  expressions_.leave(loop.axis);
  is_vector_ = false;
  axis_ = kBase;
  return std::exchange(lines_, {});
}

void VectorWriter::chunk(const Loop& loop, const IndexExpr& base, int count) {
  base_ = base;
  live_ = {count, {}};
  std::vector<std::string> own;
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (!owns({b})) continue;
    std::int64_t elements = 1;
    for (const IndexExpr& size : buffer.sizes) elements *= *size.number();
    own.push_back(fmt::format("{} {}{};", helpers_.type(buffer.element), buffer.name,
                              buffer.sizes.empty() ? "" : fmt::format("[{}]", std::max<std::int64_t>(elements, 1))));
  }
  if (!own.empty()) {
    line("{");
    ++depth_;
    for (std::string& text : own) line(std::move(text));
  }
  write(loop.body);
  if (own.empty()) return;
  --depth_;
  line("}");
}

void VectorWriter::write(const Body& body) {
  for (const Statement& statement : body) {
    if (const Branch* branch = statement.branch())
      write(*branch);
    else
      write(*statement.store());
  }
}

void VectorWriter::write(const Branch& branch) {
  Guard same;
  std::vector<std::string> counts;
  for (const IndexCondition& condition : branch.condition) {
    if (!depends(condition)) {
      same.push_back(condition);
      continue;
    }
    const bool is_less = condition.relation == IndexCondition::Relation::kLess;
    const IndexExpr room = condition.right - condition.left + IndexExpr(is_less ? 0 : 1);
    counts.push_back(expressions_.index(simplified(at_lane(room, 0), expressions_.ranges())));
  }
  if (!same.empty()) {
    line(fmt::format("if ({}) {{", expressions_.condition(same)));
    ++depth_;
  }
  if (counts.empty()) {
    write(branch.body);
  } else {
    const Live before = live_;
    const bool was_guarded = is_guarded_;
    std::string name = fmt::format("n{}", depth_);
    while (names_.contains(name)) name += "_";
    line("{");
    ++depth_;
    line(fmt::format("int64_t {} = {};", name, before.text()));
    for (const std::string& count : counts) line(fmt::format("if ({0} > {1}) {0} = {1};", name, count));
    const bool is_full = before.is_full(helpers_.lanes());
    if (is_full) {
      line(fmt::format("if ({} == {}) {{", name, helpers_.lanes()));
      ++depth_;
      write(branch.body);
      --depth_;
    }
    line(fmt::format("{}if ({} > 0) {{", is_full ? "} else " : "", name));
    ++depth_;
    live_.computed = name;
    is_guarded_ = true;
    write(branch.body);
    live_ = before;
    is_guarded_ = was_guarded;
    --depth_;
    line("}");
    --depth_;
    line("}");
  }
  if (same.empty()) return;
  --depth_;
  line("}");
}

void VectorWriter::write(const Store& store) {
  const Buffer& buffer = program_[store.buffer];
  const ElementType type = buffer.element;
  const IndexExpr flat = expressions_.flat(store.buffer, store.at);
  const IndexExpr first = simplified(at_lane(flat, 0), expressions_.ranges());
  const bool is_own = owns(store.buffer);
  if (is_own || stride(flat) == std::int64_t{1}) {
    const std::string old = store.kind == StoreKind::kSet ? "" : loaded(store.buffer, flat, type);
    const std::string value = combined(store.kind, old, store.value, type);
    std::string variable;
    if (is_own) {
      variable = buffer.sizes.empty() ? buffer.name : fmt::format("{}[{}]", buffer.name, expressions_.index(first));
    } else {
      registers_.touch(store.buffer, first.number(), {live_.known, true});
      if (registers_.holds(store.buffer)) variable = fmt::format("{}_{}", buffer.name, *first.number());
    }
    if (!variable.empty()) {
      const std::string at_work =
          is_guarded_ ? fmt::format("{}(lanes_{} < ({}){}, {}, {})", helpers_.use("select", type),
                                    helpers_.type(element_size(type) == 8 ? ElementType::kInt64 : ElementType::kInt32),
                                    element_size(type) == 8 ? "int64_t" : "int32_t", live_.text(), value, variable)
                      : value;
      line(fmt::format("{} = {};", variable, at_work));
      return;
    }
    const std::string place = fmt::format("&{}[{}]", buffer.name, expressions_.index(first));
    if (live_.is_full(helpers_.lanes()))
      line(fmt::format("{}({}, {});", helpers_.use("store", type), place, value));
    else
      line(fmt::format("{}({}, {}, {});", helpers_.use("store_part", type), place, value, live_.text()));
    return;
  }
  registers_.touch(store.buffer, std::nullopt, {});
  for (int l = 0; l < live_.known; ++l) {
    const IndexExpr at = simplified(at_lane(flat, l), expressions_.ranges());
    lane_ = l;
    const std::string place = fmt::format("{}[{}]", buffer.name, expressions_.index(at));
    const std::string update = expressions_.update(store.kind, place, at_lane(store.value, l), type);
    line(live_.computed.empty() ? update + ";" : fmt::format("if ({} > {}) {};", live_.computed, l, update));
  }
}

std::string VectorWriter::combined(StoreKind kind, const std::string& old, const ValueExpr& value, ElementType type) {
  const auto call = [&](std::string_view stem) {
    return fmt::format("{}({}, {})", helpers_.use(stem, type), old, text(value, type));
  };
  switch (kind) {
    case StoreKind::kSet: return text(value, type);
    case StoreKind::kMaximum: return call("max");
    case StoreKind::kMinimum: return call("min");
    case StoreKind::kMultiply: return is_floating(type) ? fmt::format("{} * {}", old, text(value, type)) : call("mul");
    default: break;
  }
  if (!is_floating(type)) return call("add");
  if (value.kind() != ValueExpr::Kind::kMultiply) return fmt::format("{} + {}", old, text(value, type));
  return fmt::format("{}({}, {}, {})", helpers_.use("fma", type), text(value.operands()[0], type),
                     text(value.operands()[1], type), old);
}

// --- values ----------------------------------------------------------------------------------------------------

std::optional<std::string> VectorWriter::name(BufferId buffer, const IndexExpr& flat) {
  const std::string& called = program_[buffer].name;
  if (is_vector_ && owns(buffer)) {
    if (program_[buffer].sizes.empty()) return fmt::format("{}[{}]", called, lane_);
    return fmt::format("{}[{}][{}]", called, expressions_.index(flat), lane_);
  }
  registers_.touch(buffer, flat.number(), {});
  if (!registers_.holds(buffer)) return std::nullopt;
  return registers_.element(called, buffer, *flat.number());
}

std::string VectorWriter::loaded(BufferId buffer, const IndexExpr& flat, ElementType type) {
  const std::string& called = program_[buffer].name;
  const IndexExpr first = simplified(at_lane(flat, 0), expressions_.ranges());
  if (owns(buffer)) {
    return program_[buffer].sizes.empty() ? called : fmt::format("{}[{}]", called, expressions_.index(first));
  }
  registers_.touch(buffer, first.number(), {live_.known, true});
  if (registers_.holds(buffer)) return fmt::format("{}_{}", called, *first.number());
  const std::string place = fmt::format("&{}[{}]", called, expressions_.index(first));
  if (live_.is_full(helpers_.lanes())) return fmt::format("{}({})", helpers_.use("load", type), place);
  return fmt::format("{}({}, {})", helpers_.use("load_part", type), place, live_.text());
}

bool VectorWriter::is_one_place(const IndexExpr& flat) {
  const IndexExpr first = at_lane(flat, 0);
  for (int l = 1; l < helpers_.lanes(); ++l) {
    if (simplified(at_lane(flat, l) - first, expressions_.ranges()).number() != 0) return false;
  }
  return true;
}

std::optional<std::string> VectorWriter::shuffled(BufferId buffer, const IndexExpr& flat, ElementType type) {
  const std::int64_t lanes = helpers_.lanes();
  if (!live_.is_full(helpers_.lanes()) || registers_.holds(buffer)) return std::nullopt;
  const IndexExpr first = simplified(at_lane(flat, 0), expressions_.ranges());
  std::vector<std::int64_t> places;
  for (int l = 0; l < lanes; ++l) {
    const auto place = simplified(at_lane(flat, l) - first, expressions_.ranges()).number();
    if (!place || *place < 0 || *place >= lanes) return std::nullopt;
    places.push_back(*place);
  }
  std::int64_t elements = 1;
  for (const IndexExpr& size : program_[buffer].sizes) elements *= *size.number();
  const auto range = range_of(first, expressions_.ranges());
  if (!range || range->low < 0 || range->high + lanes > elements) return std::nullopt;
  registers_.touch(buffer, std::nullopt, {});
  return fmt::format("shuffled({}(&{}[{}]), {})", helpers_.use("load", type), program_[buffer].name,
                     expressions_.index(first), fmt::join(places, ", "));
}

std::optional<std::string> VectorWriter::every_second(BufferId buffer, const IndexExpr& flat, ElementType type) {
  if (type != ElementType::kFloat32 || stride(flat) != std::int64_t{2} || registers_.holds(buffer)) return std::nullopt;
  registers_.touch(buffer, std::nullopt, {});
  const IndexExpr first = simplified(at_lane(flat, 0), expressions_.ranges());
  return fmt::format("{}(&{}[{}], {})", helpers_.use("load_even", type), program_[buffer].name,
                     expressions_.index(first), live_.text());
}

std::string VectorWriter::scalar(const ValueExpr& value, ElementType type, int lane) {
  lane_ = lane;
  return expressions_.value(at_lane(value, lane), type);
}

ValueExpr VectorWriter::at_lane(const ValueExpr& value, int lane) {
  const IndexExpr place = base_ + IndexExpr(lane);
  kept_.push_back(substitute(
      value, {.axis = [&](const Axis& axis) { return axis == axis_ ? std::optional(place) : std::nullopt; }}));
  return kept_.back();
}

std::string VectorWriter::by_lanes(const ValueExpr& value, ElementType type) {
  std::vector<std::string> elements;
  for (int l = 0; l < helpers_.lanes(); ++l) {
    std::string element = l < live_.known ? scalar(value, type, l) : "0";
    if (!live_.computed.empty() && l < live_.known)
      element = fmt::format("{} > {} ? {} : 0", live_.computed, l, element);
    elements.push_back(std::move(element));
  }
  return fmt::format("({}){{{}}}", helpers_.type(type), fmt::join(elements, ", "));
}

std::string VectorWriter::text(const ValueExpr& value, ElementType type) {
  using Kind = ValueExpr::Kind;
  if (!depends(value)) return fmt::format("{}({})", helpers_.use("splat", type), scalar(value, type, 0));
  const auto parts = value.operands();
  switch (value.kind()) {
    case Kind::kLoad: {
      if (program_[value.buffer()].element != type) return by_lanes(value, type);
      const IndexExpr flat = expressions_.flat(value.buffer(), value.indices());
      if (owns(value.buffer()) || stride(flat) == std::int64_t{1}) return loaded(value.buffer(), flat, type);
      if (is_one_place(flat)) return fmt::format("{}({})", helpers_.use("splat", type), scalar(value, type, 0));
      if (const auto moved = shuffled(value.buffer(), flat, type)) return *moved;
      if (const auto even = every_second(value.buffer(), flat, type)) return *even;
      return by_lanes(value, type);
    }
    case Kind::kIndex: {
      const auto numbers = type == ElementType::kFloat32 || type == ElementType::kInt32 ? indices(value) : std::nullopt;
      if (!numbers) return by_lanes(value, type);
      if (type == ElementType::kInt32) return *numbers;
      return fmt::format("__builtin_convertvector({}, {})", *numbers, helpers_.type(type));
    }
    case Kind::kCall:
      if (!VectorHelpers::has(name_of(value.function()), type)) return by_lanes(value, type);
      return fmt::format("{}({})", helpers_.use(name_of(value.function()), type), text(parts[0], type));
    case Kind::kCast: {
      const ElementType from = expressions_.type_of(parts[0], value.element());
      if (from == value.element()) return text(parts[0], type);
      if (!has_vectors(from) || !has_vectors(value.element()) || !is_inside(parts[0])) return by_lanes(value, type);
      return fmt::format("__builtin_convertvector({}, {})", text(parts[0], from), helpers_.type(value.element()));
    }
    case Kind::kSelect: return selected(value, type);
    case Kind::kAdd:
    case Kind::kSubtract:
    case Kind::kMultiply:
    case Kind::kDivide:
    case Kind::kMaximum:
    case Kind::kMinimum: return arithmetic(value, type);
    default: return by_lanes(value, type);
  }
}

std::string VectorWriter::arithmetic(const ValueExpr& value, ElementType type) {
  using Kind = ValueExpr::Kind;
  const auto parts = value.operands();
  const bool floating = is_floating(type);
  const auto call = [&](std::string_view stem) {
    return fmt::format("{}({}, {})", helpers_.use(stem, type), text(parts[0], type), text(parts[1], type));
  };
  const auto infix = [&](char sign) {
    return fmt::format("({} {} {})", text(parts[0], type), sign, text(parts[1], type));
  };
  switch (value.kind()) {
    case Kind::kAdd: return floating ? infix('+') : call("add");
    case Kind::kSubtract: return floating ? infix('-') : call("sub");
    case Kind::kMultiply: return floating ? infix('*') : call("mul");
    case Kind::kDivide:
      if (type == ElementType::kFloat32 && !depends(parts[1])) {
        return fmt::format("{}({}, {})", helpers_.use("divide", type), text(parts[0], type), scalar(parts[1], type, 0));
      }
      return floating ? infix('/') : by_lanes(value, type);
    case Kind::kMaximum: return call("max");
    default: return call("min");
  }
}

std::string VectorWriter::selected(const ValueExpr& value, ElementType type) {
  const auto parts = value.operands();
  if (!depends(parts[0])) {
    return fmt::format("({} ? {} : {})", scalar(parts[0], ElementType::kBool, 0), text(parts[1], type),
                       text(parts[2], type));
  }
  if (!is_inside(parts[1]) || !is_inside(parts[2])) return by_lanes(value, type);
  const auto chosen = mask(parts[0], type);
  if (!chosen) return by_lanes(value, type);
  return fmt::format("{}({}, {}, {})", helpers_.use("select", type), *chosen, text(parts[1], type),
                     text(parts[2], type));
}

std::optional<std::string> VectorWriter::indices(const ValueExpr& value) {
  const IndexExpr& index = value.indices()[0];
  const auto range = range_of(index, expressions_.ranges());
  if (!range || range->low < -(std::int64_t{1} << 24) || range->high > (std::int64_t{1} << 24)) return std::nullopt;
  const auto step = stride(index);
  if (!step) return std::nullopt;
  const std::string first = expressions_.index(simplified(at_lane(index, 0), expressions_.ranges()));
  return fmt::format("(lanes_{} * (int32_t){} + (int32_t)({}))", helpers_.type(ElementType::kInt32), *step, first);
}

std::optional<std::string> VectorWriter::mask(const ValueExpr& condition, ElementType type) {
  using Kind = ValueExpr::Kind;
  const auto parts = condition.operands();
  const Kind kind = condition.kind();
  if (kind == Kind::kNot) {
    auto inner = mask(parts[0], type);
    return inner ? std::optional(fmt::format("(~{})", *inner)) : std::nullopt;
  }
  if (kind == Kind::kAnd || kind == Kind::kOr) {
    const auto left = mask(parts[0], type), right = mask(parts[1], type);
    if (!left || !right || !is_inside(parts[1])) return std::nullopt;
    return fmt::format("({} {} {})", *left, kind == Kind::kAnd ? '&' : '|', *right);
  }
  if (kind != Kind::kEqual && kind != Kind::kLess && kind != Kind::kLessEqual) return std::nullopt;
  const char* sign = kind == Kind::kEqual ? "==" : kind == Kind::kLess ? "<" : "<=";
  if (parts[0].kind() == Kind::kIndex && parts[1].kind() == Kind::kIndex) {
    const auto left = indices(parts[0]), right = indices(parts[1]);
    if (!left || !right || element_size(type) != 4) return std::nullopt;
    return fmt::format("({} {} {})", *left, sign, *right);
  }
  const ElementType compared = expressions_.type_of(parts[0], expressions_.type_of(parts[1], ElementType::kUnknown));
  if (compared == ElementType::kUnknown || !has_vectors(compared) || element_size(compared) != element_size(type))
    return std::nullopt;
  return fmt::format("({} {} {})", text(parts[0], compared), sign, text(parts[1], compared));
}

}  // namespace rewright::c
