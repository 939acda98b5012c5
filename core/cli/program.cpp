#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <sched.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <system_error>

#include "base/spelling.h"
#include "cli/crash.h"
#include "cli/help.h"
#include "cli/output.h"

namespace rewright::cli {
namespace {

constexpr const char* kStartHere =
    "Start here\n"
    "  rewright optimize model.onnx -o faster.onnx              a model, by the rules that came with the program\n"
    "  rewright campaign run campaign.toml --store my.store     find and prove rules\n"
    "  rewright rules list my.store                             see them; rules gallery draws them with their proofs\n"
    "  rewright certificates check my.store                     replay every proof\n"
    "  rewright new operator my_operator                        a plugin of your own\n"
    "\n";

constexpr const char* kExitCodes =
    "Exit codes\n"
    "  0  done\n"
    "  1  done, with a negative answer: a refuted rule, a claim not reproduced, graphs not equal\n"
    "  2  wrong usage or bad input\n"
    "  3  stopped before the end; can be resumed\n"
    "  4  a fault of the program itself\n"
    "\n"
    "With --json the last line on standard output is one JSON object; progress and notes go to standard error.";

std::string footer(const std::vector<std::string>& examples) {
  std::string text = "\nExamples\n";
  for (const std::string& example : examples) text += "  " + example + "\n";
  return text;
}

// "rewright campaign run", from the deepest subcommand that was named.
std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : path_of(*parent) + " " + app.get_name();
}

const CLI::App& deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

std::vector<std::string> names_of_subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) names.push_back(sub->get_name());  // Others are hidden.
  return names;
}

// CLI11 ends some sentences with a line break and a hint; one line is enough.
std::string first_line(std::string text) {
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

// TBB throws a runtime_error that names the function, the standard library a system_error.
bool is_short_of_threads(const std::exception& exception) {
  const auto* const failure = dynamic_cast<const std::system_error*>(&exception);
  return (failure != nullptr && failure->code() == std::errc::resource_unavailable_try_again) ||
         std::string_view(exception.what()).starts_with("pthread_create");
}

}  // namespace

ExitCode exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal: return ExitCode::kOwnFault;
    case ErrorCode::kBudget: return ExitCode::kStopped;
    default: return ExitCode::kBadInput;
  }
}

Result<Registry> Settings::registry() const {
  Registry registry;
  REWRIGHT_CHECK(registry.load_default(plugins));
  remember_plugins(registry.plugins());
  return registry;
}

struct Program::State {
  CLI::App app{"Rewright: a superoptimizer workbench for tensor programs", "rewright"};
  Settings settings;
  std::map<const CLI::App*, Action> actions;

  [[nodiscard]] int refuse_arguments(const CLI::ParseError& error) const;
  [[nodiscard]] ExitCode perform(const Action& action) const;
};

Program::~Program() = default;

Command Program::root() const { return Command(state_->app); }

Program::Program() : state_(std::make_unique<State>()) {
  CLI::App& app = state_->app;
  Settings& settings = state_->settings;
  app.set_version_flag("--version", std::string("rewright ") + REWRIGHT_VERSION);
  app.add_flag("--json", settings.json, "End with one JSON object on standard output");
  app.add_flag("--quiet,-q", settings.quiet, "No progress and no notes, only results");
  app.add_option("--plugin", settings.plugins, "Load this shared object too (repeatable)")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  app.require_subcommand(1);
  app.footer(std::string("\n") + kStartHere + kExitCodes);
  app.formatter(std::make_shared<HelpFormatter>());  // Subcommands take it over.
  app.get_formatter()->column_width(36);
}

int cores() {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(CPU_COUNT(&allowed), 1) : 1;
}

Command Program::group(const std::string& name, const std::string& summary) {
  for (CLI::App* sub : state_->app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == name) return Command(*sub);
  }
  CLI::App& group = *state_->app.add_subcommand(name, summary);
  group.fallthrough();
  group.require_subcommand(1);
  group.footer("\nSee rewright --help for --json, --quiet, --plugin and the exit codes.");
  return Command(group);
}

Command Program::command(const Command& parent, const std::string& name, const std::string& summary,
                         const std::vector<std::string>& examples, Action action) {
  CLI::App& command = *parent.app().add_subcommand(name, summary);
  command.fallthrough();
  command.footer(footer(examples) + "\nSee rewright --help for --json, --quiet, --plugin and the exit codes.");
  state_->actions[&command] = std::move(action);
  return Command(command);
}

int Program::run(int argc, char** argv) {
  // Else TBB gives no more threads than there are cores, and warns whoever asks for more.
  constexpr std::size_t kThreads = 1024;
  const tbb::global_control as_many_as_asked(tbb::global_control::max_allowed_parallelism, kThreads);
  install_crash_handlers();
  std::signal(SIGXFSZ, SIG_IGN);  // A file size limit is then an ordinary error of write(2).
  std::signal(SIGCHLD, SIG_DFL);  // Who started this may have ignored it, and then nobody learns how children ended.
  try {
    state_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return state_->refuse_arguments(error);
  }
  const auto found = state_->actions.find(&deepest(state_->app));
  if (found == state_->actions.end()) fail("a subcommand without an action");
  const ExitCode code = state_->perform(found->second);
  if (!flush_output()) {
    print_error(Error{ErrorCode::kIo, "standard output could not be written (is the disk full?)"}, false);
    return static_cast<int>(ExitCode::kBadInput);
  }
  return static_cast<int>(code);
}

// The action's answer; its error in one sentence; no exception goes further.
ExitCode Program::State::perform(const Action& action) const {
  Error error;
  try {
    Result<ExitCode> code = action(settings);
    if (code) return *code;
    error = code.error();
  } catch (const std::bad_alloc&) {
    error = Error{ErrorCode::kBudget, "out of memory: give the command less to do, or the machine more memory"};
  } catch (const std::exception& exception) {
    const bool is_short = is_short_of_threads(exception);
    error = make_error(is_short ? ErrorCode::kBudget : ErrorCode::kInternal, "{}: {}",
                       is_short ? "the system gives no more threads or memory" : "a fault of the program itself",
                       exception.what());
  }
  print_error(error, settings.json);
  return exit_code(error.code);
}

int Program::State::refuse_arguments(const CLI::ParseError& error) const {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {  // --help, --version
    const int code = app.exit(error);
    return flush_output() ? code : static_cast<int>(ExitCode::kBadInput);
  }
  const CLI::App& where = deepest(app);
  std::string sentence = first_line(error.what());
  const std::vector<std::string> known = names_of_subcommands(where);
  const std::vector<std::string> extra = app.remaining(true);
  if (!known.empty() && !extra.empty() && extra.front().rfind('-', 0) != 0) {
    const std::optional<std::string> near = nearest(extra.front(), known);
    sentence = fmt::format("'{}' is no subcommand of '{}'; {}there are: {}", extra.front(), path_of(where),
                           near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(known, ", "));
  }
  print_error(make_error(ErrorCode::kUsage, "{} (see {} --help)", sentence, path_of(where)), settings.json);
  return static_cast<int>(ExitCode::kBadInput);
}

}  // namespace rewright::cli
