#include "prepared_rule.h"

#include <rewright/operator/map_sizes.h>

#include <algorithm>

namespace evaluate_verifier {

using namespace rewright;

Program::Program(const Rule& rule, const SizeNames& names) {
  for (const PatternInput& input : rule.inputs) ranks_.push_back(input.rank);
  steps_.reserve(rule.source.nodes.size() + rule.target.nodes.size());
  source_ports_ = add_side(rule.source, names);
  target_ports_ = add_side(rule.target, names);
}

std::vector<Port> Program::add_side(const Pattern& side, const SizeNames& names) {
  std::vector<std::uint32_t> number(ranks_.size() + side.nodes.size());
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) number[i] = i;
  const auto renumbered = [&](const std::vector<Port>& ports) {
    std::vector<Port> moved;
    moved.reserve(ports.size());
    for (const Port port : ports) moved.push_back({NodeId{number[port.node.value]}, port.output});
    return moved;
  };
  for (std::size_t i = 0; i < side.nodes.size(); ++i)
    number[ranks_.size() + i] = add_step(side.nodes[i], renumbered(side.nodes[i].inputs), names);
  return renumbered(side.outputs);
}

std::uint32_t Program::add_step(const PatternNode& node, std::vector<Port> operands, const SizeNames& names) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& other = steps_[i];
    if (other.op == node.op && other.operands == operands && *other.symbolic == node.params)
      return static_cast<std::uint32_t>(ranks_.size() + i);
  }
  Step step;
  step.op = node.op;
  step.symbolic = &node.params;
  step.operands = std::move(operands);
  step.params = map_sizes(node.params, [&](const SymbolicDim& size) {
    step.sizes.push_back(SizeCode::compile(size, names.names()));
    return std::int64_t{0};
  });
  const Traits traits = node.op->traits(step.params);
  uses_order_ |= traits.uses_order;
  uses_functions_ |= traits.uses_functions;
  steps_.push_back(std::move(step));
  return static_cast<std::uint32_t>(ranks_.size() + steps_.size() - 1);
}

bool Program::set_params(Step& step, std::span<const std::int64_t> sizes) {
  if (step.sizes.empty()) return true;
  std::vector<ParamValue> values(step.params.values().begin(), step.params.values().end());
  std::size_t next = 0;
  for (ParamValue& value : values) {
    auto* list = std::get_if<SizeList<std::int64_t>>(&value);
    if (!list) continue;
    for (std::int64_t& size : list->values) {
      const auto& code = step.sizes[next++];
      const auto number = code ? code->value(sizes) : std::nullopt;
      if (!number) return false;
      size = *number;
    }
  }
  step.params = Params(std::move(values));
  return true;
}

bool Program::set_sizes(std::span<const std::int64_t> sizes) {
  shapes_.clear();
  offsets_.clear();
  std::size_t at = 0;
  input_elements_ = 0;
  for (const int rank : ranks_) {
    const auto part = sizes.subspan(at, static_cast<std::size_t>(rank));
    at += static_cast<std::size_t>(rank);
    shapes_.push_back(Shape(BasicShape<std::int64_t>(std::vector<std::int64_t>(part.begin(), part.end()))));
    offsets_.push_back(input_elements_);
    input_elements_ += shapes_.back().elements();
  }
  elements_ = input_elements_;
  for (Step& step : steps_) {
    if (!set_params(step, sizes)) return false;
    if (!find_tensors(step.operands, step.in)) return false;
    operand_shapes_.clear();
    for (const std::size_t t : step.in) operand_shapes_.push_back(shapes_[t]);
    auto made = step.op->infer(step.params, operand_shapes_);
    if (!made) return false;
    step.first = shapes_.size();
    for (Shape& shape : *made) {
      offsets_.push_back(elements_ - input_elements_);
      elements_ += shape.elements();
      shapes_.push_back(std::move(shape));
    }
    step.end = shapes_.size();
  }
  return find_tensors(source_ports_, source_) && find_tensors(target_ports_, target_);
}

std::optional<std::size_t> Program::tensor(Port port) const {
  if (port.node.value < ranks_.size()) return port.node.value;
  const Step& step = steps_[port.node.value - ranks_.size()];
  if (step.first + port.output >= step.end) return std::nullopt;
  return step.first + port.output;
}

bool Program::find_tensors(const std::vector<Port>& ports, std::vector<std::size_t>& tensors) const {
  tensors.clear();
  for (const Port port : ports) {
    const auto found = tensor(port);
    if (!found) return false;
    tensors.push_back(*found);
  }
  return true;
}

}  // namespace evaluate_verifier
