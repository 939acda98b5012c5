// Programs that this process runs end when it asks for it, with what they started.
#include "compile/child_processes.h"

#include <rewright/base/command.h>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/files.h"

namespace {

using namespace rewright;
using namespace std::chrono_literals;

bool is_running(const std::string& process) {
  const auto status = read_file("/proc/" + process + "/status");
  return status && status->find("State:\tZ") == std::string::npos && status->find("State:\tX") == std::string::npos;
}

TEST(ChildProcesses, EndWithWhatTheyStarted) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  const std::string file = folder.path() + "/inner";
  Result<CommandOutcome> outcome = CommandOutcome();
  std::thread running([&] {
    const std::vector<std::string> words = {
        "sh", "-c", "sleep 63 & echo $! > " + file + ".new; mv " + file + ".new " + file + "; wait"};
    outcome = run_command(words, 60);
  });
  std::string inner;
  for (int i = 0; i < 1000 && inner.empty(); ++i) {
    std::this_thread::sleep_for(10ms);
    std::ifstream(file) >> inner;
  }
  EXPECT_TRUE(is_running(inner));
  const auto start = std::chrono::steady_clock::now();
  compile::end_child_processes();
  running.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, -1);
  EXPECT_FALSE(outcome->timed_out);
  for (int i = 0; i < 500 && is_running(inner); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(is_running(inner));
}

}  // namespace
