#include "cli/help.h"

#include <gtest/gtest.h>

namespace rewright::testing {
namespace {

TEST(Help, BreaksLinesAtSpaces) {
  EXPECT_EQ(cli::wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(cli::wrapped("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(cli::wrapped("one two three", 13), "one two three");
  EXPECT_EQ(cli::wrapped("", 7), "");
}

TEST(Help, KeepsALongWordWhole) { EXPECT_EQ(cli::wrapped("a linear_algebra b", 5), "a\nlinear_algebra\nb"); }

TEST(Help, WrapsDescriptionsOfOptions) {
  CLI::App app;
  app.formatter(std::make_shared<cli::HelpFormatter>());
  app.get_formatter()->column_width(36);
  bool flag = false;
  app.add_flag("--flag", flag, std::string(70, 'a') + " " + std::string(70, 'b'));
  const std::string help = app.help();
  EXPECT_NE(help.find(std::string(70, 'a') + "\n" + std::string(36, ' ') + std::string(70, 'b')), std::string::npos)
      << help;
}

}  // namespace
}  // namespace rewright::testing
