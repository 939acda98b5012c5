// Element types: every field that holds a tensor's numbers is read, every type is written, numbers are rounded once.
#include <rewright/onnx/onnx.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <optional>

#include "onnx/element.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Tensor = ::onnx::TensorProto;

constexpr int kTypes[] = {Tensor::FLOAT,  Tensor::DOUBLE, Tensor::FLOAT16, Tensor::BFLOAT16, Tensor::INT8,
                          Tensor::INT16,  Tensor::INT32,  Tensor::INT64,   Tensor::UINT8,    Tensor::UINT16,
                          Tensor::UINT32, Tensor::UINT64, Tensor::BOOL};

/// 1 and 0 in the field that ONNX has for the type.
void set_one_and_zero(Tensor& tensor, int type) {
  tensor.set_data_type(type);
  for (const int bit : {1, 0}) {
    switch (type) {
      case Tensor::FLOAT: tensor.add_float_data(static_cast<float>(bit)); break;
      case Tensor::DOUBLE: tensor.add_double_data(bit); break;
      case Tensor::INT64: tensor.add_int64_data(bit); break;
      case Tensor::UINT32:
      case Tensor::UINT64: tensor.add_uint64_data(static_cast<std::uint64_t>(bit)); break;
      case Tensor::FLOAT16: tensor.add_int32_data(bit * 0x3c00); break;
      case Tensor::BFLOAT16: tensor.add_int32_data(bit * 0x3f80); break;
      default: tensor.add_int32_data(bit);
    }
  }
}

/// The values of a model's only output, which is a weight.
std::vector<double> values_of(const Model& model) {
  const auto imported = import(model);
  if (!imported) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  const Node& node = imported->graph.node(imported->graph.outputs().front().node);
  if (!node.constant()) {
    ADD_FAILURE() << "no weight";
    return {};
  }
  return *to_reals(*node.constant());
}

class EveryElementType : public testing::TestWithParam<int> {};

TEST_P(EveryElementType, IsReadFromItsField) {
  Model model = make_model();
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.add_dims(2);
  set_one_and_zero(tensor, GetParam());
  add_output(model, "w", {2}, GetParam());
  EXPECT_THAT(values_of(model), ElementsAre(1, 0));
  EXPECT_THAT(values_of(round_trip(model)), ElementsAre(1, 0));
}

TEST_P(EveryElementType, FillsATensor) {
  for (const std::int64_t count : {3, 2000}) {  // Written as an initializer, and as ConstantOfShape.
    Model model = make_model();
    add_integers(model, "shape", {count});
    add_output(model, "y", {count}, GetParam());
    auto& node = add_node(model, "ConstantOfShape", {"shape"}, {"y"});
    auto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(::onnx::AttributeProto::TENSOR);
    set_one_and_zero(*value.mutable_t(), GetParam());
    value.mutable_t()->add_dims(1);
    const auto keep_one = [](auto* numbers) { numbers->Truncate(std::min(numbers->size(), 1)); };
    keep_one(value.mutable_t()->mutable_float_data());
    keep_one(value.mutable_t()->mutable_double_data());
    keep_one(value.mutable_t()->mutable_int32_data());
    keep_one(value.mutable_t()->mutable_int64_data());
    keep_one(value.mutable_t()->mutable_uint64_data());
    const Model result = round_trip(model);
    if (GetParam() != Tensor::BFLOAT16) {
      EXPECT_LT(result.ByteSizeLong(), 1000u);
    }
    EXPECT_THAT(values_of(result), testing::Each(1.0)) << count;
    EXPECT_EQ(values_of(result).size(), static_cast<std::size_t>(count));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryElementType, testing::ValuesIn(kTypes),
                         [](const auto& info) { return Tensor::DataType_Name(info.param); });

TEST(ElementTypes, NegativeIntegersKeepTheirSign) {
  for (const int type : {Tensor::INT8, Tensor::INT16, Tensor::INT32}) {
    Model model = make_model();
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("w");
    tensor.add_dims(1);
    tensor.set_data_type(type);
    tensor.add_int32_data(-7);
    add_output(model, "w", {1}, type);
    EXPECT_THAT(values_of(model), ElementsAre(-7));
  }
}

TEST(ElementTypes, TextIsCarried) {
  Model model = make_model();
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.add_dims(1);
  tensor.set_data_type(Tensor::STRING);
  tensor.add_string_data("word");
  add_output(model, "w", {1}, Tensor::STRING);
  EXPECT_EQ(round_trip(model).graph().initializer(0).string_data(0), "word");
}

/// The sum of three weights in 16 bits, as bits.
int sum_of(ElementType element, std::initializer_list<std::uint16_t> summands) {
  GraphBuilder graph(&registry());
  std::optional<Port> sum;
  for (const std::uint16_t bits : summands) {
    auto constant = std::make_shared<ConstantData>();
    constant->type = {Shape{1}, element};
    constant->value = std::vector<std::byte>{static_cast<std::byte>(bits & 255), static_cast<std::byte>(bits >> 8)};
    const Port port = *graph.input(fmt::format("w{}", bits), constant->type, InputKind::kWeight, constant);
    sum = sum ? *graph.apply1("ewadd", {}, {*sum, port}) : port;
  }
  graph.output(*sum, "y");
  const auto bytes = export_model(graph.finish(), ExportOptions{});
  EXPECT_TRUE(bytes) << bytes.error().message;
  const std::string raw = parse(*bytes).graph().initializer(0).raw_data();
  return static_cast<unsigned char>(raw[0]) | (static_cast<unsigned char>(raw[1]) << 8);
}

TEST(ElementTypes, SubnormalHalvesAreSummed) {
  EXPECT_EQ(sum_of(ElementType::kFloat16, {0x0001, 0x0002}), 0x0003);
  EXPECT_EQ(sum_of(ElementType::kFloat16, {0x8001, 0x8002}), 0x8003);
  EXPECT_EQ(sum_of(ElementType::kFloat16, {0x03ff, 0x0001}), 0x0400) << "the least normal one";
}

// 256 + 1 lies halfway between two bfloat16; 2^-30 more or less decides, though a float has no room for it.
TEST(ElementTypes, ABfloat16IsRoundedOnceAndNotByWayOfAFloat) {
  constexpr std::uint16_t k256 = 0x4380, k258 = 0x4381, kOne = 0x3f80, kTiny = 0x3080, kMinusTiny = 0xb080;
  EXPECT_EQ(sum_of(ElementType::kBFloat16, {k256, kOne}), k256) << "a tie goes to even";
  EXPECT_EQ(sum_of(ElementType::kBFloat16, {k256, kOne, kTiny}), k258);
  EXPECT_EQ(sum_of(ElementType::kBFloat16, {k258, kOne, kMinusTiny}), k258);
}

// --- what operators ask of a node --------------------------------------------------------------------------------

std::shared_ptr<const ConstantData> constant(ElementType element, const Shape& shape,
                                             std::variant<double, std::vector<std::byte>> value) {
  auto made = std::make_shared<ConstantData>();
  made->type = {shape, element};
  made->value = std::move(value);
  return made;
}

TEST(NodeConstants, AreIntegersOfEitherSize) {
  OnnxNode node;
  node.type = "Slice";
  node.constants = {constant(ElementType::kInt32, Shape{2}, -3.0), constant(ElementType::kInt64, Shape{}, 5.0)};
  EXPECT_THAT(*node.constant_integers(0), ElementsAre(-3, -3));
  EXPECT_THAT(*node.constant_integers(1), ElementsAre(5));
}

TEST(NodeConstants, ThatAreNoListOfIntegersAreNamed) {
  OnnxNode node;
  node.type = "Slice";
  node.constants = {nullptr, constant(ElementType::kFloat32, Shape{2}, 1.0),
                    constant(ElementType::kInt64, Shape{1 << 21}, 1.0)};
  EXPECT_EQ(node.constant_integers(0).error().message, "Slice: input 0 is not known before the model runs");
  EXPECT_EQ(node.constant_integers(1).error().message, "Slice: input 1 is not of integers");
  EXPECT_EQ(node.constant_integers(2).error().message, "Slice: input 2 has 2097152 elements");
  EXPECT_EQ(node.constant_integers(3).error().message, "Slice: input 3 is not known before the model runs");
}

TEST(NodeConstants, WithoutNumbersAreNamed) {
  const auto refusal = [](const std::shared_ptr<const ConstantData>& value) {
    const auto numbers = to_reals(*value);
    return numbers ? "(numbers)" : numbers.error().message;
  };
  EXPECT_THAT(refusal(constant(ElementType::kString, Shape{1}, 0.0)), HasSubstr("element type 8 has no numbers"));
  EXPECT_THAT(refusal(constant(ElementType::kFloat32, Shape{std::int64_t{1} << 31}, 0.0)),
              AllOf(HasSubstr("2147483648"), HasSubstr("too large")));
  EXPECT_EQ(refusal(constant(ElementType::kFloat32, Shape{2}, std::vector<std::byte>(7))),
            "a constant of shape (2) has 7 bytes, expected 8");
}

TEST(BadModels, MoreThanTwoGibibytes) {
  constexpr std::size_t kSize = std::size_t{1} << 31;
  void* nothing = ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  ImportOptions options;
  options.file = "m.onnx";
  const auto imported = import_model({static_cast<const std::byte*>(nothing), kSize}, registry(), options);
  ::munmap(nothing, kSize);
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message,
              AllOf(HasSubstr("m.onnx: 2147483648 bytes"), HasSubstr("2 GiB"), HasSubstr("external data")));
}

TEST(Elements, OfTypesThatAreNoNumbersAreNeitherReadNorWritten) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::byte bytes[8] = {};
  for (const ElementType type : {ElementType::kString, ElementType::kUnknown}) {
    EXPECT_DEATH((void)model::read_element(type, bytes),
                 "internal error: an element of a type without a number was read");
    EXPECT_DEATH(model::write_element(type, 1, bytes),
                 "internal error: an element of a type without a number was writ");
  }
}

}  // namespace
}  // namespace rewright::onnx_test
