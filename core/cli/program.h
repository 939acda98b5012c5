// The frame of the program: what every subcommand is given and what it gives back.
//
// A subcommand lives in one file, which defines a function add_NAME(Program&) (declared in commands.h, called in
// main.cpp). It describes its arguments to CLI11 and hands over an action:
//
//   void add_axioms(Program& program) {
//     CLI::App& group = program.group("axioms", "Axiom files: the equations that proofs start from");
//     auto file = std::make_shared<std::string>();
//     CLI::App& check = program.command(group, "check", "Tests every axiom on small tensors",
//                                       {"rewright axioms check axioms/*.smt2"},
//                                       [file](const Settings& settings) -> Result<ExitCode> { ... });
//     check.add_option("FILE", *file, "The axiom file")->required();
//   }
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rewright::cli {

/// What the shell sees. Documented in `rewright --help`.
enum class ExitCode : int {
  kDone = 0,
  kNegative = 1,  ///< Done, and the answer is no: a rule refuted, a claim not reproduced, graphs not equal.
  kBadInput = 2,  ///< Wrong usage or bad input; nothing was changed.
  kStopped = 3,   ///< Stopped before the end; can be resumed.
  kOwnFault = 4,
};

/// An interrupted or out-of-budget run is kStopped, an own fault kOwnFault, everything else bad input.
[[nodiscard]] ExitCode exit_code(ErrorCode code);

/// Those that this process may use; so many threads work where --threads does not say.
[[nodiscard]] int cores();

/// Refuses what is no whole number from `least` to 2^63 - 1. (CLI11 takes -1 for the greatest of an unsigned type.)
[[nodiscard]] CLI::Validator whole_number(std::int64_t least);

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

  /// A word that only groups subcommands: "campaign". The same group for the same name.
  CLI::App& group(const std::string& name, const std::string& summary);
  /// A subcommand of a group (or of root()), with examples for its --help.
  CLI::App& command(CLI::App& parent, const std::string& name, const std::string& summary,
                    const std::vector<std::string>& examples, Action action);
  [[nodiscard]] CLI::App& root() { return app_; }

  /// Parses, runs the chosen subcommand, reports what went wrong in one sentence.
  [[nodiscard]] int run(int argc, char** argv);

 private:
  [[nodiscard]] int refuse_arguments(const CLI::ParseError& error) const;
  [[nodiscard]] ExitCode perform(const Action& action) const;

  CLI::App app_;
  Settings settings_;
  std::map<const CLI::App*, Action> actions_;
};

}  // namespace rewright::cli
