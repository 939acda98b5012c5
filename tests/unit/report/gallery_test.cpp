// What the gallery's pages are made of: text that cannot turn into markup, conditions in words.
#include <gtest/gtest.h>

#include "report/gallery/html.h"
#include "report/gallery/words.h"

namespace rewright::gallery {
namespace {

TEST(GalleryHtml, NoTextTurnsIntoMarkup) {
  EXPECT_EQ(escaped("<script>alert('x & \"y\"')</script>"),
            "&lt;script&gt;alert(&#39;x &amp; &quot;y&quot;&#39;)&lt;/script&gt;");
  EXPECT_EQ(escaped("caf\xc3\xa9 \xff\x01"), "caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd") << "bytes that are no text";
}

TEST(GalleryHtml, NoTextEndsAScript) { EXPECT_EQ(json_string("</script>\"\\\n"), "\"\\u003c/script>\\\"\\\\\\n\""); }

TEST(GalleryHtml, ATabStaysOneInAScript) { EXPECT_EQ(json_string("a\tb"), "\"a\\tb\""); }

TEST(GalleryHtml, NoNameLeadsOutOfTheFolder) {
  EXPECT_EQ(file_name("matmul-associates"), "matmul-associates");
  EXPECT_EQ(file_name("../../etc/passwd"), "~..~2f..~2fetc~2fpasswd");
  EXPECT_EQ(file_name(""), "~");
  EXPECT_EQ(url_part("a b#c"), "a%20b%23c");
}

struct Case {
  const char* condition;
  const char* words;
};
class InWords : public testing::TestWithParam<Case> {};

TEST_P(InWords, SaysTheCondition) {
  const auto constraint = Constraint::parse(GetParam().condition);
  ASSERT_TRUE(constraint) << constraint.error().message;
  EXPECT_EQ(in_words(*constraint), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(Conditions, InWords,
                         testing::Values(Case{"x.1 = y.0", "the size of x along axis 1 is that of y along axis 0"},
                                         Case{"x.1 = 4", "the size of x along axis 1 is 4"},
                                         Case{"2 | x.3", "the size of x along axis 3 is even"},
                                         Case{"3 | x.3", "the size of x along axis 3 is a multiple of 3"},
                                         Case{"x.1 != y.1", "the size of x along axis 1 is not that of y along axis 1"},
                                         Case{"w.2 >= 3", "the size of w along axis 2 is at least 3"},
                                         Case{"3 >= w.2", "the size of w along axis 2 is at most 3"},
                                         Case{"x.0 = s0", "the size of x along axis 0 is the size s0"},
                                         Case{"x.0 + y.0 = z.0", "x.0 + y.0 is the size of z along axis 0"}),
                         [](const auto& info) { return fmt::format("N{}", info.index); });

}  // namespace
}  // namespace rewright::gallery
