#include "verify/checked_terms.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace rewright {

CheckedTerms::CheckedTerms() {
  (void)head_numbers_.add({});  // Of inputs.
  heads_.emplace_back();
  (void)sets_.add({});
}

TermId CheckedTerms::input(const PatternInput& input) {
  bytes_.clear();
  bytes_.add(std::string_view(input.name));
  bytes_.add(input.rank);
  const std::array<std::uint32_t, 2> key = {0, input_numbers_.number(bytes_.bytes())};
  if (key[1] < inputs_.size()) return inputs_[key[1]];
  SymbolicShape shape;
  for (int axis = 0; axis < input.rank; ++axis) shape.append(SymbolicDim::variable(SizeVar::axis(input.name, axis)));
  terms_.push_back({0, number(shape), 0, false});
  return inputs_.emplace_back(term_numbers_.add(key));
}

HeadId CheckedTerms::head(const Operator& op, std::uint32_t output, const SymbolicParams& params) {
  bytes_.clear();
  bytes_.add(&op);
  bytes_.add(output);
  for (const auto& value : params.values()) {
    bytes_.add(static_cast<char>(value.index()));
    std::visit([this](const auto& kind) { bytes_.add(kind); }, value);
  }
  const auto known = head_numbers_.find(bytes_.bytes());
  if (known) return *known;
  Head& made = heads_.emplace_back(&op, output, params, false);
  for (const auto& value : params.values()) {
    if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value))
      made.has_sizes |= std::ranges::any_of(list->values, [](const SymbolicDim& size) { return !size.constant(); });
  }
  return head_numbers_.add(bytes_.bytes());
}

ShapeId CheckedTerms::number(const SymbolicShape& shape) {
  bytes_.clear();
  for (const SymbolicDim& dim : shape) bytes_.add(dim);
  const auto known = shape_numbers_.find(bytes_.bytes());
  if (known) return *known;
  shapes_.push_back(shape);
  return shape_numbers_.add(bytes_.bytes());
}

// An equation is one condition, whichever of its sides comes first.
ConditionSet CheckedTerms::set_of(const Constraint& condition) {
  bytes_.clear();
  other_bytes_.clear();
  bytes_.add(condition.left);
  other_bytes_.add(condition.right);
  if (condition.kind == Constraint::Kind::kEqual && other_bytes_.bytes() < bytes_.bytes())
    std::swap(bytes_, other_bytes_);
  bytes_.add(std::string_view(other_bytes_.bytes()));
  bytes_.add(condition.kind);
  auto id = condition_numbers_.find(bytes_.bytes());
  if (!id) {
    conditions_.push_back(condition);
    id = condition_numbers_.add(bytes_.bytes());
  }
  return sets_.number({&*id, 1});
}

ConditionSet CheckedTerms::unite(ConditionSet a, ConditionSet b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const std::array<ConditionSet, 2> key = {std::min(a, b), std::max(a, b)};
  if (const auto known = union_numbers_.find(key)) return unions_[*known];
  std::vector<ConditionId> all;
  std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(all));
  unions_.push_back(sets_.number(all));
  (void)union_numbers_.add(key);
  return unions_.back();
}

ConditionSet CheckedTerms::equal_shapes(TermId a, TermId b) {
  const std::array<ShapeId, 2> key = {terms_[a].shape, terms_[b].shape};
  if (key[0] == key[1]) return 0;
  if (const auto known = equal_shapes_numbers_.find(key)) return equal_shapes_[*known];
  ConditionSet equal = 0;
  for (int axis = 0; axis < shape(a).rank(); ++axis) {
    const SymbolicDim &left = shape(a)[axis], &right = shape(b)[axis];
    if (!(left == right)) equal = unite(equal, set_of({Constraint::Kind::kEqual, left, right}));
  }
  (void)equal_shapes_numbers_.add(key);
  return equal_shapes_.emplace_back(equal);
}

const CheckedTerms::Inference& CheckedTerms::infer(HeadId id, const TermList& operands) {
  inference_key_.assign(1, id);
  for (const TermId operand : operands) inference_key_.push_back(terms_[operand].shape);
  if (const auto known = inference_numbers_.find(inference_key_)) return inferences_[*known];
  std::vector<SymbolicShape> in;
  for (const TermId operand : operands) in.push_back(shape(operand));
  Constraints<SymbolicDim> where;
  const Head& head = heads_[id];
  const auto out = head.op->infer(head.params, in, where);
  Inference made;
  if (!out || where.violation()) {
    made.error = out ? *where.violation() : out.error();
  } else if (head.output >= out->size()) {
    made.error = shape_error("{} has {} outputs, and output {} is used", head.op->name(), out->size(), head.output);
  } else {
    made.shape = number((*out)[head.output]);
    for (const Constraint& condition : where.conditions()) made.conditions = unite(made.conditions, set_of(condition));
  }
  (void)inference_numbers_.add(inference_key_);
  return inferences_.emplace_back(std::move(made));
}

Result<TermId> CheckedTerms::apply(HeadId head, const TermList& operands) {
  term_key_.assign(1, head);
  term_key_.insert(term_key_.end(), operands.begin(), operands.end());
  if (const auto known = term_numbers_.find(term_key_)) return *known;
  const Inference& inference = infer(head, operands);
  if (inference.error) return *inference.error;
  CheckedTerm term{head, inference.shape, inference.conditions, heads_[head].has_sizes};
  for (const TermId operand : operands) {
    term.defined = unite(term.defined, terms_[operand].defined);
    term.has_sizes |= terms_[operand].has_sizes;
  }
  terms_.push_back(term);
  return term_numbers_.add(term_key_);
}

Result<TermId> CheckedTerms::with_sizes(TermId id, const std::function<SymbolicDim(const SymbolicDim&)>& replace,
                                        std::unordered_map<TermId, TermId>& known) {
  if (!terms_[id].has_sizes) return id;
  if (const auto found = known.find(id); found != known.end()) return found->second;
  TermList in = operands(id);
  for (TermId& operand : in) {
    REWRIGHT_TRY(operand, with_sizes(operand, replace, known));
  }
  const Head& given = heads_[terms_[id].head];
  std::vector<BasicParamValue<SymbolicDim>> values(given.params.values().begin(), given.params.values().end());
  for (auto& value : values) {
    auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
    for (std::size_t i = 0; list && i < list->values.size(); ++i) list->values[i] = replace(list->values[i]);
  }
  const HeadId changed = head(*given.op, given.output, SymbolicParams(std::move(values)));
  REWRIGHT_TRY(const TermId made, apply(changed, in));
  return known[id] = made;
}

TermList CheckedTerms::operands(TermId id) const {
  if (terms_[id].head == 0) return {};
  const auto operands = term_numbers_[id].subspan(1);
  return {operands.begin(), operands.end()};
}

}  // namespace rewright
