// What operators make of nodes at the edges of ONNX's rules: taken apart, carried with a reason, or refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "support.h"

namespace rewright::onnx_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Tensor = ::onnx::TensorProto;

void leave_shape_open(Model& model) {
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
}

void add_number(Model& model, const std::string& name, const std::vector<std::int64_t>& dims, float value) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(Tensor::FLOAT);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.add_float_data(value);
}

/// Why the only node of a model is carried; "(read)" where an operator reads it, the sentence of a refusal.
std::string reading(const Model& model) {
  ImportOptions options;
  options.file = "m.onnx";
  const auto imported = import(model, options);
  if (!imported) return imported.error().message;
  if (imported->carried.empty()) return "(read)";
  EXPECT_EQ(imported->graph.operator_count(), 1u) << "nothing of an attempt is left";
  return imported->carried.front().reason;
}

// --- read ------------------------------------------------------------------------------------------------------

struct Product {
  std::vector<std::int64_t> left, right, result;
};

class ProductsWithVectors : public testing::TestWithParam<Product> {};

TEST_P(ProductsWithVectors, AreProductsOfMatrices) {
  REQUIRE_RUNTIME();
  Model model = make_model();
  add_input(model, "a", GetParam().left);
  add_input(model, "b", GetParam().right);
  add_output(model, "y", GetParam().result);
  add_node(model, "MatMul", {"a", "b"}, {"y"});
  EXPECT_EQ(reading(model), "(read)");
  EXPECT_EQ(difference(model, round_trip(model)), "");
}

INSTANTIATE_TEST_SUITE_P(Readers, ProductsWithVectors,
                         testing::Values(Product{{3}, {3, 4}, {4}}, Product{{2, 3}, {3}, {2}}, Product{{3}, {3}, {}},
                                         Product{{5, 2, 3}, {3}, {5, 2}}, Product{{3}, {5, 3, 4}, {5, 4}}),
                         [](const auto& info) {
                           return fmt::format("Ranks{}And{}", info.param.left.size(), info.param.right.size());
                         });

TEST(Readers, SoftmaxBeforeOpset13NormalisesOverAllAxesFromOneOn) {
  REQUIRE_RUNTIME();
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    Model model = make_model(11);
    add_input(model, "x", {2, 3, 4});
    add_output(model, "y", {2, 3, 4});
    add_node(model, type, {"x"}, {"y"});
    EXPECT_EQ(reading(model), "(read)");
    EXPECT_EQ(difference(model, round_trip(model)), "") << type;
  }
}

TEST(Readers, AnExponentIsWrittenInTheModelsElementType) {
  REQUIRE_RUNTIME();
  Model model = make_model();
  add_input(model, "x", {4}, Tensor::DOUBLE);
  add_number(model, "n", {}, 3);
  add_output(model, "y", {4}, Tensor::DOUBLE);
  add_node(model, "Pow", {"x", "n"}, {"y"});
  const Model result = round_trip(model);
  EXPECT_EQ(difference(model, result), "");
  ASSERT_EQ(result.graph().initializer_size(), 1);
  EXPECT_EQ(result.graph().initializer(0).data_type(), Tensor::DOUBLE);
}

::onnx::AttributeProto& text_of(::onnx::NodeProto& node, const std::string& name, const std::string& text) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::STRING);
  attribute.set_s(text);
  return attribute;
}

struct Equation {
  const char* name;
  const char* text;
  std::vector<std::vector<std::int64_t>> operands;
  std::vector<std::int64_t> result;
};

class Einsums : public testing::TestWithParam<Equation> {
 protected:
  static Model model() {
    Model model = make_model();
    std::vector<std::string> names;
    for (const auto& dims : GetParam().operands) {
      names.push_back(fmt::format("x{}", names.size()));
      add_input(model, names.back(), dims);
    }
    add_output(model, "y", GetParam().result);
    text_of(add_node(model, "Einsum", names, {"y"}), "equation", GetParam().text);
    return model;
  }
};

TEST_P(Einsums, AreProductsOfMatrices) {
  REQUIRE_RUNTIME();
  const Model model = this->model();
  EXPECT_EQ(reading(model), "(read)");
  EXPECT_EQ(difference(model, round_trip(model)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Readers, Einsums,
    testing::Values(Equation{"Product", "ij,jk->ik", {{2, 3}, {3, 4}}, {2, 4}},
                    Equation{"Implicit", "ij,jk", {{2, 3}, {3, 4}}, {2, 4}},
                    Equation{"Exchanged", "ij, jk -> ki", {{2, 3}, {3, 4}}, {4, 2}},
                    Equation{"Attention", "bqhd,bkhd->bhqk", {{2, 3, 4, 5}, {2, 6, 4, 5}}, {2, 4, 3, 6}},
                    Equation{"Sum", "ijk->k", {{2, 3, 4}}, {4}},
                    Equation{"Transpose", "ijk->kij", {{2, 3, 4}}, {4, 2, 3}},
                    Equation{"Inner", "i,i->", {{5}, {5}}, {}}, Equation{"Outer", "i,j->ij", {{2}, {3}}, {2, 3}},
                    Equation{"Elements", "ij,ij->ij", {{2, 3}, {2, 3}}, {2, 3}},
                    Equation{"Dots", "...ij,...jk->...ik", {{5, 2, 3}, {5, 3, 4}}, {5, 2, 4}},
                    Equation{"SumOfOne", "ij,k->k", {{2, 3}, {4}}, {4}},
                    Equation{"Three", "ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}}, {2, 5}}),
    [](const auto& info) { return info.param.name; });

TEST(Readers, RecurrentLayersAreReadInBothDirections) {
  REQUIRE_RUNTIME();
  const std::map<std::string, std::int64_t> gates = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};
  for (const auto& [type, count] : gates) {
    for (const auto& [direction, ways] : std::map<std::string, std::int64_t>{{"reverse", 1}, {"bidirectional", 2}}) {
      Model model = make_model(14);
      add_input(model, "x", {5, 2, 3});
      add_input(model, "w", {ways, count * 4, 3});
      add_input(model, "r", {ways, count * 4, 4});
      add_input(model, "b", {ways, 2 * count * 4});
      add_output(model, "y", {5, ways, 2, 4});
      add_output(model, "last", {ways, 2, 4});
      auto& node = add_node(model, type, {"x", "w", "r", "b"}, {"y", "last"});
      set(node, "hidden_size", 4);
      text_of(node, "direction", direction);
      if (type == "GRU") set(node, "linear_before_reset", 1);
      EXPECT_EQ(reading(model), "(read)");
      EXPECT_EQ(difference(model, round_trip(model)), "") << type << " " << direction;
    }
  }
}

// --- carried ---------------------------------------------------------------------------------------------------

TEST(Readers, OtherPowersAreCarried) {
  const auto power = [](const std::vector<std::int64_t>& dims, float exponent) {
    Model model = make_model();
    add_input(model, "x", {4});
    add_number(model, "n", dims, exponent);
    add_output(model, "y", {});
    leave_shape_open(model);
    add_node(model, "Pow", {"x", "n"}, {"y"});
    return reading(model);
  };
  EXPECT_EQ(power({}, 0.5), "Pow: exponent 0.5 is no small integer") << "(-inf)^0.5 is inf, sqrt(-inf) is no number";
  EXPECT_EQ(power({}, -0.5), "Pow: exponent -0.5 is no small integer") << "(-0)^-0.5 is inf, 1 / sqrt(-0) is -inf";
  EXPECT_EQ(power({}, 65), "Pow: exponent 65 is no small integer");
  EXPECT_EQ(power({}, 0), "Pow: exponent 0 gives a constant");
  EXPECT_EQ(power({1, 1}, 2), "Pow: the exponent raises the rank");
}

TEST(Readers, ABatchNormalisationPerElementIsCarried) {
  Model model = make_model(8);
  add_input(model, "x", {2, 3, 4});
  for (const char* name : {"scale", "shift", "mean", "variance"}) add_weight(model, name, {3, 4}, 9);
  add_output(model, "y", {2, 3, 4});
  set(add_node(model, "BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, {"y"}), "spatial", 0);
  EXPECT_EQ(reading(model), "BatchNormalization with statistics per element");
}

TEST(Readers, SlopesThatStretchTheirInputAreCarried) {
  Model model = make_model();
  add_input(model, "x", {2, 1});
  add_weight(model, "slope", {2, 3});
  add_output(model, "y", {});
  leave_shape_open(model);
  add_node(model, "PRelu", {"x", "slope"}, {"y"});
  EXPECT_EQ(reading(model), "PRelu: the slopes stretch x");
}

TEST(Readers, ASliceWhoseListsDoNotFitIsCarried) {
  Model model = make_model();
  add_input(model, "x", {4, 4});
  add_integers(model, "starts", {0, 1});
  add_integers(model, "ends", {2});
  add_output(model, "y", {});
  leave_shape_open(model);
  add_node(model, "Slice", {"x", "starts", "ends"}, {"y"});
  EXPECT_EQ(reading(model), "Slice: starts, ends, axes and steps do not fit");
}

TEST(Readers, AWindowOfOneSizeOrOfNoneIsCarried) {
  Model pooled = make_model();
  add_input(pooled, "x", {1, 2, 5, 5});
  add_output(pooled, "y", {});
  leave_shape_open(pooled);
  set(add_node(pooled, "MaxPool", {"x"}, {"y"}), "kernel_shape", std::vector<std::int64_t>{3});
  EXPECT_THAT(reading(pooled), HasSubstr("kernel_shape is not two integers of at least 1"));
  Model empty = make_model();
  add_input(empty, "x", {1, 2, 5, 5});
  add_weight(empty, "w", {1, 2, 3, 0});
  add_output(empty, "y", {});
  leave_shape_open(empty);
  add_node(empty, "Conv", {"x", "w"}, {"y"});
  EXPECT_THAT(reading(empty), HasSubstr("the kernel is empty or too large"));
}

// Past the opsets that the checker knows, attributes may be there that no operator has heard of.
TEST(Readers, AttributesOfKindsThatNoOperatorReadsMakeTheNodeCarried) {
  const auto relu_with = [](const std::function<void(::onnx::AttributeProto&)>& fill) {
    Model model = make_model(21);
    add_input(model, "x", {2});
    add_output(model, "y", {2});
    auto& attribute = *add_node(model, "Relu", {"x"}, {"y"}).add_attribute();
    attribute.set_name("extra");
    fill(attribute);
    return reading(model);
  };
  using Kind = ::onnx::AttributeProto;
  const std::string unread = "attribute 'extra' is of a kind that operators do not read";
  EXPECT_EQ(relu_with([](Kind& extra) { extra.set_type(Kind::STRINGS); }), unread);
  EXPECT_EQ(relu_with([](Kind& extra) {
              extra.set_type(Kind::TENSOR);
              extra.mutable_t()->set_data_type(Tensor::STRING);
            }),
            unread);
  EXPECT_EQ(relu_with([](Kind& extra) {
              extra.set_type(Kind::TENSOR);
              extra.mutable_t()->set_data_type(Tensor::FLOAT);
              extra.mutable_t()->add_float_data(1);
            }),
            "(read)");
  EXPECT_EQ(relu_with([](Kind& extra) {
              extra.set_type(Kind::FLOATS);
              extra.add_floats(1);
            }),
            "(read)");
}

TEST(Readers, RecurrentLayersOfAnotherMeaningAreCarried) {
  const auto carried = [](const std::function<void(Model&, ::onnx::NodeProto&)>& change) {
    Model model = make_model(14);
    add_input(model, "x", {5, 2, 3});
    add_input(model, "w", {1, 16, 3});
    add_input(model, "r", {1, 16, 4});
    add_output(model, "y", {5, 1, 2, 4});
    auto& node = add_node(model, "LSTM", {"x", "w", "r"}, {"y"});
    set(node, "hidden_size", 4);
    change(model, node);
    return reading(model);
  };
  EXPECT_EQ(carried([](Model&, auto&) {}), "(read)");
  EXPECT_EQ(carried([](Model&, auto& node) { set(node, "input_forget", 1); }), "LSTM that couples its gates");
  EXPECT_EQ(carried([](Model&, auto& node) {
              auto& clip = *node.add_attribute();
              clip.set_name("clip");
              clip.set_type(::onnx::AttributeProto::FLOAT);
              clip.set_f(3);
            }),
            "LSTM with clip of its own, in place of sigmoid and tanh");
  EXPECT_EQ(carried([](Model& model, auto& node) {
              add_input(model, "p", {1, 12});
              for (const char* name : {"", "", "", "", "p"}) node.add_input(name);
            }),
            "LSTM with peepholes");
  EXPECT_THAT(carried([](Model& model, auto& node) {
                add_input(model, "lengths", {2}, Tensor::INT32);
                for (const char* name : {"", "lengths"}) node.add_input(name);
              }),
              HasSubstr("input 4 is not known before the model runs"));
}

TEST(Readers, EinsumsThatAreNoProductsAreCarried) {
  const auto carried = [](const std::string& equation, const std::vector<std::int64_t>& dims) {
    Model model = make_model();
    add_input(model, "x", dims);
    add_output(model, "y", {});
    leave_shape_open(model);
    text_of(add_node(model, "Einsum", {"x"}, {"y"}), "equation", equation);
    return reading(model);
  };
  EXPECT_EQ(carried("ii->i", {3, 3}), "Einsum 'ii->i': label i twice in one operand");
}

// --- refused ---------------------------------------------------------------------------------------------------

TEST(Readers, AReshapeToSizesThatCannotBeIsRefused) {
  const auto reshape = [](const std::vector<std::int64_t>& sizes) {
    Model model = make_model();
    add_input(model, "x", {2, 3});
    add_integers(model, "sizes", sizes);
    add_output(model, "y", {});
    leave_shape_open(model);
    add_node(model, "Reshape", {"x", "sizes"}, {"y"}).set_name("flat");
    return reading(model);
  };
  EXPECT_THAT(reshape({2, 3, 0}), AllOf(HasSubstr("m.onnx: node 'flat' (Reshape)"), HasSubstr("copies axis 2")));
  EXPECT_THAT(reshape({std::int64_t{1} << 62, 4}), HasSubstr("to more elements than can be counted"));
  EXPECT_THAT(reshape({-2, 3}), HasSubstr("to a size of -2"));
}

TEST(Readers, ATileOfNegativeOrCountlessRepeatsIsRefused) {
  for (const std::int64_t times : {std::int64_t{-1}, std::int64_t{1} << 62}) {
    Model model = make_model();
    add_input(model, "x", {2});
    add_integers(model, "times", {times});
    add_output(model, "y", {});
    leave_shape_open(model);
    add_node(model, "Tile", {"x", "times"}, {"y"}).set_name("t");
    EXPECT_THAT(reading(model), AllOf(HasSubstr("m.onnx: node 't' (Tile)"),
                                      HasSubstr(fmt::format("{} repeats along axis 0 of (2)", times))));
  }
}

}  // namespace
}  // namespace rewright::onnx_test
