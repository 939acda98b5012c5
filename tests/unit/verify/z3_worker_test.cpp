// The process that asks Z3: what it reads, and how it ends where it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace rewright {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Ended {
  std::string answer;  ///< The first; "" where there was none.
  int code = -1;
  std::string said;  ///< On standard error.
};

std::string all_of(int file) {
  std::string bytes;
  std::array<char, 4096> part;
  for (ssize_t got = 0; (got = ::read(file, part.data(), part.size())) > 0;)
    bytes.append(part.data(), static_cast<std::size_t>(got));
  ::close(file);
  return bytes;
}

/// A worker that is asked one thing. "0": the default solver.
Ended ask(const char* max_instances, const std::string& question) {
  int sockets[2], errors[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || ::pipe(errors) != 0) return {};
  const std::string program = REWRIGHT_BUILD_DIR "/lib/rewright/verifiers/z3-worker";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(sockets[1], STDIN_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    for (const int end : {sockets[0], sockets[1], errors[0], errors[1]}) ::close(end);
    ::execl(program.c_str(), program.c_str(), "4000000000", "60", max_instances, nullptr);
    ::_exit(127);
  }
  ::close(sockets[1]);
  ::close(errors[1]);
  const std::uint64_t size = question.size();
  const std::string message = std::string(reinterpret_cast<const char*>(&size), sizeof size) + question;
  EXPECT_EQ(::send(sockets[0], message.data(), message.size(), MSG_NOSIGNAL), std::ssize(message));
  ::shutdown(sockets[0], SHUT_WR);
  Ended ended;
  const std::string answer = all_of(sockets[0]);
  if (answer.size() >= sizeof size) ended.answer = answer.substr(sizeof size);
  ended.said = all_of(errors[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

std::string question(const std::string& theory, const std::string& goal) {
  return theory + std::string(1, '\0') + "1000000" + std::string(1, '\0') + goal;
}

const std::string kTheory = "(declare-sort T 0)(declare-fun f (T) T) ; a comment\n(declare-fun c () T)";

TEST(Z3Worker, TakesFormulasWithAndWithoutPatterns) {
  const std::string goal = "(define-fun d () T (f c))\n(assert (not (= d c)))";
  for (const char* solver : {"0", "100"}) {
    const Ended with =
        ask(solver, question(kTheory + "(assert (forall ((x T)) (! (= (f x) x) :pattern ((f x)))))", goal));
    EXPECT_EQ(with.answer, "unsat\n") << solver;
    EXPECT_EQ(with.code, 0) << "its questions ended";
    const Ended without = ask(solver, question(kTheory + "(assert (forall ((x T)) (= (f x) x)))", goal));
    EXPECT_EQ(without.answer, "unsat\n") << solver;
    EXPECT_NE(ask(solver, question(kTheory, goal)).answer, "unsat\n") << solver;
  }
}

TEST(Z3Worker, SaysWhatItCannotRead) {
  const struct {
    const char* text;
    const char* reason;
  } kUnreadable[] = {
      {"assert true", "no text for Z3: assert"},
      {"(prove true)", "no text for Z3: prove"},
      {"(assert true", "no text for Z3:  in place of )"},
      {"(declare-sort U 1)", "no text for Z3: 1 in place of 0"},
      {"(declare-fun g T T)", "no text for Z3: T in place of ("},
      {"(declare-fun g (U) T)", "no text for Z3: U"},
      {"(define-fun g (T) T c)", "no text for Z3: g"},
      {"(assert (= c d))", "no text for Z3: d"},
      {"(assert (g c))", "no text for Z3: g"},
      {"(assert (and", "no text for Z3: "},
      {"(assert (forall ((x T)) (! (= x x) :weight 3)))", "no text for Z3: :weight in place of :pattern"},
  };
  for (const auto& [text, reason] : kUnreadable) {
    const Ended ended = ask("100", question(kTheory, text));
    EXPECT_EQ(ended.code, 4) << text;
    EXPECT_EQ(ended.said, std::string("z3-worker: ") + reason + "\n") << text;
    EXPECT_THAT(ended.answer, IsEmpty()) << text;
  }
}

TEST(Z3Worker, EndsAtAQuestionWithoutALimit) {
  for (const std::string& text : {std::string("(assert true)"), std::string("\0(assert true)", 14)}) {
    const Ended ended = ask("100", text);
    EXPECT_EQ(ended.code, 4);
    EXPECT_EQ(ended.said, "z3-worker: the question has no limit\n");
  }
}

TEST(Z3Worker, EndsWhereZ3Refuses) {
  const Ended ended = ask("100", question(kTheory, "(assert (= c 1))"));
  EXPECT_EQ(ended.code, 3) << ended.said;
  EXPECT_THAT(ended.answer, IsEmpty());
}

TEST(SolverLauncher, SaysByItsExitCodeThatThereIsNoSolver) {
  const std::string launcher = REWRIGHT_BUILD_DIR "/lib/rewright/verifiers/solver-launcher";
  const auto exit_code = [&](const std::string& arguments) {
    return WEXITSTATUS(std::system(("'" + launcher + "'" + arguments).c_str()));
  };
  EXPECT_EQ(exit_code(" 4000000000 60 /nowhere/solver"), 127);
  EXPECT_EQ(exit_code(" 4000000000 60"), 2) << "no program is named";
  EXPECT_EQ(exit_code(" 4000000000 60 /bin/true"), 0);
}

}  // namespace
}  // namespace rewright
