// What does not fit a short list is refused, not cut.
#include <rewright/base/short_list.h>

#include <gtest/gtest.h>

namespace rewright {
namespace {

using Few = ShortList<std::uint16_t, 3>;

TEST(ShortList, RefusesWhatDoesNotFit) {
  Few few{1, 2};
  few.push_back(65'535);
  EXPECT_EQ(few[2], 65'535);
  EXPECT_THROW(few.push_back(1), std::length_error);
  EXPECT_THROW(Few{65'536}, std::length_error);
  EXPECT_THROW(Few{-1}, std::length_error);
  EXPECT_EQ(few.size(), 3U);
}

TEST(ShortList, IsOrderedAsWords) {
  EXPECT_LT(Few{}, Few{0});
  EXPECT_LT((Few{1, 2}), Few{2});
  EXPECT_LT(Few{1}, (Few{1, 0}));
  EXPECT_EQ((Few{1, 2}), (Few{1, 2}));
}

}  // namespace
}  // namespace rewright
