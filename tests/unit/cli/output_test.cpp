// What the program prints: tables, numbers for people, JSON of whatever bytes there are.
#include "cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace rewright::cli {
namespace {

TEST(Output, TablesAlignByCodePointsAndEndLinesWithText) {
  Table table({"name", "count", ""});
  table.align_right({1});
  table.add({"\xC3\xA9t\xC3\xA9", "7", ""});  // Three code points, five bytes.
  table.add({"winter", "1,234", "x"});
  EXPECT_EQ(table.to_string(),
            "name    count\n"
            "\xC3\xA9t\xC3\xA9         7\n"
            "winter  1,234  x\n");
}

TEST(Output, ATableWithoutHeadersHasNoEmptyFirstLine) {
  Table table({"", ""});
  table.add({"a", "b"});
  EXPECT_EQ(table.to_string(), "a  b\n");
}

TEST(Output, NumbersForPeople) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1'000), "1,000");
  EXPECT_EQ(with_commas(16'405'411), "16,405,411");
  EXPECT_EQ(with_commas(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(counted(1, "rule"), "1 rule");
  EXPECT_EQ(counted(0, "rule"), "0 rules");
  EXPECT_EQ(counted(18'552, "rule"), "18,552 rules");
  EXPECT_EQ(duration(0.04), "0.0 s");
  EXPECT_EQ(duration(95), "95 s");
  EXPECT_EQ(duration(720), "12 min");
  EXPECT_EQ(duration(12'600), "3.5 h");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1024), "1.0 KiB");
  EXPECT_EQ(bytes(std::uint64_t{7} << 30), "7.0 GiB");
}

TEST(Output, AmountsOfMemoryAreRead) {
  EXPECT_EQ(*parse_bytes("4G"), std::uint64_t{4} << 30);
  EXPECT_EQ(*parse_bytes("512M"), std::uint64_t{512} << 20);
  EXPECT_EQ(*parse_bytes("100"), 100u);
  for (const char* wrong : {"", "G", "-1", "4X", "4GG", "99999999999999999999G"}) {
    const auto read = parse_bytes(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_THAT(read.error().message, testing::HasSubstr(std::string("'") + wrong + "'"));
  }
}

TEST(Output, JsonTakesBytesThatAreNoUtf8) {
  testing::internal::CaptureStdout();
  print_json({{"name", "a\xFF"}});
  EXPECT_TRUE(flush_output());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{\"name\":\"a\xEF\xBF\xBD\"}\n");
}

TEST(Output, ErrorsGoToStandardErrorAndForMachinesToStandardOutput) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  print_error(Error{ErrorCode::kUsage, "no such thing"}, true);
  EXPECT_TRUE(flush_output());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "rewright: no such thing\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{\"error\":\"no such thing\"}\n");
}

}  // namespace
}  // namespace rewright::cli
