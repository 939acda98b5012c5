// Manual pages and completion from a small program's arguments, as they are written.
#include "cli/describe.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rewright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// tool [--json] kettle boil [--to a|b] [-o FILE] WATER; hidden secret
CommandText tool() {
  CLI::App app("Makes tea", "tool");
  bool json = false;
  app.add_flag("--json", json, "For machines");
  CLI::App& kettle = *app.add_subcommand("kettle", "Kettles");
  CLI::App& boil = *kettle.add_subcommand("boil", "Boils .water - it's hot");
  std::string water, file, to;
  boil.add_option("WATER", water, "What to boil")->required();
  boil.add_option("-o,--output", file, "Where to")->type_name("FILE");
  boil.add_option("--to", to, "How hot")->check(CLI::IsMember({"warm", "hot"}));
  boil.footer("\nExamples\n  tool kettle boil sea -o cup\n\nSee tool --help.");
  app.add_subcommand("secret", "Not shown")->group("");
  return describe(app);
}

TEST(Describe, KnowsCommandsArgumentsAndChoices) {
  const CommandText program = tool();
  ASSERT_EQ(program.commands.size(), 1u);  // The hidden one is not there.
  const CommandText& boil = program.commands[0].commands[0];
  EXPECT_EQ(boil.path, "tool kettle boil");
  const auto named = [&](const std::string& name) -> const ArgumentText& {
    for (const ArgumentText& argument : boil.arguments)
      if (argument.names.back() == name) return argument;
    ADD_FAILURE() << "no argument " << name;
    return boil.arguments.front();
  };
  EXPECT_TRUE(named("WATER").positional);
  EXPECT_TRUE(named("WATER").required);
  EXPECT_THAT(named("--output").names, testing::ElementsAre("-o", "--output"));
  EXPECT_EQ(named("--output").value, "FILE");
  EXPECT_THAT(named("--to").choices, testing::UnorderedElementsAre("warm", "hot"));
  EXPECT_TRUE(named("--help").flag);
}

TEST(Describe, WritesAManualPageForEveryCommand) {
  const std::vector<Page> pages = manual_pages(tool(), "1.2.3");
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_EQ(pages[0].name, "tool.1");
  EXPECT_EQ(pages[2].name, "tool-kettle-boil.1");
  EXPECT_EQ(pages[2].text,
            ".TH TOOL-KETTLE-BOIL 1 \"\" \"rewright 1.2.3\" \"Rewright\"\n"
            ".SH NAME\n"
            "tool\\-kettle\\-boil \\- Boils .water \\- it's hot\n"
            ".SH SYNOPSIS\n"
            ".B tool kettle boil\n"
            "[\\fIoptions\\fR] \\fIWATER\\fR\n"
            ".SH ARGUMENTS\n"
            ".TP\n"
            "\\fIWATER\\fR\n"
            "What to boil\n"
            ".SH OPTIONS\n"
            ".TP\n"
            "\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
            "Print this help message and exit\n"
            ".TP\n"
            "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"
            "Where to\n"
            ".TP\n"
            "\\fB\\-\\-to\\fR \\fITEXT\\fR\n"
            "How hot (one of warm, hot)\n"
            ".SH EXAMPLES\n"
            ".nf\n"
            "tool kettle boil sea \\-o cup\n"
            ".fi\n"
            ".PP\n"
            "See tool \\-\\-help.\n"
            ".SH SEE ALSO\n"
            "\\fBtool\\-kettle\\fR(1)\n");
}

/// What bash would offer after these words, the last of which is not finished.
std::string offered(const std::string& script, const std::string& words) {
  const std::string file = testing::TempDir() + "rewright_completion_test.sh";
  std::ofstream(file) << script << "\nset -- " << words
                      << "\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n_tool\necho \"${COMPREPLY[*]}\"\n";
  FILE* pipe = popen(("bash " + file).c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  return text;
}

TEST(Describe, BashCompletesCommandsOptionsAndChoices) {
  const std::string script = bash_completion(tool());
  EXPECT_EQ(offered(script, "tool ''"), "kettle\n");
  EXPECT_EQ(offered(script, "tool k"), "kettle\n");
  EXPECT_EQ(offered(script, "tool secr"), "\n");
  EXPECT_EQ(offered(script, "tool kettle b"), "boil\n");
  EXPECT_EQ(offered(script, "tool --json kettle b"), "boil\n");
  EXPECT_EQ(offered(script, "tool kettle boil --to w"), "warm\n");
  EXPECT_EQ(offered(script, "tool kettle boil --t"), "--to\n");
  EXPECT_EQ(offered(script, "tool kettle boil --j"), "--json\n");    // The program's own, everywhere.
  EXPECT_EQ(offered(script, "tool kettle boil --output ''"), "\n");  // File names: bash's own.
  EXPECT_EQ(offered(script, "tool kettle boil ''"), "\n");
}

TEST(Describe, ZshIsToldWhatEverythingIs) {
  const std::string script = zsh_completion(tool());
  EXPECT_THAT(script, testing::StartsWith("#compdef tool\n"));
  EXPECT_THAT(script, HasSubstr("'boil:Boils .water - it'\\''s hot'"));
  EXPECT_THAT(script, HasSubstr("'--output:Where to'"));
  EXPECT_THAT(script, HasSubstr("'kettle boil:--to') compadd warm hot; return ;;"));
  EXPECT_THAT(script, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace rewright::cli
