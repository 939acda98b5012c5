#include "tune/kernel_text.h"

#include <rewright/optimize/cost_key.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tune/kernel_program.h"

namespace {

using namespace rewright;
using namespace rewright::tune;
using testing::HasSubstr;

const Registry& all_plugins() {
  static const Registry registry = [] {
    Registry all;
    EXPECT_TRUE(all.load_default());
    return all;
  }();
  return registry;
}

std::string key_of_text(std::string_view text) {
  const auto kernel = parse_kernel(text, all_plugins());
  return kernel ? to_key(kernel->kernel()) : kernel.error().message;
}

KernelTask task_of_text(std::string_view text) {
  const auto kernel = parse_kernel(text, all_plugins());
  EXPECT_TRUE(kernel) << kernel.error().message;
  auto task = task_of(kernel->kernel(), all_plugins());
  EXPECT_TRUE(task) << task.error().message;
  return *std::move(task);
}

TEST(KernelText, IsRead) {
  EXPECT_EQ(key_of_text("(x:64x32, w:32x16 weight) relu(matmul(x, w))"),
            "|matmul|data(64, 32)weight(32, 16)+0|relu|data(64, 16)");
  EXPECT_EQ(key_of_text("(x:1x4x2x2) transpose[perm=[0, 2, 3, 1]](x)").substr(0, 10), "|transpose");
}

TEST(KernelText, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(key_of_text("(x:64x) relu(x)"), HasSubstr("line 1, column 4: expected at most"));
  EXPECT_THAT(key_of_text("(x:64x0) relu(x)"), HasSubstr("an input has from 1 to 2^32 elements"));
  EXPECT_THAT(key_of_text("(x:64x32) relu(y)"), HasSubstr("line 1, column 16: no input is named 'y'"));
  EXPECT_THAT(key_of_text("(x:64x32) rely(x)"), HasSubstr("rely"));
  EXPECT_THAT(key_of_text("(x:64x32, w:16x16) matmul(x, w)"), HasSubstr("line 1, column 20"));
  EXPECT_THAT(key_of_text("(x:64x32) x"), HasSubstr("applies no operator"));
  EXPECT_THAT(key_of_text("(x:64x32) relu(x) x"), HasSubstr("the end of the kernel"));
}

TEST(KernelProgram, DoesNotDependOnNames) {
  EXPECT_EQ(task_of_text("(x:8x4, w:4x6) relu(matmul(x, w))").program,
            task_of_text("(a:8x4, y:4x6) relu(matmul(a, y))").program);
}

TEST(KernelProgram, FusesWhatFollowsTheAnchor) {
  const std::string text = to_string(task_of_text("(x:8x4, w:4x6) relu(matmul(x, w))").program);
  EXPECT_THAT(text, HasSubstr("buffer x0[8, 4] float32 in\nbuffer x1[4, 6] float32 in\nbuffer y[8, 6] float32 out"));
  EXPECT_THAT(text, HasSubstr("for y.i0 8 serial"));
}

TEST(KernelProgram, KeepsSizesApart) {
  const KernelTask task = task_of_text("(x:8x4, w:4x6) matmul(x, w)");
  EXPECT_EQ(task.apart.structure, "|matmul|data(s0, s1)data(s2, s3)");
  EXPECT_EQ(task.apart.sizes, (std::vector<std::int64_t>{8, 4, 4, 6}));
}

TEST(KernelWork, CountsTwoOperationsForAProduct) {
  const ProgramWork matmul = work_of(task_of_text("(x:8x4, w:4x6) matmul(x, w)").program);
  EXPECT_EQ(matmul.operations, 2 * 8 * 4 * 6);
  EXPECT_EQ(matmul.reduction, 4);
  EXPECT_EQ(matmul.bytes, 4 * (8 * 4 + 4 * 6 + 8 * 6));
  EXPECT_TRUE(matmul.is_exact);
  const ProgramWork fused = work_of(task_of_text("(x:8x4, w:4x6) relu(matmul(x, w))").program);
  EXPECT_EQ(fused.operations, 2 * 8 * 4 * 6 + 8 * 6);
  EXPECT_EQ(fused.reduction, 4);
}

}  // namespace
