// One node on its way from an opset's form to that of the next or the one before; what a step may ask and write.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/conversion_context.h"
#include "onnx/proto.h"

namespace rewright::model {

/// Constants and types that a conversion makes, until it has succeeded: a context over another one.
class StagedContext {
 public:
  explicit StagedContext(const ConversionContext& outer) : outer_(outer) {}
  StagedContext(const StagedContext&) = delete;
  StagedContext& operator=(const StagedContext&) = delete;

  /// The context for conversions; it must not outlive this object.
  [[nodiscard]] ConversionContext context();
  /// The name of an initializer; equal ones are one.
  std::string name_of(TensorProto tensor);
  void set_known(const std::string& tensor, KnownTensor known) { known_[tensor] = std::move(known); }
  void set_constant(const std::string& tensor, const TensorProto* value) { inner_constants_[tensor] = value; }
  /// Hands what was added to the outer context.
  void commit();

 private:
  const ConversionContext& outer_;
  std::map<std::string, TensorProto> added_;                   ///< By name.
  std::map<std::string, std::string> by_content_;              ///< Names of those, by bytes.
  std::map<std::string, KnownTensor> known_;                   ///< Of tensors that converted nodes make.
  std::map<std::string, const TensorProto*> inner_constants_;  ///< Of the graph at hand, where it is one inside.
};

/// A step of one node. A step changes the node, which keeps its outputs, and may write others before it.
class OpsetStep {
 public:
  OpsetStep(StagedContext& staged, std::int64_t version)
      : version_(version), staged_(staged), context_(staged.context()) {}

  /// The opset in whose form the step writes.
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] std::vector<NodeProto>& before() { return before_; }

  // What is known.
  [[nodiscard]] KnownTensor known(const std::string& tensor) const { return context_.known(tensor); }
  /// Errors: kUnsupported; `what` is what the step needs it for, as "its axes".
  [[nodiscard]] Result<std::int64_t> rank(const std::string& tensor, std::string_view what) const;
  [[nodiscard]] Result<int> element(const std::string& tensor, std::string_view what) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> known_integers(const std::string& tensor) const;
  [[nodiscard]] std::optional<std::vector<double>> known_reals(const std::string& tensor) const;

  // What is written.
  [[nodiscard]] std::string constant(TensorProto value) { return staged_.name_of(std::move(value)); }
  [[nodiscard]] std::string integers(std::span<const std::int64_t> values);
  [[nodiscard]] std::string integers(std::initializer_list<std::int64_t> values) {
    return integers(std::span(values.begin(), values.size()));
  }
  /// Numbers of an element type: a scalar, or of shape `dims`.
  [[nodiscard]] std::string numbers(int element, std::span<const double> values,
                                    std::span<const std::int64_t> dims = {});
  [[nodiscard]] std::string scalar(int element, double value) { return numbers(element, std::span(&value, 1)); }
  /// Appends a node before the one at hand; gives its output, of which `known` tells what is known.
  std::string emit(std::string_view type, std::vector<std::string> inputs,
                   const std::map<std::string, OnnxAttribute>& attributes = {}, KnownTensor known = {});

 private:
  std::int64_t version_;
  StagedContext& staged_;
  ConversionContext context_;
  std::vector<NodeProto> before_;
};

[[nodiscard]] const AttributeProto* find_attribute(const NodeProto& node, std::string_view name);
[[nodiscard]] std::int64_t integer_or(const NodeProto& node, std::string_view name, std::int64_t otherwise);
[[nodiscard]] std::string text_or(const NodeProto& node, std::string_view name, std::string otherwise);
void set_attribute(NodeProto& node, const std::string& name, const OnnxAttribute& value);
void remove_attribute(NodeProto& node, std::string_view name);

/// "" where it is left out.
[[nodiscard]] std::string input_of(const NodeProto& node, int index);
/// Sets an input, left out ones before it included; "" takes it away, and what is left out at the end.
void set_input(NodeProto& node, int index, const std::string& name);
[[nodiscard]] bool makes_output(const NodeProto& node, int index);
/// Makes the node another one with the same name and outputs.
void become(NodeProto& node, std::string_view type, const std::vector<std::string>& inputs,
            const std::map<std::string, OnnxAttribute>& attributes = {});

}  // namespace rewright::model
