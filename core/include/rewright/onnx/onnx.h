// What operators see of ONNX when they translate themselves: no ONNX header is needed.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <array>
#include <bit>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace rewright {

/// An attribute: INT, FLOAT, STRING, INTS, FLOATS or TENSOR. Others make the node opaque.
using OnnxAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                   std::shared_ptr<const ConstantData>>;

/// One node of a model, as an operator reads it.
struct REWRIGHT_API OnnxNode {
  std::string name;
  std::string type;    ///< "Conv".
  std::string domain;  ///< "" for ONNX's own.
  std::int64_t opset = 0;
  ElementType element = ElementType::kFloat32;  ///< Of its first input.
  std::map<std::string, OnnxAttribute> attributes;
  std::vector<std::optional<Port>> inputs;                     ///< Empty where an optional input is left out.
  std::vector<std::shared_ptr<const ConstantData>> constants;  ///< Per input: its value if it is known, else null.
  std::size_t output_count = 1;

  [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  /// The number that the float32 stands for, in which ONNX holds attributes and their defaults: 1e-5, where it holds
  /// 9.99999975e-6 (<rewright/operator/params.h>). In a float64 node the two differ: there it is the float32 itself.
  [[nodiscard]] double real(const std::string& name, double otherwise) const;
  [[nodiscard]] std::string text(const std::string& name, std::string otherwise) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name, std::vector<std::int64_t> otherwise) const;
  [[nodiscard]] bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].has_value(); }
  /// The first `count` inputs. Errors: kUnsupported where one is left out.
  [[nodiscard]] Result<std::vector<Port>> operands(std::size_t count) const {
    std::vector<Port> ports;
    for (std::size_t i = 0; i < count; ++i) {
      if (!has_input(i)) return make_error(ErrorCode::kUnsupported, "{} {} has no input {}", type, name, i);
      ports.push_back(*inputs[i]);
    }
    return ports;
  }
  /// The integers in input `i` if it is a known constant (Reshape's shape, Slice's starts). Errors: kUnsupported.
  [[nodiscard]] Result<std::vector<std::int64_t>> constant_integers(std::size_t i) const;
};

/// Writes nodes of a model under construction (opset 17). Tensors are known by name.
class REWRIGHT_API OnnxWriter {
 public:
  virtual ~OnnxWriter();
  /// Appends a node; gives fresh names for its outputs.
  virtual std::vector<std::string> emit(std::string_view type, std::vector<std::string> inputs,
                                        std::map<std::string, OnnxAttribute> attributes = {},
                                        std::size_t outputs = 1) = 0;
  /// An initializer of int64 values of rank 1.
  virtual std::string integers(std::span<const std::int64_t> values) = 0;
  /// An initializer of any value; float values take the model's floating-point type.
  virtual std::string constant(const ConstantData& value) = 0;
};

/// The elements of a constant as numbers, in row-major order. Errors: kUnsupported for strings.
[[nodiscard]] REWRIGHT_API Result<std::vector<double>> to_reals(const ConstantData& constant);
/// The tensor as a constant of element type float64; OnnxWriter::constant takes it to the model's type.
[[nodiscard]] inline ConstantData constant_of(const Tensor<Real>& tensor) {
  std::vector<std::byte> bytes;
  for (const Real& element : tensor.values()) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof(double)>>(element.value);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  return {{tensor.shape(), ElementType::kFloat64}, std::move(bytes)};
}

/// The number that an element of this type stands for, as a parameter does (<rewright/operator/params.h>): 0.1 for the
/// float32 nearest to it. Others than float32, float16 and bfloat16 stand for themselves.
[[nodiscard]] REWRIGHT_API double meant_number(ElementType element, double number);

}  // namespace rewright
