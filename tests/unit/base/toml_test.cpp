// TOML files with what toml++ must not be asked about.
#include <rewright/base/toml.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/stray_character.h"

namespace rewright {
namespace {

TEST(Toml, CharactersBeyondAsciiBelongToTextsAndComments) {
  constexpr std::size_t kNone = std::string_view::npos;
  const std::pair<const char*, std::size_t> cases[] = {
      {"", kNone},
      {"\xef\xbb\xbf# é\na = 1", kNone},
      {"a = 1 # é", kNone},
      {"a = 'é\\' # é", kNone},
      {"a = \"é\\\"é\"\nb = \"\"\nc = ''", kNone},
      {"a = '''é\n'é''é''''\nb = \"\"\"é\\\"\"\"é\"\"\"\"\"", kNone},
      {"é = 1", 0},
      {"a = 1é", 5},
      {"a = \"\"é", 6},
      {"a = ''''''é", 10},
      {"a = \"\"\"x\\\n  é\"\"\"", 12},
      {"a = 'x\né", 7},
      {"# x\n\xff", 4},
      {"a = \"x\\", kNone},
  };
  for (const auto& [text, at] : cases) EXPECT_EQ(stray_character(text), at) << text;
}

TEST(Toml, ErrorsNameFileLineAndColumn) {
  const auto stray = parse_toml("a = 1\nbb = 2 \xc9\xa2", "some.toml");
  ASSERT_FALSE(stray);
  EXPECT_EQ(stray.error().message, "some.toml:2:8: a character beyond ASCII outside of texts and comments");
  const auto broken = parse_toml("a = 1\nb = ]", "some.toml");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, testing::StartsWith("some.toml:2:5: "));
  EXPECT_THAT(parse_toml("a = \"é\"é", "some.toml").error().message, testing::StartsWith("some.toml:1:8: a character"));
  // A quote after a number begins no text.
  EXPECT_THAT(parse_toml("a = \"é\"\nb = 0\"\xd4\x91", "some.toml").error().message,
              testing::StartsWith("some.toml:2:6: "));
  const auto fine = parse_toml(
      "\xef\xbb\xbf"
      "a = \"é\"",
      "some.toml");
  ASSERT_TRUE(fine);
  EXPECT_EQ((*fine)["a"].value<std::string>(), "é");
}

}  // namespace
}  // namespace rewright
