#include "verify/checked_terms.h"

#include <algorithm>
#include <iterator>

namespace rewright {
namespace {

std::uint64_t address(const Operator* op) { return reinterpret_cast<std::uintptr_t>(op); }

}  // namespace

// An input's key is as long as no application's: 1.
TermId CheckedTerms::input(const PatternInput& input) {
  bytes_.clear();
  bytes_.add(std::string_view(input.name));
  bytes_.add(input.rank);
  const std::uint64_t key = input_numbers_.number(bytes_.bytes());
  const auto known = term_numbers_.find({&key, 1});
  if (known) return *known;
  SymbolicShape shape;
  for (int axis = 0; axis < input.rank; ++axis)
    shape.append(SymbolicDim::variable(fmt::format("{}.{}", input.name, axis)));
  terms_.push_back({nullptr, 0, 0, number(shape), 0, 0, false});
  return term_numbers_.add({&key, 1});
}

ParamsId CheckedTerms::number(const SymbolicParams& params) {
  bytes_.clear();
  for (const auto& value : params.values()) {
    bytes_.add(static_cast<char>(value.index()));
    std::visit([this](const auto& kind) { bytes_.add(kind); }, value);
  }
  const auto known = params_numbers_.find(bytes_.bytes());
  if (known) return *known;
  params_.push_back(params);
  return params_numbers_.add(bytes_.bytes());
}

ShapeId CheckedTerms::number(const SymbolicShape& shape) {
  bytes_.clear();
  for (const SymbolicDim& dim : shape) bytes_.add(dim);
  const auto known = shape_numbers_.find(bytes_.bytes());
  if (known) return *known;
  shapes_.push_back(shape);
  return shape_numbers_.add(bytes_.bytes());
}

ConditionSet CheckedTerms::set_of(const Constraint& condition) {
  bytes_.clear();
  bytes_.add(condition);
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
  const std::uint64_t key = (std::uint64_t{std::min(a, b)} << 32) | std::max(a, b);
  if (const auto known = union_numbers_.find({&key, 1})) return unions_[*known];
  std::vector<ConditionId> all;
  std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(all));
  unions_.push_back(sets_.number(all));
  (void)union_numbers_.add({&key, 1});
  return unions_.back();
}

const CheckedTerms::Inference& CheckedTerms::infer(const Operator& op, ParamsId params,
                                                   std::span<const TermId> operands) {
  inference_key_ = {address(&op), params};
  for (const TermId operand : operands) inference_key_.push_back(terms_[operand].shape);
  if (const auto known = inference_numbers_.find(inference_key_)) return inferences_[*known];
  std::vector<SymbolicShape> in;
  for (const TermId operand : operands) in.push_back(shape(operand));
  Constraints<SymbolicDim> where;
  const auto out = op.infer(params_[params], in, where);
  Inference made;
  if (!out || where.violation()) {
    made.error = out ? *where.violation() : out.error();
  } else {
    for (const SymbolicShape& shape : *out) made.outputs.push_back(number(shape));
    for (const Constraint& condition : where.conditions()) made.conditions = unite(made.conditions, set_of(condition));
  }
  (void)inference_numbers_.add(inference_key_);
  return inferences_.emplace_back(std::move(made));
}

Result<TermId> CheckedTerms::apply(const Operator& op, std::uint32_t output, ParamsId params,
                                   std::span<const TermId> operands) {
  term_key_ = {address(&op), (std::uint64_t{output} << 32) | params};
  term_key_.insert(term_key_.end(), operands.begin(), operands.end());
  if (const auto known = term_numbers_.find(term_key_)) return *known;
  const Inference& inference = infer(op, params, operands);
  if (inference.error) return *inference.error;
  if (output >= inference.outputs.size())
    return shape_error("{} has {} outputs, and output {} is used", op.name(), inference.outputs.size(), output);
  CheckedTerm term{&op, output, params, inference.outputs[output], inference.conditions, inference.conditions, false};
  for (const TermId operand : operands) {
    term.defined = unite(term.defined, terms_[operand].defined);
    term.has_sizes |= terms_[operand].has_sizes;
  }
  for (const auto& value : params_[params].values()) {
    if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value))
      term.has_sizes |= std::ranges::any_of(list->values, [](const SymbolicDim& size) { return !size.constant(); });
  }
  terms_.push_back(term);
  return term_numbers_.add(term_key_);
}

Result<TermId> CheckedTerms::with_sizes(TermId id, const std::function<SymbolicDim(const SymbolicDim&)>& replace,
                                        std::unordered_map<TermId, TermId>& known) {
  const CheckedTerm& term = terms_[id];
  if (!term.has_sizes) return id;
  if (const auto found = known.find(id); found != known.end()) return found->second;
  std::vector<TermId> in = operands(id);
  for (TermId& operand : in) {
    REWRIGHT_TRY(operand, with_sizes(operand, replace, known));
  }
  const auto given = params_[term.params].values();
  std::vector<BasicParamValue<SymbolicDim>> values(given.begin(), given.end());
  for (auto& value : values) {
    auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
    for (std::size_t i = 0; list && i < list->values.size(); ++i) list->values[i] = replace(list->values[i]);
  }
  REWRIGHT_TRY(const TermId made, apply(*term.op, term.output, number(SymbolicParams(std::move(values))), in));
  return known[id] = made;
}

std::vector<TermId> CheckedTerms::operands(TermId id) const {
  if (!terms_[id].op) return {};
  const auto key = term_numbers_[id].subspan(2);
  return {key.begin(), key.end()};
}

}  // namespace rewright
