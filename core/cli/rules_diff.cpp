// rewright rules diff A B
#include <rewright/egraph/prover.h>

#include <algorithm>
#include <optional>

#include "cli/interrupt.h"
#include "cli/rules.h"
#include "store/compare.h"

namespace rewright::cli {
namespace {

struct RulesDiffArguments {
  std::string before;
  std::string after;
  bool derivable = false;
  int threads = cores();
};

/// Rules of one library only, and of which of them the other one derives; nothing where that was not asked.
struct Side {
  std::vector<const RuleText*> rules;
  std::vector<std::optional<Derivation>> derivations;

  [[nodiscard]] std::size_t derived() const {
    return static_cast<std::size_t>(std::ranges::count_if(derivations, [](const auto& d) { return d.has_value(); }));
  }
};

Result<std::vector<Rule>> parse(const std::vector<const RuleText*>& texts, const Registry& registry) {
  std::vector<Rule> rules;
  for (const RuleText* text : texts) {
    REWRIGHT_TRY(rules.emplace_back(), parse_rule(text->text, registry));
  }
  return rules;
}

Status derive(Side& side, const RuleSource& library, const Registry& registry, int threads) {
  std::vector<const RuleText*> all;
  for (const RuleText& rule : library.rules) all.push_back(&rule);
  REWRIGHT_TRY(const std::vector<Rule> rules, parse(side.rules, registry));
  REWRIGHT_TRY(const std::vector<Rule> others, parse(all, registry));
  DeriveOptions options;
  options.threads = threads;
  options.stop = interrupted;
  REWRIGHT_TRY(side.derivations, derive_all(rules, others, registry, options));
  return {};
}

Json to_json(const Side& side) {
  Json list = Json::array();
  for (std::size_t i = 0; i < side.rules.size(); ++i) {
    Json rule = cli::to_json(*side.rules[i]);
    if (i < side.derivations.size()) {
      rule["derivable"] = side.derivations[i].has_value();
      if (side.derivations[i]) rule["derivation"] = side.derivations[i]->certificate;
    }
    list.push_back(std::move(rule));
  }
  return list;
}

void add_rows(Table& table, const std::string& mark, const Side& side) {
  for (std::size_t i = 0; i < side.rules.size(); ++i) {
    const RuleText& rule = *side.rules[i];
    const bool derived = i < side.derivations.size() && side.derivations[i];
    table.add({derived ? mark + ", derivable" : mark, short_id(rule.id), rule.name, equation(rule)});
  }
}

std::string count(const Side& side, std::string_view word, std::string_view other) {
  std::string text = fmt::format("{} {}", with_commas(side.rules.size()), word);
  if (!side.derivations.empty())
    text += fmt::format(" ({} of them follow from {})", with_commas(side.derived()), other);
  return text;
}

Result<ExitCode> diff(const Settings& settings, const RulesDiffArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const RuleSource before, read_rules(arguments.before, registry));
  REWRIGHT_TRY(const RuleSource after, read_rules(arguments.after, registry));
  REWRIGHT_TRY(const RuleDiff found, rewright::diff(before, after, registry));
  Side lost{found.lost, {}}, fresh{found.fresh, {}};
  if (arguments.derivable) {
    REWRIGHT_CHECK(derive(lost, after, registry, arguments.threads));
    REWRIGHT_CHECK(derive(fresh, before, registry, arguments.threads));
  }
  const bool equal = lost.rules.empty() && fresh.rules.empty();
  if (settings.json) {
    print_json({{"new", to_json(fresh)}, {"lost", to_json(lost)}, {"common", found.common}});
    return equal ? ExitCode::kDone : ExitCode::kNegative;
  }
  Table table({"", "id", "name", "rule"});
  add_rows(table, "lost", lost);
  add_rows(table, "new", fresh);
  if (!equal) print(table.to_string());
  print_line(fmt::format("{}, {}, {} in both", count(fresh, "new", arguments.before),
                         count(lost, "lost", arguments.after), with_commas(found.common)));
  return equal ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_rules_diff(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesDiffArguments>();
  const Command command = program.command(
      group, "diff", "Which rules are new, and which are lost, from one library to another",
      {"rewright rules diff old.store new.store", "rewright rules diff library.rules new.store --derivable --json"},
      [arguments](const Settings& settings) { return diff(settings, *arguments); });
  command.add_option("A", arguments->before, "A store, or a text file with one rule a line").required();
  command.add_option("B", arguments->after, "The other one").required();
  command.add_flag("--derivable", arguments->derivable, "Say which of them the other library derives, by saturation");
  command.add_option("--threads", arguments->threads, "Threads; no result depends on their number")
      .type_name("N")
      .check(in_range(1, 1024));
}

}  // namespace rewright::cli
