#include "axiom/counterexample.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "axiom/domain.h"
#include "tensor/real.h"

namespace rewright {
namespace {

std::string value_text(const Exact& value) { return to_string(value); }
std::string value_text(Real value) { return std::isnan(value.value) ? "NaN" : fmt::format("{:.6g}", value.value); }
std::string value_text(Field value) { return fmt::format("{}", value.to_signed()); }

std::string value_text(const ParamValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return fmt::format("[{}]", fmt::join(*list, ", "));
  return fmt::format("a list of {} sizes", std::get<SizeList<std::int64_t>>(value).values.size());
}

template <class Scalar>
std::string drawing_of(std::string_view name, const TermBuffer<Scalar>& tensor) {
  std::vector<std::string> elements;
  for (const Scalar& value : tensor.values) elements.push_back(value_text(value));
  return rewright::drawing_of(name, tensor.shape, elements);
}

/// "x[0, 1]": the matrix at that index of the leading axes.
std::string index_text(const Shape& shape, std::int64_t matrix) {
  std::vector<std::int64_t> index;
  for (int axis = shape.rank() - 3; axis >= 0; --axis) {
    index.insert(index.begin(), matrix % shape[axis]);
    matrix /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace

std::string drawing_of(std::string_view name, const Shape& shape, std::span<const std::string> elements) {
  if (shape.rank() == 0) return fmt::format("{} = {}\n", name, elements.empty() ? "" : elements[0]);
  std::size_t width = 0;
  for (const std::string& element : elements) width = std::max(width, element.size());
  const std::int64_t columns = shape[shape.rank() - 1];
  const std::int64_t rows = shape.rank() == 1 ? 1 : shape[shape.rank() - 2];
  std::string text = fmt::format("{} {} =\n", name, to_string(shape));
  const std::int64_t matrix = std::max<std::int64_t>(1, rows * columns);
  for (std::int64_t i = 0; i < std::ssize(elements); ++i) {
    if (i % matrix == 0 && shape.rank() > 2) text += fmt::format("  {}{}\n", name, index_text(shape, i / matrix));
    text += fmt::format("{}{:>{}}", i % columns == 0 ? "    " : "  ", elements[static_cast<std::size_t>(i)], width);
    if (i % columns == columns - 1) text += '\n';
  }
  return text;
}

std::string describe_typing(const TypedAxiom& axiom) {
  std::string text = "ranks:";
  bool first = true;
  for (std::size_t i = 0; i < axiom.ranks.size(); ++i) {
    const AxiomVariable& variable = axiom.axiom->variables[i];
    if (variable.sort != AxiomSort::kTensor) continue;
    text += fmt::format("{} {} {}", std::exchange(first, false) ? "" : ",", variable.name, axiom.ranks[i]);
  }
  text = first ? "" : text + "\n";
  for (const auto& [name, value] : axiom.fixed) {
    const ParamSpec* spec = spec_of(*axiom.axiom, name);
    const auto* number = std::get_if<std::int64_t>(&value);
    const bool choice =
        spec && spec->kind == ParamKind::kChoice && number && *number >= 0 && *number < std::ssize(spec->choices);
    text +=
        fmt::format("{} = {}\n", name, choice ? spec->choices[static_cast<std::size_t>(*number)] : value_text(value));
  }
  return text;
}

template <class Scalar>
std::string describe_counterexample(const TypedAxiom& axiom, const AxiomProgram& program,
                                    const TermValues<Scalar>& values, std::span<const SizeVar> names,
                                    std::span<const std::int64_t> sizes) {
  std::string text = describe_typing(axiom);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto variable = std::ranges::find(axiom.axiom->variables, names[i].tensor(), &AxiomVariable::name);
    const bool of_tensor = variable != axiom.axiom->variables.end() && variable->sort == AxiomSort::kTensor;
    if (!of_tensor) text += fmt::format("{} = {}\n", names[i].text(), sizes[i]);
  }
  for (std::size_t step = 0; step < program.steps().size(); ++step) {
    const auto& variable = program.steps()[step].variable;
    if (variable) text += drawing_of(axiom.axiom->variables[*variable].name, values.value({step, 0}));
  }
  text += drawing_of("left", values.value(program.left()));
  text += drawing_of("right", values.value(program.right()));
  text.pop_back();
  return text;
}

template std::string describe_counterexample(const TypedAxiom&, const AxiomProgram&, const TermValues<Exact>&,
                                             std::span<const SizeVar>, std::span<const std::int64_t>);
template std::string describe_counterexample(const TypedAxiom&, const AxiomProgram&, const TermValues<Real>&,
                                             std::span<const SizeVar>, std::span<const std::int64_t>);
template std::string describe_counterexample(const TypedAxiom&, const AxiomProgram&, const TermValues<Field>&,
                                             std::span<const SizeVar>, std::span<const std::int64_t>);

}  // namespace rewright
