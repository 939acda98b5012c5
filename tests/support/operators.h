// Loaded operators, and applications of them written as text.
#pragma once

#include <rewright/operator/operator.h>
#include <rewright/plugin/registry.h>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace rewright::testing {

/// The registry with everything that Registry::load_default finds.
inline const Registry& loaded() {
  static const Registry registry = [] {
    Registry loading;
    if (const Status status = loading.load_default(); !status) fail(status.error().message);
    return loading;
  }();
  return registry;
}

inline const Operator& operator_named(std::string_view name) {
  const Operator* op = loaded().find<Operator>(name);
  if (op == nullptr) fail(fmt::format("operator {} is not loaded", name));
  return *op;
}

/// An operator with its parameters.
struct Call {
  const Operator* op = nullptr;
  Params params;
};

/// Reads "conv2d[padding=valid]".
inline Call call(std::string_view text) {
  const std::size_t bracket = std::min(text.find('['), text.size());
  const Operator& op = operator_named(text.substr(0, bracket));
  const SymbolicParams params = *parse_params(op.name(), op.info().params, text.substr(bracket));
  return {&op, *evaluate(params, [](SizeVar) { return std::nullopt; })};
}

/// Outputs of the call. Every element is something else before, so that one left out is seen.
template <class Scalar>
std::vector<Tensor<Scalar>> run(const Call& call, const std::vector<Tensor<Scalar>>& in) {
  std::vector<Shape> shapes;
  std::vector<TensorView<const Scalar>> views;
  for (const Tensor<Scalar>& x : in) {
    shapes.push_back(x.shape());
    views.push_back(x.view());
  }
  std::vector<Tensor<Scalar>> out;
  const std::vector<Shape> out_shapes = *call.op->infer(call.params, shapes);
  out.reserve(out_shapes.size());
  std::vector<TensorView<Scalar>> out_views;
  for (const Shape& shape : out_shapes) {
    out.emplace_back(shape);
    for (Scalar& value : out.back().values()) value = Scalar::from_integer(7654321);
    out_views.push_back(out.back().view());
  }
  call.op->evaluate(call.params, Inputs<Scalar>(views), Outputs<Scalar>(out_views));
  return out;
}
template <class Scalar>
std::vector<Tensor<Scalar>> run(std::string_view text, const std::vector<Tensor<Scalar>>& in) {
  return run<Scalar>(call(text), in);
}

/// Reads "(2, 2) 1 2 3 4": the shape and whole numbers.
inline Tensor<Exact> tensor(std::string_view text) {
  const std::size_t close = text.find(')');
  std::string sizes(text.substr(1, close - 1));
  std::replace(sizes.begin(), sizes.end(), ',', ' ');
  std::istringstream size_stream(sizes), value_stream{std::string(text.substr(close + 1))};
  Shape shape;
  for (std::int64_t size; size_stream >> size;) shape.append(size);
  std::vector<Exact> values;
  for (std::int64_t value; value_stream >> value;) values.push_back(Exact::from_integer(value));
  if (static_cast<std::int64_t>(values.size()) != shape.elements()) fail(fmt::format("wrong tensor '{}'", text));
  return {shape, values};
}

/// "(2, 2) 1 2 3 4"; several tensors with "; " between them.
inline std::string text_of(const std::vector<Tensor<Exact>>& tensors) {
  std::string text;
  for (const Tensor<Exact>& tensor : tensors) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", to_string(tensor.shape()));
    for (const Exact& value : tensor.values()) text.append(" ").append(to_string(value));
  }
  return text;
}

}  // namespace rewright::testing
