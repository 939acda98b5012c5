#include "egraph/goal.h"

#include <algorithm>

namespace rewright::egraph {

using AtomKind = SymbolicDim::Atom::Kind;

std::uint32_t RuleGraph::variable(SizeVar name) {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::uint32_t>(found - names_.begin());
  names_.emplace_back(name);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

DimId RuleGraph::dim(const SymbolicDim& dim) {
  DimId sum = sizes_.constant(dim.constant_term());
  for (const SymbolicDim::Atom& atom : dim.atoms()) {
    DimId value = 0;
    switch (atom.kind) {
      case AtomKind::kVariable: value = sizes_.variable(variable(*atom.variable)); break;
      case AtomKind::kQuotient: value = sizes_.floor_divide(this->dim(*atom.left), atom.divisor); break;
      case AtomKind::kProduct: value = sizes_.multiply(this->dim(*atom.left), this->dim(*atom.right)); break;
    }
    sum = sum == 0 && atom.coefficient == 1 ? value : sizes_.combine(1, sum, atom.coefficient, value);
  }
  return sum;
}

void RuleGraph::add_inputs(const Rule& rule) {
  for (const PatternInput& input : rule.inputs) {
    Tensor tensor;
    tensor.first_dim = static_cast<std::uint32_t>(dim_pool_.size());
    tensor.rank = static_cast<std::uint16_t>(input.rank);
    for (int axis = 0; axis < input.rank; ++axis) {
      names_.push_back(SizeVar::axis(input.name, axis));
      dim_pool_.push_back(sizes_.variable(static_cast<std::uint32_t>(names_.size() - 1)));
    }
    tensors_.push_back(tensor);
  }
  sizes_.set_tensor_sizes(static_cast<std::uint32_t>(names_.size()));
}

Status RuleGraph::add_side(const Rule& rule, const Pattern& side, std::vector<std::uint32_t>& outputs) {
  first_output_.clear();
  for (std::uint32_t i = 0; i < rule.inputs.size(); ++i) first_output_.push_back(i);
  const auto tensor_of = [this](Port port) { return first_output_[port.node.value] + port.output; };
  for (const PatternNode& node : side.nodes) {
    ranks_.clear();
    slots_.clear();
    Tensor tensor;
    tensor.first_operand = static_cast<std::uint32_t>(operand_pool_.size());
    tensor.operands = static_cast<std::uint16_t>(node.inputs.size());
    for (const Port port : node.inputs) {
      const Tensor& operand = tensors_[tensor_of(port)];
      operand_pool_.push_back(tensor_of(port));
      ranks_.push_back(operand.rank);
      for (std::uint32_t k = 0; k < operand.rank; ++k) slots_.push_back(dim_pool_[operand.first_dim + k]);
    }
    arguments_.clear();
    append_size_arguments(node.params, arguments_);
    tensor.first_size = static_cast<std::uint32_t>(dim_pool_.size());
    tensor.sizes = static_cast<std::uint16_t>(arguments_.size());
    for (const SymbolicDim* argument : arguments_) {
      slots_.push_back(dim(*argument));
      dim_pool_.push_back(slots_.back());
    }
    const HeadId first = heads_.head(*node.op, 0, node.params);
    const std::uint32_t count = std::max(heads_.outputs(first, ranks_), 1U);  // Without one, the first has no shape.
    first_output_.push_back(static_cast<std::uint32_t>(tensors_.size()));
    for (std::uint32_t output = 0; output < count; ++output) {
      tensor.head = heads_.with_output(first, output);
      const ShapeRule* rule_of_shape = heads_.shape_rule(tensor.head, ranks_);
      if (rule_of_shape == nullptr)
        return make_error(ErrorCode::kUnsupported, "{} is defined nowhere", node.op->name());
      tensor.first_dim = static_cast<std::uint32_t>(dim_pool_.size());
      tensor.rank = static_cast<std::uint16_t>(rule_of_shape->shape.size());
      for (const SizeCode& program : rule_of_shape->shape) dim_pool_.push_back(compute(program, sizes_, slots_));
      if (output == 0) {
        for (const ConstraintCode& program : rule_of_shape->defined) known_.push_back(compute(program, sizes_, slots_));
      }
      tensors_.push_back(tensor);
    }
  }
  outputs.clear();
  for (const Port port : side.outputs) outputs.push_back(tensor_of(port));
  return {};
}

void RuleGraph::make_nodes() {
  std::uint32_t index = 0;
  for (Tensor& tensor : tensors_) {
    const auto normal = [this](std::vector<DimId>& into, std::uint32_t first, std::uint32_t count) {
      into.clear();
      for (std::uint32_t k = 0; k < count; ++k) into.push_back(sizes_.normalise(dim_pool_[first + k]));
    };
    normal(node_shape_, tensor.first_dim, tensor.rank);
    if (tensor.head == kNoId) {
      tensor.node = graph_.input(index++, node_shape_);
      continue;
    }
    normal(node_sizes_, tensor.first_size, tensor.sizes);
    operands_.clear();
    for (std::uint32_t k = 0; k < tensor.operands; ++k)
      operands_.push_back(tensors_[operand_pool_[tensor.first_operand + k]].node);
    tensor.node = graph_.add(tensor.head, node_sizes_, operands_, node_shape_);
  }
}

Status RuleGraph::load(const Rule& rule, std::span<const Constraint> more) {
  names_.clear();
  tensors_.clear();
  operand_pool_.clear();
  dim_pool_.clear();
  known_.clear();
  if (rule.source.outputs.size() != rule.target.outputs.size())
    return make_error(ErrorCode::kUnsupported, "source and target have different numbers of outputs");
  add_inputs(rule);
  REWRIGHT_CHECK(add_side(rule, rule.source, source_tensors_));
  REWRIGHT_CHECK(add_side(rule, rule.target, target_tensors_));
  for (std::size_t k = 0; k < source_tensors_.size(); ++k) {
    if (tensors_[source_tensors_[k]].rank != tensors_[target_tensors_[k]].rank)
      return make_error(ErrorCode::kUnsupported, "output {} has different ranks in source and target", k);
  }
  for (const std::span<const Constraint> constraints : {std::span<const Constraint>(rule.precondition), more}) {
    for (const Constraint& constraint : constraints)
      known_.push_back({constraint.kind, dim(constraint.left), dim(constraint.right)});
  }
  sizes_.assume(known_);
  if (sizes_.contradictory())
    return make_error(ErrorCode::kUnsupported, "no sizes meet the conditions under which both sides are defined");
  make_nodes();
  source_.clear();
  target_.clear();
  for (const std::uint32_t tensor : source_tensors_) source_.push_back(tensors_[tensor].node);
  for (const std::uint32_t tensor : target_tensors_) target_.push_back(tensors_[tensor].node);
  return {};
}

}  // namespace rewright::egraph
