// The frame of the program: what every subcommand is given and what it gives back.
//
// A subcommand lives in one file, which defines a function add_NAME(Program&) (declared in commands.h, called in
// main.cpp). It describes its arguments and hands over an action:
//
//   void add_axioms(Program& program) {
//     const Command group = program.group("axioms", "Axiom files: the equations that proofs start from");
//     auto file = std::make_shared<std::string>();
//     const Command check = program.command(group, "check", "Tests every axiom on small tensors",
//                                       {"rewright axioms check axioms/*.smt2"},
//                                       [file](const Settings& settings) -> Result<ExitCode> { ... });
//     check.add_option("FILE", *file, "The axiom file").required();
//   }
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/exit_code.h"

namespace rewright::cli {

/// An interrupted or out-of-budget run is kStopped, an own fault kOwnFault, everything else bad input.
[[nodiscard]] ExitCode exit_code(ErrorCode code);

/// Those that this process may use; so many threads work where --threads does not say.
[[nodiscard]] int cores();

/// The options before (or after) every subcommand.
struct Settings {
  bool json = false;   ///< The last line on standard output is one JSON object.
  bool quiet = false;  ///< No progress, no notes; results only.
  std::vector<std::string> plugins;

  /// A registry with every plugin there is: those named by --plugin, REWRIGHT_PLUGIN_PATH, the program's own.
  [[nodiscard]] Result<Registry> registry() const;
};

/// A subcommand's work. An error ends the program with its sentence on standard error and exit_code(error).
using Action = std::function<Result<ExitCode>(const Settings&)>;

class Program {
 public:
  Program();
  ~Program();

  /// A word that only groups subcommands: "campaign". The same group for the same name.
  Command group(const std::string& name, const std::string& summary);
  /// A subcommand of a group (or of root()), with examples for its --help.
  Command command(const Command& parent, const std::string& name, const std::string& summary,
                  const std::vector<std::string>& examples, Action action);
  [[nodiscard]] Command root() const;

  /// Parses, runs the chosen subcommand, reports what went wrong in one sentence.
  [[nodiscard]] int run(int argc, char** argv);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rewright::cli
