// Models with a mistake: a sentence that names the file, the place and what to do; never a crash.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/external.h"
#include "support.h"
#include "support/weights.h"

namespace rewright::onnx_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// relu(conv(x, w)), sound.
Model convolution() {
  Model model = make_model();
  add_input(model, "x", {1, 3, 8, 8});
  add_weight(model, "w", {4, 3, 3, 3});
  add_output(model, "y", {1, 4, 6, 6});
  add_node(model, "Conv", {"x", "w"}, {"c"}).set_name("conv1");
  add_node(model, "Relu", {"c"}, {"y"});
  return model;
}

/// The sentence that a model gets.
std::string refusal(const Model& model, ImportOptions options = {}) {
  options.file = "m.onnx";
  const auto imported = import(model, options);
  if (imported) return "(imported)";
  return imported.error().message;
}

std::string refusal(const std::string& bytes) {
  ImportOptions options;
  options.file = "m.onnx";
  const auto imported = import_model(bytes_of(bytes), registry(), options);
  return imported ? "(imported)" : imported.error().message;
}

TEST(BadModels, TheSoundModelIsImported) { EXPECT_EQ(refusal(convolution()), "(imported)"); }

TEST(BadModels, AnotherKindOfFile) {
  EXPECT_THAT(refusal("PK\x03\x04 this is a zip file, not a model"),
              AllOf(HasSubstr("m.onnx"), HasSubstr("not an ONNX model")));
  EXPECT_THAT(refusal(""), HasSubstr("m.onnx"));
}

TEST(BadModels, AFileThatDoesNotExist) {
  const auto imported = import_model_file("/nowhere/m.onnx", registry());
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, HasSubstr("/nowhere/m.onnx: no such file"));
}

TEST(BadModels, CutShortAnywhere) {
  const std::string whole = convolution().SerializeAsString();
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refused += refusal(whole.substr(0, size)) != "(imported)";
  }
  EXPECT_EQ(refused, static_cast<int>(whole.size()));
}

TEST(BadModels, AnyByteChanged) {
  const std::string whole = convolution().SerializeAsString();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {1, 128}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      EXPECT_FALSE(refusal(damaged).empty());  // Either way: it is answered.
    }
  }
}

TEST(BadModels, AnEmptyGraph) {
  EXPECT_THAT(refusal(make_model()), AllOf(HasSubstr("m.onnx"), HasSubstr("the graph is empty")));
  Model model = make_model();
  model.clear_graph();
  EXPECT_THAT(refusal(model), HasSubstr("the graph is empty"));
}

TEST(BadModels, ACycle) {
  Model model = make_model();
  add_input(model, "x", {2});
  add_output(model, "b", {2});
  add_node(model, "Add", {"x", "b"}, {"a"}).set_name("first");
  add_node(model, "Relu", {"a"}, {"b"});
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx: node 'first' (Add)"), HasSubstr("cycle")));
}

TEST(BadModels, NodesOutOfOrderAreSorted) {
  Model model = convolution();
  model.mutable_graph()->mutable_node()->SwapElements(0, 1);
  EXPECT_EQ(refusal(model), "(imported)");
}

TEST(BadModels, AMissingTensor) {
  Model model = convolution();
  model.mutable_graph()->mutable_node(0)->set_input(1, "weights");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("node 'conv1' (Conv)"), HasSubstr("'weights'"), HasSubstr("nothing")));
  model = convolution();
  model.mutable_graph()->mutable_output(0)->set_name("z");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("output 'z'"), HasSubstr("nothing")));
}

TEST(BadModels, ANameDefinedTwice) {
  Model model = convolution();
  model.mutable_graph()->mutable_node(1)->set_output(0, "c");
  EXPECT_THAT(refusal(model), HasSubstr("'c' is defined twice"));
  model = convolution();
  add_input(model, "x", {1});
  EXPECT_THAT(refusal(model), HasSubstr("'x' is defined twice"));
  model = convolution();
  add_weight(model, "w", {1});
  EXPECT_THAT(refusal(model), HasSubstr("'w' is defined twice"));
}

TEST(BadModels, AWrongNumberOfChannels) {
  Model model = convolution();
  add_weight(model, "w5", {4, 5, 3, 3});
  model.mutable_graph()->mutable_node(0)->set_input(1, "w5");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx: node 'conv1' (Conv)"), HasSubstr("3"), HasSubstr("5")));
}

TEST(BadModels, AWrongShape) {
  Model model = make_model();
  add_input(model, "a", {2, 3});
  add_input(model, "b", {4, 5});
  add_output(model, "c", {2, 5});
  add_node(model, "MatMul", {"a", "b"}, {"c"}).set_name("product");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("node 'product' (MatMul)"), HasSubstr("3"), HasSubstr("4")));
}

TEST(BadModels, WhatCrashesTheInferenceOfOnnxsLibraryIsAnswered) {
  Model model = make_model();  // Ranks 3 and 5: it reads the sizes of axes that are not there.
  add_input(model, "x", {1, 3, 8});
  add_weight(model, "w", {4, 3, 3, 3, 3});
  add_output(model, "y", {1});
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  add_node(model, "ConvTranspose", {"x", "w"}, {"y"});
  EXPECT_EQ(refusal(model), "(imported)");  // The node is carried; its type is not known.
  model.mutable_graph()->mutable_node(0)->set_op_type("Conv");
  EXPECT_NE(refusal(model), "");
}

TEST(BadModels, AnOutputDeclaredOtherwise) {
  Model model = convolution();
  model.mutable_graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(3)
      ->set_dim_value(7);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("output 'y'"), HasSubstr("(1, 4, 6, 7)"), HasSubstr("(1, 4, 6, 6)")));
}

TEST(BadModels, AnUnknownOpset) {
  Model model = convolution();
  model.mutable_opset_import(0)->set_version(9999);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx"), HasSubstr("opset 9999")));
  model.mutable_opset_import(0)->set_version(0);
  EXPECT_THAT(refusal(model), HasSubstr("opset 0"));
  model.clear_opset_import();
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("node 'conv1' (Conv)"), HasSubstr("imports no opset")));
}

TEST(BadModels, AnOpsetImportedTwice) {
  Model model = convolution();
  auto& again = *model.add_opset_import();
  again.set_domain("ai.onnx");  // Another name of "".
  again.set_version(13);
  EXPECT_EQ(refusal(model), "m.onnx: opsets of domain 'ai.onnx' are imported twice, 17 and 13");
  again.set_version(17);
  EXPECT_EQ(refusal(model), "(imported)") << "the same under both names";
}

TEST(BadModels, OtherDomainsNumberTheirOpsetsAsTheyLike) {
  Model model = convolution();
  auto& other = *model.add_opset_import();
  other.set_domain("org.nowhere");
  for (const std::int64_t version : {std::int64_t{0}, std::int64_t{20260131}}) {
    other.set_version(version);
    EXPECT_EQ(refusal(model), "(imported)");
  }
}

TEST(BadModels, OperatorsThatWereExperimentalOnceAreCarried) {
  Model model = make_model(9);
  add_input(model, "x", {1, 3, 4, 4});
  add_output(model, "y", {1, 3, 4, 4});
  add_node(model, "ImageScaler", {"x"}, {"y"});
  EXPECT_EQ(refusal(model), "(imported)");
}

TEST(BadModels, AnUnknownDomainOrOperator) {
  Model model = convolution();
  model.mutable_graph()->mutable_node(0)->set_domain("org.nowhere");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("org.nowhere"), HasSubstr("imports no opset")));
  model = convolution();
  model.mutable_graph()->mutable_node(1)->set_op_type("Rleu");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("node 'y' (Rleu)"), HasSubstr("opset 17 has no operator")));
}

TEST(BadModels, AnUnknownAttributeOrTooFewInputs) {
  Model model = convolution();
  set(*model.mutable_graph()->mutable_node(0), "stride", 2);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("node 'conv1' (Conv)"), HasSubstr("stride")));
  model = convolution();
  model.mutable_graph()->mutable_node(0)->mutable_input()->RemoveLast();
  EXPECT_THAT(refusal(model), HasSubstr("node 'conv1' (Conv)"));
  model.mutable_opset_import(0)->set_version(21);  // Past what the checker knows: no crash, the node is carried.
  EXPECT_EQ(refusal(model), "(imported)");
}

TEST(BadModels, AnOpenDimension) {
  Model model = convolution();
  const auto dim = [&](int axis) {
    return model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(
        axis);
  };
  dim(0)->set_dim_param("batch");
  dim(2)->clear_dim_value();
  EXPECT_THAT(refusal(model),
              AllOf(HasSubstr("m.onnx: input 'x'"), HasSubstr("--dim batch=SIZE"), HasSubstr("--dim x.2=SIZE")));
  ImportOptions options;
  options.dimensions = {{"batch", 1}, {"x.2", 8}};
  EXPECT_EQ(refusal(model, options), "(imported)");
  options.dimensions = {{"x.0", 1}, {"x.2", 8}};
  EXPECT_EQ(refusal(model, options), "(imported)");
  options.dimensions["batsch"] = 3;
  EXPECT_THAT(refusal(model, options), HasSubstr("no input has an open dimension 'batsch'"));
  options.dimensions = {{"batch", -1}, {"x.2", 8}};
  EXPECT_THAT(refusal(model, options), HasSubstr("size -1"));
}

TEST(BadModels, AnOpenDimensionOfTwoSizes) {
  Model model = make_model();
  for (const char* name : {"x", "y"}) {
    add_input(model, name, {1, 2});
    auto& input = *model.mutable_graph()->mutable_input(model.graph().input_size() - 1);
    input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("batch");
  }
  add_output(model, "z", {3, 2});
  add_node(model, "Add", {"x", "y"}, {"z"});
  ImportOptions options;
  options.dimensions = {{"x.0", 3}, {"y.0", 4}};
  EXPECT_EQ(refusal(model, options), "m.onnx: dimension 'batch' was given two sizes, 3 and 4");
  options.dimensions = {{"x.0", 3}, {"y.0", 3}};
  EXPECT_EQ(refusal(model, options), "(imported)");
  auto& inner = *model.mutable_graph()->add_value_info();  // What the model says of tensors between is filled in, too.
  inner = model.graph().input(0);
  inner.set_name("z");
  EXPECT_EQ(refusal(model, options), "(imported)");
}

TEST(BadModels, NegativeAndOverflowingSizes) {
  Model model = convolution();
  auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(2)->set_dim_value(-8);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("input 'x'"), HasSubstr("-8")));
  shape.mutable_dim(2)->set_dim_value(std::int64_t{1} << 62);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("input 'x'"), HasSubstr("2^40")));
  shape.mutable_dim(2)->set_dim_value(std::int64_t{1} << 32);
  shape.mutable_dim(3)->set_dim_value(std::int64_t{1} << 32);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("input 'x'"), HasSubstr("2^40")));
}

TEST(BadModels, AnInitializerOfTheWrongSize) {
  Model model = convolution();
  model.mutable_graph()->mutable_initializer(0)->mutable_float_data()->RemoveLast();
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("m.onnx: tensor 'w'"), HasSubstr("432"), HasSubstr("428")));
  model = convolution();
  auto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_raw_data(std::string(7, 'x'));
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("tensor 'w'"), HasSubstr("432"), HasSubstr("7")));
  tensor.set_dims(0, std::int64_t{1} << 62);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("tensor 'w'"), HasSubstr("2^40")));
  tensor.set_dims(0, -4);
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("tensor 'w'"), HasSubstr("-4")));
}

TEST(BadModels, AConstantOfShapeOfTooManyElements) {
  Model model = make_model();
  add_integers(model, "shape", {std::int64_t{1} << 31, std::int64_t{1} << 31});
  add_output(model, "y", {});
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  add_node(model, "ConstantOfShape", {"shape"}, {"y"}).set_name("zeros");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("node 'zeros' (ConstantOfShape)"), HasSubstr("2^40")));
}

class ExternalData : public testing::Test {
 protected:
  ExternalData() : root_(fs::temp_directory_path() / fmt::format("rewright-external-{}", ::getpid())) {
    fs::create_directories(root_ / "model");
    write(root_ / "model/w.bin", std::string(16, '\0') + std::string(432, '\1'));
    write(root_ / "outside.bin", std::string(432, '\1'));
  }
  ~ExternalData() override { fs::remove_all(root_); }

  static void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

  static Model with(const std::string& location, const std::string& offset = "", const std::string& length = "") {
    Model model = convolution();
    auto& tensor = *model.mutable_graph()->mutable_initializer(0);
    tensor.clear_float_data();
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    const auto add = [&](const std::string& key, const std::string& value) {
      if (value.empty()) return;
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    return model;
  }
  /// The sentence for the model as a file in the folder.
  std::string refusal_of(const Model& model) const {
    write(root_ / "model/m.onnx", model.SerializeAsString());
    const auto imported = import_model_file((root_ / "model/m.onnx").string(), registry());
    return imported ? "(imported)" : imported.error().message;
  }

  fs::path root_;
};

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
  write(root_ / "model/m.onnx", with("w.bin", "16", "432").SerializeAsString());
  const auto imported = import_model_file((root_ / "model/m.onnx").string(), registry());
  ASSERT_TRUE(imported) << imported.error().message;
  const Node& weight = imported->graph.node(imported->graph.inputs()[1]);
  const auto& bytes = std::get<std::vector<std::byte>>(weight.constant()->value);
  EXPECT_EQ(bytes, std::vector<std::byte>(432, std::byte{1}));
  const auto exported = export_model(imported->graph, *imported, {.keep_original = false});
  ASSERT_TRUE(exported);
  EXPECT_EQ(parse(*exported).graph().initializer(0).raw_data(), std::string(432, '\1'));
}

/// Large weights are not read: the graph has their types, the file of the result a copy.
TEST_F(ExternalData, StaysInItsFileWhereItIsLarge) {
  constexpr std::int64_t kRows = 256, kBytes = kRows * 64 * 4;
  std::string weights(kBytes, '\0');
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<char>(i % 59);
  Model model = make_model();
  add_input(model, "x", {1, kRows});
  add_output(model, "y", {1, 64});
  for (const char* name : {"a", "b"}) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(1);
    tensor.add_dims(kRows);
    tensor.add_dims(64);
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(std::string(name) + ".bin");
    write(root_ / "model" / (std::string(name) + ".bin"), weights);
  }
  add_node(model, "MatMul", {"x", "a"}, {"p"});
  add_node(model, "MatMul", {"x", "b"}, {"q"});
  add_node(model, "Sub", {"p", "q"}, {"y"});
  write(root_ / "model/m.onnx", model.SerializeAsString());
  ImportOptions options;
  options.leave_external = true;
  const auto imported = import_model_file((root_ / "model/m.onnx").string(), registry(), options);
  ASSERT_TRUE(imported) << imported.error().message;
  for (const NodeId id : imported->graph.inputs()) EXPECT_EQ(imported->graph.node(id).constant(), nullptr);
  ASSERT_EQ(imported->external.size(), 2u);
  EXPECT_EQ(imported->external.at("b").bytes, static_cast<std::uint64_t>(kBytes));

  const auto exported = export_model(imported->graph, *imported, {.keep_original = false});
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_LT(exported->size(), 2000u);
  EXPECT_EQ(parse(*exported).graph().input_size(), 1) << "weights are no inputs";
  const auto split = split_off_weights(*exported, "out.data", (root_ / "model").string());
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(external_files(split->model), std::set<std::string>{"out.data"});
  const std::string path = (root_ / "model/out.data").string();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  EXPECT_TRUE(write_weights(file, split->data));
  ::close(file);
  std::ifstream stream(path, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(written, weights + weights) << "both have a multiple of 4096 bytes";

  std::filesystem::remove(root_ / "model/b.bin");
  EXPECT_FALSE(write_weights(-1, split->data)) << "no file to write to";
  EXPECT_THAT(import_model_file((root_ / "model/m.onnx").string(), registry(), options).error().message,
              HasSubstr("'b.bin' is not in the model's folder"));
}

TEST_F(ExternalData, IsWrittenBesideTheModelAgain) {
  write(root_ / "model/m.onnx", with("w.bin", "16", "432").SerializeAsString());
  const auto imported = *import_model_file((root_ / "model/m.onnx").string(), registry());
  Model large = parse(*export_model(imported.graph, imported, {.keep_original = false}));
  const std::string weight(4096 + 8, '\2');
  auto& second = *large.mutable_graph()->add_initializer();
  second = large.graph().initializer(0);
  second.set_name("large");
  second.set_raw_data(weight);
  const auto split = split_off_weights(large.SerializeAsString(), "m.data");
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(content_of(*split), weight) << "the small one stays";
  EXPECT_EQ(external_files(split->model), std::set<std::string>{"m.data"});
  EXPECT_EQ(external_files(large.SerializeAsString()), std::set<std::string>());
  const Model model = parse(split->model);
  const auto& outside = model.graph().initializer(1);
  EXPECT_EQ(outside.raw_data(), "");
  EXPECT_EQ(outside.data_location(), ::onnx::TensorProto::EXTERNAL);
}

TEST_F(ExternalData, MissingOutsideOrTooShortIsRefused) {
  EXPECT_THAT(refusal_of(with("v.bin")), AllOf(HasSubstr("m.onnx: tensor 'w'"), HasSubstr("'v.bin' is not in")));
  EXPECT_THAT(refusal_of(with("../outside.bin")), AllOf(HasSubstr("tensor 'w'"), HasSubstr("lies outside")));
  EXPECT_THAT(refusal_of(with((root_ / "outside.bin").string())), HasSubstr("lies outside"));
  fs::create_symlink(root_ / "outside.bin", root_ / "model/link.bin");
  EXPECT_THAT(refusal_of(with("link.bin")), HasSubstr("lies outside"));
  EXPECT_THAT(refusal_of(with("w.bin", "17")), AllOf(HasSubstr("tensor 'w' needs 432 bytes"), HasSubstr("431")));
  EXPECT_THAT(refusal_of(with("w.bin", "18446744073709551615")), HasSubstr("needs 432 bytes"));
  EXPECT_THAT(refusal_of(with("w.bin", "-1")), HasSubstr("offset '-1'"));
  EXPECT_THAT(refusal_of(with("w.bin", "0", "400")), HasSubstr("needs 432 bytes"));
  EXPECT_THAT(refusal_of(with("")), HasSubstr("names no file"));
  EXPECT_THAT(refusal(with("w.bin")), HasSubstr("tensor 'w'"));
}

TEST_F(ExternalData, OfTextIsRefused) {
  Model model = with("w.bin");
  model.mutable_graph()->mutable_initializer(0)->set_data_type(::onnx::TensorProto::STRING);
  EXPECT_THAT(refusal_of(model), AllOf(HasSubstr("tensor 'w' has element type 8"), HasSubstr("in another file")));
  const auto split = split_off_weights(model.SerializeAsString(), "m.data", (root_ / "model").string());
  ASSERT_FALSE(split);
  EXPECT_THAT(split.error().message, HasSubstr("tensor 'w' has element type 8"));
}

TEST_F(ExternalData, IsCopiedToAnotherFileSystem) {
  const auto split =
      split_off_weights(with("w.bin", "16", "432").SerializeAsString(), "m.data", (root_ / "model").string());
  ASSERT_TRUE(split) << split.error().message;
  const int file = ::memfd_create("weights", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_TRUE(write_weights(file, split->data));
  std::string written(432, '\0');
  EXPECT_EQ(::pread(file, written.data(), written.size(), 0), 432);
  EXPECT_EQ(written, std::string(432, '\1'));
  fs::resize_file(root_ / "model/w.bin", 100);
  EXPECT_FALSE(write_weights(file, split->data)) << "the file has become shorter";
  ::close(file);
}

TEST(BadModels, AChainOfTenThousandNodesIsImported) {
  Model model = make_model();
  add_input(model, "t0", {2});
  add_output(model, "t10000", {2});
  for (int i = 0; i < 10000; ++i) {
    const char* type = i % 2 == 0 ? "Relu" : "Ceil";
    add_node(model, type, {fmt::format("t{}", i)}, {fmt::format("t{}", i + 1)});
  }
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.operator_count(), 10000u);
  EXPECT_EQ(imported->carried.size(), 5000u);
  const auto exported = export_model(imported->graph, *imported, {.keep_original = false});
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(parse(*exported).graph().node_size(), 10000);
}

/// If nodes within If nodes, by wire format from the inside out: building them as messages would recurse as deep.
std::string nested(int depth) {
  const auto field = [](int number, const std::string& bytes) {
    std::string out;
    out.push_back(static_cast<char>((number << 3) | 2));
    for (std::size_t size = bytes.size();; size >>= 7) {
      out.push_back(static_cast<char>((size & 127) | (size > 127 ? 128 : 0)));
      if (size <= 127) break;
    }
    return out + bytes;
  };
  std::string graph;
  for (int i = 0; i < depth; ++i) {
    const std::string attribute = field(1, "then_branch") + field(6, graph);
    graph = field(1, field(4, "If") + field(5, attribute));
  }
  return std::string("\x08\x08", 2) + field(7, graph);
}

TEST(BadModels, TenThousandNestedGraphs) {
  EXPECT_THAT(refusal(nested(10000)), AllOf(HasSubstr("m.onnx"), HasSubstr("nested")));
  EXPECT_THAT(refusal(nested(30)), HasSubstr("m.onnx"));
}

TEST(BadModels, AListOfTensorsWhereOneIsExpected) {
  Model model = make_model();
  auto& input = *model.mutable_graph()->add_input();
  input.set_name("xs");
  input.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  add_output(model, "y", {2});
  add_node(model, "Relu", {"xs"}, {"y"});
  EXPECT_NE(refusal(model), "");
}

}  // namespace
}  // namespace rewright::onnx_test
