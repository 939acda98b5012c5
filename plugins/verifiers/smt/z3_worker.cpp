// z3-worker MEMORY_BYTES CPU_SECONDS MAX_INSTANCES: asks Z3 what comes in on its standard input, which is a socket.
//
// A message, both ways, is its length (8 bytes, this machine's order) and that many bytes. A question is three texts
// with a 0 between them: what is new of the theory, a number of resource units, a goal: assumptions that hold for this
// question alone (z3_terms.h has the language). The answer is "unsat", "sat", or "unknown" and on a second line why.
// With MAX_INSTANCES quantifiers are instantiated by e-matching alone, at most so many times a question; with 0 the
// default solver is asked, and every question is one by itself. Ends when the socket closes, when its parent dies, when
// Z3 fails, or when the system ends it for passing a limit.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "z3_terms.h"

namespace {

using smt_verifier::TermReader;

/// Messages that come in one piece are answered in one piece: every piece wakes the other side.
class Messages {
 public:
  /// False where no more comes.
  bool read(std::string& text) {
    while (!take(text)) {
      if (!send()) return false;
      char part[1 << 16];
      const ssize_t got = ::read(STDIN_FILENO, part, sizeof part);
      if (got <= 0) return false;
      received_.erase(0, std::exchange(taken_, 0));
      received_.append(part, static_cast<std::size_t>(got));
    }
    return true;
  }
  /// It leaves when there is nothing to do before more comes, or when the last one left long ago.
  bool write(const std::string& text) {
    const std::uint64_t length = text.size();
    answers_.append(reinterpret_cast<const char*>(&length), sizeof length);
    answers_ += text;
    return Clock::now() - sent_ < kLongest || send();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLongest{50};

  bool take(std::string& text) {
    std::uint64_t length = 0;
    const std::size_t left = received_.size() - taken_;
    if (left < sizeof length) return false;
    std::memcpy(&length, received_.data() + taken_, sizeof length);
    if (left - sizeof length < length) return false;
    text.assign(received_, taken_ + sizeof length, length);
    taken_ += sizeof length + length;
    return true;
  }
  bool send() {
    std::string_view rest = answers_;
    while (!rest.empty()) {
      const ssize_t put = ::send(STDIN_FILENO, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
    answers_.clear();
    sent_ = Clock::now();
    return true;
  }

  std::string received_, answers_;
  std::size_t taken_ = 0;  ///< Of what was received.
  Clock::time_point sent_ = Clock::now();
};

void limit(int resource, const char* text) {
  const rlim_t value = std::strtoull(text, nullptr, 10);
  const rlimit both = {value, value};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

/// A solver and all that it was told.
class Worker {
 public:
  explicit Worker(bool e_matching)
      : reader_(context_), solver_(e_matching ? z3::solver(context_, z3::solver::simple()) : z3::solver(context_)) {}

  /// `work`: resource units for this question; what is new of the theory costs none.
  std::string ask(std::string_view theory, unsigned work, std::string_view goal, bool only_once) {
    for (const z3::expr& formula : reader_.read(theory)) solver_.add(formula);
    if (work != work_) {
      z3::params budget(context_);
      budget.set("rlimit", work);
      solver_.set(budget);
      work_ = work;
    }
    if (!only_once) solver_.push();  // It would make Z3's default solver another one.
    for (const z3::expr& formula : reader_.read(goal)) solver_.add(formula);
    const z3::check_result result = solver_.check();
    std::string answer = result == z3::unsat ? "unsat\n" : result == z3::sat ? "sat\n" : "unknown\n";
    if (result == z3::unknown) answer += solver_.reason_unknown() + "\n";
    if (!only_once) solver_.pop();
    reader_.forget_definitions();
    return answer;
  }

 private:
  z3::context context_;
  TermReader reader_;
  z3::solver solver_;
  unsigned work_ = 0;
};

class Answers {
 public:
  explicit Answers(const std::string& max_instances) : e_matching_(max_instances != "0") {
    if (!e_matching_) return;
    z3::set_param("auto_config", false);
    z3::set_param("smt.mbqi", false);
    z3::set_param("smt.random_seed", 0);
    z3::set_param("smt.qi.max_instances", max_instances.c_str());
  }

  std::string to(const std::string& text) {
    const std::size_t first = text.find('\0'), second = text.find('\0', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      throw std::runtime_error("the question has no limit");
    const auto work = std::min<std::uint64_t>(std::strtoull(text.c_str() + first + 1, nullptr, 10),
                                              std::numeric_limits<unsigned>::max());
    if (!worker_ || !e_matching_) worker_ = std::make_unique<Worker>(e_matching_);
    return worker_->ask(std::string_view(text).substr(0, first), static_cast<unsigned>(work),
                        std::string_view(text).substr(second + 1), !e_matching_);
  }

 private:
  const bool e_matching_;
  std::unique_ptr<Worker> worker_;
};

void answer_all(const std::string& max_instances) {
  Answers answers(max_instances);
  Messages messages;
  std::string text;
  while (messages.read(text) && messages.write(answers.to(text))) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_AS, argv[1]);
  limit(RLIMIT_CPU, argv[2]);
  limit(RLIMIT_CORE, "0");
  try {
    answer_all(argv[3]);
    return 0;
  } catch (const z3::exception&) {  // Out of memory, mostly. Its state is nobody's then: a new process is started.
    return 3;
  } catch (const std::exception& problem) {
    std::cerr << "z3-worker: " << problem.what() << "\n";
    return 4;
  }
}
