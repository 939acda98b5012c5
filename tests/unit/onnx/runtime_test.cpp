// The plugin runtimes/onnxruntime.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support.h"

namespace rewright::onnx_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string sum_model() {
  Model model = make_model();
  add_input(model, "x", {2, 2});
  add_input(model, "y", {2, 2});
  add_output(model, "z", {2, 2});
  add_node(model, "Add", {"x", "y"}, {"z"});
  return model.SerializeAsString();
}

TEST(OnnxRuntime, SaysItsVersion) {
  REQUIRE_RUNTIME();
  EXPECT_THAT(*runtime().version(), testing::StartsWith("ONNX Runtime 1."));
}

TEST(OnnxRuntime, ALibraryThatIsNotThereIsNamedWithWhatToDo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // A process of its own: the library is opened once in each.
  const auto ask = [] {
    ::setenv("REWRIGHT_ONNXRUNTIME", "/nowhere/libonnxruntime.so.1", 1);
    const auto version = runtime().version();
    std::fputs(version ? "opened" : version.error().message.c_str(), stderr);
    std::exit(version ? 1 : 0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0),
              "REWRIGHT_ONNXRUNTIME names '/nowhere/libonnxruntime.so.1'.*scripts/install-dependencies");
}

TEST(OnnxRuntime, AVersionThatIsTooOldIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask = [] {
    ::setenv("REWRIGHT_ONNXRUNTIME", REWRIGHT_BUILD_DIR "/tests/plugins/onnx/old_runtime.so", 1);
    const auto version = runtime().version();
    std::fputs(version ? "opened" : version.error().message.c_str(), stderr);
    std::exit(version ? 1 : 0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "ONNX Runtime 1.2.0 is too old: version 1.16 or later is needed; ");
}

TEST(OnnxRuntime, AnotherLibraryIsNotTakenForIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask = [] {
    ::setenv("REWRIGHT_ONNXRUNTIME", "libm.so.6", 1);
    const auto version = runtime().version();
    std::fputs(version ? "opened" : version.error().message.c_str(), stderr);
    std::exit(version ? 1 : 0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "has no OrtGetApiBase; .*REWRIGHT_ONNXRUNTIME");
}

TEST(OnnxRuntime, SaysWhatItIs) { EXPECT_THAT(runtime().summary(), HasSubstr("on the CPU")); }

TEST(OnnxRuntime, RunsAModel) {
  REQUIRE_RUNTIME();
  const RuntimeTensor x = random_tensor("x", {Shape{2, 2}}, 1), y = random_tensor("y", {Shape{2, 2}}, 2);
  const auto result = run(sum_model(), {x, y});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->size(), 1u);
  EXPECT_EQ(result->front().name, "z");
  const auto value = [](const RuntimeTensor& tensor, int i) {
    float number = 0;
    std::memcpy(&number, tensor.bytes.data() + 4 * i, 4);
    return number;
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(value(result->front(), i), value(x, i) + value(y, i));
}

TEST(OnnxRuntime, RefusesInputsThatDoNotFit) {
  REQUIRE_RUNTIME();
  RuntimeTensor x = random_tensor("x", {Shape{2, 2}}, 1);
  const auto missing = run(sum_model(), {x});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("y"));
  x.bytes.pop_back();
  const auto cut = run(sum_model(), {x});
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, AllOf(HasSubstr("'x'"), HasSubstr("15 bytes, expected 16")));
  x.type.element = ElementType::kString;
  EXPECT_EQ(run(sum_model(), {x, x}).error().message,
            "input 'x': ONNX Runtime takes no tensor of element type 8 from us");
}

TEST(OnnxRuntime, RefusesWhatIsNoModel) {
  REQUIRE_RUNTIME();
  const auto session = runtime().load(bytes_of("not a model"), {});
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, HasSubstr("ONNX Runtime: "));
}

TEST(OnnxRuntime, MeasuresInMicroseconds) {
  REQUIRE_RUNTIME();
  const auto session = runtime().load(bytes_of(sum_model()), {});
  ASSERT_TRUE(session) << session.error().message;
  const std::vector<RuntimeTensor> inputs = {random_tensor("x", {Shape{2, 2}}, 1),
                                             random_tensor("y", {Shape{2, 2}}, 2)};
  const auto time = (*session)->measure(inputs, 3, 100);
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_GT(time->least_us, 0);
  EXPECT_LE(time->least_us, time->low_us);
  EXPECT_LE(time->low_us, time->median_us);
  EXPECT_LE(time->median_us, time->high_us);
}

}  // namespace
}  // namespace rewright::onnx_test
