#include "egraph/heads.h"

#include <rewright/operator/map_sizes.h>

#include <algorithm>
#include <bit>

namespace rewright::egraph {
namespace {

std::uint64_t hash_of(const ParamValue& value) {
  std::uint64_t hash = value.index();
  if (const auto* number = std::get_if<std::int64_t>(&value)) return mix(hash, static_cast<std::uint64_t>(*number));
  if (const auto* real = std::get_if<double>(&value)) return mix(hash, std::bit_cast<std::uint64_t>(*real));
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t number : *list) hash = mix(hash, static_cast<std::uint64_t>(number));
    return mix(hash, list->size());
  }
  return mix(hash, std::get<SizeList<std::int64_t>>(value).values.size());
}

std::uint64_t pack(std::span<const int> ranks) {
  std::uint64_t packed = ranks.size();
  for (const int rank : ranks) packed = mix(packed, static_cast<std::uint64_t>(rank));
  return packed;
}

}  // namespace

void append_size_arguments(const SymbolicParams& params, std::vector<const SymbolicDim*>& sizes) {
  for (const auto& value : params.values()) {
    if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value)) {
      for (const SymbolicDim& dim : list->values) sizes.push_back(&dim);
    }
  }
}

ValueId Heads::value(const ParamValue& value) {
  const std::uint64_t hash = hash_of(value);
  const auto found = value_index_.find(hash, [&](std::uint32_t id) { return values_[id] == value; });
  if (found != HashIndex::kNone) return found;
  values_.push_back(value);
  value_index_.insert(hash, static_cast<ValueId>(values_.size() - 1));
  return static_cast<ValueId>(values_.size() - 1);
}

std::uint32_t Heads::number_of(const Operator& op) {
  const auto found = std::ranges::find(operators_, &op);
  const auto number = static_cast<std::size_t>(found - operators_.begin());
  if (found == operators_.end()) operators_.push_back(&op);
  return static_cast<std::uint32_t>(std::min(number, Vocabulary().size() - 1));
}

HeadId Heads::intern(Head head) {
  std::uint64_t hash = mix(std::bit_cast<std::uintptr_t>(head.op), head.output);
  for (const ValueId value : head.params) hash = mix(hash, value);
  const auto found = head_index_.find(hash, [&](std::uint32_t id) {
    return heads_[id].op == head.op && heads_[id].output == head.output && heads_[id].params == head.params;
  });
  if (found != HashIndex::kNone) return found;
  head.operator_number = number_of(*head.op);
  heads_.push_back(std::move(head));
  head_index_.insert(hash, static_cast<HeadId>(heads_.size() - 1));
  return static_cast<HeadId>(heads_.size() - 1);
}

HeadId Heads::head(const Operator& op, std::uint32_t output, const SymbolicParams& params) {
  Head head{&op, 0, output, {}, 0};
  for (const auto& given : params.values()) {
    head.params.push_back(value(map_sizes(given, [&](const SymbolicDim&) {
      ++head.sizes;
      return std::int64_t{0};
    })));
  }
  return intern(std::move(head));
}

HeadId Heads::with_output(HeadId head, std::uint32_t output) {
  if (heads_[head].output == output) return head;
  Head other = heads_[head];
  other.output = output;
  return intern(std::move(other));
}

const Heads::Rule& Heads::rule_of(HeadId head, std::span<const int> ranks) {
  const std::uint64_t packed = pack(ranks), hash = mix(packed, head);
  const auto found =
      rule_index_.find(hash, [&](std::uint32_t id) { return rules_[id]->head == head && rules_[id]->ranks == packed; });
  if (found != HashIndex::kNone) return *rules_[found];
  rules_.push_back(std::make_unique<Rule>(infer(head, ranks)));
  rules_.back()->ranks = packed;
  rule_index_.insert(hash, static_cast<std::uint32_t>(rules_.size() - 1));
  return *rules_.back();
}

Heads::Rule Heads::infer(HeadId id, std::span<const int> ranks) const {
  const Head& head = heads_[id];
  Rule rule{id, 0, 0, std::nullopt};
  std::vector<SizeVar> names;
  std::vector<SymbolicShape> in;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    SymbolicShape shape;
    for (int axis = 0; axis < ranks[i]; ++axis) {
      names.push_back(SizeVar::axis(fmt::format("o{}", i), axis));
      shape.append(SymbolicDim::variable(names.back()));
    }
    in.push_back(std::move(shape));
  }
  std::vector<BasicParamValue<SymbolicDim>> params;
  for (const ValueId value : head.params) {
    params.push_back(map_sizes(values_[value], [&](std::int64_t) {
      names.push_back(SizeVar::read(fmt::format("z{}", names.size())));
      return SymbolicDim::variable(names.back());
    }));
  }
  Constraints<SymbolicDim> where;
  const auto out = head.op->infer(SymbolicParams(std::move(params)), in, where);
  if (!out || where.violation() || head.output >= out->size()) return rule;
  const SlotOf slot_of = [&](SizeVar name) -> std::optional<std::uint32_t> {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - names.begin());
  };
  ShapeRule compiled;
  for (const SymbolicDim& dim : (*out)[head.output]) {
    auto program = SizeCode::compile(dim, slot_of);
    if (!program) return rule;
    compiled.shape.push_back(*std::move(program));
  }
  for (const Constraint& constraint : where.conditions()) {
    auto program = ConstraintCode::compile(constraint, slot_of);
    if (!program) return rule;
    compiled.defined.push_back(*std::move(program));
  }
  rule.outputs = static_cast<std::uint32_t>(out->size());
  rule.rule = std::move(compiled);
  return rule;
}

const ShapeRule* Heads::shape_rule(HeadId head, std::span<const int> ranks) {
  const Rule& rule = rule_of(head, ranks);
  return rule.rule ? &*rule.rule : nullptr;
}
std::uint32_t Heads::outputs(HeadId head, std::span<const int> ranks) { return rule_of(head, ranks).outputs; }

}  // namespace rewright::egraph
