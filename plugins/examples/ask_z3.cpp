/// Asks the program z3, through a pipe, whether the two sides of a rule can differ in the real numbers.
///
///   exists v: some number of source(v) != that number of target(v)
///
/// Shapes   those of the rule's example: what z3 says holds there, so a "no" is not a proof for all sizes.
/// Answers  Refuted with z3's point, otherwise Unknown. Where a side uses exp or the like, z3 may put any function in
/// its
///          place, so that its point refutes nothing.
/// Budget   one unit of work is one of z3's resource units (rlimit): no answer depends on the machine's load.
/// Options  program ("z3"): what is started, with the arguments that z3 takes
/// Source   Jovanovic & de Moura, Solving Non-linear Arithmetic, IJCAR 2012: what z3 does with it.
#include <rewright/kit/rule_terms.h>
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>

extern char** environ;

namespace {
using namespace rewright;

/// What a child process answers on its standard output to what it is given on its standard input. One socket is both,
/// so that a child that ends early is an error of send() and no signal.
Result<std::string> ask(std::vector<std::string> command, const std::string& text) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return make_error(ErrorCode::kIo, "verifier ask_z3: no pipe could be opened");
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string answer;
  if (failed == 0) {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t now = send(ends[0], text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) break;
      sent += static_cast<std::size_t>(now);
    }
    shutdown(ends[0], SHUT_WR);
    char part[4096];
    for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;)
      answer.append(part, static_cast<std::size_t>(got));
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  if (failed != 0)
    return make_error(ErrorCode::kNotFound,
                      "verifier ask_z3: '{}' cannot be started; install z3, or name it with the option program",
                      command[0]);
  return answer;
}

std::string number(Exact value) {
  const auto whole = [](std::int64_t n) { return n < 0 ? fmt::format("(- {}.0)", -n) : fmt::format("{}.0", n); };
  return value.denominator() == 1 ? whole(value.numerator())
                                  : fmt::format("(/ {} {}.0)", whole(value.numerator()), value.denominator());
}

/// A question in SMT-LIB 2.6.
class Question {
 public:
  explicit Question(const RuleTerms& terms) {
    std::vector<Term> all = terms.source;
    all.insert(all.end(), terms.target.begin(), terms.target.end());
    const TermProgram program(all);
    for (std::size_t i = 0; i < program.steps().size(); ++i) define(i, program.steps()[i]);
    text_ += "(assert (or false";
    for (std::size_t i = 0; i < terms.source.size(); ++i)
      text_ += fmt::format(" (distinct s{} s{})", program.results()[i], program.results()[terms.source.size() + i]);
    text_ += "))\n(check-sat)\n";
    if (!variables_.empty()) text_ += fmt::format("(get-value ({}))\n", fmt::join(variables_, " "));
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Is the question the rule's own, with no function and no number that only stands for one?
  [[nodiscard]] bool exact() const { return exact_; }

 private:
  void define(std::size_t i, const TermStep& step) {
    const auto binary = [&](const char* op) { return fmt::format("({} s{} s{})", op, step.left, step.right); };
    std::string value;
    switch (step.kind) {
      case Term::Kind::kNumber:
        value = step.number.defined() ? number(step.number) : "0.0";
        exact_ = exact_ && step.number.defined();
        break;
      case Term::Kind::kVariable:
        value = fmt::format("v{}", step.variable);
        if (variables_.insert(value).second) text_ += fmt::format("(declare-const {} Real)\n", value);
        break;
      case Term::Kind::kAdd: value = binary("+"); break;
      case Term::Kind::kSubtract: value = binary("-"); break;
      case Term::Kind::kMultiply: value = binary("*"); break;
      case Term::Kind::kDivide:
        value = binary("/");
        text_ += fmt::format("(assert (distinct s{} 0.0))\n", step.right);  // Elsewhere a side is not defined.
        break;
      case Term::Kind::kMax: value = fmt::format("(ite (< s{0} s{1}) s{1} s{0})", step.left, step.right); break;
      case Term::Kind::kFunction:
        value = fmt::format("({}_ s{})", name_of(step.function), step.left);
        if (functions_.insert(step.function).second)
          text_ += fmt::format("(declare-fun {}_ (Real) Real)\n", name_of(step.function));
        exact_ = false;
        break;
    }
    text_ += fmt::format("(define-fun s{} () Real {})\n", i, value);
  }

  std::string text_;
  std::set<std::string> variables_;
  std::set<Function> functions_;
  bool exact_ = true;
};

class AskZ3 final : public Verifier {
 public:
  [[nodiscard]] std::string name() const override { return "ask_z3"; }
  [[nodiscard]] std::string summary() const override {
    return "Refutes by asking the program z3 for real numbers that tell the sides apart";
  }
  [[nodiscard]] bool proves() const override { return false; }
  [[nodiscard]] bool refutes() const override { return true; }
  [[nodiscard]] bool reusable() const override { return true; }
  Status configure(const Options& options) override {
    for (const auto& [name, value] : options) {
      const auto* text = std::get_if<std::string>(&value);
      if (name != "program" || text == nullptr || text->empty())
        return make_error(ErrorCode::kUsage,
                          "verifier ask_z3 cannot take the option '{}'; it has program, the name of a file", name);
      program_ = *text;
    }
    return {};
  }
  [[nodiscard]] Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts;
    for (const Goal& goal : goals) {
      REWRIGHT_TRY(Verdict verdict, judge(goal));
      verdicts.push_back(std::move(verdict));
    }
    return verdicts;
  }
  [[nodiscard]] std::unique_ptr<Verifier> clone() const override { return std::make_unique<AskZ3>(); }

 private:
  [[nodiscard]] Result<Verdict> judge(const Goal& goal) const {
    Verdict verdict;
    const auto terms = terms_at_example(goal.rule, 64);
    if (!terms) {
      verdict.reason = terms.error().message;
      return verdict;
    }
    const Question question(*terms);
    const auto work = std::clamp<std::uint64_t>(goal.budget.work, 1, 1'000'000'000);
    const auto megabytes = std::max<std::uint64_t>(goal.budget.memory_bytes >> 20, 64);
    REWRIGHT_TRY(std::string answer,
                 ask({program_, fmt::format("rlimit={}", work), fmt::format("-memory:{}", megabytes), "-in", "-smt2"},
                     question.text()));
    const std::string word = answer.substr(0, answer.find('\n'));
    if (word == "unsat") {
      verdict.reason = "z3: no real numbers tell the sides apart at the rule's example, which is not all sizes";
    } else if (word == "sat" && question.exact()) {
      verdict.kind = VerdictKind::kRefuted;
      verdict.reason = "z3: there are real numbers at which the sides differ";
      verdict.counterexample = point(answer.substr(word.size()), terms->variables);
    } else {
      verdict.reason = word == "sat" ? "z3: the sides differ for some functions in the place of exp and the like"
                                     : "z3: undecided within the budget";
    }
    return verdict;
  }

  /// z3's "((v0 1.0) (v1 (- 2.0)))" on one line, and which inputs these are.
  static std::string point(std::string values, const std::vector<std::string>& names) {
    std::ranges::replace(values, '\n', ' ');
    std::string text;
    std::unique_copy(values.begin(), values.end(), std::back_inserter(text),
                     [](char a, char b) { return a == ' ' && b == ' '; });
    return fmt::format("{} where v0.. are {}", text, fmt::join(names, ", "));
  }

  std::string program_ = "z3";
};
}  // namespace

REWRIGHT_PLUGIN("verifier.ask_z3", "1.0.0", "The program z3, asked through a pipe") {
  registry.add<Verifier>(std::make_unique<AskZ3>());
}
