#include "egraph/render.h"

#include <rewright/operator/map_sizes.h>
#include <rewright/verify/certificate.h>

#include <fmt/ranges.h>

#include <utility>

#include "tensor/real.h"

namespace rewright::egraph {

void Renderer::begin(const Rule& rule, std::span<const SizeVar> size_variables) {
  rule_ = &rule;
  names_ = size_variables;
  size_text_.clear();
  axioms_.clear();
}

void Renderer::append_output(std::size_t output, std::span<const ChainStep> steps, std::string& text) {
  fmt::format_to(std::back_inserter(text), "output {}\n", output);
  for (const ChainStep& step : steps) append_step(step, text);
}

const std::string& Renderer::reference_to(const Axiom& axiom) {
  std::string& reference = references_[&axiom];
  if (reference.empty()) reference = axiom.name + "@" + statement_digest(axiom);
  return reference;
}

void Renderer::append_step(const ChainStep& step, std::string& text) {
  const Instance& instance = instances_.list[step.instance];
  const Use& use = *instance.use;
  const Axiom& axiom = *use.axiom;
  if (step.position.empty()) text += '.';
  for (std::size_t i = 0; i < step.position.size(); ++i) {
    if (i > 0) text += '.';
    text += std::to_string(step.position[i]);
  }
  text += use.left_to_right != step.backward ? " > " : " < ";
  text += reference_to(axiom);
  axioms_.insert(axiom.name);
  const auto slot_of = [&](SizeVar name) -> std::optional<std::uint32_t> {
    const auto own = std::ranges::find(use.size_variables, name);
    if (own == use.size_variables.end()) return std::nullopt;
    return instance.slots + use.slots - static_cast<std::uint32_t>(use.size_variables.end() - own);
  };
  std::string_view separator = " ";
  for (std::size_t v = 0; v < axiom.variables.size(); ++v) {
    const AxiomVariable& variable = axiom.variables[v];
    const auto fixed = use.typed.fixed.find(variable.name);
    const bool is_number = fixed != use.typed.fixed.end();
    if (variable.sort != AxiomSort::kTensor && !is_number && !slot_of(SizeVar::read(variable.name)))
      continue;  // It occurs nowhere.
    text += std::exchange(separator, "; ");
    text += variable.name;
    text += '=';
    if (variable.sort == AxiomSort::kTensor) {
      append_term(instances_.nodes[instance.variables + v], text);
    } else if (!is_number) {
      append_size(instances_.dims[*slot_of(SizeVar::read(variable.name))], text);
    } else if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&fixed->second)) {
      for (std::size_t i = 0; i < sizes->values.size(); ++i) {
        text += i == 0 ? "[" : ", ";
        append_size(instances_.dims[*slot_of(SizeVar::axis(variable.name, static_cast<std::int64_t>(i)))], text);
      }
      text += ']';
    } else {
      append_value(fixed->second, text);
    }
  }
  text += '\n';
}

void Renderer::append_value(const ParamValue& value, std::string& text) const {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    text += std::to_string(*number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    text += real_text(*real);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      text += i == 0 ? "[" : ", ";
      text += std::to_string((*list)[i]);
    }
    text += list->empty() ? "[]" : "]";
  }
}

void Renderer::append_size(DimId dim, std::string& text) {
  if (size_text_.size() <= dim) size_text_.resize(dim + 1);
  if (size_text_[dim].empty()) size_text_[dim] = to_string(sizes_.symbolic(dim, names_));
  text += size_text_[dim];
}

const std::string& Renderer::opening_of(HeadId id) {
  if (openings_.size() <= id) openings_.resize(id + 1);
  if (!openings_[id].empty()) return openings_[id];
  const Head& head = heads_[id];
  std::vector<BasicParamValue<std::int64_t>> values;
  for (const ValueId value : head.params) values.push_back(heads_(value));
  openings_[id] = head.op->name();
  if (head.output > 0) openings_[id] += fmt::format(".{}", head.output);
  openings_[id] += to_string(head.op->info().params, Params(std::move(values)));
  return openings_[id];
}

void Renderer::append_params(NodeId node, std::string& text) {
  const Head& head = heads_[graph_.head(node)];
  std::vector<BasicParamValue<SymbolicDim>> values;
  std::size_t next = 0;
  for (const ValueId id : head.params) {
    values.push_back(map_sizes<std::int64_t>(
        heads_(id), [&](std::int64_t) { return sizes_.symbolic(graph_.sizes(node)[next++], names_); }));
  }
  text += head.op->name();
  if (head.output > 0) text += fmt::format(".{}", head.output);
  text += to_string(head.op->info().params, SymbolicParams(std::move(values)));
}

void Renderer::append_term(NodeId node, std::string& text) {
  if (graph_.is_input(node)) {
    text += rule_->inputs[graph_.input_index(node)].name;
    return;
  }
  if (graph_.sizes(node).empty()) {
    text += opening_of(graph_.head(node));
  } else {
    append_params(node, text);
  }
  const auto operands = graph_.operands(node);
  text += '(';
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) text += ", ";
    append_term(operands[i], text);
  }
  text += ')';
}

}  // namespace rewright::egraph
