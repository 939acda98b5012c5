// What lies on the disk after a model was written, and what is refused.
#include "cli/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "onnx/external.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A message of protobuf: fields with a length, and numbers.
std::string field(int number, const std::string& bytes) {
  std::string text(1, static_cast<char>(8 * number + 2));
  for (std::size_t length = bytes.size(); true; length >>= 7) {
    text += static_cast<char>((length & 127) | (length > 127 ? 128 : 0));
    if (length < 128) break;
  }
  return text + bytes;
}
std::string number(int field, char value) { return {static_cast<char>(8 * field), value}; }

/// A model of the name with 100 bytes of weights (uint8) in a file.
std::string model_of(const std::string& name, const std::string& file) {
  const auto entry = [](const std::string& key, const std::string& value) {
    return field(13, field(1, key) + field(2, value));  // TensorProto.external_data
  };
  const std::string weight =
      number(1, 100) + number(2, 2) + field(8, "w") + entry("location", file) + entry("length", "100") + number(14, 1);
  return number(1, 8) + field(7, field(2, name) + field(5, weight));
}

class ModelFilesTest : public ::testing::Test {
 protected:
  ModelFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "rewright-files-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    write("weights.bin", std::string(100, 'w'));
    write("m.onnx", model_of("old", "weights.bin"));
  }
  ~ModelFilesTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  std::set<std::string> names() {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.insert(entry.path().filename().string());
    return found;
  }
  ModelFiles files(const std::string& input, const std::string& output) {
    return {(folder_ / input).string(), (folder_ / output).string(), read(input), folder_.string()};
  }

  fs::path folder_;
};

TEST_F(ModelFilesTest, InPlaceTheNewWeightsLieUnderANewNameAndTheOldOnesGo) {
  write("m.onnx.data", std::string(100, 'o'));
  write("m.onnx", model_of("old", "m.onnx.data"));
  ASSERT_TRUE(write_model(files("m.onnx", "m.onnx"), model_of("new", "m.onnx.data")));
  EXPECT_THAT(external_files(read("m.onnx")), ElementsAre("m.onnx.1.data"));
  EXPECT_EQ(read("m.onnx.1.data"), std::string(100, 'o'));
  EXPECT_THAT(names(), ElementsAre("m.onnx", "m.onnx.1.data", "weights.bin"));
  // And back to the first name, which is free again.
  ASSERT_TRUE(write_model(files("m.onnx", "m.onnx"), model_of("newer", "m.onnx.1.data")));
  EXPECT_THAT(names(), ElementsAre("m.onnx", "m.onnx.data", "weights.bin"));
}

TEST_F(ModelFilesTest, WeightsUnderAnotherNameThanOursStay) {
  ASSERT_TRUE(write_model(files("m.onnx", "m.onnx"), model_of("new", "weights.bin")));
  EXPECT_THAT(names(), ElementsAre("m.onnx", "m.onnx.data", "weights.bin"));
}

TEST_F(ModelFilesTest, WeightsThatAnotherModelNamesStay) {
  write("m.onnx.data", std::string(100, 'o'));
  write("m.onnx", model_of("old", "m.onnx.data"));
  write("copy.onnx", model_of("old", "./m.onnx.data"));
  ASSERT_TRUE(write_model(files("m.onnx", "m.onnx"), model_of("new", "m.onnx.data")));
  EXPECT_THAT(names(), ElementsAre("copy.onnx", "m.onnx", "m.onnx.1.data", "m.onnx.data", "weights.bin"));
}

TEST_F(ModelFilesTest, TheInputsWeightsStayWhateverItIsCalled) {
  write("out.onnx.data", std::string(100, 'o'));
  write("out.onnx", model_of("before", "out.onnx.data"));
  write("input.model", model_of("old", "out.onnx.data"));
  ASSERT_TRUE(write_model(files("input.model", "out.onnx"), model_of("new", "out.onnx.data")));
  EXPECT_EQ(read("out.onnx.data"), std::string(100, 'o'));
  EXPECT_THAT(external_files(read("out.onnx")), ElementsAre("out.onnx.1.data"));
}

TEST_F(ModelFilesTest, AnOutputThatHoldsTheInputsWeightsIsRefused) {
  fs::create_symlink(folder_ / "weights.bin", folder_ / "link.onnx");
  fs::create_hard_link(folder_ / "weights.bin", folder_ / "hard.onnx");
  fs::create_directory_symlink(folder_, folder_ / "here");
  for (const char* name : {"weights.bin", "./weights.bin", "here/weights.bin", "link.onnx", "hard.onnx"}) {
    const Status refused = write_model(files("m.onnx", name), model_of("new", "weights.bin"));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
    EXPECT_THAT(refused.error().message, HasSubstr("holds weights of"));
    EXPECT_EQ(read("weights.bin"), std::string(100, 'w')) << name;
  }
}

TEST_F(ModelFilesTest, TheOriginalIsWrittenAsItIsBesideItself) {
  ASSERT_TRUE(write_model(files("m.onnx", "same.onnx"), read("m.onnx")));
  EXPECT_EQ(read("same.onnx"), read("m.onnx"));
  EXPECT_THAT(names(), ElementsAre("m.onnx", "same.onnx", "weights.bin"));
}

TEST_F(ModelFilesTest, InAnotherFolderTheWeightsComeWithIt) {
  fs::create_directory(folder_ / "other");
  ASSERT_TRUE(write_model(files("m.onnx", "other/m.onnx"), read("m.onnx")));
  EXPECT_THAT(external_files(read("other/m.onnx")), ElementsAre("m.onnx.data"));
  EXPECT_EQ(read("other/m.onnx.data"), std::string(100, 'w'));
}

TEST_F(ModelFilesTest, InPlaceWithoutAGainNothingIsTouched) {
  const auto before = fs::last_write_time(folder_ / "m.onnx");
  ASSERT_TRUE(write_model(files("m.onnx", "m.onnx"), read("m.onnx")));
  EXPECT_EQ(fs::last_write_time(folder_ / "m.onnx"), before);
}

}  // namespace
}  // namespace rewright::cli
