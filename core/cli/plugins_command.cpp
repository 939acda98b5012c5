// rewright plugins list|test
#include <rewright/loop/target.h>
#include <rewright/operator/operator.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>
#include <rewright/rule/pruner.h>
#include <rewright/tune/generator.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>
#include <rewright/verify/verifier.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/program.h"
#include "contract/isolation.h"

namespace rewright::cli {
namespace {

using contract::Outcome;

Json to_json(const LoadedPlugin& plugin) {
  return {{"name", plugin.name},
          {"version", plugin.version},
          {"summary", plugin.summary},
          {"file", plugin.file},
          {"provides", plugin.provides}};
}

Result<ExitCode> list_plugins(const Settings& settings) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  if (settings.json) {
    Json list = Json::array();
    for (const LoadedPlugin& plugin : registry.plugins()) list.push_back(to_json(plugin));
    print_json({{"plugins", std::move(list)}});
    return ExitCode::kDone;
  }
  Table table({"name", "version", "provides", "summary", "file"});
  for (const LoadedPlugin& plugin : registry.plugins()) {
    table.add({plugin.name, plugin.version, fmt::format("{}", fmt::join(plugin.provides, ", ")), plugin.summary,
               plugin.file});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

// --- test ------------------------------------------------------------------------------------------------------------

struct TestArguments {
  std::string file;
  std::vector<std::string> axioms;
  int seconds = 120;
};

/// One object of the plugin and what it promises.
struct Subject {
  std::string object;  ///< "operator matmul".
  std::vector<contract::Contract> contracts;
};

/// Errors: a kind that has no contracts to test.
Result<Subject> subject_of(const std::string& object, const Registry& registry, const AxiomSet& axioms) {
  const std::size_t space = object.find(' ');
  const std::string kind = object.substr(0, space), name = object.substr(space + 1);
  if (const auto* op = registry.find<Operator>(name); kind == "operator" && op != nullptr)
    return Subject{object, contract::contracts_of(*op, registry)};
  if (const auto* verifier = registry.find<Verifier>(name); kind == "verifier" && verifier != nullptr)
    return Subject{object, contract::contracts_of(*verifier, registry, axioms)};
  if (const auto* pruner = registry.find<Pruner>(name); kind == "pruner" && pruner != nullptr)
    return Subject{object, contract::contracts_of(*pruner, registry, axioms)};
  if (const auto* search = registry.find<SearchStrategy>(name); kind == "search" && search != nullptr)
    return Subject{object, contract::contracts_of(*search, registry)};
  if (const auto* cost = registry.find<CostModel>(name); kind == "cost" && cost != nullptr)
    return Subject{object, contract::contracts_of(*cost, registry)};
  if (const auto* target = registry.find<Target>(name); kind == "target" && target != nullptr)
    return Subject{object, contract::contracts_of(*target)};
  if (const auto* tuner = registry.find<Tuner>(name); kind == "tuner" && tuner != nullptr)
    return Subject{object, contract::contracts_of(*tuner)};
  if (const auto* predictor = registry.find<Predictor>(name); kind == "predictor" && predictor != nullptr)
    return Subject{object, contract::contracts_of(*predictor)};
  if (const auto* generator = registry.find<Generator>(name); kind == "generator" && generator != nullptr)
    return Subject{object, contract::contracts_of(*generator)};
  return make_error(ErrorCode::kUnsupported,
                    "there are no tests for '{}'; there are for operators, verifiers, pruners, "
                    "searches, costs, targets, tuners, predictors and generators",
                    object);
}

const char* word_of(Outcome::State state) {
  switch (state) {
    case Outcome::State::kKept: return "kept";
    case Outcome::State::kBroken: return "BROKEN";
    case Outcome::State::kSkipped: break;
  }
  return "skipped";
}

/// The plugin of this file, which may have come with the program.
Result<const LoadedPlugin*> plugin_of(const Registry& registry, const std::string& file) {
  std::error_code ignored;
  for (const LoadedPlugin& plugin : registry.plugins()) {
    if (plugin.file == file || std::filesystem::equivalent(plugin.file, file, ignored)) return &plugin;
  }
  return make_error(ErrorCode::kInternal, "{}: it was loaded and is not among the plugins", file);
}

Result<ExitCode> test_plugin(Settings settings, const TestArguments& arguments) {
  if (!std::filesystem::exists(arguments.file))
    return make_error(ErrorCode::kNotFound, "{}: there is no such file; name the shared object of the plugin",
                      arguments.file);
  // Its own plugins are there already; loading one twice would be refused.
  REWRIGHT_TRY(Registry registry, settings.registry());
  if (!plugin_of(registry, arguments.file)) REWRIGHT_CHECK(registry.load(arguments.file));
  REWRIGHT_TRY(const LoadedPlugin* plugin, plugin_of(registry, arguments.file));
  REWRIGHT_TRY(const std::vector<std::string> own, own_axioms());
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(arguments.axioms.empty() ? own : arguments.axioms, registry));
  Json results = Json::array();
  Table table({"object", "contract", "outcome", "what was looked at, or where it was broken"});
  std::vector<std::string> advice;
  std::size_t kept = 0, broken = 0;
  for (const std::string& object : plugin->provides) {
    REWRIGHT_TRY(const Subject subject, subject_of(object, registry, axioms));
    for (const contract::Contract& contract : subject.contracts) {
      const Outcome outcome = contract::check_apart(contract, arguments.seconds);
      kept += outcome.state == Outcome::State::kKept ? 1 : 0;
      broken += outcome.state == Outcome::State::kBroken ? 1 : 0;
      table.add({object, contract.name, word_of(outcome.state), outcome.detail});
      results.push_back({{"object", object},
                         {"contract", contract.name},
                         {"outcome", word_of(outcome.state)},
                         {"detail", outcome.detail}});
      if (outcome.state != Outcome::State::kBroken) continue;
      results.back()["advice"] = contract.advice;
      advice.push_back(fmt::format("{}, \"{}\": {}", object, contract.name, contract.advice));
    }
  }
  if (settings.json) {
    print_json({{"plugin", plugin->name}, {"kept", kept}, {"broken", broken}, {"contracts", std::move(results)}});
  } else {
    print(table.to_string());
    for (const std::string& line : advice) print_line(line);
    print_line(fmt::format("{} kept, {} broken", kept, broken));
  }
  return broken > 0 ? ExitCode::kNegative : ExitCode::kDone;
}

}  // namespace

void add_plugins(Program& program) {
  const Command group = program.group("plugins", "Plugins: operators, verifiers, pruners, searches, costs, runtimes");
  program.command(group, "list", "Lists every plugin that was loaded, with its version, what it provides and its file",
                  {"rewright plugins list", "rewright --plugin build/my_operator.so plugins list --json"},
                  list_plugins);
  const auto arguments = std::make_shared<TestArguments>();
  const Command test = program.command(
      group, "test", "Tests whether a plugin keeps what its kind promises; ends with 1 where it does not",
      {"rewright plugins test build/rewright/operators/my_operator.so",
       "rewright plugins test my_verifier.so --axioms mine.smt2 --seconds 20"},
      [arguments](const Settings& settings) { return test_plugin(settings, *arguments); });
  test.add_option("FILE", arguments->file, "The plugin's shared object").required();
  test.add_option("--axioms", arguments->axioms, "Axiom files for a verifier (default: the program's own)")
      .type_name("FILE");
  test.add_option("--seconds", arguments->seconds, "What a single test may take").check(in_range(1, 3600));
}

}  // namespace rewright::cli
