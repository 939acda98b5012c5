// A solver that hangs, eats memory or dies is ended: its goal stays unknown with the reason, and the campaign goes on.
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "campaign/config.h"
#include "campaign/runner.h"
#include "store/store.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCampaign = R"(
[campaign]
name = "hostile"
max_operators = 2
inputs = [{ name = "x", shape = [2, 3] }, { name = "y", shape = [2, 3] }]
verifiers = ["evaluate", { name = "cvc5", program = "PROGRAM", answer_seconds = 2 }]
axioms = ["AXIOMS/elementwise.smt2", "AXIOMS/layout.smt2"]

[operators]
ewadd = {}
relu = {}
transpose = {}

[budget]
work = 4000000
memory = "256M"
)";

struct Misbehaviour {
  const char* name;
  const char* command;  ///< Of a shell, in the place of the first process of the solver.
  const char* reason;   ///< What the goal's verdict says.
};
void PrintTo(const Misbehaviour& misbehaviour, std::ostream* out) { *out << misbehaviour.name; }

class MisbehavingSolverInACampaign : public testing::TestWithParam<Misbehaviour> {};
INSTANTIATE_TEST_SUITE_P(
    That, MisbehavingSolverInACampaign,
    testing::Values(Misbehaviour{"hangs", "exec sleep 1000", "within 2 s and was ended"},
                    Misbehaviour{"eats", "exec python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 24))'",
                                 "its memory was limited to 256 MiB"},
                    Misbehaviour{"dies", "kill -SEGV $$", "the solver died"}),
    [](const auto& info) { return std::string(info.param.name); });

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST_P(MisbehavingSolverInACampaign, IsEndedAndTheCampaignGoesOn) {
  std::string pattern = (fs::temp_directory_path() / "rewright-hostile-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  const std::string program = (folder / "solver").string(), seen = (folder / "seen").string();
  std::ofstream(program) << "#!/bin/sh\nif [ -e " << seen << " ]; then exec cvc5 \"$@\"; fi\ntouch " << seen << "\n"
                         << GetParam().command << "\n";
  fs::permissions(program, fs::perms::owner_all);
  const std::string file = (folder / "campaign.toml").string();
  std::ofstream(file) << replaced(replaced(kCampaign, "PROGRAM", program), "AXIOMS", REWRIGHT_SOURCE_DIR "/axioms");

  Registry registry;
  ASSERT_TRUE(registry.load_default());
  const auto config = load_campaign(file, registry);
  ASSERT_TRUE(config) << config.error().message;
  RunOptions options;
  options.store = (folder / "store").string();
  const auto summary = run_campaign(*config, registry, options);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->state, CampaignSummary::State::kFinished);
  EXPECT_GE(summary->proved, 2u) << "by the processes after the first";
  const auto store = Store::open(options.store, Store::Mode::kRead);
  ASSERT_TRUE(store);
  EXPECT_EQ(*(*store)->count("goals", "status = 'open'"), 0);
  EXPECT_EQ(*(*store)->count("verdicts", fmt::format("verifier = 'cvc5' AND kind = 'unknown' AND reason LIKE '%{}%'",
                                                     GetParam().reason)),
            1);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left behind";
  EXPECT_EQ(errno, ECHILD);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rewright
