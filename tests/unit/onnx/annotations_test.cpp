// Quantisation annotations stay as long as all that they name is there.
#include "onnx/annotations.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "support.h"

namespace rewright::onnx_test {
namespace {

/// y = x * w, of which `w` is said to be quantised with the scale `s`, that nothing else names.
Model annotated() {
  Model model = make_model();
  add_input(model, "x", {2, 3});
  add_weight(model, "w", {3, 4});
  add_weight(model, "s", {1});
  add_output(model, "y", {2, 4});
  add_node(model, "MatMul", {"x", "w"}, {"y"});
  auto& annotation = *model.mutable_graph()->add_quantization_annotation();
  annotation.set_tensor_name("w");
  auto& parameter = *annotation.add_quant_parameter_tensor_names();
  parameter.set_key("SCALE_TENSOR");
  parameter.set_value("s");
  return model;
}

TEST(Annotations, GoWithTheTensorThatTheyNameOrItsScale) {
  for (const int gone : {0, 1}) {
    Model model = annotated();
    model::drop_stale_annotations(*model.mutable_graph());
    EXPECT_EQ(model.graph().quantization_annotation_size(), 1);
    model.mutable_graph()->mutable_initializer()->DeleteSubrange(gone, 1);
    model::drop_stale_annotations(*model.mutable_graph());
    EXPECT_EQ(model.graph().quantization_annotation_size(), 0);
  }
}

TEST(Annotations, KeepScalesThatNothingElseNames) {
  Model result = round_trip(annotated());
  model::drop_stale_annotations(*result.mutable_graph());
  ASSERT_EQ(result.graph().quantization_annotation_size(), 1);
  const auto& initializers = result.graph().initializer();
  const auto scale = std::ranges::find(initializers, "s", &::onnx::TensorProto::name);
  ASSERT_NE(scale, initializers.end());
  EXPECT_EQ(scale->float_data_size() + static_cast<int>(scale->raw_data().size()) / 4, 1) << "with its value";
}

}  // namespace
}  // namespace rewright::onnx_test
