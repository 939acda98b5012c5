// The frame of the program: exit codes, and what becomes of an action that throws.
#include "cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "cli/interrupt.h"

namespace rewright::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  int exit = 0;
  std::string out;
  std::string err;
};

/// Runs the program with these arguments, of which `act` does the action `tool use`; its exit code.
int exit_of(std::vector<std::string> arguments, const Action& act) {
  Program program;
  program.command(program.group("tool", "Tools"), "use", "Uses it", {"rewright tool use"}, act);
  program.group("concealed", "Not shown").hide();
  arguments.insert(arguments.begin(), "rewright");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return program.run(static_cast<int>(argv.size()), argv.data());
}

Outcome run(const std::vector<std::string>& arguments, const Action& act) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit = exit_of(arguments, act);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

Action failing(ErrorCode code) {
  return [code](const Settings&) -> Result<ExitCode> { return Error{code, "it went wrong"}; };
}

TEST(Program, ErrorsBecomeExitCodes) {
  EXPECT_EQ(run({"tool", "use"}, [](const Settings&) { return ExitCode::kDone; }).exit, 0);
  EXPECT_EQ(run({"tool", "use"}, [](const Settings&) { return ExitCode::kNegative; }).exit, 1);
  EXPECT_EQ(run({"tool", "use"}, failing(ErrorCode::kNotFound)).exit, 2);
  EXPECT_EQ(run({"tool", "use"}, failing(ErrorCode::kBudget)).exit, 3);
  const Outcome own = run({"tool", "use"}, failing(ErrorCode::kInternal));
  EXPECT_EQ(own.exit, 4);
  EXPECT_EQ(own.err, "rewright: it went wrong\n");
}

TEST(Program, NoExceptionLeavesIt) {
  const Outcome memory = run({"tool", "use"}, [](const Settings&) -> Result<ExitCode> { throw std::bad_alloc(); });
  EXPECT_EQ(memory.exit, 3);
  EXPECT_THAT(memory.err, HasSubstr("out of memory"));
  const Outcome other =
      run({"tool", "use"}, [](const Settings&) -> Result<ExitCode> { throw std::logic_error("index"); });
  EXPECT_EQ(other.exit, 4);
  EXPECT_THAT(other.err, HasSubstr("a fault of the program itself: index"));
}

TEST(Program, SettingsStandBeforeOrBehindTheSubcommand) {
  for (const auto& arguments :
       {std::vector<std::string>{"--json", "-q", "tool", "use"}, {"tool", "use", "--json", "-q"}}) {
    bool json = false, quiet = false;
    EXPECT_EQ(run(arguments,
                  [&](const Settings& settings) {
                    json = settings.json;
                    quiet = settings.quiet;
                    return ExitCode::kDone;
                  })
                  .exit,
              0);
    EXPECT_TRUE(json && quiet);
  }
}

TEST(Program, AWrongSubcommandIsAnsweredWithTheNearestAndNothingHidden) {
  const Outcome wrong = run({"tol"}, failing(ErrorCode::kInternal));
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("'tol' is no subcommand of 'rewright'; did you mean 'tool'? there are: tool"));
  EXPECT_THAT(wrong.err, testing::Not(HasSubstr("concealed")));
}

TEST(Program, WithJsonErrorsArePrintedForMachinesToo) {
  const Outcome failed = run({"--json", "tool", "use"}, failing(ErrorCode::kUsage));
  EXPECT_EQ(failed.out, "{\"error\":\"it went wrong\"}\n");
}

TEST(StopInTime, OvertakesWorkThatDoesNotEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto work = [] {
    heed_interrupts();
    const StopInTime stop_in_time([] { std::fputs("last act", stderr); });
    raise(SIGTERM);
    sleep(60);
    std::exit(0);
  };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(work(), testing::ExitedWithCode(static_cast<int>(ExitCode::kStopped)), "last act");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(StopInTime, LeavesWorkAloneThatEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto work = [] {
    heed_interrupts();
    {
      const StopInTime stop_in_time([] { std::fputs("last act", stderr); });
      raise(SIGTERM);
    }
    sleep(2);
    std::exit(0);
  };
  EXPECT_EXIT(work(), testing::ExitedWithCode(0), "^$");
}

TEST(Interrupts, EndACommandThatDoesNotHeedThem) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int signal : {SIGINT, SIGTERM}) {
    const Action act = [signal](const Settings&) {
      std::raise(signal);
      return ExitCode::kDone;
    };
    EXPECT_EXIT(std::exit(exit_of({"tool", "use"}, act)), testing::KilledBySignal(signal), "");
  }
}

TEST(Interrupts, AreToldToACommandThatHeedsThemAndTheSecondEndsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int signal : {SIGINT, SIGTERM}) {
    const Action once = [signal](const Settings&) {
      heed_interrupts();
      std::raise(signal);
      return interrupted() ? ExitCode::kStopped : ExitCode::kDone;
    };
    EXPECT_EXIT(std::exit(exit_of({"tool", "use"}, once)), testing::ExitedWithCode(3), "");
    const Action twice = [signal](const Settings&) {
      heed_interrupts();
      std::raise(signal);
      std::raise(signal);
      return ExitCode::kDone;
    };
    EXPECT_EXIT(std::exit(exit_of({"tool", "use"}, twice)), testing::KilledBySignal(signal), "");
  }
}

}  // namespace
}  // namespace rewright::cli
