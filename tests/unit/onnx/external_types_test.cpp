// Weights in another file whose element type no Graph can say: they stay where they lie.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/external.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kInt4 = 22;

/// A weight of 4-bit integers, two in a byte, that a node reads which no operator knows.
Model model_with_int4(std::int64_t elements) {
  Model model = make_model(21);
  add_output(model, "y", {elements});
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(kInt4);
  tensor.add_dims(elements);
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  set(add_node(model, "Cast", {"w"}, {"y"}), "to", 1);
  return model;
}

class ExternalTypes : public ::testing::Test {
 protected:
  ExternalTypes() : folder_(fs::temp_directory_path() / fmt::format("rewright-int4-{}", ::getpid())) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "w.bin") << std::string(50, '\x21');
  }
  ~ExternalTypes() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(ExternalTypes, StayInTheirFile) {
  ImportOptions options;
  options.directory = folder_.string();
  const auto imported = import(model_with_int4(99), options);
  ASSERT_TRUE(imported) << imported.error().message;
  const auto bytes = export_model(imported->graph, *imported);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_THAT(external_files(*bytes), ::testing::ElementsAre("w.bin"));
  const auto split = split_off_weights(*bytes, "other.bin", folder_.string());
  ASSERT_TRUE(split) << split.error().message;
  ASSERT_EQ(split->data.size(), 1u);
  EXPECT_EQ(split->data[0].length, 50u) << "99 elements of half a byte";
}

TEST_F(ExternalTypes, MustBeThereWhole) {
  ImportOptions options;
  options.directory = folder_.string();
  const auto imported = import(model_with_int4(101), options);
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, HasSubstr("tensor 'w' needs 51 bytes; 'w.bin' gives 50"));
}

}  // namespace
}  // namespace rewright::onnx_test
