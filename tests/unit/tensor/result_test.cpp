// Results: a value or an error, and never the one for the other.
#include <rewright/base/result.h>

#include <gtest/gtest.h>

namespace rewright {
namespace {

TEST(Result, ThatFailedHasNoValueToRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Result<int> failed = make_error(ErrorCode::kNotFound, "no file {}", "x");
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no file x");
  EXPECT_DEATH((void)*failed, "rewright: internal error: the value of a failed Result was read: no file x");
}

}  // namespace
}  // namespace rewright
